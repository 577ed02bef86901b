//! The TLS of a server: its certificate, and whose clients it serves. It does no handshake itself
//! (`connections.rs` does). Called by whoever gives a listener TLS.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use rustls::sign::SingleCertAndKey;
use tokio::net::TcpStream;
use tokio_rustls::{Accept, TlsAcceptor};
use tracing::warn;

use super::install_crypto;
use super::pem::{PemFile, TlsError, certified};
use super::rotation::{Files, Rotating};
use crate::complaint::Complaint;
use crate::tasks::{TaskKind, Tasks};

/// What our servers speak over TLS, the preferred first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The files of a server, all PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// Its certificate, followed by those between it and an authority.
    pub cert: PathBuf,
    /// The private key of the first certificate: PKCS#8, PKCS#1 or SEC1.
    pub key: PathBuf,
    /// Authorities of client certificates. When they are named, a client without a certificate
    /// of theirs is refused.
    pub client_ca: Option<PathBuf>,
}

/// The TLS of a server. Cheap to clone.
#[derive(Clone)]
pub struct ServerTls {
    rotating: Arc<Rotating<TlsFiles>>,
    failed: Arc<Complaint>,
}

impl ServerTls {
    /// Reads the files. A certificate that has expired is used, with a warning.
    ///
    /// # Errors
    /// A file cannot be read or used, or the key does not belong to the certificate.
    pub fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        install_crypto();
        Ok(Self {
            rotating: Arc::new(Rotating::read(files.clone())?),
            failed: Arc::default(),
        })
    }

    /// From now on follows the files: new connections use what they hold, if it is good. Open
    /// connections go on as they are.
    pub fn follow(&self, tasks: &Tasks) {
        let rotating = self.rotating.clone();
        tasks.spawn(
            TaskKind::UPKEEP,
            "certificate of a server",
            rotating.follow(),
        );
    }

    /// A handshake that nobody has begun yet.
    pub(crate) fn accept(&self, stream: TcpStream) -> Accept<TcpStream> {
        TlsAcceptor::from(self.rotating.config()).accept(stream)
    }

    /// Logs why handshakes fail, one line in a while. Callers who go away are no failure.
    pub(crate) fn on_failure(&self, server: &str, peer: Option<SocketAddr>, fault: &io::Error) {
        if fault.kind() != io::ErrorKind::InvalidData {
            return;
        }
        if let Some(handshakes) = self.failed.note() {
            let peer = peer.map(|peer| peer.ip().to_string());
            warn!(server, peer, %fault, handshakes, "TLS handshakes failed");
        }
    }
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.rotating.files();
        out.debug_tuple("ServerTls").field(files).finish()
    }
}

/// What the files of a server hold.
#[derive(Clone, PartialEq)]
pub(super) struct ServerPem {
    cert: PemFile,
    key: PemFile,
    client_ca: Option<PemFile>,
}

impl Files for TlsFiles {
    type Contents = ServerPem;
    type Config = ServerConfig;

    fn paths(&self) -> Vec<PathBuf> {
        let pair = [self.cert.clone(), self.key.clone()];
        pair.into_iter().chain(self.client_ca.clone()).collect()
    }

    fn read(&self) -> Result<ServerPem, TlsError> {
        Ok(ServerPem {
            cert: PemFile::read(&self.cert)?,
            key: PemFile::read(&self.key)?,
            client_ca: PemFile::read_if_named(self.client_ca.as_deref())?,
        })
    }

    fn certificate(contents: &ServerPem) -> Option<&PemFile> {
        Some(&contents.cert)
    }

    fn config(contents: &ServerPem) -> Result<ServerConfig, TlsError> {
        let builder = ServerConfig::builder();
        let certified = certified(builder.crypto_provider(), &contents.cert, &contents.key)?;
        let builder = match &contents.client_ca {
            None => builder.with_no_client_auth(),
            Some(file) => {
                let authorities = Arc::new(file.authorities()?);
                let verifier = WebPkiClientVerifier::builder(authorities).build();
                let verifier = verifier.map_err(|source| TlsError::ClientAuthorities {
                    file: file.file(),
                    source,
                })?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let resolver = SingleCertAndKey::from(certified);
        let mut config = builder.with_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(config)
    }
}
