//! The client of an OpenID Connect provider: discovers it, sends browsers there with a state, a nonce and
//! a code verifier of their own, and takes what it claims of who comes back. What somebody may do then is
//! the business of the identity file. Called by `teams.rs`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_identity::sign_in::SignIn;
use agon_service_kit::clock::unix_ms;
use agon_service_kit::server::install_crypto;
use agon_service_kit::tasks::with_causes;
use agon_web::signing_in::{BACK, Back, Begun, SignInRefusal};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use http::header::CONTENT_TYPE;
use reqwest::{Certificate, RequestBuilder};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use tracing::{info, warn};
use url::Url;

use crate::connecting;
use crate::failure::Failure;

/// What a provider says is shorter.
const LARGEST_ANSWER: usize = 1 << 20;

/// What is asked for, besides what the identity file names.
const SCOPE: &str = "openid email profile";

/// A provider that is slower counts as away.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// How long somebody may take to sign in.
const SIGNS_IN_WITHIN: Duration = Duration::from_secs(10 * 60);

/// What a provider says of itself, its keys among it, is asked for again after this.
const BELIEVED_FOR: Duration = Duration::from_secs(5 * 60);

/// A token that no known key has signed has the keys asked for again, unless they are younger than this.
const KEYS_KEPT_FOR: Duration = Duration::from_secs(10);

/// A provider that could not be discovered is left alone for so long.
const NOT_ASKED_FOR: Duration = Duration::from_secs(3);

/// Claims that belong together (OpenID Connect Core, section 5.1).
const EMAIL: &str = "email";
const EMAIL_VERIFIED: &str = "email_verified";

/// For which file a provider was discovered, how that ended, and when.
type Discovery = (SignIn, Result<Arc<Discovered>, SignInRefusal>, Instant);

/// What a provider says of itself (OpenID Connect Discovery, section 3), as far as it is needed.
#[derive(Debug, Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
    userinfo_endpoint: Option<Url>,
    jwks_uri: Url,
}

/// Keys of a provider (RFC 7517), as far as they are of RSA.
#[derive(Debug, Deserialize)]
struct Keys {
    keys: Vec<Key>,
}

#[derive(Debug, Deserialize)]
struct Key {
    #[serde(default)]
    kty: String,
    #[serde(default)]
    kid: String,
    #[serde(default)]
    n: String,
    #[serde(default)]
    e: String,
}

/// A provider that was discovered.
struct Discovered {
    metadata: Metadata,
    keys: Vec<Key>,
    secret: Option<SecretString>,
}

/// What a provider answers to a code (OpenID Connect Core, section 3.1.3.3).
#[derive(Deserialize)]
struct Tokens {
    access_token: String,
    id_token: String,
}

/// The head of an ID token.
#[derive(Deserialize)]
struct Head {
    alg: String,
    #[serde(default)]
    kid: String,
}

/// Why a provider's word is not taken.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("the provider cannot be reached")]
    Asked(#[source] reqwest::Error),
    #[error("the provider answered with status {0}")]
    Status(StatusCode),
    #[error("the provider's answer is too long")]
    TooLong,
    #[error("the provider's answer cannot be read")]
    Malformed(#[source] serde_json::Error),
    #[error("the provider says that its issuer is {0}")]
    Issuer(String),
    #[error("the provider names an endpoint without https, which would show our secret")]
    Open,
    #[error("an ID token is invalid: no key of the provider has signed it")]
    Signature,
    #[error("an ID token is invalid: {0}")]
    Token(&'static str),
}

/// What belongs to a browser that is sent to the provider. Made of the cookie that it is given, so that
/// nothing of browsers that never come back is kept.
struct Sent {
    state: String,
    nonce: String,
    code_verifier: String,
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
        let random = agon_web::token().map_err(Failure::surroundings)?;
        Ok(Self {
            http: http.build().map_err(Failure::surroundings)?,
            address: address.trim_end_matches('/').to_owned(),
            key: *blake3::hash(random.as_bytes()).as_bytes(),
            known: tokio::sync::Mutex::default(),
        })
    }

    /// Sends a browser to the provider.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn begin(&self, sign_in: &SignIn) -> Result<Begun, SignInRefusal> {
        let provider = self.provider(sign_in, BELIEVED_FOR).await?;
        let random = agon_web::token().map_err(failed)?;
        let browser = format!("{random}.{}", unix_ms() / 1_000);
        let sent = self.sent(&browser);
        let ask_for = sign_in.ask_for.iter().map(String::as_str);
        let scope: Vec<&str> = [SCOPE].into_iter().chain(ask_for).collect();
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(sent.code_verifier.as_bytes()));
        let mut address = provider.metadata.authorization_endpoint.clone();
        address
            .query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &sign_in.client_id)
            .append_pair("redirect_uri", &self.back())
            .append_pair("scope", &scope.join(" "))
            .append_pair("state", &sent.state)
            .append_pair("nonce", &sent.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        Ok(Begun {
            address: address.into(),
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
            code_verifier: made("verifier"),
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
            info!(
                "sign-in refused: this browser was not sent to the provider, or it came back too late"
            );
            return Err(SignInRefusal::Failed);
        }
        if back.code.is_empty() {
            info!("sign-in refused by the provider");
            return Err(SignInRefusal::Failed);
        }
        let provider = self.provider(sign_in, BELIEVED_FOR).await?;
        let tokens = self.tokens(sign_in, &provider, back, &away).await;
        let tokens = tokens.map_err(failed)?;
        let check = |provider: &Discovered| {
            vouched(provider, &sign_in.client_id, &tokens.id_token, &away.nonce)
        };
        let vouched = match check(&provider) {
            // It may have new keys.
            Err(Fault::Signature) => check(&*self.provider(sign_in, KEYS_KEPT_FOR).await?),
            vouched => vouched,
        };
        let mut vouched = vouched.map_err(failed)?;
        // Many providers keep groups, and some everything but the subject, for those who ask again.
        let mut claims = match &provider.metadata.userinfo_endpoint {
            Some(endpoint) => {
                let asked = self.http.get(endpoint.clone());
                let told = answer(asked.bearer_auth(&tokens.access_token)).await;
                let told: Map<String, Value> = told.map_err(failed)?;
                if told.get("sub") != vouched.get("sub") {
                    return Err(failed(Fault::Token("userinfo is about somebody else")));
                }
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

    /// Where the provider sends browsers back to.
    fn back(&self) -> String {
        format!("{}{BACK}", self.address)
    }

    async fn tokens(
        &self,
        sign_in: &SignIn,
        provider: &Discovered,
        back: &Back,
        sent: &Sent,
    ) -> Result<Tokens, Fault> {
        let redirect = self.back();
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", &*back.code),
            ("redirect_uri", &*redirect),
            ("code_verifier", &*sent.code_verifier),
        ];
        let mut asked = self.http.post(provider.metadata.token_endpoint.clone());
        match &provider.secret {
            Some(secret) => {
                let escaped = |text: &str| -> String {
                    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
                };
                let (id, secret) = (escaped(&sign_in.client_id), secret.expose_secret());
                asked = asked.basic_auth(id, Some(escaped(secret)));
            }
            None => form.push(("client_id", &*sign_in.client_id)),
        }
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let asked = asked
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body);
        answer(asked).await
    }

    /// The provider as it was discovered no longer ago than this.
    async fn provider(
        &self,
        sign_in: &SignIn,
        lasts: Duration,
    ) -> Result<Arc<Discovered>, SignInRefusal> {
        let mut known = self.known.lock().await;
        if let Some((file, provider, asked)) = &*known
            && file == sign_in
        {
            let lasts = if provider.is_ok() {
                lasts
            } else {
                NOT_ASKED_FOR
            };
            if asked.elapsed() < lasts {
                return provider.clone();
            }
        }
        let provider = self.discover(sign_in).await.map(Arc::new);
        *known = Some((sign_in.clone(), provider.clone(), Instant::now()));
        provider
    }

    async fn discover(&self, sign_in: &SignIn) -> Result<Discovered, SignInRefusal> {
        let secret = sign_in.client_secret.as_ref();
        let secret = secret.map(|source| source.read()).transpose();
        let secret = secret.map_err(failed)?;
        let issuer = sign_in.issuer.as_str().trim_end_matches('/');
        let place = format!("{issuer}/.well-known/openid-configuration");
        let metadata: Metadata = answer(self.http.get(place)).await.map_err(failed)?;
        if metadata.issuer.trim_end_matches('/') != issuer {
            return Err(failed(Fault::Issuer(metadata.issuer)));
        }
        if names_an_open_endpoint(&metadata) {
            return Err(failed(Fault::Open));
        }
        let keys = answer(self.http.get(metadata.jwks_uri.clone())).await;
        let Keys { keys } = keys.map_err(failed)?;
        Ok(Discovered {
            metadata,
            keys,
            secret,
        })
    }
}

/// What a provider answers, in JSON of at most [`LARGEST_ANSWER`].
async fn answer<T: DeserializeOwned>(asked: RequestBuilder) -> Result<T, Fault> {
    let mut response = asked.send().await.map_err(Fault::Asked)?;
    if !response.status().is_success() {
        return Err(Fault::Status(response.status()));
    }
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(Fault::Asked)? {
        if body.len() + part.len() > LARGEST_ANSWER {
            return Err(Fault::TooLong);
        }
        body.extend_from_slice(&part);
    }
    serde_json::from_slice(&body).map_err(Fault::Malformed)
}

/// The claims of an ID token (OpenID Connect Core, section 3.1.3.7): signed with RS256 by a key of the
/// provider, for this client, about this sign-in, and not expired.
fn vouched(
    provider: &Discovered,
    client_id: &str,
    token: &str,
    nonce: &str,
) -> Result<Map<String, Value>, Fault> {
    let not = Fault::Token;
    let (signed, signature) = token.rsplit_once('.').ok_or(not("no token"))?;
    let (head, payload) = signed.split_once('.').ok_or(not("no token"))?;
    let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text);
    let head = decoded(head).map_err(|_| not("its head cannot be decoded"))?;
    let head: Head = serde_json::from_slice(&head).map_err(Fault::Malformed)?;
    if head.alg != "RS256" {
        return Err(not("it is not signed with RS256"));
    }
    let signature = decoded(signature).map_err(|_| not("its signature cannot be decoded"))?;
    let of_rsa = provider.keys.iter().filter(|key| key.kty == "RSA");
    let mut fitting = of_rsa.filter(|key| head.kid.is_empty() || key.kid == head.kid);
    let is_signed = fitting.any(|key| {
        let (Ok(n), Ok(e)) = (decoded(&key.n), decoded(&key.e)) else {
            return false;
        };
        let key = RsaPublicKeyComponents { n, e };
        let checked = key.verify(&RSA_PKCS1_2048_8192_SHA256, signed.as_bytes(), &signature);
        checked.is_ok()
    });
    if !is_signed {
        return Err(Fault::Signature);
    }
    let payload = decoded(payload).map_err(|_| not("it cannot be decoded"))?;
    let claims: Map<String, Value> = serde_json::from_slice(&payload).map_err(Fault::Malformed)?;
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    let is_for_us = match claims.get("aud") {
        Some(Value::String(audience)) => audience == client_id,
        Some(Value::Array(all)) => {
            all.iter().any(|one| one == client_id) && (all.len() == 1 || text("azp").is_some())
        }
        _ => false,
    };
    let expires = claims.get("exp").and_then(Value::as_f64);
    let is_in_time = expires.is_some_and(|expires| expires > (unix_ms() / 1_000) as f64);
    let faults = [
        (
            text("iss") == Some(&provider.metadata.issuer),
            "it is from another issuer",
        ),
        (is_for_us, "it is for another client"),
        (
            text("azp").is_none_or(|party| party == client_id),
            "it was made for another party",
        ),
        (is_in_time, "it has expired"),
        (
            text("nonce") == Some(nonce),
            "it belongs to another sign-in",
        ),
        (text("sub").is_some(), "it has no subject"),
    ];
    match faults.iter().find(|(holds, _)| !holds) {
        Some((_, fault)) => Err(not(fault)),
        None => Ok(claims),
    }
}

/// Our secret is sent to one, and what somebody claims to be comes from another.
fn names_an_open_endpoint(said: &Metadata) -> bool {
    let endpoints = [
        &said.authorization_endpoint,
        &said.token_endpoint,
        &said.jwks_uri,
    ];
    let mut endpoints = endpoints.into_iter().chain(&said.userinfo_endpoint);
    endpoints.any(|endpoint| endpoint.scheme() != "https")
}

/// Whoever signs in is told nothing of what is between us and the provider.
fn failed(error: impl std::error::Error + 'static) -> SignInRefusal {
    warn!(reason = with_causes(&error), "sign-in failed");
    SignInRefusal::Failed
}
