//! Heat maps: cividis, a number in each cell if it fits, missing cells hatched, a scale of colours
//! on the right.

use crate::chart::Heat;
use crate::figure::{Panel, Spacing};
use crate::font::{self, HALF_HEIGHT};
use crate::frame::{AXIS_TITLE_SIZE, Frame, LABEL_SIZE};
use crate::mark::Mark;
use crate::number;
use crate::palette::{Rgb, cividis};
use crate::plan::{Height, Plan};
use crate::scene::{Anchor, Area, Fill, Paint, Scene, Stroke, Text};
use crate::side::{Map, Side};
use crate::texture;

use super::tip::tip;

/// Lowest and highest cells.
const CELLS: (f64, f64) = (9.5, 26.0);

/// The scale of colours: its distance from the cells, its size, its steps.
const SCALE_GAP: f64 = 5.0;
const SCALE_HEIGHT: f64 = 6.0;
const LONGEST_SCALE: f64 = 130.0;
const SCALE_STEPS: usize = 48;

/// Names beside a matrix leave more room for its cells.
pub(super) const MATRIX_NAMES_SHARE: f64 = 0.31;

/// Room between a number and the edges of its cell.
const CELL_ROOM: f64 = 1.2;

/// Rows and columns, and the scale beside them.
pub(super) fn plan(panel: &Panel, heat: &Heat) -> Plan {
    let x = Side::Names(heat.columns.clone(), panel.x.label());
    let y = Side::Names(heat.rows.clone(), panel.y.label());
    let mut plan = Plan::new(x, y, Height::Cells(CELLS.0, CELLS.1));
    plan.names_share = MATRIX_NAMES_SHARE;
    plan.above = SCALE_HEIGHT + 2.0 + LABEL_SIZE * font::LEADING + SCALE_GAP;
    if !heat.measure.is_empty() {
        plan.above += AXIS_TITLE_SIZE * font::LEADING + 2.0;
    }
    plan
}

/// The ends of the scale of colours.
pub(crate) fn ends(heat: &Heat) -> (f64, f64) {
    let given = heat
        .range
        .filter(|(from, to)| from.is_finite() && to.is_finite() && from < to);
    given.unwrap_or_else(|| {
        let values = heat.cells.iter().flatten().flatten().map(|mark| mark.value);
        let (from, to) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), value| {
                (from.min(value), to.max(value))
            });
        match from <= to {
            true => (from, to),
            false => (0.0, 1.0),
        }
    })
}

/// Round numbers on the scale, as many as have room.
fn scale_labels((from, to): (f64, f64), width: f64) -> Vec<(f64, String)> {
    let fitting = (1..=6).rev().find_map(|wanted| {
        let values = number::round_steps(from, to, wanted);
        let labels = number::labels(&values);
        let widths = labels
            .iter()
            .map(|label| font::width(label, LABEL_SIZE, false));
        let room = width / values.len().max(1) as f64;
        let fits = widths.fold(0.0, f64::max) + 4.0 <= room && !values.is_empty();
        fits.then(|| values.into_iter().zip(labels).collect())
    });
    fitting.unwrap_or_else(|| vec![(from, number::short(from))])
}

/// Cells, then the scale.
pub(super) fn draw(scene: &mut Scene, heat: &Heat, frame: &Frame) {
    let (from, to) = ends(heat);
    let share = |value: f64| match from < to {
        true => (value - from) / (to - from),
        false => 0.5,
    };
    let texts = numbers(heat, frame.x.slot(), frame.y.slot());
    for (row, row_name) in heat.rows.iter().enumerate() {
        for (column, column_name) in heat.columns.iter().enumerate() {
            if heat.triangular && column > row {
                continue;
            }
            let area = cell(frame, row, column);
            let mark = heat
                .cells
                .get(row)
                .and_then(|row| row.get(column)?.as_ref());
            let Some(mark) = mark else {
                let said = format!("{row_name}, {column_name}: no data");
                scene.group(Some(said), None, |scene| texture::missing(scene, area));
                continue;
            };
            let colour = cividis(share(mark.value));
            let measure = crate::figure::Axis::new(&*heat.measure);
            let said = tip(&[row_name, column_name], &measure, mark);
            scene.group(Some(said), mark.link.clone(), |scene| {
                // Drawn a little larger, so that no light shows between cells.
                scene.rectangle(area, Fill::solid(Paint::Fixed(colour)), edge(colour));
                if let Some(text) = &texts {
                    number_in(scene, area, &text(mark), colour);
                }
            });
        }
    }
    scale(scene, heat, frame, (from, to));
}

fn edge(colour: Rgb) -> Stroke {
    Stroke::new(Paint::Fixed(colour), 0.2)
}

pub(super) fn cell(frame: &Frame, row: usize, column: usize) -> Area {
    let (half_width, half_height) = (frame.x.slot() / 2.0, frame.y.slot() / 2.0);
    let (x, y) = (frame.x.middle(column), frame.y.middle(row));
    Area {
        left: x - half_width,
        top: y - half_height,
        right: x + half_width,
        bottom: y + half_height,
    }
}

/// How a number is written.
type Written = dyn Fn(&Mark) -> String;

/// How numbers are written in cells; none if the widest does not fit.
fn numbers(heat: &Heat, width: f64, height: f64) -> Option<Box<Written>> {
    let marks = || heat.cells.iter().flatten().flatten();
    let largest = marks().map(|mark| mark.value.abs()).fold(0.0, f64::max);
    let are_whole = marks().all(|mark| mark.value.fract() == 0.0);
    let digits = heat.digits.unwrap_or(match largest {
        _ if are_whole => 0,
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    });
    let is_extreme = largest >= 1e6 || (largest > 0.0 && largest < 5e-3);
    let is_free = is_extreme && heat.digits.is_none();
    let text = move |mark: &Mark| match is_free {
        true => number::short(mark.value),
        false => number::fixed(mark.value, digits),
    };
    let fits = |text: &dyn Fn(&Mark) -> String| {
        let widths = marks().map(|mark| font::width(&text(mark), LABEL_SIZE, false));
        let widest = widths.fold(0.0, f64::max);
        widest + CELL_ROOM <= width && LABEL_SIZE + CELL_ROOM <= height
    };
    // Shares do without their zero where room is scarce.
    let bare = move |mark: &Mark| match text(mark) {
        full if full.starts_with("0.") => full.replacen("0.", ".", 1),
        _ => number::fixed(mark.value, digits.saturating_sub(1)),
    };
    if fits(&text) {
        Some(Box::new(text))
    } else if largest <= 1.0 && fits(&bare) {
        Some(Box::new(bare))
    } else {
        None
    }
}

fn number_in(scene: &mut Scene, area: Area, text: &str, colour: Rgb) {
    let (x, y) = area.centre();
    let ink = match colour.is_dark() {
        true => Rgb(0xff, 0xff, 0xff),
        false => Rgb(0x00, 0x00, 0x00),
    };
    let text = Text::new(text, (x, y + LABEL_SIZE * HALF_HEIGHT), LABEL_SIZE);
    scene.text(text.anchor(Anchor::Middle).paint(Paint::Fixed(ink)));
}

/// The measure, the colours and their numbers, above the cells.
fn scale(scene: &mut Scene, heat: &Heat, frame: &Frame, (from, to): (f64, f64)) {
    let area = frame.area;
    let labels_base = area.top - SCALE_GAP - LABEL_SIZE * font::DESCENT;
    let bottom = labels_base - LABEL_SIZE * font::ASCENT - 2.0;
    let width = area.width().min(LONGEST_SCALE);
    let step = width / SCALE_STEPS as f64;
    for index in 0..SCALE_STEPS {
        let share = (index as f64 + 0.5) / SCALE_STEPS as f64;
        let colour = cividis(if from < to { share } else { 0.5 });
        let left = area.left + index as f64 * step;
        let piece = Area {
            left,
            top: bottom - SCALE_HEIGHT,
            right: left + step,
            bottom,
        };
        scene.rectangle(piece, Fill::solid(Paint::Fixed(colour)), edge(colour));
    }
    let map = Map {
        from,
        to,
        spacing: Spacing::Linear,
        start: area.left,
        end: area.left + width,
    };
    for (value, label) in scale_labels((from, to), width) {
        let at = if from < to {
            map.at(value)
        } else {
            area.left + width / 2.0
        };
        scene.line(
            (at, bottom),
            (at, bottom + 1.5),
            Stroke::new(Paint::Soft, 0.6),
        );
        let half = font::width(&label, LABEL_SIZE, false) / 2.0;
        let middle = at.min(scene.width - half).max(half);
        let text = Text::new(label, (middle, labels_base), LABEL_SIZE);
        scene.text(text.anchor(Anchor::Middle));
    }
    let base = bottom - SCALE_HEIGHT - 2.0 - AXIS_TITLE_SIZE * font::DESCENT;
    let title = font::shortened(&heat.measure, AXIS_TITLE_SIZE, area.width());
    if !title.is_empty() {
        scene.text(Text::new(title, (area.left, base), AXIS_TITLE_SIZE));
    }
}
