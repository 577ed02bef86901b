//! What one seat has seen of a session, as plain data that travels: for whoever shows a person its
//! table while the game goes on. Made of what the seat's player was told, so there is nothing in it
//! that another seat alone may know.

use serde::{Deserialize, Serialize};

use crate::ask::{Foul, Seat};
use crate::event::Event;
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
    /// What the seat saw, oldest first, for its eyes only.
    pub events: Vec<Event>,
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
            events: Vec::new(),
            refused: None,
        }
    }

    /// Adds what the seat has just seen.
    pub fn see(&mut self, events: &[SeenEvent]) {
        let events = events.iter().map(|event| event.of_seat(self.seat));
        self.events.extend(events);
    }
}
