//! One number over several games with a few scores each (Agarwal et al. 2021, "Deep reinforcement
//! learning at the edge of the statistical precipice", arXiv 2108.13264): the interquartile mean, which
//! single sessions that went very well or badly do not move, performance profiles, and the chance that
//! one player is better than another. Each game counts the same, however many scores it has.

use super::Interval;
use super::bootstrap::{DRAWS, draw_again, percentile_interval};
use super::effect::superiority;

/// What is left out on either side of the interquartile mean.
const QUARTER: f64 = 0.25;

/// The mean of the middle half of all scores; `None` where a game has none, and without a game.
pub fn interquartile_mean(games: &[Vec<f64>]) -> Option<f64> {
    middle_mean(weighted(games)?)
}

/// The same with its 95 % interval over scores that are drawn again within each game.
///
/// The interval reaches as much farther as a set drawn again spreads less than one drawn anew:
/// `sqrt(n / (n - 1))` of the smallest n. `None` too where a game has a single score.
pub fn interquartile_mean_interval(games: &[Vec<f64>]) -> Option<(f64, Interval)> {
    let mean = interquartile_mean(games)?;
    let least = games
        .iter()
        .map(Vec::len)
        .min()
        .filter(|least| *least > 1)? as f64;
    let sizes: Vec<usize> = games.iter().map(Vec::len).collect();
    let mut drawn = Vec::with_capacity(DRAWS);
    draw_again(&sizes, DRAWS, |places| {
        let again = games.iter().zip(places);
        let again =
            again.map(|(scores, places)| places.iter().map(|place| scores[*place]).collect());
        let again: Vec<Vec<f64>> = again.collect();
        drawn.extend(interquartile_mean(&again));
    });
    let interval = percentile_interval(&mut drawn)?;
    let reach = (least / (least - 1.0)).sqrt();
    Some((mean, interval.moved(mean - reach * mean, reach)))
}

/// The share of scores above each threshold, the mean over games; `None` where a game has none.
pub fn performance_profile(games: &[Vec<f64>], thresholds: &[f64]) -> Option<Vec<f64>> {
    let weighted = weighted(games)?;
    let above = |threshold: &f64| {
        let above = weighted.iter().filter(|(score, _)| score > threshold);
        above.map(|(_, weight)| weight).sum()
    };
    Some(thresholds.iter().map(above).collect())
}

/// The chance that a score of `a` is above one of `b` in the same game, equal ones counted half: the
/// mean over games; `None` where either has none of a game.
pub fn mean_superiority(games: &[(Vec<f64>, Vec<f64>)]) -> Option<f64> {
    let chances = games.iter().map(|(a, b)| superiority(a, b));
    let sum = chances.sum::<Option<f64>>()?;
    (!games.is_empty()).then(|| sum / games.len() as f64)
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
    fn a_game_with_one_score_leaves_no_interval() {
        assert_eq!(
            interquartile_mean_interval(&[vec![1.0], vec![1.0, 2.0]]),
            None
        );
        let games = [vec![1.0, 2.0, 3.0], vec![5.0, 5.5]];
        let (mean, interval) = interquartile_mean_interval(&games).unwrap();
        assert!(interval.low < mean && mean < interval.high, "{interval:?}");
        assert_eq!(interquartile_mean_interval(&games), Some((mean, interval)));
    }
}
