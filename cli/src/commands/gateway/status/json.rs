//! The status as JSON: the fields of `GetGatewayStatusResponse` by their names.
//! Leaves nothing out and names nothing anew. Called by `status.rs`.

use agon_proto::v1::{
    GetGatewayStatusResponse, KeyStatus, LearntRefusal, LimitStatus, TeamStatus, TokenUsage,
};
use serde_json::{Map, Value, json};

/// The whole status.
pub(super) fn of(status: &GetGatewayStatusResponse) -> Value {
    json!({
        "decided": status.decided,
        "answered_from_ledger": status.answered_from_ledger,
        "waiting_for_quota": status.waiting_for_quota,
        "in_flight": status.in_flight,
        "provider_requests": status.provider_requests,
        "cost_nanodollars": status.cost_nanodollars,
        "configuration_fault": status.configuration_fault,
        "patience_ms": status.patience_ms,
        "usage": status.usage.as_ref().map(usage),
        "teams": status.teams.iter().map(team).collect::<Vec<_>>(),
        "keys": status.keys.iter().map(key).collect::<Vec<_>>(),
        "learnt": status.learnt.iter().map(learnt).collect::<Vec<_>>(),
    })
}

fn learnt(learnt: &LearntRefusal) -> Value {
    json!({
        "provider": learnt.provider,
        "provider_model": learnt.provider_model,
        "parameter": learnt.parameter,
        "reason": learnt.reason,
        "expires_in_ms": learnt.expires_in_ms,
    })
}

fn usage(usage: &TokenUsage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cache_write_input_tokens": usage.cache_write_input_tokens,
    })
}

fn team(team: &TeamStatus) -> Value {
    json!({
        "team": team.team,
        "weight": team.weight,
        "waiting": team.waiting,
        "in_flight": team.in_flight,
        "decided": team.decided,
        "refused_by_provider": team.refused_by_provider,
        "longest_wait_ms": team.longest_wait_ms,
        "spent_nanodollars": team.spent_nanodollars,
        "reserved_nanodollars": team.reserved_nanodollars,
        "budget_nanodollars": team.budget_nanodollars,
    })
}

fn key(key: &KeyStatus) -> Value {
    let errors: Map<String, Value> = key
        .errors
        .iter()
        .map(|(kind, count)| (kind.clone(), json!(count)))
        .collect();
    json!({
        "provider": key.provider,
        "source": key.source,
        "account": key.account,
        "model": key.model,
        "in_flight": key.in_flight,
        "calls": key.calls,
        "refused_by_provider": key.refused_by_provider,
        "failed": key.failed,
        "held_for_ms": key.held_for_ms,
        "quarantine_reason": key.quarantine_reason,
        "next_probe_ms": key.next_probe_ms,
        "circuit": key.circuit,
        "adaptive_places": key.adaptive_places,
        "limits": key.limits.iter().map(limit).collect::<Vec<_>>(),
        "errors": errors,
        "last_error": key.last_error,
    })
}

fn limit(limit: &LimitStatus) -> Value {
    json!({
        "name": limit.name,
        "limit": limit.limit,
        "used": limit.used,
        "lowered_by_provider": limit.lowered_by_provider,
    })
}
