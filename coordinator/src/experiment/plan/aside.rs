//! Calls that a player's settings add to those of its agent: summaries of a full conversation, and
//! another model's reading of replies. Called when a seat is planned.

use agon_engine::{PlayerKind, PlayerSpec};
use serde_json::Value;

use super::{
    ANSWER_TOKENS, ASK_TOKENS, FOUL_TOKENS, MEMORY_TOKENS, ModelPlan, ROUND_TOKENS, Range,
    SYSTEM_TOKENS, Table, Writes,
};

/// A summary has no more tokens, and no more than one part of these of the room for the past.
const SUMMARY_TOKENS: u64 = 300;
const SUMMARY_PART: u64 = 4;
/// There are no shorter ones.
const LEAST_SUMMARY_TOKENS: u64 = 20;
/// How often a summary is asked for at most.
const SUMMARY_TRIES: u64 = 2;
/// Tokens of a quoted reply, at most.
const QUOTED_TOKENS: u64 = 1_000;

/// Summaries by the player's own model.
pub(super) fn summaries(player: &PlayerSpec, table: &Table, writes: Writes) -> ModelPlan {
    let is_on = player.settings.get("when_full") == Some(&Value::from("summarise"));
    let number = |key: &str| player.settings.get(key).and_then(Value::as_u64);
    let memory = number("memory_tokens").unwrap_or(MEMORY_TOKENS);
    let fixed = SYSTEM_TOKENS + ASK_TOKENS;
    let room = memory.saturating_sub(fixed);
    let longest = SUMMARY_TOKENS.min(room / SUMMARY_PART);
    if !is_on || longest < LEAST_SUMMARY_TOKENS {
        return ModelPlan::default();
    }
    let step = ROUND_TOKENS + ANSWER_TOKENS;
    // The first when the room is full, each further one when its free half is.
    let until_full = room / step + 1;
    let until_full_again = (room - room / 2) / step + 1;
    let expected = match table.usual_asks.checked_sub(until_full + 1) {
        None => 0,
        Some(further) => 1 + further / until_full_again,
    };
    // Each takes an exchange or more out of the past, and the last is not summed up.
    let most = table.asks.saturating_sub(1).saturating_mul(SUMMARY_TRIES);
    of_calls(
        Range { expected, most },
        Range {
            expected: memory,
            most: memory,
        },
        Range {
            expected: writes.usual(longest),
            most: writes.most(),
        },
    )
}

/// The model that reads what the program cannot, and what it is asked: nothing as long as every
/// answer is legal at once.
pub(super) fn reader<'a>(
    player: &'a PlayerSpec,
    table: &Table,
    writes: &dyn Fn(&str) -> Writes,
) -> Option<(&'a str, ModelPlan)> {
    let named = player.settings.get("reader")?.as_str()?;
    if player.kind != PlayerKind::Model {
        return None;
    }
    let tries = table.fouls.saturating_add(1);
    let calls = Range {
        expected: 0,
        most: table.asks.saturating_mul(tries),
    };
    let read = SYSTEM_TOKENS + ASK_TOKENS + FOUL_TOKENS + QUOTED_TOKENS;
    let of_one = Range {
        expected: read,
        most: read,
    };
    let writes = writes(named);
    let written = Range {
        expected: writes.usual(ANSWER_TOKENS),
        most: writes.most(),
    };
    Some((named, of_calls(calls, of_one, written)))
}

fn of_calls(calls: Range, read: Range, written: Range) -> ModelPlan {
    let times = |of_one: Range| Range {
        expected: calls.expected.saturating_mul(of_one.expected),
        most: calls.most.saturating_mul(of_one.most),
    };
    ModelPlan {
        sessions: 0,
        decisions: calls,
        input_tokens: times(read),
        output_tokens: times(written),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TABLE: Table = Table {
        asks: 20,
        usual_asks: 20,
        fouls: 3,
        seats: 5,
        items: 0,
        rounds: 20,
    };

    fn player(settings: Value) -> PlayerSpec {
        let player = json!({ "name": "ann", "kind": "model", "settings": settings });
        serde_json::from_value(player).unwrap()
    }

    #[test]
    fn summaries_are_counted_where_a_conversation_is_full_again() {
        let calls = |memory: u64, when_full: &str| {
            let settings = json!({ "memory_tokens": memory, "when_full": when_full });
            let plan = summaries(&player(settings), &TABLE, Writes::answers(1_024));
            (plan.decisions.expected, plan.decisions.most)
        };
        assert_eq!(calls(1_000, "forget"), (0, 0));
        assert_eq!(calls(16_000, "summarise"), (0, 38));
        assert_eq!(calls(1_000, "summarise"), (3, 38));
        // More often where there is less room, and never where there is none.
        assert_eq!(calls(700, "summarise"), (8, 38));
        assert_eq!(calls(400, "summarise"), (0, 0));
    }

    #[test]
    fn a_reader_is_counted_under_its_own_name_and_only_at_most() {
        let longest = |model: &str| Writes::answers(if model == "careful" { 50 } else { 1_024 });
        let settings = json!({ "model": "small", "reader": "careful" });
        let settings = player(settings);
        let (named, plan) = reader(&settings, &TABLE, &longest).unwrap();
        assert_eq!(named, "careful");
        assert_eq!((plan.decisions.expected, plan.decisions.most), (0, 80));
        assert_eq!(plan.output_tokens.most, 80 * 50);
        assert_eq!(plan.input_tokens.expected, 0);
        assert!(reader(&player(json!({ "model": "small" })), &TABLE, &longest).is_none());
    }
}
