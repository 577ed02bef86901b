//! What goes to standard output: plain text that survives a closed pipe, and
//! tables fitted to the terminal.

use std::fmt;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use comfy_table::{ContentArrangement, Table, presets};

/// Set when something could not be printed; [`lost`] tells.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints text and a line break. A closed pipe (`agon games | head`) is no error;
/// anything else, such as a full disk, is remembered for the exit code.
pub fn print(text: &str) {
    write(format!("{text}\n").as_bytes());
}

/// Prints bytes as they are.
pub fn write(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Whether standard output took less than it was given.
pub fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Columns of text where the output is no terminal.
const WIDE: u16 = 400;

/// Narrower tables break words.
const NARROWEST: u16 = 60;

/// How wide tables may be: as the terminal, or unbroken where there is none.
pub fn width() -> u16 {
    if !std::io::stdout().is_terminal() {
        return WIDE;
    }
    let said = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    let width: Option<u16> = said.or_else(|| Table::new().width());
    width.unwrap_or(WIDE).max(NARROWEST)
}

/// A number with its noun: `1 setting`, `3,000 settings`.
pub fn counted(number: u64, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{} {noun}s", grouped(number))
    }
}

/// `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A borderless table.
pub struct Columns {
    table: Table,
}

impl Columns {
    /// A table with these headings.
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_header(headings);
        Self { table }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.table.add_row(cells);
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.table.trim_fmt())
    }
}
