//! The supervisor of a worker: keeps one stream to the coordinator in charge, says that
//! it is there, starts and stops session actors and hands in what they made. It
//! rebuilds nothing in memory: a session that crashed is leased again and played from
//! its ledger.

mod actor;
mod attempt;
pub mod state;
#[cfg(test)]
mod tests;

pub use actor::SupervisorActor;

use agon_referee::Games;

/// How a worker runs.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// Unique among the workers of a cluster.
    pub worker_id: String,
    /// Drawn when the process starts, so that one that was started again is told from itself.
    pub incarnation: u64,
    /// How many sessions it plays at the same time.
    pub places: usize,
    /// Games that are played elsewhere.
    pub games: Games,
}
