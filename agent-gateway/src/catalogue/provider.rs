//! A provider as the rest of the gateway knows it: checked, with every default filled in. Built by
//! `config/provider.rs`.

use std::time::Duration;

use super::cloud::Cloud;
use super::settings::{ChargeRule, EffortField, OutputLimitField, ProviderKind, StructuredOutput};
use crate::keys::KeyEntry;
use crate::limits::KeyLimits;

/// A provider, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderConfig {
    /// Its name in the configuration.
    pub name: String,
    /// Which protocol it speaks.
    pub kind: ProviderKind,
    /// Where it is, without a slash at the end.
    pub base_url: String,
    /// The name under which results know it: `base_url`, or another that is stated.
    pub endpoint: String,
    /// Where its keys are; empty for keyless servers.
    pub keys: Vec<KeyEntry>,
    /// Limits of each key, or of all keys of an account together.
    pub limits: KeyLimits,
    /// How tokens are counted against the limits.
    pub charge: ChargeRule,
    /// How much of a limit per minute may be used at once.
    pub burst: Duration,
    /// How long one call may take.
    pub timeout: Duration,
    /// The configuration states that time itself.
    pub timeout_is_stated: bool,
    /// The version of the protocol, where it has one.
    pub api_version: Option<String>,
    /// Where in a cloud it is.
    pub cloud: Cloud,
    /// What its models are assumed to take.
    pub(crate) structured_output: StructuredOutput,
    /// Its models are assumed to take a seed.
    pub(crate) seed: bool,
    /// The field that its models are assumed to want.
    pub(crate) output_limit_field: OutputLimitField,
}

impl ProviderConfig {
    /// How its models are told how long to think, unless the configuration says.
    pub(crate) fn effort_field(&self, model: &str) -> EffortField {
        if self.name == "openrouter" || self.base_url.contains("://openrouter.ai/") {
            return EffortField::Reasoning;
        }
        match self.name == "vllm" && model.contains("qwen3") {
            true => EffortField::EnableThinking,
            false => EffortField::ReasoningEffort,
        }
    }
}
