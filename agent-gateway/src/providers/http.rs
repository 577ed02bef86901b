//! The one HTTP client that all providers share, and the way of a request over
//! it: out with the key in a header, in with a body of sane length. Refuses to
//! follow redirects and to know what a body means. Called by `caller.rs`.

use std::time::Duration;

use agon_service_kit::secrets;
use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use super::error_body::shortened;
use super::{Arrived, Call, Refusal, Remedy};
use crate::parameters::Applied;

/// No model writes this much; a broken server may, until memory ends.
const LARGEST_REPLY_BYTES: usize = 16 * 1024 * 1024;

/// Name, connection and TLS take well under a second; whoever is not reached by then is not there,
/// however long an answer may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Services that give credentials are near, or not there at all.
const CREDENTIALS_WITHIN: Duration = Duration::from_secs(5);

/// Credentials have some thousand characters.
const LARGEST_CREDENTIALS_BYTES: usize = 1 << 20;

/// Routers forget silent connections after some minutes.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// Where the client finds the addresses of proxies, which may hold passwords.
const PROXIES: [&str; 6] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// A client whose connections are kept and shared by all calls. Cheap to clone.
#[derive(Clone)]
pub struct Http {
    client: reqwest::Client,
}

/// A request as it leaves, but for the key.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    /// Where to; never holds a key, since addresses end up in logs.
    pub(super) url: String,
    /// Which header carries the key.
    pub(super) key_in: KeyHeader,
    /// Further headers.
    pub(super) headers: Vec<(&'static str, String)>,
    /// JSON.
    pub(super) body: Vec<u8>,
    /// Which parameters the body holds.
    pub(super) applied: Applied,
}

/// Where a protocol wants the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyHeader {
    /// `authorization: Bearer KEY`.
    Bearer,
    /// A header of this name, holding the key alone.
    Named(&'static str),
    /// Nowhere: others headers are made with it.
    Nowhere,
}

/// What came back, with whatever status.
#[derive(Debug)]
pub(super) struct Incoming {
    /// The status.
    pub(super) status: StatusCode,
    /// The headers.
    pub(super) headers: HeaderMap,
    /// The whole body.
    pub(super) body: Vec<u8>,
}

impl Http {
    /// Sets the client up; fails when the system has no TLS roots or the like.
    pub fn new() -> Result<Self, reqwest::Error> {
        agon_service_kit::server::install_crypto();
        for name in PROXIES {
            if let Ok(address) = std::env::var(name) {
                secrets::keep_address(&address);
            }
        }
        let client = reqwest::Client::builder()
            .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")))
            // A redirect would carry the key to somebody who was not configured.
            .redirect(reqwest::redirect::Policy::none())
            // HTTP/2 would put all calls on one connection, and providers allow
            // some hundred streams on it; with HTTP/1.1 the limits are ours.
            .http1_only()
            .tcp_nodelay(true)
            .connect_timeout(CONNECT_TIMEOUT)
            // A model may think for a quarter of an hour without a byte on the connection, which
            // routers in between take for dead.
            .tcp_keepalive(KEEP_ALIVE)
            .build()?;
        Ok(Self { client })
    }

    /// Sends and waits for the whole answer, within the provider's timeout.
    pub(super) async fn send(
        &self,
        call: Call<'_>,
        outgoing: Outgoing,
        proof: HeaderMap,
    ) -> Result<Incoming, Refusal> {
        let mut request = self
            .client
            .post(outgoing.url)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .timeout(call.model.timeout(call.request.effort()))
            .body(outgoing.body);
        if let Some(key) = call.key
            && let Some((name, value)) = key_header(outgoing.key_in, key)?
        {
            request = request.header(name, value);
        }
        for (name, value) in outgoing.headers {
            request = request.header(name, value);
        }
        let extra = call.model.additions.headers();
        let extra = extra
            .map_err(|error| Refusal::new(Remedy::GiveUp, format!("extra_headers: {error}")))?;
        for (name, value) in extra {
            request = request.header(name, value);
        }
        let response = request.headers(proof).send().await;
        let mut response = response.map_err(|error| of_transport(&error, call))?;
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let body = read_body(response, call).await?;
        Ok(Incoming {
            status,
            headers,
            body,
        })
    }
}

impl Http {
    /// Asks a service that gives credentials; absent: it does not answer, in time or at length.
    pub(super) async fn ask(&self, request: http::Request<Bytes>) -> Option<http::Response<Bytes>> {
        let mut request = reqwest::Request::try_from(request).ok()?;
        *request.timeout_mut() = Some(CREDENTIALS_WITHIN);
        let mut response = self.client.execute(request).await.ok()?;
        let mut answer = http::Response::builder().status(response.status());
        *answer.headers_mut()? = std::mem::take(response.headers_mut());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.ok()? {
            if body.len() + chunk.len() > LARGEST_CREDENTIALS_BYTES {
                return None;
            }
            body.extend_from_slice(&chunk);
        }
        answer.body(Bytes::from(body)).ok()
    }
}

/// The key as a header that no debug output shows.
fn key_header(
    place: KeyHeader,
    key: &SecretString,
) -> Result<Option<(&'static str, HeaderValue)>, Refusal> {
    let key = key.expose_secret();
    let (name, value) = match place {
        KeyHeader::Bearer => (AUTHORIZATION.as_str(), format!("Bearer {key}")),
        KeyHeader::Named(name) => (name, key.to_owned()),
        KeyHeader::Nowhere => return Ok(None),
    };
    let mut value = HeaderValue::try_from(value).map_err(|_| {
        let reason = "the key holds characters that a header cannot carry";
        Refusal::new(Remedy::QuarantineKey, reason)
    })?;
    value.set_sensitive(true);
    Ok(Some((name, value)))
}

/// The whole body, unless it is absurd.
async fn read_body(mut response: reqwest::Response, call: Call<'_>) -> Result<Vec<u8>, Refusal> {
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await;
        match chunk.map_err(|error| of_transport(&error, call))? {
            None => return Ok(body),
            Some(chunk) if body.len() + chunk.len() <= LARGEST_REPLY_BYTES => {
                body.extend_from_slice(&chunk);
            }
            Some(_) => {
                let reason = format!("the reply is longer than {LARGEST_REPLY_BYTES} bytes");
                return Err(Refusal {
                    arrived: Arrived::PerhapsDone,
                    ..Refusal::new(Remedy::Retry(None), reason)
                });
            }
        }
    }
}

/// No answer came at all, or broke off.
fn of_transport(error: &reqwest::Error, call: Call<'_>) -> Refusal {
    let address = &call.model.provider.base_url;
    let cause = root_cause(error);
    let reason = if error.is_connect() {
        format!("cannot connect to {address}: {cause}")
    } else if error.is_timeout() {
        let timeout = call.model.timeout(call.request.effort()).as_secs_f64();
        format!("no answer from {address} within {timeout} s")
    } else {
        format!("the connection to {address} broke: {cause}")
    };
    Refusal {
        arrived: match error.is_connect() {
            true => Arrived::Never,
            false => Arrived::PerhapsDone,
        },
        overloaded: error.is_timeout() && !error.is_connect(),
        ..Refusal::new(Remedy::Retry(None), shortened(&reason).to_string())
    }
}
/// What lies at the bottom of an error, in the system's own words.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
