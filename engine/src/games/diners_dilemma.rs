//! Diner's Dilemma.
//!
//! In every round each player orders a cheap or a costly dish, all at the same
//! time, and everybody pays an equal part of the bill. A player's utility is that
//! of its own dish less its part of the bill. Players are told how many ordered
//! which dish, not who. A forfeited ask orders the cheap dish.
//!
//! Source: Huang et al., arXiv 2403.11807, section 3.1 and appendix C; the
//! authors' code for lenient answers: every word but "cheap" is the costly dish.

use super::prelude::*;

mod players;

/// The word for the cheap dish.
pub const CHEAP: &str = "cheap";

/// The word for the costly dish.
pub const COSTLY: &str = "costly";

/// What can be ordered.
const DISHES: &[Name] = &[Name::Borrowed(CHEAP), Name::Borrowed(COSTLY)];

parameters! {
    /// Parameters of the game.
    pub struct DinerParams(
        players = PLAYERS, rounds = ROUNDS, foul_allowance = FOUL_ALLOWANCE
    );
    told {
        /// What the cheap dish costs.
        cheap_cost: i64 = 10, in 0..=LARGEST_AMOUNT;
        /// What the cheap dish is worth to who eats it.
        cheap_utility: i64 = 15, in -LARGEST_AMOUNT..=LARGEST_AMOUNT;
        /// What the costly dish costs.
        costly_cost: i64 = 20, in 0..=LARGEST_AMOUNT;
        /// What the costly dish is worth to who eats it.
        costly_utility: i64 = 20, in -LARGEST_AMOUNT..=LARGEST_AMOUNT;
    }
    alike {
        /// Take any word but "cheap" for the costly dish, as the published games
        /// did; for replays.
        lenient: bool = false;
    }
}

impl DinerParams {
    /// The dish that is better whatever the others order: the costly one when
    /// its additional utility exceeds one's own part of its additional cost.
    /// Cheap when it makes no difference.
    pub fn dominant_dish(&self) -> &'static str {
        let utility = self.costly_utility - self.cheap_utility;
        let cost = self.costly_cost - self.cheap_cost;
        if utility * self.players as i64 > cost {
            COSTLY
        } else {
            CHEAP
        }
    }

    fn utility(&self, cheap: bool) -> i64 {
        if cheap {
            self.cheap_utility
        } else {
            self.costly_utility
        }
    }
}

impl Rules for DinerParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("diners_dilemma"),
        title: Name::Borrowed("Diner's Dilemma"),
        summary: Name::Borrowed("order a cheap or a costly dish; the bill is split evenly"),
        source: Name::Borrowed("gamma-Bench, arXiv 2403.11807, game 5"),
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = Rounds<Self>;

    fn settle(&mut self) -> Result<(), ParameterError> {
        let is_costlier = self.costly_cost > self.cheap_cost;
        let message = "costly_cost must be greater than cheap_cost";
        require!(is_costlier, "costly_cost", "{message}");
        Ok(())
    }

    /// The others cost least when all of them eat cheap, most when none does.
    fn payoff_bounds(&self) -> (f64, f64) {
        let others = self.players as i64 - 1;
        let after = |utility: i64, own: i64, each: i64| {
            utility as f64 - (own + others * each) as f64 / self.players as f64
        };
        let with_others = |each| {
            let cheap = after(self.cheap_utility, self.cheap_cost, each);
            (cheap, after(self.costly_utility, self.costly_cost, each))
        };
        let (worst, best) = (with_others(self.costly_cost), with_others(self.cheap_cost));
        let (low, high) = (smaller(worst.0, worst.1), larger(best.0, best.1));
        bounds_over(self.rounds, low, high)
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        log.push(self.briefing());
        let form = Form::choice(DISHES);
        let ask = self.setup().ask(0, AskRole::Choice, "dish", form);
        Rounds::start(Self::clone(self), self.setup(), &ask, chance, log)
    }

    fn equilibrium(&self) -> Equilibrium {
        let dish = self.dominant_dish();
        let cheap = if dish == CHEAP { 100.0 } else { 0.0 };
        Equilibrium::exact(
            format!("everybody orders the {dish} dish"),
            [("iclr2025", 100.0 - cheap), ("arxiv2024", cheap)],
        )
    }

    /// Scores of both schemes (arXiv 2403.11807, section 3.1 and version 1, appendix
    /// C). With S the mean share of cheap dishes: `iclr2025` is 1 - S, since the
    /// costly dish is the rational one in the published settings; `arxiv2024` is S;
    /// both times 100.
    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        let mut measures = Measures::default();
        let mut shares = series_of(log, "round_result", "cheap");
        if shares.is_empty() {
            return measures;
        }
        for share in &mut shares {
            *share /= self.players as f64;
        }
        let cheap = mean(shares.iter().copied());
        measures.score("iclr2025", (1.0 - cheap) * 100.0);
        measures.score("arxiv2024", cheap * 100.0);
        measures.part("S", cheap);
        measures.part("S_costly", 1.0 - cheap);
        let deviations = shares.iter().map(|share| share_deviation(*share));
        measures.series("sd", deviations.collect());
        measures.series("mean", shares);
        measures
    }
}

impl RoundRules for DinerParams {
    fn check(&self, ask: &Ask, action: &Action) -> Result<(), Foul> {
        match action {
            Action::Choice(_) if self.lenient => Ok(()),
            _ => ask.form.check(action),
        }
    }

    fn play(&mut self, round: Round<'_>) -> Vec<f64> {
        let answers = round.answers;
        let dish = |answer: &Answer| {
            let word = answer.choice()?;
            Some(if word == CHEAP { CHEAP } else { COSTLY })
        };
        let eats_cheap = |answer: &Answer| dish(answer) != Some(COSTLY);
        let cheap = answers.iter().filter(|answer| eats_cheap(answer)).count();
        let costly = answers.len() - cheap;
        let total_cost = cheap as i64 * self.cheap_cost + costly as i64 * self.costly_cost;
        let average_cost = total_cost as f64 / self.players as f64;
        let utilities: Vec<f64> = answers
            .iter()
            .map(|answer| self.utility(eats_cheap(answer)) as f64 - average_cost)
            .collect();
        round.log.push(
            Event::new("round_result", round.number)
                .fact("cheap", cheap)
                .fact("costly", costly)
                .fact("total_cost", total_cost)
                .fact("average_cost", average_cost)
                .own("dish", column(answers.iter().map(dish)))
                .own("utility", utilities.clone()),
        );
        utilities
    }
}

#[cfg(test)]
mod tests;
