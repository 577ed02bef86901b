//! Pages that show runs and sessions, and on which people play: an HTTP API under `/api/v1`, and the
//! front end in `ui`, whose build is part of the binary. Reads what it is given through [`Source`],
//! and asks and keeps through the ports of [`seats`]; it knows no files, no coordinator and no
//! gateway. Wired by the command line (`agon view`, `agon run --web`).

mod access;
mod answers;
mod api;
mod assets;
mod document;
mod entrance;
mod events;
mod headers;
mod index;
pub mod judging;
mod library;
mod query;
mod refusal;
mod results;
pub mod seats;
pub mod signing_in;
pub mod site;
pub mod sweeps;
mod wanted;

pub use access::{Access, AccessHolder, Shelf, SignedIn};
pub use answers::{Decision, DecisionMessage};
pub use api::router;
pub use entrance::{Doorkeeper, Entrance, is_same, token};
pub use index::{Index, Place, Played, Run, RunKey};
pub use library::{Calls, Library, Sessions, Source};
pub use refusal::Refusal;
