//! What a supervisor is told from inside the process; the coordinator's messages
//! come by stream.

use tokio::sync::oneshot;

/// What a supervisor is told.
pub(super) enum SupervisorMessage {
    /// From tests and the command line.
    Status(oneshot::Sender<SupervisorStatus>),
}

/// What a worker is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupervisorStatus {
    /// Whether the stream to the coordinator is open.
    pub connected: bool,
    /// Ids of the sessions being played.
    pub playing: Vec<String>,
    /// Ids of sessions whose result the coordinator has not acknowledged.
    pub unsettled: Vec<String>,
}
