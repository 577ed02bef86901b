//! Divide the Dollar.
//!
//! In every round each player says how much of `golds` gold it wants, all at the
//! same time. If the bids together are at most `golds`, everybody gets its own
//! bid; otherwise nobody gets anything. Players are told the sum of the bids and
//! what they received, not the others' bids. A forfeited ask counts as a bid of 0.
//!
//! Source: Huang et al., arXiv 2403.11807, section 3.1 and appendix C.

use super::prelude::*;

mod players;

parameters! {
    /// Parameters of the game.
    pub struct DollarParams(
        players = PLAYERS, rounds = ROUNDS, foul_allowance = FOUL_ALLOWANCE
    );
    told {
        /// Gold to divide in each round.
        golds: i64 = 100, in 1..=LARGEST_AMOUNT;
    }
    alike {
        /// Accept any whole number as a bid, as the published games did; for replays.
        lenient: bool = false;
    }
}

impl DollarParams {
    /// A seat's even share; the first seats get what does not divide.
    pub fn even_share(&self, seat: Seat) -> i64 {
        let players = self.players as i64;
        self.golds / players + i64::from((seat as i64) < self.golds % players)
    }
}

impl Rules for DollarParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("divide_dollar"),
        title: Name::Borrowed("Divide the Dollar"),
        summary: Name::Borrowed("say how much you want; all get nothing when the sum is too high"),
        source: Name::Borrowed("gamma-Bench, arXiv 2403.11807, game 3"),
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = Rounds<Self>;

    fn payoff_bounds(&self) -> (f64, f64) {
        bounds_over(self.rounds, 0.0, self.golds as f64)
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        log.push(self.briefing());
        let form = Form::integer_unless(self.lenient, 0, self.golds);
        let ask = self.setup().ask(0, AskRole::Bid, "bid", form);
        Rounds::start(Self::clone(self), self.setup(), &ask, chance, log)
    }

    /// Every list of bids that adds up to the gold is an equilibrium: who asks
    /// for less gets less, who asks for more gets nothing. The even one is what
    /// players can find without talking.
    fn equilibrium(&self) -> Equilibrium {
        Equilibrium::exact(
            "everybody bids an even share of the gold",
            [("iclr2025", 100.0), ("arxiv2024", 100.0)],
        )
    }

    /// Scores of both schemes (arXiv 2403.11807, section 3.1 and version 1, appendix
    /// C). With g = golds / players, S = mean |sum / players - g| and S_total =
    /// mean |sum - golds|: `iclr2025` is (g - S) / g, not below 0; `arxiv2024` is
    /// (golds - S_total) / golds, which may be; both times 100.
    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        let mut measures = Measures::default();
        let totals = series_of(log, "round_result", "total");
        if totals.is_empty() {
            return measures;
        }
        let (players, golds) = (self.players as f64, self.golds as f64);
        let share = golds / players;
        let apart = mean(totals.iter().map(|sum| (sum / players - share).abs()));
        let apart_total = mean(totals.iter().map(|sum| (sum - golds).abs()));
        measures.score("iclr2025", larger((share - apart) / share * 100.0, 0.0));
        measures.score("arxiv2024", (golds - apart_total) / golds * 100.0);
        measures.part("S", apart);
        measures.part("S_total", apart_total);
        let (means, deviations) = spread_of(log, "round_result", "bid");
        measures.series("total", totals);
        measures.series("mean", means);
        measures.series("sd", deviations);
        measures
    }
}

impl RoundRules for DollarParams {
    fn play(&mut self, round: Round<'_>) -> Vec<f64> {
        let answers = round.answers;
        let bids = || answers.iter().map(Answer::integer);
        let sum = total(bids().flatten());
        let exceeded = sum > self.golds;
        let received: Vec<i64> = bids()
            .map(|bid| if exceeded { 0 } else { bid.unwrap_or(0) })
            .collect();
        let gains = received.iter().map(|received| *received as f64).collect();
        round.log.push(
            Event::new("round_result", round.number)
                .fact("total", sum)
                .fact("exceeded", exceeded)
                .own("bid", column(bids()))
                .own("received", received),
        );
        gains
    }
}

#[cfg(test)]
mod tests;
