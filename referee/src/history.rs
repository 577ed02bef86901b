//! A play as its process is told it: turn by turn, or whole where the process does not remember it.
//! Shared by the referee of sessions and by whoever tests a process.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use agon_engine::spec::Settings;
use agon_engine::{Answer, Luck, OutsideReply};

use crate::client::GameClient;
use crate::ruling::RefereeError;
use crate::wire::{Start, Step, StepReply, WireAnswer, WireLuck};

/// Letters of a fault that a process tells.
const LETTERS: usize = 2_000;

/// The answers of a turn.
pub type Given = Arc<[WireAnswer]>;

/// See the module.
#[derive(Debug, Clone)]
pub struct History {
    session: Arc<str>,
    play: Arc<str>,
    rules_version: u32,
    start: Arc<Start>,
    /// The answers of the turns that were ruled on.
    turns: Vec<Given>,
}

/// What a session begins with.
#[derive(Debug)]
pub struct Beginning<'a> {
    /// What the session is called in logs.
    pub session: &'a str,
    /// The version of the rules.
    pub rules_version: u32,
    /// Parameters, complete.
    pub params: &'a Settings,
    /// How many seats there are.
    pub seats: usize,
    /// The luck.
    pub luck: Luck,
}

impl History {
    /// A play that has not begun.
    pub fn new(beginning: &Beginning<'_>) -> Self {
        Self {
            session: beginning.session.into(),
            play: new_play(),
            rules_version: beginning.rules_version,
            start: Arc::new(Start {
                params: beginning.params.clone(),
                seats: beginning.seats,
                luck: WireLuck::of(beginning.luck),
            }),
            turns: Vec::new(),
        }
    }

    /// The same history as a play of its own, which the process does not remember.
    pub fn as_another_play(&self) -> Self {
        Self {
            play: new_play(),
            ..self.clone()
        }
    }

    /// The same play with the key of some chance.
    pub fn with_key(self, key: String) -> Self {
        let Start {
            params,
            seats,
            luck,
        } = &*self.start;
        let luck = WireLuck {
            key,
            ..luck.clone()
        };
        let start = Arc::new(Start {
            params: params.clone(),
            seats: *seats,
            luck,
        });
        Self { start, ..self }
    }

    /// The same play by other rules.
    pub fn by_rules(&self, rules_version: u32) -> Self {
        Self {
            rules_version,
            ..self.clone()
        }
    }

    /// How many turns were ruled on.
    pub fn turns(&self) -> usize {
        self.turns.len()
    }

    /// A turn was ruled on.
    pub fn push(&mut self, given: Option<Given>) {
        self.turns.extend(given);
    }

    /// The request for what answers lead to, of a play that is remembered; without answers for the
    /// start.
    pub fn step(&self, given: Option<&Given>) -> Step {
        match given {
            None => self.whole(None),
            Some(given) => self.request(None, vec![Arc::clone(given)], self.turns.len() + 1),
        }
    }

    /// The same of a play that is not remembered.
    pub fn whole(&self, given: Option<&Given>) -> Step {
        let all: Vec<Given> = self.turns.iter().chain(given).cloned().collect();
        let turn = all.len();
        self.request(Some(Arc::clone(&self.start)), all, turn)
    }

    fn request(&self, start: Option<Arc<Start>>, answers: Vec<Given>, turn: usize) -> Step {
        Step {
            session: Arc::clone(&self.session),
            play: Arc::clone(&self.play),
            rules_version: self.rules_version,
            turn: turn as u32,
            start,
            answers,
        }
    }

    /// Asks what answers lead to, and tells the whole history where it is not remembered.
    ///
    /// # Errors
    /// Nobody answers.
    pub async fn ask(
        &self,
        client: &GameClient,
        given: Option<&Given>,
    ) -> Result<StepReply, RefereeError> {
        let reply = client.step(self.step(given)).await?;
        match reply.unknown {
            true => client.step(self.whole(given)).await,
            false => Ok(reply),
        }
    }

    /// Asks for a ruling.
    ///
    /// # Errors
    /// There is none.
    pub async fn ruling(
        &self,
        client: &GameClient,
        given: Option<&Given>,
    ) -> Result<OutsideReply, RefereeError> {
        let reply = self.ask(client, given).await?;
        let game = &client.description().name;
        let turn = self.turns.len() + given.iter().len();
        let impossible = |why: &str| {
            Err(RefereeError::Impossible(format!(
                "{game}, turn {turn}: {why}"
            )))
        };
        if reply.other_rules {
            let version = self.rules_version;
            // A process was put in the place of another: the right one may come back.
            return Err(RefereeError::Away(format!(
                "the session is for rules {version} of {game}, its process has others"
            )));
        }
        match (reply.error, reply.reply) {
            (Some(error), _) => impossible(&error.chars().take(LETTERS).collect::<String>()),
            (None, Some(reply)) => Ok(reply),
            (None, None) => impossible("the answer of the game has no reply"),
        }
    }
}

/// Answers as they are sent.
pub fn given(answers: impl IntoIterator<Item = Answer>) -> Given {
    answers.into_iter().map(WireAnswer).collect()
}

/// A name that no play has had: in containers processes have the same ids, and sessions of two
/// teams may be the same.
fn new_play() -> Arc<str> {
    static PLAYS: AtomicU64 = AtomicU64::new(0);
    // The library draws these keys from the system.
    static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());
    let number = PLAYS.fetch_add(1, Ordering::Relaxed);
    format!("{:016x}-{number}", *PROCESS).into()
}
