//! Gemini generateContent: bodies, schemas, replies and errors each in a file of
//! `gemini/`. The key goes into a header, never into the address, where Google
//! also takes it. Called by `caller.rs`. Sources: Gemini API reference
//! "Generating content", guides "Structured output", "Thinking", "Rate limits",
//! "Troubleshooting"; google.rpc.

pub(super) mod body;
pub(super) mod errors;
pub(super) mod reply;
mod schema;

use super::caller::Protocol;
use super::capabilities::Capabilities;
use super::http::{Incoming, KeyHeader, Outgoing};
use super::{Call, Refusal, Reply};

/// Speaks generateContent.
pub(super) struct Gemini;

impl Protocol for Gemini {
    fn write(&self, call: Call<'_>, capabilities: Capabilities) -> Result<Outgoing, Refusal> {
        let (base, model) = (&call.model.provider.base_url, &call.model.model);
        // A tuned model is named with its folder.
        let folder = if model.contains('/') { "" } else { "models/" };
        let (body, applied) = body::build(call.model, capabilities, call.request)?;
        Ok(Outgoing {
            url: format!("{base}/{folder}{}:generateContent", model.in_path()),
            key_in: KeyHeader::Named("x-goog-api-key"),
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
