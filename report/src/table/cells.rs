//! Columns of a table over rows of measures: each is a heading and what its cells show of a row.
//! Used by the sections of all papers' reports.

use super::{Cells, count, mean_and_spread, number, of_values, part_of, percent};
use crate::row::Row;

/// What a cell shows of a row. Numbers say with how many decimals.
#[derive(Clone, Copy)]
pub(crate) enum Cell {
    /// A whole number.
    Count(&'static str),
    /// A number.
    Number(&'static str, usize),
    /// A share in percent.
    Percent(&'static str, usize),
    /// How many of how many, as `3 of 5` or `5`.
    PartOf(&'static str, &'static str),
    /// How many of how many, as `5 of 5`.
    Of(&'static str, &'static str),
    /// A mean and its spread.
    Spread(&'static str, &'static str, usize),
    /// A mean of so many values, in a row whose other means are of so many.
    OfValues(&'static str, &'static str, &'static str),
    /// Names.
    Words(&'static str),
    /// Anything else.
    Made(fn(&Row) -> String),
}

/// The headings of these columns.
pub(crate) fn headings(columns: &[(&'static str, Cell)]) -> Vec<&'static str> {
    columns.iter().map(|(heading, _)| *heading).collect()
}

/// The cells of a row in these columns.
pub(crate) fn cells_of(row: &Row, columns: &[(&'static str, Cell)]) -> Cells {
    columns.iter().map(|(_, cell)| cell.of(row)).collect()
}

impl Cell {
    /// What it shows of a row.
    pub fn of(self, row: &Row) -> String {
        match self {
            Self::Count(name) => count(row.count(name)),
            Self::Number(name, decimals) => number(row.number(name), decimals),
            Self::Percent(name, decimals) => percent(row.number(name), decimals),
            Self::PartOf(part, all) => part_of(row.count(part), row.count(all)),
            Self::Of(part, all) => {
                format!("{} of {}", count(row.count(part)), count(row.count(all)))
            }
            Self::Spread(mean, spread, decimals) => {
                mean_and_spread(row.number(mean), row.number(spread), decimals)
            }
            Self::OfValues(mean, of, usual) => {
                of_values(number(row.number(mean), 2), row.count(of), row.count(usual))
            }
            Self::Words(name) => row.words(name).join(", "),
            Self::Made(made) => made(row),
        }
    }
}
