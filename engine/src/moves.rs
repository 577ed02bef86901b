//! What was answered in a session: one [`Move`] per ask, with the refused answers before it.
//! Written by [`crate::Play`], read by measures and records.

use serde::Serialize;

use crate::ask::{Action, Foul, Seat};
use crate::names::Name;

/// One answered ask.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Move {
    /// Which set of simultaneous asks it belongs to, from 1.
    pub turn: u32,
    /// Who moved.
    pub seat: Seat,
    /// What was asked.
    pub ask: Name,
    /// The answer that counted; absent when the ask was forfeited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// Set when the ask was forfeited.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub forfeited: bool,
    /// Refused answers before it, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fouls: Vec<Foul>,
}
