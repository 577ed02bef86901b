//! How a worker reaches the coordinator and the gateway: over a channel to
//! another process, or straight into a service object of the same process. Both
//! speak the same protocol messages, so there is one client code.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agon_proto::v1::session_lease_service_client::SessionLeaseServiceClient;
use tonic::body::Body;
use tonic::transport::Channel;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceExt as _};

/// A connection to a gRPC service, in another process or in this one.
pub type Transport = BoxCloneSyncService<http::Request<Body>, http::Response<Body>, TransportError>;

/// The client of the coordinator's lease service.
pub type CoordinatorClient = SessionLeaseServiceClient<Transport>;

/// Why a call did not reach its service.
#[derive(Debug, thiserror::Error)]
#[error("no connection")]
pub struct TransportError(#[source] BoxError);

/// A transport over a channel.
pub fn over(channel: Channel) -> Transport {
    Transport::new(channel.map_err(|error| TransportError(error.into())))
}

/// A transport over one or several channels to the same service, used in turn: a connection carries only
/// so many calls at a time.
pub fn in_turn(channels: Vec<Channel>) -> Transport {
    let channels: Arc<[Channel]> = channels.into();
    let next = Arc::new(AtomicUsize::new(0));
    into_service(tower::service_fn(move |request: http::Request<Body>| {
        let turn = next.fetch_add(1, Ordering::Relaxed) % channels.len();
        channels[turn].clone().oneshot(request)
    }))
}

/// A transport into a service of this process, without a socket of its own.
pub fn into_service<S>(service: S) -> Transport
where
    S: Service<http::Request<Body>, Response = http::Response<Body>>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    Transport::new(service.map_err(|error| TransportError(error.into())))
}
