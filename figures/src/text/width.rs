//! Columns of a terminal: how many a text takes, texts cut, padded and wrapped to them. Wide letters
//! take two.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns that a text takes.
pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// The text, or its beginning and an ellipsis, in at most so many columns.
pub(super) fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut taken = 0;
    for letter in text.chars() {
        let wide = letter.width().unwrap_or(0);
        if taken + wide + 1 > most {
            break;
        }
        taken += wide;
        kept.push(letter);
    }
    if most > 0 {
        kept.push('…');
    }
    kept
}

/// In exactly so many columns, the text first.
pub(super) fn left(text: &str, width: usize) -> String {
    let text = cut(text, width);
    let rest = width.saturating_sub(columns(&text));
    text + &" ".repeat(rest)
}

/// In exactly so many columns, the text last.
pub(super) fn right(text: &str, width: usize) -> String {
    let text = cut(text, width);
    " ".repeat(width.saturating_sub(columns(&text))) + &text
}

/// Lines broken at spaces.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let word = cut(word, width);
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(&word) <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// A letter for the n-th series, and what each letter stands for.
pub(super) fn letter(index: usize) -> char {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char::from(LETTERS[index % LETTERS.len()])
}

/// Lines that say which letter is which series; none for a single one without a name.
pub(super) fn key<'a>(names: impl Iterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (index, name) in names.enumerate().filter(|(_, name)| !name.is_empty()) {
        let entry = cut(&format!("{} {name}", letter(index)), width);
        match lines.last_mut() {
            Some(line) if columns(line) + 3 + columns(&entry) <= width => {
                line.push_str("   ");
                line.push_str(&entry);
            }
            _ => lines.push(entry),
        }
    }
    lines
}
