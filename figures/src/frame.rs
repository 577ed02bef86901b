//! The frame of a chart: its area, axes with labels and titles, and grid lines. It first says how
//! much room it needs on each side, then draws. What stands inside is the charts' business.

use crate::font::{self, HALF_HEIGHT, LEADING};
use crate::scene::{Anchor, Area, Paint, Scene, Stroke, Text};
use crate::side::{Map, Side};
use crate::ticks::{self, Ticks};

/// Sizes of text.
pub(crate) const LABEL_SIZE: f64 = ticks::SIZE;
pub(crate) const AXIS_TITLE_SIZE: f64 = 7.5;

/// Lengths in points.
const TICK_LENGTH: f64 = 2.5;
const LABEL_GAP: f64 = 2.0;
const TITLE_GAP: f64 = 4.5;

/// Lines of the title of an axis.
const TITLE_LINES: usize = 2;

/// The area of a chart and how its sides map to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) area: Area,
    pub(crate) x: Map,
    pub(crate) y: Map,
}

impl Frame {
    /// Maps two sides to an area. Numbers rise, names go down.
    pub(crate) fn of(x: &Side, y: &Side, area: Area) -> Self {
        let down = matches!(y, Side::Names(..));
        let (start, end) = match down {
            true => (area.top, area.bottom),
            false => (area.bottom, area.top),
        };
        Self {
            area,
            x: Map::of(x, area.left, area.right),
            y: Map::of(y, start, end),
        }
    }
}

/// Room on the left for the labels and the title of the vertical side.
pub(crate) fn left(y: &Side, height: f64, room: f64) -> f64 {
    let depth = ticks::beside(y, height, room).depth;
    let lines = title_lines(y, height).len() as f64;
    let title = if lines == 0.0 {
        0.0
    } else {
        lines * AXIS_TITLE_SIZE * LEADING + TITLE_GAP - 1.0
    };
    depth + TICK_LENGTH + LABEL_GAP + title
}

/// Room below for the labels and the title of the horizontal side.
pub(crate) fn bottom(x: &Side, width: f64) -> f64 {
    let depth = ticks::below(x, width).depth;
    let lines = title_lines(x, width).len() as f64;
    let title = if lines == 0.0 {
        0.0
    } else {
        lines * AXIS_TITLE_SIZE * LEADING + TITLE_GAP - 1.0
    };
    depth + TICK_LENGTH + LABEL_GAP + title
}

/// How far labels below reach beyond the left and the right end of a chart that is at most so wide.
pub(crate) fn overhang(x: &Side, widest: f64) -> (f64, f64) {
    let mut most: (f64, f64) = (0.0, 0.0);
    // Margins take from the width, and a little less width may have other labels.
    for share in [1.0, 0.97, 0.94, 0.91, 0.88] {
        let width = widest * share;
        let map = Map::of(x, 0.0, width);
        let below = ticks::below(x, width);
        for label in below.labels.iter().filter(|_| !below.upright) {
            let reach = ticks::widest(&label.lines) / 2.0;
            let at = map.at(label.value);
            most.0 = most.0.max(reach - at);
            most.1 = most.1.max(reach + at - width);
        }
    }
    most
}

fn title_lines(side: &Side, room: f64) -> Vec<String> {
    let title = match side {
        Side::Numbers(numbers) => &numbers.title,
        Side::Names(_, title) => title,
    };
    font::wrapped(title, AXIS_TITLE_SIZE, false, room, TITLE_LINES)
}

/// Grid lines, axes, labels and titles. Names beside the area have the given room; without any, a
/// panel on the left labels the vertical side.
pub(crate) fn draw(scene: &mut Scene, frame: &Frame, x: &Side, y: &Side, names_room: Option<f64>) {
    let area = frame.area;
    let below = ticks::below(x, area.width());
    let beside = ticks::beside(y, area.height(), names_room.unwrap_or(area.width()));
    let rule = Stroke::new(Paint::Rule, 0.5);
    let axis = Stroke::new(Paint::Soft, 0.6);
    if matches!(x, Side::Numbers(_)) {
        for label in &below.labels {
            let at = frame.x.at(label.value);
            scene.line((at, area.top), (at, area.bottom), rule);
            scene.line((at, area.bottom), (at, area.bottom + TICK_LENGTH), axis);
        }
    }
    if matches!(y, Side::Numbers(_)) {
        for label in &beside.labels {
            let at = frame.y.at(label.value);
            scene.line((area.left, at), (area.right, at), rule);
            scene.line((area.left - TICK_LENGTH, at), (area.left, at), axis);
        }
    }
    let corner = (area.left, area.bottom);
    scene.path(
        vec![vec![
            (area.left, area.top),
            corner,
            (area.right, area.bottom),
        ]],
        axis,
    );
    labels_below(scene, frame, &below);
    title_below(scene, frame, x, below.depth);
    if names_room.is_some() {
        labels_beside(scene, frame, &beside);
        title_beside(scene, frame, y, beside.depth);
    }
}

fn labels_below(scene: &mut Scene, frame: &Frame, below: &Ticks) {
    let top = frame.area.bottom + TICK_LENGTH + LABEL_GAP;
    for label in &below.labels {
        let at = frame.x.at(label.value);
        scene.group(label.whole.clone(), None, |scene| {
            if below.upright {
                let middle = first_of(label.lines.len(), at);
                let first = Text::new("", (middle, top), LABEL_SIZE);
                scene.lines(&label.lines, &first.anchor(Anchor::End).upright());
            } else {
                let base = top + LABEL_SIZE * font::ASCENT;
                let first = Text::new("", (at, base), LABEL_SIZE);
                scene.lines(&label.lines, &first.anchor(Anchor::Middle));
            }
        });
    }
}

fn labels_beside(scene: &mut Scene, frame: &Frame, beside: &Ticks) {
    let right = frame.area.left - TICK_LENGTH - LABEL_GAP;
    for label in &beside.labels {
        let base = first_of(label.lines.len(), frame.y.at(label.value));
        scene.group(label.whole.clone(), None, |scene| {
            let first = Text::new("", (right, base), LABEL_SIZE);
            scene.lines(&label.lines, &first.anchor(Anchor::End));
        });
    }
}

/// The first base line of so many lines around a middle.
fn first_of(lines: usize, middle: f64) -> f64 {
    let rest = lines.saturating_sub(1) as f64 * LABEL_SIZE * LEADING;
    middle - rest / 2.0 + LABEL_SIZE * HALF_HEIGHT
}

fn title_below(scene: &mut Scene, frame: &Frame, side: &Side, depth: f64) {
    let area = frame.area;
    let below = area.bottom + TICK_LENGTH + LABEL_GAP + depth + TITLE_GAP;
    let base = below + AXIS_TITLE_SIZE * font::ASCENT - 1.0;
    let first = Text::new("", (area.centre().0, base), AXIS_TITLE_SIZE);
    let lines = title_lines(side, area.width());
    scene.lines(&lines, &first.anchor(Anchor::Middle));
}

fn title_beside(scene: &mut Scene, frame: &Frame, side: &Side, depth: f64) {
    let area = frame.area;
    let lines = title_lines(side, area.height());
    let beside = area.left - TICK_LENGTH - LABEL_GAP - depth - TITLE_GAP;
    let rest = lines.len().saturating_sub(1) as f64 * AXIS_TITLE_SIZE * LEADING;
    let base = beside - rest - AXIS_TITLE_SIZE * font::DESCENT + 1.0;
    let first = Text::new("", (base, area.centre().1), AXIS_TITLE_SIZE);
    scene.lines(&lines, &first.anchor(Anchor::Middle).upright());
}
