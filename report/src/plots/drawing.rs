//! Makes figures of what was gathered: means with intervals over sessions, distributions, matrices.
//! Says in the caption what n counts and how intervals were made.

use std::collections::BTreeSet;

use agon_figures::{
    Axis, Baseline, ByCategory, CategorySeries, Chart, Curves, Direction, Figure, Heat, Mark,
    Palette, Panel, Point, Sample, Samples, Series,
};

use super::gathering::{Gathered, Key, Plots};
use super::spec::{PlotPanel, Shape, Value};
use crate::accumulator::Accumulator;
use crate::statistics::mean_interval;
use crate::table::counted;

impl Plots {
    /// Names of the series, for a palette over several figures.
    pub fn series(&self) -> BTreeSet<String> {
        let keys = self
            .places
            .keys()
            .map(|(_, _, series, _)| self.words_of(series));
        keys.filter(|name| !name.is_empty()).collect()
    }

    /// The figure.
    pub fn figure(&self) -> Figure {
        let mut panels = Vec::new();
        for (number, panel) in self.plot.panels.iter().enumerate() {
            let splits = self.places.keys().filter(|place| place.0 == number);
            let splits: BTreeSet<&Key> = splits.map(|place| &place.1).collect();
            for split in splits {
                let title = match self.words_of(split) {
                    words if words.is_empty() => panel.title.to_owned(),
                    words => words,
                };
                let drawn = self.panel_of(number, panel, split);
                panels.push(if title.is_empty() {
                    drawn
                } else {
                    drawn.title(title)
                });
            }
        }
        let columns = match panels.len() {
            0 | 1 => 1,
            2 | 4 => 2,
            _ => 3,
        };
        let figure = Figure::new(panels)
            .title(self.plot.about)
            .caption(self.caption())
            .columns(columns)
            .palette(Palette::of(self.series()));
        if columns > 1 { figure.wide() } else { figure }
    }

    /// What n is, and how intervals were made.
    fn caption(&self) -> String {
        let clusters = self.places.values().map(|one| one.clusters.len());
        let (least, most) = (clusters.clone().min(), clusters.max());
        let n = match (least, most) {
            (Some(least), Some(most)) if least == most => least.to_string(),
            (Some(least), Some(most)) => format!("{least}\u{2013}{most}"),
            _ => "0".to_owned(),
        };
        let each = self
            .plot
            .panels
            .iter()
            .any(|panel| matches!(panel.value, Value::Each(_)));
        let distribution = self.plot.panels.iter().all(|panel| {
            matches!(
                panel.shape,
                Shape::Boxes | Shape::Densities | Shape::Histograms
            )
        });
        let what = match (each, distribution) {
            (true, _) => "every observation by itself, those of one session depend on each other",
            (false, true) => "a point is the mean of a session",
            (false, false) => "mean over sessions with its 95 % interval (Student's t)",
        };
        let is_thinned = self.places.values().any(|one| one.seen > one.values.len());
        let what = match is_thinned {
            true => format!("{what}; of more than 2,000, one in two, four ... is drawn"),
            false => what.to_owned(),
        };
        let simulated = match self.simulated {
            0 => String::new(),
            all if all == self.sessions => {
                " SIMULATED models answered: the numbers say nothing about real ones.".to_owned()
            }
            some => format!(
                " {} with SIMULATED models, shown apart.",
                counted(some, "session")
            ),
        };
        let source = match self.plot.source {
            "" => String::new(),
            source => format!(" As {source}."),
        };
        let pooled = match self.pooled_settings() {
            0 | 1 => String::new(),
            several => format!(" Sessions of up to {several} settings of a game are drawn as one."),
        };
        format!("n = {n} sessions or series; {what}.{pooled}{source}{simulated}")
    }

    fn panel_of(&self, number: usize, panel: &PlotPanel, split: &Key) -> Panel {
        let of_panel = |place: &&(usize, Key, Key, Key)| place.0 == number && place.1 == *split;
        let places: Vec<_> = self.places.keys().filter(of_panel).collect();
        let series: BTreeSet<&Key> = places.iter().map(|place| &place.2).collect();
        let xs: BTreeSet<&Key> = places.iter().map(|place| &place.3).collect();
        let at = |series: &Key, x: &Key| {
            let place = (number, split.clone(), series.clone(), x.clone());
            self.places.get(&place)
        };
        let mut value_axis = Axis::new(panel.y_title);
        if !panel.unit.is_empty() {
            value_axis = value_axis.unit(panel.unit);
        }
        if let Some((from, to)) = panel.range {
            value_axis = value_axis.range(from, to);
        }
        let place_axis = Axis::new(panel.x_title);
        let baselines = panel.baselines.iter();
        let baselines: Vec<Baseline> = baselines
            .map(|(name, value)| Baseline::new(*name, *value))
            .collect();
        let mark = |gathered: Option<&Gathered>| gathered.and_then(|one| mark_of(panel, one));
        match panel.shape {
            Shape::Lines => {
                let series = series.iter().map(|series| {
                    let points = xs.iter().filter_map(|x| {
                        let Key::Number(place) = x else { return None };
                        Some(Point::new(*place, mark(at(series, x))?))
                    });
                    Series::new(self.words_of(series), points.collect())
                });
                let series = series.collect();
                let curves = Curves { series, baselines };
                let place_axis = match panel.x {
                    super::spec::By::Round => place_axis.whole(),
                    _ => place_axis,
                };
                Panel::new(place_axis, value_axis, Chart::Lines(curves))
            }
            Shape::Boxes | Shape::Densities | Shape::Histograms => {
                let mut samples = Vec::new();
                for x in &xs {
                    for one in &series {
                        if let Some(gathered) = at(one, x) {
                            let values = gathered.values.iter().copied();
                            samples.push(Sample::new(self.words_of(x), self.words_of(one), values));
                        }
                    }
                }
                let in_columns = matches!(xs.first(), Some(Key::Number(_)));
                let direction = direction(in_columns && panel.shape == Shape::Boxes);
                let samples = Samples {
                    samples,
                    direction,
                    bins: None,
                };
                let (across, up, chart) = match panel.shape {
                    Shape::Boxes if direction == Direction::Columns => {
                        (place_axis, value_axis, Chart::Boxes(samples))
                    }
                    Shape::Boxes => (value_axis, place_axis, Chart::Boxes(samples)),
                    Shape::Densities => {
                        (value_axis, Axis::new("density"), Chart::Densities(samples))
                    }
                    _ => (
                        value_axis,
                        Axis::new("observations"),
                        Chart::Histograms(samples),
                    ),
                };
                Panel::new(across, up, chart)
            }
            Shape::Heat => {
                let cells = xs.iter().map(|x| {
                    let row = series.iter().map(|series| mark(at(series, x)));
                    row.collect()
                });
                let heat = Heat {
                    rows: xs.iter().map(|x| self.words_of(x)).collect(),
                    columns: series.iter().map(|series| self.words_of(series)).collect(),
                    cells: cells.collect(),
                    measure: format!("{} {}", panel.y_title, panel.unit)
                        .trim()
                        .to_owned(),
                    range: panel.range,
                    digits: None,
                    triangular: false,
                };
                Panel::new(Axis::new(""), place_axis, Chart::Heat(heat))
            }
            Shape::Dots | Shape::Bars | Shape::Pairs | Shape::Stacked | Shape::Radar => {
                let all = series.iter().map(|series| {
                    let marks = xs.iter().map(|x| mark(at(series, x)));
                    CategorySeries::new(self.words_of(series), marks.collect())
                });
                let in_columns = matches!(xs.first(), Some(Key::Number(_)));
                let direction = direction(in_columns || panel.shape == Shape::Pairs);
                let data = ByCategory {
                    categories: xs.iter().map(|x| self.words_of(x)).collect(),
                    series: all.collect(),
                    baselines,
                    direction,
                };
                let chart = match panel.shape {
                    Shape::Dots => Chart::Dots(data),
                    Shape::Bars => Chart::Bars(data),
                    Shape::Pairs => Chart::Pairs(data),
                    Shape::Stacked => Chart::Stacked(data),
                    _ => Chart::Radar(data),
                };
                let (across, up) = match direction {
                    Direction::Rows => (value_axis, place_axis),
                    Direction::Columns => (place_axis, value_axis),
                };
                Panel::new(across, up, chart)
            }
        }
    }
}

fn direction(in_columns: bool) -> Direction {
    match in_columns {
        true => Direction::Columns,
        false => Direction::Rows,
    }
}

/// The mean at a place with its interval over clusters; `None` where it is not defined.
fn mark_of(panel: &PlotPanel, gathered: &Gathered) -> Option<Mark> {
    let mut clusters: std::collections::BTreeMap<u32, (f64, f64)> = Default::default();
    for (cluster, numerator, denominator) in &gathered.clusters {
        let sums = clusters.entry(*cluster).or_default();
        sums.0 += numerator;
        sums.1 += denominator;
    }
    let n = clusters.len() as f64;
    let numerator: f64 = clusters.values().map(|sums| sums.0).sum();
    let denominator: f64 = clusters.values().map(|sums| sums.1).sum();
    if denominator == 0.0 {
        return None;
    }
    let scale = panel.value.scale();
    let ratio = numerator / denominator;
    // Of a ratio of sums, what each cluster adds to it (linearisation; Cochran 1977, 6.4); of means,
    // the means themselves.
    let mut residuals = Accumulator::default();
    for (own, of) in clusters.values() {
        residuals.add((own - ratio * of) * n / denominator);
    }
    let mark = Mark::new(scale * ratio).of(clusters.len() as u64);
    Some(match mean_interval(&[residuals]) {
        Some(half) => mark.between(scale * (ratio - half), scale * (ratio + half)),
        None => mark,
    })
}
