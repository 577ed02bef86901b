//! Plan faithfulness (arXiv 2310.05746, section 4.3): how an item's priority goes with what
//! was done about it, over all items of all auctions, and whether it does so auction by
//! auction. Called by `plans.rs`.

use std::collections::BTreeMap;

use crate::grouping::Sums;
use crate::row::{Row, Value};
use crate::statistics::{spearman, wilcoxon_test};

/// Fewer auctions or series have no p-value.
const LEAST_INDEPENDENT: usize = 2;

/// Spearman's rho over all pairs of an item and an auction, ties ranked by their average; not
/// defined for fewer than two pairs and where a column is constant. `p` is that of the exact
/// two-sided signed-rank test that the correlations of single auctions lie around 0, and
/// `independent` how many these are: items and seats of one auction depend on each other, and so
/// do the auctions of a series, so that only repeats count.
pub(super) fn faithfulness(sums: &Sums, priority: &str, done: &str) -> Value {
    let (priorities, done) = (sums.values(priority), sums.values(done));
    let repeats = sums.values("plan_repeat");
    correlation(priorities, done, repeats).into()
}

fn correlation(priorities: &[f64], done: &[f64], repeats: &[f64]) -> Option<Row> {
    let rho = spearman(priorities, done).ok().flatten()?.rho;
    let mut apart: BTreeMap<u64, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for (repeat, (priority, done)) in repeats.iter().zip(priorities.iter().zip(done)) {
        let (priorities, all_done) = apart.entry(*repeat as u64).or_default();
        priorities.push(*priority);
        all_done.push(*done);
    }
    let single = apart.values().filter_map(|(priorities, done)| {
        let correlation = spearman(priorities, done).ok().flatten()?;
        Some(correlation.rho)
    });
    let single: Vec<f64> = single.collect();
    let p = || wilcoxon_test(&single, &vec![0.0; single.len()]).ok();
    let p = (single.len() >= LEAST_INDEPENDENT).then(p).flatten();
    let row = Row::default()
        .with("rho", rho)
        .with("p", p.map(|test| test.p));
    Some(row.with("independent", single.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Priorities, what was done, and in which repeat.
    #[derive(Default)]
    struct Pairs(Vec<f64>, Vec<f64>, Vec<f64>);

    impl Pairs {
        fn add(&mut self, repeat: u32, priority: f64, done: f64) {
            self.0.push(priority);
            self.1.push(done);
            self.2.push(f64::from(repeat));
        }

        /// Rho, p, and how many are independent.
        fn faithfulness(&self) -> (Option<f64>, Option<f64>, u64) {
            let row = correlation(&self.0, &self.1, &self.2).unwrap();
            (row.number("rho"), row.number("p"), row.count("independent"))
        }
    }

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
        assert_eq!(one.faithfulness(), (Some(1.0), None, 1));
    }

    #[test]
    fn every_auction_counts_once() {
        let (_, p, independent) = pairs(5, 5).faithfulness();
        assert_eq!((p, independent), (Some(2.0 / 32.0), 5));
        let (_, p, independent) = pairs(5, 10).faithfulness();
        assert_eq!((p, independent), (Some(1.0), 10));
    }

    #[test]
    fn an_auction_without_a_correlation_does_not_count() {
        let mut three = pairs(2, 2);
        for priority in [1.0, 2.0, 3.0] {
            three.add(2, priority, 7.0);
        }
        assert_eq!(three.faithfulness().2, 2);
    }
}
