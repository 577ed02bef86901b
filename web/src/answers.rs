//! What is said of a session, the same by the server and in a published site. Plain data; the routes,
//! `site.rs` and sources of calls fill it.

use agon_engine::Seat;
use agon_report::viewing::{Head, Shown, Stated, Viewing};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::index::SessionRow;
use crate::refusal::Refusal;

/// A session without its steps.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionHead {
    /// The address of its run.
    pub run: String,
    #[serde(flatten)]
    pub head: Head,
    /// Sessions of the same run with the same luck in other cells, at most 50.
    pub paired: Vec<SessionRow>,
}

/// Some steps of a session.
#[derive(Serialize, ToSchema)]
pub(crate) struct Steps {
    /// In order.
    pub steps: Vec<Shown>,
    /// How many steps the session has.
    pub total: usize,
}

/// A call of a model.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Decision {
    /// The seat for which the model was called.
    pub seat: Seat,
    /// The place of the call among those of its seat, from 0.
    pub index: u32,
    /// What the agent called the model for.
    pub purpose: String,
    /// What was sent; null where this version of Agon does not make the same call again.
    pub messages: Option<Vec<DecisionMessage>>,
    /// How many of the first messages were also in the previous call of the seat.
    pub known: usize,
    /// Whether the recorded digest proves the messages.
    pub is_same: bool,
    /// JSON Schema of the reply that was asked for; null for plain text.
    pub schema: Value,
    /// Parameters of the call, as they were applied.
    pub parameters: Vec<Stated>,
    /// The model that replied.
    pub answered_by: String,
    /// Why the reply ended, as the provider says.
    pub finish_reason: String,
    /// What the provider shows of the model's reasoning.
    pub reasoning: Option<String>,
    /// The reply, as it came.
    pub reply: String,
    /// How the reply was read, or why it was refused; null where it answers no question of the game.
    pub reading: Option<String>,
    /// Tokens of the messages.
    pub tokens_in: Option<u64>,
    /// Tokens of the reply.
    pub tokens_out: Option<u64>,
    /// Whether the numbers of tokens are estimates.
    pub tokens_estimated: bool,
    /// In dollars.
    pub cost: Option<f64>,
    /// How long the call took.
    pub seconds: Option<f64>,
}

/// A message of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DecisionMessage {
    /// `system`, `user` or `assistant`.
    pub role: String,
    /// Its text.
    pub text: String,
}

/// Refuses a seat that a session does not have.
///
/// # Errors
/// It does not have it.
pub(crate) fn seat_of(viewing: &Viewing, seat: Option<Seat>) -> Result<(), Refusal> {
    let seats = viewing.record().spec.seats.len();
    match seat.filter(|seat| *seat >= seats) {
        None => Ok(()),
        Some(seat) => Err(Refusal::Missing(format!("seat {seat} in this session"))),
    }
}
