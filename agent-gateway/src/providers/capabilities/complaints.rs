//! Which parameter a refusal is about, read only from the fields that servers write for
//! programs: `param` and `code` of OpenAI and Azure, `loc` and `type` of servers that check
//! requests with pydantic (vLLM, Mistral). Words are for people and teach nothing. Called by
//! `capabilities.rs`.

use serde_json::Value;

use super::super::error_body::error_in;
use super::super::http::Incoming;
use crate::parameters::Parameter;

/// The parameter itself is not taken.
const UNKNOWN: [&str; 3] = [
    "unsupported_parameter",
    "unknown_parameter",
    "extra_forbidden",
];

/// This value is not taken. Of an effort it is a wrong word, which must not cost the others
/// theirs; of a number it is a model that knows one value only.
const UNSUPPORTED_VALUE: &str = "unsupported_value";

/// What servers call their parameters.
const NAMES: [(&str, Complaint); 13] = [
    ("temperature", Complaint::Parameter(Parameter::Temperature)),
    ("top_p", Complaint::Parameter(Parameter::TopP)),
    ("seed", Complaint::Parameter(Parameter::SamplingSeed)),
    ("random_seed", Complaint::Parameter(Parameter::SamplingSeed)),
    ("stop", Complaint::Parameter(Parameter::StopSequences)),
    (
        "reasoning_effort",
        Complaint::Parameter(Parameter::ReasoningEffort),
    ),
    (
        "reasoning",
        Complaint::Parameter(Parameter::ReasoningEffort),
    ),
    (
        "chat_template_kwargs",
        Complaint::Parameter(Parameter::ReasoningEffort),
    ),
    (
        "response_format",
        Complaint::Parameter(Parameter::ReplyFormat),
    ),
    ("logprobs", Complaint::Parameter(Parameter::Logprobs)),
    ("top_logprobs", Complaint::Parameter(Parameter::Logprobs)),
    ("max_tokens", Complaint::OutputLimitField),
    ("max_completion_tokens", Complaint::OutputLimitField),
];

/// The name of the complaint that is not about a parameter.
const OUTPUT_LIMIT_FIELD: &str = "output_limit_field";

/// What a server does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Complaint {
    /// A parameter.
    Parameter(Parameter),
    /// The field that carries the most tokens to write: there is another one.
    OutputLimitField,
}

impl Complaint {
    /// What is refused, in the word of the configuration or of records.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Parameter(parameter) => parameter.name(),
            Self::OutputLimitField => OUTPUT_LIMIT_FIELD,
        }
    }

    /// What has this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            OUTPUT_LIMIT_FIELD => Some(Self::OutputLimitField),
            name => Parameter::named(name).map(Self::Parameter),
        }
    }
}

/// What a refusal is about; nothing where its fields do not say, or say that a value is wrong.
pub(super) fn read(incoming: &Incoming) -> Option<Complaint> {
    if !matches!(incoming.status.as_u16(), 400 | 422) {
        return None;
    }
    let body: Value = serde_json::from_slice(&incoming.body).ok()?;
    let error = error_in(&body);
    if let Some(parameter) = error["param"].as_str() {
        return about(parameter, error["code"].as_str().unwrap_or_default());
    }
    let details = error["detail"].as_array()?.iter();
    let mut complaints = details.filter_map(|detail| {
        let place = detail["loc"].as_array()?;
        let [Value::String(part), Value::String(parameter), ..] = place.as_slice() else {
            return None;
        };
        let kind = detail["type"].as_str().unwrap_or_default();
        about(parameter, kind).filter(|_| part == "body")
    });
    complaints.next()
}

fn about(parameter: &str, code: &str) -> Option<Complaint> {
    // "response_format.json_schema.schema" is a matter of the format as a whole.
    let name = parameter.split(['.', '[']).next().unwrap_or(parameter);
    let (_, complaint) = NAMES.into_iter().find(|(known, _)| *known == name)?;
    let applies = match complaint {
        // What is wrong with a format nobody says in a code: it may be its schema. It is left
        // out for that schema alone.
        Complaint::Parameter(Parameter::ReplyFormat) => true,
        Complaint::Parameter(
            Parameter::Temperature | Parameter::TopP | Parameter::StopSequences,
        ) => UNKNOWN.contains(&code) || code == UNSUPPORTED_VALUE,
        _ => UNKNOWN.contains(&code),
    };
    applies.then_some(complaint)
}
