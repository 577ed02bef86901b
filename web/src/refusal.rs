//! What is answered instead of data: a status and one sentence, as JSON.
//! Says nothing that whoever asks may not know.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// No cookie of this server came along.
    #[error("this page wants the access token that `agon view` printed")]
    NotEntered,
    /// The token is another one.
    #[error("this is not the access token that `agon view` printed")]
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
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::Refused(_) | Self::Left => StatusCode::CONFLICT,
            Self::Unreadable(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let said = json!({ "error": self.to_string() });
        (status, Json(said)).into_response()
    }
}
