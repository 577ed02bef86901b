//! A worker: takes leases on sessions, plays them, hands in their records.
//!
//! It holds nothing that cannot be lost: a session that dies here is played
//! again elsewhere from the gateway's ledger. It sees no store, only the
//! coordinator and the gateway. Reading order: [`session`], then [`seat`],
//! [`supervisor`].

mod capabilities;
pub mod mind;
pub mod prompts;
pub mod remaking;
pub mod seat;
pub mod session;
pub mod setup;
pub mod supervisor;
pub mod transport;
pub mod verify;
pub mod wire;

mod metrics;
mod worker;

pub use capabilities::capabilities;
pub use metrics::METRICS;
pub use supervisor::WorkerOptions;
pub use transport::Transport;
pub use worker::start;
