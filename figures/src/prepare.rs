//! A figure before it is laid out: values that cannot be drawn are taken out and counted, names get
//! their looks, and axes of one name one range if the figure asks for it.

use crate::chart::{ByCategory, Chart, Curves};
use crate::charts;
use crate::figure::{Axis, Figure, Panel, Spacing};
use crate::mark::Mark;
use crate::palette::Palette;
use crate::plan::Plan;
use crate::shown;
use crate::side::{LARGEST, Numbers, SMALLEST, Side};

/// A figure that can be drawn.
pub(crate) struct Prepared {
    pub(crate) panels: Vec<Panel>,
    pub(crate) plans: Vec<Plan>,
    pub(crate) palette: Palette,
    pub(crate) title: Option<String>,
    /// What the caller says, and what is said about values that are not drawn.
    pub(crate) caption: Vec<String>,
}

/// What was left out.
#[derive(Default)]
struct Left {
    not_finite: usize,
    not_positive: usize,
    outside: usize,
}

/// Takes out what cannot be drawn and plans every panel.
pub(crate) fn prepare(figure: &Figure) -> Prepared {
    let mut left = Left::default();
    let mut figure = figure.clone();
    shown::show(&mut figure);
    let Figure {
        title,
        mut panels,
        same_scale,
        caption,
        mut palette,
        ..
    } = figure;
    for panel in &mut panels {
        clean(panel, &mut left);
        for name in panel.chart.series_names() {
            palette.add(name);
        }
    }
    if same_scale {
        share_colours(&mut panels);
    }
    let mut plans: Vec<Plan> = panels.iter().map(charts::plan).collect();
    if same_scale {
        share_ranges(&mut plans);
    }
    Prepared {
        title,
        caption: caption.into_iter().chain(left.notes(&panels)).collect(),
        panels,
        plans,
        palette,
    }
}

impl Left {
    fn notes(&self, panels: &[Panel]) -> Vec<String> {
        let values = |count: usize| match count {
            1 => "One value".to_owned(),
            _ => format!("{count} values"),
        };
        let are = |count: usize| if count == 1 { "is" } else { "are" };
        let mut notes = Vec::new();
        if self.not_finite > 0 {
            let count = self.not_finite;
            notes.push(format!(
                "{} {} not finite or too large, and left out.",
                values(count),
                are(count)
            ));
        }
        if self.not_positive > 0 {
            let count = self.not_positive;
            notes.push(format!(
                "{} {} not above zero and left out of a logarithmic axis.",
                values(count),
                are(count)
            ));
        }
        if self.outside > 0 {
            let lie = if self.outside == 1 { "lies" } else { "lie" };
            notes.push(format!("{} {lie} outside the axes.", values(self.outside)));
        }
        if panels
            .iter()
            .any(|panel| matches!(panel.chart, Chart::Boxes(_)))
        {
            notes.push(
                "Boxes: quartiles and median; whiskers to the last point within 1.5 times the box."
                    .to_owned(),
            );
        }
        if panels
            .iter()
            .any(|panel| matches!(panel.chart, Chart::Densities(_)))
        {
            notes.push("Densities: Gaussian kernel, Silverman's bandwidth.".to_owned());
        }
        let is_crowded = |panel: &Panel| match &panel.chart {
            Chart::Lines(curves) => !charts::has_bands(curves),
            _ => false,
        };
        if panels.iter().any(is_crowded) {
            notes.push(
                "Of so many series no bands are drawn; the data have the intervals.".to_owned(),
            );
        }
        notes
    }
}

fn is_finite(value: f64) -> bool {
    value.is_finite() && value.abs() <= LARGEST
}

fn clean(panel: &mut Panel, left: &mut Left) {
    let (x, y) = (panel.x.clone(), panel.y.clone());
    match &mut panel.chart {
        Chart::Lines(curves) | Chart::Steps(curves) | Chart::Scatter(curves) => {
            clean_curves(curves, &x, &y, left);
        }
        Chart::Dots(data)
        | Chart::Bars(data)
        | Chart::Stacked(data)
        | Chart::Pairs(data)
        | Chart::Radar(data) => {
            let measure = charts::across::axis_of_values(&x, &y, data.direction);
            clean_categories(data, measure, left);
        }
        Chart::Boxes(samples) => {
            let measure = charts::across::axis_of_values(&x, &y, samples.direction);
            for sample in &mut samples.samples {
                sample.values.retain_mut(|mark| left.keeps(mark, measure));
            }
        }
        Chart::Densities(samples) | Chart::Histograms(samples) => {
            for sample in &mut samples.samples {
                sample.values.retain_mut(|mark| left.keeps(mark, &x));
            }
        }
        Chart::Heat(heat) => {
            for cell in heat.cells.iter_mut().flatten() {
                if cell
                    .as_mut()
                    .is_some_and(|mark| !left.keeps(mark, &Axis::default()))
                {
                    *cell = None;
                }
            }
        }
        Chart::Words(_) => {}
    }
}

/// Points that cannot be drawn stay as gaps in their lines.
fn clean_curves(curves: &mut Curves, x: &Axis, y: &Axis, left: &mut Left) {
    for point in curves
        .series
        .iter_mut()
        .flat_map(|series| &mut series.points)
    {
        let mut at = Mark::new(point.x);
        if !left.keeps(&mut at, x) || !left.keeps(&mut point.y, y) {
            point.y.value = f64::NAN;
        }
    }
    curves
        .baselines
        .retain(|line| is_finite(line.value) && has_place(line.value, y));
}

fn clean_categories(data: &mut ByCategory, measure: &Axis, left: &mut Left) {
    for mark in data.series.iter_mut().flat_map(|series| &mut series.marks) {
        if mark.as_mut().is_some_and(|mark| !left.keeps(mark, measure)) {
            *mark = None;
        }
    }
    data.baselines
        .retain(|line| is_finite(line.value) && has_place(line.value, measure));
}

fn has_place(value: f64, axis: &Axis) -> bool {
    axis.spacing == Spacing::Linear || value >= SMALLEST
}

impl Left {
    /// The mark can be drawn; an end of its interval that cannot takes the interval away.
    fn keeps(&mut self, mark: &mut Mark, axis: &Axis) -> bool {
        let has_ends = [mark.low, mark.high].into_iter().flatten();
        if has_ends
            .into_iter()
            .any(|end| !is_finite(end) || !has_place(end, axis))
        {
            (mark.low, mark.high) = (None, None);
        }
        if !is_finite(mark.value) {
            self.not_finite += 1;
            return false;
        }
        if !has_place(mark.value, axis) {
            self.not_positive += 1;
            return false;
        }
        let is_inside = axis
            .range
            .is_none_or(|(from, to)| (from..=to).contains(&mark.value) || from >= to);
        self.outside += usize::from(!is_inside);
        true
    }
}

/// One scale of colours for heat maps of one measure.
fn share_colours(panels: &mut [Panel]) {
    let heats = panels.iter().filter_map(|panel| match &panel.chart {
        Chart::Heat(heat) => Some((heat.measure.clone(), charts::heat_ends(heat))),
        _ => None,
    });
    let known: Vec<(String, (f64, f64))> = heats.collect();
    for panel in panels {
        if let Chart::Heat(heat) = &mut panel.chart
            && heat.range.is_none()
        {
            let same = known.iter().filter(|(measure, _)| *measure == heat.measure);
            let ends = same.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, (_, other)| {
                (ends.0.min(other.0), ends.1.max(other.1))
            });
            heat.range = Some(ends).filter(|(from, to)| from < to);
        }
    }
}

/// One range for axes of one name.
fn share_ranges(plans: &mut [Plan]) {
    let number_sides = |plan: &Plan| {
        [&plan.x, &plan.y].map(|side| match side {
            Side::Numbers(numbers) => Some(numbers.clone()),
            Side::Names(..) => None,
        })
    };
    let known: Vec<Numbers> = plans.iter().flat_map(number_sides).flatten().collect();
    for plan in plans {
        for side in [&mut plan.x, &mut plan.y] {
            if let Side::Numbers(numbers) = side {
                for other in &known {
                    numbers.join(other);
                }
            }
        }
    }
}
