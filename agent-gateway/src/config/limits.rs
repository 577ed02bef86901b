//! Limits as written, checked into limits as kept. Refuses limits that would let
//! nothing through. Called for providers and for models.

use super::sections::{ConcurrencySection, LimitsSection};
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
