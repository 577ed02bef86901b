//! Games of rounds: in every round each seat is asked the same thing at the same
//! time. Keeps the asks, the round and the payoffs; what a round means is the
//! game's own, behind [`RoundRules`]. Used by the simultaneous games only.

use crate::ask::{Action, Answer, Ask, Foul, Seat};
use crate::chance::Chance;
use crate::event::EventLog;
use crate::game::State;

/// What a round means in one game.
pub(super) trait RoundRules: Send {
    /// Tells seats what they learn before they are asked. Called once before
    /// each round; most games have nothing to tell.
    fn open(&mut self, _round: u32, _chance: &mut Chance, _log: &mut EventLog) {}

    /// As [`State::check`].
    fn check(&self, ask: &Ask, action: &Action) -> Result<(), Foul> {
        ask.form.check(action)
    }

    /// Plays a round: one answer per seat in seat order; adds to each seat's
    /// payoff and emits what happened.
    fn play(
        &mut self,
        round: u32,
        answers: &[Answer],
        payoffs: &mut [f64],
        chance: &mut Chance,
        log: &mut EventLog,
    );
}

/// The state of a game of rounds.
pub(super) struct Rounds<R> {
    rules: R,
    asks: Vec<Ask>,
    payoffs: Vec<f64>,
    round: u32,
    rounds: u32,
}

impl<R: RoundRules + 'static> Rounds<R> {
    /// Opens the first of `rounds` rounds, in which each of `players` seats is
    /// asked what `ask` asks of seat 0.
    pub(super) fn start(
        mut rules: R,
        players: usize,
        rounds: u32,
        ask: Ask,
        chance: &mut Chance,
        log: &mut EventLog,
    ) -> Box<dyn State> {
        rules.open(1, chance, log);
        let asks = (0..players)
            .map(|seat: Seat| Ask {
                seat,
                ..ask.clone()
            })
            .collect();
        let payoffs = vec![0.0; players];
        Box::new(Self {
            rules,
            asks,
            payoffs,
            round: 1,
            rounds,
        })
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
        self.rules
            .play(self.round, answers, &mut self.payoffs, chance, log);
        self.round += 1;
        if self.round > self.rounds {
            self.asks.clear();
        } else {
            self.rules.open(self.round, chance, log);
        }
    }

    fn payoffs(&self) -> Vec<f64> {
        self.payoffs.clone()
    }
}
