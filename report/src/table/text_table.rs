//! A table as text that fits a width: headings and words wrap, numbers never do, and what does
//! not fit side by side goes on below, under the same keys. Knows nothing of what it shows.
//! Called by every table of this crate and by the lists of the command line.

use agon_outlets::lines;
use textwrap::core::display_width;

use super::beside::Beside;
use super::markup::Markup;
use crate::layout::Layout;
use crate::wrapping::{Breaks, NO_BREAK, longest_word, wrapped};

/// How columns are set side by side, the best first: where words may break, and how many
/// blanks stand between columns.
const SIDE_BY_SIDE: [(Breaks, usize); 3] = [
    (Breaks::Words, GAP),
    (Breaks::Words, 1),
    (Breaks::Names, GAP),
];

/// Blanks between columns where there is room.
const GAP: usize = 2;

/// Blanks before the first column.
const MARGIN: usize = 1;

/// A column of a table. One without anything in its cells is not shown.
#[derive(Debug, Clone)]
pub struct Column {
    heading: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Says what a row is of; repeated where a table goes on below.
    Key,
    /// Set to the right and never wrapped: half a number is read as another one.
    Number,
    /// Words, which wrap.
    Words,
    /// What must be said of a row; repeated as keys are.
    Note,
}

impl Column {
    /// A column that says what a row is of.
    pub fn key(heading: impl Into<String>) -> Self {
        Self::new(heading, Kind::Key)
    }

    /// A column of numbers.
    pub fn number(heading: impl Into<String>) -> Self {
        Self::new(heading, Kind::Number)
    }

    /// A column of words.
    pub fn words(heading: impl Into<String>) -> Self {
        Self::new(heading, Kind::Words)
    }

    /// A column of what must be said of a row.
    pub fn notes() -> Self {
        Self::new("notes", Kind::Note)
    }

    fn new(heading: impl Into<String>, kind: Kind) -> Self {
        Self {
            heading: heading.into(),
            kind,
        }
    }
}

/// A table without borders.
#[derive(Debug, Clone)]
pub struct TextTable {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    /// What is known beside each row.
    beside: Vec<Beside>,
}

/// A column with the widths that it can have.
#[derive(Clone, Copy)]
struct Sized {
    place: usize,
    least: usize,
    most: usize,
}

/// Columns side by side.
struct Part {
    columns: Vec<Sized>,
    breaks: Breaks,
    gap: usize,
}

impl TextTable {
    /// A table with these columns and no row.
    pub fn new(columns: Vec<Column>) -> Self {
        Self {
            columns,
            rows: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// Adds a row, one cell for each column. A cell may have several lines.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.row_with(cells, Beside::default());
    }

    /// Adds a row, with what is known beside it.
    pub(crate) fn row_with(&mut self, cells: impl IntoIterator<Item = String>, beside: Beside) {
        self.beside.push(beside);
        // A unit stays with its number.
        let united = |cell: String| {
            lines(&cell)
                .to_string()
                .replace(" %", &format!("{NO_BREAK}%"))
        };
        self.rows.push(cells.into_iter().map(united).collect());
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table in a layout. As text in at most so many columns, without blanks at the ends of
    /// lines: breaks inside a name only where that alone keeps columns side by side, and inside a
    /// word or number never, unless it alone is wider than that.
    pub fn fitted(&self, layout: Layout) -> String {
        let Layout::Text(width) = layout else {
            return self.markup().written(layout);
        };
        let width = usize::from(width);
        let parts = self.parts(width).into_iter();
        let shown: Vec<String> = parts.map(|part| self.shown(part, width)).collect();
        shown.join("\n\n")
    }

    /// The columns that have anything to show, whole.
    fn markup(&self) -> Markup<'_> {
        let columns = self.columns.iter().enumerate();
        let shown: Vec<(usize, &Column)> = columns
            .filter(|(place, _)| {
                let mut rows = self.rows.iter();
                rows.any(|row| row.get(*place).is_some_and(|cell| !cell.is_empty()))
            })
            .collect();
        Markup {
            headings: shown.iter().map(|(_, column)| &*column.heading).collect(),
            of_numbers: shown
                .iter()
                .map(|(_, column)| column.kind == Kind::Number)
                .collect(),
            rows: self.rows.iter().map(|row| cells(row, &shown)).collect(),
            beside: &self.beside,
        }
    }

    /// All columns side by side if they can be, or else in as few parts as possible.
    fn parts(&self, width: usize) -> Vec<Part> {
        for (breaks, gap) in SIDE_BY_SIDE {
            let columns = self.sized(breaks, width);
            if needed(&columns, gap) <= width {
                return vec![Part {
                    columns,
                    breaks,
                    gap,
                }];
            }
        }
        let gap = GAP;
        let whole = self.sized(Breaks::Words, width);
        let keys = whole.iter().filter(|column| self.is_repeated(column));
        let keys: usize = keys.map(|column| column.least + gap).sum();
        let breaks = if 2 * keys <= width {
            Breaks::Words
        } else {
            Breaks::Names
        };
        let columns = self.sized(breaks, width);
        let fewest = self.split(&columns, gap, width);
        // Parts of about the same width rather than a full one and a rest.
        let narrower = (1..width).rev().map(|cap| self.split(&columns, gap, cap));
        let even = narrower.take_while(|parts| parts.len() == fewest.len());
        let parts = even.last().unwrap_or(fewest).into_iter();
        let part = |columns| Part {
            columns,
            breaks,
            gap,
        };
        parts.map(part).collect()
    }

    /// Fills one part after the other, each with the repeated columns and at least one more.
    fn split(&self, columns: &[Sized], gap: usize, width: usize) -> Vec<Vec<Sized>> {
        let repeated = columns.iter().filter(|column| self.is_repeated(column));
        let repeated: Vec<Sized> = repeated.copied().collect();
        let with = |others: &[Sized]| {
            let mut part = [&repeated, others].concat();
            part.sort_by_key(|column| column.place);
            part
        };
        let mut parts: Vec<Vec<Sized>> = Vec::new();
        for column in columns.iter().filter(|column| !self.is_repeated(column)) {
            if let Some(last) = parts.last_mut() {
                last.push(*column);
                if needed(&with(last), gap) <= width {
                    continue;
                }
                last.pop();
            }
            parts.push(vec![*column]);
        }
        parts.iter().map(|others| with(others)).collect()
    }

    fn is_repeated(&self, column: &Sized) -> bool {
        matches!(self.columns[column.place].kind, Kind::Key | Kind::Note)
    }

    /// The columns that have anything to show.
    fn sized(&self, breaks: Breaks, width: usize) -> Vec<Sized> {
        let columns = self.columns.iter().enumerate();
        let columns = columns.filter_map(|(place, column)| {
            let cells = || self.rows.iter().filter_map(|row| row.get(place));
            if cells().all(String::is_empty) {
                return None;
            }
            let widest = cells().flat_map(|cell| cell.lines()).map(display_width);
            let widest = widest.max().unwrap_or(0);
            let least = match column.kind {
                Kind::Number => widest,
                _ => cells()
                    .map(|cell| longest_word(cell, breaks))
                    .max()
                    .unwrap_or(0),
            };
            let least = least.max(longest_word(&column.heading, breaks));
            Some(Sized {
                place,
                least: least.min(width.saturating_sub(MARGIN)),
                most: widest.max(display_width(&column.heading)),
            })
        });
        columns.collect()
    }

    fn shown(&self, part: Part, width: usize) -> String {
        let Part {
            mut columns,
            breaks,
            gap,
        } = part;
        let spare = width.saturating_sub(needed(&columns, gap));
        widen(&mut columns, spare);
        let line = |cells: &dyn Fn(&Sized) -> Vec<String>, from_below: bool| {
            let cells: Vec<Vec<String>> = columns.iter().map(cells).collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0);
            let lines = (0..height).map(|line| {
                let cells = columns.iter().zip(&cells).map(|(column, cell)| {
                    let blank = if from_below { height - cell.len() } else { 0 };
                    let text = line.checked_sub(blank).and_then(|line| cell.get(line));
                    let text = text.map_or("", String::as_str);
                    self.padded(text, column)
                });
                let cells: Vec<String> = cells.collect();
                let blanks = " ".repeat(MARGIN);
                format!("{blanks}{}", cells.join(&" ".repeat(gap)))
                    .trim_end()
                    .to_owned()
            });
            lines.collect::<Vec<_>>()
        };
        let heading =
            |column: &Sized| wrapped(&self.columns[column.place].heading, column.least, breaks);
        let mut lines = line(&heading, true);
        for row in &self.rows {
            let cell = |column: &Sized| {
                let cell = row.get(column.place).map_or("", String::as_str);
                match self.columns[column.place].kind {
                    Kind::Number => cell.lines().map(str::to_owned).collect(),
                    _ => wrapped(cell, column.least, breaks),
                }
            };
            lines.extend(line(&cell, false));
        }
        lines.join("\n").replace(NO_BREAK, " ")
    }

    fn padded(&self, text: &str, column: &Sized) -> String {
        let blanks = " ".repeat(column.least.saturating_sub(display_width(text)));
        match self.columns[column.place].kind {
            Kind::Number => format!("{blanks}{text}"),
            _ => format!("{text}{blanks}"),
        }
    }
}

/// The cells of a row in these columns.
fn cells<'a>(row: &'a [String], shown: &[(usize, &Column)]) -> Vec<&'a str> {
    let cells = shown.iter().map(|(place, _)| row.get(*place));
    cells.map(|cell| cell.map_or("", String::as_str)).collect()
}

/// How wide these columns are at least.
fn needed(columns: &[Sized], gap: usize) -> usize {
    let least: usize = columns.iter().map(|column| column.least).sum();
    MARGIN + least + gap * columns.len().saturating_sub(1)
}

/// Gives what is left to the columns whose cells would otherwise have most lines.
fn widen(columns: &mut [Sized], spare: usize) {
    let lines = |column: &Sized| column.most as f64 / column.least.max(1) as f64;
    for _ in 0..spare {
        let lacking = columns.iter_mut();
        let lacking = lacking.filter(|column| column.least < column.most);
        match lacking.max_by(|one, other| lines(one).total_cmp(&lines(other))) {
            Some(column) => column.least += 1,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests;
