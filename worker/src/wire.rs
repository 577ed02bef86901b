//! The one place where protocol messages become the worker's own types and
//! back. Nothing else in this crate reads or builds a decision message.

use agon_agents::{Message, MindError, Reply, Role, Thought};
use agon_engine::{RecordedDecision, Seat};
use agon_proto::v1;
use tonic::{Code, Status};

/// Where and for whom a decision is asked.
#[derive(Debug, Clone)]
pub struct Address<'a> {
    /// The session.
    pub session_id: &'a str,
    /// The seat.
    pub seat: Seat,
    /// Position among the seat's decisions.
    pub index: u32,
}

/// Bits of a sampling seed: providers differ in what they take, all take
/// positive numbers of 31 bits.
const SEED_BITS: u32 = 31;

/// The request for one decision.
pub fn decide_request(
    address: &Address<'_>,
    team: &str,
    experiment_id: &str,
    thought: Thought,
) -> v1::DecideRequest {
    let settings = &thought.settings;
    v1::DecideRequest {
        address: Some(v1::DecisionAddress {
            session_id: address.session_id.to_owned(),
            seat: address.seat as u32,
            index: address.index,
        }),
        team: team.to_owned(),
        experiment_id: experiment_id.to_owned(),
        model: settings.model.clone(),
        temperature: settings.temperature,
        top_p: settings.top_p,
        max_output_tokens: settings.max_output_tokens,
        sampling_seed: Some(sampling_seed(address)),
        messages: thought.messages.iter().map(chat_message).collect(),
        reply_format: thought.format.map(|format| v1::ReplyFormat {
            name: format.name,
            json_schema: format.schema.to_string(),
        }),
        purpose: thought.purpose.to_owned(),
        ..v1::DecideRequest::default()
    }
}

/// The decision as it goes into the session record.
pub fn recorded_decision(
    address: &Address<'_>,
    purpose: &str,
    response: v1::DecideResponse,
) -> RecordedDecision {
    RecordedDecision {
        seat: address.seat,
        index: address.index,
        purpose: purpose.to_owned(),
        request: response.request_digest,
        answered_by: response.answered_by,
        finish_reason: response.finish_reason,
        reply: response.reply,
        simulated: response.simulated,
    }
}

/// The reply that an agent sees of a recorded decision.
pub fn reply(decision: &RecordedDecision) -> Reply {
    Reply {
        text: decision.reply.clone(),
        finish_reason: decision.finish_reason.clone(),
    }
}

/// What a final refusal of the gateway means for the session.
pub fn mind_error(status: &Status) -> MindError {
    let reason = status.message().to_owned();
    match status.code() {
        Code::Aborted => MindError::NoAnswer(reason),
        _ => MindError::Impossible(reason),
    }
}

fn chat_message(message: &Message) -> v1::ChatMessage {
    let role = match message.role {
        Role::System => v1::MessageRole::System,
        Role::User => v1::MessageRole::User,
        Role::Assistant => v1::MessageRole::Assistant,
    };
    v1::ChatMessage {
        role: role.into(),
        content: message.content.to_string(),
    }
}

/// A seed of its own for every decision, the same whenever it is asked again.
fn sampling_seed(address: &Address<'_>) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(address.session_id.as_bytes());
    hasher.update(&(address.seat as u64).to_le_bytes());
    hasher.update(&address.index.to_le_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first) >> (u64::BITS - SEED_BITS)
}
