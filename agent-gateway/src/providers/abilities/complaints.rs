//! Which part of a request a refusal complains about. Servers agree on no form,
//! so that words decide; only what was sent can be complained about, and a
//! wrong value is no missing ability. Called by `abilities.rs`.

use super::super::http::Incoming;
use super::{Ability, Thinking};
use crate::config::StructuredOutput;
use crate::decision::Request;

/// A complaint is at the beginning of a body, what it quotes may be long.
const COMPLAINT_BYTES: usize = 4_096;

/// How servers say that they do not know a field or one of its values.
const NOT_TAKEN: [&str; 19] = [
    "support",
    "deprecated",
    "unavailable",
    "not available",
    "not enabled",
    "not implemented",
    "not permitted",
    "not allowed",
    "may not be",
    "cannot both",
    "cannot find field",
    "does not match any",
    "forbidden",
    "unknown",
    "unexpected",
    "unrecognized",
    "extra inputs",
    "extra fields",
    "incompatible",
];

/// How they say it of a reply format only; of a number these words mean that it
/// is out of range.
const FORMAT_NOT_TAKEN: [&str; 3] = ["must be", "must contain", "not one of the allowed"];

/// The caller asked for something that does not exist; leaving it out would
/// hide the mistake.
const WRONG_VALUE: &str = "invalid value";

/// The same of an effort: the model does think as long as it is told, in other
/// words. Left out, it would be lost for all who ask in the right words.
const WRONG_EFFORT: [&str; 3] = [
    "unsupported value",
    "supported values",
    "other thinking level",
];

/// How servers call the reply format.
const FORMAT_NAMES: [&str; 8] = [
    "response_format",
    "response format",
    "json_schema",
    "json_object",
    "responsejsonschema",
    "response_json_schema",
    "responsemimetype",
    "json mode",
];

/// How servers call the length of thinking.
const THINKING_NAMES: [&str; 9] = [
    "reasoning_effort",
    "effort",
    "thinking",
    "thinkingconfig",
    "thinking_config",
    "thinkingbudget",
    "thinking_budget",
    "thinkinglevel",
    "thinking_level",
];

/// What a server complained about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Complaints {
    pub(super) format: bool,
    pub(super) forced_tool: bool,
    pub(super) seed: bool,
    pub(super) temperature: bool,
    pub(super) top_p: bool,
    pub(super) stop: bool,
    pub(super) limit_field: bool,
    pub(super) thinking: bool,
}

/// What a refusal complains about, of what was sent.
pub(super) fn heard(request: &Request, sent: Ability, incoming: &Incoming) -> Complaints {
    let said = String::from_utf8_lossy(beginning(&incoming.body)).to_lowercase();
    if !matches!(incoming.status.as_u16(), 400 | 422) || said.contains(WRONG_VALUE) {
        return Complaints::default();
    }
    let any_of = |list: &[&str]| list.iter().any(|words| said.contains(words));
    let sent_format =
        request.reply_format.is_some() && sent.structured_output != StructuredOutput::None;
    let about_format = sent_format && any_of(&FORMAT_NAMES);
    if !any_of(&NOT_TAKEN) {
        return Complaints {
            format: about_format && any_of(&FORMAT_NOT_TAKEN),
            ..Complaints::default()
        };
    }
    if sent_format && sent.forced_tool && said.contains("tool_choice") {
        return Complaints {
            forced_tool: true,
            ..Complaints::default()
        };
    }
    let names = |list: &[&str]| {
        said.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .any(|word| list.contains(&word))
    };
    let temperature = request.temperature.is_some() && sent.temperature && names(&["temperature"]);
    let top_p = request.top_p.is_some() && sent.top_p && names(&["top_p", "topp"]);
    // Of two that do not go together the second one is left out.
    let one_is_enough = temperature && top_p && said.contains("both");
    Complaints {
        format: about_format,
        forced_tool: false,
        seed: request.sampling_seed.is_some() && sent.seed && names(&["seed"]),
        temperature: temperature && !one_is_enough,
        top_p,
        stop: !request.stop_sequences.is_empty()
            && sent.stop
            && names(&["stop", "stop_sequences", "stopsequences"]),
        limit_field: sent.configured_limit_field && about_limit_field(&said),
        thinking: request.reasoning_effort.is_some()
            && sent.thinking != Thinking::Untold
            && !any_of(&WRONG_EFFORT)
            && names(&THINKING_NAMES),
    }
}

/// The two fields are told apart by name; a number that is too large, of which
/// they speak too, is another matter.
fn about_limit_field(said: &str) -> bool {
    let unknown = [
        "unsupported",
        "unknown",
        "unexpected",
        "unrecognized",
        "extra",
        "not permitted",
    ];
    said.contains("max_completion_tokens")
        && !said.contains("too large")
        && unknown.iter().any(|words| said.contains(words))
}

pub(super) fn beginning(body: &[u8]) -> &[u8] {
    &body[..body.len().min(COMPLAINT_BYTES)]
}
