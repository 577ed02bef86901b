//! The looks of series: one colour, dash, marker and texture per name, the same in every figure of
//! a report. Colours are Okabe and Ito's; dashes, markers and textures tell series apart in grey.
//! It also knows cividis, the colours of heat maps.

/// The looks of the series of a report, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Palette {
    names: Vec<String>,
}

impl Palette {
    /// Looks for these names, given in this order; a name that comes again keeps its looks.
    pub fn of(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut palette = Self::default();
        for name in names {
            // As `shown` writes the names of series.
            palette.add(&agon_outlets::line(&name.into()).to_string());
        }
        palette
    }

    /// The looks of a name, which are given out on first sight.
    pub(crate) fn add(&mut self, name: &str) -> Look {
        let known = self.names.iter().position(|known| known == name);
        let slot = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        Look { slot }
    }

    /// The looks of a name; those of the first series if it was never added.
    pub(crate) fn look(&self, name: &str) -> Look {
        let slot = self.names.iter().position(|known| known == name);
        Look {
            slot: slot.unwrap_or(0),
        }
    }
}

/// The looks of one series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    slot: usize,
}

/// Okabe and Ito's colours in their order, except that yellow, which hardly shows on white, comes
/// last and is darker.
pub(crate) const COLOURS: [Rgb; 8] = [
    Rgb(0x00, 0x00, 0x00),
    Rgb(0xe6, 0x9f, 0x00),
    Rgb(0x56, 0xb4, 0xe9),
    Rgb(0x00, 0x9e, 0x73),
    Rgb(0x00, 0x72, 0xb2),
    Rgb(0xd5, 0x5e, 0x00),
    Rgb(0xcc, 0x79, 0xa7),
    Rgb(0xc8, 0xb4, 0x00),
];

/// The same on a dark page: black and blue are lighter, yellow is Okabe and Ito's.
pub(crate) const COLOURS_ON_DARK: [Rgb; 8] = [
    Rgb(0xf2, 0xf2, 0xf2),
    Rgb(0xe6, 0x9f, 0x00),
    Rgb(0x56, 0xb4, 0xe9),
    Rgb(0x1f, 0xb8, 0x8c),
    Rgb(0x4d, 0x93, 0xe6),
    Rgb(0xe8, 0x6f, 0x1a),
    Rgb(0xd9, 0x8c, 0xb8),
    Rgb(0xf0, 0xe4, 0x42),
];

/// Five dashes and seven markers: with eight colours, any two of 40 series differ in two ways.
const DASHES: [&[f64]; 5] = [
    &[],
    &[4.0, 1.6],
    &[1.2, 1.4],
    &[6.0, 1.6, 1.2, 1.6],
    &[2.4, 1.2],
];

/// The form of the marks of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    Disc,
    Square,
    Triangle,
    Diamond,
    Down,
    Cross,
    Ring,
}

const MARKERS: [Marker; 7] = [
    Marker::Disc,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Down,
    Marker::Cross,
    Marker::Ring,
];

/// What lies over the colour of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Texture {
    Plain,
    Rising,
    Falling,
    Level,
    Upright,
}

const TEXTURES: [Texture; 5] = [
    Texture::Plain,
    Texture::Rising,
    Texture::Falling,
    Texture::Level,
    Texture::Upright,
];

impl Look {
    /// Index into the colours.
    pub(crate) fn colour(self) -> usize {
        self.slot % COLOURS.len()
    }

    pub(crate) fn dash(self) -> &'static [f64] {
        DASHES[self.slot % DASHES.len()]
    }

    pub(crate) fn marker(self) -> Marker {
        MARKERS[self.slot % MARKERS.len()]
    }

    pub(crate) fn texture(self) -> Texture {
        TEXTURES[self.slot % TEXTURES.len()]
    }
}

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rgb(pub(crate) u8, pub(crate) u8, pub(crate) u8);

impl Rgb {
    /// As SVG and CSS write it.
    pub(crate) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// Relative luminance of WCAG, with the square as the curve of a screen.
    fn luminance(self) -> f64 {
        let part = |value: u8| (f64::from(value) / 255.0).powi(2);
        0.2126 * part(self.0) + 0.7152 * part(self.1) + 0.0722 * part(self.2)
    }

    /// White text reads better on it than black.
    pub(crate) fn is_dark(self) -> bool {
        self.luminance() < 0.18
    }
}

/// Nine colours of cividis (Nunez, Anderton, Renslow 2018) at even distances.
const CIVIDIS: [Rgb; 9] = [
    Rgb(0x00, 0x22, 0x4e),
    Rgb(0x1a, 0x38, 0x6f),
    Rgb(0x43, 0x4e, 0x6c),
    Rgb(0x61, 0x65, 0x70),
    Rgb(0x7d, 0x7c, 0x78),
    Rgb(0x9b, 0x94, 0x76),
    Rgb(0xbc, 0xae, 0x6c),
    Rgb(0xde, 0xc9, 0x58),
    Rgb(0xfe, 0xe8, 0x38),
];

/// The colour of a share between 0 and 1.
pub(crate) fn cividis(share: f64) -> Rgb {
    let at = share.clamp(0.0, 1.0) * (CIVIDIS.len() - 1) as f64;
    let index = (at.floor() as usize).min(CIVIDIS.len() - 2);
    let rest = at - index as f64;
    let mix = |from: u8, to: u8| {
        (f64::from(from) + (f64::from(to) - f64::from(from)) * rest).round() as u8
    };
    let (from, to) = (CIVIDIS[index], CIVIDIS[index + 1]);
    Rgb(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}
