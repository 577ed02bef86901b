//! A conversation for protocols that keep instructions apart and want the user
//! and the model to take turns, beginning with the user. Refuses to drop or
//! reorder anything that is said. Called by `anthropic.rs` and `gemini.rs`.

use crate::decision::{Message, Role};

/// Stands where the user would have begun; a model cannot begin by answering.
const OPENING: &str = "(begin)";

/// What stands between messages that become one.
const BETWEEN: &str = "\n\n";

/// A conversation in turns.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Conversation {
    /// All instructions, in order.
    pub(super) system: Option<String>,
    /// Beginning with the user, then by turns; never empty.
    pub(super) turns: Vec<ConversationTurn>,
}

/// What one side says at once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ConversationTurn {
    /// The model says it, not the user.
    pub(super) by_model: bool,
    /// What is said.
    pub(super) text: String,
}

impl Conversation {
    /// Arranges messages. Instructions without any question become the question.
    pub(super) fn of(messages: &[Message]) -> Self {
        let mut system = String::new();
        let mut turns: Vec<ConversationTurn> = Vec::new();
        // Protocols of this kind refuse empty texts, and they say nothing.
        for message in messages
            .iter()
            .filter(|message| !message.content.is_empty())
        {
            let by_model = match message.role {
                Role::System => {
                    append(&mut system, &message.content);
                    continue;
                }
                Role::User => false,
                Role::Assistant => true,
            };
            match turns.last_mut() {
                Some(turn) if turn.by_model == by_model => append(&mut turn.text, &message.content),
                _ => {
                    if turns.is_empty() && by_model {
                        turns.push(by_user(OPENING));
                    }
                    turns.push(ConversationTurn {
                        by_model,
                        text: message.content.clone(),
                    });
                }
            }
        }
        if turns.is_empty() {
            let text = if system.is_empty() { OPENING } else { &system };
            turns.push(by_user(text));
            system = String::new();
        }
        Self {
            system: (!system.is_empty()).then_some(system),
            turns,
        }
    }
}

fn by_user(text: &str) -> ConversationTurn {
    ConversationTurn {
        by_model: false,
        text: text.to_owned(),
    }
}

fn append(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push_str(BETWEEN);
    }
    text.push_str(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(messages: &[(Role, &str)]) -> (Option<String>, Vec<(bool, String)>) {
        let messages: Vec<Message> = messages
            .iter()
            .map(|(role, content)| Message {
                role: *role,
                content: (*content).to_owned(),
            })
            .collect();
        let conversation = Conversation::of(&messages);
        let turns = conversation.turns.into_iter();
        let turns = turns.map(|turn| (turn.by_model, turn.text));
        (conversation.system, turns.collect())
    }

    #[test]
    fn turns_alternate_and_begin_with_the_user() {
        use Role::{Assistant, System, User};
        let said = |by_model: bool, text: &str| (by_model, text.to_owned());
        assert_eq!(
            arranged(&[
                (System, "a"),
                (User, "b"),
                (User, "c"),
                (Assistant, ""),
                (System, "d")
            ]),
            (Some("a\n\nd".into()), vec![said(false, "b\n\nc")])
        );
        assert_eq!(
            arranged(&[(Assistant, "a"), (User, "b"), (Assistant, "c")]),
            (
                None,
                vec![
                    said(false, OPENING),
                    said(true, "a"),
                    said(false, "b"),
                    said(true, "c")
                ]
            )
        );
        assert_eq!(arranged(&[(System, "a")]), (None, vec![said(false, "a")]));
        assert_eq!(arranged(&[]), (None, vec![said(false, OPENING)]));
    }
}
