//! Open asks at doors, where people and other programs are asked. Owns the contract that both
//! stores keep; an answer becomes a decision only in the ledger. Called by `deciding.rs` (asks and
//! waits) and by `doors/` (watch and answer).

pub mod embedded;
pub mod redis;

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::decision::{DecisionAddress, Message, ReplyFormat, RequestDigest};
use crate::store_error::StoreError;

pub use embedded::EmbeddedDoors;
pub use redis::RedisDoors;

/// Keeps the asks that wait at doors. The order is always: `ask`, which a `leave` may follow
/// instead of an answer; record the answer in the ledger; `done`.
#[async_trait]
pub trait DoorStore: Send + Sync {
    /// Publishes an ask and waits for its answer, however long that takes. The
    /// ask is open while this is awaited; whoever gives up says so with `leave`. An
    /// answer that was given while nobody waited for a moment is taken.
    async fn ask(&self, ask: &OpenAsk) -> Result<DoorAnswer, StoreError>;

    /// The asker gives up, and nobody can answer any more. An answer that came at the last moment
    /// is returned instead: whoever gave it was told that it stands. It stays until it is done.
    async fn leave(&self, ask: &OpenAsk) -> Result<Option<DoorAnswer>, StoreError>;

    /// The answer is recorded: everything about the ask goes.
    async fn done(&self, ask: &OpenAsk) -> Result<(), StoreError>;

    /// What waits at a door now, oldest first.
    async fn list(&self, door: &str) -> Result<Listing, StoreError>;

    /// Returns once a listing of the door may be of another version.
    async fn changed(&self, door: &str, version: u64) -> Result<(), StoreError>;

    /// Hands an answer to whoever waits. The first answer stands.
    async fn answer(&self, answer: &SubmittedAnswer) -> Result<SubmitOutcome, StoreError>;
}

/// A question at a door.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenAsk {
    /// Name of the door.
    pub door: String,
    /// Where the answer belongs.
    pub address: DecisionAddress,
    /// Digest of the whole request.
    pub digest: RequestDigest,
    /// Who asks; over HTTP only this team may see and answer it.
    pub team: String,
    /// For which experiment.
    pub experiment_id: String,
    /// What the answer is for.
    pub purpose: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// What the answer should look like.
    pub reply_format: Option<ReplyFormat>,
    /// Who answers when nobody has in time; absent: it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<StandIn>,
    /// What the asked seat has seen, as JSON: shown with the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}

/// An answer for somebody who takes too long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandIn {
    /// How long the question waits at the door before.
    pub after: Duration,
    /// Who answers.
    pub name: String,
    /// What is answered. For the gateway alone: nobody is shown it at the door.
    pub reply: String,
}

/// What somebody behind a door said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoorAnswer {
    /// The text.
    pub reply: String,
    /// Who says it.
    pub answered_by: String,
    /// Somebody answered in time; otherwise it is a stand-in's.
    #[serde(default = "in_time", skip_serializing_if = "Clone::clone")]
    pub in_time: bool,
}

fn in_time() -> bool {
    true
}

/// An answer on its way to whoever waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmittedAnswer {
    /// Name of the door.
    pub door: String,
    /// Which question.
    pub address: DecisionAddress,
    /// The digest of that question, so that nobody answers another by mistake.
    pub digest: RequestDigest,
    /// Only asks of this team; absent: of any.
    pub team: Option<String>,
    /// What is said.
    pub answer: DoorAnswer,
}

/// What became of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubmitOutcome {
    /// It stands, now or since it was handed in before.
    Stands,
    /// Nobody asks that here.
    NobodyAsks,
    /// The address is asked, but with another request.
    OtherRequest(RequestDigest),
    /// Somebody was first, with other words.
    AnsweredDifferently,
}

/// A question with its age.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingAsk {
    /// The question.
    pub ask: OpenAsk,
    /// Since when it waits.
    pub waiting: Duration,
}

/// What waits at a door at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Two listings of one version are equal, but for the times.
    pub version: u64,
    /// Oldest first.
    pub asks: Vec<WaitingAsk>,
}
