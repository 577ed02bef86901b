//! Guessing 0.8 of the average, with health to lose: a beauty contest in which who
//! keeps losing is out.
//!
//! Everybody begins with `health`. In every round all players who have health left
//! choose a whole number from `min` to `max` at once. The target is `ratio` times the
//! mean of the numbers of this round. Who is closest wins, and so does everybody who
//! is equally close, on either side of the target. Winners lose nothing, all others
//! lose `loss` health. When several numbers were given and all are the same, nobody
//! wins; one that is alone wins. A forfeited ask is in neither mean nor ranking, and
//! loses health. Whose health is used up is out of the rounds that follow. All
//! choices, the mean, the target, the winners and everybody's health are told to those
//! who played the round. The game ends after the last round, or when nobody is left. A
//! payoff is the number of rounds won, since win rates are what the source compares.
//!
//! Source: Zhang et al., arXiv 2402.01521, section 3.1.1 and appendix B.1; measures
//! from its appendix C.

use std::borrow::Cow;

use super::prelude::*;

mod players;
mod scores;
mod state;

pub use state::SurvivalRound;

/// Most health: sums over rounds stay far from the end of the numbers.
const MOST_HEALTH: i64 = 1_000_000;

parameters! {
    /// Parameters of the game.
    pub struct SurvivalParams(players = 5, rounds = 10, foul_allowance = FOUL_ALLOWANCE);
    told {
        /// Smallest number. Below 0 a ratio would pull away from it.
        min: i64 = 1, in 0..=LARGEST_AMOUNT;
        /// Largest number.
        max: i64 = 100, in 0..=LARGEST_AMOUNT;
        /// The target is this times the mean. From 1 on, saying the smallest number would be
        /// no equilibrium.
        ratio: f64 = 0.8, in 0.0..1.0;
        /// Health at the beginning.
        health: i64 = 10, in 1..=MOST_HEALTH;
        /// Health that a round costs who does not win it.
        loss: i64 = 1, in 0..=MOST_HEALTH;
    }
}

impl Rules for SurvivalParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("guess_to_survive"),
        title: Name::Borrowed("Guessing 0.8 of the Average"),
        summary: Name::Borrowed(
            "choose a number; whoever is not closest to 0.8 of the mean loses health",
        ),
        source: Name::Borrowed("K-level reasoning, arXiv 2402.01521"),
        facts: FactNames {
            in_play: Some(Name::Borrowed("living")),
            seat_names: None,
            seat_lists: Cow::Borrowed(&[Name::Borrowed("winners"), Name::Borrowed("eliminated")]),
            columns: Cow::Borrowed(&[(Name::Borrowed("choice"), Name::Borrowed("choices"))]),
            flags: Cow::Borrowed(&[(Name::Borrowed("won"), Name::Borrowed("winners"))]),
        },
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = Rounds<SurvivalRound>;

    fn settle(&mut self) -> Result<(), ParameterError> {
        check_max(self.min, self.max)
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        (0.0, f64::from(self.rounds))
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        log.push(self.briefing());
        let form = Form::integer(self.min, self.max);
        let ask = self.setup().ask(0, AskRole::Guess, "choice", form);
        let rules = SurvivalRound {
            params: Arc::clone(self),
            health: vec![self.health; self.players],
        };
        Rounds::start(rules, self.setup(), &ask, chance, log)
    }

    /// Nobody can win alone by a larger number: the target is at most `ratio` times
    /// the midpoint between that number and the others'. It is where iterated best
    /// replies lead, not the only equilibrium: who loses anyway may say anything.
    fn equilibrium(&self) -> Equilibrium {
        let SurvivalParams {
            min, health, loss, ..
        } = *self;
        let outlived = health > loss * i64::from(self.rounds);
        Equilibrium::exact(
            format!("everybody says {min}, so that nobody wins"),
            [
                ("deviation", 0.0),
                ("win_rate", 0.0),
                ("survival", if outlived { 100.0 } else { 0.0 }),
            ],
        )
    }

    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures {
        scores::measures(self, log, moves)
    }
}

#[cfg(test)]
mod tests;
