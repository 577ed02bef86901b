//! Dots with intervals, bars, stacked bars, boxes and histograms for a terminal: a row per mark, with
//! its name before it and its value behind it.

use crate::chart::{ByCategory, Chart, Direction, Sample, Samples};
use crate::charts::{self, across::measure};
use crate::figure::{Axis, Panel, Spacing};
use crate::mark::Mark;
use crate::number;
use crate::samples::{bin_edges, counts, five_numbers};
use crate::side::{Map, Numbers, Side};

use super::width::{columns, cut, key, left, letter};

/// Names take at most this share of a line; values at its end so many columns.
const NAMES: usize = 3;
const VALUES: usize = 9;

/// Rows with names on the left, a strip in the middle, a value on the right.
struct Strip {
    names: usize,
    map: Map,
    signs: usize,
}

impl Strip {
    fn new<'a>(names: impl Iterator<Item = &'a str>, numbers: &Numbers, width: usize) -> Self {
        let longest = names.map(columns).max().unwrap_or(0);
        let names = longest.min(width / NAMES);
        // The letter of a series, two edges, a space.
        let signs = width.saturating_sub(names + VALUES + 5).max(2);
        Self {
            names,
            map: Map::of(&Side::Numbers(numbers.clone()), 0.0, (signs - 1) as f64),
            signs,
        }
    }

    fn column(&self, value: f64) -> usize {
        let at = self.map.at(value).round();
        at.clamp(0.0, (self.signs - 1) as f64) as usize
    }

    /// Signs from one value to another.
    fn fill(&self, signs: &mut [char], from: f64, to: f64, sign: char) {
        let (from, to) = (self.column(from), self.column(to));
        for place in &mut signs[from.min(to)..=from.max(to)] {
            *place = sign;
        }
    }

    fn row(&self, name: &str, series: Option<char>, signs: &[char], value: &str) -> String {
        let (name, value) = (left(name, self.names), cut(value, VALUES));
        let signs: String = signs.iter().collect();
        format!("{name} {} │{signs}│{value}", series.unwrap_or(' '))
    }

    /// The ends of the axis and its title, under the strip.
    fn foot(&self, title: &str, width: usize) -> Vec<String> {
        let (from, to) = (number::short(self.map.from), number::short(self.map.to));
        let room = self
            .signs
            .saturating_sub(columns(&from) + columns(&to))
            .max(1);
        let indent = " ".repeat(self.names + 4);
        let title = if columns(title) + 2 <= room {
            title
        } else {
            ""
        };
        let before = (room - columns(title).min(room)) / 2;
        let after = room.saturating_sub(before + columns(title));
        let axis = format!(
            "{indent}{from}{}{title}{}{to}",
            " ".repeat(before),
            " ".repeat(after)
        );
        vec![cut(&axis, width)]
    }
}

fn values(panel: &Panel, direction: Direction) -> Option<Numbers> {
    let plan = charts::plan(panel);
    match (&panel.chart, direction, plan.x, plan.y) {
        (Chart::Radar(_), _, _, Side::Numbers(numbers))
        | (_, Direction::Rows, Side::Numbers(numbers), _)
        | (_, Direction::Columns, _, Side::Numbers(numbers)) => Some(numbers),
        _ => None,
    }
}

/// The rows of all marks, each drawn on an empty strip.
fn rows(
    panel: &Panel,
    data: &ByCategory,
    width: usize,
    direction: Direction,
    draw: impl Fn(&Strip, &mut [char], &Mark),
) -> Vec<String> {
    let Some(numbers) = values(panel, direction) else {
        return Vec::new();
    };
    let strip = Strip::new(data.categories.iter().map(String::as_str), &numbers, width);
    let mut lines = Vec::new();
    for (category, name) in data.categories.iter().enumerate() {
        let mut name = &**name;
        for (index, series) in data.series.iter().enumerate() {
            let mark = series.mark(category);
            let mut signs = vec![' '; strip.signs];
            for line in &data.baselines {
                strip.fill(&mut signs, line.value, line.value, '┆');
            }
            if let Some(mark) = mark {
                draw(&strip, &mut signs, mark);
            }
            let sign = (data.series.len() > 1).then(|| letter(index));
            let value = mark.map_or("no data".to_owned(), |mark| number::short(mark.value));
            lines.push(strip.row(name, sign, &signs, &value));
            name = "";
        }
    }
    lines.extend(strip.foot(&numbers.title, width));
    if data.series.len() > 1 {
        lines.extend(key(data.series.iter().map(|series| &*series.name), width));
    }
    for line in &data.baselines {
        lines.push(cut(&format!("┆ {}", line.name), width));
    }
    lines
}

/// Dots with intervals.
pub(super) fn dots(
    panel: &Panel,
    data: &ByCategory,
    width: usize,
    direction: Direction,
) -> Vec<String> {
    rows(panel, data, width, direction, |strip, signs, mark| {
        if let (Some(low), Some(high)) = (mark.low, mark.high) {
            strip.fill(signs, low, high, '─');
            strip.fill(signs, low, low, '├');
            strip.fill(signs, high, high, '┤');
        }
        strip.fill(signs, mark.value, mark.value, '●');
    })
}

/// Bars from zero.
pub(super) fn bars(panel: &Panel, data: &ByCategory, width: usize) -> Vec<String> {
    rows(panel, data, width, data.direction, |strip, signs, mark| {
        let zero = match strip.map.spacing {
            Spacing::Linear => 0.0,
            Spacing::Logarithmic => strip.map.from,
        };
        strip.fill(signs, zero, mark.value, '█');
    })
}

/// Stacked bars: each part in the letter of its series.
pub(super) fn stacked(panel: &Panel, data: &ByCategory, width: usize) -> Vec<String> {
    let Some(numbers) = values(panel, data.direction) else {
        return Vec::new();
    };
    let strip = Strip::new(data.categories.iter().map(String::as_str), &numbers, width);
    let mut lines = Vec::new();
    for (category, name) in data.categories.iter().enumerate() {
        let mut signs = vec![' '; strip.signs];
        let (mut below, mut above) = (0.0, 0.0);
        for (index, series) in data.series.iter().enumerate() {
            let mark = series.mark(category);
            let value = mark.map_or(0.0, |mark| mark.value);
            let sum = if value < 0.0 { &mut below } else { &mut above };
            let (from, to) = (strip.column(*sum), strip.column(*sum + value));
            *sum += value;
            for place in &mut signs[from.min(to)..from.max(to)] {
                *place = letter(index);
            }
        }
        lines.push(strip.row(name, None, &signs, &number::short(above + below)));
    }
    lines.extend(strip.foot(&numbers.title, width));
    lines.extend(key(data.series.iter().map(|series| &*series.name), width));
    lines
}

fn samples_of(samples: &Samples) -> impl Iterator<Item = (String, Vec<f64>, &Sample)> {
    samples.samples.iter().map(|sample| {
        let names = [&*sample.category, &*sample.series];
        let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        let values = sample.values.iter().map(|mark| mark.value);
        (names.join(", "), values.collect(), sample)
    })
}

/// Boxes with whiskers; the value is the median.
pub(super) fn boxes(panel: &Panel, samples: &Samples, width: usize) -> Vec<String> {
    let Some(numbers) = values(panel, samples.direction) else {
        return Vec::new();
    };
    let all: Vec<_> = samples_of(samples).collect();
    let strip = Strip::new(all.iter().map(|(name, ..)| &**name), &numbers, width);
    let mut lines = Vec::new();
    for (name, values, _) in &all {
        let mut signs = vec![' '; strip.signs];
        let mut said = "no data".to_owned();
        if let Some(five) = five_numbers(values) {
            for value in values {
                strip.fill(&mut signs, *value, *value, '·');
            }
            strip.fill(&mut signs, five.low, five.high, '─');
            strip.fill(&mut signs, five.first, five.third, '▒');
            strip.fill(&mut signs, five.median, five.median, '█');
            said = number::short(five.median);
        }
        lines.push(strip.row(name, None, &signs, &said));
    }
    let axis: &Axis = measure(panel, samples.direction);
    lines.extend(strip.foot(&axis.label(), width));
    lines
}

/// A row of eighths per sample, on common bins; the value is n.
pub(super) fn histograms(panel: &Panel, samples: &Samples, width: usize) -> Vec<String> {
    let all: Vec<_> = samples_of(samples).collect();
    let pooled: Vec<f64> = all
        .iter()
        .flat_map(|(_, values, _)| values.clone())
        .collect();
    let edges = bin_edges(&pooled, samples.bins);
    let (Some(from), Some(to)) = (edges.first(), edges.last()) else {
        return Vec::new();
    };
    let axis = Axis {
        range: Some((*from, *to)),
        ..panel.x.clone()
    };
    let numbers = Numbers::holding(&axis, pooled.iter().copied(), false);
    let strip = Strip::new(all.iter().map(|(name, ..)| &**name), &numbers, width);
    let mut lines = Vec::new();
    for (name, values, _) in &all {
        let counts = counts(values, &edges);
        let most = counts.iter().max().copied().unwrap_or(0).max(1);
        let mut signs = vec![' '; strip.signs];
        for (bin, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
            let sign = EIGHTHS[(count * 8).div_ceil(most).clamp(1, 8) - 1];
            strip.fill(&mut signs, edges[bin], edges[bin + 1], sign);
        }
        lines.push(strip.row(name, None, &signs, &format!("n={}", values.len())));
    }
    lines.extend(strip.foot(&panel.x.label(), width));
    lines
}
