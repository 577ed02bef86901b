//! Google's models on Vertex AI: the bodies, replies and errors of Gemini at the paths of a
//! project, with a token of Google's cloud that `vertex/tokens.rs` gets. The token goes into a
//! header and is renewed before it ends, and when it is refused. Called by `caller.rs`.
//!
//! Sources: Vertex AI REST reference "projects.locations.publishers.models.generateContent",
//! "Locations"; Google Identity "Using OAuth 2.0 for server to server applications".

mod tokens;

use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use super::caller::Protocol;
use super::capabilities::Capabilities;
use super::gemini::{body, errors, reply};
use super::http::{Incoming, KeyHeader, Outgoing};
use super::{Call, Refusal, Remedy, Reply};

use tokens::Tokens;

/// Where Google's own models stand in a project.
const GOOGLES_MODELS: &str = "publishers/google/models/";

/// Speaks generateContent to Vertex AI.
#[derive(Default)]
pub(super) struct Vertex {
    tokens: Tokens,
}

impl Protocol for Vertex {
    fn write(&self, call: Call<'_>, capabilities: Capabilities) -> Result<Outgoing, Refusal> {
        let (provider, model) = (&call.model.provider, &call.model.model);
        // A tuned model is named with its folder ("endpoints/NUMBER").
        let folder = if model.contains('/') {
            ""
        } else {
            GOOGLES_MODELS
        };
        let (body, applied) = body::build(call.model, capabilities, call.request)?;
        Ok(Outgoing {
            url: format!(
                "{}/projects/{}/locations/{}/{folder}{}:generateContent",
                provider.base_url,
                provider.cloud.project,
                provider.cloud.location,
                model.in_path()
            ),
            key_in: KeyHeader::Nowhere,
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

    async fn prove(
        &self,
        call: Call<'_>,
        _outgoing: &Outgoing,
    ) -> Result<Option<HeaderMap>, Refusal> {
        let token = self.tokens.token(call.key).await?;
        let mut value = HeaderValue::try_from(format!("Bearer {}", token.as_str()))
            .map_err(|_| Refusal::new(Remedy::QuarantineKey, "Google's token is no header"))?;
        value.set_sensitive(true);
        Ok(Some(HeaderMap::from_iter([(AUTHORIZATION, value)])))
    }

    fn renews_proof(&self, call: Call<'_>, incoming: &Incoming) -> bool {
        let is_refused = incoming.status == StatusCode::UNAUTHORIZED;
        is_refused && self.tokens.forget(call.key)
    }
}
