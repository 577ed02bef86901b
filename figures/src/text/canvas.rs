//! A grid of signs with an axis on the left and one below. It knows places and labels; `curves` puts
//! the signs.

use crate::number;
use crate::side::{Map, Numbers, Side};

use super::width::{columns, cut, right};

/// Rows of a plot.
const ROWS: usize = 15;

/// Columns between numbers below a plot.
const GAP: usize = 2;

/// Signs on the area between two axes.
pub(super) struct Canvas {
    signs: Vec<Vec<char>>,
    x: Map,
    y: Map,
    /// Labels of rows, by row.
    beside: Vec<String>,
    below: Vec<(usize, String)>,
}

impl Canvas {
    /// An empty area; the labels on its left take their part of the width.
    pub(super) fn new(x: &Numbers, y: &Numbers, width: usize) -> Self {
        let map = |side: &Numbers, start, end| Map::of(&Side::Numbers(side.clone()), start, end);
        let y_map = map(y, (ROWS - 1) as f64, 0.0);
        let mut beside = vec![String::new(); ROWS];
        for (value, label) in labelled(y, 4) {
            if let Some(place) = beside.get_mut(y_map.at(value).round().max(0.0) as usize) {
                *place = label;
            }
        }
        let widest = beside.iter().map(|label| columns(label)).max().unwrap_or(0);
        let across = width.saturating_sub(widest + 2).max(8);
        let x_map = map(x, 0.0, (across - 1) as f64);
        let mut below: Vec<(usize, String)> = Vec::new();
        let mut free = 0;
        for (value, label) in labelled(x, across / 10) {
            let at = x_map.at(value).round().max(0.0) as usize;
            let start = at.saturating_sub(columns(&label) / 2);
            let end = start + columns(&label);
            if start >= free && end <= across {
                below.push((start, label));
                free = end + GAP;
            }
        }
        Self {
            signs: vec![vec![' '; across]; ROWS],
            x: x_map,
            y: y_map,
            beside,
            below,
        }
    }

    /// The column and the row of a point, if it lies inside.
    pub(super) fn cell(&self, x: f64, y: f64) -> Option<(usize, usize)> {
        let (column, row) = (self.x.at(x).round(), self.y.at(y).round());
        let is_inside = (0.0..self.signs[0].len() as f64).contains(&column)
            && (0.0..self.signs.len() as f64).contains(&row);
        is_inside.then_some((column as usize, row as usize))
    }

    /// Puts a sign; where another series has one, a star says that there are several.
    pub(super) fn put(&mut self, (column, row): (usize, usize), sign: char) {
        let place = &mut self.signs[row][column];
        let is_free = !place.is_alphabetic() && *place != '*' || *place == sign;
        *place = if is_free { sign } else { '*' };
    }

    /// Puts a sign where nothing is.
    pub(super) fn put_below(&mut self, (column, row): (usize, usize), sign: char) {
        let place = &mut self.signs[row][column];
        if *place == ' ' {
            *place = sign;
        }
    }

    /// A line across.
    pub(super) fn across(&mut self, y: f64, sign: char) {
        if let Some((_, row)) = self.cell(self.x.from, y) {
            for column in 0..self.signs[row].len() {
                self.put_below((column, row), sign);
            }
        }
    }

    /// The area with its labels.
    pub(super) fn lines(self) -> Vec<String> {
        let widest = self
            .beside
            .iter()
            .map(|label| columns(label))
            .max()
            .unwrap_or(0);
        let across = self.signs[0].len();
        let mut lines: Vec<String> = Vec::new();
        for (label, signs) in self.beside.iter().zip(&self.signs) {
            let axis = if label.is_empty() { '│' } else { '┤' };
            let signs: String = signs.iter().collect();
            lines.push(format!("{} {axis}{signs}", right(label, widest)));
        }
        lines.push(format!("{} └{}", " ".repeat(widest), "─".repeat(across)));
        let mut below = String::new();
        for (start, label) in self.below {
            below.push_str(&" ".repeat(start.saturating_sub(columns(&below))));
            below.push_str(&label);
        }
        lines.push(format!("{}  {}", " ".repeat(widest), cut(&below, across)));
        lines
    }
}

fn labelled(numbers: &Numbers, wanted: usize) -> Vec<(f64, String)> {
    let mut values = match numbers.spacing {
        crate::figure::Spacing::Linear => number::round_steps(numbers.from, numbers.to, wanted),
        crate::figure::Spacing::Logarithmic => number::powers(numbers.from, numbers.to, wanted),
    };
    if numbers.whole {
        values.retain(|value| value.fract() == 0.0);
    }
    let labels = values.iter().map(|value| number::short(*value));
    let labels: Vec<String> = labels.collect();
    values.into_iter().zip(labels).collect()
}
