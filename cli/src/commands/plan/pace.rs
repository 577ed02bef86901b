//! How long an experiment takes at least under the limits that are configured. Knows no time of
//! answers and no price. Called by `plan.rs`.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_agent_gateway::GatewayConfig;
use agon_agent_gateway::admission::KeyLimits;
use agon_coordinator::experiment::{ModelPlan, Plan};

/// The shortest time in which the limits of all keys let the expected calls through; `None` where
/// nothing is limited.
pub fn shortest(plan: &Plan, config: &GatewayConfig) -> Option<Duration> {
    let mut providers: BTreeMap<String, (KeyLimits, u64, ModelPlan)> = BTreeMap::new();
    let mut longest: Option<f64> = None;
    for (model, needs) in &plan.models {
        let Ok(resolved) = config.resolve_without_keys(model) else {
            continue;
        };
        let keys = (resolved.provider.keys.len() as u64).max(1);
        longest = later(longest, minutes(&resolved.limits, keys, needs));
        let shared = (resolved.provider.limits, keys, ModelPlan::default());
        let entry = providers
            .entry(resolved.provider.name.clone())
            .or_insert(shared);
        add(&mut entry.2, needs);
    }
    for (limits, keys, needs) in providers.values() {
        longest = later(longest, minutes(limits, *keys, needs));
    }
    longest.map(|minutes| Duration::from_secs_f64((minutes * 60.0).min(1e12)))
}

fn add(sum: &mut ModelPlan, more: &ModelPlan) {
    sum.decisions.expected += more.decisions.expected;
    sum.input_tokens.expected += more.input_tokens.expected;
    sum.output_tokens.expected += more.output_tokens.expected;
}

fn later(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

/// Minutes under the limit that binds.
fn minutes(limits: &KeyLimits, keys: u64, needs: &ModelPlan) -> Option<f64> {
    const MINUTES_OF_A_DAY: f64 = 24.0 * 60.0;
    let (calls, input, output) = (
        needs.decisions.expected as f64,
        needs.input_tokens.expected as f64,
        needs.output_tokens.expected as f64,
    );
    let at = |amount: f64, limit: Option<u64>| Some(amount / (limit? * keys) as f64);
    let binding = [
        at(calls, limits.requests_per_minute),
        at(input + output, limits.tokens_per_minute),
        at(input, limits.input_tokens_per_minute),
        at(output, limits.output_tokens_per_minute),
        // A day's requests may all be made at once, so only further days take time.
        at(calls, limits.requests_per_day)
            .map(|days| (days.ceil() - 1.0).max(0.0) * MINUTES_OF_A_DAY),
    ];
    binding.into_iter().fold(None, later)
}

#[cfg(test)]
mod tests {
    use agon_coordinator::experiment::Range;

    use super::*;

    #[test]
    fn limit_that_binds_decides_and_keys_add_up() {
        let range = |expected| Range {
            expected,
            most: expected,
        };
        let needs = ModelPlan {
            sessions: 1,
            decisions: range(600),
            input_tokens: range(90_000),
            output_tokens: range(6_000),
        };
        let limits = KeyLimits {
            requests_per_minute: Some(60),
            input_tokens_per_minute: Some(3_000),
            ..KeyLimits::default()
        };
        assert_eq!(minutes(&limits, 1, &needs), Some(30.0));
        assert_eq!(minutes(&limits, 3, &needs), Some(10.0));
        assert_eq!(minutes(&KeyLimits::default(), 1, &needs), None);
        let daily = |limit| KeyLimits {
            requests_per_day: Some(limit),
            ..KeyLimits::default()
        };
        assert_eq!(minutes(&daily(600), 1, &needs), Some(0.0));
        assert_eq!(minutes(&daily(599), 1, &needs), Some(1_440.0));
    }
}
