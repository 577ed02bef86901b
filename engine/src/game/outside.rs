//! Games whose steps are computed elsewhere, by another process in any language. Such a
//! state holds what it was told last and waits: when all answers are in, whoever drives the
//! session asks the other process for the [`OutsideStep`] that they lead to and hands it in
//! ([`crate::Play::step`]). Asking is not the engine's business, which waits for nobody.

use serde::{Deserialize, Serialize};

use super::State;
use crate::ask::{Answer, Ask};
use crate::chance::{Chance, Draw};
use crate::event::{Event, EventLog};

/// What a step leads to, as plain data; so is the start of a game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideStep {
    /// What happened, in order.
    pub events: Vec<Event>,
    /// What was drawn for it, in order.
    #[serde(default)]
    pub draws: Vec<Draw>,
    /// The open asks now, as [`State::asks`] says; empty when the game has ended. Their forms
    /// are all that answers are checked by.
    pub asks: Vec<Ask>,
    /// Each seat's payoff so far.
    pub payoffs: Vec<f64>,
}

/// A state that is moved on by steps that were computed elsewhere.
#[derive(Debug, Clone)]
pub struct OutsideState {
    asks: Vec<Ask>,
    payoffs: Vec<f64>,
    next: Option<OutsideStep>,
}

impl OutsideState {
    /// The state that a game begins with.
    pub fn start(start: OutsideStep, chance: &mut Chance, log: &mut EventLog) -> Self {
        let mut state = Self {
            asks: Vec::new(),
            payoffs: Vec::new(),
            next: Some(start),
        };
        state.advance(&[], chance, log);
        state
    }
}

impl State for OutsideState {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn advance(&mut self, _answers: &[Answer], chance: &mut Chance, log: &mut EventLog) {
        // It is not called before `is_ready` says so.
        let Some(step) = self.next.take() else {
            return;
        };
        chance.drawn_elsewhere(step.draws);
        step.events.into_iter().for_each(|event| log.push(event));
        self.asks = step.asks;
        self.payoffs = step.payoffs;
    }

    fn payoffs(&self) -> Vec<f64> {
        self.payoffs.clone()
    }

    fn is_ready(&self) -> bool {
        self.next.is_some()
    }

    fn hand_in(&mut self, step: OutsideStep) {
        self.next = Some(step);
    }
}
