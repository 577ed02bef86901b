//! The font of all figures and the widths of its letters. It has no kerning and no ligatures, so a
//! text is as wide as the sum of its letters wherever it is drawn. Letters that it lacks count as
//! wide ones. It breaks lines and shortens texts, and knows nothing of where they stand.

use std::sync::LazyLock;

use ttf_parser::Face;

/// The name under which the font is found; the others are as wide, letter by letter.
pub(crate) const FAMILY: &str = "'Agon Figures', 'Liberation Sans', Arimo, Arial, sans-serif";

/// The font files.
pub(crate) const REGULAR: &[u8] = include_bytes!("../fonts/AgonFigures-Regular.ttf");
pub(crate) const BOLD: &[u8] = include_bytes!("../fonts/AgonFigures-Bold.ttf");

/// From the base line to the top of high letters and to the bottom of deep ones, per point.
pub(crate) const ASCENT: f64 = 0.74;
pub(crate) const DESCENT: f64 = 0.22;

/// Half the height of digits and capitals: text is centred on a line by moving it down by this.
pub(crate) const HALF_HEIGHT: f64 = 0.35;

/// From one line to the next.
pub(crate) const LEADING: f64 = 1.2;

/// What stands for the rest of a shortened text.
const ELLIPSIS: char = '…';

/// Lines may break after these letters.
const BREAKS: &str = " /-_:,+";

static FACES: LazyLock<[Option<Face<'static>>; 2]> =
    LazyLock::new(|| [REGULAR, BOLD].map(|file| Face::parse(file, 0).ok()));

/// Advances of the letters up to the end of Greek, which nearly all texts consist of.
static ADVANCES: LazyLock<[Vec<f64>; 2]> = LazyLock::new(|| {
    let faces = FACES.each_ref();
    faces.map(|face| {
        ('\0'..='\u{3ff}')
            .map(|letter| advance(face.as_ref(), letter))
            .collect()
    })
});

/// Width of a text in points.
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let em = text.chars().map(|letter| letter_width(letter, bold));
    em.sum::<f64>() * size
}

/// Width of a letter of one point.
fn letter_width(letter: char, bold: bool) -> f64 {
    let style = usize::from(bold);
    let known = ADVANCES[style].get(letter as usize).copied();
    known.unwrap_or_else(|| advance(FACES[style].as_ref(), letter))
}

/// As the font file says it.
fn advance(face: Option<&Face<'_>>, letter: char) -> f64 {
    let known = face.and_then(|face| {
        let units = face.glyph_hor_advance(face.glyph_index(letter)?)?;
        Some(f64::from(units) / f64::from(face.units_per_em()))
    });
    known.unwrap_or(match letter {
        // Marks above letters, joiners and selectors of variants.
        '\u{300}'..='\u{36f}' | '\u{200c}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 0.0,
        _ => 1.0,
    })
}

/// The font has this letter.
#[cfg(any(feature = "raster", feature = "pdf"))]
pub(crate) fn has(letter: char) -> bool {
    let face = FACES[0].as_ref();
    face.is_some_and(|face| face.glyph_index(letter).is_some())
}

/// The text, or as much of its beginning as fits, and an ellipsis.
pub(crate) fn shortened(text: &str, size: f64, room: f64) -> String {
    cut(text, size, false, room)
}

fn cut(text: &str, size: f64, bold: bool, room: f64) -> String {
    if width(text, size, bold) <= room {
        return text.to_owned();
    }
    let room = room - letter_width(ELLIPSIS, bold) * size;
    let mut taken = 0.0;
    let kept = text.chars().take_while(|letter| {
        taken += letter_width(*letter, bold) * size;
        taken <= room
    });
    let kept: String = kept.collect();
    format!("{}{ELLIPSIS}", kept.trim_end())
}

/// The text in at most so many lines, none of them wider than the room; the last one is shortened
/// if there is more.
pub(crate) fn wrapped(
    text: &str,
    size: f64,
    bold: bool,
    room: f64,
    most_lines: usize,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if lines.len() + 1 >= most_lines {
            lines.push(cut(rest, size, bold, room));
            break;
        }
        let (line, after) = rest.split_at(line_end(rest, size, bold, room));
        lines.push(line.trim_end().to_owned());
        rest = after.trim_start();
    }
    lines
}

/// As [`wrapped`], with lines about equally long.
pub(crate) fn balanced(
    text: &str,
    size: f64,
    bold: bool,
    room: f64,
    most_lines: usize,
) -> Vec<String> {
    let mut best = wrapped(text, size, bold, room, most_lines);
    let is_shortened = |lines: &[String]| lines.iter().any(|line| line.ends_with(ELLIPSIS));
    if best.len() < 2 || is_shortened(&best) {
        return best;
    }
    let (mut narrow, mut wide) = (room / 2.0, room);
    for _ in 0..6 {
        let middle = (narrow + wide) / 2.0;
        let lines = wrapped(text, size, bold, middle, most_lines);
        match lines.len() == best.len() && !is_shortened(&lines) {
            true => (best, wide) = (lines, middle),
            false => narrow = middle,
        }
    }
    best
}

/// How many bytes of a text go into one line: at least one letter.
fn line_end(text: &str, size: f64, bold: bool, room: f64) -> usize {
    let mut best = None;
    let mut taken = 0.0;
    for (start, letter) in text.char_indices() {
        let end = start + letter.len_utf8();
        taken += letter_width(letter, bold) * size;
        // A space at the end of a line takes no room.
        if taken > room && letter != ' ' {
            return best.unwrap_or(if start == 0 { end } else { start });
        }
        if BREAKS.contains(letter) {
            best = Some(end);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_fonts_are_read_and_digits_are_equally_wide() {
        assert!(FACES.iter().all(Option::is_some));
        for bold in [false, true] {
            for digit in '1'..='9' {
                let pair = [digit, '0'].map(|digit| width(&digit.to_string(), 7.0, bold));
                assert!((pair[0] - pair[1]).abs() < 1e-9);
            }
        }
        assert!(width("wide", 7.0, true) > width("wide", 7.0, false));
    }

    #[test]
    fn wrapped_lines_fit_and_the_last_one_tells_that_there_was_more() {
        let name = "anthropic/claude-3-5-sonnet-20241022-with-a-very-long-suffix";
        let lines = wrapped(name, 7.0, false, 70.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| width(line, 7.0, false) <= 70.0));
        assert!(lines[1].ends_with(ELLIPSIS));
        assert_eq!(wrapped("short", 7.0, false, 70.0, 2), ["short"]);
        assert_eq!(shortened("wide", 7.0, 0.0), "…");
    }
}
