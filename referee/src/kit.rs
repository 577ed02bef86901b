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
use crate::remote::new_play;
use crate::wire::{Start, Step, StepReply, WireAnswer, WireLuck};

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

    /// The start of a session.
    pub fn start(&self, params: &Settings, seats: usize, luck: Luck) -> Arc<Start> {
        Arc::new(Start {
            params: params.clone(),
            seats,
            luck: WireLuck::of(luck),
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

    /// Asks for several steps at once.
    ///
    /// # Errors
    /// There is no answer to one of them.
    pub fn ask_together(&self, steps: Vec<Step>) -> Result<Vec<StepReply>, String> {
        self.steps.fetch_add(steps.len() as u64, Ordering::Relaxed);
        let asked = steps.into_iter().map(|step| self.client.step(step));
        let answered = self.handle.block_on(futures_util::future::join_all(asked));
        let answered: Result<Vec<StepReply>, _> = answered.into_iter().collect();
        answered.map_err(|error| error.to_string())
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
        let tried = Step {
            session: "conformance".into(),
            play: new_play(),
            rules_version: self.description().rules_version,
            turn: 0,
            start: Some(self.start(&params, game.seats(), TRIED)),
            answers: Vec::new(),
        };
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
        let start = Start {
            params: self.params.clone(),
            seats,
            luck: WireLuck {
                key: chance.key_in_hexadecimal(),
                // Only the key matters to who draws as it should.
                ..WireLuck::of(TRIED)
            },
        };
        let mut state = AskingState {
            tested: self.tested.clone(),
            play: new_play(),
            start: Arc::new(start),
            history: Vec::new(),
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
    play: Arc<str>,
    start: Arc<Start>,
    history: Vec<Arc<[WireAnswer]>>,
    inner: OutsideState,
}

impl Clone for AskingState {
    /// The process is told the clone's whole history when it is asked next.
    fn clone(&self) -> Self {
        Self {
            tested: self.tested.clone(),
            play: new_play(),
            start: Arc::clone(&self.start),
            history: self.history.clone(),
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
                self.inner = OutsideState::ended(self.start.seats);
            }
        }
    }

    /// What answers lead to. Answers that the process refuses are forfeited, as if their seats
    /// had run out of patience.
    fn ruling(&mut self, answers: &[Answer]) -> Result<OutsideReply, String> {
        let mut answers = answers.to_vec();
        // Each refusal forfeits at least one answer more.
        for _ in 0..=answers.len() {
            let reply = self.reply(&answers)?;
            if reply.refused.is_empty() {
                if !answers.is_empty() {
                    self.history.push(wired(&answers));
                }
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

    fn reply(&self, answers: &[Answer]) -> Result<OutsideReply, String> {
        let given = (!answers.is_empty()).then(|| wired(answers));
        let turn = (self.history.len() + given.iter().len()) as u32;
        let step = |start: Option<Arc<Start>>, answers| Step {
            session: "conformance".into(),
            play: Arc::clone(&self.play),
            rules_version: self.tested.description().rules_version,
            turn,
            start,
            answers,
        };
        let whole = || {
            let all = self.history.iter().chain(&given).cloned().collect();
            step(Some(Arc::clone(&self.start)), all)
        };
        let first = match turn {
            0 => whole(),
            _ => step(None, given.iter().cloned().collect()),
        };
        let mut reply = self.tested.ask(first)?;
        if reply.unknown {
            reply = self.tested.ask(whole())?;
        }
        match (reply.error, reply.reply) {
            (Some(why), _) => Err(format!("turn {turn}: {why}")),
            (None, Some(reply)) => Ok(reply),
            (None, None) => Err(format!("turn {turn}: the answer has no reply")),
        }
    }
}

fn wired(answers: &[Answer]) -> Arc<[WireAnswer]> {
    answers.iter().cloned().map(WireAnswer).collect()
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
