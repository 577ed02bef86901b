//! What a simulated model says to an ask, in the form in which it is put: its answer with
//! reasons, beliefs and predictions where they are asked for. Called by `dialogue.rs`.

use agon_engine::{Action, Ask};
use serde_json::{Map, Value};

use super::{Dialogue, Turn};
use crate::forms::fields::{About, Fields};
use crate::forms::{Thinking, answer_value, in_words};

/// What it thinks aloud.
const THOUGHTS: &str = "I weigh what I can gain against what I may lose.";

/// What is predicted of others who answer something else.
const AS_BEFORE: &str = "much the same as before";

impl Dialogue {
    /// What a simulated model says to an ask, in the form in which it is put.
    pub(crate) fn simulated_reply(&mut self, turn: Turn<'_>) -> Option<String> {
        let Turn { ask, thinking, .. } = turn;
        let understudy = self.understudy.as_mut()?;
        let action = understudy.answer(ask, turn.refused.is_some());
        let words = in_words(&ask.form, &action);
        let reason = format!(
            "It leaves me room if the others do more than I expect, so I settle on {words}."
        );
        if self.wants_json_for(thinking) {
            let fields = self.simulated_fields(ask, &action, thinking, &reason);
            return Some(match thinking.is_aloud(self.settings.reply) {
                true => format!("{THOUGHTS}\n{fields}"),
                false => fields,
            });
        }
        let answer = format!("My {} is {words}.", ask.kind);
        Some(match thinking {
            Thinking::None | Thinking::Stated(_) => answer,
            Thinking::Explained => format!("{answer} {reason}"),
            Thinking::StepByStep => format!("{THOUGHTS}\n{answer}"),
            Thinking::Foreseeing { in_words } => {
                let prediction = if in_words { AS_BEFORE } else { &words };
                let rivals = self.rivals().names_of_others().into_iter();
                let predictions = rivals.map(|name| format!("{name}: {prediction}\n"));
                predictions.collect::<String>() + &answer
            }
        })
    }

    fn simulated_fields(
        &self,
        ask: &Ask,
        action: &Action,
        thinking: Thinking,
        reason: &str,
    ) -> String {
        let value = |action: &Action| answer_value(&ask.form, action);
        let answer = value(action);
        let mut fields = Map::new();
        match thinking {
            Thinking::None => {}
            Thinking::Explained | Thinking::StepByStep => {
                fields.insert("reason".to_owned(), reason.into());
            }
            Thinking::Stated(stated) => {
                let past = self.past.last(&ask.kind);
                let before = past.and_then(|past| past.action.as_ref()).map(value);
                let payoff = past.and_then(|past| past.payoff.clone());
                if stated == Fields::StepByStep && !thinking.is_aloud(self.settings.reply) {
                    fields.insert("reason".to_owned(), reason.into());
                }
                fields.extend(stated.of(ask).into_iter().map(|about| {
                    let said = match about {
                        About::Understanding => {
                            "All players decide at the same time, and the rules say who gains."
                                .into()
                        }
                        About::Goal => "To gain more than the others.".into(),
                        About::Popular | About::Answer => answer.clone(),
                        About::PreviousAnswer => before.clone().unwrap_or_default(),
                        About::PreviousPayoff => payoff.clone().unwrap_or_default(),
                        About::Reason => reason.into(),
                    };
                    (about.field(&ask.kind), said)
                }));
            }
            Thinking::Foreseeing { in_words } => {
                let prediction = if in_words {
                    AS_BEFORE.into()
                } else {
                    answer.clone()
                };
                let rivals = self.rivals().names_of_others().into_iter();
                let predictions: Map<_, _> = rivals.map(|one| (one, prediction.clone())).collect();
                fields.insert("predictions".to_owned(), predictions.into());
            }
        }
        fields.insert(ask.kind.to_string(), answer);
        Value::from(fields).to_string()
    }
}
