//! Starts a worker: the supervisor under the process's tasks. Opens no connection:
//! the command line hands in both transports, embedded or over the network.

use agon_proto::v1::session_lease_service_client::SessionLeaseServiceClient;
use agon_service_kit::server::LARGEST_RESULT_BYTES;
use agon_service_kit::tasks::{TaskKind, Tasks};

use crate::mind::GatewayClient;
use crate::supervisor::{SupervisorActor, WorkerOptions};
use crate::transport::Transport;

/// Starts a worker, which stops when the tasks it was started under shut down. Of several
/// coordinators one is in charge; the others are tried when it is no longer.
pub fn start(
    tasks: &Tasks,
    coordinators: Vec<Transport>,
    gateway: Transport,
    options: &WorkerOptions,
) {
    let coordinators = coordinators.into_iter().map(|coordinator| {
        SessionLeaseServiceClient::new(coordinator)
            .max_decoding_message_size(LARGEST_RESULT_BYTES)
            .max_encoding_message_size(LARGEST_RESULT_BYTES)
    });
    let gateway = GatewayClient::new(gateway);
    let actor = SupervisorActor::new(tasks.clone(), coordinators.collect(), gateway, options);
    let shutdown = tasks.shutdown_token();
    tasks.spawn(TaskKind::SERVICE, "worker", actor.run(shutdown));
}
