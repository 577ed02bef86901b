//! OpenAI chat completions, on any base URL that speaks them: OpenAI, vLLM,
//! Ollama, DeepInfra, OpenRouter and many more. Bodies, replies and errors each
//! have a file of `openai/`; Azure uses the same. Called by `caller.rs`.
//! Sources: OpenAI API reference "Chat", guides "Error codes", "Rate limits",
//! "Reasoning models"; the servers' own pages where they differ.

pub(super) mod body;
pub(super) mod errors;
pub(super) mod reply;

use super::caller::Protocol;
use super::capabilities::Capabilities;
use super::http::{Incoming, KeyHeader, Outgoing};
use super::{Call, Refusal, Reply};

/// Speaks chat completions.
pub(super) struct OpenAi;

impl Protocol for OpenAi {
    fn write(&self, call: Call<'_>, capabilities: Capabilities) -> Result<Outgoing, Refusal> {
        let (body, applied) = body::build(call.model, capabilities, call.request)?;
        Ok(Outgoing {
            url: format!("{}/chat/completions", call.model.provider.base_url),
            key_in: KeyHeader::Bearer,
            headers: Vec::new(),
            body,
            applied,
        })
    }

    fn read(&self, _call: Call<'_>, incoming: &Incoming) -> Result<Reply, Refusal> {
        reply::read(incoming)
    }

    fn judge(&self, incoming: &Incoming) -> Result<Reply, Refusal> {
        errors::judge(incoming)
    }

    fn error_inside_success(&self, incoming: &Incoming) -> Option<Refusal> {
        errors::inside_success(incoming)
    }
}
