//! The second step of reading: where a reply in words is ambiguous or states no answer
//! to the program, another model is asked what it says. What was asked and what was
//! replied are quoted to it line by line, so that nothing in them can end the quotation
//! and speak for itself. Its own reply is read by the program; one without an answer
//! leaves the foul as it was. Called by `turn.rs`.

use agon_engine::{Action, Ask, Foul, FoulKind};
use serde_json::json;

use crate::agent::AgentError;
use crate::dialogue::Dialogue;
use crate::forms::{Thinking, or_null};
use crate::mind::{Message, Mind, MindError, Reply, ReplyFormat, Role, Thought};
use crate::quotation::{ending, quoted};
use crate::reading::{self, Reading};

/// Longest part of a reply that is quoted, in letters. The end is kept: that is where
/// answers stand. Less is quoted where the player's `memory_tokens` have no room for it.
const QUOTED_LETTERS: usize = 4_000;

/// So much of a reply is quoted in any case: less can hardly be made out.
const LEAST_QUOTED: usize = 250;

/// What begins every quoted line.
const MARK: &str = "> ";

/// What the schema says of the answer. The simulated model server knows a reader by it.
const DESCRIPTION: &str = "as the quoted reply states it, or null";

/// Whether another reader may find what the program did not: the text has an answer
/// that is not clear to it, or none. An answer of the wrong kind, or a reply that was
/// cut off, is what it is.
pub fn may_help(foul: &Foul) -> bool {
    foul.kind == FoulKind::Unreadable
}

/// Asks the reader what a reply answers; none when there is nothing to ask, or the
/// reader finds no answer.
pub async fn find(
    dialogue: &Dialogue,
    ask: &Ask,
    mind: &dyn Mind,
) -> Result<Option<Reading>, MindError> {
    let (Some(settings), Some(said)) = (dialogue.reader(), dialogue.unread()) else {
        return Ok(None);
    };
    let messages = question(dialogue, ask, said)?;
    let format = ReplyFormat {
        name: ask.kind.to_string(),
        schema: schema(ask).into(),
    };
    let reply = mind.think(Thought::new("read", settings, messages, Some(format)));
    Ok(read(ask, &reply.await?))
}

/// What the reader is asked: the end of what was said, as much as there is room for.
fn question(dialogue: &Dialogue, ask: &Ask, said: &str) -> Result<Vec<Message>, AgentError> {
    let asked = quoted(&dialogue.narrator.ask(ask, Thinking::None)?, MARK);
    let mut letters = QUOTED_LETTERS;
    loop {
        let replied = quoted(ending(said, letters), MARK);
        let (rules, text) = dialogue.narrator.to_read(ask, &asked, &replied)?;
        let messages = vec![
            Message::new(Role::System, rules),
            Message::new(Role::User, text),
        ];
        let length: usize = messages.iter().map(Message::tokens).sum();
        if length <= dialogue.memory.bound() || letters <= LEAST_QUOTED {
            return Ok(messages);
        }
        letters /= 2;
    }
}

/// The form of the reader's reply: the ask's own, with null for no answer.
pub fn schema(ask: &Ask) -> String {
    let mut answer = or_null(ask.form.schema());
    answer["description"] = DESCRIPTION.into();
    json!({
        "type": "object", "properties": { &*ask.kind: answer }, "required": [&ask.kind],
        "additionalProperties": false,
    })
    .to_string()
}

/// The answer in the reader's reply: in JSON only, for its words may name several. A
/// number out of range is an answer, and the game says what is wrong with it; a word
/// that is no option is the reader's own.
fn read(ask: &Ask, reply: &Reply) -> Option<Reading> {
    let found = reading::as_json(ask, reply)?.ok()?;
    let is_number = matches!(
        found.action,
        Action::Integer(_) | Action::Number(_) | Action::Division(_)
    );
    (is_number || ask.form.check(&found.action).is_ok()).then_some(found)
}
