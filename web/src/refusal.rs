//! What is answered instead of data: a status and one sentence, as JSON.
//! Says nothing that whoever asks may not know.

use axum::Json;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde::Serialize;
use utoipa::ToSchema;

/// Why a request is refused.
#[derive(Serialize, ToSchema)]
#[schema(as = Refusal)]
pub(crate) struct RefusalAnswer {
    /// The reason, as a sentence for the reader.
    error: String,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// No cookie of this server came along.
    #[error("sign in with an access token first")]
    NotEntered,
    /// The token is another one.
    #[error("this is not the access token that the program printed")]
    WrongToken,
    /// The page was called by a name that other machines may use.
    #[error("call this page localhost or 127.0.0.1")]
    OtherHost,
    /// No cookie of this seat came along.
    #[error("open your invitation link in the browser in which you opened it first")]
    NotSeated,
    /// Whoever asks has left the seat.
    #[error("you left this seat; come back first")]
    Left,
    /// What was shown opens nothing.
    #[error("{0}")]
    Closed(String),
    /// It is over, and will not come back.
    #[error("{0}")]
    Over(String),
    /// More than a person does.
    #[error("that was too often; wait a moment and try again")]
    TooOften,
    /// It is no answer to what was asked.
    #[error("{0}")]
    Wrong(String),
    /// Another site sent the request.
    #[error("this request came from another site")]
    OtherSite,
    /// There is no such thing.
    #[error("there is no {0} here")]
    Missing(String),
    /// What is asked for cannot be read.
    #[error("{0}")]
    Misspelled(String),
    /// Another process has what these pages show.
    #[error("{0}")]
    Elsewhere(String),
    /// Too many pages follow at once.
    #[error("too many pages follow what is played; close some of them")]
    Busy,
    /// Whoever decides does not allow it.
    #[error("{0}")]
    Refused(String),
    /// It is there, and cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match &self {
            Self::NotEntered | Self::NotSeated => StatusCode::UNAUTHORIZED,
            Self::Over(_) => StatusCode::GONE,
            Self::TooOften => StatusCode::TOO_MANY_REQUESTS,
            Self::Wrong(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::WrongToken | Self::OtherHost | Self::OtherSite | Self::Closed(_) => {
                StatusCode::FORBIDDEN
            }
            Self::Missing(_) => StatusCode::NOT_FOUND,
            Self::Misspelled(_) => StatusCode::BAD_REQUEST,
            Self::Busy | Self::Elsewhere(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Refused(_) | Self::Left => StatusCode::CONFLICT,
            Self::Unreadable(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let error = self.to_string();
        (status, Json(RefusalAnswer { error })).into_response()
    }
}

/// What the server itself says of a request that cannot be read is shorter.
const LONGEST_TEXT_BYTES: usize = 4096;

/// Has what is refused before a handler sees it (addresses and bodies that cannot be read, methods that
/// there are none for) said in the same form.
pub async fn in_one_form(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let kind = response.headers().get(CONTENT_TYPE);
    let is_json = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !response.status().is_client_error() || is_json {
        return response;
    }
    let (parts, body) = response.into_parts();
    let text = to_bytes(body, LONGEST_TEXT_BYTES).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let said = match text.trim() {
        "" => parts.status.canonical_reason().unwrap_or("refused"),
        text => text,
    };
    let error = said.to_owned();
    let mut refused = (parts.status, Json(RefusalAnswer { error })).into_response();
    // Which methods there are.
    refused
        .headers_mut()
        .extend(parts.headers.into_iter().filter(|(name, _)| {
            name.as_ref()
                .is_some_and(|name| name == http::header::ALLOW)
        }));
    refused
}
