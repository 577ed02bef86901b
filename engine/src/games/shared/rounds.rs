//! Games of rounds: in every round each seat is asked the same thing at the same
//! time. Keeps the asks, the round and the payoffs; what a round means is the
//! game's own, behind [`RoundRules`]. Used by the simultaneous games only.

use crate::ask::{Action, Answer, Ask, Foul, Seat};
use crate::chance::Chance;
use crate::event::{Event, EventLog, Value};
use crate::game::{Setup, State};

/// What a round means in one game.
pub trait RoundRules: Clone + Send + 'static {
    /// Tells seats what they learn before they are asked. Called once before
    /// each round; most games have nothing to tell.
    fn open(&mut self, _round: u32, _chance: &mut Chance, _log: &mut EventLog) {}

    /// As [`State::check`].
    fn check(&self, ask: &Ask, action: &Action) -> Result<(), Foul> {
        ask.form.check(action)
    }

    /// Whether a seat has been put out of the game; it is asked no more.
    fn is_out(&self, _seat: Seat) -> bool {
        false
    }

    /// Plays a round and emits what happened; what each seat gains by it.
    fn play(&mut self, round: Round<'_>) -> Vec<f64>;
}

/// A round in which everybody has answered.
pub struct Round<'a> {
    /// Which one, from 1.
    pub number: u32,
    /// The seats that were asked, in order: all that are not out.
    pub asks: &'a [Ask],
    /// One answer per ask.
    pub answers: &'a [Answer],
    pub chance: &'a mut Chance,
    pub log: &'a mut EventLog,
}

/// The state of a game of rounds.
#[derive(Clone)]
pub struct Rounds<R> {
    rules: R,
    asks: Vec<Ask>,
    payoffs: Vec<f64>,
    round: u32,
    rounds: u32,
}

impl<R: RoundRules> Rounds<R> {
    /// Opens the first round of a setup with rounds, in which every seat is asked what
    /// `ask` asks of seat 0.
    pub fn start(
        mut rules: R,
        setup: Setup,
        ask: &Ask,
        chance: &mut Chance,
        log: &mut EventLog,
    ) -> Self {
        rules.open(1, chance, log);
        let asks = (0..setup.players).map(|seat: Seat| Ask {
            seat,
            ..ask.clone()
        });
        Self {
            rules,
            asks: asks.collect(),
            payoffs: vec![0.0; setup.players],
            round: 1,
            rounds: setup.rounds.unwrap_or(1),
        }
    }
}

impl<R: RoundRules> State for Rounds<R> {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn check(&self, ask: &Ask, action: &Action) -> Result<(), Foul> {
        self.rules.check(ask, action)
    }

    fn advance(&mut self, answers: &[Answer], chance: &mut Chance, log: &mut EventLog) {
        let gains = self.rules.play(Round {
            number: self.round,
            asks: &self.asks,
            answers,
            chance,
            log,
        });
        for (payoff, gain) in self.payoffs.iter_mut().zip(gains) {
            *payoff += gain;
        }
        self.asks.retain(|ask| !self.rules.is_out(ask.seat));
        self.round += 1;
        if self.round > self.rounds {
            self.asks.clear();
        } else if !self.asks.is_empty() {
            self.rules.open(self.round, chance, log);
        }
    }

    fn payoffs(&self) -> Vec<f64> {
        self.payoffs.clone()
    }
}

/// The result of a round, with facts for everybody, or for the record alone where
/// nobody `is_told`.
pub fn round_result(
    round: u32,
    is_told: bool,
    facts: impl IntoIterator<Item = (&'static str, Value)>,
) -> Event {
    let add = if is_told { Event::fact } else { Event::hidden };
    let told = |event, (name, value)| add(event, name, value);
    facts
        .into_iter()
        .fold(Event::new("round_result", round), told)
}

/// How far sums of rounded numbers may stray from the product that bounds them.
const SUM_SLACK: f64 = 1e-9;

/// The bounds of a payoff that has these bounds in every round.
pub fn bounds_over(rounds: u32, low: f64, high: f64) -> (f64, f64) {
    let (low, high) = (low * f64::from(rounds), high * f64::from(rounds));
    (low - low.abs() * SUM_SLACK, high + high.abs() * SUM_SLACK)
}
