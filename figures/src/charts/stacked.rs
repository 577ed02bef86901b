//! Stacked bars: the parts of a category one after the other, negative ones to the other side of
//! zero, with their numbers where they fit.

use crate::chart::{ByCategory, Direction};
use crate::figure::Panel;
use crate::font::{self, HALF_HEIGHT};
use crate::frame::{Frame, LABEL_SIZE};
use crate::number;
use crate::palette::Palette;
use crate::plan::Plan;
use crate::scene::{Anchor, Area, Fill, Paint, Scene, Stroke, Text};
use crate::texture;

use super::across::{self, Across, measure};
use super::tip::tip;

/// Height of a row, thickness of a bar at most.
const STEP: f64 = 14.0;
const THICKEST: f64 = 18.0;

/// Sums on both sides of zero.
pub(super) fn plan(panel: &Panel, data: &ByCategory) -> Plan {
    let sums = (0..data.categories.len()).flat_map(|category| {
        let marks = data
            .series
            .iter()
            .filter_map(|series| series.mark(category));
        let (mut below, mut above) = (0.0, 0.0);
        for mark in marks {
            match mark.value < 0.0 {
                true => below += mark.value,
                false => above += mark.value,
            }
        }
        [below, above]
    });
    let sums: Vec<f64> = sums.collect();
    let names = data.categories.clone();
    across::plan(panel, data.direction, names, sums, true, STEP)
}

/// One bar per category.
pub(super) fn draw(
    scene: &mut Scene,
    panel: &Panel,
    data: &ByCategory,
    frame: &Frame,
    palette: &Palette,
) {
    let across = Across::of(frame, data.direction);
    let thickness = (across.names().slot() * 0.8).min(THICKEST);
    for (category, name) in data.categories.iter().enumerate() {
        let along = across.names().middle(category);
        let (mut below, mut above) = (0.0, 0.0);
        for series in &data.series {
            let Some(mark) = series.mark(category) else {
                continue;
            };
            let from = if mark.value < 0.0 { below } else { above };
            let to = from + mark.value;
            match mark.value < 0.0 {
                true => below = to,
                false => above = to,
            }
            let said = tip(&[name, &series.name], measure(panel, data.direction), mark);
            scene.group(Some(said), mark.link.clone(), |scene| {
                let area = across.bar(along, thickness, from, to);
                texture::bar(scene, area, palette.look(&series.name));
                plate(scene, area, &number::short(mark.value), data.direction);
            });
        }
    }
}

/// The number of a part on a light plate, if the part is large enough.
fn plate(scene: &mut Scene, area: Area, text: &str, direction: Direction) {
    let (width, height) = (font::width(text, LABEL_SIZE, false) + 1.6, LABEL_SIZE + 0.4);
    let is_thick = match direction {
        Direction::Rows => area.height() >= height,
        Direction::Columns => area.height() >= height + 2.0,
    };
    if !is_thick || area.width() < width + 2.0 {
        return;
    }
    let (x, y) = area.centre();
    let plate = Area {
        left: x - width / 2.0,
        top: y - height / 2.0,
        right: x + width / 2.0,
        bottom: y + height / 2.0,
    };
    scene.rectangle(plate, Fill::faint(Paint::Paper, 0.86), Stroke::NONE);
    let at = (x, y + LABEL_SIZE * HALF_HEIGHT);
    scene.text(Text::new(text, at, LABEL_SIZE).anchor(Anchor::Middle));
}
