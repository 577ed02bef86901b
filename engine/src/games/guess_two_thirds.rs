//! Guess 2/3 of the average.
//!
//! In every round each player says a whole number from `min` to `max`, all at
//! the same time. The target is `ratio` times the mean of the numbers. Who is
//! closest wins the round's prize of 1, split among all who said a winning
//! number. Players are told the mean, the target and the winning number, not the
//! others' numbers. A forfeited ask sits the round out: it is not in the mean.
//!
//! Source: Huang et al., arXiv 2403.11807, section 3.1 and appendix C; the
//! authors' code for the tie rule `first`.

use super::prelude::*;

mod players;

/// Distances closer than this are the same distance, as are those closer than [`SAME_SHARE`] of the
/// target; numbers are whole and ratios are short fractions, so real differences are far larger.
const SAME_DISTANCE: f64 = 1e-9;

/// What wide ranges lose by the rounding of the target.
const SAME_SHARE: f64 = 1e-12;

parameters! {
    /// Parameters of the game.
    pub struct GuessParams(
        players = PLAYERS, rounds = ROUNDS, foul_allowance = FOUL_ALLOWANCE
    );
    told {
        /// Smallest number that may be said. Below 0 a ratio would pull away from it.
        min: i64 = 0, in 0..=LARGEST_AMOUNT;
        /// Largest number that may be said.
        max: i64 = 100, in 0..=LARGEST_AMOUNT;
        /// The target is this times the mean.
        ratio: f64 = 2.0 / 3.0, in 0.0..=LARGEST_RATIO;
    }
    alike {
        /// Who wins when two different numbers are equally close.
        tie: Tie = Tie::All;
        /// Accept any whole number, as the published games did; for replays.
        lenient: bool = false;
    }
}

/// Who wins when two different numbers are equally close to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tie {
    /// Everybody who said either.
    All,
    /// Everybody who said the one that comes first in seat order, as in the
    /// authors' code.
    First,
}

impl GuessParams {
    /// Where iterated best replies lead: the lower end for ratios below 1, the
    /// upper end above 1; at 1 every common number is an equilibrium and the
    /// middle is the one that the newer score scheme rewards.
    pub fn equilibrium_number(&self) -> i64 {
        if self.ratio < 1.0 {
            self.min
        } else if self.ratio > 1.0 {
            self.max
        } else {
            i64::midpoint(self.min, self.max)
        }
    }
}

impl Rules for GuessParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("guess_two_thirds"),
        title: Name::Borrowed("Guess 2/3 of the Average"),
        summary: Name::Borrowed("say a number; closest to a ratio of the mean wins"),
        source: Name::Borrowed("gamma-Bench, arXiv 2403.11807, game 1"),
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = Rounds<Self>;

    fn settle(&mut self) -> Result<(), ParameterError> {
        check_max(self.min, self.max)
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        (0.0, f64::from(self.rounds))
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        log.push(self.briefing());
        let form = Form::integer_unless(self.lenient, self.min, self.max);
        let ask = self.setup().ask(0, AskRole::Guess, "guess", form);
        Rounds::start(Self::clone(self), self.setup(), &ask, chance, log)
    }

    /// With everybody at one number the score formulas of [`Self::measures`] are
    /// 100 only where the range starts at 0; a range above 0 shifts them.
    fn equilibrium(&self) -> Equilibrium {
        let number = self.equilibrium_number();
        let (new, old) = scores(self, (number - self.min) as f64, number as f64);
        let exact = |scheme, value: f64| {
            let tolerance = ExpectedScore::EXACT * larger(value.abs(), 1.0);
            ExpectedScore::within(scheme, value, tolerance)
        };
        Equilibrium {
            play: format!("everybody says {number}"),
            scores: vec![exact("iclr2025", new), exact("arxiv2024", old)],
        }
    }

    /// The scores of [`scores`]. Rounds in which nobody said a number count for nothing;
    /// without any other there is no score.
    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        let mut measures = Measures::default();
        let round_means = series_of(log, "round_result", "mean");
        if round_means.is_empty() {
            return measures;
        }
        let offset = mean(round_means.iter().map(|round| round - self.min as f64));
        let plain = mean(round_means.iter().copied());
        let (new, old) = scores(self, offset, plain);
        measures.score("iclr2025", new);
        measures.score("arxiv2024", old);
        measures.part("S", offset);
        measures.part("S_mean", plain);
        let (_, deviations) = spread_of(log, "round_result", "number");
        measures.series("mean", round_means);
        measures.series("sd", deviations);
        measures
    }
}

impl RoundRules for GuessParams {
    fn play(&mut self, round: Round<'_>) -> Vec<f64> {
        let answers = round.answers;
        let said = || answers.iter().filter_map(Answer::integer);
        let known = said().next().is_some();
        let average = mean(said().map(|number| number as f64));
        let target = average * self.ratio;
        let winning = winning_numbers(said(), target, self.tie);
        let won: Vec<bool> = answers
            .iter()
            .map(|answer| {
                answer
                    .integer()
                    .is_some_and(|number| winning.contains(&number))
            })
            .collect();
        let winners = won.iter().filter(|won| **won).count();
        let share = |won: &bool| if *won { 1.0 / winners as f64 } else { 0.0 };
        let gains = won.iter().map(share).collect();
        round.log.push(
            Event::new("round_result", round.number)
                .fact("mean", known.then_some(average))
                .fact("target", known.then_some(target))
                .fact("winning_numbers", winning)
                .fact("winners", winners)
                .own("number", column(answers.iter().map(Answer::integer)))
                .own("won", won),
        );
        gains
    }
}

/// Scores of both schemes (arXiv 2403.11807, section 3.1 and version 1, appendix C). With
/// S = mean(round mean - min), M = mean(round mean), D = max - min: `iclr2025` is
/// (max-S)/D, 1-|2S-D|/D or S/D for ratios below, at and above 1; `arxiv2024` is
/// (max-M)/D, |2M-D|/D or M/D; both times 100.
fn scores(params: &GuessParams, offset: f64, plain: f64) -> (f64, f64) {
    let (max, width) = (params.max as f64, (params.max - params.min) as f64);
    let (new, old) = if params.ratio < 1.0 {
        ((max - offset) / width, (max - plain) / width)
    } else if params.ratio > 1.0 {
        (offset / width, plain / width)
    } else {
        let new = 1.0 - (2.0 * offset - width).abs() / width;
        (new, (2.0 * plain - width).abs() / width)
    };
    (new * 100.0, old * 100.0)
}

/// The different numbers closest to the target, in seat order; only the first
/// of them under [`Tie::First`].
fn winning_numbers(numbers: impl Iterator<Item = i64>, target: f64, tie: Tie) -> Vec<i64> {
    let same = larger(SAME_DISTANCE, target.abs() * SAME_SHARE);
    let mut closest = f64::INFINITY;
    let mut winning = Vec::new();
    for number in numbers {
        let distance = (number as f64 - target).abs();
        if distance < closest - same {
            closest = distance;
            winning.clear();
            winning.push(number);
        } else if tie == Tie::All && distance <= closest + same && !winning.contains(&number) {
            winning.push(number);
        }
    }
    winning
}

#[cfg(test)]
mod tests;
