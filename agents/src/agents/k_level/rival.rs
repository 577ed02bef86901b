//! One rival as a `k_level` seat imagines it: a conversation of its own that has heard
//! what the rival saw, and in which the rival's real answers stand as given. What it saw are
//! the seat's own events, with the entries of public columns that belong to the rival in the
//! place of its own: right only for games in which everything that happens is public (`GAMES`
//! of `k_level.rs`). Makes no calls.

use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Seat, Value};

use crate::dialogue::Dialogue;
use crate::events::living;
use crate::mind::MindError;

/// The seats of those who won, in games that tell them.
const WINNERS: &str = "winners";

/// A seat's own fact about that.
const WON: &str = "won";

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
    /// A rival of the seat `own`, with a conversation of its own.
    pub fn new(own: Seat, seat: Seat, dialogue: Dialogue) -> Self {
        Self {
            seat,
            dialogue,
            perspective: Perspective::new(own, seat),
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
    lives: bool,
}

impl Perspective {
    /// How a rival sees what a seat sees.
    pub fn new(own: Seat, rival: Seat) -> Self {
        let lives = true;
        Self { own, rival, lives }
    }

    /// An event of the seat as the rival saw it; nothing once the rival is out of the
    /// game. Events must come in order.
    pub fn of(&mut self, event: &SeenEvent) -> Option<SeenEvent> {
        if !self.lives {
            return None;
        }
        // Who is put out is told of that, and of nothing after it.
        self.lives = living(event).is_none_or(|living| living.contains(&self.rival));
        let facts = event.facts.iter();
        let facts = facts.map(|(name, value)| {
            let theirs = self.theirs(event, name, value);
            (name.clone(), theirs.unwrap_or_else(|| value.clone()))
        });
        Some(SeenEvent {
            kind: event.kind.clone(),
            round: event.round,
            facts: facts.collect(),
        })
    }

    /// The rival's value of a fact that is the seat's own: a column `bid` is the seat's
    /// entry of a public column `bids`, and `won` says whether it is among the winners.
    fn theirs(&self, event: &SeenEvent, name: &str, value: &Value) -> Option<Value> {
        if name == WON {
            let winners = event.fact(WINNERS)?;
            let rival = i64::try_from(self.rival).ok()?;
            let won = winners.integers().is_some_and(|all| all.contains(&rival));
            return Some(Value::Flag(won));
        }
        let column = event.fact(&format!("{name}s"))?;
        (column.entry(self.own) == *value).then(|| column.entry(self.rival))
    }
}
