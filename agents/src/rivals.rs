//! Who else sits at the table and is still in the game, as far as one seat has seen:
//! for agents that think about the others one by one.

use agon_engine::game::player_name;
use agon_engine::view::SeenEvent;
use agon_engine::{Seat, Value};

use crate::events::{BRIEFING, living};

/// The fact of a briefing with a name per seat.
const NAMES: &str = "names";

/// The other players of one seat.
#[derive(Debug)]
pub struct Rivals {
    own: Seat,
    living: Vec<Seat>,
    /// What the game calls the seats, where it has names for them.
    names: Vec<String>,
}

impl Rivals {
    /// The rivals of a seat; nobody, before the briefing.
    pub fn new(own: Seat) -> Self {
        Self {
            own,
            living: Vec::new(),
            names: Vec::new(),
        }
    }

    /// Takes an event in.
    pub fn see(&mut self, event: &SeenEvent) {
        if event.kind == BRIEFING {
            let players = event.fact("players").and_then(Value::integer);
            let players = players.and_then(|players| usize::try_from(players).ok());
            self.living = (0..players.unwrap_or(0)).collect();
            self.names = event.fact(NAMES).map(names).unwrap_or_default();
        }
        if let Some(living) = living(event) {
            self.living = living;
        }
    }

    /// Everybody who is in play, in seat order.
    pub fn living(&self) -> &[Seat] {
        &self.living
    }

    /// What a seat is called in the words of the game.
    pub fn name(&self, seat: Seat) -> String {
        let name = self.names.get(seat).cloned();
        name.unwrap_or_else(|| player_name(seat))
    }

    /// What the others who are in play are called, in seat order.
    pub fn names_of_others(&self) -> Vec<String> {
        let others = self.others().into_iter();
        others.map(|seat| self.name(seat)).collect()
    }

    /// The others who are in play, in seat order.
    pub fn others(&self) -> Vec<Seat> {
        let all = self.living.iter().copied();
        all.filter(|seat| *seat != self.own).collect()
    }
}

fn names(column: &Value) -> Vec<String> {
    let entries = (0..column.len()).map(|place| column.entry(place));
    let names = entries.map(|entry| entry.text().map(str::to_owned));
    names.collect::<Option<_>>().unwrap_or_default()
}

#[cfg(test)]
mod tests;
