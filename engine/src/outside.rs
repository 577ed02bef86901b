//! What another process says of a game whose rules it holds: an [`OutsideReply`] is what a set of
//! answers leads to, a [`RecordedReply`] the same as a record keeps it, so that sessions are played
//! again without the process, and [`OutsideRules`] what a spec says of the game. Plain data; how a
//! game is made of it is `outside_game`.

mod recorded;
mod reply;
mod rules;

pub use recorded::RecordedReply;
pub use reply::{AskGroup, OutsideReply, Refusal};
pub use rules::OutsideRules;
