//! Games whose rules run elsewhere, in another process and any language. A [`Description`] says
//! what such a game is, an [`OutsideReply`] what a set of answers leads to, and the record keeps
//! every reply under its address ([`RecordedReply`]), so that sessions are played again without
//! the other process. Asking it is not the engine's business, which waits for nobody:
//! `docs/outside-games.md` says how it is asked.

mod description;
mod parameters;
mod recorded;
mod reply;
mod state;

pub use description::{AsksPerSeat, CONTRACT, Description};
pub use parameters::{Parameter, ParameterKind};
pub use recorded::RecordedReply;
pub use reply::{AskGroup, OutsideReply, Refusal};
pub use state::{OutsideGame, OutsideRules, OutsideState};
