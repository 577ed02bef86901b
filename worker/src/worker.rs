//! Starts a worker: the supervisor under the process's tasks. Opens no connection:
//! the command line hands in both transports, embedded or over the network.

use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::session_lease_service_client::SessionLeaseServiceClient;
use agon_service_kit::server::LARGEST_MESSAGE_BYTES;
use agon_service_kit::tasks::{TaskKind, Tasks};

use crate::supervisor::{SupervisorActor, SupervisorHandle, WorkerOptions};
use crate::transport::Transport;

/// A running worker. Stops when the tasks it was started under shut down.
#[derive(Clone)]
pub struct Worker {
    handle: SupervisorHandle,
}

impl Worker {
    /// Starts a worker.
    pub fn start(
        tasks: &Tasks,
        coordinator: Transport,
        gateway: Transport,
        options: &WorkerOptions,
    ) -> Self {
        let coordinator = SessionLeaseServiceClient::new(coordinator)
            .max_decoding_message_size(LARGEST_MESSAGE_BYTES)
            .max_encoding_message_size(LARGEST_MESSAGE_BYTES);
        let gateway = AgentGatewayServiceClient::new(gateway)
            .max_decoding_message_size(LARGEST_MESSAGE_BYTES)
            .max_encoding_message_size(LARGEST_MESSAGE_BYTES);
        let (actor, handle) = SupervisorActor::new(tasks.clone(), coordinator, gateway, options);
        let shutdown = tasks.shutdown_token();
        tasks.spawn(TaskKind::SERVICE, "worker", actor.run(shutdown));
        Self { handle }
    }

    /// The handle to its supervisor.
    pub fn handle(&self) -> &SupervisorHandle {
        &self.handle
    }
}
