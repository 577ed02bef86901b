//! TrueSkill in free-for-all with ties (Herbrich, Minka, Graepel 2006, "TrueSkill: a
//! Bayesian skill rating system"): a factor graph of players in order of their places,
//! its messages passed until they settle. The parameters are those of AucArena and Harbor.

use skillratings::MultiTeamOutcome;
use skillratings::trueskill::{TrueSkillConfig, TrueSkillRating, trueskill_multi_team};

use super::{StatisticsError, all_finite, at_least, same_length};

/// Mean skill of a new player.
pub const MU: f64 = 25.0;

/// Uncertainty of a new player.
pub const SIGMA: f64 = MU / 3.0;

/// Spread of a player's performance around its skill.
pub const BETA: f64 = SIGMA / 2.0;

/// Uncertainty that every session adds.
pub const TAU: f64 = SIGMA / 100.0;

/// Probability of a draw between two equals.
pub const DRAW_PROBABILITY: f64 = 0.10;

/// What is believed of a player's skill: a normal distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// Its mean.
    pub mu: f64,
    /// Its standard deviation, above 0.
    pub sigma: f64,
}

impl Default for Rating {
    /// A player of whom nothing is known.
    fn default() -> Self {
        Self {
            mu: MU,
            sigma: SIGMA,
        }
    }
}

/// Ratings after one session, in the order of `before`, from the profit of each player:
/// the highest is first, equal ones tie.
///
/// The chain of comparisons links players in order of places, and players who tie in
/// the order in which they are listed. So the listing order of tied players has a small
/// influence, as it has in the reference; always list them in the same way.
///
/// # Errors
/// Fewer than two players; lengths differ; a number is not finite, or a sigma not above
/// 0; ratings so far apart (some 27 standard deviations) that the outcome was as good
/// as impossible.
pub fn rate(before: &[Rating], profits: &[f64]) -> Result<Vec<Rating>, StatisticsError> {
    same_length(before.len(), profits.len())?;
    at_least(2, before.len())?;
    all_finite(profits)?;
    for rating in before {
        all_finite(&[rating.mu, rating.sigma])?;
        if rating.sigma <= 0.0 {
            return Err(StatisticsError::OutOfRange);
        }
    }
    let teams: Vec<[TrueSkillRating; 1]> = before
        .iter()
        .map(|rating| [TrueSkillRating::from((rating.mu, rating.sigma))])
        .collect();
    let places = profits.iter().map(|profit| place(*profit, profits));
    let placed: Vec<(&[TrueSkillRating], MultiTeamOutcome)> = teams
        .iter()
        .zip(places)
        .map(|(team, place)| (team.as_slice(), MultiTeamOutcome::new(place)))
        .collect();
    let config = TrueSkillConfig {
        draw_probability: DRAW_PROBABILITY,
        beta: BETA,
        dynamics_factor: TAU,
    };
    // Only weights can be refused, and there are none.
    let after =
        trueskill_multi_team(&placed, &config, None).map_err(|_| StatisticsError::OutOfRange)?;
    let after: Vec<Rating> = after
        .iter()
        .flatten()
        .map(|rating| Rating {
            mu: rating.rating,
            sigma: rating.uncertainty,
        })
        .collect();
    let usable =
        |rating: &Rating| rating.mu.is_finite() && rating.sigma.is_finite() && rating.sigma > 0.0;
    let complete = after.len() == before.len() && after.iter().all(usable);
    complete.then_some(after).ok_or(StatisticsError::Overflow)
}

/// How many earned more: 0 is the first place, and equals share one.
fn place(profit: f64, profits: &[f64]) -> usize {
    profits.iter().filter(|other| **other > profit).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(players: usize) -> Vec<Rating> {
        vec![Rating::default(); players]
    }

    #[test]
    fn who_earns_more_rises_and_everyone_becomes_surer() {
        let after = rate(&fresh(3), &[100.0, 300.0, 200.0]).unwrap();
        assert!(after[1].mu > after[2].mu && after[2].mu > after[0].mu);
        assert!(after.iter().all(|rating| rating.sigma < SIGMA));
    }

    #[test]
    fn two_equals_who_tie_keep_their_mean() {
        let after = rate(&fresh(2), &[5.0, 5.0]).unwrap();
        for rating in after {
            assert!((rating.mu - MU).abs() < 1e-6, "{rating:?}");
            assert!(rating.sigma < SIGMA, "{rating:?}");
        }
    }

    #[test]
    fn all_tied_stays_near_the_start_at_any_number_of_players() {
        for players in 2..=30 {
            let after = rate(&fresh(players), &vec![0.0; players]).unwrap();
            assert_eq!(after.len(), players);
            for rating in after {
                assert!((rating.mu - MU).abs() < 0.5, "{players}: {rating:?}");
                assert!(rating.sigma < SIGMA, "{players}: {rating:?}");
            }
        }
    }

    #[test]
    fn order_of_players_changes_nothing_without_ties() {
        let before = [(20.0, 3.0), (30.0, 8.0), (25.0, 2.0), (28.0, 5.0)]
            .map(|(mu, sigma)| Rating { mu, sigma });
        let profits = [4.0, -2.0, 9.0, 0.0];
        let forwards = rate(&before, &profits).unwrap();
        let (mut turned, mut profits) = (before, profits);
        turned.reverse();
        profits.reverse();
        let mut backwards = rate(&turned, &profits).unwrap();
        backwards.reverse();
        assert_eq!(forwards, backwards);
    }

    #[test]
    fn a_long_row_of_victories_stays_finite() {
        let mut ratings = fresh(4);
        for _ in 0..2000 {
            ratings = rate(&ratings, &[3.0, 2.0, 2.0, 1.0]).unwrap();
        }
        assert!(ratings[0].mu > ratings[1].mu && ratings[2].mu > ratings[3].mu);
    }

    #[test]
    fn what_cannot_be_rated_is_refused() {
        use StatisticsError::{Lengths, NotFinite, OutOfRange, TooFew};
        assert_eq!(rate(&[], &[]), Err(TooFew { least: 2, given: 0 }));
        let one = rate(&fresh(1), &[1.0]);
        assert_eq!(one, Err(TooFew { least: 2, given: 1 }));
        let lengths = Lengths { left: 2, right: 1 };
        assert_eq!(rate(&fresh(2), &[1.0]), Err(lengths));
        assert_eq!(rate(&fresh(2), &[1.0, f64::NAN]), Err(NotFinite));
        let sure = Rating { mu: MU, sigma: 0.0 };
        assert_eq!(rate(&[sure, sure], &[1.0, 2.0]), Err(OutOfRange));
    }

    #[test]
    fn impossible_outcomes_are_errors_or_numbers() {
        for distance in (0..2000).step_by(7) {
            for profits in [[0.0, 1.0, 2.0], [1.0, 1.0, 1.0], [1.0, 0.0, 0.0]] {
                let mus = [MU + f64::from(distance), MU, MU];
                let before = mus.map(|mu| Rating { mu, sigma: 1.0 });
                match rate(&before, &profits) {
                    Ok(after) => assert!(after.iter().all(|rating| rating.mu.is_finite())),
                    Err(error) => assert_eq!(error, StatisticsError::Overflow),
                }
            }
        }
    }
}
