//! The TLS of a client of our services: whom it trusts, and the certificate that it shows. It
//! speaks HTTP/2 only, and knows no service. Called by `server.rs` for channels.

mod verdict;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agon_outlets::InLine as _;
use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower::{BoxError, ServiceExt as _};

use super::install_crypto;
use super::pem::{PemFile, TlsError, certified};
use super::rotation::{Files, Rotating};
use crate::tasks::{TaskKind, Tasks};

use verdict::Identity;

/// What our clients speak over TLS: gRPC is HTTP/2.
const PROTOCOL: &[u8] = b"h2";

/// The files of a client, all PEM. Without any it trusts the system's authorities and shows no
/// certificate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientTlsFiles {
    /// The authorities to trust instead of the system's.
    pub ca: Option<PathBuf>,
    /// The certificate for servers that ask for one, followed by those between it and an
    /// authority.
    pub cert: Option<PathBuf>,
    /// The private key of the first certificate: PKCS#8, PKCS#1 or SEC1.
    pub key: Option<PathBuf>,
}

/// The TLS of a client. Cheap to clone.
#[derive(Clone)]
pub struct ClientTls {
    rotating: Arc<Rotating<ClientTlsFiles>>,
}

impl ClientTls {
    /// Reads the files. A certificate that has expired is used, with a warning.
    ///
    /// # Errors
    /// A file cannot be read or used, the key does not belong to the certificate, only one of
    /// them is named, or the system has no authorities.
    pub fn read(files: &ClientTlsFiles) -> Result<Self, TlsError> {
        install_crypto();
        let rotating = Arc::new(Rotating::read(files.clone())?);
        Ok(Self { rotating })
    }

    /// From now on follows the files: new connections use what they hold, if it is good. Open
    /// connections go on as they are.
    pub fn follow(&self, tasks: &Tasks) {
        let rotating = self.rotating.clone();
        if !rotating.files().paths().is_empty() {
            tasks.spawn(
                TaskKind::UPKEEP,
                "certificates of a client",
                rotating.follow(),
            );
        }
    }

    /// Connects to `address`, whose certificate must be for `name`.
    pub(crate) async fn connect(
        self,
        address: Uri,
        name: ServerName<'static>,
        patience: Duration,
    ) -> Result<TokioIo<TlsStream<TcpStream>>, BoxError> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(patience));
        let stream = tcp.oneshot(address).await?.into_inner();
        let Prepared { config, identity } = &*self.rotating.config();
        let handshake = TlsConnector::from(config.clone()).connect(name, stream);
        let mut stream = handshake.await?;
        identity.accepted(&mut stream).await?;
        if stream.get_ref().1.alpn_protocol() != Some(PROTOCOL) {
            return Err(io::Error::other("the server speaks TLS, but not HTTP/2").into());
        }
        Ok(TokioIo::new(stream))
    }
}

impl fmt::Debug for ClientTls {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.rotating.files();
        out.debug_tuple("ClientTls").field(files).finish()
    }
}

/// What the files of a client hold.
#[derive(Clone, PartialEq)]
pub(super) struct ClientPem {
    ca: Option<PemFile>,
    identity: Option<(PemFile, PemFile)>,
}

/// What new connections use.
pub(super) struct Prepared {
    config: Arc<ClientConfig>,
    identity: Arc<Identity>,
}

impl Files for ClientTlsFiles {
    type Contents = ClientPem;
    type Config = Prepared;

    fn paths(&self) -> Vec<PathBuf> {
        let all = [&self.ca, &self.cert, &self.key];
        all.into_iter().flatten().cloned().collect()
    }

    fn read(&self) -> Result<ClientPem, TlsError> {
        let identity = match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => Some((PemFile::read(cert)?, PemFile::read(key)?)),
            (None, None) => None,
            (Some(one), None) | (None, Some(one)) => {
                let file = one.in_line().to_string();
                return Err(TlsError::Half { file });
            }
        };
        let ca = PemFile::read_if_named(self.ca.as_deref())?;
        Ok(ClientPem { ca, identity })
    }

    fn certificate(contents: &ClientPem) -> Option<&PemFile> {
        contents.identity.as_ref().map(|(cert, _)| cert)
    }

    fn config(contents: &ClientPem) -> Result<Prepared, TlsError> {
        let builder = ClientConfig::builder();
        let provider = builder.crypto_provider().clone();
        let builder = match &contents.ca {
            Some(file) => builder.with_root_certificates(file.authorities()?),
            None => builder.with_platform_verifier().map_err(TlsError::System)?,
        };
        let certified = match &contents.identity {
            Some((cert, key)) => Some(certified(&provider, cert, key)?),
            None => None,
        };
        let identity = Arc::new(Identity::new(certified));
        let mut config = builder.with_client_cert_resolver(identity.clone());
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        let config = Arc::new(config);
        Ok(Prepared { config, identity })
    }
}
