//! The client of an OpenID Connect provider: discovers it, sends browsers there with a state, a nonce and
//! a code verifier of their own, and takes what it claims of who comes back. What somebody may do then is
//! the business of the identity file. Called by `teams.rs`.

use std::time::{Duration, Instant};

use agon_identity::sign_in::SignIn;
use agon_service_kit::clock::unix_ms;
use agon_service_kit::server::install_crypto;
use agon_service_kit::tasks::with_causes;
use agon_web::signing_in::{Back, Begun, SignInRefusal};
use openid::error::StandardClaimsSubjectMissing;
use openid::{
    CompactJson, Config, CustomClaims, Discovered, Options, Pkce, PkceSha256, StandardClaims,
    StandardClaimsSubject,
};
use reqwest::Certificate;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tracing::{info, warn};

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

/// What a provider says of itself, its keys among it, is asked for again after this.
const BELIEVED_FOR: Duration = Duration::from_secs(5 * 60);

/// A provider that could not be discovered is left alone for so long.
const NOT_ASKED_FOR: Duration = Duration::from_secs(3);

/// Claims that belong together (OpenID Connect Core, section 5.1).
const EMAIL: &str = "email";
const EMAIL_VERIFIED: &str = "email_verified";

type Client = openid::Client<Discovered, Claims>;

/// For which file a provider was discovered, how that ended, and when.
type Discovery = (SignIn, Result<Client, SignInRefusal>, Instant);

/// Everything that an ID token claims, and what every token claims of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
struct Claims {
    all: Map<String, Value>,
    standard: StandardClaims,
}

impl TryFrom<Map<String, Value>> for Claims {
    type Error = serde_json::Error;

    fn try_from(all: Map<String, Value>) -> Result<Self, serde_json::Error> {
        let standard = serde_json::from_value(Value::Object(all.clone()))?;
        Ok(Self { all, standard })
    }
}

impl From<Claims> for Map<String, Value> {
    fn from(claims: Claims) -> Self {
        claims.all
    }
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

/// What belongs to a browser that is sent to the provider. Made of the cookie that it is given, so that
/// nothing of browsers that never come back is kept.
struct Sent {
    state: String,
    nonce: String,
    code_verifier: Pkce,
}

/// See the module.
pub struct Oidc {
    http: reqwest::Client,
    /// Where people reach these pages.
    address: String,
    /// What makes states, nonces and verifiers of cookies; nobody else knows it.
    key: [u8; 32],
    /// The provider as it was discovered last, and for which file. Held while it is discovered, so that it
    /// is asked once.
    known: tokio::sync::Mutex<Option<Discovery>>,
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
            key: *blake3::hash(agon_web::token().map_err(Failure::surroundings)?.as_bytes())
                .as_bytes(),
            known: tokio::sync::Mutex::default(),
        })
    }

    /// Sends a browser to the provider.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn begin(&self, sign_in: &SignIn) -> Result<Begun, SignInRefusal> {
        let mut client = self.client(sign_in).await?;
        let random = agon_web::token().map_err(failed)?;
        let browser = format!("{random}.{}", unix_ms() / 1_000);
        let sent = self.sent(&browser);
        client.pkce = Some(sent.code_verifier);
        let ask_for = sign_in.ask_for.iter().map(String::as_str);
        let scope: Vec<&str> = [SCOPE].into_iter().chain(ask_for).collect();
        let address = client.auth_url(&Options {
            scope: Some(scope.join(" ")),
            state: Some(sent.state),
            nonce: Some(sent.nonce),
            ..Options::default()
        });
        Ok(Begun {
            address: address.to_string(),
            browser,
        })
    }

    /// What goes with the cookie of a browser.
    fn sent(&self, browser: &str) -> Sent {
        let made = |of: &str| {
            let made = blake3::keyed_hash(&self.key, format!("{of} {browser}").as_bytes());
            made.to_hex().to_string()
        };
        Sent {
            state: made("state"),
            nonce: made("nonce"),
            code_verifier: Pkce::S256(PkceSha256::replicate(made("verifier"))),
        }
    }

    /// What the provider claims of somebody who comes back from it.
    ///
    /// # Errors
    /// It is not the browser that was sent there, or the provider does not vouch for it.
    pub async fn claims(&self, sign_in: &SignIn, back: &Back) -> Result<Value, SignInRefusal> {
        let away = self.sent(&back.browser);
        let (_, since) = back.browser.rsplit_once('.').unwrap_or_default();
        let since = since.parse().map_or(Duration::MAX, |since: u64| {
            Duration::from_secs((unix_ms() / 1_000).saturating_sub(since))
        });
        if !agon_web::is_same(&back.state, &away.state) || since > SIGNS_IN_WITHIN {
            info!("a browser comes back from the provider that was not sent there, or too late");
            return Err(SignInRefusal::Failed);
        }
        if back.code.is_empty() {
            info!("the provider did not let somebody sign in");
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
        let mut vouched = id_token.payload().map_err(failed)?.all.clone();
        // Many providers keep groups, and some everything but the subject, for those who ask again.
        let mut claims = match client.config().userinfo_endpoint {
            Some(_) => {
                let told = client.request_userinfo_custom(&token).await;
                let UserInfo(told) = told.map_err(failed)?;
                told
            }
            None => Map::new(),
        };
        // Whether an address is verified is believed of whoever tells the address.
        match vouched.contains_key(EMAIL) {
            true => claims.remove(EMAIL_VERIFIED),
            false => vouched.remove(EMAIL_VERIFIED),
        };
        claims.extend(vouched);
        Ok(Value::Object(claims))
    }

    async fn client(&self, sign_in: &SignIn) -> Result<Client, SignInRefusal> {
        let mut known = self.known.lock().await;
        if let Some((file, client, asked)) = &*known
            && file == sign_in
            && asked.elapsed()
                < if client.is_ok() {
                    BELIEVED_FOR
                } else {
                    NOT_ASKED_FOR
                }
        {
            return client.clone();
        }
        let client = self.discover(sign_in).await;
        *known = Some((sign_in.clone(), client.clone(), Instant::now()));
        client
    }

    async fn discover(&self, sign_in: &SignIn) -> Result<Client, SignInRefusal> {
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
        if names_an_open_endpoint(client.config()) {
            warn!("the provider names an endpoint without https, which would show our secret");
            return Err(SignInRefusal::Failed);
        }
        Ok(client)
    }
}

/// Our secret is sent to one, and what somebody claims to be comes from another.
fn names_an_open_endpoint(config: &Config) -> bool {
    let endpoints = [&config.authorization_endpoint, &config.token_endpoint];
    let mut endpoints = endpoints.into_iter().chain(&config.userinfo_endpoint);
    endpoints.any(|endpoint| endpoint.scheme() != "https")
}

/// Whoever signs in is told nothing of what is between us and the provider.
fn failed(error: impl std::error::Error + 'static) -> SignInRefusal {
    warn!(reason = with_causes(&error), "somebody could not sign in");
    SignInRefusal::Failed
}
