//! How our servers listen, gRPC servers serve and clients connect, in the clear or over TLS: one
//! place for keep-alive, health and orderly shutdown. It knows no service; message sizes, compression
//! and the deadline of each call belong to whoever makes the call. Called by every binary role and by
//! the tests.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::stream;
use http::Uri;
use http::uri::Scheme;
use rustls::pki_types::ServerName;
use tokio::net::{TcpListener, lookup_host};
use tokio::sync::{oneshot, watch};
use tonic::Status;
use tonic::service::Routes;
use tonic::transport::{Channel, Endpoint, Server};
use tonic_health::ServingStatus;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

pub use crate::connections::ConnectionLimits;
use crate::connections::Connections;
use crate::secrets;
use crate::tasks::{TaskKind, Tasks};
pub use crate::tls::install_crypto;
use crate::tls::{ClientTls, ClientTlsFiles, ServerTls, TlsError};

/// A peer that is silent for this long is asked for a sign of life. A partition must show well
/// before a lease of 10 seconds ends.
pub(crate) const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(4);

/// A peer that gives no sign of life for this long is gone, and the connection with it.
pub(crate) const KEEP_ALIVE_PATIENCE: Duration = Duration::from_secs(4);

/// A connection inside a cluster is there at once or not at all, and so is a handshake.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);

/// Largest message of any of our services, for servers and clients alike: a request with its whole
/// conversation, or the reply to one.
pub const LARGEST_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// Largest message to and from a coordinator: the longest record that there may be, which may pack
/// badly, with its telemetry.
pub const LARGEST_RESULT_BYTES: usize = 128 * 1024 * 1024;

/// Calls that one connection may have under way: all sessions of a large worker wait over one.
pub(crate) const MOST_STREAMS: u32 = 16_384;

/// Headers of one call. Traces and tokens need a few hundred bytes.
pub(crate) const LARGEST_HEADERS_BYTES: u32 = 32 * 1024;

/// Whole-service name of the gRPC health protocol, which Kubernetes probes ask for.
const WHOLE_SERVER: &str = "";

/// Name under which a server says that it is alive, whatever it waits for: what a liveness probe
/// asks, so that a server is not killed for the absence of its store.
const LIVENESS: &str = "liveness";

/// An address that is taken and ready for a server.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    local_addr: SocketAddr,
    limits: ConnectionLimits,
    tls: Option<ServerTls>,
}

/// Why a server cannot listen. Prints on one line, with the operating system's reason.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {reason}")]
pub struct ListenError {
    /// The address as it was given.
    pub address: String,
    /// The reason, lower case.
    pub reason: String,
}

impl Listener {
    /// Takes `address`, as `host:port`; port 0 means any free port.
    pub async fn bind(address: &str) -> Result<Self, ListenError> {
        let fault = |source| ListenError {
            address: address.to_owned(),
            reason: reason(&source),
        };
        let resolved: Vec<SocketAddr> = lookup_host(address).await.map_err(fault)?.collect();
        let socket = TcpListener::bind(&resolved[..]).await.map_err(fault)?;
        let local_addr = socket.local_addr().map_err(fault)?;
        Ok(Self {
            socket,
            local_addr,
            limits: ConnectionLimits::default(),
            tls: None,
        })
    }

    /// The address that was taken, with the real port.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// The same with other limits than those that follow from the process's open files.
    #[must_use]
    pub fn with_limits(self, limits: ConnectionLimits) -> Self {
        Self { limits, ..self }
    }

    /// The same over TLS; nothing else is served then.
    #[must_use]
    pub fn with_tls(self, tls: ServerTls) -> Self {
        let tls = Some(tls);
        Self { tls, ..self }
    }

    /// The limits of its connections.
    pub fn limits(&self) -> ConnectionLimits {
        self.limits
    }

    pub(crate) fn into_connections(self, name: &'static str) -> Connections {
        Connections::new(self.socket, name, self.limits, self.tls)
    }

    /// The bare socket without limits and without TLS, for the simulated provider and servers of tests.
    pub fn into_tokio(self) -> TcpListener {
        self.socket
    }
}

fn reason(fault: &io::Error) -> String {
    match fault.kind() {
        io::ErrorKind::AddrInUse => {
            "the port is already in use; stop what listens there, or choose another port".to_owned()
        }
        io::ErrorKind::PermissionDenied => "not permitted to use this port".to_owned(),
        io::ErrorKind::AddrNotAvailable => "this machine has no such address".to_owned(),
        _ => fault.to_string(),
    }
}

/// Serves the routes and the standard health service as a task of kind [`TaskKind::SERVICE`].
/// At shutdown it reports itself as not serving, takes no new connection and lets running calls
/// end; streams must end by themselves when they see the shutdown token.
pub fn serve(tasks: &Tasks, name: &'static str, listener: Listener, routes: Routes) {
    let (_always, ready) = watch::channel(true);
    serve_when(tasks, name, listener, routes, ready);
}

/// As [`serve`], but the health service reports "not serving" while `ready` is false. Calls are
/// taken all the same; what becomes of them is the service's own business.
pub fn serve_when(
    tasks: &Tasks,
    name: &'static str,
    listener: Listener,
    routes: Routes,
    mut ready: watch::Receiver<bool>,
) {
    let shutdown = tasks.shutdown_token();
    let (health, health_service) = tonic_health::server::health_reporter();
    let reported = async move {
        health
            .set_service_status(LIVENESS, ServingStatus::Serving)
            .await;
        loop {
            let status = match *ready.borrow_and_update() {
                true => ServingStatus::Serving,
                false => ServingStatus::NotServing,
            };
            health.set_service_status(WHOLE_SERVER, status).await;
            tokio::select! {
                () = shutdown.cancelled() => break,
                changed = ready.changed() => if changed.is_err() {
                    shutdown.cancelled().await;
                    break;
                },
            }
        }
        health
            .set_service_status(WHOLE_SERVER, ServingStatus::NotServing)
            .await;
    };
    let (stopped, stop) = oneshot::channel();
    tasks.spawn(TaskKind::SERVICE, "health", async move {
        reported.await;
        // A server that has ended already needs no telling.
        let _ = stopped.send(());
    });
    let stop = async move {
        // Told, or the teller is gone; either way it is over.
        let _ = stop.await;
    };
    let connections = listener.into_connections(name);
    let incoming = stream::unfold(connections, |mut connections| async {
        let connection = connections.accept().await;
        Some((Ok::<_, io::Error>(connection), connections))
    });
    let server = Server::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE_EVERY))
        .http2_keepalive_timeout(Some(KEEP_ALIVE_PATIENCE))
        .http2_max_header_list_size(LARGEST_HEADERS_BYTES)
        .max_concurrent_streams(MOST_STREAMS)
        .add_routes(routes)
        .add_service(health_service)
        .serve_with_incoming_shutdown(incoming, stop);
    tasks.spawn(TaskKind::SERVICE, name, server);
}

/// Why a client cannot be made from an address.
#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    /// It is no URI, has another scheme, or names no host.
    #[error(
        "`{0}` is not a service address such as http://coordinator:7700 or https://coordinator:7700"
    )]
    Address(String),
    /// No trust was given, and the system has none.
    #[error("no TLS for `{address}`")]
    Tls {
        /// The address as it may be shown.
        address: String,
        /// What is wrong with the system's authorities.
        source: TlsError,
    },
}

/// As [`channel_with`], with the system's authorities for https.
///
/// # Errors
/// As [`channel_with`].
pub fn channel(uri: &str) -> Result<Channel, ChannelError> {
    channel_with(uri, None)
}

/// A channel to one of our services. It connects at the first call and again after a loss, and
/// notices a silent partition also while idle. Calls have no deadline of their own. An address with
/// https:// is reached over TLS, with the trust and the certificate given or else with the system's
/// authorities; one with http:// in the clear, whatever is given.
///
/// # Errors
/// It is no address of a service, or the system's authorities are needed and there are none.
pub fn channel_with(uri: &str, tls: Option<&ClientTls>) -> Result<Channel, ChannelError> {
    let shown = secrets::keep_address(uri);
    let Ok(address) = uri.parse::<Uri>() else {
        return Err(ChannelError::Address(shown));
    };
    match (address.scheme_str(), address.host()) {
        (Some("http"), Some(_)) => Ok(endpoint(address).connect_lazy()),
        (Some("https"), Some(host)) => {
            // Brackets belong to the address and not to the name.
            let host = host.trim_matches(['[', ']']);
            let (Ok(name), Some(plain)) = (ServerName::try_from(host), in_clear(&address)) else {
                return Err(ChannelError::Address(shown));
            };
            let tls = match tls {
                Some(tls) => tls.clone(),
                None => ClientTls::read(&ClientTlsFiles::default()).map_err(|source| {
                    let address = shown;
                    ChannelError::Tls { address, source }
                })?,
            };
            Ok(over_tls(address.clone(), plain, name.to_owned(), tls))
        }
        _ => Err(ChannelError::Address(shown)),
    }
}

/// The same address with http://, under which tonic leaves TLS to our connector.
fn in_clear(address: &Uri) -> Option<Uri> {
    let mut parts = address.clone().into_parts();
    parts.scheme = Some(Scheme::HTTP);
    Uri::from_parts(parts).ok()
}

/// Tonic's own TLS reads certificates once; here each connection takes those of its time.
fn over_tls(address: Uri, plain: Uri, name: ServerName<'static>, tls: ClientTls) -> Channel {
    let endpoint = endpoint(plain).origin(address.clone());
    endpoint.connect_with_connector_lazy(tower::service_fn(move |_: Uri| {
        let (address, name) = (address.clone(), name.clone());
        tls.clone().connect(address, name, CONNECT_TIMEOUT)
    }))
}

fn endpoint(address: Uri) -> Endpoint {
    Endpoint::from(address)
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE_EVERY)
        .keep_alive_timeout(KEEP_ALIVE_PATIENCE)
        .keep_alive_while_idle(true)
}

/// Whether a server says that it serves.
///
/// # Errors
/// It does not answer.
pub async fn health(channel: Channel) -> Result<bool, Status> {
    let whole = HealthCheckRequest {
        service: WHOLE_SERVER.to_owned(),
    };
    let answer = HealthClient::new(channel).check(whole).await?;
    Ok(answer.into_inner().status == ServingStatus::Serving as i32)
}

/// Whether a server answers and says that it serves.
pub async fn is_serving(channel: Channel) -> bool {
    health(channel).await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(channel: Channel) -> Result<i32, Status> {
        check_named(channel, WHOLE_SERVER).await
    }

    async fn check_named(channel: Channel, service: &str) -> Result<i32, Status> {
        let request = HealthCheckRequest {
            service: service.into(),
        };
        Ok(HealthClient::new(channel)
            .check(request)
            .await?
            .into_inner()
            .status)
    }

    #[tokio::test]
    async fn server_answers_health_on_a_free_port_and_stops_on_shutdown() {
        let tasks = Tasks::new();
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}", listener.local_addr());
        serve(&tasks, "test server", listener, Routes::default());
        let client = channel(&uri).unwrap();
        assert_eq!(
            check(client.clone()).await.unwrap(),
            ServingStatus::Serving as i32
        );
        tasks.shutdown(Duration::from_secs(10)).await.unwrap();
        let gone = check(client).await.unwrap_err();
        assert!(crate::status::is_retryable(&gone), "{gone:?}");
    }

    #[tokio::test]
    async fn server_that_is_not_ready_is_alive_and_not_serving() {
        let tasks = Tasks::new();
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let client = channel(&format!("http://{}", listener.local_addr())).unwrap();
        let (ready, is_ready) = watch::channel(false);
        serve_when(&tasks, "late server", listener, Routes::default(), is_ready);
        for (now, expected) in [
            (false, ServingStatus::NotServing),
            (true, ServingStatus::Serving),
            (false, ServingStatus::NotServing),
        ] {
            ready.send_replace(now);
            while check(client.clone()).await.unwrap() != expected as i32 {
                tokio::task::yield_now().await;
            }
            let alive = check_named(client.clone(), LIVENESS).await.unwrap();
            assert_eq!(alive, ServingStatus::Serving as i32);
        }
        tasks.shutdown(Duration::from_secs(10)).await.unwrap();
    }

    #[tokio::test]
    async fn lazy_channel_heals_when_the_server_comes_later() {
        let reserved = Listener::bind("127.0.0.1:0").await.unwrap();
        let address = reserved.local_addr();
        drop(reserved);
        let client = channel(&format!("http://{address}")).unwrap();
        assert!(crate::status::is_retryable(
            &check(client.clone()).await.unwrap_err()
        ));
        let tasks = Tasks::new();
        let listener = Listener::bind(&address.to_string()).await.unwrap();
        serve(&tasks, "late server", listener, Routes::default());
        assert!(check(client).await.is_ok());
    }

    #[tokio::test]
    async fn taken_port_is_one_clear_line() {
        let first = Listener::bind("127.0.0.1:0").await.unwrap();
        let address = first.local_addr().to_string();
        let error = Listener::bind(&address).await.unwrap_err();
        let expected = format!("cannot listen on {address}: the port is already in use; ");
        assert!(error.to_string().starts_with(&expected), "{error}");
        let error = Listener::bind("nonsense").await.unwrap_err();
        assert!(
            error.to_string().starts_with("cannot listen on nonsense: "),
            "{error}"
        );
    }

    #[tokio::test]
    async fn channel_refuses_what_is_no_service_address() {
        for bad in [
            "",
            "coordinator:7700",
            "/path",
            "ht tp://x",
            "ftp://x:1",
            "unix:/run/agon",
            "https://",
            "https://-:1",
        ] {
            let error = channel(bad).unwrap_err().to_string();
            for allowed in ["http://", "https://"] {
                assert!(error.contains(allowed), "{bad}: {error}");
            }
        }
    }

    #[test]
    fn crypto_is_there_after_any_number_of_installs() {
        install_crypto();
        install_crypto();
        assert!(rustls::crypto::CryptoProvider::get_default().is_some());
    }
}
