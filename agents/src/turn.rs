//! One turn of a seat that talks with its model: the ask is put, the answer read. What
//! every such agent has in common is here; what an agent adds (predictions, reflections,
//! advice) is all that its own file holds, as [`Converses`].

use agon_engine::view::SeenEvent;
use agon_engine::{Ask, Foul};
use async_trait::async_trait;

use crate::agent::{Agent, Answer, Verdict};
use crate::dialogue::{Dialogue, Turn};
use crate::forms::Thinking;
use crate::info::Seating;
use crate::mind::{Mind, MindError};
use crate::notes::Note;

mod reader;
mod summing;

/// An agent that talks with its model in the words of its game: what it adds to hearing what
/// happens and taking each ask as a turn.
#[async_trait]
pub trait Converses: Send {
    /// The conversation of its seat.
    fn dialogue(&mut self) -> &mut Dialogue;

    /// Answers an ask, or answers again what was refused; `turn` puts it as it is.
    async fn answer(&mut self, turn: Turn<'_>, mind: &dyn Mind) -> Result<Answer, MindError> {
        take(self.dialogue(), turn, mind).await
    }

    /// Hears what its conversation has just heard.
    fn heard(&mut self, _events: &[SeenEvent]) -> Result<(), MindError> {
        Ok(())
    }

    /// Hears how its ask ended, before its conversation does.
    fn settled(&mut self, _verdict: &Verdict) {}
}

#[async_trait]
impl<A: Converses> Agent for A {
    async fn observe(&mut self, events: &[SeenEvent], _mind: &dyn Mind) -> Result<(), MindError> {
        self.dialogue().hear(events)?;
        self.heard(events)
    }

    async fn act(
        &mut self,
        ask: &Ask,
        refused: Option<&Foul>,
        mind: &dyn Mind,
    ) -> Result<Answer, MindError> {
        let thinking = self.dialogue().thinking();
        let turn = Turn::plain(ask, refused).thinking(thinking);
        self.answer(turn, mind).await
    }

    fn settle(&mut self, verdict: &Verdict) {
        self.settled(verdict);
        self.dialogue().settle(verdict);
    }

    fn take_notes(&mut self) -> Vec<Note> {
        self.dialogue().take_notes()
    }
}

/// An agent that adds nothing but its own way to ask.
#[derive(Debug)]
pub struct Asker {
    dialogue: Dialogue,
    thinking: fn(&Dialogue, &Ask) -> Thinking,
}

impl Asker {
    /// Builds one that has its model think so before it answers.
    pub fn build(
        seating: &Seating<'_>,
        thinking: fn(&Dialogue, &Ask) -> Thinking,
    ) -> Result<Box<dyn Agent>, String> {
        let dialogue = seating.dialogue();
        Ok(Box::new(Self { dialogue, thinking }))
    }
}

#[async_trait]
impl Converses for Asker {
    fn dialogue(&mut self) -> &mut Dialogue {
        &mut self.dialogue
    }

    async fn answer(&mut self, turn: Turn<'_>, mind: &dyn Mind) -> Result<Answer, MindError> {
        let thinking = (self.thinking)(&self.dialogue, turn.ask);
        take(&mut self.dialogue, turn.thinking(thinking), mind).await
    }
}

/// Takes a turn: the action read from the reply, or the foul that reading ended in.
/// A conversation that is full is summed up before, and a reply that the program
/// cannot read is read by another model behind it, where the player is set so.
pub async fn take(
    dialogue: &mut Dialogue,
    turn: Turn<'_>,
    mind: &dyn Mind,
) -> Result<Answer, MindError> {
    if turn.refused.is_none() {
        summing::make_room(dialogue, turn, mind).await?;
    }
    let reply = mind.think(dialogue.thought("act", turn)?).await?;
    let read = dialogue.read(turn.ask, reply);
    if !read.as_ref().is_err_and(reader::may_help) {
        return Ok(read);
    }
    match reader::find(dialogue, turn.ask, mind).await? {
        Some(found) => Ok(Ok(dialogue.adopt(found))),
        None => Ok(read),
    }
}
