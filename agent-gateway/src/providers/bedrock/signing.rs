//! Signatures of AWS, version 4, and the credentials that make them: those of a profile where the
//! configuration names one, else what AWS's own programs find (environment, profiles, SSO, web
//! identity, containers, machines). Credentials are kept until shortly before they end; a thousand
//! calls wait for one look. Called by `bedrock.rs`.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_service_kit::files::read_whole;
use agon_service_kit::secrets;
use bytes::Bytes;
use parking_lot::Mutex;
use reqsign_aws_v4::{
    Credential, DefaultCredentialProvider, ProfileCredentialProvider, RequestSigner,
};
use reqsign_core::{
    Context, Error, FileRead, HttpSend, OsEnv, ProvideCredential as _, SignRequest as _,
    SigningCredential as _,
};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

use super::super::http::{Http, Outgoing};
use super::super::reading::give_up;
use super::super::{Refusal, Remedy};
use crate::catalogue::ProviderConfig;

const SERVICE: &str = "bedrock";

/// The header with the digest of the body.
const DIGEST: &str = "x-amz-content-sha256";

/// Credentials in a file may be others by now.
const KEPT: Duration = Duration::from_secs(5 * 60);

/// What was refused is looked for anew, but not by each of a thousand calls that it failed.
const RENEWED_LATELY: Duration = Duration::from_secs(1);

/// Several places are asked, one after the other.
const WITHIN: Duration = Duration::from_secs(20);

const LARGEST_FILE_BYTES: u64 = 1 << 20;

/// See the module.
pub(super) struct Signing {
    context: Context,
    sources: Mutex<HashMap<SourceName, Arc<CredentialSource>>>,
}

/// The profile, and its file.
type SourceName = (Option<String>, Option<PathBuf>);

struct CredentialSource {
    since: Instant,
    credential: tokio::sync::Mutex<Option<(Instant, Credential)>>,
}

impl Signing {
    pub(super) fn new(http: Http) -> Self {
        let context = Context::new()
            .with_file_read(Files)
            .with_http_send(Sender(http))
            .with_env(OsEnv);
        Self {
            context,
            sources: Mutex::default(),
        }
    }

    /// The headers that sign a request.
    pub(super) async fn sign(
        &self,
        provider: &ProviderConfig,
        outgoing: &Outgoing,
    ) -> Result<HeaderMap, Refusal> {
        let credential = tokio::time::timeout(WITHIN, self.credential(provider)).await;
        let credential = credential.unwrap_or_else(|_| Err(none_found()))?;
        let mut parts = unsigned(outgoing)?;
        let signer = RequestSigner::new(SERVICE, &provider.cloud.region);
        let signed = signer.sign_request(&self.context, &mut parts, Some(&credential), None);
        signed
            .await
            .map_err(|error| give_up(format!("the request cannot be signed: {error}")))?;
        let mut headers = parts.headers;
        // Both are written by the client, as they are signed.
        headers.remove(CONTENT_TYPE);
        headers.remove(http::header::HOST);
        for value in headers.values_mut() {
            value.set_sensitive(true);
        }
        Ok(headers)
    }

    /// The next request is signed with credentials that are looked for anew. Says that there may
    /// be some.
    pub(super) fn forget(&self, provider: &ProviderConfig) -> bool {
        let mut sources = self.sources.lock();
        let name = name_of(provider);
        if sources
            .get(&name)
            .is_some_and(|source| source.since.elapsed() >= RENEWED_LATELY)
        {
            sources.remove(&name);
        }
        true
    }

    async fn credential(&self, provider: &ProviderConfig) -> Result<Credential, Refusal> {
        let source = {
            let mut sources = self.sources.lock();
            let source = sources
                .entry(name_of(provider))
                .or_insert_with(CredentialSource::new);
            Arc::clone(source)
        };
        let mut kept = source.credential.lock().await;
        if let Some((since, credential)) = &*kept
            && since.elapsed() < KEPT
            && credential.is_valid()
        {
            return Ok(credential.clone());
        }
        let found = self.look(provider).await.ok().flatten();
        let found = found.filter(|found| found.is_valid());
        let credential = found.ok_or_else(none_found)?;
        secrets::keep(&credential.secret_access_key);
        secrets::keep(credential.session_token.as_deref().unwrap_or_default());
        *kept = Some((Instant::now(), credential.clone()));
        Ok(credential)
    }

    async fn look(&self, provider: &ProviderConfig) -> reqsign_core::Result<Option<Credential>> {
        let cloud = &provider.cloud;
        if cloud.credentials_file.is_none() && cloud.profile.is_none() {
            let anywhere = DefaultCredentialProvider::builder().no_process().build();
            return anywhere.provide_credential(&self.context).await;
        }
        let mut profile = ProfileCredentialProvider::new();
        if let Some(name) = &cloud.profile {
            profile = profile.with_profile(name);
        }
        if let Some(file) = &cloud.credentials_file {
            profile = profile.with_credentials_file(file.to_string_lossy());
            return profile.provide_credential(&self.context).await;
        }
        let mut named = DefaultCredentialProvider::builder().no_env().no_process();
        if let Some(name) = &cloud.profile {
            named = named.with_profile(name);
        }
        let named = named.no_web_identity().no_ecs().no_imds().build();
        named.provide_credential(&self.context).await
    }
}

impl CredentialSource {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            since: Instant::now(),
            credential: tokio::sync::Mutex::default(),
        })
    }
}

fn name_of(provider: &ProviderConfig) -> SourceName {
    let cloud = &provider.cloud;
    (cloud.profile.clone(), cloud.credentials_file.clone())
}

/// The reasons of each place may hold what stands there, so that none is told.
fn none_found() -> Refusal {
    Refusal::new(
        Remedy::QuarantineKey,
        "no credentials of AWS are found (AWS_ACCESS_KEY_ID, a profile, SSO, web identity, or a \
         machine or container of AWS's)",
    )
}

/// What is signed. AWS encodes each part of a path once more before it signs it, which this signer
/// does for no path: it takes the path as that of S3 and writes it as it is meant. A path that is
/// encoded once more is therefore signed as AWS wants it.
fn unsigned(outgoing: &Outgoing) -> Result<http::request::Parts, Refusal> {
    let cannot = |what: &str| give_up(format!("the request cannot be signed: {what}"));
    let (scheme, rest) = outgoing
        .url
        .split_once("://")
        .ok_or_else(|| cannot("its address has no scheme"))?;
    let (host, path) = rest
        .split_once('/')
        .ok_or_else(|| cannot("its address has no path"))?;
    let url = format!("{scheme}://{host}/{}", path.replace('%', "%25"));
    let digest = ring::digest::digest(&ring::digest::SHA256, &outgoing.body);
    let digest: String = digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let request = http::Request::post(url)
        .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
        .header(DIGEST, digest)
        .body(());
    let request = request.map_err(|_| cannot("its address is none"))?;
    Ok(request.into_parts().0)
}

/// Reads files of credentials.
#[derive(Debug)]
struct Files;

impl FileRead for Files {
    async fn file_read(&self, path: &str) -> reqsign_core::Result<Vec<u8>> {
        let path = PathBuf::from(path);
        let read = tokio::task::spawn_blocking(move || read_whole(&path, LARGEST_FILE_BYTES));
        let read = read
            .await
            .unwrap_or_else(|_| Err(std::io::Error::other("not read")));
        read.map_err(|_| Error::config_invalid("the file cannot be read"))
    }
}

/// Asks services of AWS for credentials.
struct Sender(Http);

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sender")
    }
}

impl HttpSend for Sender {
    async fn http_send(
        &self,
        request: http::Request<Bytes>,
    ) -> reqsign_core::Result<http::Response<Bytes>> {
        let answered = self.0.ask(request).await;
        answered.ok_or_else(|| Error::unexpected("no answer"))
    }
}
