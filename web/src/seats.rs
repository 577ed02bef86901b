//! Pages on which people play: invitations that open one seat each, what that seat is shown and asked,
//! and everything around the game (consent, check, lobby, questions). Nothing here shows a seat more
//! than its own view, and nothing else of the server answers to an invitation.

mod course;
mod invitations;
mod limits;
mod people;
mod ports;
mod presence;
pub(crate) mod routes;
mod seat_state;
mod service;
mod sitting;
mod table;

pub use invitations::{Book, Claim, ClaimError, Claimed, Invitation, PlayedGame};
pub use people::{Check, People, Question, QuestionKind};
pub use ports::{Asks, DoorAsk, Doors, Keeper, Kept, Message, Speaker, Unanswered};
pub use service::Seats;

#[cfg(test)]
pub(crate) mod tests;
