//! The routes below `/api/v1/sign-in`: to a provider and back. A browser that is refused is led to the
//! sign-in page with a word that says why, and nothing that others could have put there.

use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use http::HeaderMap;
use http::header::SET_COOKIE;
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Shared;
use crate::refusal::Refusal;
use crate::signing_in::{Back, SignInRefusal};

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(begin))
        .routes(routes!(back))
}

/// Sends a browser to the provider at which people sign in.
#[utoipa::path(
    get,
    path = "",
    responses(
        (status = 303, description = "To the provider, or to the sign-in page with a reason.",
            headers(("Set-Cookie" = String, description = "What the browser shows when it comes back."))),
        (status = 404, description = "People do not sign in at a provider here."),
    ),
)]
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

#[derive(Deserialize, Default, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
struct BackQuery {
    /// The provider's code; empty where it has refused.
    code: String,
    /// What the browser was sent with.
    state: String,
}

/// Lets in a browser that comes back from the provider.
#[utoipa::path(
    get,
    path = "/back",
    params(BackQuery),
    responses(
        (status = 303, description = "To the pages, or to the sign-in page with a reason.",
            headers(("Set-Cookie" = String, description = "The cookie of whoever is let in."))),
        (status = 404, description = "People do not sign in at a provider here."),
    ),
)]
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
        Ok(signed_in) => {
            let cookie = shared.entrance.let_in(signed_in)?;
            ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response()
        }
        Err(refusal) => refused(refusal),
    })
}

fn refused(refusal: SignInRefusal) -> Response {
    Redirect::to(&format!("/#refused={}", refusal.word())).into_response()
}
