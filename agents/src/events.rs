//! What events of every game are called, as far as agents go by their names: the briefing,
//! the end of a round, and who is still in play.

use agon_engine::Seat;
use agon_engine::view::SeenEvent;

/// The event that every game starts with.
pub const BRIEFING: &str = "briefing";

/// The event that ends a round.
pub const ROUND_RESULT: &str = "round_result";

/// Facts under which games tell the seats that are in play.
const LIVING: [&str; 3] = ["living", "alive", "order"];

/// The seats that an event says are in play, in order; nothing when it says nothing.
pub fn living(event: &SeenEvent) -> Option<Vec<Seat>> {
    let told = LIVING.iter().find_map(|name| event.fact(name)?.integers());
    let seats = told?.iter().map(|seat| usize::try_from(*seat).ok());
    let mut seats: Vec<Seat> = seats.collect::<Option<_>>()?;
    seats.sort_unstable();
    Some(seats)
}
