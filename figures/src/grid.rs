//! The grid of panels: how many stand beside each other, how wide and high each is. Areas of one
//! column are aligned. Where all panels have the same vertical side, only the first column of them
//! is labelled, which leaves the others more room.

use crate::figure::{Figure, Width};
use crate::frame;
use crate::plan::{Height, Plan};
use crate::side::Side;
use crate::ticks;

/// Between panels.
pub(crate) const PANEL_GAP: f64 = 9.0;

/// Panels narrower than this are not set beside each other.
const NARROWEST_PANEL: f64 = 100.0;

/// Charts on two axes of numbers are not higher than this.
const HIGHEST: f64 = 190.0;

/// Names that label a whole row of panels take at most so much room, and this share of all.
const SHARED_NAMES: f64 = 110.0;
const SHARED_NAMES_SHARE: f64 = 0.3;

/// A column of panels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Column {
    /// Left edge of the panel, labels included, and its width.
    pub(crate) start: f64,
    pub(crate) width: f64,
    /// Left and right edges of the area.
    pub(crate) left: f64,
    pub(crate) right: f64,
    /// The vertical side is labelled here.
    pub(crate) is_labelled: bool,
}

/// The columns of a grid.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    pub(crate) columns: Vec<Column>,
    /// Room for names on the left; none if each panel has its own.
    shared_names: Option<f64>,
    /// Width of a panel if all were equal.
    panel_width: f64,
}

impl Grid {
    /// A grid for these plans between two edges.
    pub(crate) fn of(figure: &Figure, plans: &[Plan], start: f64, room: f64) -> Self {
        let count = column_count(figure, plans.len(), room);
        let panel_width = (room - (count - 1) as f64 * PANEL_GAP) / count as f64;
        let is_shared = count > 1
            && plans.iter().all(|plan| !plan.is_bare)
            && plans.windows(2).all(|pair| pair[0].y == pair[1].y);
        let shared_names = is_shared.then_some((room * SHARED_NAMES_SHARE).min(SHARED_NAMES));
        let mut grid = Self {
            columns: Vec::new(),
            shared_names,
            panel_width,
        };
        let margins = grid.margins(plans, count);
        let taken: f64 = margins.iter().map(|(left, right)| left + right).sum();
        let shared_width = (room - taken - (count - 1) as f64 * PANEL_GAP) / count as f64;
        let mut at = start;
        for (index, (left, right)) in margins.into_iter().enumerate() {
            let width = match is_shared {
                true => left + shared_width + right,
                false => panel_width,
            };
            grid.columns.push(Column {
                start: at,
                width,
                left: at + left,
                right: at + width - right,
                is_labelled: index == 0 || !is_shared,
            });
            at += width + PANEL_GAP;
        }
        grid
    }

    /// Room for the names beside a chart.
    pub(crate) fn names_room(&self, plan: &Plan) -> f64 {
        let own = self.panel_width * plan.names_share;
        self.shared_names.unwrap_or(own)
    }

    /// Left and right margins of each column: the largest that one of its panels needs.
    fn margins(&self, plans: &[Plan], count: usize) -> Vec<(f64, f64)> {
        let of_column = |column: usize| {
            let plans = plans.iter().skip(column).step_by(count);
            let plans: Vec<&Plan> = plans.filter(|plan| !plan.is_bare).collect();
            let is_labelled = column == 0 || self.shared_names.is_none();
            let lefts = plans.iter().filter(|_| is_labelled).map(|plan| {
                let estimate = self.height(plan, self.panel_width * 0.7);
                frame::left(&plan.y, estimate, self.names_room(plan))
            });
            let left = lefts.fold(0.0, f64::max);
            let area = (self.panel_width - left).max(self.panel_width * 0.4);
            let hangs = plans.iter().map(|plan| frame::overhang(&plan.x, area));
            hangs.fold((left, 1.0_f64), |(left, right), (before, after)| {
                (left.max(before), right.max(after + 1.0))
            })
        };
        (0..count).map(of_column).collect()
    }

    /// The height of the area of a chart that is so wide.
    pub(crate) fn height(&self, plan: &Plan, area_width: f64) -> f64 {
        let count = |side: &Side| match side {
            Side::Names(names, _) => names.len().max(1) as f64,
            Side::Numbers(_) => 1.0,
        };
        let least = match &plan.y {
            Side::Names(names, _) => ticks::least_beside(names, self.names_room(plan)),
            Side::Numbers(_) => 0.0,
        };
        match plan.height {
            Height::Share(share) => (share * self.panel_width).min(HIGHEST),
            Height::PerName(step) => (step.max(least) * count(&plan.y)).max(24.0),
            Height::Cells(lowest, highest) => {
                let cell = area_width / count(&plan.x);
                cell.clamp(lowest.max(least), highest.max(least)) * count(&plan.y)
            }
        }
    }
}

/// How many panels stand beside each other.
fn column_count(figure: &Figure, count: usize, room: f64) -> usize {
    let most = ((room + PANEL_GAP) / (NARROWEST_PANEL + PANEL_GAP)) as usize;
    let usual = match figure.width {
        Width::One => 2,
        Width::Two => 3,
    };
    let chosen = if count == 4 { 2 } else { usual };
    let wanted = figure.columns.unwrap_or(chosen);
    wanted.clamp(1, most.max(1)).min(count.max(1))
}
