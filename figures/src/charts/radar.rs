//! Radars: a spoke per category, a polygon per series, rings at round numbers. They read worse than
//! dots; they are here because papers use them.

use std::f64::consts::TAU;

use crate::chart::ByCategory;
use crate::figure::Panel;
use crate::font::{self, HALF_HEIGHT, LEADING};
use crate::frame::{Frame, LABEL_SIZE};
use crate::mark::Mark;
use crate::number;
use crate::palette::Palette;
use crate::plan::{Height, Plan};
use crate::scene::{Anchor, Area, Fill, Paint, Place, Scene, Stroke, Text};
use crate::side::{Numbers, Side};

use super::tip::tip;

/// Height of the panel as a share of its width, and its largest radius.
const SHARE: f64 = 0.72;
const LARGEST_RADIUS: f64 = 95.0;

/// From the end of a spoke to its name.
const NAME_GAP: f64 = 5.0;

/// A name takes at most this share of the panel's width, on two lines.
const NAME_SHARE: f64 = 0.2;

/// A bare panel: names and rings are drawn here.
pub(super) fn plan(panel: &Panel, data: &ByCategory) -> Plan {
    let names = Side::Names(data.categories.clone(), String::new());
    let mut plan = Plan::new(
        names,
        Side::Numbers(numbers(panel, data)),
        Height::Share(SHARE),
    );
    plan.is_bare = true;
    plan
}

fn numbers(panel: &Panel, data: &ByCategory) -> Numbers {
    let marks = data.series.iter().flat_map(|series| &series.marks);
    let values = marks.flatten().map(|mark| mark.value);
    Numbers::holding(&panel.y, values, true)
}

struct Wheel {
    centre: Place,
    radius: f64,
    count: usize,
    from: f64,
    to: f64,
}

impl Wheel {
    fn place(&self, spoke: usize, value: f64) -> Place {
        let share = ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        let angle = TAU * spoke as f64 / self.count as f64;
        let reach = self.radius * share;
        (
            self.centre.0 + reach * angle.sin(),
            self.centre.1 - reach * angle.cos(),
        )
    }

    fn ring(&self, value: f64) -> Vec<Place> {
        (0..self.count)
            .map(|spoke| self.place(spoke, value))
            .collect()
    }
}

/// Rings, spokes, names, then the series.
pub(super) fn draw(
    scene: &mut Scene,
    panel: &Panel,
    data: &ByCategory,
    frame: &Frame,
    palette: &Palette,
) {
    let area = frame.area;
    let room = area.width() * NAME_SHARE;
    let names = data
        .categories
        .iter()
        .map(|name| font::balanced(name, LABEL_SIZE, false, room, 2));
    let names: Vec<Vec<String>> = names.collect();
    let widths = names
        .iter()
        .flatten()
        .map(|line| font::width(line, LABEL_SIZE, false));
    let widest = widths.fold(0.0, f64::max);
    let lines = 2.0 * LABEL_SIZE * LEADING;
    let title = if panel.y.label().is_empty() {
        0.0
    } else {
        lines / 2.0 + 3.0
    };
    let across = area.width() / 2.0 - widest - NAME_GAP;
    let down = (area.height() - title) / 2.0 - lines - NAME_GAP;
    let wheel = Wheel {
        centre: (area.centre().0, area.top + (area.height() - title) / 2.0),
        radius: across.min(down).clamp(15.0, LARGEST_RADIUS),
        count: data.categories.len().max(1),
        from: frame.y.from,
        to: frame.y.to,
    };
    grid(scene, &wheel, &names, data);
    for series in &data.series {
        let look = palette.look(&series.name);
        let paint = Paint::Series(look.colour());
        let marks: Vec<Option<&Mark>> = (0..data.categories.len())
            .map(|category| series.mark(category))
            .collect();
        polygon(
            scene,
            &wheel,
            &marks,
            Stroke::new(paint, 1.1).dashed(look.dash()),
        );
        for (spoke, mark) in marks.iter().enumerate() {
            let Some(mark) = mark else { continue };
            let said = tip(&[&data.categories[spoke], &series.name], &panel.y, mark);
            scene.group(Some(said), mark.link.clone(), |scene| {
                scene.marker(look.marker(), wheel.place(spoke, mark.value), 1.8, paint);
            });
        }
    }
    ring_labels(scene, &wheel);
    let at = (area.centre().0, area.bottom - LABEL_SIZE * font::DESCENT);
    let title = font::shortened(&panel.y.label(), LABEL_SIZE, area.width());
    scene.text(Text::new(title, at, LABEL_SIZE).anchor(Anchor::Middle));
}

/// Closed if every spoke has a mark; else only its unbroken parts.
fn polygon(scene: &mut Scene, wheel: &Wheel, marks: &[Option<&Mark>], stroke: Stroke) {
    let place = |spoke: usize| Some(wheel.place(spoke, marks[spoke]?.value));
    let count = marks.len();
    let sides = (0..count).filter_map(|spoke| {
        let next = (spoke + 1) % count;
        Some(vec![place(spoke)?, place(next)?])
    });
    let places: Option<Vec<Place>> = (0..count).map(place).collect();
    match places {
        Some(mut places) if count > 1 => {
            places.push(places[0]);
            scene.path(vec![places], stroke);
        }
        _ => {
            let sides: Vec<Vec<Place>> = sides.collect();
            if !sides.is_empty() && count > 1 {
                scene.path(sides, stroke);
            }
        }
    }
}

fn rings(wheel: &Wheel) -> Vec<f64> {
    let rings = number::round_steps(wheel.from, wheel.to, 4);
    rings
        .into_iter()
        .filter(|value| *value > wheel.from)
        .collect()
}

fn grid(scene: &mut Scene, wheel: &Wheel, names: &[Vec<String>], data: &ByCategory) {
    let rule = Stroke::new(Paint::Rule, 0.5);
    for value in rings(wheel) {
        scene.polygon(wheel.ring(value), Fill::NONE, rule);
    }
    for (spoke, lines) in names.iter().enumerate() {
        let end = wheel.place(spoke, wheel.to);
        scene.line(wheel.centre, end, rule);
        let (dx, dy) = (end.0 - wheel.centre.0, end.1 - wheel.centre.1);
        let length = dx.hypot(dy).max(1.0);
        let at = (
            end.0 + dx / length * NAME_GAP,
            end.1 + dy / length * NAME_GAP,
        );
        let anchor = match dx / length {
            share if share > 0.2 => Anchor::Start,
            share if share < -0.2 => Anchor::End,
            _ => Anchor::Middle,
        };
        // Names above the wheel grow upwards, names below it downwards.
        let rest = (lines.len().max(1) - 1) as f64 * LABEL_SIZE * LEADING;
        let up = rest / 2.0 * (1.0 - dy / length);
        let base = at.1 + LABEL_SIZE * HALF_HEIGHT - up;
        let whole = lines.iter().any(|line| line.ends_with('…'));
        let whole = whole.then(|| data.categories[spoke].clone());
        scene.group(whole, None, |scene| {
            scene.lines(
                lines,
                &Text::new("", (at.0, base), LABEL_SIZE).anchor(anchor),
            );
        });
    }
}

/// The numbers of the rings along the first spoke, on light plates.
fn ring_labels(scene: &mut Scene, wheel: &Wheel) {
    let values = rings(wheel);
    let mut free = f64::INFINITY;
    for (value, label) in values.iter().zip(number::labels(&values)) {
        let (x, y) = wheel.place(0, *value);
        let width = font::width(&label, LABEL_SIZE, false);
        let plate = Area {
            left: x + 1.5,
            top: y - LABEL_SIZE / 2.0,
            right: x + 3.5 + width,
            bottom: y + LABEL_SIZE / 2.0,
        };
        // The outermost would touch the name of its spoke.
        let is_outermost = *value > wheel.from + 0.9 * (wheel.to - wheel.from);
        let is_wide = width > wheel.radius * 0.6;
        if plate.bottom > free || is_outermost || is_wide {
            continue;
        }
        free = plate.top - 1.0;
        scene.rectangle(plate, Fill::faint(Paint::Paper, 0.75), Stroke::NONE);
        let at = (x + 2.5, y + LABEL_SIZE * HALF_HEIGHT);
        scene.text(Text::new(label, at, LABEL_SIZE).paint(Paint::Soft));
    }
}
