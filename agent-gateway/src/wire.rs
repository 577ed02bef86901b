//! Between the wire's types (`agon.v1`) and ours. The only file of this crate
//! that knows both; checks what the wire cannot promise. Called by `service.rs`.

use std::time::Duration;

use agon_proto::v1;
use agon_service_kit::clock::millis;
use agon_service_kit::team_name::{NoTeamName, TeamName};

use crate::budgets::Costs;
use crate::budgets::store::{BudgetScope, CostFilter};
use crate::caller::Caller;
use crate::catalogue::Origin;
use crate::decision::{
    Decision, DecisionAddress, Message, ReplyFormat, Request, Role, TokenLogprob, Usage,
};
use crate::door_store::{DoorAnswer, Listing, StandIn, SubmittedAnswer, WaitingAsk};
use crate::money::{DayError, NanoDollars};
use crate::parameters::{Applied, FormatMode, Parameter};
use crate::providers::LearntRefusal;

/// A request that the wire allowed and we do not.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum WireError {
    #[error("the request has no decision address")]
    MissingAddress,
    #[error("the decision address has no session id")]
    EmptySession,
    #[error("the request has no messages")]
    NoMessages,
    #[error("message {index} has no role")]
    UnknownRole { index: usize },
    #[error("{field} is not a finite number")]
    NotFinite { field: &'static str },
    #[error("required_parameters names {name:?}, which is no parameter")]
    UnknownParameter { name: String },
    /// Providers read the seed as a signed number, and would refuse this one or
    /// make another of it.
    #[error("sampling_seed {seed} does not fit a signed 64-bit number")]
    SeedTooLarge { seed: u64 },
    /// Names of teams stay in the status for good.
    #[error(transparent)]
    Team(#[from] NoTeamName),
}

/// Reads which costs are asked for.
pub fn read_cost_filter(wire: v1::ListCostsRequest) -> Result<CostFilter, DayError> {
    let named = |name: String| (!name.is_empty()).then_some(name);
    let day = |text: String| named(text).map(|text| text.parse()).transpose();
    Ok(CostFilter {
        team: named(wire.team),
        experiment: named(wire.experiment_id),
        from: day(wire.from_day)?,
        to: day(wire.to_day)?,
    })
}

/// Lists what was spent and how budgets stand.
pub fn write_costs(costs: Costs) -> v1::ListCostsResponse {
    let rows = costs.rows.into_iter().map(|row| v1::CostRow {
        day: row.account.day.to_string(),
        team: row.account.team,
        experiment_id: row.account.experiment,
        model: row.account.model,
        calls: row.calls,
        usage: Some(write_usage(row.usage)),
        cost_nanodollars: row.cost.0,
        unpriced_calls: row.unpriced_calls,
    });
    let budgets = costs.budgets.into_iter().map(|standing| {
        let (team, experiment_id) = match standing.scope {
            BudgetScope::Team(name) => (name, String::new()),
            BudgetScope::Experiment(id) => (String::new(), id),
        };
        v1::BudgetStatus {
            team,
            experiment_id,
            budget_nanodollars: standing.last_budget.map(|budget| budget.0),
            spent_nanodollars: standing.spent.0,
            reserved_nanodollars: standing.reserved.0,
        }
    });
    v1::ListCostsResponse {
        rows: rows.collect(),
        budgets: budgets.collect(),
    }
}

/// Takes a wire request apart.
pub fn read_request(
    wire: v1::DecideRequest,
) -> Result<(DecisionAddress, Caller, Request), WireError> {
    let address = read_address(wire.address.ok_or(WireError::MissingAddress)?)?;
    if wire.messages.is_empty() {
        return Err(WireError::NoMessages);
    }
    let messages = wire
        .messages
        .into_iter()
        .enumerate()
        .map(|(index, message)| read_message(index, message))
        .collect::<Result<_, _>>()?;
    for (field, value) in [("temperature", wire.temperature), ("top_p", wire.top_p)] {
        if value.is_some_and(|value| !value.is_finite()) {
            return Err(WireError::NotFinite { field });
        }
    }
    if let Some(seed) = wire.sampling_seed
        && i64::try_from(seed).is_err()
    {
        return Err(WireError::SeedTooLarge { seed });
    }
    let required = wire
        .required_parameters
        .into_iter()
        .map(|name| Parameter::named(&name).ok_or(WireError::UnknownParameter { name }))
        .collect::<Result<_, _>>()?;
    let expected_origins = wire.expected_origins.into_iter().map(read_origin).collect();
    let team = if wire.team.is_empty() {
        "default".to_owned()
    } else {
        TeamName::read(wire.team)?.into_string()
    };
    let caller = Caller {
        team,
        experiment_id: wire.experiment_id,
        purpose: wire.purpose,
        priority: wire.priority,
        replicate: wire.content_cache.map(|cache| cache.replicate),
        experiment_budget: wire.experiment_budget_nanodollars.map(NanoDollars),
        session: None,
        stand_in: wire.stand_in.map(|wire| Box::new(read_stand_in(*wire))),
        seen: wire.seen.map(String::into_boxed_str),
        simulated_reply: wire.simulated_reply.map(String::into_boxed_str),
        required,
        expected_origins,
    };
    let request = Request {
        model: wire.model,
        messages,
        temperature: wire.temperature,
        top_p: wire.top_p,
        max_output_tokens: wire.max_output_tokens,
        sampling_seed: wire.sampling_seed,
        reply_format: wire.reply_format.map(|format| ReplyFormat {
            name: format.name,
            json_schema: format.json_schema,
        }),
        fallback_models: wire.fallback_models,
        reasoning_effort: wire.reasoning_effort,
        stop_sequences: wire.stop_sequences,
        logprobs: wire.logprobs,
    };
    Ok((address, caller, request))
}

/// Answers with a decision.
pub fn write_decision(decision: &Decision, from_ledger: bool) -> v1::DecideResponse {
    v1::DecideResponse {
        reply: decision.reply.clone(),
        request_digest: decision.request_digest.as_str().to_owned(),
        answered_by: decision.answered_by.clone(),
        finish_reason: decision.finish_reason.clone(),
        usage: Some(write_usage(decision.usage)),
        simulated: decision.simulated,
        from_ledger,
        model: decision.model.clone(),
        cost_nanodollars: decision.cost.map(|cost| cost.0),
        from_content_cache: decision.from_content_cache,
        reasoning: decision.reasoning.as_deref().unwrap_or_default().to_owned(),
        applied: decision.applied.as_deref().map(write_applied),
        logprobs: decision.logprobs().iter().map(write_logprob).collect(),
    }
}

fn write_logprob(token: &TokenLogprob) -> v1::TokenLogprob {
    v1::TokenLogprob {
        token: token.token.clone(),
        logprob: token.logprob,
        top: token.top.iter().map(write_logprob).collect(),
    }
}

fn write_applied(applied: &Applied) -> v1::AppliedParameters {
    let omitted = applied.omitted.iter();
    v1::AppliedParameters {
        temperature: applied.temperature,
        top_p: applied.top_p,
        sampling_seed: applied.sampling_seed,
        max_output_tokens: applied.max_output_tokens,
        reply_format: applied.reply_format.map_or("", FormatMode::name).to_owned(),
        reasoning_effort: applied.reasoning_effort.clone().unwrap_or_default(),
        stop_sequences: applied.stop_sequences,
        logprobs: applied.logprobs,
        omitted: omitted
            .map(|parameter| parameter.name().to_owned())
            .collect(),
    }
}

/// The name of a model, and where its answers come from.
fn read_origin(wire: v1::ModelOrigin) -> (String, Origin) {
    let origin = Origin {
        provider_kind: wire.provider_kind,
        endpoint: wire.endpoint,
        provider_model: wire.provider_model,
        additions: wire.additions,
    };
    (wire.model, origin)
}

/// Says where a model's answers come from.
pub fn write_origin(model: String, origin: Origin) -> v1::ModelOrigin {
    v1::ModelOrigin {
        model,
        provider_kind: origin.provider_kind,
        endpoint: origin.endpoint,
        provider_model: origin.provider_model,
        additions: origin.additions,
    }
}

/// Lists what a model turned out not to take.
pub fn write_learnt(learnt: LearntRefusal) -> v1::LearntRefusal {
    v1::LearntRefusal {
        provider: learnt.provider,
        provider_model: learnt.model,
        parameter: learnt.parameter.to_owned(),
        reason: learnt.said,
        expires_in_ms: millis(learnt.expires_in),
    }
}

/// Lists a decision with its address.
pub fn write_recorded(address: DecisionAddress, decision: &Decision) -> v1::RecordedDecision {
    v1::RecordedDecision {
        address: Some(write_address(address)),
        decision: Some(write_decision(decision, true)),
    }
}

fn write_address(address: DecisionAddress) -> v1::DecisionAddress {
    v1::DecisionAddress {
        session_id: address.session_id,
        seat: address.seat,
        index: address.index,
    }
}

/// Shows what waits at a door.
pub fn write_listing(listing: Listing) -> v1::WatchDoorResponse {
    let asks = listing.asks.into_iter().map(|waiting| {
        let WaitingAsk { ask, waiting } = waiting;
        v1::DoorAsk {
            address: Some(write_address(ask.address)),
            request_digest: ask.digest.as_str().to_owned(),
            messages: ask.messages.into_iter().map(write_message).collect(),
            reply_format: ask.reply_format.map(|format| v1::ReplyFormat {
                name: format.name,
                json_schema: format.json_schema,
            }),
            purpose: ask.purpose,
            experiment_id: ask.experiment_id,
            waiting_ms: millis(waiting),
            seen: ask.seen,
            stand_in: ask.stand_in.map(|stand_in| v1::DoorStandIn {
                after_ms: millis(stand_in.after),
                name: stand_in.name,
            }),
        }
    });
    v1::WatchDoorResponse {
        asks: asks.collect(),
    }
}

/// Takes an answer at a door apart.
pub fn read_answer(
    wire: v1::AnswerAtDoorRequest,
    team: Option<&str>,
) -> Result<SubmittedAnswer, WireError> {
    let address = read_address(wire.address.ok_or(WireError::MissingAddress)?)?;
    let answered_by = if wire.answered_by.is_empty() {
        wire.door.clone()
    } else {
        wire.answered_by
    };
    Ok(SubmittedAnswer {
        door: wire.door,
        address,
        digest: wire.request_digest.into(),
        team: team.map(str::to_owned),
        answer: DoorAnswer {
            reply: wire.reply,
            answered_by,
            in_time: true,
        },
    })
}

fn read_stand_in(wire: v1::StandIn) -> StandIn {
    StandIn {
        after: Duration::from_millis(wire.after_ms),
        name: wire.name,
        reply: wire.reply,
    }
}

fn write_message(message: Message) -> v1::ChatMessage {
    let role = match message.role {
        Role::System => v1::MessageRole::System,
        Role::User => v1::MessageRole::User,
        Role::Assistant => v1::MessageRole::Assistant,
    };
    v1::ChatMessage {
        role: role.into(),
        content: message.content,
    }
}

/// Tokens, field by field.
pub fn write_usage(usage: Usage) -> v1::TokenUsage {
    v1::TokenUsage {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cached_input_tokens: usage.cached_input_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        estimated: usage.estimated,
        cache_write_input_tokens: usage.cache_write_input_tokens,
    }
}

/// An address of the wire, checked.
pub fn read_address(wire: v1::DecisionAddress) -> Result<DecisionAddress, WireError> {
    if wire.session_id.is_empty() {
        return Err(WireError::EmptySession);
    }
    Ok(DecisionAddress {
        session_id: wire.session_id,
        seat: wire.seat,
        index: wire.index,
    })
}

fn read_message(index: usize, wire: v1::ChatMessage) -> Result<Message, WireError> {
    let role = match wire.role() {
        v1::MessageRole::System => Role::System,
        v1::MessageRole::User => Role::User,
        v1::MessageRole::Assistant => Role::Assistant,
        v1::MessageRole::Unspecified => return Err(WireError::UnknownRole { index }),
    };
    Ok(Message {
        role,
        content: wire.content,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire() -> v1::DecideRequest {
        v1::DecideRequest {
            address: Some(v1::DecisionAddress {
                session_id: "s".into(),
                seat: 1,
                index: 2,
            }),
            model: "m".into(),
            messages: vec![v1::ChatMessage {
                role: v1::MessageRole::User as i32,
                content: "hello".into(),
            }],
            ..Default::default()
        }
    }

    #[test]
    fn unset_team_is_the_default_team() {
        let (address, caller, request) = read_request(wire()).unwrap();
        assert_eq!(address.to_string(), "s/1/2");
        assert_eq!(caller.team, "default");
        assert_eq!(request.messages[0].role, Role::User);
    }

    #[test]
    fn malformed_requests_are_named() {
        let mut no_address = wire();
        no_address.address = None;
        assert_eq!(
            read_request(no_address).unwrap_err(),
            WireError::MissingAddress
        );

        let mut no_role = wire();
        no_role.messages[0].role = 0;
        assert_eq!(
            read_request(no_role).unwrap_err(),
            WireError::UnknownRole { index: 0 }
        );

        let mut far = wire();
        far.sampling_seed = Some(1 << 63);
        assert_eq!(
            read_request(far).unwrap_err(),
            WireError::SeedTooLarge { seed: 1 << 63 }
        );

        let mut hot = wire();
        hot.temperature = Some(f64::NAN);
        let error = read_request(hot).unwrap_err();
        assert_eq!(
            error,
            WireError::NotFinite {
                field: "temperature"
            }
        );
    }
}
