//! The calls of a session's models as pages show them, made of what `agon show --prompts --json` says.
//! Called by the source of pages (`files.rs`).

use serde_json::{Map, Value};

use agon_engine::Seat;
use agon_report::viewing::Stated;
use agon_web::{Calls, Decision, DecisionMessage};

use crate::sent::Prompts;

/// Nano-dollars in a dollar.
const NANO: f64 = 1e9;

/// The calls of a record, each put together when it is asked for.
pub struct Remembered(pub Prompts);

impl Calls for Remembered {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn find(&self, seat: Seat, index: u32) -> Option<usize> {
        self.0.find(seat, index)
    }

    fn at(&self, place: usize) -> Decision {
        shown(&self.0.one(place), self.0.known(place))
    }
}

/// A call, of which so many messages stood in the call of its seat before.
fn shown(call: &Value, known: usize) -> Decision {
    let messages = call["messages"].as_array();
    let messages = messages.map(|messages| {
        let shown = messages.iter().map(|message| DecisionMessage {
            role: text(&message["role"]),
            text: text(&message["content"]),
        });
        shown.collect()
    });
    let usage = &call["usage"];
    let reading = match (&call["answer"], &call["foul"]) {
        (Value::Null, Value::Null) => None,
        (answer, Value::Null) => Some(format!("read as {answer}")),
        (_, foul) => {
            let reason = foul["reason"].as_str().unwrap_or_default();
            Some(format!("refused: {reason}"))
        }
    };
    let reasoning = call["reasoning"].as_str().filter(|text| !text.is_empty());
    Decision {
        seat: number(&call["seat"]),
        index: number(&call["index"]),
        purpose: text(&call["purpose"]),
        messages,
        known,
        is_same: call["digest_is_equal"].as_bool().unwrap_or_default(),
        schema: call["schema"].clone(),
        parameters: parameters(&call["applied"]),
        answered_by: text(&call["answered_by"]),
        finish_reason: text(&call["finish_reason"]),
        reasoning: reasoning.map(str::to_owned),
        reply: text(&call["reply"]),
        reading,
        tokens_in: usage["input_tokens"].as_u64(),
        tokens_out: usage["output_tokens"].as_u64(),
        tokens_estimated: usage["estimated"].as_bool().unwrap_or_default(),
        cost: usage["cost_nanodollars"].as_f64().map(|cost| cost / NANO),
        seconds: usage["seconds"].as_f64(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Seats and indices always fit.
fn number<T: TryFrom<u64> + Default>(value: &Value) -> T {
    let number = value.as_u64().and_then(|number| number.try_into().ok());
    number.unwrap_or_default()
}

/// What was really sent, as names and values in words.
fn parameters(applied: &Value) -> Vec<Stated> {
    let none = Map::new();
    let applied = applied.as_object().unwrap_or(&none).iter();
    let said = applied.filter_map(|(name, value)| {
        let value = match value {
            Value::Null => return None,
            Value::String(text) => text.clone(),
            Value::Array(list) => {
                let list = list.iter().filter_map(Value::as_str);
                list.collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        };
        let name = name.replace('_', " ");
        (!value.is_empty()).then_some(Stated { name, value })
    });
    said.collect()
}
