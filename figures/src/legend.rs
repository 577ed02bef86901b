//! The legend: a sign and a name per series and baseline, in as many columns as fit. What a sign
//! looks like is said by `plan`.

use crate::font::{self, HALF_HEIGHT, LEADING};
use crate::frame::LABEL_SIZE;
use crate::plan::{Entry, SIGN_WIDTH, draw_sign};
use crate::scene::{Place, Scene, Text};

/// Between sign and name, and between columns.
const SIGN_GAP: f64 = 3.0;
const COLUMN_GAP: f64 = 9.0;

/// From one row to the next.
const ROW: f64 = LABEL_SIZE * LEADING + 1.0;

/// Entries in columns, filled from top to bottom.
pub(crate) struct Legend {
    entries: Vec<Entry>,
    /// Left edges of the columns.
    columns: Vec<f64>,
    rows: usize,
    width: f64,
}

impl Legend {
    /// As few rows as fit into the width.
    pub(crate) fn new(entries: Vec<Entry>, width: f64) -> Self {
        let count = entries.len();
        let fitting = (1..=count).find_map(|rows| {
            let columns = columns(&entries, rows, width);
            (*columns.last()? <= width + COLUMN_GAP).then_some((rows, columns))
        });
        let (rows, columns) = fitting.unwrap_or((count, vec![0.0]));
        Self {
            entries,
            columns,
            rows,
            width,
        }
    }

    pub(crate) fn height(&self) -> f64 {
        self.rows as f64 * ROW
    }

    /// Draws it below and right of a place.
    pub(crate) fn draw(&self, scene: &mut Scene, (left, top): Place) {
        for (index, entry) in self.entries.iter().enumerate() {
            let (column, row) = (index / self.rows, index % self.rows);
            let x = left + self.columns.get(column).copied().unwrap_or(0.0);
            let middle = top + (row as f64 + 0.5) * ROW;
            let room = self.width - SIGN_WIDTH - SIGN_GAP;
            let name = font::shortened(&entry.name, LABEL_SIZE, room);
            let whole = (name != entry.name).then(|| entry.name.clone());
            scene.group(whole, None, |scene| {
                draw_sign(scene, entry.sign, (x, middle));
                let at = (x + SIGN_WIDTH + SIGN_GAP, middle + LABEL_SIZE * HALF_HEIGHT);
                scene.text(Text::new(name, at, LABEL_SIZE));
            });
        }
    }
}

/// Left edges of the columns when there are so many rows, and the right end with a gap.
fn columns(entries: &[Entry], rows: usize, width: f64) -> Vec<f64> {
    let mut edges = vec![0.0];
    let mut at = 0.0;
    for column in entries.chunks(rows) {
        let widths = column
            .iter()
            .map(|entry| font::width(&entry.name, LABEL_SIZE, false));
        let widest = widths.fold(0.0, f64::max) + SIGN_WIDTH + SIGN_GAP;
        at += widest.min(width) + COLUMN_GAP;
        edges.push(at);
    }
    edges
}
