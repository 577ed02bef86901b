//! The port through which an agent calls its model, and nothing else.
//!
//! The worker's implementation gives every call the next index of the seat's
//! decision addresses at the moment [`Mind::think`] is called, not when the
//! returned future is first polled: calls made side by side keep the order in
//! which the agent wrote them.

use std::sync::Arc;
use std::time::Duration;

use agon_engine::SeatView;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// Calls a model.
pub trait Mind: Send + Sync {
    /// Asks the model once. Resolves when the decision is recorded.
    fn think(&self, thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>>;
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct Thought {
    /// What the call is for ("act", "plan", "belief"); recorded.
    pub purpose: &'static str,
    /// Which model, and how it samples.
    pub settings: Arc<ModelSettings>,
    /// The conversation, system message first.
    pub messages: Vec<Message>,
    /// The form that the reply should have, for providers that can enforce it.
    pub format: Option<ReplyFormat>,
    /// Who answers for a person that takes too long, if anybody.
    pub stand_in: Option<TimedAnswer>,
    /// What the seat has seen, for whoever shows a person its table; no part of the question.
    pub seen: Option<Arc<SeatView>>,
    /// What a simulated model answers, so that a dry run looks like a run; no other model
    /// is told.
    pub simulated_reply: Option<String>,
}

impl Thought {
    /// A call that nobody answers for but the model.
    pub fn new(
        purpose: &'static str,
        settings: Arc<ModelSettings>,
        messages: Vec<Message>,
        format: Option<ReplyFormat>,
    ) -> Self {
        Self {
            purpose,
            settings,
            messages,
            format,
            stand_in: None,
            seen: None,
            simulated_reply: None,
        }
    }
}

/// An answer for a person that takes too long. Whoever keeps the time gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedAnswer {
    /// How long the question waits before.
    pub after: Duration,
    /// Who answers: the strategy's name.
    pub name: String,
    /// What it answers.
    pub reply: String,
}

/// Why a reply ended that is a [`TimedAnswer`]: the gateway's word.
pub const TIME_IS_UP: &str = "deadline";

/// Why a reply ended that was cut off before its model had begun to answer: the gateway's word.
pub const CUT_OFF_THINKING: &str = "length_in_thoughts";

/// Which model is called, and how it samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelSettings {
    /// Name of a model in the gateway's configuration.
    pub model: String,
    /// Sampling temperature; the provider's default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling; the provider's default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Longest reply in tokens; the gateway's default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// Models that the gateway asks, in this order, when `model` cannot answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback_models: Vec<String>,
    /// How long to think, in the model's own word ("low"); its default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// The reply ends before any of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<String>,
    /// How many likely tokens are recorded with each token of a reply; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<u32>,
    /// Parameters, by the gateway's names, without which an answer is not wanted.
    #[serde(skip)]
    pub required: Vec<&'static str>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Arc<str>,
}

impl Message {
    /// Letters per token, for estimating; close enough for English with every
    /// tokenizer in use.
    pub const LETTERS_PER_TOKEN: usize = 4;

    /// A message of one speaker.
    pub fn new(role: Role, text: impl Into<Arc<str>>) -> Self {
        Self {
            role,
            content: text.into(),
        }
    }

    /// How long it is, in estimated tokens.
    pub fn tokens(&self) -> usize {
        self.content
            .chars()
            .count()
            .div_ceil(Self::LETTERS_PER_TOKEN)
    }
}

/// Who speaks in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The instructions.
    System,
    /// The game, speaking to the player.
    User,
    /// The player.
    Assistant,
}

/// The form that a reply should have.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyFormat {
    /// Short name, letters and underscores.
    pub name: String,
    /// JSON Schema of the reply; shared because it repeats from round to round.
    pub schema: Arc<str>,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The text, as it came.
    pub text: String,
    /// Why it ended ("stop", "length", "content_filter", [`CUT_OFF_THINKING`],
    /// [`TIME_IS_UP`]).
    pub finish_reason: String,
}

/// Why there is no reply. The session cannot go on; what happens to it is the
/// worker's business.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MindError {
    /// Whoever runs the session is stopping, or lost it to somebody else.
    #[error("the session is being given up")]
    GivenUp,
    /// The provider did not answer within the gateway's patience.
    #[error("no answer from outside: {0}")]
    NoAnswer(String),
    /// A budget is spent: nothing helps but raising it.
    #[error("a budget is spent: {0}")]
    BudgetSpent(String),
    /// The call can never work as it stands (a template that does not render, an
    /// unknown model, a bad request, another request recorded under the same address).
    #[error("impossible call: {0}")]
    Impossible(String),
}
