//! What a simulated model says to an ask, in the form in which it is put: its answer with
//! reasons, beliefs and predictions where they are asked for. Called by `dialogue.rs`.

use agon_engine::{Action, Ask};
use serde_json::{Map, Value};

use super::{Dialogue, Turn};
use crate::forms::fields::About;
use crate::forms::{Thinking, answer_value, in_words};

impl Dialogue {
    /// What a simulated model says to an ask, in the form in which it is put.
    pub(crate) fn simulated_reply(&mut self, turn: Turn<'_>) -> Option<String> {
        let Turn { ask, thinking, .. } = turn;
        let understudy = self.understudy.as_mut()?;
        let action = understudy.answer(ask, turn.refused.is_some());
        let past = self.past.last(&ask.kind);
        Some(reply(&Said {
            ask,
            action: &action,
            thinking,
            is_json: self.wants_json_for(thinking),
            rivals: &self.rivals().names_of_others(),
            before: past.and_then(|past| past.action.as_ref()),
            payoff: past.and_then(|past| past.payoff.clone()),
        }))
    }
}

/// An answer, and all that may be said beside it.
struct Said<'a> {
    pub ask: &'a Ask,
    pub action: &'a Action,
    pub thinking: Thinking,
    /// Whether it is asked for as JSON.
    pub is_json: bool,
    /// Whom predictions are asked about.
    pub rivals: &'a [String],
    /// The seat's last answer of this kind.
    pub before: Option<&'a Action>,
    /// What it got for that, if it was told.
    pub payoff: Option<Value>,
}

/// The reply.
fn reply(said: &Said<'_>) -> String {
    let (kind, form) = (&said.ask.kind, &said.ask.form);
    let words = in_words(form, said.action);
    let answer = answer_value(form, said.action);
    let reason =
        format!("It leaves me room if the others do more than I expect, so I settle on {words}.");
    let mut fields = Map::new();
    match said.thinking {
        Thinking::None => {}
        Thinking::Explained | Thinking::StepByStep => {
            fields.insert("reason".to_owned(), reason.clone().into());
        }
        Thinking::Stated(stated) => {
            for about in stated.of(said.ask) {
                let value = match about {
                    About::Understanding => {
                        "All players decide at the same time, and the rules say who gains.".into()
                    }
                    About::Goal => "To gain more than the others.".into(),
                    About::Popular | About::Answer => answer.clone(),
                    About::PreviousAnswer => said
                        .before
                        .map_or(Value::Null, |action| answer_value(form, action)),
                    About::PreviousPayoff => said.payoff.clone().unwrap_or_default(),
                    About::Reason => reason.clone().into(),
                };
                fields.insert(about.field(kind), value);
            }
        }
        Thinking::Foreseeing { in_words } => {
            let prediction = || match in_words {
                true => Value::from("much the same as before"),
                false => answer.clone(),
            };
            let predictions = said.rivals.iter().map(|name| (name.clone(), prediction()));
            fields.insert(
                "predictions".to_owned(),
                predictions.collect::<Map<_, _>>().into(),
            );
        }
    }
    if said.is_json {
        fields.insert(kind.to_string(), answer);
        return Value::from(fields).to_string();
    }
    let answer = format!("My {kind} is {words}.");
    match said.thinking {
        Thinking::None | Thinking::Stated(_) => answer,
        Thinking::Explained => format!("{answer} {reason}"),
        Thinking::StepByStep => {
            format!("I weigh what I can gain against what I may lose.\n{answer}")
        }
        Thinking::Foreseeing { in_words } => {
            let prediction = if in_words {
                "much the same as before"
            } else {
                &words
            };
            let predictions = said.rivals.iter();
            let predictions: String = predictions
                .map(|name| format!("{name}: {prediction}\n"))
                .collect();
            format!("{predictions}{answer}")
        }
    }
}
