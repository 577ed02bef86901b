//! What an experiment will cost before it is played: sessions, decisions, tokens.
//!
//! Decisions follow from the rules. Tokens are an estimate from the constants below, meant to
//! tell one dollar from a hundred, not to predict a bill.

use std::collections::BTreeMap;

use agon_engine::{PlayerKind, PlayerSpec};
use serde::Serialize;
use serde_json::Value;

use super::document::ExperimentDocument;
use super::expand;
use super::faults::Faults;

/// Tokens of the rules and the persona, sent with every call.
const SYSTEM_TOKENS: u64 = 350;
/// Tokens of one ask.
const ASK_TOKENS: u64 = 60;
/// Tokens that one past round leaves in the conversation: what was told about it; the answer comes
/// on top.
const ROUND_TOKENS: u64 = 60;
/// Tokens that a round may tell about every seat, in games that tell of all of them.
const SEAT_TOKENS: u64 = 12;
/// Tokens of a refused answer and the reason, seen by the next try.
const FOUL_TOKENS: u64 = 80;
/// A conversation is cut at this length unless `memory_tokens` says otherwise.
const MEMORY_TOKENS: u64 = 16_000;
/// Tokens of a plain answer.
const ANSWER_TOKENS: u64 = 20;
/// Tokens of an answer that is thought through first.
const REASONED_ANSWER_TOKENS: u64 = 300;
/// What an experiment comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Cells of the grid.
    pub settings: u64,
    /// Sessions.
    pub sessions: u64,
    /// What each model is asked, by its name.
    pub models: BTreeMap<String, ModelPlan>,
}

/// What one model is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ModelPlan {
    /// Sessions that it plays in.
    pub sessions: u64,
    /// Answers it gives.
    pub decisions: Range,
    /// Tokens it reads.
    pub input_tokens: Range,
    /// Tokens it writes.
    pub output_tokens: Range,
}

/// An expectation and a bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Range {
    /// When every answer is legal at once and the game goes to its end.
    pub expected: u64,
    /// When every foul that is forgiven is committed.
    pub most: u64,
}

/// Plans an experiment. `longest_reply` says how many tokens a model may write at most when its
/// player does not set `max_output_tokens`.
///
/// # Errors
/// It cannot be expanded.
pub fn plan(
    document: &ExperimentDocument,
    longest_reply: &dyn Fn(&str) -> u64,
) -> Result<Plan, Faults> {
    let cells = expand::cells(document)?;
    let repeats = u64::from(document.repeats);
    let mut plan = Plan {
        settings: cells.len() as u64,
        sessions: (cells.len() as u64).saturating_mul(repeats),
        models: BTreeMap::new(),
    };
    for cell in &cells {
        let seats = cell.spec.seats.len() as u64;
        let fouls = cell
            .spec
            .params
            .get("foul_allowance")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        let mut seen: Vec<&str> = Vec::new();
        for player in &cell.spec.seats {
            let Some(model) = model_of(player) else {
                continue;
            };
            let entry = plan.models.entry(model.to_owned()).or_default();
            if !seen.contains(&model) {
                seen.push(model);
                entry.sessions = entry.sessions.saturating_add(repeats);
            }
            let table = Table {
                asks: u64::from(cell.game.asks_per_seat()),
                usual_asks: u64::from(cell.game.usual_asks_per_seat()),
                fouls,
                seats,
            };
            entry.add(&seat_plan(player, &table, longest_reply(model)), repeats);
        }
    }
    Ok(plan)
}

impl ModelPlan {
    fn add(&mut self, seat: &Self, times: u64) {
        let parts = [
            (&mut self.decisions, seat.decisions),
            (&mut self.input_tokens, seat.input_tokens),
            (&mut self.output_tokens, seat.output_tokens),
        ];
        for (sum, part) in parts {
            sum.expected = sum
                .expected
                .saturating_add(part.expected.saturating_mul(times));
            sum.most = sum.most.saturating_add(part.most.saturating_mul(times));
        }
    }
}

fn model_of(player: &PlayerSpec) -> Option<&str> {
    let is_model = player.kind == PlayerKind::Model;
    player.settings.get("model").filter(|_| is_model)?.as_str()
}

/// What a seat's plan depends on, besides its player.
struct Table {
    /// Most asks of a seat.
    asks: u64,
    /// Asks of a seat in a usual game.
    usual_asks: u64,
    /// Fouls forgiven per ask.
    fouls: u64,
    /// Seats.
    seats: u64,
}

fn seat_plan(player: &PlayerSpec, table: &Table, longest_reply: u64) -> ModelPlan {
    let number = |key: &str| player.settings.get(key).and_then(Value::as_u64);
    let most_output = number("max_output_tokens").unwrap_or(longest_reply);
    let Table {
        asks,
        usual_asks,
        fouls,
        seats,
    } = *table;
    let memory = number("memory_tokens").unwrap_or(MEMORY_TOKENS);
    let agent = player
        .settings
        .get("agent")
        .and_then(Value::as_str)
        .unwrap_or("direct");
    let answer = if agent == "direct" {
        ANSWER_TOKENS
    } else {
        REASONED_ANSWER_TOKENS
    };
    // Tokens of one call besides the conversation.
    let fixed = SYSTEM_TOKENS + ASK_TOKENS;
    let longest_round = SEAT_TOKENS
        .saturating_mul(seats)
        .saturating_add(ROUND_TOKENS)
        .saturating_add(most_output)
        .saturating_add(fouls.saturating_mul(FOUL_TOKENS));
    let tries = fouls.saturating_add(1);
    let again = FOUL_TOKENS.saturating_mul(fouls.saturating_mul(tries) / 2);
    let mut read = Range::default();
    for round in 0..asks {
        if round < usual_asks {
            let past = round.saturating_mul(ROUND_TOKENS + answer).min(memory);
            let call = fixed.saturating_add(past);
            read.expected = read.expected.saturating_add(call);
        }
        let longest_past = round.saturating_mul(longest_round).min(memory);
        let calls = tries.saturating_mul(fixed.saturating_add(longest_past));
        read.most = read.most.saturating_add(calls).saturating_add(again);
    }
    let most_asks = asks.saturating_mul(tries);
    ModelPlan {
        sessions: 1,
        decisions: Range {
            expected: usual_asks,
            most: most_asks,
        },
        input_tokens: read,
        output_tokens: Range {
            expected: usual_asks.saturating_mul(answer.min(most_output)),
            most: most_asks.saturating_mul(most_output),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_beyond_64_bits_end_at_the_largest() {
        let player: PlayerSpec = serde_json::from_value(json!({
            "name": "gpt", "kind": "model",
            "settings": { "memory_tokens": u64::MAX, "max_output_tokens": u64::MAX },
        }))
        .unwrap();
        let table = Table {
            asks: 3,
            usual_asks: 3,
            fouls: u64::MAX,
            seats: u64::MAX,
        };
        let mut sum = seat_plan(&player, &table, 1024);
        assert_eq!(sum.decisions.most, u64::MAX);
        assert_eq!(sum.input_tokens.most, u64::MAX);
        assert_eq!(sum.output_tokens.most, u64::MAX);
        sum.add(&sum.clone(), u64::MAX);
        assert_eq!(sum.input_tokens.expected, u64::MAX);
    }
}
