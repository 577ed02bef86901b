//! One number over several games with a few scores each (Agarwal et al. 2021, "Deep reinforcement
//! learning at the edge of the statistical precipice", arXiv 2108.13264): the interquartile mean, which
//! single sessions that went very well or badly do not move, performance profiles, and the chance that
//! one player is better than another. Each game counts the same, however many scores it has.

use super::bootstrap::{DRAWS, draw_again, percentile_interval};
use super::effect::superiority;
use super::{Interval, mean_interval};
use crate::accumulator::Accumulator;

/// Numbers that are drawn again in all; of more numbers, fewer sets are drawn.
const MOST_DRAWN: usize = 10_000_000;

/// Of fewer numbers in a game sets drawn again spread too little.
pub const FEWEST: usize = 5;

/// As few sets as that.
const FEWEST_DRAWS: usize = 200;

/// What is left out on either side of the interquartile mean.
const QUARTER: f64 = 0.25;

/// The mean of the middle half of all scores; `None` where a game has none, and without a game.
pub fn interquartile_mean(games: &[Vec<f64>]) -> Option<f64> {
    middle_mean(weighted(games)?)
}

/// The same with its 95 % interval over scores that are drawn again within each game.
///
/// The interval reaches as much farther as a set drawn again spreads less than one drawn anew:
/// `sqrt(n / (n - 1))` of the smallest n. `None` too where a game has fewer than [`FEWEST`] scores.
pub fn interquartile_mean_interval(games: &[Vec<f64>]) -> Option<(f64, Interval)> {
    let mean = interquartile_mean(games)?;
    let strata: Vec<&Vec<f64>> = games.iter().collect();
    let interval = drawn_again(&strata, mean, |again| interquartile_mean(&again))?;
    Some((mean, interval))
}

/// The share of scores above each threshold, the mean over games, with its 95 % interval from
/// [`FEWEST`] scores of each game on; `None` where a game has none.
pub fn performance_profile(
    games: &[&[f64]],
    thresholds: &[f64],
) -> Option<Vec<(f64, Option<Interval>)>> {
    let suffice = games.iter().all(|scores| scores.len() >= FEWEST);
    let above = |threshold: &f64| {
        let shares = games.iter().map(|scores| {
            let mut above = Accumulator::default();
            for score in *scores {
                above.add(f64::from(u8::from(score > threshold)));
            }
            above
        });
        let shares: Vec<Accumulator> = shares.collect();
        let sum = shares.iter().map(Accumulator::mean).sum::<Option<f64>>()?;
        let interval = mean_interval(&shares).filter(|interval| suffice && !interval.is_point());
        let interval = interval.map(|interval| Interval {
            low: interval.low.max(0.0),
            high: interval.high.min(1.0),
        });
        (!games.is_empty()).then(|| (sum / games.len() as f64, interval))
    };
    thresholds.iter().map(above).collect()
}

/// What a player made in a game, and what each of the others made.
pub type AmongOthers = (Vec<f64>, Vec<Vec<f64>>);

/// The chance that a score of a player is above one of another in the same game, equal ones counted
/// half: the mean over others and games; `None` where one has no score.
pub fn mean_superiority(games: &[AmongOthers]) -> Option<f64> {
    let pairs = games.iter().flat_map(|(own, others)| {
        let pairs = others.iter();
        pairs.map(|other| superiority(own, other))
    });
    let (mut sum, mut count) = (0.0, 0);
    for chance in pairs {
        sum += chance?;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// The same with its 95 % interval over scores that are drawn again within each game and player, as
/// that of [`interquartile_mean_interval`].
pub fn mean_superiority_interval(games: &[AmongOthers]) -> Option<(f64, Interval)> {
    let chance = mean_superiority(games)?;
    let strata = games
        .iter()
        .flat_map(|(own, others)| std::iter::once(own).chain(others));
    let strata: Vec<&Vec<f64>> = strata.collect();
    let interval = drawn_again(&strata, chance, |again| {
        let mut again = again.into_iter();
        let games = games.iter().map(|(_, others)| {
            let own = again.next().unwrap_or_default();
            (own, again.by_ref().take(others.len()).collect())
        });
        mean_superiority(&games.collect::<Vec<AmongOthers>>())
    })?;
    let within = Interval {
        low: interval.low.max(0.0),
        high: interval.high.min(1.0),
    };
    Some((chance, within))
}

/// The interval of a statistic over numbers that are drawn again within each stratum.
fn drawn_again(
    strata: &[&Vec<f64>],
    value: f64,
    statistic: impl Fn(Vec<Vec<f64>>) -> Option<f64>,
) -> Option<Interval> {
    let sizes: Vec<usize> = strata.iter().map(|stratum| stratum.len()).collect();
    let least = sizes.iter().min().filter(|least| **least >= FEWEST);
    let least = *least? as f64;
    let draws = (MOST_DRAWN / sizes.iter().sum::<usize>()).clamp(FEWEST_DRAWS, DRAWS);
    let mut drawn = Vec::with_capacity(draws);
    draw_again(&sizes, draws, |places| {
        let again = strata.iter().zip(places).map(|(numbers, places)| {
            let numbers = places.iter().map(|place| numbers[*place]);
            numbers.collect()
        });
        drawn.extend(statistic(again.collect()));
    });
    let interval = percentile_interval(&mut drawn)?;
    let reach = (least / (least - 1.0)).sqrt();
    Some(interval.moved(value - reach * value, reach))
}

/// Scores with their weights, which make 1.
fn weighted(games: &[Vec<f64>]) -> Option<Vec<(f64, f64)>> {
    if games.is_empty() || games.iter().any(Vec::is_empty) {
        return None;
    }
    let weighted = games.iter().flat_map(|scores| {
        let weight = 1.0 / (games.len() * scores.len()) as f64;
        scores.iter().map(move |score| (*score, weight))
    });
    Some(weighted.collect())
}

fn middle_mean(mut weighted: Vec<(f64, f64)>) -> Option<f64> {
    weighted.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut before, mut sum) = (0.0, 0.0);
    for (score, weight) in weighted {
        let after: f64 = before + weight;
        let inside = after.min(1.0 - QUARTER) - f64::max(before, QUARTER);
        sum += score * inside.max(0.0);
        before = after;
    }
    Some(sum / (1.0 - 2.0 * QUARTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_half_counts_games_alike() {
        assert_eq!(interquartile_mean(&[vec![0.0, 1.0, 3.0, 100.0]]), Some(2.0));
        // A game of one score and one of two: the single one is the middle half.
        let unequal = [vec![5.0], vec![0.0, 100.0]];
        assert_eq!(interquartile_mean(&unequal), Some(5.0));
        assert_eq!(interquartile_mean(&[vec![1.0], vec![]]), None);
        assert_eq!(interquartile_mean(&[]), None);
    }

    #[test]
    fn games_with_few_scores_leave_no_interval() {
        let game = |from: i32, scores: i32| (from..from + scores).map(f64::from).collect();
        let few: [Vec<f64>; 2] = [game(1, 5), game(7, 4)];
        assert_eq!(interquartile_mean_interval(&few), None);
        let games: [Vec<f64>; 2] = [game(1, 6), game(7, 5)];
        let (mean, interval) = interquartile_mean_interval(&games).unwrap();
        assert!(interval.low < mean && mean < interval.high, "{interval:?}");
        assert_eq!(interquartile_mean_interval(&games), Some((mean, interval)));
    }
}
