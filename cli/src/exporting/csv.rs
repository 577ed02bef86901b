//! Tables as CSV: a heading, then a row a line. Text that a spreadsheet would run as a formula is
//! marked as text; the other formats have it as it is.

use std::io::{self, BufWriter};

use agon_report::Cells;
use agon_report::export::{Cell, Table};

use super::{Sink, TableFile};

/// See the module.
pub(super) struct CsvFile(Cells<BufWriter<Sink>>);

impl CsvFile {
    /// Begins with the heading.
    pub fn begin(file: Sink, table: &'static Table) -> io::Result<Self> {
        let mut cells = Cells::new(BufWriter::new(file));
        let headings = table.columns.iter();
        cells.row(headings.map(|column| column.name.to_owned()))?;
        Ok(Self(cells))
    }
}

impl TableFile for CsvFile {
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        let cells = cells.iter().map(|cell| match cell {
            Cell::Null => String::new(),
            Cell::Text(text) => (*text).to_owned(),
            Cell::Integer(number) => number.to_string(),
            Cell::Number(number) => number.to_string(),
            Cell::Flag(flag) => flag.to_string(),
        });
        Ok(self.0.row(cells)?)
    }

    fn finish(self: Box<Self>) -> io::Result<Sink> {
        let written = self.0.finish()?;
        written.into_inner().map_err(io::IntoInnerError::into_error)
    }
}
