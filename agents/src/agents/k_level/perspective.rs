//! What one seat knows of what another has seen: its own events, with the entries of
//! public columns that belong to the other in the place of its own. Right only for games
//! in which everything that happens is public (`GAMES` of `k_level.rs`).

use agon_engine::view::SeenEvent;
use agon_engine::{Seat, Value};

use crate::events::living;

/// The seats of those who won, in games that tell them.
const WINNERS: &str = "winners";

/// A seat's own fact about that.
const WON: &str = "won";

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
