//! What is known of a game that is played elsewhere without asking its process. Stands in the specs of
//! its sessions.

use serde::{Deserialize, Serialize};

use crate::info::{FactNames, Timing};

/// What the spec of a session says of a game that is played elsewhere: all that anybody here needs
/// to know who does not ask the other process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideRules {
    /// Most asks that one seat can get, fouls apart.
    pub asks_per_seat: u32,
    /// Names of facts that mean the same in every game.
    #[serde(default, skip_serializing_if = "FactNames::is_none")]
    pub facts: FactNames,
    /// Whether seats move at the same time or one after another.
    pub timing: Timing,
    /// Name for people.
    pub title: String,
}
