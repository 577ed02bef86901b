//! Writes a scene as SVG: alone, with its font and colours inside, or for a page, where colours are
//! classes and the page's style sheet knows them. Texts of others are escaped here, and links that
//! are no addresses of the web are dropped.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::font;
use crate::palette::{COLOURS, COLOURS_ON_DARK, Rgb};
use crate::scene::{Anchor, Fill, Item, Paint, Place, Scene, Stroke, Text};

/// Ink, soft, rule and paper on a light page and on a dark one.
const LIGHT: [&str; 4] = ["#1a1a1a", "#5c5c5c", "#dcdcdc", "#ffffff"];
const DARK: [&str; 4] = ["#ececec", "#a8a8a8", "#3c3c3c", "#16181c"];
const ROLES: [&str; 4] = ["ink", "soft", "rule", "paper"];

/// What a figure in a file stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ground {
    White,
    Dark,
}

impl Ground {
    fn roles(self) -> [&'static str; 4] {
        match self {
            Self::White => LIGHT,
            Self::Dark => DARK,
        }
    }

    fn series(self) -> [Rgb; 8] {
        match self {
            Self::White => COLOURS,
            Self::Dark => COLOURS_ON_DARK,
        }
    }
}

/// A figure for a file: nothing outside is needed to draw it.
pub(crate) fn alone(scene: &Scene, name: &str, ground: Ground) -> String {
    let mut svg = Writer::new(false, ground);
    let _ = write!(
        svg.out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" \
         width=\"{}mm\" height=\"{}mm\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" \
         font-family=\"{}\">",
        shown(scene.width / 72.0 * 25.4),
        shown(scene.height / 72.0 * 25.4),
        shown(scene.width),
        shown(scene.height),
        escaped(name),
        font::FAMILY,
    );
    svg.out.push_str(&font_faces(scene));
    let _ = write!(
        svg.out,
        "<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>",
        ground.roles()[3]
    );
    svg.items(&scene.items);
    svg.out.push_str("</svg>\n");
    svg.out
}

/// A figure inside a page that has [`page_style`]; ids begin with the prefix.
pub(crate) fn for_page(scene: &Scene, name: &str, prefix: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let prefix: String = prefix.chars().filter(is_plain).collect();
    let mut svg = Writer::new(true, Ground::White);
    let _ = write!(
        svg.out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" width=\"{}\" height=\"{}\" \
         viewBox=\"0 0 {} {}\" role=\"group\" aria-labelledby=\"{prefix}-name\">\
         <title id=\"{prefix}-name\">{}</title>",
        // Points are larger than the pixels of a page by a third.
        shown(scene.width / 0.75),
        shown(scene.height / 0.75),
        shown(scene.width),
        shown(scene.height),
        escaped(name),
    );
    svg.items(&scene.items);
    svg.out.push_str("</svg>\n");
    svg.out
}

/// The style sheet of figures on a page. Dark colours hold if the reader's system is dark and the
/// page does not say `data-theme="light"`, or if the page says `data-theme="dark"`.
pub fn page_style() -> String {
    let values = |roles: [&str; 4], colours: [Rgb; 8]| {
        let roles = ROLES.iter().zip(roles);
        let mut text: String = roles
            .map(|(name, value)| format!("--figure-{name}:{value};"))
            .collect();
        for (index, colour) in colours.iter().enumerate() {
            let _ = write!(text, "--figure-{index}:{};", colour.hex());
        }
        text
    };
    let (light, dark) = (values(LIGHT, COLOURS), values(DARK, COLOURS_ON_DARK));
    let mut style = format!(
        ".figure{{{light}max-width:100%;height:auto;font-family:{}}}\n\
         @media (prefers-color-scheme:dark){{:root:not([data-theme=\"light\"]) .figure{{{dark}}}}}\n\
         :root[data-theme=\"dark\"] .figure{{{dark}}}\n\
         .figure a:focus-visible{{outline:2px solid var(--figure-ink)}}\n",
        font::FAMILY
    );
    let series = (0..COLOURS.len()).map(|index| index.to_string());
    for name in ROLES.iter().map(|role| (*role).to_owned()).chain(series) {
        let _ = writeln!(
            style,
            ".figure .f-{name}{{fill:var(--figure-{name})}}\
             .figure .s-{name}{{stroke:var(--figure-{name})}}"
        );
    }
    style
}

/// The fonts that a scene uses.
fn font_faces(scene: &Scene) -> String {
    let mut faces = String::from("<style>");
    let files = [
        (400, font::REGULAR, true),
        (700, font::BOLD, has_bold(&scene.items)),
    ];
    for (weight, file, is_used) in files {
        if is_used {
            let _ = write!(
                faces,
                "@font-face{{font-family:'Agon Figures';font-weight:{weight};\
                 src:url(data:font/ttf;base64,{}) format('truetype')}}",
                BASE64.encode(file)
            );
        }
    }
    faces.push_str("</style>");
    faces
}

fn has_bold(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Text(text) => text.bold,
        Item::Group { items, .. } => has_bold(items),
        _ => false,
    })
}

struct Writer {
    out: String,
    /// On a page, colours are classes.
    is_for_page: bool,
    ground: Ground,
}

impl Writer {
    fn new(is_for_page: bool, ground: Ground) -> Self {
        Self {
            out: String::new(),
            is_for_page,
            ground,
        }
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Path {
                    parts,
                    closed,
                    fill,
                    stroke,
                } => {
                    let _ = write!(self.out, "<path d=\"{}\"", path(parts, *closed));
                    self.paints(*fill, *stroke);
                    self.out.push_str("/>");
                }
                Item::Circle {
                    centre,
                    radius,
                    fill,
                    stroke,
                } => {
                    let (x, y) = (shown(centre.0), shown(centre.1));
                    let _ = write!(
                        self.out,
                        "<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\"",
                        shown(*radius)
                    );
                    self.paints(*fill, *stroke);
                    self.out.push_str("/>");
                }
                Item::Text(text) => self.text(text),
                Item::Group { tip, link, items } => {
                    self.group(tip.as_deref(), link.as_deref(), items);
                }
            }
        }
    }

    fn group(&mut self, tip: Option<&str>, link: Option<&str>, items: &[Item]) {
        let link = link.filter(|link| leads_into_the_web(link));
        let tag = if link.is_some() { "a" } else { "g" };
        let _ = write!(self.out, "<{tag}");
        if let Some(link) = link {
            let _ = write!(self.out, " href=\"{}\"", escaped(link));
        }
        self.out.push('>');
        if let Some(tip) = tip {
            let _ = write!(self.out, "<title>{}</title>", escaped(tip));
        }
        self.items(items);
        let _ = write!(self.out, "</{tag}>");
    }

    fn text(&mut self, text: &Text) {
        let (x, y) = (shown(text.at.0), shown(text.at.1));
        let _ = match text.upright {
            true => write!(
                self.out,
                "<text transform=\"translate({x} {y}) rotate(-90)\""
            ),
            false => write!(self.out, "<text x=\"{x}\" y=\"{y}\""),
        };
        let _ = write!(self.out, " font-size=\"{}\"", shown(text.size));
        if text.bold {
            self.out.push_str(" font-weight=\"700\"");
        }
        match text.anchor {
            Anchor::Start => {}
            Anchor::Middle => self.out.push_str(" text-anchor=\"middle\""),
            Anchor::End => self.out.push_str(" text-anchor=\"end\""),
        }
        self.paint("fill", text.paint);
        let _ = write!(self.out, ">{}</text>", escaped(&text.content));
    }

    fn paints(&mut self, fill: Fill, stroke: Stroke) {
        let mut classes = Vec::new();
        let both = [("fill", "f", fill.paint), ("stroke", "s", stroke.paint)];
        for (attribute, letter, paint) in both {
            if self.is_for_page
                && let Some(role) = role(paint)
            {
                classes.push(format!("{letter}-{role}"));
            } else if paint != Paint::None || attribute == "fill" {
                self.paint(attribute, paint);
            }
        }
        if !classes.is_empty() {
            let _ = write!(self.out, " class=\"{}\"", classes.join(" "));
        }
        if fill.opacity < 1.0 {
            let _ = write!(self.out, " fill-opacity=\"{}\"", shown(fill.opacity));
        }
        if stroke.paint != Paint::None {
            let _ = write!(
                self.out,
                " stroke-width=\"{}\" stroke-linejoin=\"round\"",
                shown(stroke.width)
            );
        }
        if !stroke.dash.is_empty() {
            let dash: Vec<String> = stroke.dash.iter().map(|part| shown(*part)).collect();
            let _ = write!(self.out, " stroke-dasharray=\"{}\"", dash.join(" "));
        }
    }

    fn paint(&mut self, attribute: &str, paint: Paint) {
        let (roles, series) = (self.ground.roles(), self.ground.series());
        let colour = match paint {
            Paint::None => "none".to_owned(),
            Paint::Fixed(colour) => colour.hex(),
            Paint::Ink => roles[0].to_owned(),
            Paint::Soft => roles[1].to_owned(),
            Paint::Rule => roles[2].to_owned(),
            Paint::Paper => roles[3].to_owned(),
            Paint::Series(index) => series[index % series.len()].hex(),
        };
        let _ = match (self.is_for_page, role(paint)) {
            (true, Some(role)) => write!(self.out, " class=\"{}-{role}\"", &attribute[..1]),
            _ => write!(self.out, " {attribute}=\"{colour}\""),
        };
    }
}

/// The name of a paint in classes, if a page may change it.
fn role(paint: Paint) -> Option<String> {
    match paint {
        Paint::None | Paint::Fixed(_) => None,
        Paint::Ink => Some(ROLES[0].to_owned()),
        Paint::Soft => Some(ROLES[1].to_owned()),
        Paint::Rule => Some(ROLES[2].to_owned()),
        Paint::Paper => Some(ROLES[3].to_owned()),
        Paint::Series(index) => Some((index % COLOURS.len()).to_string()),
    }
}

fn path(parts: &[Vec<Place>], closed: bool) -> String {
    let mut text = String::new();
    for part in parts {
        for (index, (x, y)) in part.iter().enumerate() {
            let letter = if index == 0 { 'M' } else { 'L' };
            let _ = write!(text, "{letter}{} {}", shown(*x), shown(*y));
        }
        if closed {
            text.push('Z');
        }
    }
    text
}

/// Two digits after the point are a hundredth of a point, finer than any printer.
fn shown(number: f64) -> String {
    let text = format!("{number:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" | "" => "0".to_owned(),
        _ => text.to_owned(),
    }
}

/// Text for XML: hidden characters are shown as escapes, and what XML forbids is replaced.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in agon_outlets::line(text).to_string().chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => safe.push(char::REPLACEMENT_CHARACTER),
            _ => safe.push(letter),
        }
    }
    safe
}

/// Relative addresses, `http` and `https`; no other scheme, which might run a script.
fn leads_into_the_web(link: &str) -> bool {
    let has_hidden = link
        .chars()
        .any(|letter| letter.is_control() || letter.is_whitespace());
    let scheme = link
        .split_once(':')
        .map(|(scheme, _)| scheme)
        .filter(|scheme| !scheme.contains(['/', '?', '#']));
    let is_known = scheme.is_none_or(|scheme| {
        ["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
    });
    !has_hidden && is_known && !link.is_empty()
}
