//! The supervisor of a worker: keeps one stream to the coordinator, takes as many
//! leases as there are free places, renews them, starts and stops session actors
//! and hands in what they made. It rebuilds nothing in memory: a session that
//! crashed is leased again and played from its ledger.

mod actor;
mod handle;
mod messages;
mod state;
#[cfg(test)]
mod tests;

pub use actor::SupervisorActor;
pub use handle::SupervisorHandle;
pub use messages::SupervisorStatus;

/// How a worker runs.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// Unique among the workers of a cluster.
    pub worker_id: String,
    /// How many sessions it plays at the same time.
    pub places: usize,
}
