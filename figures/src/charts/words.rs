//! A matrix of words in the colours of their series: who did what in which round. Cells are placed
//! as those of heat maps.

use crate::chart::Words;
use crate::figure::Panel;
use crate::font::{self, HALF_HEIGHT};
use crate::frame::{Frame, LABEL_SIZE};
use crate::palette::Palette;
use crate::plan::{Height, Plan};
use crate::scene::{Anchor, Fill, Paint, Scene, Stroke, Text};
use crate::side::Side;
use crate::texture;

use super::heat::{MATRIX_NAMES_SHARE, cell};

/// Lowest and highest cells.
const CELLS: (f64, f64) = (11.0, 14.0);

/// Room between a word and the edges of its cell.
const ROOM: f64 = 1.6;

/// Rows and columns.
pub(super) fn plan(panel: &Panel, words: &Words) -> Plan {
    let x = Side::Names(words.columns.clone(), panel.x.label());
    let y = Side::Names(words.rows.clone(), panel.y.label());
    let mut plan = Plan::new(x, y, Height::Cells(CELLS.0, CELLS.1));
    plan.names_share = MATRIX_NAMES_SHARE;
    plan
}

/// A coloured cell with its word.
pub(super) fn draw(scene: &mut Scene, words: &Words, frame: &Frame, palette: &Palette) {
    for (row, row_name) in words.rows.iter().enumerate() {
        for (column, column_name) in words.columns.iter().enumerate() {
            let area = cell(frame, row, column);
            let edge = Stroke::new(Paint::Rule, 0.4);
            let word = words
                .cells
                .get(row)
                .and_then(|row| row.get(column)?.as_ref());
            let Some(word) = word else {
                scene.rectangle(area, Fill::NONE, edge);
                continue;
            };
            let said = [&**row_name, column_name, &word.text, &word.series];
            let said: Vec<&str> = said.into_iter().filter(|part| !part.is_empty()).collect();
            let mut said = said.join(", ");
            if let Some(note) = &word.note {
                said.push_str("; ");
                said.push_str(note);
            }
            scene.group(Some(said), word.link.clone(), |scene| {
                if !word.series.is_empty() {
                    texture::cell(scene, area, palette.look(&word.series));
                }
                scene.rectangle(area, Fill::NONE, edge);
                let text = font::shortened(&word.text, LABEL_SIZE, area.width() - ROOM);
                let fits = font::width(&text, LABEL_SIZE, false) <= area.width();
                if fits && area.height() >= LABEL_SIZE {
                    let (x, y) = area.centre();
                    let at = (x, y + LABEL_SIZE * HALF_HEIGHT);
                    scene.text(Text::new(text, at, LABEL_SIZE).anchor(Anchor::Middle));
                }
            });
        }
    }
}
