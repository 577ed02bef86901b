//! How this process reaches services, whom it trusts there, and what it shows them: one token, read
//! again from its file when that changes, and a certificate. Settled once from the command line; called by every command that connects.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use agon_service_kit::files::read_whole;
use agon_service_kit::secret_source::SecretSource;
use agon_service_kit::secrets::shown_address;
use agon_service_kit::server::channel_with;
use agon_service_kit::tasks::{Tasks, with_causes};
use agon_service_kit::tls::{ClientTls, ClientTlsFiles};
use agon_worker::{Transport, transport};
use http::HeaderValue;
use http::header::AUTHORIZATION;
use parking_lot::Mutex;
use secrecy::ExposeSecret as _;
use tonic::body::Body;
use tonic::transport::Channel;
use tower::ServiceExt as _;

use crate::failure::Failure;

/// A token is kept in this variable, or its file is named.
const TOKEN: &str = "AGON_TOKEN";

/// A system's whole list of CAs has some 250 kilobytes.
const MOST_CA_BYTES: u64 = 1 << 20;

/// A token's file is looked at again after this.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a process shows to services.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Connections")]
pub struct ConnectionArguments {
    /// Show services the token in this file; without it, the one in AGON_TOKEN, if any
    #[arg(
        long,
        global = true,
        env = "AGON_TOKEN_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    token_file: Option<PathBuf>,
    /// Trust the certificates of services by this CA (PEM) instead of by the system's
    #[arg(
        long,
        global = true,
        env = "AGON_CA",
        hide_env_values = true,
        value_name = "FILE"
    )]
    ca: Option<PathBuf>,
    /// Show services that ask for one this certificate (PEM)
    #[arg(
        long,
        global = true,
        env = "AGON_CLIENT_CERT",
        hide_env_values = true,
        value_name = "FILE"
    )]
    client_cert: Option<PathBuf>,
    /// The key of that certificate (PEM)
    #[arg(
        long,
        global = true,
        env = "AGON_CLIENT_KEY",
        hide_env_values = true,
        value_name = "FILE"
    )]
    client_key: Option<PathBuf>,
}

static CREDENTIALS: OnceLock<Credentials> = OnceLock::new();

impl ConnectionArguments {
    /// Puts them to use for this process.
    ///
    /// # Errors
    /// The token cannot be read.
    pub fn settle(&self) -> Result<(), Failure> {
        let source = match &self.token_file {
            Some(file) => Some(SecretSource::File(file.clone())),
            None if std::env::var_os(TOKEN).is_some_and(|token| !token.is_empty()) => {
                Some(SecretSource::Env(TOKEN.to_owned()))
            }
            None => None,
        };
        let token = source.map(Token::read).transpose()?;
        let files = ClientTlsFiles {
            ca: self.ca.clone(),
            cert: self.client_cert.clone(),
            key: self.client_key.clone(),
        };
        let names_files = self.ca.is_some() || self.client_cert.is_some();
        let names_files = names_files || self.client_key.is_some();
        let tls = names_files.then(|| ClientTls::read(&files)).transpose();
        // A process settles once; tests of parsing settle nothing.
        let _ = CREDENTIALS.set(Credentials {
            token: token.map(Arc::new),
            tls: tls.map_err(Failure::input)?,
            ca: self.ca.clone(),
        });
        Ok(())
    }
}

/// What this process shows.
#[derive(Default, Clone)]
struct Credentials {
    token: Option<Arc<Token>>,
    /// Absent: the system's CAs, and no certificate.
    tls: Option<ClientTls>,
    ca: Option<PathBuf>,
}

/// The certificates of the CA that was named, to trust it elsewhere, too.
///
/// # Errors
/// They cannot be read any more.
pub fn ca() -> Result<Option<Vec<u8>>, Failure> {
    let known = CREDENTIALS.get().and_then(|known| known.ca.as_deref());
    let read = known
        .map(|file| read_whole(file, MOST_CA_BYTES))
        .transpose();
    read.map_err(Failure::input)
}

/// Has a service notice when the files of its certificates change.
pub fn follow_certificates(tasks: &Tasks) {
    if let Some(tls) = CREDENTIALS.get().and_then(|known| known.tls.as_ref()) {
        tls.follow(tasks);
    }
}

/// A token as it was read last.
struct Token {
    source: SecretSource,
    read: Mutex<(HeaderValue, Instant)>,
}

impl Token {
    fn read(source: SecretSource) -> Result<Self, Failure> {
        let header = header(&source)?;
        Ok(Self {
            source,
            read: Mutex::new((header, Instant::now())),
        })
    }

    /// The header, read again now and then. A file that cannot be read leaves the one of before.
    fn header(&self) -> HeaderValue {
        let mut read = self.read.lock();
        if read.1.elapsed() > LOOK_EVERY && matches!(self.source, SecretSource::File(_)) {
            read.1 = Instant::now();
            match header(&self.source) {
                Ok(header) => read.0 = header,
                Err(failure) => tracing::warn!(%failure, "the token cannot be read again"),
            }
        }
        read.0.clone()
    }
}

fn header(source: &SecretSource) -> Result<HeaderValue, Failure> {
    let cannot =
        |reason: String| Failure::input(anyhow::anyhow!("the token to show to services: {reason}"));
    // Also what is no place of a token is said here, and not repeated.
    let token = source.read().map_err(|error| cannot(with_causes(&error)))?;
    let header = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()));
    let mut header = header.map_err(|error| cannot(error.to_string()))?;
    header.set_sensitive(true);
    Ok(header)
}

/// Whether this process shows services a token.
pub fn shows_a_token() -> bool {
    CREDENTIALS.get().is_some_and(|known| known.token.is_some())
}

/// Whether this process was given certificates, so that it speaks to services over TLS only.
pub fn wants_tls() -> bool {
    CREDENTIALS.get().is_some_and(|known| known.tls.is_some())
}

/// A request with what this process shows.
pub fn signed(mut request: http::Request<Body>) -> http::Request<Body> {
    if let Some(token) = CREDENTIALS.get().and_then(|known| known.token.as_ref()) {
        request.headers_mut().insert(AUTHORIZATION, token.header());
    }
    request
}

/// A channel to the service at an address.
///
/// # Errors
/// It is no address.
pub fn channel_to(url: &str) -> Result<Channel, Failure> {
    let tls = CREDENTIALS.get().and_then(|known| known.tls.as_ref());
    if tls.is_some() && !url.starts_with("https://") {
        let url = shown_address(url);
        return Err(Failure::BadInput(format!(
            "{url} is not encrypted, so a CA or a client's certificate is of no use there: write \
             https://, or leave out --ca, --client-cert and --client-key"
        )));
    }
    channel_with(url, tls).map_err(Failure::input)
}

/// A transport to the service at an address.
///
/// # Errors
/// It is no address.
pub fn transport_to(url: &str) -> Result<Transport, Failure> {
    Ok(over(vec![channel_to(url)?]))
}

/// A transport over one or several channels to the same service, used in turn.
pub fn over(channels: Vec<Channel>) -> Transport {
    let transport = transport::in_turn(channels);
    transport::into_service(transport.map_request(signed))
}
