//! What a model turned out not to take. The configuration says what to send; a
//! server named only by its address is believed to take everything, and says so
//! itself when it does not. Then the model is asked with less from then on, in
//! this process, and nobody's decision fails. Called by `caller.rs`; the
//! protocols read an [`Ability`] when they write a request.

mod complaints;

use std::collections::HashMap;

use parking_lot::Mutex;

use super::http::Incoming;
use crate::config::{OutputLimitField, ProviderKind, ResolvedModel, StructuredOutput};
use crate::decision::Request;

use complaints::{Complaints, beginning};

/// What one call may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ability {
    /// How a reply format is sent.
    pub(super) structured_output: StructuredOutput,
    /// The model may be forced to answer through a tool (Anthropic).
    pub(super) forced_tool: bool,
    /// A seed is sent.
    pub(super) seed: bool,
    /// The temperature is sent.
    pub(super) temperature: bool,
    /// `top_p` is sent.
    pub(super) top_p: bool,
    /// Stop sequences are sent; otherwise the reply is cut here.
    pub(super) stop: bool,
    /// The most tokens to write go into the field that is configured, not into
    /// the other one.
    pub(super) configured_limit_field: bool,
    /// How the model is told how long to think.
    pub(super) thinking: Thinking,
}

/// How a model is told how long to think, from the way that it is believed to
/// know down to not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thinking {
    /// Not told.
    Untold,
    /// The other way of its protocol.
    OtherWay,
    /// The way that the protocol takes for this model.
    UsualWay,
}

/// What has been learnt, by server and model.
#[derive(Default)]
pub(super) struct Abilities {
    learnt: Mutex<HashMap<(String, String), Ability>>,
}

impl Abilities {
    /// As configured, less what the server has refused.
    pub(super) fn of(&self, model: &ResolvedModel) -> Ability {
        let learnt = self.learnt.lock().get(&key(model)).copied();
        learnt.unwrap_or_else(|| Ability::configured(model))
    }

    /// Learns from a refused call; says whether another one will be different.
    pub(super) fn learn(
        &self,
        model: &ResolvedModel,
        request: &Request,
        sent: Ability,
        incoming: &Incoming,
    ) -> bool {
        let less = sent.without(complaints::heard(request, sent, incoming));
        if less == sent {
            return false;
        }
        let mut learnt = self.learnt.lock();
        let known = learnt.entry(key(model)).or_insert(sent);
        // Another call that was under way may have learnt it, or more, before.
        let both = known.least(less);
        if both != *known {
            *known = both;
            let said = String::from_utf8_lossy(beginning(&incoming.body));
            tracing::warn!(
                model = model.name,
                structured_output = both.structured_output.name(),
                seed = both.seed,
                ability = ?both,
                said = said.trim(),
                "the server does not take all that is configured for the model, it is asked \
                 like this from now on"
            );
        }
        true
    }
}

impl Ability {
    /// What the configuration promises. Models that think refuse to be told how
    /// to sample (OpenAI "Reasoning models", Anthropic "Extended thinking").
    pub(super) fn configured(model: &ResolvedModel) -> Self {
        let openai = matches!(
            model.provider.kind,
            ProviderKind::OpenAi | ProviderKind::Azure
        );
        Self {
            structured_output: model.structured_output,
            forced_tool: model.provider.kind == ProviderKind::Anthropic,
            seed: model.seed,
            temperature: !model.reasoning,
            top_p: !model.reasoning,
            // Only OpenAI's own refuse it; the others stop and think.
            stop: !(model.reasoning && openai),
            configured_limit_field: true,
            thinking: Thinking::UsualWay,
        }
    }

    /// The field for the most tokens to write.
    pub(super) fn output_limit_field(self, model: &ResolvedModel) -> OutputLimitField {
        match (model.output_limit_field, self.configured_limit_field) {
            (field, true) => field,
            (OutputLimitField::MaxTokens, false) => OutputLimitField::MaxCompletionTokens,
            (OutputLimitField::MaxCompletionTokens, false) => OutputLimitField::MaxTokens,
        }
    }

    fn without(self, heard: Complaints) -> Self {
        Self {
            structured_output: match self.structured_output {
                StructuredOutput::JsonSchema if heard.format => StructuredOutput::JsonObject,
                _ if heard.format => StructuredOutput::None,
                unchanged => unchanged,
            },
            forced_tool: self.forced_tool && !heard.forced_tool,
            seed: self.seed && !heard.seed,
            temperature: self.temperature && !heard.temperature,
            top_p: self.top_p && !heard.top_p,
            stop: self.stop && !heard.stop,
            configured_limit_field: self.configured_limit_field && !heard.limit_field,
            thinking: match self.thinking {
                Thinking::UsualWay if heard.thinking => Thinking::OtherWay,
                _ if heard.thinking => Thinking::Untold,
                unchanged => unchanged,
            },
        }
    }

    fn least(self, other: Self) -> Self {
        let rank = |ability: &Self| match ability.structured_output {
            StructuredOutput::None => 0,
            StructuredOutput::JsonObject => 1,
            StructuredOutput::JsonSchema => 2,
        };
        let lesser = if rank(&self) <= rank(&other) {
            self
        } else {
            other
        };
        Self {
            structured_output: lesser.structured_output,
            forced_tool: self.forced_tool && other.forced_tool,
            seed: self.seed && other.seed,
            temperature: self.temperature && other.temperature,
            top_p: self.top_p && other.top_p,
            stop: self.stop && other.stop,
            configured_limit_field: self.configured_limit_field && other.configured_limit_field,
            thinking: self.thinking.min(other.thinking),
        }
    }
}

fn key(model: &ResolvedModel) -> (String, String) {
    (model.provider.base_url.clone(), model.model.clone())
}

#[cfg(test)]
mod tests;
