//! Limits as written, checked into limits as kept. Refuses limits that would let
//! nothing through, and two statements of the limits of one model. Called for
//! providers and for models.

use std::collections::BTreeMap;

use super::sections::{ConcurrencySection, LimitsSection, ModelSection};
use crate::limits::KeyLimits;

/// The checked limits, or what is wrong with them.
pub(super) fn check(section: &LimitsSection) -> Result<KeyLimits, String> {
    let (concurrency, adaptive) = match section.concurrency {
        Some(ConcurrencySection::Fixed(places)) => (Some(places), false),
        Some(ConcurrencySection::Auto) => (None, true),
        None => (None, false),
    };
    let limits = KeyLimits {
        requests_per_minute: section.requests_per_minute,
        tokens_per_minute: section.tokens_per_minute,
        input_tokens_per_minute: section.input_tokens_per_minute,
        output_tokens_per_minute: section.output_tokens_per_minute,
        requests_per_day: section.requests_per_day,
        concurrency,
        adaptive,
    };
    if limits.any_is_zero() {
        return Err("a limit of 0 would never let a call through, leave it out".to_owned());
    }
    Ok(limits)
}

/// The checked limits of a model, which are those of all names of the same model of a provider: one
/// section states them, or several state the same.
pub(super) fn of_model(
    name: &str,
    section: &ModelSection,
    models: &BTreeMap<String, ModelSection>,
) -> Result<KeyLimits, String> {
    fn named<'a>(name: &'a str, section: &'a ModelSection) -> (&'a str, &'a str) {
        let model = section.model.as_deref().unwrap_or(name);
        (&section.provider, model)
    }
    let mut limits = check(&section.limits)?;
    for (other, theirs) in models {
        if other == name || named(other, theirs) != named(name, section) {
            continue;
        }
        let stated = check(&theirs.limits)?;
        if limits == KeyLimits::default() {
            limits = stated;
        } else if stated != KeyLimits::default() && stated != limits {
            let (provider, model) = named(name, section);
            return Err(format!(
                "its limits are not those of model {other}, and both are {model} of provider \
                 {provider}: state them in one section"
            ));
        }
    }
    Ok(limits)
}
