//! What goes over the wire, as JSON: the contract of `docs/outside-games.md`, word for word. Nothing is
//! decided here.

use std::sync::Arc;

use agon_engine::spec::Settings;
use agon_engine::{Answer, Chance, Luck, OutsideReply};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

/// A request for rulings.
#[derive(Debug, Serialize)]
pub struct StepsRequest<'a> {
    pub steps: Vec<&'a RawValue>,
}

/// One request for a ruling.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// The session, for logs.
    pub session: Arc<str>,
    /// This try to play it: no two share one, so that what is remembered of one is never taken for
    /// the other's.
    pub play: Arc<str>,
    /// The version of the rules that the session is played by.
    pub rules_version: u32,
    /// The turn whose answers lead to what is asked for; 0 for the start.
    pub turn: u32,
    /// How the session begins; absent where the process is expected to remember the play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Arc<Start>>,
    /// The answers of this turn; with `start` those of every turn from the first.
    pub answers: Vec<Arc<[WireAnswer]>>,
}

/// How a session begins.
#[derive(Debug, Serialize)]
pub struct Start {
    pub params: Settings,
    pub seats: usize,
    pub luck: WireLuck,
}

/// Where a session's chance comes from.
#[derive(Debug, Clone, Serialize)]
pub struct WireLuck {
    pub seed: u64,
    pub repeat: u32,
    pub place: u32,
    /// 64 hexadecimal digits that follow from the rest, for generators of random numbers.
    pub key: String,
}

impl WireLuck {
    pub fn of(luck: Luck) -> Self {
        let Luck {
            seed,
            repeat,
            place,
        } = luck;
        Self {
            seed,
            repeat,
            place,
            key: Chance::seeded(luck).key_in_hexadecimal(),
        }
    }
}

/// An answer: the action as in records, null for a pass, `{"forfeited": true}` for none.
#[derive(Debug, Clone, PartialEq)]
pub struct WireAnswer(pub Answer);

impl Serialize for WireAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Answer::Given(action) => action.serialize(serializer),
            Answer::Forfeited => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("forfeited", &true)?;
                map.end()
            }
        }
    }
}

/// The answer to a request.
#[derive(Debug, Deserialize)]
pub struct StepsResponse {
    /// Each is read by itself, so that what is wrong with one harms no other session.
    pub replies: Vec<Box<RawValue>>,
}

/// The answer to one request for a ruling.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepReply {
    /// The ruling.
    #[serde(default)]
    pub reply: Option<OutsideReply>,
    /// The play is not remembered, or not at this turn: it is to be told from its start.
    #[serde(default)]
    pub unknown: bool,
    /// The process has other rules than the session.
    #[serde(default)]
    pub other_rules: bool,
    /// Why there can be no ruling.
    #[serde(default)]
    pub error: Option<String>,
}
