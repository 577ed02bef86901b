//! Plan faithfulness (arXiv 2310.05746, section 4.3): how an item's priority goes with what
//! was done about it, over all items of all auctions, and whether it does so auction by
//! auction. Called by `plans.rs`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::statistics::{spearman, wilcoxon_test};

/// Fewer auctions or series have no p-value.
const LEAST_INDEPENDENT: usize = 2;

/// A rank correlation; not defined for fewer than two pairs and where a column is constant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Faithfulness {
    /// Spearman's rho over all pairs of an item and an auction, ties ranked by their average.
    pub rho: f64,
    /// Exact two-sided p-value of the signed-rank test that the correlations of single auctions
    /// lie around 0. Items and seats of one auction depend on each other, and so do the auctions
    /// of a series; only repeats count as independent. `None` for fewer than two of them.
    pub p: Option<f64>,
    /// How many auctions or series have a correlation of their own.
    pub independent: u64,
}

/// Priorities and what was done, pair by pair.
#[derive(Debug, Clone, Default)]
pub(super) struct Pairs {
    priorities: Vec<f64>,
    done: Vec<f64>,
    /// Which auction or series each pair is of.
    repeats: Vec<u32>,
}

impl Pairs {
    pub fn add(&mut self, repeat: u32, priority: f64, done: f64) {
        self.repeats.push(repeat);
        self.priorities.push(priority);
        self.done.push(done);
    }

    pub fn count(&self) -> u64 {
        self.priorities.len() as u64
    }

    pub fn faithfulness(&self) -> Option<Faithfulness> {
        let rho = spearman(&self.priorities, &self.done).ok().flatten()?.rho;
        let mut repeats: BTreeMap<u32, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        let pairs = self.priorities.iter().zip(&self.done);
        for (repeat, (priority, done)) in self.repeats.iter().zip(pairs) {
            let (priorities, all_done) = repeats.entry(*repeat).or_default();
            priorities.push(*priority);
            all_done.push(*done);
        }
        let single = repeats.values().filter_map(|(priorities, done)| {
            let correlation = spearman(priorities, done).ok().flatten()?;
            Some(correlation.rho)
        });
        let single: Vec<f64> = single.collect();
        let p = || wilcoxon_test(&single, &vec![0.0; single.len()]).ok();
        let p = (single.len() >= LEAST_INDEPENDENT).then(p).flatten();
        Some(Faithfulness {
            rho,
            p: p.map(|test| test.p),
            independent: single.len() as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three items an auction, bid for as they were wanted in so many auctions of ten.
    fn pairs(faithful: u32, auctions: u32) -> Pairs {
        let mut pairs = Pairs::default();
        for repeat in 0..auctions {
            let sign = if repeat < faithful { 1.0 } else { -1.0 };
            for priority in [1.0, 2.0, 3.0] {
                pairs.add(repeat, priority, sign * priority);
            }
        }
        pairs
    }

    #[test]
    fn items_of_one_auction_are_no_independent_evidence() {
        let mut one = Pairs::default();
        for item in 0..40 {
            one.add(0, f64::from(item), f64::from(item));
        }
        let one = one.faithfulness().unwrap();
        assert_eq!((one.rho, one.p, one.independent), (1.0, None, 1));
    }

    #[test]
    fn every_auction_counts_once() {
        let five = pairs(5, 5).faithfulness().unwrap();
        assert_eq!((five.p, five.independent), (Some(2.0 / 32.0), 5));
        let mixed = pairs(5, 10).faithfulness().unwrap();
        assert_eq!((mixed.p, mixed.independent), (Some(1.0), 10));
    }

    #[test]
    fn an_auction_without_a_correlation_does_not_count() {
        let mut three = pairs(2, 2);
        for priority in [1.0, 2.0, 3.0] {
            three.add(2, priority, 7.0);
        }
        assert_eq!(three.faithfulness().unwrap().independent, 2);
    }
}
