//! Authorities and certificates of tests, servers that use them, and clients that look at what the
//! servers show.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::http;
use agon_service_kit::server::{self, ConnectionLimits, Listener, channel_with, install_crypto};
use agon_service_kit::tasks::{TaskKind, Tasks};
use agon_service_kit::tls::{ClientTls, ClientTlsFiles, ServerTls, TlsFiles};
use axum::Router;
use axum::routing::get;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, ServerName};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tonic::Status;
use tonic::service::Routes;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

/// Longer than any time-out of the servers; after that a test should say so.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Names under which tests reach their servers.
pub const HERE: [&str; 2] = ["localhost", "127.0.0.1"];

/// Who signs certificates.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key in PEM.
pub struct Pair {
    pub cert: String,
    pub key: String,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for names and addresses.
    pub fn certify(&self, names: &[&str]) -> Pair {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(names).unwrap();
        Pair {
            cert: params.signed_by(&key, &self.0).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }
}

/// A folder of PEM files.
pub struct Files(TempDir);

impl Files {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.at(name), text).unwrap();
        self.at(name)
    }

    /// Writes a pair and gives its files.
    pub fn server(&self, pair: &Pair, client_ca: Option<&Authority>) -> TlsFiles {
        TlsFiles {
            cert: self.write("server.crt", &pair.cert),
            key: self.write("server.key", &pair.key),
            client_ca: client_ca.map(|ca| self.write("clients.crt", &ca.pem())),
        }
    }

    /// A client that trusts an authority and may show a certificate.
    pub fn client(&self, ca: &Authority, pair: Option<&Pair>) -> ClientTls {
        let files = ClientTlsFiles {
            ca: Some(self.write("ca.crt", &ca.pem())),
            cert: pair.map(|pair| self.write("client.crt", &pair.cert)),
            key: pair.map(|pair| self.write("client.key", &pair.key)),
        };
        ClientTls::read(&files).unwrap()
    }
}

/// Two servers over TLS, one of each kind.
pub struct Servers {
    pub tasks: Tasks,
    pub grpc: u16,
    pub http: u16,
}

pub async fn open(files: &TlsFiles) -> Servers {
    open_within(files, |limits| limits).await
}

pub async fn open_within(
    files: &TlsFiles,
    limits: impl Fn(ConnectionLimits) -> ConnectionLimits,
) -> Servers {
    let tasks = Tasks::new();
    let tls = ServerTls::read(files).unwrap();
    tls.follow(&tasks);
    let listen = async || {
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let limits = limits(listener.limits());
        listener.with_limits(limits).with_tls(tls.clone())
    };
    let (grpc, web) = (listen().await, listen().await);
    let servers = Servers {
        tasks: tasks.clone(),
        grpc: grpc.local_addr().port(),
        http: web.local_addr().port(),
    };
    server::serve(&tasks, "grpc", grpc, Routes::default());
    let router = Router::new().route("/", get(|| async { "here" }));
    let shutdown = tasks.shutdown_token();
    let served = http::serve(tasks.clone(), "http", TaskKind::WORK, web, router, shutdown);
    tasks.spawn(TaskKind::SERVICE, "http", served);
    servers
}

impl Servers {
    /// A channel to the gRPC server under one of its names.
    pub fn channel(&self, host: &str, tls: &ClientTls) -> Channel {
        channel_with(&format!("https://{host}:{}", self.grpc), Some(tls)).unwrap()
    }

    pub async fn stop(self) {
        self.tasks.shutdown(PATIENCE).await.unwrap();
    }
}

/// Asks for the health of a server.
pub async fn check(channel: &Channel) -> Result<(), Status> {
    let asked = HealthCheckRequest::default();
    let answer = HealthClient::new(channel.clone()).check(asked).await;
    answer.map(drop)
}

pub async fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).await.unwrap()
}

/// A client's configuration of rustls that trusts an authority and says that it speaks `protocol`.
pub fn trusting(ca: &Authority, protocol: &str) -> Arc<rustls::ClientConfig> {
    install_crypto();
    let mut roots = RootCertStore::empty();
    roots.add(ca.0.der().clone()).unwrap();
    let builder = rustls::ClientConfig::builder().with_root_certificates(roots);
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![protocol.into()];
    Arc::new(config)
}

/// A connection after its handshake.
pub async fn shake_hands(port: u16, config: Arc<rustls::ClientConfig>) -> TlsStream<TcpStream> {
    let name = ServerName::try_from("localhost").unwrap();
    let connector = TlsConnector::from(config);
    connector.connect(name, connect(port).await).await.unwrap()
}

/// The certificate that a server shows.
pub fn shown(stream: &TlsStream<TcpStream>) -> CertificateDer<'static> {
    stream.get_ref().1.peer_certificates().unwrap()[0].clone()
}
