//! Which parameters a model takes, as far as the configuration says, and whether it says so
//! itself or is only assumed to mean it. Built by `config.rs`; what servers say otherwise is
//! learnt in `providers/capabilities.rs`.

use super::provider::ProviderConfig;
use super::sections::{ModelSection, ProviderKind, StructuredOutput};
use crate::catalogue::{Knobs, KnownModel};

/// A value, and whether the configuration states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// It stands in the configuration; otherwise it is a default.
    pub stated: bool,
}

impl<T> Setting<T> {
    fn new(stated: Option<T>, default: T) -> Self {
        Self {
            stated: stated.is_some(),
            value: stated.unwrap_or(default),
        }
    }
}

/// What a section comes to.
pub(super) struct Taken {
    pub(super) takes: Takes,
    /// It is one of the models that refuse to be told how to sample.
    pub(super) refuses_sampling: bool,
}

/// What a model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takes {
    /// How it is told what a reply should look like.
    pub structured_output: Setting<StructuredOutput>,
    /// A sampling seed.
    pub seed: Setting<bool>,
    /// A temperature.
    pub temperature: Setting<bool>,
    /// `top_p`.
    pub top_p: Setting<bool>,
    /// Stop sequences.
    pub stop_sequences: Setting<bool>,
    /// A reasoning effort.
    pub reasoning_effort: Setting<bool>,
    /// A wish to know how likely the tokens were.
    pub logprobs: Setting<bool>,
}

impl Takes {
    /// What a section says. Models that think refuse to be told how to sample (OpenAI
    /// "Reasoning models", Anthropic "Extended thinking"), and only OpenAI's own refuse to
    /// be told where to stop.
    pub(super) fn of(
        section: &ModelSection,
        provider: &ProviderConfig,
        known: Option<KnownModel>,
    ) -> Taken {
        let openai = matches!(provider.kind, ProviderKind::OpenAi | ProviderKind::Azure);
        let by_name = openai && known.is_some_and(|known| known.knobs == Knobs::NoSampling);
        let thinks = section.reasoning.unwrap_or(by_name);
        let takes = Self {
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
        Taken {
            takes,
            refuses_sampling: thinks,
        }
    }
}
