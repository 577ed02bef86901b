//! Intervals of what has no formula: statistics of sets that were drawn again, with replacement, from
//! the set at hand (Efron and Tibshirani 1993, "An introduction to the bootstrap").

use super::Interval;
use super::chance::{below, seeded};

/// How many sets are drawn.
pub const DRAWS: usize = 1_000;

/// What the interval leaves out on either side.
const TAIL: f64 = 0.025;

/// Sets drawn from strata of these sizes, each stratum by itself: calls back with the places that were
/// drawn, stratum by stratum, as often as asked.
pub fn draw_again(strata: &[usize], draws: usize, mut each: impl FnMut(&[Vec<usize>])) {
    let mut chance = seeded();
    let mut places: Vec<Vec<usize>> = strata.iter().map(|size| vec![0; *size]).collect();
    for _ in 0..draws {
        for (stratum, size) in places.iter_mut().zip(strata) {
            stratum.fill_with(|| below(&mut chance, *size));
        }
        each(&places);
    }
}

/// The places of so many things in other orders, each as likely as another (Fisher and Yates): calls back
/// with each order, as often as asked.
pub fn in_other_orders(size: usize, orders: usize, mut each: impl FnMut(&[usize])) {
    let mut chance = seeded();
    let mut places: Vec<usize> = (0..size).collect();
    for _ in 0..orders {
        for last in (1..size).rev() {
            places.swap(last, below(&mut chance, last + 1));
        }
        each(&places);
    }
}

/// What lies between the tails of these statistics; `None` without any.
pub fn percentile_interval(statistics: &mut [f64]) -> Option<Interval> {
    statistics.sort_by(f64::total_cmp);
    Some(Interval {
        low: quantile(statistics, TAIL)?,
        high: quantile(statistics, 1.0 - TAIL)?,
    })
}

/// The quantile of sorted numbers, between neighbours in a straight line (Hyndman and Fan's type 7).
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    let part = place - low as f64;
    Some(sorted[low] + part * (sorted[high] - sorted[low]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_about_as_often_as_another() {
        let mut counts = std::collections::BTreeMap::new();
        in_other_orders(3, 6_000, |places| {
            *counts.entry(places.to_vec()).or_insert(0) += 1;
        });
        assert_eq!(counts.len(), 6);
        let is_even = |count: &i32| (850..1_150).contains(count);
        assert!(counts.values().all(is_even), "{counts:?}");
    }
}
