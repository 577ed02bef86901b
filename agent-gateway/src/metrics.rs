//! Every metric of the gateway: names, help texts, and the few functions that
//! count them. Nothing else in the crate names a metric. Provider time is kept
//! apart from ours, so that slow models are not mistaken for slow code.

pub(crate) mod labels;

use std::time::Duration;

use agon_service_kit::metrics::Metric;

use crate::decision::Usage;
use crate::money::NanoDollars;

const HEDGES: Metric = Metric::counter(
    "agon_gateway_hedges_total",
    "Slow calls that were made once more, by which call answered first (first, second)",
);
const OUTBOX_DROPPED: Metric = Metric::counter(
    "agon_gateway_outbox_dropped_total",
    "Messages to the store for which there was no room while it was away, by kind",
);
const DECISIONS: Metric = Metric::counter(
    "agon_gateway_decisions_total",
    "Decisions answered, by outcome (called, ledger, content_cache, failed)",
);
const REQUESTS: Metric = Metric::counter(
    "agon_gateway_provider_requests_total",
    "Requests sent to providers, by provider and outcome (ok, refused, failed)",
);
const TOKENS: Metric = Metric::counter(
    "agon_gateway_tokens_total",
    "Tokens used, by provider and kind (input, output, cached, reasoning)",
);
const QUOTA_WAIT: Metric = Metric::histogram(
    "agon_gateway_quota_wait_seconds",
    "Time that admitted calls waited for quota, by team",
);
const PROVIDER_TIME: Metric = Metric::histogram(
    "agon_gateway_provider_seconds",
    "Time that providers took to answer, by provider",
);
const WAITING: Metric = Metric::gauge("agon_gateway_waiting", "Calls waiting for quota now");
const IN_FLIGHT: Metric = Metric::gauge("agon_gateway_in_flight", "Calls at providers now");
const HTTP: Metric = Metric::counter(
    "agon_gateway_http_requests_total",
    "Requests answered by the HTTP door, by route and status (streams: that of their headers)",
);
const STORE_ANSWERS: Metric = Metric::gauge(
    "agon_gateway_store_answers",
    "1 while the shared store answers, 0 while it does not",
);
const COST: Metric = Metric::counter(
    "agon_gateway_cost_nanodollars_total",
    "Cost of calls in billionths of a dollar, by team and model; calls that may have been \
         used count at their most",
);
const UNPRICED: Metric = Metric::counter(
    "agon_gateway_unpriced_calls_total",
    "Calls whose price is not known, by team and model",
);
const RESERVED: Metric = Metric::counter(
    "agon_gateway_reserved_nanodollars_total",
    "Held in budgets before calls in billionths of a dollar, by team",
);
const SETTLED: Metric = Metric::counter(
    "agon_gateway_settled_nanodollars_total",
    "Charged of what was held in billionths of a dollar, by team",
);
const RELOADS: Metric = Metric::counter(
    "agon_gateway_configuration_reloads_total",
    "Times the configuration was read again, by outcome (used, unchanged, faulty)",
);
const FAULTY: Metric = Metric::gauge(
    "agon_gateway_configuration_faulty",
    "1 while the configuration on disk cannot be used and an older one is in use",
);
const GRANTED_CALLS: Metric = Metric::counter(
    "agon_gateway_granted_calls_total",
    "Calls that were admitted, by team: its share of the calls",
);
const GRANTED_TOKENS: Metric = Metric::counter(
    "agon_gateway_granted_tokens_total",
    "Tokens that calls were admitted with, by team: its share of the quota",
);
const REFUSALS: Metric = Metric::counter(
    "agon_gateway_refusals_total",
    "Calls that providers refused for lack of quota or because of the key, by provider, \
         model and team",
);
const RESERVED_TOKENS: Metric = Metric::counter(
    "agon_gateway_reserved_tokens_total",
    "Tokens taken from quotas before calls, by provider",
);
const SETTLED_TOKENS: Metric = Metric::counter(
    "agon_gateway_settled_tokens_total",
    "Tokens that those calls used in the end, by provider",
);
const QUEUE: Metric = Metric::gauge(
    "agon_gateway_queue",
    "Calls waiting for quota in this replica, by team",
);
const LONGEST_WAIT: Metric = Metric::gauge(
    "agon_gateway_longest_wait_seconds",
    "How long the oldest of them has waited, by team",
);
const BUDGET_USED: Metric = Metric::gauge(
    "agon_gateway_budget_used_ratio",
    "Spent and held part of a team's budget, by team; teams without a budget have none",
);
const UTILISATION: Metric = Metric::gauge(
    "agon_gateway_limit_utilisation",
    "Used part of a limit in the last minute (day, now), by provider, key, model and limit; \
         model is empty for limits over all models",
);
const HELD: Metric = Metric::gauge(
    "agon_gateway_key_held_seconds",
    "Seconds until a key may be used again, by provider, key and model",
);
const OUT_OF_USE: Metric = Metric::gauge(
    "agon_gateway_key_out_of_use",
    "1 for a key that was taken out of use, by provider and key",
);
const CIRCUIT: Metric = Metric::gauge(
    "agon_gateway_circuit_open",
    "1 while a circuit is open, 0.5 while it is tried, by provider, key and model",
);
const ADAPTIVE_PLACES: Metric = Metric::gauge(
    "agon_gateway_adaptive_places",
    "Calls at once that adaptive concurrency allows, by provider, key and model",
);

/// All of them, for the process to describe at start.
pub const METRICS: [Metric; 30] = [
    HEDGES,
    OUTBOX_DROPPED,
    DECISIONS,
    REQUESTS,
    TOKENS,
    QUOTA_WAIT,
    PROVIDER_TIME,
    WAITING,
    IN_FLIGHT,
    HTTP,
    STORE_ANSWERS,
    COST,
    UNPRICED,
    RESERVED,
    SETTLED,
    RELOADS,
    FAULTY,
    GRANTED_CALLS,
    GRANTED_TOKENS,
    REFUSALS,
    RESERVED_TOKENS,
    SETTLED_TOKENS,
    QUEUE,
    LONGEST_WAIT,
    BUDGET_USED,
    UTILISATION,
    HELD,
    OUT_OF_USE,
    CIRCUIT,
    ADAPTIVE_PLACES,
];

/// How a decision ended.
pub fn count_decision(outcome: &'static str) {
    metrics::counter!(DECISIONS.name, "outcome" => outcome).increment(1);
}

/// A message to the store for which there was no room.
pub fn count_outbox_dropped(kind: &'static str) {
    metrics::counter!(OUTBOX_DROPPED.name, "kind" => kind).increment(1);
}

/// Which call of a hedged decision answered first.
pub fn count_hedge(first_answer: &'static str) {
    metrics::counter!(HEDGES.name, "answered" => first_answer).increment(1);
}

/// How a request to a provider ended, and how long it took.
pub fn count_request(provider: &str, outcome: &'static str, took: Duration) {
    metrics::counter!(REQUESTS.name, "provider" => provider.to_owned(), "outcome" => outcome)
        .increment(1);
    metrics::histogram!(PROVIDER_TIME.name, "provider" => provider.to_owned()).record(took);
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
            metrics::counter!(TOKENS.name, "provider" => provider.to_owned(), "kind" => kind)
                .increment(tokens);
        }
    }
}

/// How long a call waited for quota.
pub fn observe_quota_wait(team: &str, waited: Duration) {
    metrics::histogram!(QUOTA_WAIT.name, "team" => labels::team(team)).record(waited);
}

/// One more, or one fewer, waits for quota.
pub fn move_waiting(by: f64) {
    metrics::gauge!(WAITING.name).increment(by);
}

/// One more, or one fewer, is at a provider.
pub fn move_in_flight(by: f64) {
    metrics::gauge!(IN_FLIGHT.name).increment(by);
}

/// Whether the shared store answers.
pub fn set_store_answers(answers: bool) {
    metrics::gauge!(STORE_ANSWERS.name).set(f64::from(u8::from(answers)));
}

/// What a call cost; absent when its price is not known.
pub fn count_cost(team: &str, model: &str, cost: Option<NanoDollars>) {
    let (team, model) = (labels::team(team), labels::model(model));
    match cost {
        Some(cost) => {
            metrics::counter!(COST.name, "team" => team, "model" => model).increment(cost.0);
        }
        None => metrics::counter!(UNPRICED.name, "team" => team, "model" => model).increment(1),
    }
}

/// Money was held in a budget.
pub fn count_reserved(team: &str, most: NanoDollars) {
    metrics::counter!(RESERVED.name, "team" => labels::team(team)).increment(most.0);
}

/// Of money that was held, this much was charged.
pub fn count_settled(team: &str, cost: NanoDollars) {
    metrics::counter!(SETTLED.name, "team" => labels::team(team)).increment(cost.0);
}

/// What came of reading the configuration again.
pub fn count_reload(outcome: &'static str) {
    metrics::counter!(RELOADS.name, "outcome" => outcome).increment(1);
}

/// Whether the configuration on disk cannot be used.
pub fn set_configuration_faulty(faulty: bool) {
    metrics::gauge!(FAULTY.name).set(f64::from(u8::from(faulty)));
}

/// How the HTTP door answered a request.
pub fn count_http(route: &str, status: u16) {
    metrics::counter!(HTTP.name, "route" => route.to_owned(), "status" => status.to_string())
        .increment(1);
}

/// A call was admitted with so many tokens.
pub fn count_granted(team: &str, tokens: u64) {
    let team = labels::team(team);
    metrics::counter!(GRANTED_CALLS.name, "team" => team.clone()).increment(1);
    metrics::counter!(GRANTED_TOKENS.name, "team" => team).increment(tokens);
}

/// A provider refused a call of a team.
pub fn count_refusal(provider: &str, model: &str, team: &str) {
    metrics::counter!(
        REFUSALS.name,
        "provider" => provider.to_owned(),
        "model" => labels::model(model),
        "team" => labels::team(team),
    )
    .increment(1);
}

/// Tokens were taken from a quota.
pub fn count_reserved_tokens(provider: &str, tokens: u64) {
    metrics::counter!(RESERVED_TOKENS.name, "provider" => provider.to_owned()).increment(tokens);
}

/// So many of them were used.
pub fn count_settled_tokens(provider: &str, tokens: u64) {
    metrics::counter!(SETTLED_TOKENS.name, "provider" => provider.to_owned()).increment(tokens);
}

/// Who waits.
pub fn set_queue(team: &str, calls: u64, longest: Duration) {
    let team = labels::team(team);
    metrics::gauge!(QUEUE.name, "team" => team.clone()).set(calls as f64);
    metrics::gauge!(LONGEST_WAIT.name, "team" => team).set(longest.as_secs_f64());
}

/// How much of a team's budget is spent or held, from 0 to 1.
pub fn set_budget_used(team: &str, part: f64) {
    metrics::gauge!(BUDGET_USED.name, "team" => labels::team(team)).set(part);
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
        UTILISATION.name,
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
    shown(HELD.name, held.as_secs_f64());
    shown(CIRCUIT.name, circuit);
    shown(ADAPTIVE_PLACES.name, places as f64);
}

/// Whether a key was taken out of use.
pub fn set_out_of_use(provider: &str, key: &str, out: bool) {
    metrics::gauge!(OUT_OF_USE.name, "provider" => provider.to_owned(), "key" => key.to_owned())
        .set(f64::from(u8::from(out)));
}
