//! The referee of a session whose game is played by another process. It remembers the answers of
//! every turn, so that the process may forget the play at any time, or be another one.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use agon_engine::{Answer, OutsideReply, SessionSpec};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::client::GameClient;
use crate::ruling::{Referee, RefereeError};
use crate::wire::{Start, Step, WireAnswer, WireLuck};

/// A name that no play has had: in containers processes have the same ids, and sessions of two
/// teams may be the same.
pub fn new_play() -> Arc<str> {
    static PLAYS: AtomicU64 = AtomicU64::new(0);
    // The library draws these keys from the system.
    static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());
    let number = PLAYS.fetch_add(1, Ordering::Relaxed);
    format!("{:016x}-{number}", *PROCESS).into()
}

/// See the module.
pub struct RemoteReferee {
    client: GameClient,
    session: Arc<str>,
    play: Arc<str>,
    rules_version: u32,
    start: Arc<Start>,
    /// The answers of the turns that were ruled on.
    history: Vec<Arc<[WireAnswer]>>,
}

impl RemoteReferee {
    /// The referee of one try to play a session.
    pub fn new(client: GameClient, spec: &SessionSpec) -> Self {
        let session: Arc<str> = spec.id().as_str().into();
        Self {
            client,
            play: new_play(),
            rules_version: spec.rules_version,
            session,
            start: Arc::new(Start {
                params: spec.params.clone(),
                seats: spec.seats.len(),
                luck: WireLuck::of(spec.luck),
            }),
            history: Vec::new(),
        }
    }

    async fn ask(&mut self, turn: u32, given: Vec<Answer>) -> Result<OutsideReply, RefereeError> {
        let given: Option<Arc<[WireAnswer]>> =
            (turn > 0).then(|| given.into_iter().map(WireAnswer).collect());
        let step = |start: Option<Arc<Start>>, answers| Step {
            session: Arc::clone(&self.session),
            play: Arc::clone(&self.play),
            rules_version: self.rules_version,
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
        let mut reply = self.client.step(first).await?;
        if reply.unknown {
            reply = self.client.step(whole()).await?;
        }
        let game = &self.client.description().name;
        if reply.other_rules {
            let version = self.rules_version;
            return Err(RefereeError::OtherRules(format!(
                "the session is for rules {version} of {game}, its process has others"
            )));
        }
        if let Some(error) = reply.error {
            let error: String = error.chars().take(2_000).collect();
            return Err(RefereeError::Impossible(format!(
                "{game}, turn {turn}: {error}"
            )));
        }
        let Some(reply) = reply.reply else {
            let why = format!("{game}, turn {turn}: the answer of the game has no reply");
            return Err(RefereeError::Impossible(why));
        };
        if reply.refused.is_empty() {
            self.history.extend(given);
        }
        Ok(reply)
    }
}

impl Referee for RemoteReferee {
    fn rule(
        &mut self,
        turn: u32,
        answers: Vec<Answer>,
    ) -> BoxFuture<'_, Result<OutsideReply, RefereeError>> {
        self.ask(turn, answers).boxed()
    }
}
