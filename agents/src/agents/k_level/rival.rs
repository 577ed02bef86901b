//! One rival as a `k_level` seat imagines it: a conversation of its own that has heard
//! what the rival saw, and in which the rival's real answers stand as given. What it saw are
//! the seat's own events, with the entries of public columns that belong to the rival in the
//! place of its own: right only for games in which everything that happens is public (`GAMES`
//! of `k_level.rs`). Makes no calls.

use agon_engine::game::FactNames;
use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Name, Seat, Value};

use crate::dialogue::Dialogue;
use crate::mind::MindError;
use crate::rivals::in_play;

/// An imagined rival.
#[derive(Debug)]
pub struct Rival {
    /// Its seat.
    pub seat: Seat,
    dialogue: Dialogue,
    perspective: Perspective,
    /// What it is asked, until it is known what it answered.
    asked: Option<Ask>,
}

impl Rival {
    /// A rival of the seat `own`, with a conversation of its own, in a game with these facts.
    pub fn new(own: Seat, seat: Seat, facts: FactNames, dialogue: Dialogue) -> Self {
        Self {
            seat,
            dialogue,
            perspective: Perspective::new(own, seat, facts),
            asked: None,
        }
    }

    /// Hears what the seat that imagines it heard.
    pub fn hear(&mut self, event: &SeenEvent) -> Result<(), MindError> {
        let Some(seen) = self.perspective.of(event) else {
            return Ok(());
        };
        let answer = self
            .asked
            .as_ref()
            .and_then(|ask| seen.fact(&ask.kind))
            .cloned();
        if let Some(answer) = answer
            && let Some(ask) = self.asked.take()
        {
            let action = given(&ask, &answer);
            self.dialogue.assume(&ask, action);
        }
        self.dialogue.hear(&[seen])
    }

    /// Its conversation, once it is asked this.
    pub fn asked(&mut self, ask: &Ask) -> &mut Dialogue {
        if self.asked.as_ref() != Some(ask) {
            self.asked = Some(ask.clone());
        }
        &mut self.dialogue
    }
}

/// The answer that a public column holds; nothing where the seat gave none.
fn given(ask: &Ask, answer: &Value) -> Option<Action> {
    if *answer == Value::Nothing {
        return None;
    }
    let json = serde_json::to_value(answer).ok()?;
    ask.form.read(&json).ok()
}

/// The eyes of a rival.
#[derive(Debug)]
pub struct Perspective {
    own: Seat,
    rival: Seat,
    facts: FactNames,
    lives: bool,
}

impl Perspective {
    /// How a rival sees what a seat sees.
    pub fn new(own: Seat, rival: Seat, facts: FactNames) -> Self {
        Self {
            own,
            rival,
            facts,
            lives: true,
        }
    }

    /// An event of the seat as the rival saw it; nothing once the rival is out of the
    /// game. Events must come in order.
    pub fn of(&mut self, event: &SeenEvent) -> Option<SeenEvent> {
        if !self.lives {
            return None;
        }
        // Who is put out is told of that, and of nothing after it.
        let living = in_play(&self.facts, event);
        self.lives = living.is_none_or(|living| living.contains(&self.rival));
        let facts = event.facts.iter();
        let facts = facts.map(|(name, value)| {
            let theirs = self.theirs(event, name, value);
            (name.clone(), theirs.unwrap_or_else(|| value.clone()))
        });
        Some(SeenEvent {
            kind: event.kind.clone(),
            round: event.round,
            facts: facts.collect(),
            shared: event.shared,
        })
    }

    /// The rival's value of a fact that is the seat's own: its entry of the public column, or
    /// whether it is among the seats for which a flag is set.
    fn theirs(&self, event: &SeenEvent, name: &str, value: &Value) -> Option<Value> {
        let public = |all: &[(Name, Name)]| {
            let pair = all.iter().find(|(own, _)| own == name)?;
            event.fact(&pair.1)
        };
        if let Some(seats) = public(&self.facts.flags) {
            let rival = i64::try_from(self.rival).ok()?;
            let is_set = seats.integers().is_some_and(|all| all.contains(&rival));
            return Some(Value::Flag(is_set));
        }
        let column = public(&self.facts.columns)?;
        (column.entry(self.own) == *value).then(|| column.entry(self.rival))
    }
}
