//! A model as the rest of the gateway knows it: who serves it, what it takes, what it costs and
//! where its answers come from. Built by `config.rs`.

use std::sync::Arc;
use std::time::Duration;

use super::additions::Additions;
use super::known::{self, Thinks};
use super::model_name::ModelName;
use super::price_table::ModelPrices;
use super::provider::ProviderConfig;
use super::settings::{
    EffortField, OutputLimitField, ProviderKind, StructuredOutput, ThinkingForm,
};
use crate::limits::KeyLimits;

/// What a model name means in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedModel {
    /// The name that experiments use.
    pub name: String,
    /// Who serves it.
    pub provider: Arc<ProviderConfig>,
    /// The provider's name for it.
    pub model: ModelName,
    /// Which parameters it takes.
    pub takes: Takes,
    /// How a reasoning effort is put, where the configuration states it.
    pub thinking: Option<ThinkingForm>,
    /// How a chat completions server is told how long it should think.
    pub effort_field: EffortField,
    /// The most it may write when the request does not say.
    pub max_output_tokens: u32,
    /// The configuration states that number itself: thoughts are part of it.
    pub max_output_tokens_is_stated: bool,
    /// When it thinks; absent: never, as far as anybody knows.
    pub thinks: Option<Thinks>,
    /// Room to think, where the configuration states it.
    pub thinking_tokens: Option<u32>,
    /// The most that it can write at all, where that is known.
    pub most_output_tokens: Option<u32>,
    /// How long one call may take, where the configuration states it.
    pub timeout: Option<Duration>,
    /// How it is told the most it may write.
    pub output_limit_field: OutputLimitField,
    /// The configuration states that field itself.
    pub output_limit_field_is_stated: bool,
    /// The beginning of long conversations is kept in the provider's cache.
    pub prompt_cache: bool,
    /// What is added to every request to it.
    pub additions: Additions,
    /// What it costs, as far as anybody knows.
    pub prices: ModelPrices,
    /// Limits of each key for this model alone.
    pub limits: KeyLimits,
    /// After this long a call is made once more.
    pub hedge_after: Option<Duration>,
}

/// What one call may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLimit {
    /// Thoughts and answer together.
    pub tokens: u32,
    /// The part of it that was added for thoughts; absent where none was.
    pub thinking: Option<u32>,
}

impl ResolvedModel {
    /// Whether a call with this effort thinks before it answers.
    pub fn thinks_at(&self, effort: Option<&str>) -> bool {
        let can_be_told = match self.provider.kind {
            // An effort becomes a budget of tokens, or else is refused.
            ProviderKind::Anthropic | ProviderKind::Gemini | ProviderKind::Vertex => true,
            // Of the models there, Claude.
            ProviderKind::Bedrock if self.model.contains("anthropic.") => true,
            // Others ignore it, or are asked without it.
            ProviderKind::OpenAi
            | ProviderKind::Azure
            | ProviderKind::Bedrock
            | ProviderKind::Door => self.thinks.is_some(),
        };
        let is_told = effort.is_some() && can_be_told && self.takes.reasoning_effort.value;
        !known::is_off(effort) && (is_told || self.thinks == Some(Thinks::Always))
    }

    /// The most that a call may write. What is asked for is room for the answer; thoughts come on
    /// top, unless the configuration says what both may take.
    pub fn output_limit(&self, asked: Option<u32>, effort: Option<&str>) -> OutputLimit {
        let answer = asked.unwrap_or(self.max_output_tokens);
        let is_whole = asked.is_none() && self.max_output_tokens_is_stated;
        let room = match self.thinking_tokens {
            _ if !self.thinks_at(effort) => 0,
            Some(stated) => stated,
            None if is_whole => 0,
            None => known::effort(effort).most_tokens,
        };
        let most = self.most_output_tokens.unwrap_or(u32::MAX).max(answer);
        let tokens = answer.saturating_add(room).min(most);
        OutputLimit {
            tokens,
            thinking: Some(tokens - answer).filter(|room| *room > 0),
        }
    }

    /// How long a call with this effort may take.
    pub fn timeout(&self, effort: Option<&str>) -> Duration {
        match self.timeout {
            Some(stated) => stated,
            None if self.provider.timeout_is_stated || !self.thinks_at(effort) => {
                self.provider.timeout
            }
            None => known::effort(effort).timeout.max(self.provider.timeout),
        }
    }

    /// Where its answers come from.
    pub fn origin(&self) -> Origin {
        Origin {
            provider_kind: self.provider.kind.name().to_owned(),
            endpoint: self.provider.endpoint.clone(),
            provider_model: self.model.to_string(),
            additions: self.additions.digest(),
        }
    }
}

/// What a model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takes {
    /// How it is told what a reply should look like.
    pub structured_output: Setting<StructuredOutput>,
    /// A sampling seed.
    pub seed: Setting<bool>,
    /// A temperature.
    pub temperature: Setting<bool>,
    /// `top_p`.
    pub top_p: Setting<bool>,
    /// Stop sequences.
    pub stop_sequences: Setting<bool>,
    /// A reasoning effort.
    pub reasoning_effort: Setting<bool>,
    /// A wish to know how likely the tokens were.
    pub logprobs: Setting<bool>,
}

/// A value, and whether the configuration states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// It stands in the configuration; otherwise it is a default.
    pub stated: bool,
}

impl<T> Setting<T> {
    pub(crate) fn new(stated: Option<T>, default: T) -> Self {
        Self {
            stated: stated.is_some(),
            value: stated.unwrap_or(default),
        }
    }
}

/// Where a model's answers come from. Two names with the same origin are one model, and a
/// name whose origin has changed is another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The name of the protocol.
    pub provider_kind: String,
    /// The name of the server.
    pub endpoint: String,
    /// The server's name for the model.
    pub provider_model: String,
    /// Digest of what the configuration adds to every request; empty when nothing.
    pub additions: String,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = &self.provider_kind;
        write!(f, "{} at {} ({kind})", self.provider_model, self.endpoint)?;
        match self.additions.as_str() {
            "" => Ok(()),
            additions => write!(f, " with additions {additions}"),
        }
    }
}
