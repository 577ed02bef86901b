//! How a worker reaches the coordinator and the gateway: over a channel to
//! another process, or straight into a service object of the same process. Both
//! speak the same protocol messages, so there is one client code.

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

/// A transport into a service of this process, without a socket.
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
