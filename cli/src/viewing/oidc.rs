//! The client of an OpenID Connect provider: discovers it, sends browsers there with a state, a nonce and
//! a code verifier of their own, and takes what it claims of who comes back. What somebody may do then is
//! the business of the identity file. Called by `teams.rs`.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use agon_identity::sign_in::SignIn;
use agon_service_kit::server::install_crypto;
use agon_service_kit::tasks::with_causes;
use agon_web::signing_in::{Back, Begun, SignInRefusal};
use openid::error::StandardClaimsSubjectMissing;
use openid::{
    CompactJson, CustomClaims, Discovered, Options, Pkce, StandardClaims, StandardClaimsSubject,
};
use parking_lot::Mutex;
use reqwest::Certificate;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tracing::warn;

use crate::connecting;
use crate::failure::Failure;

/// Where a provider sends browsers back to.
const BACK: &str = "/api/v1/sign-in/back";

/// What is asked for, besides what the identity file names.
const SCOPE: &str = "openid email profile";

/// A provider that is slower counts as away.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// How long somebody may take to sign in.
const SIGNS_IN_WITHIN: Duration = Duration::from_secs(10 * 60);

/// Browsers that are at the provider at once.
const MOST_AWAY: usize = 1_000;

/// What a provider says of itself, its keys among it, is asked for again after this.
const BELIEVED_FOR: Duration = Duration::from_secs(5 * 60);

type Client = openid::Client<Discovered, Claims>;

/// Everything that an ID token claims.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Claims {
    #[serde(flatten)]
    standard: StandardClaims,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl CustomClaims for Claims {
    fn standard_claims(&self) -> &StandardClaims {
        &self.standard
    }
}

impl CompactJson for Claims {}

/// What a provider says of somebody when it is asked with an access token.
#[derive(Debug, Serialize, Deserialize)]
struct UserInfo(Map<String, Value>);

impl StandardClaimsSubject for UserInfo {
    fn sub(&self) -> Result<&str, StandardClaimsSubjectMissing> {
        let subject = self.0.get("sub").and_then(Value::as_str);
        subject.ok_or(StandardClaimsSubjectMissing)
    }
}

impl CompactJson for UserInfo {}

/// A browser that was sent to the provider.
struct Away {
    browser: String,
    nonce: String,
    code_verifier: Pkce,
    since: Instant,
}

/// See the module.
pub struct Oidc {
    http: reqwest::Client,
    /// Where people reach these pages.
    address: String,
    /// By state.
    away: Mutex<HashMap<String, Away>>,
    /// The provider as it was discovered last, and for which file.
    known: Mutex<Option<(SignIn, Client, Instant)>>,
}

impl Oidc {
    /// A client that has browsers come back to pages at an address. Providers are trusted by the
    /// system's CAs, and by the one that this process was told to trust.
    ///
    /// # Errors
    /// The system has no CAs, or the one that was named is none.
    pub fn new(address: &str) -> Result<Self, Failure> {
        install_crypto();
        let mut http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(ANSWERS_WITHIN);
        if let Some(pem) = connecting::ca()? {
            let certificates = Certificate::from_pem_bundle(&pem).map_err(Failure::input)?;
            http = http.tls_certs_merge(certificates);
        }
        Ok(Self {
            http: http.build().map_err(Failure::surroundings)?,
            address: address.trim_end_matches('/').to_owned(),
            away: Mutex::default(),
            known: Mutex::default(),
        })
    }

    /// Sends a browser to the provider.
    ///
    /// # Errors
    /// It does not answer, or too many browsers are there.
    pub async fn begin(&self, sign_in: &SignIn) -> Result<Begun, SignInRefusal> {
        let client = self.client(sign_in).await?;
        let [state, nonce, browser] = [(); 3].map(|()| agon_web::token());
        let ask_for = sign_in.ask_for.iter().map(String::as_str);
        let options = Options {
            scope: Some(
                [SCOPE]
                    .into_iter()
                    .chain(ask_for)
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
            state: Some(state.map_err(failed)?),
            nonce: Some(nonce.map_err(failed)?),
            ..Options::default()
        };
        let browser = browser.map_err(failed)?;
        let (address, code_verifier) = client.auth_url_with_new_pkce(&options);
        let mut away = self.away.lock();
        away.retain(|_, away| away.since.elapsed() < SIGNS_IN_WITHIN);
        if away.len() >= MOST_AWAY {
            return Err(SignInRefusal::Busy);
        }
        let (Some(state), Some(nonce)) = (options.state, options.nonce) else {
            return Err(SignInRefusal::Failed);
        };
        let since = Instant::now();
        let sent = Away {
            browser: browser.clone(),
            nonce,
            code_verifier,
            since,
        };
        away.insert(state, sent);
        Ok(Begun {
            address: address.to_string(),
            browser,
        })
    }

    /// What the provider claims of somebody who comes back from it.
    ///
    /// # Errors
    /// It is not the browser that was sent there, or the provider does not vouch for it.
    pub async fn claims(&self, sign_in: &SignIn, back: &Back) -> Result<Value, SignInRefusal> {
        let away = self.away.lock().remove(&back.state);
        let away = away.filter(|away| {
            let is_in_time = away.since.elapsed() < SIGNS_IN_WITHIN;
            is_in_time && agon_web::is_same(&back.browser, &away.browser)
        });
        let away = away.ok_or(SignInRefusal::Failed)?;
        if back.code.is_empty() {
            return Err(SignInRefusal::Failed);
        }
        let mut client = self.client(sign_in).await?;
        client.pkce = Some(away.code_verifier);
        let token = client
            .authenticate(&back.code, away.nonce.as_str(), None)
            .await
            .map_err(failed)?;
        // Without an ID token nobody vouches for anybody.
        let id_token = token.id_token.as_ref().ok_or(SignInRefusal::Failed)?;
        let claims = id_token.payload().map_err(failed)?;
        let Value::Object(vouched) = serde_json::to_value(claims).map_err(failed)? else {
            return Err(SignInRefusal::Failed);
        };
        // Many providers keep groups, and some everything but the subject, for those who ask again.
        let mut claims = match client.config().userinfo_endpoint {
            Some(_) => {
                let told = client.request_userinfo_custom(&token).await;
                let UserInfo(told) = told.map_err(failed)?;
                told
            }
            None => Map::new(),
        };
        // The library writes what the token does not have as well.
        for (name, value) in vouched {
            claims.entry(name).or_insert(value);
        }
        Ok(Value::Object(claims))
    }

    async fn client(&self, sign_in: &SignIn) -> Result<Client, SignInRefusal> {
        if let Some((file, client, asked)) = &*self.known.lock()
            && file == sign_in
            && asked.elapsed() < BELIEVED_FOR
        {
            return Ok(client.clone());
        }
        let secret = sign_in.client_secret.as_ref();
        let secret = secret.map(|source| source.read()).transpose();
        let secret = secret.map_err(failed)?;
        let client = Client::discover_with_client(
            self.http.clone(),
            sign_in.client_id.clone(),
            secret.map(|secret| secret.expose_secret().to_owned()),
            format!("{}{BACK}", self.address),
            sign_in.issuer.clone(),
        )
        .await
        .map_err(failed)?;
        *self.known.lock() = Some((sign_in.clone(), client.clone(), Instant::now()));
        Ok(client)
    }
}

/// Whoever signs in is told nothing of what is between us and the provider.
fn failed(error: impl std::error::Error + 'static) -> SignInRefusal {
    warn!(reason = with_causes(&error), "somebody could not sign in");
    SignInRefusal::Failed
}
