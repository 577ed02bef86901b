//! A table that a page shows, as CSV for spreadsheets: the same columns and words, and no formula. Called by
//! pages.

use crate::blocks::Table;
use crate::results::Cells;

/// A blank at which no line breaks; other programs take it for part of a word.
const NO_BREAK: char = '\u{a0}';

/// The table, a line of headings first.
pub fn csv_of(table: &Table) -> String {
    let headings: Vec<String> = table.columns.iter().map(|one| one.name.clone()).collect();
    let rows = table.rows.iter().map(|row| row.cells.clone());
    let mut cells = Cells::new(Vec::new());
    for row in [headings].into_iter().chain(rows) {
        // Memory takes everything, and all rows are as long as the headings.
        let _ = cells.row(row.into_iter().map(|cell| cell.replace(NO_BREAK, " ")));
    }
    let written = cells.finish().unwrap_or_default();
    String::from_utf8(written).unwrap_or_default()
}
