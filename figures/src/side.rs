//! The two sides of a chart before there is a size: a range of numbers or a list of names. And how
//! they map to places once there is one. Charts say which sides they have; `ticks` labels them.

use crate::figure::{Axis, Spacing};

/// Room between the outermost values and the ends of an axis.
const PADDING: f64 = 0.04;

/// Ranges below this share of their values cannot be told from a single value.
const NARROWEST: f64 = 1e-9;

/// Numbers beyond these would overflow, or vanish, when a range is computed.
pub(crate) const LARGEST: f64 = 1e300;
pub(crate) const SMALLEST: f64 = 1e-300;

/// Places farther outside than so many lengths of an axis are not told apart.
const FARTHEST: f64 = 1e4;

/// What runs along one side of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Side {
    Numbers(Numbers),
    /// Names and the title of their axis.
    Names(Vec<String>, String),
}

/// A range of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) spacing: Spacing,
    pub(crate) whole: bool,
    pub(crate) title: String,
    /// The caller said the range.
    pub(crate) is_fixed: bool,
}

impl Numbers {
    /// A range that holds all values, and zero if the marks begin there.
    pub(crate) fn holding(
        axis: &Axis,
        values: impl IntoIterator<Item = f64>,
        from_zero: bool,
    ) -> Self {
        let is_logarithmic = axis.spacing == Spacing::Logarithmic;
        let is_drawn = |value: &f64| match axis.spacing {
            Spacing::Linear => value.abs() <= LARGEST,
            Spacing::Logarithmic => (SMALLEST..=LARGEST).contains(value),
        };
        let given = axis.range.filter(|(from, to)| {
            let is_wide = to - from > from.abs().max(to.abs()) * NARROWEST + SMALLEST;
            is_drawn(from) && is_drawn(to) && is_wide
        });
        let (from, to) = given.unwrap_or_else(|| {
            let zero = (from_zero && !is_logarithmic).then_some(0.0);
            let values = values.into_iter().chain(zero).filter(is_drawn);
            let ends = values.fold(None, |ends: Option<(f64, f64)>, value| match ends {
                None => Some((value, value)),
                Some((from, to)) => Some((from.min(value), to.max(value))),
            });
            match axis.spacing {
                Spacing::Linear => widened(ends.unwrap_or((0.0, 1.0)), from_zero),
                Spacing::Logarithmic => factored(ends.unwrap_or((1.0, 10.0))),
            }
        });
        Self {
            from,
            to,
            spacing: axis.spacing,
            whole: axis.whole,
            title: axis.label(),
            is_fixed: given.is_some(),
        }
    }

    /// Also holds the range of an axis of the same name in another panel.
    pub(crate) fn join(&mut self, other: &Self) {
        let is_same = self.title == other.title && self.spacing == other.spacing;
        if is_same && !self.is_fixed {
            self.from = self.from.min(other.from);
            self.to = self.to.max(other.to);
        }
    }
}

/// With room at both ends, but none beyond the zero from which bars rise.
fn widened((from, to): (f64, f64), from_zero: bool) -> (f64, f64) {
    let size = from.abs().max(to.abs());
    if to - from <= size * NARROWEST + SMALLEST {
        let room = if size <= SMALLEST { 1.0 } else { size * 0.1 };
        let low = if from_zero && size <= SMALLEST {
            from
        } else {
            from - room
        };
        return (low, to + room);
    }
    let room = (to - from) * PADDING;
    let low = if from_zero && from == 0.0 {
        0.0
    } else {
        from - room
    };
    let high = if from_zero && to == 0.0 {
        0.0
    } else {
        to + room
    };
    (low, high)
}

fn factored((from, to): (f64, f64)) -> (f64, f64) {
    // A quotient of such ends might overflow.
    let factors = to.ln() - from.ln();
    if factors <= NARROWEST {
        return (from / 2.0, to * 2.0);
    }
    let room = (factors * PADDING).exp().min(1.0 / PADDING);
    (from / room, to * room)
}

/// How one side maps to places. Names count from 0; the middle of a name is at a half.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Map {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) spacing: Spacing,
    pub(crate) start: f64,
    pub(crate) end: f64,
}

impl Map {
    /// Maps a side to the way from one place to another.
    pub(crate) fn of(side: &Side, start: f64, end: f64) -> Self {
        let (from, to, spacing) = match side {
            Side::Numbers(numbers) => (numbers.from, numbers.to, numbers.spacing),
            Side::Names(names, _) => (0.0, names.len().max(1) as f64, Spacing::Linear),
        };
        Self {
            from,
            to,
            spacing,
            start,
            end,
        }
    }

    /// Where a number stands; far outside if there is no such place.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = match self.spacing {
            Spacing::Linear => (value - self.from) / (self.to - self.from),
            Spacing::Logarithmic => {
                (value.max(SMALLEST).ln() - self.from.ln()) / (self.to.ln() - self.from.ln())
            }
        };
        self.start + share.clamp(-FARTHEST, FARTHEST) * (self.end - self.start)
    }

    /// Where the middle of a name stands.
    pub(crate) fn middle(&self, index: usize) -> f64 {
        self.at(index as f64 + 0.5)
    }

    /// Room of one name.
    pub(crate) fn slot(&self) -> f64 {
        ((self.end - self.start) / (self.to - self.from)).abs()
    }
}
