//! Whether a server accepts our certificate. In TLS 1.3 it says so after our side of the handshake
//! is over; a client that does not wait for that learns only that the connection broke. Called by
//! `client.rs` for each new connection.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustls::ProtocolVersion::TLSv1_3;
use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A server that accepts us sends tickets at once. For one that sends none we wait this long.
const VERDICT_WITHIN: Duration = Duration::from_secs(1);

/// The certificate of a client, if it has one, and whether a server has asked for it.
#[derive(Debug)]
pub(super) struct Identity {
    certificate: Option<Arc<CertifiedKey>>,
    asked: AtomicBool,
}

impl Identity {
    pub(super) fn new(certificate: Option<Arc<CertifiedKey>>) -> Self {
        Self {
            certificate,
            asked: AtomicBool::new(false),
        }
    }

    /// Waits for the verdict if servers of this configuration ask for certificates.
    ///
    /// # Errors
    /// The server refuses the certificate, or requires one and there is none.
    pub(super) async fn accepted(&self, stream: &mut TlsStream<TcpStream>) -> io::Result<()> {
        let version = stream.get_ref().1.protocol_version();
        if version != Some(TLSv1_3) || !self.asked.load(Ordering::Relaxed) {
            return Ok(());
        }
        let verdict = tokio::time::timeout(VERDICT_WITHIN, first_words(stream));
        verdict.await.unwrap_or(Ok(()))
    }
}

impl ResolvesClientCert for Identity {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.asked.store(true, Ordering::Relaxed);
        self.certificate.clone()
    }

    fn has_certs(&self) -> bool {
        self.certificate.is_some()
    }
}

/// Processes what the server sends first. Application data stays for its reader.
async fn first_words(stream: &mut TlsStream<TcpStream>) -> io::Result<()> {
    let (tcp, session) = stream.get_mut();
    loop {
        tcp.readable().await?;
        match session.read_tls(&mut Arrived(tcp)) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {
                let processed = session.process_new_packets();
                let fault = |fault| io::Error::new(io::ErrorKind::InvalidData, fault);
                return processed.map(drop).map_err(fault);
            }
            Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => {}
            Err(fault) => return Err(fault),
        }
    }
}

/// What has arrived at a socket.
struct Arrived<'a>(&'a TcpStream);

impl io::Read for Arrived<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }
}
