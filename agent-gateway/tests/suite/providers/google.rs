//! Google's token server: gives a token to whoever signs with the key of its one service account,
//! which was made for these tests and opens nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri};
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use parking_lot::Mutex;
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

const KEY: &str = include_str!("throwaway_rsa_key.base64");

const EMAIL: &str = "player@project.iam.gserviceaccount.com";

#[derive(Clone)]
pub struct Google {
    pub address: String,
    state: Arc<Mutex<Issued>>,
}

#[derive(Default)]
struct Issued {
    tokens: usize,
    lasts_s: u64,
    refuses: bool,
}

impl Google {
    pub async fn open() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let google = Self {
            address: format!("http://{}", listener.local_addr().unwrap()),
            state: Arc::default(),
        };
        google.state.lock().lasts_s = 3_600;
        let router = axum::Router::new()
            .route("/token", post(give))
            .with_state(google.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        google
    }

    /// The JSON that Google gives out for a service account.
    pub fn account(&self) -> String {
        let lines = KEY.trim();
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----\n");
        let account = json!({
            "type": "service_account",
            "project_id": "project",
            "private_key_id": "1",
            "private_key": pem,
            "client_email": EMAIL,
            "token_uri": format!("{}/token", self.address),
        });
        serde_json::to_string_pretty(&account).unwrap()
    }

    /// Tokens last so long from now on.
    pub fn tokens_last(&self, seconds: u64) {
        self.state.lock().lasts_s = seconds;
    }

    /// Nobody gets a token any more.
    pub fn refuse(&self) {
        self.state.lock().refuses = true;
    }

    pub fn tokens_given(&self) -> usize {
        self.state.lock().tokens
    }

    /// The token that was given last, as its header.
    pub fn last_token(&self) -> String {
        format!("Bearer {}", token(self.tokens_given()))
    }
}

fn token(number: usize) -> String {
    format!("ya29.t0ken-5ecret-{number:04}")
}

async fn give(State(google): State<Google>, form: String) -> Result<String, (StatusCode, String)> {
    let refused = |why: &str| {
        let error = json!({"error": "invalid_grant", "error_description": why});
        (StatusCode::BAD_REQUEST, error.to_string())
    };
    // A form is written as a query is.
    let form: Uri = format!("/?{form}").parse().unwrap();
    let Query(form) = Query::<HashMap<String, String>>::try_from_uri(&form).unwrap();
    if google.state.lock().refuses {
        return Err(refused("account not found"));
    }
    if form["grant_type"] != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
        return Err(refused("another grant"));
    }
    let claims = verified(&form["assertion"]).ok_or_else(|| refused("signature"))?;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let [issued, ends] = ["iat", "exp"].map(|name| claims[name].as_u64().unwrap());
    let is_good = claims["iss"] == EMAIL
        && claims["aud"] == format!("{}/token", google.address)
        && claims["scope"] == "https://www.googleapis.com/auth/cloud-platform"
        && issued.abs_diff(now) < 60
        && ends > now
        && ends - issued <= 3_600;
    if !is_good {
        return Err(refused("claims"));
    }
    let mut state = google.state.lock();
    state.tokens += 1;
    let (token, lasts) = (token(state.tokens), state.lasts_s);
    let token = json!({"access_token": token, "expires_in": lasts, "token_type": "Bearer"});
    Ok(token.to_string())
}

/// The claims of a token that the account's key has signed.
fn verified(assertion: &str) -> Option<Value> {
    let (signed, signature) = assertion.rsplit_once('.')?;
    let (head, claims) = signed.split_once('.')?;
    let decode = |part: &str| URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).ok();
    let head: Value = serde_json::from_slice(&decode(head)?).ok()?;
    let key = STANDARD
        .decode(KEY.split_whitespace().collect::<String>())
        .ok()?;
    let pair = RsaKeyPair::from_pkcs8(&key).ok()?;
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key());
    public.verify(signed.as_bytes(), &decode(signature)?).ok()?;
    (head["alg"] == "RS256").then_some(())?;
    serde_json::from_slice(&decode(claims)?).ok()
}
