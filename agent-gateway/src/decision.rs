//! What a decision is: where it belongs, what was asked, what was answered,
//! what it used. Owns the request digest, which tells whether two requests
//! under one address are the same. Refuses wire types; `wire.rs` translates.

use std::fmt;
use std::ops::AddAssign;

use agon_proto::digest::CanonicalRequest;
use serde::{Deserialize, Serialize};

use crate::money::NanoDollars;
use crate::parameters::{Applied, Parameter};

/// The schema of any JSON object.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// Why a model stopped whose tokens were all spent on thoughts: nobody but the gateway sees that.
pub const CUT_OFF_THINKING: &str = "length_in_thoughts";

/// Where a decision belongs: session / seat / index.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DecisionAddress {
    /// Content-derived id of the session.
    pub session_id: String,
    /// The seat that asks.
    pub seat: u32,
    /// Counts up from 0 over everything the seat asks in its session.
    pub index: u32,
}

impl fmt::Display for DecisionAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.session_id, self.seat, self.index)
    }
}

/// Who says a message in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions that stand above the conversation.
    System,
    /// What the model is told and asked.
    User,
    /// What the model answered before.
    Assistant,
}

impl Role {
    /// The name that chat protocols use.
    pub fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
}

impl Message {
    fn parts(&self) -> (&str, &str) {
        (self.role.name(), &self.content)
    }
}

/// What a reply should look like, for providers with structured output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyFormat {
    /// Short name of the schema.
    pub name: String,
    /// The JSON Schema, as text.
    pub json_schema: String,
}

impl ReplyFormat {
    /// Any JSON object: what chat protocols call `json_object`.
    pub fn any_object() -> Self {
        Self {
            name: "json_object".to_owned(),
            json_schema: ANY_OBJECT.to_owned(),
        }
    }

    /// Whether any JSON object will do. A provider then has to ask for one
    /// without a schema, since strict ones refuse this schema.
    pub fn is_any_object(&self) -> bool {
        self.json_schema == ANY_OBJECT
    }
}

/// What is asked of a model. Everything in here is part of the digest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Name of a model in the gateway's configuration.
    pub model: String,
    /// The whole conversation, system message first.
    pub messages: Vec<Message>,
    /// Absent: the provider's default.
    pub temperature: Option<f64>,
    /// Absent: the provider's default.
    pub top_p: Option<f64>,
    /// Absent: the model's configured maximum.
    pub max_output_tokens: Option<u32>,
    /// For providers that can sample from a seed.
    pub sampling_seed: Option<u64>,
    /// Absent: free text.
    pub reply_format: Option<ReplyFormat>,
    /// Models to ask, in order, when the first cannot answer.
    pub fallback_models: Vec<String>,
    /// How long a reasoning model should think; absent: its default.
    pub reasoning_effort: Option<String>,
    /// The reply ends before any of these.
    pub stop_sequences: Vec<String>,
    /// How many likely tokens are told with each token of the reply.
    pub logprobs: Option<u32>,
}

impl Request {
    /// The digest of the contract: two requests share it exactly when all their
    /// fields are equal.
    pub fn digest(&self) -> RequestDigest {
        self.digest_with_seed(self.sampling_seed)
    }

    /// The same for what is asked, however it is sampled.
    pub fn digest_without_seed(&self) -> RequestDigest {
        self.digest_with_seed(None)
    }

    /// What this request asks for and a call with these parameters does not have, in order.
    pub fn omitted_in(&self, applied: &Applied) -> Vec<Parameter> {
        let is_omitted = |parameter: &Parameter| match parameter {
            Parameter::Temperature => self.temperature.is_some() && applied.temperature.is_none(),
            Parameter::TopP => self.top_p.is_some() && applied.top_p.is_none(),
            Parameter::SamplingSeed => {
                self.sampling_seed.is_some() && applied.sampling_seed.is_none()
            }
            Parameter::ReplyFormat => self.reply_format.is_some() && applied.reply_format.is_none(),
            Parameter::ReasoningEffort => {
                self.reasoning_effort.is_some() && applied.reasoning_effort.is_none()
            }
            Parameter::Logprobs => self.logprobs.is_some() && applied.logprobs.is_none(),
            // Free text is cut by the gateway all the same; JSON is left whole.
            Parameter::StopSequences => {
                let is_cut = applied.stop_sequences || self.reply_format.is_none();
                !self.stop_sequences.is_empty() && !is_cut
            }
        };
        Parameter::ALL.into_iter().filter(is_omitted).collect()
    }

    /// How long the model should think.
    pub fn effort(&self) -> Option<&str> {
        self.reasoning_effort.as_deref()
    }

    fn digest_with_seed(&self, sampling_seed: Option<u64>) -> RequestDigest {
        let format = self.reply_format.as_ref();
        let canonical = CanonicalRequest {
            model: &self.model,
            messages: self.messages.iter().map(Message::parts).collect(),
            temperature: self.temperature,
            top_p: self.top_p,
            max_output_tokens: self.max_output_tokens,
            sampling_seed,
            reply_format: format.map(|format| (&*format.name, &*format.json_schema)),
            fallback_models: self.fallback_models.iter().map(|name| &**name).collect(),
            reasoning_effort: self.reasoning_effort.as_deref(),
            stop_sequences: self.stop_sequences.iter().map(|stop| &**stop).collect(),
            logprobs: self.logprobs,
        };
        RequestDigest(canonical.digest())
    }
}

/// Digest of a request, lower-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestDigest(String);

impl RequestDigest {
    /// The digest as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for RequestDigest {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for RequestDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Tokens that a call used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the conversation sent.
    pub input_tokens: u64,
    /// Tokens of the reply, hidden reasoning included.
    pub output_tokens: u64,
    /// Part of `input_tokens` that came from the provider's own cache.
    pub cached_input_tokens: u64,
    /// Part of `output_tokens` spent on hidden reasoning.
    pub reasoning_tokens: u64,
    /// The provider did not say, or said more than the call can have used; the numbers are ours.
    pub estimated: bool,
    /// Part of `input_tokens` that was written to the provider's cache.
    #[serde(default)]
    pub cache_write_input_tokens: u64,
}

impl Usage {
    /// Input and output together.
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// What was said, as far as it can be true: no more than `most`, and no part larger than its
    /// whole.
    pub fn at_most(self, most: &Self) -> Self {
        let input_tokens = self.input_tokens.min(most.input_tokens);
        let output_tokens = self.output_tokens.min(most.output_tokens);
        let cached_input_tokens = self.cached_input_tokens.min(input_tokens);
        let said_more = (input_tokens, output_tokens) != (self.input_tokens, self.output_tokens);
        Self {
            input_tokens,
            output_tokens,
            cached_input_tokens,
            cache_write_input_tokens: self
                .cache_write_input_tokens
                .min(input_tokens - cached_input_tokens),
            reasoning_tokens: self.reasoning_tokens.min(output_tokens),
            estimated: self.estimated || said_more,
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.cached_input_tokens, other.cached_input_tokens);
        add(&mut self.reasoning_tokens, other.reasoning_tokens);
        add(
            &mut self.cache_write_input_tokens,
            other.cache_write_input_tokens,
        );
        self.estimated = self.estimated || other.estimated;
    }
}

/// One recorded answer from outside. This is what the ledger keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Which request it answers.
    pub request_digest: RequestDigest,
    /// The reply's text, as the provider gave it; may be empty.
    pub reply: String,
    /// The model that the provider says answered.
    pub answered_by: String,
    /// Why the provider stopped.
    pub finish_reason: String,
    /// Tokens used.
    pub usage: Usage,
    /// The answer came from a simulated server.
    pub simulated: bool,
    /// The configured model that answered: the one that was asked, or one of
    /// its fall-backs. Empty in ledgers of older versions.
    #[serde(default)]
    pub model: String,
    /// What it cost, failed and hedged attempts included; absent when a price
    /// is not known. Telemetry.
    #[serde(default)]
    pub cost: Option<NanoDollars>,
    /// It came from the content cache. Telemetry.
    #[serde(default)]
    pub from_content_cache: bool,
    /// What the model thought before it answered, where its provider shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Box<str>>,
    /// The parameters that it was asked with; absent for answers at doors, and in
    /// ledgers of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Box<Applied>>,
    /// How likely the reply's tokens were, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<Box<Logprobs>>,
}

/// How likely the tokens of a reply were, in its order. A type of its own so that it takes no room
/// where there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Logprobs(pub Vec<TokenLogprob>);

impl Decision {
    /// How likely the reply's tokens were; nothing where nobody says.
    pub fn logprobs(&self) -> &[TokenLogprob] {
        self.logprobs.as_deref().map_or(&[], |logprobs| &logprobs.0)
    }
}

/// A token, and the logarithm of its probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenLogprob {
    /// The token.
    pub token: String,
    /// The logarithm of its probability.
    pub logprob: f64,
    /// The likeliest tokens in its place, which have none of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<TokenLogprob>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            model: "m".into(),
            messages: vec![
                Message {
                    role: Role::System,
                    content: "ab".into(),
                },
                Message {
                    role: Role::User,
                    content: "c".into(),
                },
            ],
            temperature: Some(0.5),
            max_output_tokens: Some(10),
            sampling_seed: Some(7),
            reply_format: Some(ReplyFormat {
                name: "n".into(),
                json_schema: "{}".into(),
            }),
            ..Request::default()
        }
    }

    #[test]
    fn equal_requests_share_their_digest() {
        assert_eq!(request().digest(), request().digest());
        assert_eq!(request().digest().as_str().len(), 64);
    }

    #[test]
    fn every_field_changes_the_digest() {
        let changes: Vec<fn(&mut Request)> = vec![
            |r| r.model.push('x'),
            |r| r.messages[1].content.push('x'),
            |r| r.messages[1].role = Role::Assistant,
            |r| drop(r.messages.pop()),
            |r| {
                r.messages[0].content = "a".into();
                r.messages[1].content = "bc".into();
            },
            |r| r.temperature = Some(0.6),
            |r| r.temperature = None,
            |r| {
                r.top_p = r.temperature.take();
            },
            |r| r.max_output_tokens = None,
            |r| r.sampling_seed = Some(8),
            |r| r.reply_format = None,
            |r| r.reply_format.as_mut().unwrap().json_schema.push(' '),
            |r| r.fallback_models = vec!["n".into()],
            |r| r.fallback_models = vec!["n".into(), "o".into()],
            |r| r.reasoning_effort = Some("n".into()),
            |r| r.stop_sequences = vec!["n".into()],
            |r| r.logprobs = Some(5),
            |r| r.logprobs = Some(6),
        ];
        let mut digests = vec![request().digest()];
        for change in changes {
            let mut changed = request();
            change(&mut changed);
            let digest = changed.digest();
            assert!(!digests.contains(&digest), "{changed:?}");
            digests.push(digest);
        }
    }

    #[test]
    fn digest_stays_the_same_between_versions() {
        // A change here makes every ledger in the field conflict with itself.
        assert_eq!(
            request().digest().as_str(),
            "2cbcb3c6bd525e916f8870b6e9a1e0b04db1882fb2269d478379dc8a697f7ff8"
        );
    }
}
