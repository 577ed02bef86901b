//! Every metric of the gateway: names, help texts, and the few functions that
//! count them. Nothing else in the crate names a metric. Provider time is kept
//! apart from ours, so that slow models are not mistaken for slow code.

pub(crate) mod labels;

use std::time::Duration;

use agon_service_kit::metrics::Metric;

use crate::decision::Usage;
use crate::money::NanoDollars;

const DECISIONS: &str = "agon_gateway_decisions_total";
const HEDGES: &str = "agon_gateway_hedges_total";
const OUTBOX_DROPPED: &str = "agon_gateway_outbox_dropped_total";
const REQUESTS: &str = "agon_gateway_provider_requests_total";
const TOKENS: &str = "agon_gateway_tokens_total";
const QUOTA_WAIT: &str = "agon_gateway_quota_wait_seconds";
const PROVIDER_TIME: &str = "agon_gateway_provider_seconds";
const WAITING: &str = "agon_gateway_waiting";
const IN_FLIGHT: &str = "agon_gateway_in_flight";
const HTTP: &str = "agon_gateway_http_requests_total";
const STORE_ANSWERS: &str = "agon_gateway_store_answers";
const RELOADS: &str = "agon_gateway_configuration_reloads_total";
const FAULTY: &str = "agon_gateway_configuration_faulty";
const GRANTED_CALLS: &str = "agon_gateway_granted_calls_total";
const GRANTED_TOKENS: &str = "agon_gateway_granted_tokens_total";
const REFUSALS: &str = "agon_gateway_refusals_total";
const RESERVED_TOKENS: &str = "agon_gateway_reserved_tokens_total";
const SETTLED_TOKENS: &str = "agon_gateway_settled_tokens_total";
const QUEUE: &str = "agon_gateway_queue";
const LONGEST_WAIT: &str = "agon_gateway_longest_wait_seconds";
const UTILISATION: &str = "agon_gateway_limit_utilisation";
const HELD: &str = "agon_gateway_key_held_seconds";
const OUT_OF_USE: &str = "agon_gateway_key_out_of_use";
const CIRCUIT: &str = "agon_gateway_circuit_open";
const ADAPTIVE_PLACES: &str = "agon_gateway_adaptive_places";
const COST: &str = "agon_gateway_cost_nanodollars_total";
const UNPRICED: &str = "agon_gateway_unpriced_calls_total";
const RESERVED: &str = "agon_gateway_reserved_nanodollars_total";
const SETTLED: &str = "agon_gateway_settled_nanodollars_total";

/// All of them, for the process to describe at start.
pub const METRICS: [Metric; 29] = [
    Metric::counter(
        HEDGES,
        "Slow calls that were made once more, by which call answered first (first, second)",
    ),
    Metric::counter(
        OUTBOX_DROPPED,
        "Messages to the store for which there was no room while it was away, by kind",
    ),
    Metric::counter(
        DECISIONS,
        "Decisions answered, by outcome (called, ledger, content_cache, failed)",
    ),
    Metric::counter(
        REQUESTS,
        "Requests sent to providers, by provider and outcome (ok, refused, failed)",
    ),
    Metric::counter(
        TOKENS,
        "Tokens used, by provider and kind (input, output, cached, reasoning)",
    ),
    Metric::histogram(
        QUOTA_WAIT,
        "Time that admitted calls waited for quota, by team",
    ),
    Metric::histogram(
        PROVIDER_TIME,
        "Time that providers took to answer, by provider",
    ),
    Metric::gauge(WAITING, "Calls waiting for quota now"),
    Metric::gauge(IN_FLIGHT, "Calls at providers now"),
    Metric::counter(
        HTTP,
        "Requests answered by the HTTP door, by route and status (streams: that of their headers)",
    ),
    Metric::gauge(
        STORE_ANSWERS,
        "1 while the shared store answers, 0 while it does not",
    ),
    Metric::counter(
        COST,
        "Cost of calls in billionths of a dollar, by team and model; calls that may have been \
         used count at their most",
    ),
    Metric::counter(
        UNPRICED,
        "Calls whose price is not known, by team and model",
    ),
    Metric::counter(
        RESERVED,
        "Held in budgets before calls in billionths of a dollar, by team",
    ),
    Metric::counter(
        SETTLED,
        "Charged of what was held in billionths of a dollar, by team",
    ),
    Metric::counter(
        RELOADS,
        "Times the configuration was read again, by outcome (used, unchanged, faulty)",
    ),
    Metric::gauge(
        FAULTY,
        "1 while the configuration on disk cannot be used and an older one is in use",
    ),
    Metric::counter(
        GRANTED_CALLS,
        "Calls that were admitted, by team: its share of the calls",
    ),
    Metric::counter(
        GRANTED_TOKENS,
        "Tokens that calls were admitted with, by team: its share of the quota",
    ),
    Metric::counter(
        REFUSALS,
        "Calls that providers refused for lack of quota or because of the key, by provider, \
         model and team",
    ),
    Metric::counter(
        RESERVED_TOKENS,
        "Tokens taken from quotas before calls, by provider",
    ),
    Metric::counter(
        SETTLED_TOKENS,
        "Tokens that those calls used in the end, by provider",
    ),
    Metric::gauge(QUEUE, "Calls waiting for quota in this replica, by team"),
    Metric::gauge(
        LONGEST_WAIT,
        "How long the oldest of them has waited, by team",
    ),
    Metric::gauge(
        UTILISATION,
        "Used part of a limit in the last minute (day, now), by provider, key, model and limit; \
         model is empty for limits over all models",
    ),
    Metric::gauge(
        HELD,
        "Seconds until a key may be used again, by provider, key and model",
    ),
    Metric::gauge(
        OUT_OF_USE,
        "1 for a key that was taken out of use, by provider and key",
    ),
    Metric::gauge(
        CIRCUIT,
        "1 while a circuit is open, 0.5 while it is tried, by provider, key and model",
    ),
    Metric::gauge(
        ADAPTIVE_PLACES,
        "Calls at once that adaptive concurrency allows, by provider, key and model",
    ),
];

/// How a decision ended.
pub fn count_decision(outcome: &'static str) {
    metrics::counter!(DECISIONS, "outcome" => outcome).increment(1);
}

/// A message to the store for which there was no room.
pub fn count_outbox_dropped(kind: &'static str) {
    metrics::counter!(OUTBOX_DROPPED, "kind" => kind).increment(1);
}

/// Which call of a hedged decision answered first.
pub fn count_hedge(first_answer: &'static str) {
    metrics::counter!(HEDGES, "answered" => first_answer).increment(1);
}

/// How a request to a provider ended, and how long it took.
pub fn count_request(provider: &str, outcome: &'static str, took: Duration) {
    metrics::counter!(REQUESTS, "provider" => provider.to_owned(), "outcome" => outcome)
        .increment(1);
    metrics::histogram!(PROVIDER_TIME, "provider" => provider.to_owned()).record(took);
}

/// What a call used.
pub fn count_tokens(provider: &str, usage: &Usage) {
    let kinds = [
        ("input", usage.input_tokens),
        ("output", usage.output_tokens),
        ("cached", usage.cached_input_tokens),
        ("reasoning", usage.reasoning_tokens),
    ];
    for (kind, tokens) in kinds {
        if tokens > 0 {
            metrics::counter!(TOKENS, "provider" => provider.to_owned(), "kind" => kind)
                .increment(tokens);
        }
    }
}

/// How long a call waited for quota.
pub fn observe_quota_wait(team: &str, waited: Duration) {
    metrics::histogram!(QUOTA_WAIT, "team" => labels::team(team)).record(waited);
}

/// One more, or one fewer, waits for quota.
pub fn move_waiting(by: f64) {
    metrics::gauge!(WAITING).increment(by);
}

/// One more, or one fewer, is at a provider.
pub fn move_in_flight(by: f64) {
    metrics::gauge!(IN_FLIGHT).increment(by);
}

/// Whether the shared store answers.
pub fn set_store_answers(answers: bool) {
    metrics::gauge!(STORE_ANSWERS).set(f64::from(u8::from(answers)));
}

/// What a call cost; absent when its price is not known.
pub fn count_cost(team: &str, model: &str, cost: Option<NanoDollars>) {
    let (team, model) = (labels::team(team), labels::model(model));
    match cost {
        Some(cost) => metrics::counter!(COST, "team" => team, "model" => model).increment(cost.0),
        None => metrics::counter!(UNPRICED, "team" => team, "model" => model).increment(1),
    }
}

/// Money was held in a budget.
pub fn count_reserved(team: &str, most: NanoDollars) {
    metrics::counter!(RESERVED, "team" => labels::team(team)).increment(most.0);
}

/// Of money that was held, this much was charged.
pub fn count_settled(team: &str, cost: NanoDollars) {
    metrics::counter!(SETTLED, "team" => labels::team(team)).increment(cost.0);
}

/// What came of reading the configuration again.
pub fn count_reload(outcome: &'static str) {
    metrics::counter!(RELOADS, "outcome" => outcome).increment(1);
}

/// Whether the configuration on disk cannot be used.
pub fn set_configuration_faulty(faulty: bool) {
    metrics::gauge!(FAULTY).set(f64::from(u8::from(faulty)));
}

/// How the HTTP door answered a request.
pub fn count_http(route: &str, status: u16) {
    metrics::counter!(HTTP, "route" => route.to_owned(), "status" => status.to_string())
        .increment(1);
}

/// A call was admitted with so many tokens.
pub fn count_granted(team: &str, tokens: u64) {
    let team = labels::team(team);
    metrics::counter!(GRANTED_CALLS, "team" => team.clone()).increment(1);
    metrics::counter!(GRANTED_TOKENS, "team" => team).increment(tokens);
}

/// A provider refused a call of a team.
pub fn count_refusal(provider: &str, model: &str, team: &str) {
    metrics::counter!(
        REFUSALS,
        "provider" => provider.to_owned(),
        "model" => labels::model(model),
        "team" => labels::team(team),
    )
    .increment(1);
}

/// Tokens were taken from a quota.
pub fn count_reserved_tokens(provider: &str, tokens: u64) {
    metrics::counter!(RESERVED_TOKENS, "provider" => provider.to_owned()).increment(tokens);
}

/// So many of them were used.
pub fn count_settled_tokens(provider: &str, tokens: u64) {
    metrics::counter!(SETTLED_TOKENS, "provider" => provider.to_owned()).increment(tokens);
}

/// Who waits.
pub fn set_queue(team: &str, calls: u64, longest: Duration) {
    let team = labels::team(team);
    metrics::gauge!(QUEUE, "team" => team.clone()).set(calls as f64);
    metrics::gauge!(LONGEST_WAIT, "team" => team).set(longest.as_secs_f64());
}

/// What is shown of a key, over all models or for one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyLabels {
    /// The provider.
    pub provider: String,
    /// Where the key was found.
    pub key: String,
    /// Its own name for the model; empty: over all.
    pub model: String,
}

/// Which part of a limit is used, 0 to 1 and beyond.
pub fn set_utilisation(labels: &KeyLabels, limit: &str, used: f64) {
    let KeyLabels {
        provider,
        key,
        model,
    } = labels.clone();
    metrics::gauge!(
        UTILISATION,
        "provider" => provider, "key" => key, "model" => model, "limit" => limit.to_owned(),
    )
    .set(used);
}

/// How a key stands for a model.
pub fn set_lane_key(labels: &KeyLabels, held: Duration, circuit: f64, places: u64) {
    let shown = |name: &'static str, value: f64| {
        let KeyLabels {
            provider,
            key,
            model,
        } = labels.clone();
        metrics::gauge!(name, "provider" => provider, "key" => key, "model" => model).set(value);
    };
    shown(HELD, held.as_secs_f64());
    shown(CIRCUIT, circuit);
    shown(ADAPTIVE_PLACES, places as f64);
}

/// Whether a key was taken out of use.
pub fn set_out_of_use(provider: &str, key: &str, out: bool) {
    metrics::gauge!(OUT_OF_USE, "provider" => provider.to_owned(), "key" => key.to_owned())
        .set(f64::from(u8::from(out)));
}
