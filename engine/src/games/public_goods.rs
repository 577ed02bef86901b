//! Public Goods.
//!
//! In every round each player gets `tokens` fresh tokens and says how many of
//! them it puts into a common pot, all at the same time. The pot is multiplied by
//! `ratio` and shared out evenly; what was not put in is kept. Everybody is told
//! what everybody put in and holds afterwards. A forfeited ask puts in nothing.
//!
//! Source: Huang et al., arXiv 2403.11807, section 3.1 and appendix C; the
//! authors' code for the rounding to hundredths of what players are told.

use super::prelude::*;

mod players;

parameters! {
    /// Parameters of the game.
    pub struct GoodsParams(
        players = PLAYERS, rounds = ROUNDS, foul_allowance = FOUL_ALLOWANCE
    );
    told {
        /// Tokens that each player gets in each round.
        tokens: i64 = 20, in 1..=LARGEST_AMOUNT;
        /// The pot is multiplied by this.
        ratio: f64 = 2.0, in 0.0..=LARGEST_RATIO;
    }
    alike {
        /// Accept any whole number as a contribution, as the published games did;
        /// for replays.
        lenient: bool = false;
    }
}

impl GoodsParams {
    /// What a player who counts only its own tokens puts in: a token comes back
    /// as ratio / players of one, so everything when that is more than a token,
    /// and nothing otherwise (also when it is all the same).
    pub fn equilibrium_contribution(&self) -> i64 {
        if self.ratio > self.players as f64 {
            self.tokens
        } else {
            0
        }
    }
}

impl Rules for GoodsParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("public_goods"),
        title: Name::Borrowed("Public Goods"),
        summary: Name::Borrowed("put tokens into a pot that is multiplied and shared evenly"),
        hidden_information: false,
        source: Name::Borrowed("gamma-Bench, arXiv 2403.11807, game 4"),
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = Rounds<Self>;

    /// Own contributions count ratio / players, the others' as much: the ends
    /// are all or nothing from oneself, with nothing or all from the others.
    fn payoff_bounds(&self) -> (f64, f64) {
        let (tokens, players) = (self.tokens as f64, self.players as f64);
        let returned = self.ratio * tokens / players;
        let low = smaller(tokens, returned);
        let high = larger(tokens + returned * (players - 1.0), returned * players);
        bounds_over(self.rounds, hundredths(low), hundredths(high))
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        log.push(self.briefing());
        let form = Form::integer_unless(self.lenient, 0, self.tokens);
        let ask = self
            .setup()
            .ask(0, AskRole::Contribution, "contribution", form);
        Rounds::start(Self::clone(self), self.setup(), &ask, chance, log)
    }

    fn equilibrium(&self) -> Equilibrium {
        let contribution = self.equilibrium_contribution();
        let (new, old) = scores(self, contribution as f64);
        Equilibrium::exact(
            format!("everybody puts in {contribution}"),
            [("iclr2025", new), ("arxiv2024", old)],
        )
    }

    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        let mut measures = Measures::default();
        let (means, deviations) = spread_of(log, "round_result", "contributions");
        if means.is_empty() {
            return measures;
        }
        let average = mean(means.iter().copied());
        let (new, old) = scores(self, average);
        measures.score("iclr2025", new);
        measures.score("arxiv2024", old);
        measures.part("S", average);
        measures.series(
            "returns",
            means.iter().map(|given| self.ratio * given).collect(),
        );
        measures.series("mean", means);
        measures.series("sd", deviations);
        measures
    }
}

impl RoundRules for GoodsParams {
    fn play(&mut self, round: Round<'_>) -> Vec<f64> {
        let answers = round.answers;
        let given: Vec<i64> = answers
            .iter()
            .map(|answer| answer.integer().unwrap_or(0))
            .collect();
        let pot = self.ratio * total(given.iter().copied()) as f64;
        let returned = pot / self.players as f64;
        let kept: Vec<i64> = given
            .iter()
            .map(|own| self.tokens.saturating_sub(*own))
            .collect();
        let held: Vec<f64> = kept
            .iter()
            .map(|kept| hundredths(*kept as f64 + returned))
            .collect();
        let gain: Vec<f64> = given
            .iter()
            .map(|own| hundredths(returned - *own as f64))
            .collect();
        round.log.push(
            Event::new("round_result", round.number)
                .fact("contributions", given)
                .fact("pot", pot)
                .fact("tokens_after", held.clone())
                .own("contribution", column(answers.iter().map(Answer::integer)))
                .own("gain", gain)
                .hidden("kept", kept),
        );
        held
    }
}

/// How near a third decimal must be to a 5 before it is looked at exactly.
const NEAR_TIE: f64 = 1e-4;

/// Up to here the error of a multiplication by 100 is far below [`NEAR_TIE`].
const EXACT_HUNDREDTHS: f64 = 1e10;

/// The number rounded to hundredths as the published games rounded it: by its
/// exact binary value, which decides what looks like a tie in decimals.
fn hundredths(number: f64) -> f64 {
    let scaled = number * 100.0;
    let far_from_tie = (scaled.fract().abs() - 0.5).abs() > NEAR_TIE;
    let rounded = if far_from_tie && scaled.abs() < EXACT_HUNDREDTHS {
        scaled.round() / 100.0
    } else {
        format!("{number:.2}").parse().unwrap_or(number)
    };
    // No record says "-0.0".
    rounded + 0.0
}

/// Scores of both schemes from S = mean(round's contributions / players)
/// (arXiv 2403.11807, section 3.1 and version 1, appendix C): `iclr2025` is
/// (tokens - S) / tokens for every ratio; `arxiv2024` is that for ratios up to 1
/// and S / tokens above; both times 100.
fn scores(params: &GoodsParams, average: f64) -> (f64, f64) {
    let tokens = params.tokens as f64;
    let new = (tokens - average) / tokens * 100.0;
    let old = if params.ratio <= 1.0 {
        new
    } else {
        average / tokens * 100.0
    };
    (new, old)
}

#[cfg(test)]
mod tests;
