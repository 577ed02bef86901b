//! Heat maps: cividis, a number in each cell if it fits, missing cells hatched, a scale of colours
//! on the right.

use crate::chart::Heat;
use crate::figure::Panel;
use crate::font::{self, HALF_HEIGHT};
use crate::frame::{AXIS_TITLE_SIZE, Frame, LABEL_SIZE};
use crate::mark::Mark;
use crate::number;
use crate::palette::{Rgb, cividis};
use crate::plan::{Height, Plan};
use crate::scene::{Anchor, Area, Fill, Paint, Scene, Stroke, Text};
use crate::side::Side;
use crate::texture;

use super::tip::tip;

/// Lowest and highest cells.
const CELLS: (f64, f64) = (9.5, 26.0);

/// The scale of colours: its distance from the cells, its width, its steps.
const SCALE_GAP: f64 = 6.0;
const SCALE_WIDTH: f64 = 7.0;
const SCALE_STEPS: usize = 48;

/// Room between a number and the edges of its cell.
const CELL_ROOM: f64 = 1.5;

/// Rows and columns, and the scale beside them.
pub(super) fn plan(panel: &Panel, heat: &Heat) -> Plan {
    let x = Side::Names(heat.columns.clone(), panel.x.label());
    let y = Side::Names(heat.rows.clone(), panel.y.label());
    let mut plan = Plan::new(x, y, Height::Cells(CELLS.0, CELLS.1));
    let labels = scale_labels(ends(heat));
    let widest = labels
        .iter()
        .map(|(_, label)| font::width(label, LABEL_SIZE, false));
    plan.beside = SCALE_GAP + SCALE_WIDTH + 3.0 + widest.fold(0.0, f64::max);
    if !heat.measure.is_empty() {
        plan.beside += AXIS_TITLE_SIZE * font::LEADING + 1.0;
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

fn scale_labels((from, to): (f64, f64)) -> Vec<(f64, String)> {
    let mut values = number::round_steps(from, to, 4);
    if values.is_empty() {
        values.push(from);
    }
    let labels = number::labels(&values);
    values.into_iter().zip(labels).collect()
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

/// How numbers are written in cells; none if the widest does not fit.
fn numbers(heat: &Heat, width: f64, height: f64) -> Option<impl Fn(&Mark) -> String> {
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
    let text = move |mark: &Mark| match is_extreme && heat.digits.is_none() {
        true => number::short(mark.value),
        false => number::fixed(mark.value, digits),
    };
    let widths = marks().map(|mark| font::width(&text(mark), LABEL_SIZE, false));
    let fits = widths.fold(0.0, f64::max) + CELL_ROOM <= width && LABEL_SIZE + CELL_ROOM <= height;
    fits.then_some(text)
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

fn scale(scene: &mut Scene, heat: &Heat, frame: &Frame, (from, to): (f64, f64)) {
    let area = frame.area;
    let (left, right) = (area.right + SCALE_GAP, area.right + SCALE_GAP + SCALE_WIDTH);
    // A scale as high as a page would be no easier to read.
    let height = area.height().min(110.0);
    let top = area.top + (area.height() - height) / 2.0;
    let step = height / SCALE_STEPS as f64;
    for index in 0..SCALE_STEPS {
        let share = (index as f64 + 0.5) / SCALE_STEPS as f64;
        let colour = cividis(if from < to { share } else { 0.5 });
        let bottom = top + height - index as f64 * step;
        let piece = Area {
            left,
            top: bottom - step,
            right,
            bottom,
        };
        scene.rectangle(piece, Fill::solid(Paint::Fixed(colour)), edge(colour));
    }
    let mut widest: f64 = 0.0;
    for (value, label) in scale_labels((from, to)) {
        let share = if from < to {
            (value - from) / (to - from)
        } else {
            0.5
        };
        let at = top + height * (1.0 - share);
        let is_far = height >= 30.0 || share == 0.5 || value == from;
        if is_far {
            widest = widest.max(font::width(&label, LABEL_SIZE, false));
            scene.line(
                (right, at),
                (right + 1.5, at),
                Stroke::new(Paint::Soft, 0.6),
            );
            let base = at + LABEL_SIZE * HALF_HEIGHT;
            scene.text(Text::new(label, (right + 3.0, base), LABEL_SIZE));
        }
    }
    let room = area.height().max(60.0);
    let title = font::shortened(&heat.measure, AXIS_TITLE_SIZE, room);
    let base = right + 3.0 + widest + 1.0 + AXIS_TITLE_SIZE * font::ASCENT;
    let middle = area.centre().1;
    let text = Text::new(title, (base, middle), AXIS_TITLE_SIZE);
    if !heat.measure.is_empty() {
        scene.text(text.anchor(Anchor::Middle).upright());
    }
}
