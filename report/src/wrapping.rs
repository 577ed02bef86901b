//! Where lines may break: between words, and, where a column is narrow, inside a name behind
//! what joins its parts. Called by tables, and for the sentences around them.

use crate::blocks::Block;
use crate::layout::Layout;
use textwrap::core::{Word, display_width};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// What joins the parts of a name: `gpt-4o`, `guess_two_thirds`, `players.bob`, `ratio=0.5`.
const JOINTS: [char; 5] = ['-', '_', '/', '.', '='];

/// Names up to this wide are never broken: those of most games and models.
const SHORT_NAME: usize = 16;

/// Where lines may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breaks {
    /// Between words.
    Words,
    /// Between the parts of a long name too.
    Names,
}

impl Breaks {
    fn words(self, line: &str) -> Vec<Word<'_>> {
        match self {
            Self::Words => WordSeparator::AsciiSpace.find_words(line).collect(),
            Self::Names => parts_of_names(line).collect(),
        }
    }

    fn separator(self) -> WordSeparator {
        match self {
            Self::Words => WordSeparator::AsciiSpace,
            Self::Names => WordSeparator::Custom(|line| Box::new(parts_of_names(line))),
        }
    }
}

/// A blank at which no line of prose breaks: commands are copied whole.
pub(crate) const NO_BREAK: &str = "\u{a0}";

/// A sentence as a paragraph of this layout; as text in lines that fit.
pub(crate) fn prose(text: &str, layout: Layout) -> String {
    let width = match layout {
        Layout::Text(width) => width,
        Layout::Html => return format!("<p>{}</p>", layout.escaped(text)),
        Layout::Json => {
            return Block::sentence(&layout.escaped(&text.replace(NO_BREAK, " "))).line();
        }
        Layout::Markdown | Layout::Latex => return layout.escaped(&text.replace(NO_BREAK, " ")),
    };
    let options = options(usize::from(width), Breaks::Words).break_words(false);
    textwrap::fill(text, options).replace(NO_BREAK, " ")
}

/// The lines of a cell. A word that is wider than the column is broken.
pub(crate) fn wrapped(text: &str, width: usize, breaks: Breaks) -> Vec<String> {
    let lines = textwrap::wrap(text, options(width, breaks));
    lines.into_iter().map(String::from).collect()
}

/// How wide the longest word is that does not break.
pub(crate) fn longest_word(text: &str, breaks: Breaks) -> usize {
    let words = text.lines().flat_map(|line| breaks.words(line));
    let widths = words.map(|word| display_width(&word));
    widths.max().unwrap_or(0)
}

fn options<'a>(width: usize, breaks: Breaks) -> Options<'a> {
    Options::new(width)
        .word_separator(breaks.separator())
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
}

/// Words, and names in parts. Joints stay with what is before them.
fn parts_of_names(line: &str) -> impl Iterator<Item = Word<'_>> {
    let words = WordSeparator::AsciiSpace.find_words(line);
    words.flat_map(|word| {
        let (name, blanks) = (word.word, word.whitespace);
        let is_long = display_width(name) > SHORT_NAME;
        let mut ends: Vec<usize> = name
            .char_indices()
            .filter(|(place, joint)| is_long && joins(name, *place, *joint))
            .map(|(place, joint)| place + joint.len_utf8())
            .collect();
        ends.push(name.len());
        let mut from = 0;
        let parts = ends.into_iter().map(move |to| {
            let mut part = Word::from(&name[from..to]);
            if to == name.len() {
                part.whitespace = blanks;
            }
            from = to;
            part
        });
        parts.collect::<Vec<_>>()
    })
}

/// Whether a name goes on behind this, and no number is cut in two.
fn joins(name: &str, place: usize, joint: char) -> bool {
    if !JOINTS.contains(&joint) {
        return false;
    }
    let before = name[..place].chars().next_back();
    let after = name[place + joint.len_utf8()..].chars().next();
    let is_number = |one: char| one.is_ascii_digit();
    before.is_some_and(char::is_alphanumeric)
        && after.is_some()
        && !(joint == '.' && after.is_some_and(is_number))
}
