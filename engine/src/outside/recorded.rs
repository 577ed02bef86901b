//! Replies of games that are played elsewhere, as records keep them: events stand where those of
//! every game do, the rest here.

use serde::{Deserialize, Serialize};

use super::reply::{AskGroup, OutsideReply, Refusal};
use crate::chance::Draw;
use crate::event::Event;
use crate::measures::Measures;

/// One reply. Its address is the turn whose answers it followed, and its place among the replies
/// to that turn: refusals come before what the answers led to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedReply {
    /// The turn, from 1; 0 for the start.
    pub turn: u32,
    /// Answers that did not count; then nothing else happened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refusal>,
    /// How many of the record's events it brought.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub events: usize,
    /// What was drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub draws: Vec<Draw>,
    /// Who was asked what then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<AskGroup>,
    /// Payoffs then, by seat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub payoffs: Vec<f64>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl RecordedReply {
    /// A reply to a turn.
    pub fn new(turn: u32, reply: &OutsideReply) -> Self {
        Self {
            turn,
            refused: reply.refused.clone(),
            events: reply.events.len(),
            draws: reply.draws.clone(),
            asks: reply.asks.clone(),
            payoffs: reply.payoffs.clone(),
        }
    }

    /// The replies of a record, as they were said.
    ///
    /// # Errors
    /// The record has other events than they brought.
    pub fn said(
        recorded: Vec<Self>,
        events: Vec<Event>,
        measures: Measures,
    ) -> Result<Vec<(u32, OutsideReply)>, String> {
        let (brought, all) = recorded
            .iter()
            .fold((0usize, events.len()), |(sum, all), one| {
                (sum.saturating_add(one.events), all)
            });
        if brought != all {
            return Err(format!(
                "its replies brought {brought} events, and it has {all}"
            ));
        }
        let last = recorded.len().saturating_sub(1);
        let mut events = events.into_iter();
        let mut measures = Some(measures);
        let said = recorded.into_iter().enumerate().map(|(at, one)| {
            let reply = OutsideReply {
                events: events.by_ref().take(one.events).collect(),
                refused: one.refused,
                draws: one.draws,
                asks: one.asks,
                payoffs: one.payoffs,
                measures: measures.take_if(|_| at == last),
            };
            (one.turn, reply)
        });
        Ok(said.collect())
    }
}
