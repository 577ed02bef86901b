//! Draws one panel of a figure: means with intervals over sessions or series, distributions, or a
//! matrix. Called by `drawing.rs`.

use std::collections::BTreeSet;

use agon_figures::{
    Axis, Baseline, ByCategory, CategorySeries, Chart, Curves, Direction, Heat, Mark, Panel, Point,
    Sample, Samples, Series,
};

use super::gathering::{Gathered, Key, Place, PlotData};
use super::links::Links;
use super::spec::{By, PlotPanel, Shape, Value};
use crate::ranges::cut;
use crate::standings::melee::{Melee, in_points, points};
use crate::statistics::Interval;
use crate::statistics::aggregate::performance_profile;
use crate::statistics::strength::Model;
use crate::statistics::{ratio, wilson_interval};

/// Sums of shares may be off by this share of their range.
const ROUNDING: f64 = 1e-9;

/// Steps of a performance profile.
const PROFILE_STEPS: u32 = 50;

/// The panel of this number for what it is split by.
pub(super) fn drawn(data: &PlotData, number: usize, split: &Key, links: Links) -> Panel {
    let places = data.places.keys();
    let own = places.filter(|place| place.panel == number && place.split == *split);
    let own: Vec<&Place> = own.collect();
    let contents = Contents {
        data,
        number,
        split,
        panel: &data.plot.panels[number],
        links,
        series: own.iter().map(|place| &place.series).collect(),
        xs: own.iter().map(|place| &place.x).collect(),
    };
    match contents.panel.shape {
        Shape::Lines => contents.lines(),
        Shape::Boxes | Shape::Densities | Shape::Histograms => contents.distribution(),
        Shape::Heat => contents.matrix(),
        Shape::Profiles => contents.profiles(),
        // Ratings have no places: they are drawn by `ratings`.
        Shape::Dots
        | Shape::Bars
        | Shape::Stacked
        | Shape::Radar
        | Shape::Strengths
        | Shape::Skills => contents.by_category(),
    }
}

/// Ratings of players who met in sessions, the strongest first.
pub(super) fn ratings(panel: &PlotPanel, melee: &Melee) -> Panel {
    let mark = |player: usize, value: f64, interval: Option<Interval>| {
        let mark = Mark::new(value).of(melee.sessions_of(player));
        match interval {
            Some(interval) => mark.between(interval.low, interval.high),
            None => mark,
        }
    };
    let rated: Vec<(&str, Vec<Mark>)> = match panel.shape {
        Shape::Skills => {
            let skills = melee.skills().into_iter().enumerate();
            let marks = skills.map(|(player, (mu, interval))| mark(player, mu, interval));
            vec![("TrueSkill", marks.collect())]
        }
        _ => {
            let models = [
                ("Plackett-Luce", Model::PlackettLuce),
                ("Bradley-Terry", Model::BradleyTerry),
            ];
            let rated = models.into_iter().filter_map(|(name, model)| {
                let rated = melee.strengths(model)?.into_iter().enumerate();
                let marks = rated.map(|(player, one)| {
                    let strength = points(one.strength);
                    mark(player, strength, Some(in_points(one.interval)))
                });
                Some((name, marks.collect()))
            });
            rated.collect()
        }
    };
    let mut order: Vec<usize> = (0..melee.players.len()).collect();
    if let Some((_, marks)) = rated.first() {
        order.sort_by(|one, other| marks[*other].value.total_cmp(&marks[*one].value));
    }
    let series = rated.into_iter().map(|(name, marks)| {
        let marks = order.iter().map(|player| Some(marks[*player].clone()));
        CategorySeries::new(name, marks.collect())
    });
    let players = order.iter().map(|player| melee.players[*player].clone());
    let baselines = panel.baselines.iter();
    let data = ByCategory {
        categories: players.collect(),
        series: series.collect(),
        baselines: baselines
            .map(|(name, value)| Baseline::new(*name, *value))
            .collect(),
        direction: Direction::Rows,
    };
    let values = Axis::new(panel.y_title).unit(panel.unit);
    Panel::new(values, Axis::new("player"), Chart::Dots(data))
}

/// What a panel shows.
struct Contents<'a> {
    data: &'a PlotData,
    number: usize,
    split: &'a Key,
    panel: &'a PlotPanel,
    links: Links,
    series: BTreeSet<&'a Key>,
    xs: BTreeSet<&'a Key>,
}

impl Contents<'_> {
    fn place(&self, series: &Key, x: &Key) -> Place {
        Place {
            panel: self.number,
            split: self.split.clone(),
            series: series.clone(),
            x: x.clone(),
        }
    }

    fn at(&self, series: &Key, x: &Key) -> Option<&Gathered> {
        self.data.places.get(&self.place(series, x))
    }

    fn mark(&self, series: &Key, x: &Key) -> Option<Mark> {
        let place = self.place(series, x);
        let gathered = self.data.places.get(&place)?;
        let mark = self.cut(mark_of(self.panel, gathered)?, series);
        Some(match self.data.link_of(self.links, &place, gathered) {
            Some(link) => mark.link(link),
            None => mark,
        })
    }

    /// The mark with an interval that ends at the range of its measure, where series are scores by scheme.
    fn cut(&self, mark: Mark, series: &Key) -> Mark {
        let series = match series {
            Key::Simulated(of) => of,
            other => other,
        };
        match (self.panel.value, self.panel.series, mark.low.zip(mark.high)) {
            (Value::Mean(measure), By::Category, Some((low, high))) => {
                let measure = format!("{measure} {}", self.data.words_of(series));
                let interval = cut(Interval { low, high }, &measure);
                mark.between(interval.low, interval.high)
            }
            _ => mark,
        }
    }

    fn names(&self, keys: &BTreeSet<&Key>) -> Vec<String> {
        keys.iter().map(|key| self.data.words_of(key)).collect()
    }

    /// The axis of numbers.
    fn values(&self) -> Axis {
        let axis = Axis::new(self.panel.y_title);
        let range = self.range();
        let axis = match self.unit(range).as_str() {
            "" => axis,
            unit => axis.unit(unit),
        };
        match range {
            Some((from, to)) => axis.range(from, to),
            None => axis,
        }
    }

    /// What the numbers are measured in; of those without a unit, the range that all of them keep.
    fn unit(&self, kept: Option<(f64, f64)>) -> String {
        match (self.panel.unit, kept) {
            ("", Some((from, to))) => format!("{from} to {to}"),
            (unit, _) => unit.to_owned(),
        }
    }

    /// The panel's range, unless a number of it or an end of an interval is outside.
    fn range(&self) -> Option<(f64, f64)> {
        let (from, to) = self.panel.range?;
        let is_drawn = |value: f64| (from..=to).contains(&value);
        let places = self.data.places.iter();
        let mut own =
            places.filter(|(place, _)| place.panel == self.number && place.split == *self.split);
        let is_inside = own.all(|(_, gathered)| {
            let mark = mark_of(self.panel, gathered);
            let ends = mark.into_iter().flat_map(|mark| [mark.low, mark.high]);
            ends.flatten().all(is_drawn) && is_within(self.panel, gathered, (from, to))
        });
        is_inside.then_some((from, to))
    }

    /// The axis of places.
    fn places(&self) -> Axis {
        Axis::new(self.panel.x_title)
    }

    fn baselines(&self) -> Vec<Baseline> {
        let lines = self.panel.baselines.iter();
        lines
            .map(|(name, value)| Baseline::new(*name, *value))
            .collect()
    }

    /// Rounds and prices stand below the chart, words beside it.
    fn direction(&self) -> Direction {
        match self.xs.first() {
            Some(Key::Number(_)) => Direction::Columns,
            _ => Direction::Rows,
        }
    }

    /// A chart of places and numbers in a direction.
    fn directed(&self, direction: Direction, chart: Chart) -> Panel {
        match direction {
            Direction::Columns => Panel::new(self.places(), self.values(), chart),
            Direction::Rows => Panel::new(self.values(), self.places(), chart),
        }
    }

    fn lines(&self) -> Panel {
        let series = self.series.iter().map(|series| {
            let points = self.xs.iter().filter_map(|x| {
                let Key::Number(place) = x else { return None };
                Some(Point::new(*place, self.mark(series, x)?))
            });
            Series::new(self.data.words_of(series), points.collect())
        });
        let curves = Curves {
            series: series.collect(),
            baselines: self.baselines(),
        };
        let places = match self.panel.x {
            By::Round => self.places().whole(),
            _ => self.places(),
        };
        Panel::new(places, self.values(), Chart::Lines(curves))
    }

    fn distribution(&self) -> Panel {
        let mut samples = Vec::new();
        for x in &self.xs {
            for series in &self.series {
                if let Some(gathered) = self.at(series, x) {
                    let [category, series] = [x, series].map(|key| self.data.words_of(key));
                    let values = gathered.values.iter().copied();
                    samples.push(Sample::new(category, series, values));
                }
            }
        }
        let direction = self.direction();
        let samples = Samples {
            samples,
            direction,
            bins: None,
        };
        match self.panel.shape {
            Shape::Densities => Panel::new(
                self.values(),
                Axis::new("density"),
                Chart::Densities(samples),
            ),
            Shape::Histograms => Panel::new(
                self.values(),
                Axis::new("observations"),
                Chart::Histograms(samples),
            ),
            _ => self.directed(direction, Chart::Boxes(samples)),
        }
    }

    /// Performance profiles: the share of sessions above each number, the mean over places. A series
    /// that is not in every place has none.
    fn profiles(&self) -> Panel {
        let (from, to) = self.panel.range.unwrap_or((0.0, 100.0));
        let numbers = (0..=PROFILE_STEPS).map(|step| {
            let share = f64::from(step) / f64::from(PROFILE_STEPS);
            (to - from).mul_add(share, from)
        });
        let numbers: Vec<f64> = numbers.collect();
        let series = self.series.iter().filter_map(|series| {
            let games = self.xs.iter();
            let games = games.map(|x| Some(self.at(series, x)?.values.as_slice()));
            let games: Vec<&[f64]> = games.collect::<Option<_>>()?;
            let n: usize = games.iter().map(|values| values.len()).sum();
            let shares = performance_profile(&games, &numbers)?.into_iter();
            let points = numbers
                .iter()
                .zip(shares)
                .map(|(number, (share, interval))| {
                    let mark = Mark::new(share).of(n as u64);
                    let mark = match interval {
                        Some(interval) => mark.between(interval.low, interval.high),
                        None => mark,
                    };
                    Point::new(*number, mark)
                });
            Some(Series::new(self.data.words_of(series), points.collect()))
        });
        let curves = Curves {
            series: series.collect(),
            baselines: Vec::new(),
        };
        let shares = Axis::new("sessions above it").unit("share").range(0.0, 1.0);
        Panel::new(self.values(), shares, Chart::Lines(curves))
    }

    fn matrix(&self) -> Panel {
        let rows = self.xs.iter().map(|x| {
            let cells = self.series.iter().map(|series| self.mark(series, x));
            cells.collect()
        });
        let measure = match self.unit(self.range()).as_str() {
            "" => self.panel.y_title.to_owned(),
            unit => format!("{} ({unit})", self.panel.y_title),
        };
        let heat = Heat {
            rows: self.names(&self.xs),
            columns: self.names(&self.series),
            cells: rows.collect(),
            measure,
            range: self.range(),
            digits: self.panel.digits,
            triangular: false,
        };
        Panel::new(Axis::new(""), self.places(), Chart::Heat(heat))
    }

    fn by_category(&self) -> Panel {
        let series = self.series.iter().map(|series| {
            let marks = self.xs.iter().map(|x| self.mark(series, x));
            CategorySeries::new(self.data.words_of(series), marks.collect())
        });
        let direction = match self.panel.shape {
            Shape::Radar => Direction::Columns,
            _ => self.direction(),
        };
        let data = ByCategory {
            categories: self.names(&self.xs),
            series: series.collect(),
            baselines: self.baselines(),
            direction,
        };
        let chart = match self.panel.shape {
            Shape::Bars => Chart::Bars(data),
            Shape::Stacked => Chart::Stacked(data),
            // Two spokes enclose nothing.
            Shape::Radar if data.categories.len() > 2 => Chart::Radar(data),
            _ => Chart::Dots(data),
        };
        self.directed(direction, chart)
    }
}

/// The mean at a place with its interval over sessions or series; `None` where it is not defined.
fn mark_of(panel: &PlotPanel, gathered: &Gathered) -> Option<Mark> {
    let clusters: Vec<(f64, f64)> = gathered.clusters.values().copied().collect();
    let n = clusters.len() as u64;
    let scale = panel.value.scale();
    let ratio = ratio(&clusters)?;
    let mark = Mark::new(scale * ratio.value).of(n);
    let interval = match rate_of(panel, &clusters) {
        Some(successes) => wilson_interval(successes, n),
        None => (ratio.interval).filter(|interval| has_width(interval, ratio.value)),
    };
    Some(match interval {
        Some(interval) => {
            let interval = interval.moved(0.0, scale);
            let lowest = panel.lowest.map(|lowest| (lowest, f64::INFINITY));
            let range = (panel.range.or(lowest)).filter(|range| is_within(panel, gathered, *range));
            let interval = range.map_or(interval, |range| interval.within(range));
            mark.between(interval.low, interval.high)
        }
        None => mark,
    })
}

/// Whether an interval around a value is wider than sums are exact: equal numbers have none.
fn has_width(interval: &Interval, value: f64) -> bool {
    interval.high - interval.low > ROUNDING * value.abs()
}

/// Whether what was gathered is in the range of the panel. Parameters of a game may make numbers larger than
/// those of its paper.
fn is_within(panel: &PlotPanel, gathered: &Gathered, (from, to): (f64, f64)) -> bool {
    let scale = panel.value.scale();
    let rounding = match to - from {
        width if width.is_finite() => ROUNDING * width,
        _ => ROUNDING,
    };
    let mut values = gathered.clusters.values();
    values.all(|(own, of)| {
        let value = scale * own / of;
        *of == 0.0 || (from - rounding..=to + rounding).contains(&value)
    })
}

/// How many clusters have a share of 1, where the panel shows shares and every cluster has 0 or 1.
fn rate_of(panel: &PlotPanel, clusters: &[(f64, f64)]) -> Option<u64> {
    if panel.range != Some((0.0, panel.value.scale())) {
        return None;
    }
    let mut successes = 0;
    let mut first = None;
    for (own, of) in clusters {
        if *of != *first.get_or_insert(*of) {
            return None;
        }
        match own / of {
            1.0 => successes += 1,
            0.0 => {}
            _ => return None,
        }
    }
    Some(successes)
}
