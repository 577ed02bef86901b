//! Beauty contest: 2/3 of the average over real numbers, with everybody's choices
//! as history.
//!
//! In every round (a run, in the words of the paper) each player says a real number
//! from 0 to an upper bound, all at the same time. The bound is a whole number drawn
//! once per session. The target is `ratio` times the mean of all valid numbers. Who
//! is closest wins the prize, split equally among those who are equally close. A
//! fouling player is in neither mean nor ranking and gets nothing; a round without
//! any valid number is void. Everybody is told everybody's numbers, except with a
//! `history` of 0. For ratios below 1 the only equilibrium is that all say 0.
//!
//! Source: "Economics Arena for Large Language Models", sections 3 and 4 and
//! appendix A.1; measures from its appendices A.2 and A.3.

use std::borrow::Cow;
use std::ops::Bound;

use super::prelude::*;

mod players;

/// What can be won in a round.
const PRIZES: (Bound<f64>, Bound<f64>) =
    (Bound::Excluded(0.0), Bound::Included(LARGEST_AMOUNT as f64));

parameters! {
    /// Parameters of the game; the paper forgives no foul.
    pub struct ContestParams(players = 5, rounds = 1, foul_allowance = 0);
    hidden "players are told the bound that was drawn, not from where" {
        /// Smallest upper bound that can be drawn; the paper's groups begin at 10, 100
        /// and 1000.
        bound_min: i64 = 10, in 1..=LARGEST_AMOUNT;
        /// Largest upper bound that can be drawn; the paper's groups end at 99, 999 and
        /// 9999. Equal to `bound_min` for a fixed bound.
        bound_max: i64 = 99;
    }
    told {
        /// The target is this times the mean.
        ratio: f64 = 2.0 / 3.0, in 0.0..1.0;
        /// What is won in a round, split among those who tie.
        prize: f64 = 1.0, in PRIZES;
        /// How many past rounds a player is shown at most; with 0 none is told at all.
        history: u32 = 3;
    }
}

impl Rules for ContestParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("beauty_contest"),
        title: Name::Borrowed("Beauty Contest"),
        summary: Name::Borrowed("say a real number; closest to 2/3 of the mean wins the prize"),
        chance: true,
        source: Name::Borrowed("Economics Arena for Large Language Models, appendix A.1"),
        facts: FactNames {
            seat_lists: Cow::Borrowed(&[Name::Borrowed("winners")]),
            columns: Cow::Borrowed(&[
                (Name::Borrowed("choice"), Name::Borrowed("choices")),
                (Name::Borrowed("payoff"), Name::Borrowed("payoffs")),
            ]),
            ..FactNames::NONE
        },
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = Rounds<ContestRound>;

    fn settle(&mut self) -> Result<(), ParameterError> {
        check_within("bound_max", self.bound_max, self.bound_min..=LARGEST_AMOUNT)
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        vec![Disclosure::briefed(&[]).draws(&[BOUNDS])]
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        bounds_over(self.rounds, 0.0, self.prize)
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        let bound = chance.integer(BOUNDS, 0, self.bound_min, self.bound_max);
        log.push(self.brief(self.setup().briefing().fact("bound", bound)));
        let form = Form::Number {
            min: 0.0,
            max: bound as f64,
        };
        let ask = self.setup().ask(0, AskRole::Guess, "choice", form);
        let rules = ContestRound {
            params: Arc::clone(self),
            bound: bound as f64,
        };
        Rounds::start(rules, self.setup(), &ask, chance, log)
    }

    fn equilibrium(&self) -> Equilibrium {
        Equilibrium::exact(
            "everybody says 0",
            [("deviation", 0.0), ("rationality", 1.0)],
        )
    }

    /// What appendices A.2 and A.3 of the source measure; void rounds count for nothing
    /// but rule breaking. Per seat: `payoff`, the mean over the rounds; `equilibrium_payoff`,
    /// the prize divided by the number of players; `rationality`, the first over the
    /// second (formula 1); `wins`, the share of rounds won, ties included;
    /// `rule_breaking`, the percentage of rounds with a foul. `deviations`, one per valid
    /// number, is the number over the bound: the formula of A.3.2 divides by the
    /// equilibrium action, which is 0 here, so the distance is taken on a scale of 1.
    /// Scores `deviation` and `rationality` are the means of those. `distance` is the
    /// mean deviation of each round: the path towards the equilibrium.
    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures {
        let mut measures = Measures::default();
        rationality::rule_breaking(self.players, self.rounds, moves, |turn| turn, &mut measures);
        let briefing = log.of_kind("briefing").next();
        let bound = briefing.and_then(|event| event.number("bound"));
        let bound = bound.unwrap_or(1.0);
        measures.part("bound", bound);
        let results = rationality::results(log, self.rounds, &mut measures);
        if results.is_empty() {
            return measures;
        }
        let equilibrium = self.prize / self.players as f64;
        let equilibria = vec![equilibrium; self.players];
        rationality::payoffs(&results, "payoffs", &equilibria, &mut measures);
        rationality::actions(&results, "choices", &mut measures, |_, _, number| {
            number / bound
        });
        let means = series_of(log, "round_result", "mean");
        let distances = means.iter().map(|average| average / bound);
        measures.series("distance", distances.collect());
        let (_, deviations) = spread_of(log, "round_result", "choices");
        measures.series("mean", means);
        measures.series("sd", deviations);
        measures
    }
}

/// What a round means.
#[derive(Clone)]
pub struct ContestRound {
    params: Arc<ContestParams>,
    bound: f64,
}

impl RoundRules for ContestRound {
    fn play(&mut self, round: Round<'_>) -> Vec<f64> {
        let answers = round.answers;
        let choices: Vec<Option<f64>> = answers.iter().map(Answer::number).collect();
        let valid = || choices.iter().flatten().copied();
        let is_void = valid().next().is_none();
        let average = mean(valid());
        let target = average * self.params.ratio;
        let winners = closest(&choices, target, self.bound);
        let mut gains = vec![0.0; choices.len()];
        for seat in &winners {
            gains[*seat] = self.params.prize / winners.len() as f64;
        }
        let told = [
            ("void", is_void.into()),
            ("mean", (!is_void).then_some(average).into()),
            ("target", (!is_void).then_some(target).into()),
            ("winners", winners.into()),
            ("choices", column(choices.iter().copied())),
            ("payoffs", gains.clone().into()),
        ];
        let is_told = self.params.history > 0;
        let mut event = round_result(round.number, is_told, told);
        if is_told {
            event = event
                .own("choice", column(choices.iter().copied()))
                .own("payoff", gains.clone());
        }
        round.log.push(event);
        gains
    }
}

#[cfg(test)]
mod tests;
