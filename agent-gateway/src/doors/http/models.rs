//! The models that can be asked for, in OpenAI's form: those of the
//! configuration. Others can be asked for as provider/model and are not listed,
//! since only their providers know them. Called by `http.rs`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use serde_json::{Value, json};

use super::Door;
use super::api_error::ApiError;
use super::auth::Client;
use crate::catalogue::ResolvedModel;
use crate::decide_error::DecideError;
use crate::routes::RouteError;

/// `GET /v1/models`.
pub(super) async fn list(State(door): State<Arc<Door>>, _client: Client) -> Json<Value> {
    let config = door.decider.routes.config();
    let models = config.model_names().filter_map(|name| {
        let model = config.resolve_without_keys(name).ok()?;
        Some(written(&model))
    });
    let models: Vec<Value> = models.collect();
    Json(json!({ "object": "list", "data": models }))
}

/// `GET /v1/models/{id}`.
pub(super) async fn one(
    State(door): State<Arc<Door>>,
    _client: Client,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let config = door.decider.routes.config();
    let model = config.resolve_without_keys(&id);
    let model =
        model.map_err(|error| ApiError::from(&DecideError::from(RouteError::from(error))))?;
    Ok(Json(written(&model)))
}

fn written(model: &ResolvedModel) -> Value {
    // When a model was made is its provider's knowledge.
    json!({
        "id": model.name,
        "object": "model",
        "created": 0,
        "owned_by": model.provider.name,
    })
}
