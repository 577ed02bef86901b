//! Anthropic messages. Bodies are written in `anthropic/body.rs`, replies read
//! in `anthropic/reply.rs`; what errors mean is the table below. There is no
//! seed in this protocol. Called by `caller.rs`.
//!
//! Sources: Anthropic API reference "Messages", "Errors", "Rate limits",
//! "Versions"; guides "Tool use", "Extended thinking", "Adaptive thinking".

pub(super) mod body;
mod reply;

use super::caller::Protocol;
use super::capabilities::Capabilities;
use super::error_body::ErrorBody;
use super::http::{Incoming, KeyHeader, Outgoing};
use super::judging::{self, Meaning, Rule, Says, rule};
use super::{Call, Refusal, Reply};

use Meaning::{DeadKey, Filtered, Final, NoQuotaNow, OtherKey, Passing};
use Says::{Anything, Code, Words};

/// The version that is written and read here; the only one since 2023.
const VERSION: &str = "2023-06-01";

#[rustfmt::skip] // A table reads better in columns.
const RULES: [Rule; 17] = [
    // The account has no money left, or is closed; waiting is in vain.
    rule(0, Words("credit balance is too low"), DeadKey),
    rule(0, Words("reached your specified"), DeadKey), // its own limit for the month
    rule(0, Words("organization has been disabled"), DeadKey),
    rule(0, Code("billing_error"), DeadKey),
    rule(400, Words("blocked by content filtering policy"), Filtered),
    rule(401, Anything, DeadKey),
    rule(402, Anything, DeadKey),
    // A workspace or key may lack the model that another one has.
    rule(403, Anything, OtherKey),
    rule(404, Code("not_found_error"), OtherKey),
    rule(408, Anything, Passing),
    rule(409, Anything, Passing),
    rule(413, Anything, Final),
    // Contexts above the usual length are a matter of the account.
    rule(429, Words("long context"), OtherKey),
    rule(429, Words("larger than your"), OtherKey),
    rule(429, Anything, NoQuotaNow),
    rule(0, Code("overloaded_error"), Passing),
    rule(501, Anything, Final),
];

/// Speaks the messages protocol.
pub(super) struct Anthropic;

impl Protocol for Anthropic {
    fn write(&self, call: Call<'_>, capabilities: Capabilities) -> Result<Outgoing, Refusal> {
        let provider = &call.model.provider;
        let version = provider.api_version.as_deref().unwrap_or(VERSION);
        let (body, applied) = body::build(call.model, capabilities, call.request)?;
        Ok(Outgoing {
            url: format!("{}/messages", provider.base_url),
            key_in: KeyHeader::Named("x-api-key"),
            headers: vec![("anthropic-version", version.to_owned())],
            body,
            applied,
        })
    }

    fn read(&self, call: Call<'_>, incoming: &Incoming) -> Result<Reply, Refusal> {
        reply::read(call.request, incoming)
    }

    fn judge(&self, incoming: &Incoming) -> Result<Reply, Refusal> {
        judging::judge(&RULES, incoming, &ErrorBody::read(&incoming.body))
    }

    fn error_inside_success(&self, incoming: &Incoming) -> Option<Refusal> {
        let said = ErrorBody::read(&incoming.body);
        // A message that is not whole says its type, and no error.
        let said = Some(said).filter(|said| !said.codes.iter().any(|code| code == "message"));
        judging::inside_success(&RULES, incoming, said?)
    }
}
