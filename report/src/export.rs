//! Sessions as tables for other programs: six tables with fixed columns, each row a fact of a record
//! or an observation made of it. Rows are handed out session by session, so that any number of
//! sessions fits into memory. Knows no file and no format; the command line writes those.
//! `docs/exports.md` is made of the columns here.

mod columns;
mod rows;

pub use columns::{Column, TABLES, Table, Type};
pub use rows::rows_of;

/// One cell of a row, of the type of its column or null.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// What does not apply, or is not defined.
    Null,
    /// Text.
    Text(&'a str),
    /// A whole number.
    Integer(i64),
    /// A real number.
    Number(f64),
    /// True or false.
    Flag(bool),
}

/// Where rows go.
pub trait Rows {
    /// Why a row could not be taken.
    type Error;

    /// Whether rows of this table are wanted at all.
    fn wants(&self, table: &Table) -> bool;

    /// Takes a row with a cell for each column of the table.
    ///
    /// # Errors
    /// It cannot be written.
    fn row(&mut self, table: &'static Table, cells: &[Cell<'_>]) -> Result<(), Self::Error>;
}
