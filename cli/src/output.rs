//! What goes to standard output: plain text that survives a closed pipe, and
//! tables fitted to the terminal.

use std::fmt;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use agon_report::{Column, TextTable};
use terminal_size::terminal_size;

pub use agon_report::counted;

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

/// How wide tables are in files, and wherever the output is no terminal: the same for
/// everybody, so that files can be compared.
pub const FILE_WIDTH: u16 = 100;

/// Narrower terminals wrap lines themselves.
const NARROWEST: u16 = 60;

/// How wide tables may be on standard output.
pub fn width() -> u16 {
    if !std::io::stdout().is_terminal() {
        return FILE_WIDTH;
    }
    let said = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    let width: Option<u16> = said.or_else(|| terminal_size().map(|(width, _)| width.0));
    width.unwrap_or(FILE_WIDTH).max(NARROWEST)
}

/// A list: as wide as the terminal, or one line a row for programs that read it.
pub struct Columns {
    table: TextTable,
}

impl Columns {
    /// A table with these headings.
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        let columns = headings
            .iter()
            .enumerate()
            .map(|(place, heading)| match place {
                0 => Column::key(*heading),
                _ => Column::words(*heading),
            });
        Self {
            table: TextTable::new(columns.collect()),
        }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.table.row(cells);
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = if std::io::stdout().is_terminal() {
            width()
        } else {
            u16::MAX
        };
        write!(formatter, "{}", self.table.fitted(width))
    }
}
