//! Who else sits at the table and is still in the game, as far as one seat has seen:
//! for agents that think about the others one by one.

use agon_engine::game::{FactNames, player_name};
use agon_engine::view::SeenEvent;
use agon_engine::{Seat, Value};

use crate::events::BRIEFING;

/// Most players of any game: what a briefing says may come from elsewhere.
const MOST_PLAYERS: usize = 1_000;

/// The other players of one seat.
#[derive(Debug)]
pub struct Rivals {
    own: Seat,
    facts: FactNames,
    living: Vec<Seat>,
    /// What the game calls the seats, where it has names for them.
    names: Vec<String>,
}

impl Rivals {
    /// The rivals of a seat in a game that calls facts so; nobody, before the briefing.
    pub fn new(facts: FactNames, own: Seat) -> Self {
        Self {
            own,
            facts,
            living: Vec::new(),
            names: Vec::new(),
        }
    }

    /// Takes an event in.
    pub fn see(&mut self, event: &SeenEvent) {
        if event.kind == BRIEFING {
            let players = event.fact("players").and_then(Value::integer);
            let players = players.and_then(|players| usize::try_from(players).ok());
            self.living = (0..players.unwrap_or(0).min(MOST_PLAYERS)).collect();
            let told = self.facts.seat_names.as_ref();
            let told = told.and_then(|name| event.fact(name));
            self.names = told.map(names).unwrap_or_default();
        }
        if let Some(living) = in_play(&self.facts, event) {
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

/// The seats that an event says are in play, in order; nothing when it says nothing.
pub fn in_play(facts: &FactNames, event: &SeenEvent) -> Option<Vec<Seat>> {
    let told = event.fact(facts.in_play.as_ref()?)?.integers()?;
    let seats = told.iter().map(|seat| usize::try_from(*seat).ok());
    let mut seats: Vec<Seat> = seats.collect::<Option<_>>()?;
    seats.sort_unstable();
    Some(seats)
}

fn names(column: &Value) -> Vec<String> {
    let entries = (0..column.len()).map(|place| column.entry(place));
    let names = entries.map(|entry| entry.text().map(str::to_owned));
    names.collect::<Option<_>>().unwrap_or_default()
}

#[cfg(test)]
mod tests;
