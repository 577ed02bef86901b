//! Numbers computed from the events of a finished session, and the arithmetic that
//! games share for them. What is measured, each game decides; averages over
//! sessions belong to `agon-report`. Called by games, stored in records.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::arithmetic::{larger, square};

/// What a game computes from its own events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// Final scores by scheme (`iclr2025`, `arxiv2024`), 0 to 100 where the
    /// source says so.
    pub scores: BTreeMap<String, f64>,
    /// The quantities behind the scores, by the names of the source (`S`, `S_P`).
    pub parts: BTreeMap<String, f64>,
    /// One number per round or turn, for figures.
    pub series: BTreeMap<String, Vec<f64>>,
}

impl Measures {
    /// Adds a score.
    pub fn score(&mut self, scheme: &str, value: f64) {
        self.scores.insert(scheme.to_owned(), value);
    }

    /// Adds a part of a score.
    pub fn part(&mut self, name: &str, value: f64) {
        self.parts.insert(name.to_owned(), value);
    }

    /// Adds a series.
    pub fn series(&mut self, name: &str, values: Vec<f64>) {
        self.series.insert(name.to_owned(), values);
    }

    /// Adds series that belong together, with one entry of each per row.
    pub fn columns<const N: usize>(&mut self, names: [&str; N], rows: &[[f64; N]]) {
        for (place, name) in names.into_iter().enumerate() {
            self.series(name, rows.iter().map(|row| row[place]).collect());
        }
    }
}

/// The arithmetic mean; 0 for no numbers, so that records never hold NaN.
pub fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0u32);
    for number in numbers {
        sum += number;
        count += 1;
    }
    if count == 0 {
        0.0
    } else {
        sum / f64::from(count)
    }
}

/// The standard deviation of all the numbers there are (not of a sample); 0 for
/// no numbers.
pub fn standard_deviation(numbers: &[f64]) -> f64 {
    let middle = mean(numbers.iter().copied());
    mean(numbers.iter().map(|number| square(number - middle))).sqrt()
}

/// The standard deviation of as many ones and zeros as make up a share.
pub fn share_deviation(share: f64) -> f64 {
    larger(share * (1.0 - share), 0.0).sqrt()
}
