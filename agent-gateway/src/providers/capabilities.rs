//! What a model takes. The configuration says what to send. A server may refuse a parameter
//! all the same; where its error says so in fields made for programs, the parameter is left out
//! for a while, which every decision says of itself. What the configuration states is never
//! learnt otherwise. Called by `caller.rs`; the protocols read [`Capabilities`] when they write
//! a request.

mod complaints;
mod learnt;
mod stored;

use super::http::Incoming;
use crate::catalogue::{OutputLimitField, ResolvedModel, StructuredOutput};
use crate::decision::{ReplyFormat, Request};
use crate::parameters::Parameter;

use complaints::Complaint;
pub(crate) use learnt::Learnt;
pub(crate) use stored::StoredLesson;

/// What one call may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Capabilities {
    /// How a reply format is sent.
    pub(super) structured_output: StructuredOutput,
    /// A seed is sent.
    pub(super) seed: bool,
    /// The temperature is sent.
    pub(super) temperature: bool,
    /// `top_p` is sent.
    pub(super) top_p: bool,
    /// Stop sequences are sent; otherwise the reply is cut here.
    pub(super) stop: bool,
    /// How long to think is sent.
    pub(super) reasoning_effort: bool,
    /// How likely the tokens were is asked for.
    pub(super) logprobs: bool,
    /// The field that carries the most tokens to write.
    pub(super) output_limit_field: OutputLimitField,
}

impl Capabilities {
    /// What the configuration promises.
    pub(super) fn configured(model: &ResolvedModel) -> Self {
        let takes = &model.takes;
        Self {
            structured_output: takes.structured_output.value,
            seed: takes.seed.value,
            temperature: takes.temperature.value,
            top_p: takes.top_p.value,
            stop: takes.stop_sequences.value,
            reasoning_effort: takes.reasoning_effort.value,
            logprobs: takes.logprobs.value,
            output_limit_field: model.output_limit_field,
        }
    }

    /// With less, by what a server refused of a call with these.
    fn without(self, complaint: &Complaint) -> Self {
        let mut less = self;
        match complaint {
            Complaint::Parameter(parameter) => match parameter {
                Parameter::Temperature => less.temperature = false,
                Parameter::TopP => less.top_p = false,
                Parameter::SamplingSeed => less.seed = false,
                Parameter::StopSequences => less.stop = false,
                Parameter::ReasoningEffort => less.reasoning_effort = false,
                Parameter::Logprobs => less.logprobs = false,
                Parameter::ReplyFormat => {
                    less.structured_output = weaker(self.structured_output);
                }
            },
            Complaint::OutputLimitField => {
                less.output_limit_field = self.output_limit_field.other();
            }
        }
        less
    }
}

/// The next weaker way to ask for a form.
fn weaker(how: StructuredOutput) -> StructuredOutput {
    match how {
        StructuredOutput::JsonSchema => StructuredOutput::JsonObject,
        StructuredOutput::JsonObject | StructuredOutput::None => StructuredOutput::None,
    }
}

/// Whether the configuration itself states what a complaint is about.
fn is_stated(model: &ResolvedModel, complaint: &Complaint) -> bool {
    let takes = &model.takes;
    match complaint {
        Complaint::OutputLimitField => model.output_limit_field_is_stated,
        Complaint::Parameter(parameter) => match parameter {
            Parameter::Temperature => takes.temperature.stated,
            Parameter::TopP => takes.top_p.stated,
            Parameter::SamplingSeed => takes.seed.stated,
            Parameter::StopSequences => takes.stop_sequences.stated,
            Parameter::ReasoningEffort => takes.reasoning_effort.stated,
            Parameter::Logprobs => takes.logprobs.stated,
            Parameter::ReplyFormat => takes.structured_output.stated,
        },
    }
}

/// What a refusal complains about of what was sent, if its error says so in fields for
/// programs and the configuration leaves it open.
fn complaint_about(
    model: &ResolvedModel,
    request: &Request,
    sent: Capabilities,
    incoming: &Incoming,
) -> Option<Complaint> {
    let complaint = complaints::read(incoming)?;
    let was_sent = match &complaint {
        Complaint::OutputLimitField => true,
        Complaint::Parameter(parameter) => match parameter {
            Parameter::Temperature => request.temperature.is_some() && sent.temperature,
            Parameter::TopP => request.top_p.is_some() && sent.top_p,
            Parameter::SamplingSeed => request.sampling_seed.is_some() && sent.seed,
            Parameter::Logprobs => request.logprobs.is_some() && sent.logprobs,
            Parameter::StopSequences => !request.stop_sequences.is_empty() && sent.stop,
            Parameter::ReasoningEffort => {
                request.reasoning_effort.is_some() && sent.reasoning_effort
            }
            Parameter::ReplyFormat => {
                request.reply_format.is_some() && sent.structured_output != StructuredOutput::None
            }
        },
    };
    (was_sent && !is_stated(model, &complaint)).then_some(complaint)
}

/// What tells one reply format from another.
fn format_key(format: &ReplyFormat) -> blake3::Hash {
    blake3::hash(format.json_schema.as_bytes())
}

#[cfg(test)]
mod tests;
