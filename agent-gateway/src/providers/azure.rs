//! Azure OpenAI: the bodies, replies and errors of OpenAI at the addresses of a
//! resource, with the key in `api-key`. A model's name is that of its
//! deployment. Refuses nothing of its own. Called by `caller.rs`.
//!
//! Sources: Microsoft Learn, "Azure OpenAI REST API reference", "Azure OpenAI
//! v1 API", "Content filtering".

use super::caller::Protocol;
use super::capabilities::Capabilities;
use super::http::{Incoming, KeyHeader, Outgoing};
use super::openai::{body, errors, reply};
use super::{Call, Refusal, Reply};
use crate::catalogue::{ModelName, ProviderConfig};

/// The last version with a date that is generally available.
const API_VERSION: &str = "2024-10-21";

/// The version that is no date: the address is that of OpenAI itself.
const V1: &str = "v1";

/// Speaks to deployments of Azure OpenAI.
pub(super) struct Azure;

impl Protocol for Azure {
    fn write(&self, call: Call<'_>, capabilities: Capabilities) -> Result<Outgoing, Refusal> {
        let (body, applied) = body::build(call.model, capabilities, call.request)?;
        Ok(Outgoing {
            url: url(&call.model.provider, &call.model.model),
            key_in: KeyHeader::Named("api-key"),
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

fn url(provider: &ProviderConfig, deployment: &ModelName) -> String {
    let base = provider.base_url.as_str();
    if base.ends_with("/openai/v1") {
        return format!("{base}/chat/completions");
    }
    let base = base.strip_suffix("/openai").unwrap_or(base);
    match provider.api_version.as_deref() {
        Some(V1) => format!("{base}/openai/v1/chat/completions"),
        version => format!(
            "{base}/openai/deployments/{}/chat/completions?api-version={}",
            deployment.as_one_part(),
            version.unwrap_or(API_VERSION)
        ),
    }
}
