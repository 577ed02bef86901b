//! Tokens of Google's cloud: of a service account whose JSON is the key, or, without a key, of
//! whoever this machine is to Google (the application default credentials: a service account's
//! file, a user, the machine itself). Each is got once and kept until shortly before it ends;
//! a thousand calls wait for one request. Called by `vertex.rs`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_service_kit::secrets;
use gcp_auth::{CustomServiceAccount, Token, TokenProvider};
use parking_lot::Mutex;
use secrecy::{ExposeSecret, SecretString};

use super::super::error_body::shortened;
use super::super::{Arrived, Refusal, Remedy};

/// All of Google's cloud that the account may use; there is no narrower one for models.
const SCOPES: [&str; 1] = ["https://www.googleapis.com/auth/cloud-platform"];

/// Google answers within a second; looking for credentials on a machine asks several places.
const WITHIN: Duration = Duration::from_secs(20);

/// A token that was refused is got anew, but not by each of a thousand calls that it failed.
const RENEWED_LATELY: Duration = Duration::from_secs(1);

/// See the module.
#[derive(Default)]
pub(super) struct Tokens {
    /// By digest of the account; the default credentials are that of nothing.
    sources: Mutex<HashMap<blake3::Hash, Arc<TokenSource>>>,
}

struct TokenSource {
    since: Instant,
    state: tokio::sync::Mutex<TokenState>,
}

#[derive(Default)]
struct TokenState {
    provider: Option<Arc<dyn TokenProvider>>,
    /// Which token outputs are searched for already.
    kept: Option<Arc<Token>>,
}

impl Tokens {
    /// A token that holds for a while yet.
    pub(super) async fn token(&self, key: Option<&SecretString>) -> Result<Arc<Token>, Refusal> {
        let source = {
            let mut sources = self.sources.lock();
            let source = sources.entry(digest(key)).or_insert_with(TokenSource::new);
            Arc::clone(source)
        };
        // Who waits for another one's request waits no longer than for its own.
        let getting = async { source.state.lock().await.token(key).await };
        let token = tokio::time::timeout(WITHIN, getting).await;
        token.unwrap_or_else(|_| {
            let reason = format!("no token from Google within {} s", WITHIN.as_secs());
            Err(unreached(reason))
        })
    }

    /// The next token is a new one. Says that there is one to be had.
    pub(super) fn forget(&self, key: Option<&SecretString>) -> bool {
        let mut sources = self.sources.lock();
        let digest = digest(key);
        if sources
            .get(&digest)
            .is_some_and(|source| source.since.elapsed() >= RENEWED_LATELY)
        {
            sources.remove(&digest);
        }
        true
    }
}

impl TokenSource {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            since: Instant::now(),
            state: tokio::sync::Mutex::default(),
        })
    }
}

impl TokenState {
    async fn token(&mut self, key: Option<&SecretString>) -> Result<Arc<Token>, Refusal> {
        let provider = match &self.provider {
            Some(provider) => Arc::clone(provider),
            None => {
                let provider = open(key).await?;
                Arc::clone(self.provider.insert(provider))
            }
        };
        let token = provider.token(&SCOPES).await.map_err(refused)?;
        if !self
            .kept
            .as_ref()
            .is_some_and(|kept| Arc::ptr_eq(kept, &token))
        {
            secrets::keep(token.as_str());
            self.kept = Some(Arc::clone(&token));
        }
        Ok(token)
    }
}

async fn open(key: Option<&SecretString>) -> Result<Arc<dyn TokenProvider>, Refusal> {
    let Some(key) = key else {
        let found = gcp_auth::provider().await;
        return found.map_err(|_| {
            dead(
                "no credentials of Google's cloud are found (a service account under keys, \
                 GOOGLE_APPLICATION_CREDENTIALS, `gcloud auth application-default login`, or a \
                 machine of Google's)",
            )
        });
    };
    let account = CustomServiceAccount::from_json(key.expose_secret());
    let account = account.map_err(|_| dead("the key is no service account that can sign"))?;
    Ok(Arc::new(account))
}

/// Whether Google's answer was a refusal or none, the library tells by the kind of its error.
fn refused(error: gcp_auth::Error) -> Refusal {
    match error {
        gcp_auth::Error::Other(..) | gcp_auth::Error::Http(..) => {
            let error: &dyn std::error::Error = &error;
            let cause = agon_service_kit::tasks::with_causes(error);
            unreached(format!("no token from Google: {cause}"))
        }
        _ => dead("Google gives no token for this account"),
    }
}

fn dead(reason: &str) -> Refusal {
    Refusal::new(Remedy::QuarantineKey, reason)
}

/// The call itself was not made.
fn unreached(reason: String) -> Refusal {
    Refusal {
        arrived: Arrived::Never,
        ..Refusal::new(Remedy::Retry(None), shortened(&reason).to_string())
    }
}

fn digest(key: Option<&SecretString>) -> blake3::Hash {
    blake3::hash(key.map_or("", |key| key.expose_secret()).as_bytes())
}
