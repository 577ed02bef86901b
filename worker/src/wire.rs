//! The one place where protocol messages become the worker's own types and
//! back. Nothing else in this crate reads or builds a decision message.

use std::collections::BTreeMap;
use std::error::Error as _;

use agon_agents::mind::TimedAnswer;
use agon_agents::{Message, MindError, ModelSettings, Reply, Role, Thought};
use agon_engine::record::{AppliedParameters, TokenLogprob};
use agon_engine::spec::Origin;
use agon_engine::{Carried, Luck, RecordedDecision, Seat, SeatView, SessionSpec};
use agon_proto::v1;
use agon_proto::v1::{ContentCache, Lease};
use agon_service_kit::clock::millis;
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

/// Who asks and on which terms: never part of what is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asker {
    /// Who pays.
    pub team: String,
    /// The experiment it counts for.
    pub experiment_id: String,
    /// Higher goes first within the team.
    pub priority: i32,
    /// The most that the experiment may cost in all, in nano-dollars.
    pub experiment_budget: Option<u64>,
    /// The session's luck, when the gateway's content cache may answer.
    pub cached_under: Option<Luck>,
    /// The id under which the gateway keeps the session's decisions; empty: the session's.
    pub ledger_session_id: String,
    /// Where the answers of the session's models have to come from.
    pub origins: BTreeMap<String, Origin>,
}

impl Asker {
    /// What a lease says of the session that it is for.
    pub fn of_lease(lease: &Lease, spec: &SessionSpec) -> Self {
        Self {
            team: lease.team.clone(),
            experiment_id: lease.experiment_id.clone(),
            priority: lease.priority,
            experiment_budget: lease.experiment_budget_nanodollars,
            cached_under: lease.content_cache.then_some(spec.luck),
            ledger_session_id: lease.ledger_session_id.clone(),
            origins: spec.origins.clone(),
        }
    }

    /// Where a model and its fall-backs have to be, as far as the session says.
    fn origins_of(&self, settings: &ModelSettings) -> Vec<v1::ModelOrigin> {
        let models = std::iter::once(&settings.model).chain(&settings.fallback_models);
        let known = models.filter_map(|model| Some((model, self.origins.get(model)?)));
        known
            .map(|(model, origin)| v1::ModelOrigin {
                model: model.clone(),
                provider_kind: origin.provider_kind.clone(),
                endpoint: origin.endpoint.clone(),
                provider_model: origin.provider_model.clone(),
                additions: origin.additions.clone(),
            })
            .collect()
    }
}

/// What the players of a leased session took along, in a series.
///
/// # Errors
/// It is no such thing.
pub fn carried(lease: &Lease) -> Result<Option<Carried>, serde_json::Error> {
    if lease.carried.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(&lease.carried).map(Some)
}

/// What the seat has seen. Values of events are plain and can be written; where one could not, a
/// person would have the messages all the same.
fn seen(view: &SeatView) -> Option<String> {
    serde_json::to_string(view).ok()
}

/// Bits of a sampling seed: providers differ in what they take, all take
/// positive numbers of 31 bits.
const SEED_BITS: u32 = 31;

/// The request for one decision.
pub fn decide_request(
    address: &Address<'_>,
    asker: &Asker,
    thought: &Thought,
) -> v1::DecideRequest {
    let settings = &thought.settings;
    let cache = |luck| ContentCache {
        replicate: replicate(address, luck),
    };
    v1::DecideRequest {
        address: Some(v1::DecisionAddress {
            session_id: match asker.ledger_session_id.as_str() {
                "" => address.session_id.to_owned(),
                kept => kept.to_owned(),
            },
            seat: address.seat as u32,
            index: address.index,
        }),
        team: asker.team.clone(),
        experiment_id: asker.experiment_id.clone(),
        model: settings.model.clone(),
        temperature: settings.temperature,
        top_p: settings.top_p,
        max_output_tokens: settings.max_output_tokens,
        sampling_seed: Some(sampling_seed(address)),
        messages: thought.messages.iter().map(chat_message).collect(),
        reply_format: thought.format.as_ref().map(|format| v1::ReplyFormat {
            name: format.name.clone(),
            json_schema: format.schema.to_string(),
        }),
        purpose: thought.purpose.to_owned(),
        stand_in: thought.stand_in.as_ref().map(stand_in).map(Box::new),
        fallback_models: settings.fallback_models.clone(),
        reasoning_effort: settings.reasoning_effort.clone(),
        stop_sequences: settings.stop_sequences.clone(),
        logprobs: settings.logprobs,
        priority: asker.priority,
        content_cache: asker.cached_under.map(cache),
        experiment_budget_nanodollars: asker.experiment_budget,
        required_parameters: settings
            .required
            .iter()
            .map(|name| (*name).to_owned())
            .collect(),
        expected_origins: asker.origins_of(settings),
        simulated_reply: thought.simulated_reply.clone(),
        seen: thought.seen.as_deref().and_then(seen),
    }
}

fn stand_in(answer: &TimedAnswer) -> v1::StandIn {
    v1::StandIn {
        after_ms: millis(answer.after),
        name: answer.name.clone(),
        reply: answer.reply.clone(),
    }
}

/// The decision as it goes into the session record; `model` is the player's own.
pub fn recorded_decision(
    address: &Address<'_>,
    purpose: &str,
    model: &str,
    response: v1::DecideResponse,
) -> RecordedDecision {
    // Gateways of the first version do not say which model it was.
    let fallback =
        Some(response.model).filter(|answered| !answered.is_empty() && answered != model);
    RecordedDecision {
        model: fallback,
        seat: address.seat,
        index: address.index,
        purpose: purpose.to_owned(),
        request: response.request_digest,
        answered_by: response.answered_by,
        finish_reason: response.finish_reason,
        reply: response.reply,
        reasoning: response.reasoning,
        applied: response.applied.map(applied),
        logprobs: response.logprobs.into_iter().map(token_logprob).collect(),
        simulated: response.simulated,
    }
}

fn applied(wire: v1::AppliedParameters) -> AppliedParameters {
    AppliedParameters {
        temperature: wire.temperature,
        top_p: wire.top_p,
        sampling_seed: wire.sampling_seed,
        max_output_tokens: wire.max_output_tokens,
        reply_format: wire.reply_format,
        reasoning_effort: wire.reasoning_effort,
        stop_sequences: wire.stop_sequences,
        logprobs: wire.logprobs,
        omitted: wire.omitted,
    }
}

fn token_logprob(wire: v1::TokenLogprob) -> TokenLogprob {
    TokenLogprob {
        token: wire.token,
        logprob: wire.logprob,
        top: wire.top.into_iter().map(token_logprob).collect(),
    }
}

/// What is read of a reply, in bytes: more than models write, and little enough that its reading,
/// which takes time by the byte, keeps no other session waiting.
const MOST_READ_BYTES: usize = 256 * 1024;

/// The reply that an agent sees of a recorded decision; of a longer one than any model writes, the
/// beginning, as if it had been cut off there.
pub fn reply(decision: &RecordedDecision) -> Reply {
    let text = &decision.reply;
    let read = &text[..text.floor_char_boundary(MOST_READ_BYTES)];
    Reply {
        text: read.to_owned(),
        finish_reason: match read.len() == text.len() {
            true => decision.finish_reason.clone(),
            false => "length".to_owned(),
        },
    }
}

/// What a final refusal of the gateway means for the session.
pub fn mind_error(status: &Status) -> MindError {
    let reason = status.message().to_owned();
    match status.code() {
        Code::Aborted => MindError::NoAnswer(reason),
        _ if is_budget_spent(status) => MindError::BudgetSpent(reason),
        _ => MindError::Impossible(reason),
    }
}

/// Whether the gateway says that a budget is spent. A transport may use the same code for its own
/// limits; then the status has a source, and asking again helps.
pub fn is_budget_spent(status: &Status) -> bool {
    status.code() == Code::ResourceExhausted && status.source().is_none()
}

/// What keeps answers of the content cache apart: repeat and seed, so that repeats stay
/// independent, and the place in the session, so that seats which are asked the same in the same
/// words do, too. Neither experiment nor setting is part of it: those may share answers.
fn replicate(address: &Address<'_>, luck: Luck) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&luck.seed.to_le_bytes());
    hasher.update(&luck.repeat.to_le_bytes());
    hasher.update(&(address.seat as u64).to_le_bytes());
    hasher.update(&address.index.to_le_bytes());
    // Behind all others, and only where there is one: what is cached stays what it was.
    if luck.place > 0 {
        hasher.update(&luck.place.to_le_bytes());
    }
    first_number(&hasher)
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
    first_number(&hasher) >> (u64::BITS - SEED_BITS)
}

fn first_number(hasher: &blake3::Hasher) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests;
