//! What one seat has seen of a session, as plain data that travels: for whoever shows a person its
//! table while the game goes on. Made of what the seat's player was told, so there is nothing in it
//! that another seat alone may know.

use serde::{Deserialize, Serialize};

use crate::ask::{Foul, Seat};
use crate::event::{Event, Value};
use crate::view::SeenEvent;

/// See the module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeatView {
    /// Registered name of the game.
    pub game: String,
    /// Whose view it is.
    pub seat: Seat,
    /// How many seats the game has.
    pub seats: usize,
    /// What the seat saw, oldest first, for its eyes only; of columns its own entry alone, since
    /// a column of a thousand seats would travel with every question.
    pub seen: Vec<Event>,
    /// Why its last answer was refused, if the same is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Foul>,
}

impl SeatView {
    /// The view of a seat that has seen nothing yet.
    pub fn new(game: &str, seat: Seat, seats: usize) -> Self {
        Self {
            game: game.to_owned(),
            seat,
            seats,
            seen: Vec::new(),
            refused: None,
        }
    }

    /// Adds what the seat has just seen.
    pub fn see(&mut self, events: &[SeenEvent]) {
        let events = events.iter().map(|event| event.of_seat(self.seat));
        self.seen.extend(events);
    }

    /// What the seat saw in the form of a record: in columns no other seat has an entry.
    pub fn events(&self) -> impl Iterator<Item = Event> {
        self.seen.iter().map(|event| {
            let own = event.own.iter().map(|(name, value)| {
                let mut column = vec![Value::Nothing; self.seat];
                column.push(value.clone());
                (name.clone(), Value::List(column))
            });
            Event {
                own: own.collect(),
                ..event.clone()
            }
        })
    }
}
