//! A game that is played elsewhere as the conformance kit needs it: its states ask their process at
//! every step and wait. What goes wrong on the way is kept for whoever checks a property, because a
//! state cannot fail. Never part of a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agon_engine::game::{Blueprint, Equilibrium, GameInfo};
use agon_engine::outside_game::{Description, OutsideState};
use agon_engine::rule_player::{Made, StrategyInfo, StrategySettings};
use agon_engine::spec::Settings;
use agon_engine::{
    Answer, Ask, Built, Chance, Disclosure, EventLog, Game, Luck, Measures, Move, OutsideReply,
    ParameterError, Registration, Seat, State,
};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::runtime::Handle;

use crate::client::GameClient;
use crate::history::{Beginning, Given, History, given};
use crate::wire::{Step, StepReply};

/// The luck with which parameters are tried.
const TRIED: Luck = Luck::new(1, 0);

/// A game under test.
#[derive(Clone)]
pub struct TestedGame {
    client: GameClient,
    handle: Handle,
    fault: Arc<Mutex<Option<String>>>,
    steps: Arc<AtomicU64>,
}

impl TestedGame {
    /// The game of a process. Its states are used on threads that may wait for `handle`.
    pub fn new(client: GameClient, handle: Handle) -> Self {
        Self {
            client,
            handle,
            fault: Arc::default(),
            steps: Arc::default(),
        }
    }

    /// Its entry among games.
    pub fn registration(&self) -> Registration {
        let info = self.description().info();
        Registration::new(info, Arc::new(self.clone()))
    }

    /// What it says of itself.
    pub fn description(&self) -> &Arc<Description> {
        self.client.description()
    }

    /// What went wrong since it was last asked.
    pub fn take_fault(&self) -> Option<String> {
        self.fault.lock().take()
    }

    /// Steps that were asked for.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// A play that has not begun.
    pub fn history(&self, params: &Settings, seats: usize, luck: Luck) -> History {
        History::new(&Beginning {
            session: "conformance",
            rules_version: self.description().rules_version,
            params,
            seats,
            luck,
        })
    }

    /// Asks for one step, by itself.
    ///
    /// # Errors
    /// There is no answer.
    pub fn ask(&self, step: Step) -> Result<StepReply, String> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let asked = self.handle.block_on(self.client.step(step));
        asked.map_err(|error| error.to_string())
    }

    /// As [`Self::told`], of several plays at once.
    ///
    /// # Errors
    /// There is no answer to one of them.
    pub fn told_together<'a>(
        &self,
        plays: impl Iterator<Item = (&'a History, Option<&'a Given>)>,
    ) -> Result<Vec<StepReply>, String> {
        let told = plays.map(|(history, given)| {
            self.steps.fetch_add(1, Ordering::Relaxed);
            history.ask(&self.client, given)
        });
        let told = self
            .handle
            .block_on(futures_util::future::try_join_all(told));
        told.map_err(|error| error.to_string())
    }

    /// Asks for a ruling.
    fn ruling(&self, history: &History, given: Option<&Given>) -> Result<OutsideReply, String> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let ruled = self.handle.block_on(history.ruling(&self.client, given));
        ruled.map_err(|error| error.to_string())
    }

    /// What is said of a turn, told whole where the play is not remembered.
    ///
    /// # Errors
    /// There is no answer.
    pub fn told(&self, history: &History, given: Option<&Given>) -> Result<StepReply, String> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let told = self.handle.block_on(history.ask(&self.client, given));
        told.map_err(|error| error.to_string())
    }

    fn keep_fault(&self, why: String) {
        self.fault.lock().get_or_insert(why);
    }
}

impl Blueprint for TestedGame {
    fn strategies(&self) -> Vec<StrategyInfo> {
        self.description().strategies()
    }

    /// Parameters that the process itself refuses make no game.
    fn build(&self, settings: &Settings) -> Result<Built, ParameterError> {
        let Built { game, params } = self.description().build(settings)?;
        let tried = self.history(&params, game.seats(), TRIED).step(None);
        let wrong = |why: String| Err(ParameterError::new("", why));
        match self.ask(tried) {
            Ok(StepReply {
                error: Some(why), ..
            })
            | Err(why) => wrong(why),
            Ok(_) => {
                let tested = self.clone();
                let table = Table {
                    game,
                    tested,
                    params: params.clone(),
                };
                Ok(Built {
                    game: Arc::new(table),
                    params,
                })
            }
        }
    }

    fn schema(&self) -> Value {
        self.description().schema()
    }
}

/// The game with parameters.
struct Table {
    game: Arc<dyn Game>,
    tested: TestedGame,
    params: Settings,
}

impl Game for Table {
    fn info(&self) -> &GameInfo {
        self.game.info()
    }

    fn seats(&self) -> usize {
        self.game.seats()
    }

    fn asks_per_seat(&self) -> u32 {
        self.game.asks_per_seat()
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        self.game.payoff_bounds()
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        self.game.disclosures()
    }

    fn start(&self, chance: &mut Chance, log: &mut EventLog) -> Box<dyn State> {
        let seats = self.seats();
        let history = self.tested.history(&self.params, seats, TRIED);
        let mut state = AskingState {
            tested: self.tested.clone(),
            history: history.with_key(chance.key_in_hexadecimal()),
            inner: OutsideState::awaiting(seats, self.asks_per_seat()),
        };
        state.go_on(&[], chance, log);
        Box::new(state)
    }

    fn strategies(&self) -> Vec<StrategyInfo> {
        self.game.strategies()
    }

    fn rule_player(&self, strategy: &str, settings: &StrategySettings, seat: Seat) -> Made {
        self.game.rule_player(strategy, settings, seat)
    }

    fn equilibrium(&self) -> Equilibrium {
        self.game.equilibrium()
    }

    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures {
        self.game.measures(log, moves)
    }
}

/// A state that asks its process.
struct AskingState {
    tested: TestedGame,
    history: History,
    inner: OutsideState,
}

impl Clone for AskingState {
    /// The process is told the clone's whole history when it is asked next.
    fn clone(&self) -> Self {
        Self {
            tested: self.tested.clone(),
            history: self.history.as_another_play(),
            inner: self.inner.clone(),
        }
    }
}

impl AskingState {
    fn go_on(&mut self, answers: &[Answer], chance: &mut Chance, log: &mut EventLog) {
        let taken = self.ruling(answers).and_then(|reply| {
            self.inner.hand_in(reply)?;
            Ok(())
        });
        match taken {
            Ok(()) => self.inner.advance(answers, chance, log),
            Err(why) => {
                self.tested.keep_fault(why);
                self.inner = OutsideState::ended(self.inner.payoffs().len());
            }
        }
    }

    /// What answers lead to. Answers that the process refuses are forfeited, as if their seats
    /// had run out of patience.
    fn ruling(&mut self, answers: &[Answer]) -> Result<OutsideReply, String> {
        let mut answers = answers.to_vec();
        // Each refusal forfeits at least one answer more.
        for _ in 0..=answers.len() {
            let given = (!answers.is_empty()).then(|| given(answers.iter().cloned()));
            let reply = self.tested.ruling(&self.history, given.as_ref())?;
            if reply.refused.is_empty() {
                self.history.push(given);
                return Ok(reply);
            }
            let asks = self.inner.asks();
            for refusal in &reply.refused {
                let place = asks.iter().position(|ask| ask.seat == refusal.seat);
                let given = place.and_then(|place| answers.get_mut(place));
                match given {
                    Some(answer @ Answer::Given(_)) => *answer = Answer::Forfeited,
                    _ => {
                        let seat = refusal.seat;
                        return Err(format!("seat {seat} has no answer that could be refused"));
                    }
                }
            }
        }
        Err("it refuses forfeited answers".to_owned())
    }
}

impl State for AskingState {
    fn asks(&self) -> &[Ask] {
        self.inner.asks()
    }

    fn advance(&mut self, answers: &[Answer], chance: &mut Chance, log: &mut EventLog) {
        self.go_on(answers, chance, log);
    }

    fn payoffs(&self) -> Vec<f64> {
        self.inner.payoffs()
    }

    fn measures(&self) -> Option<Measures> {
        self.inner.measures()
    }
}
