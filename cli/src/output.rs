//! What goes to standard output: plain text that survives a closed pipe, and
//! tables fitted to the terminal.

use std::fmt;
use std::io::Write as _;

use comfy_table::{ContentArrangement, Table, presets};

/// Prints text and a line break. A closed pipe (`agon games | head`) is no error.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}");
}

/// Columns of text where the output is no terminal.
const WIDE: u16 = 160;

/// How wide tables may be: as the terminal, or as `COLUMNS` says.
pub fn width() -> u16 {
    let said = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    said.or_else(|| Table::new().width()).unwrap_or(WIDE)
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
