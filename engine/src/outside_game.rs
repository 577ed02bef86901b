//! Games whose rules run elsewhere, in another process and any language. A [`Description`] says
//! what such a game is; its state waits for what that process says of the answers. Asking it is not
//! the engine's business, which waits for nobody: `docs/outside-games.md` says how it is asked.

mod description;
mod parameters;
mod state;

pub use description::{AsksPerSeat, CONTRACT, Description};
pub use parameters::{Parameter, ParameterKind};
pub(crate) use state::info_of;
pub use state::{OutsideGame, OutsideState};
