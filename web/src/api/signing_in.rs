//! The routes below `/api/v1/sign-in`: to a provider and back. A browser that is refused is led to the
//! sign-in page with a word that says why, and nothing that others could have put there.

use axum::Router;
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use http::HeaderMap;
use http::header::SET_COOKIE;
use serde::Deserialize;

use super::Shared;
use crate::refusal::Refusal;
use crate::signing_in::{Back, SignInRefusal};

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/", get(begin))
        .route("/back", get(back))
}

async fn begin(State(shared): State<Shared>) -> Result<Response, Refusal> {
    let provider = shared.entrance.provider()?;
    Ok(match provider.begin().await {
        Ok(begun) => {
            let cookie = shared.entrance.browser_cookie(&begun.browser);
            ([(SET_COOKIE, cookie)], Redirect::to(&begun.address)).into_response()
        }
        Err(refusal) => refused(refusal),
    })
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct BackQuery {
    code: String,
    state: String,
}

async fn back(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Query(query): Query<BackQuery>,
) -> Result<Response, Refusal> {
    let provider = shared.entrance.provider()?;
    let back = Back {
        code: query.code,
        state: query.state,
        browser: shared.entrance.browser(&headers),
    };
    Ok(match provider.end(back).await {
        Ok(access) => {
            let cookie = shared.entrance.let_in(access)?;
            ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response()
        }
        Err(refusal) => refused(refusal),
    })
}

fn refused(refusal: SignInRefusal) -> Response {
    Redirect::to(&format!("/#refused={}", refusal.word())).into_response()
}
