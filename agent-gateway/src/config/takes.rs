//! Which parameters a model takes, as far as the configuration says, and whether it says so
//! itself or is only assumed to mean it. Built by `config.rs`; what servers say otherwise is
//! learnt in `providers/capabilities.rs`.

use super::sections::ModelSection;
use crate::catalogue::{Knobs, KnownModel, ProviderConfig, ProviderKind, Setting, Takes};

/// What a section comes to.
pub(super) struct SectionTakes {
    pub(super) takes: Takes,
    /// It is one of the models that refuse to be told how to sample.
    pub(super) refuses_sampling: bool,
}

/// What a section says. Models that think refuse to be told how to sample (OpenAI
/// "Reasoning models", Anthropic "Extended thinking"), and only OpenAI's own refuse to
/// be told where to stop.
pub(super) fn of(
    section: &ModelSection,
    provider: &ProviderConfig,
    known: Option<KnownModel>,
) -> SectionTakes {
    let openai = matches!(provider.kind, ProviderKind::OpenAi | ProviderKind::Azure);
    let by_name = openai && known.is_some_and(|known| known.knobs == Knobs::NoSampling);
    let thinks = section.reasoning.unwrap_or(by_name);
    let takes = Takes {
        structured_output: Setting::new(section.structured_output, provider.structured_output),
        seed: Setting::new(section.seed, provider.seed),
        temperature: Setting::new(section.temperature, !thinks),
        top_p: Setting::new(section.top_p, !thinks),
        stop_sequences: Setting::new(section.stop_sequences, !(thinks && openai)),
        reasoning_effort: Setting::new(section.reasoning_effort, true),
        // There is no such thing in Anthropic's and in Amazon's protocol.
        logprobs: Setting::new(
            section.logprobs,
            !thinks
                && !matches!(
                    provider.kind,
                    ProviderKind::Anthropic | ProviderKind::Bedrock
                ),
        ),
    };
    SectionTakes {
        takes,
        refuses_sampling: thinks,
    }
}
