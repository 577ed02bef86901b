//! Charts with categories along one side and values along the other, whichever way they run: a
//! place is said by how far along the categories and by its value.

use crate::chart::Direction;
use crate::figure::{Axis, Panel};
use crate::frame::Frame;
use crate::plan::{Height, Plan};
use crate::scene::{Area, Paint, Place, Scene, Stroke};
use crate::side::{Map, Numbers, Side};

/// A frame that is read along its categories.
#[derive(Clone, Copy)]
pub(crate) struct Across<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) direction: Direction,
}

impl<'a> Across<'a> {
    /// The two sides of an area.
    pub(crate) fn of(frame: &'a Frame, direction: Direction) -> Self {
        Self { frame, direction }
    }

    /// The map of the categories.
    pub(crate) fn names(&self) -> &Map {
        match self.direction {
            Direction::Rows => &self.frame.y,
            Direction::Columns => &self.frame.x,
        }
    }

    /// The map of the values.
    pub(crate) fn values(&self) -> &Map {
        match self.direction {
            Direction::Rows => &self.frame.x,
            Direction::Columns => &self.frame.y,
        }
    }

    /// A place from points along the categories and a value.
    pub(crate) fn place(&self, along: f64, value: f64) -> Place {
        let value = self.values().at(value);
        match self.direction {
            Direction::Rows => (value, along),
            Direction::Columns => (along, value),
        }
    }

    /// Thin lines that lead from the names: between categories of several series, else along the
    /// middle of each.
    pub(crate) fn guides(&self, scene: &mut Scene, categories: usize, series: usize) {
        let names = self.names();
        let at: Vec<f64> = match series {
            0 | 1 => (0..categories).map(|index| names.middle(index)).collect(),
            _ => (1..categories)
                .map(|index| names.at(index as f64))
                .collect(),
        };
        let area = &self.frame.area;
        let lines = at.into_iter().map(|along| match self.direction {
            Direction::Rows => vec![(area.left, along), (area.right, along)],
            Direction::Columns => vec![(along, area.top), (along, area.bottom)],
        });
        let lines: Vec<Vec<Place>> = lines.collect();
        if !lines.is_empty() {
            scene.path(lines, Stroke::new(Paint::Rule, 0.4));
        }
    }

    /// The rectangle between two values, as thick as given, cut at the area of the chart.
    pub(crate) fn bar(&self, along: f64, thickness: f64, from: f64, to: f64) -> Area {
        let (one, other) = (
            self.place(along - thickness / 2.0, from),
            self.place(along + thickness / 2.0, to),
        );
        let area = &self.frame.area;
        Area {
            left: one.0.min(other.0).clamp(area.left, area.right),
            top: one.1.min(other.1).clamp(area.top, area.bottom),
            right: one.0.max(other.0).clamp(area.left, area.right),
            bottom: one.1.max(other.1).clamp(area.top, area.bottom),
        }
    }
}

/// The axis of values of a panel.
pub(crate) fn measure(panel: &Panel, direction: Direction) -> &Axis {
    axis_of_values(&panel.x, &panel.y, direction)
}

/// The axis of values of two axes.
pub(crate) fn axis_of_values<'a>(x: &'a Axis, y: &'a Axis, direction: Direction) -> &'a Axis {
    match direction {
        Direction::Rows => x,
        Direction::Columns => y,
    }
}

/// A plan with names along the categories and the range of some values across them.
pub(crate) fn plan(
    panel: &Panel,
    direction: Direction,
    names: Vec<String>,
    values: impl IntoIterator<Item = f64>,
    from_zero: bool,
    step: f64,
) -> Plan {
    let numbers = Numbers::holding(measure(panel, direction), values, from_zero);
    let numbers = Side::Numbers(numbers);
    match direction {
        Direction::Rows => {
            let names = Side::Names(names, panel.y.label());
            Plan::new(numbers, names, Height::PerName(step))
        }
        Direction::Columns => {
            let names = Side::Names(names, panel.x.label());
            Plan::new(names, numbers, Height::Share(0.6))
        }
    }
}

/// Where the n-th of several series of a category stands: points from its middle. At least two
/// markers fit beside each other at the given distance, if the category has the room.
pub(crate) fn dodge(index: usize, count: usize, slot: f64, most: f64) -> f64 {
    let step = (slot * 0.84 / count.max(1) as f64).min(most);
    (index as f64 - (count.saturating_sub(1)) as f64 / 2.0) * step
}
