//! Doors for external players over HTTP: what is asked, by long polling, and
//! handing in answers. A team sees and answers its own asks only. Called by
//! `http.rs`.

use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::clock::millis;
use agon_service_kit::status::ErrorClass;
use agon_service_kit::tasks::with_causes;
use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use agon_identity::gate::Refusal;

use super::Door;
use super::api_error::ApiError;
use super::auth::Client;
use super::request;
use crate::decision::{DecisionAddress, ReplyFormat};
use crate::door_store::{DoorAnswer, Listing, SubmittedAnswer, WaitingAsk};
use crate::doors::answering;
use crate::doors::watching::only_own;
use crate::store_error::StoreError;

/// Proxies cut what takes longer.
const LONGEST_WAIT: Duration = Duration::from_secs(50);

/// How to look.
#[derive(Deserialize)]
pub(super) struct AsksQuery {
    /// How long to wait for something to answer ("20s").
    #[serde(default, with = "humantime_serde")]
    wait: Option<Duration>,
    /// Only this session; empty: all.
    #[serde(default)]
    session: String,
    /// The version that is known already: wait for another.
    after: Option<String>,
}

#[derive(Deserialize)]
struct SentAnswer {
    address: DecisionAddress,
    request_digest: String,
    reply: String,
    #[serde(default)]
    answered_by: String,
}

/// `GET /v1/doors/{name}/asks`.
pub(super) async fn list(
    State(door): State<Arc<Door>>,
    client: Client,
    Path(name): Path<String>,
    look: Result<Query<AsksQuery>, QueryRejection>,
) -> Result<Json<Value>, ApiError> {
    let Query(look) = look.map_err(|rejection| {
        let message = format!("{rejection}; write ?wait=20s&session=ID&after=VERSION");
        ApiError::of_class(ErrorClass::Invalid, message)
    })?;
    let wait = look.wait.unwrap_or_default().min(LONGEST_WAIT);
    let deadline = Instant::now() + wait;
    let doors = &door.decider.doors;
    loop {
        let mut listing = doors.list(&name).await.map_err(|error| failed(&error))?;
        let version = listing.version;
        only_own(&mut listing, &look.session, client.only_team());
        let shown = shown_version(&listing);
        let news = match &look.after {
            Some(known) => *known != shown,
            None => !listing.asks.is_empty(),
        };
        if news || Instant::now() >= deadline {
            return Ok(Json(written(listing, &shown)));
        }
        let changed = tokio::time::timeout_at(deadline, doors.changed(&name, version));
        tokio::select! {
            changed = changed => {
                if let Ok(Err(error)) = changed {
                    return Err(failed(&error));
                }
            }
            () = door.decider.stopping.cancelled() => return Err(ApiError::stopping()),
            () = client.ended.cancelled() => return Err(ApiError::refused(&Refusal::Ended)),
        }
    }
}

/// `POST /v1/doors/{name}/answers`.
pub(super) async fn answer(
    State(door): State<Arc<Door>>,
    client: Client,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, ApiError> {
    let body = body.map_err(|rejection| ApiError::of_body(&rejection))?;
    let sent: SentAnswer = request::read_json(&headers, &body)?;
    let answered_by = if sent.answered_by.is_empty() {
        name.clone()
    } else {
        sent.answered_by
    };
    let handed = SubmittedAnswer {
        door: name,
        address: sent.address,
        digest: sent.request_digest.into(),
        team: client.only_team().map(str::to_owned),
        answer: DoorAnswer {
            reply: sent.reply,
            answered_by,
            in_time: true,
        },
    };
    answering::answer(&door.decider, &handed).await?;
    Ok(Json(json!({})))
}

fn written(listing: Listing, version: &str) -> Value {
    let asks: Vec<Value> = listing.asks.into_iter().map(written_ask).collect();
    json!({ "version": version, "asks": asks })
}

/// Names what this client is shown. The version of the whole door would tell of what others ask there.
fn shown_version(listing: &Listing) -> String {
    let mut hasher = blake3::Hasher::new();
    for WaitingAsk { ask, .. } in &listing.asks {
        let address = ask.address.to_string();
        hasher.update(&(address.len() as u64).to_le_bytes());
        hasher.update(address.as_bytes());
        hasher.update(ask.digest.as_str().as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

fn written_ask(waiting: WaitingAsk) -> Value {
    let WaitingAsk { ask, waiting } = waiting;
    json!({
        "address": ask.address,
        "request_digest": ask.digest,
        "messages": ask.messages,
        "reply_format": ask.reply_format.map(written_format),
        "purpose": ask.purpose,
        "experiment_id": ask.experiment_id,
        "stand_in": ask.stand_in.map(|stand_in| json!({
            "after_ms": millis(stand_in.after),
            "name": stand_in.name,
        })),
        "waiting_ms": millis(waiting),
        "seen": ask.seen.map(written_seen),
    })
}

fn written_seen(seen: String) -> Value {
    serde_json::from_str(&seen).unwrap_or(Value::String(seen))
}

fn written_format(format: ReplyFormat) -> Value {
    let schema = serde_json::from_str(&format.json_schema);
    let schema = schema.unwrap_or(Value::String(format.json_schema));
    json!({ "name": format.name, "json_schema": schema })
}

fn failed(error: &StoreError) -> ApiError {
    ApiError::of_class(error.class(), with_causes(error))
}
