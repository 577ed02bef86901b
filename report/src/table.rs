//! Tables as text, made one way: without borders, fitted to a layout, numbers to the right,
//! what is not defined as `-`, and beside a row what must be said of it. Knows no measure.
//! Called by the summary, the leaderboard and every report.

mod beside;
mod by_setting;
mod cells;
mod markup;
mod numbers;
mod text_table;

pub use numbers::{count, counted};
pub use text_table::{Column, TextTable};

pub(crate) use beside::Beside;
pub(crate) use by_setting::{Line, SettingTables, in_json, sessions_of};
pub(crate) use cells::{Cell, cells_of, headings};
pub(crate) use numbers::{
    NONE, evenly, grouped, mean_and_spread, number, of_values, part_of, percent, rounded, spread,
};

/// A column of what rows are of, then those of their numbers.
pub(crate) fn columns<H: AsRef<str>>(
    of: &str,
    numbers: impl IntoIterator<Item = H>,
) -> Vec<Column> {
    let numbers = numbers.into_iter();
    let numbers = numbers.map(|heading| Column::number(heading.as_ref()));
    [Column::key(of)].into_iter().chain(numbers).collect()
}

/// Cells of one row.
pub(crate) type Cells = Vec<String>;

/// What there is of tables and sentences, a blank line between them.
pub(crate) fn paragraphs(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}
