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
    /// Another site sent the request.
    #[error("this request came from another site")]
    OtherSite,
    /// There is no such thing.
    #[error("there is no {0} here")]
    Missing(String),
    /// What is asked for cannot be read.
    #[error("{0}")]
    Misspelled(String),
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
            Self::NotEntered => StatusCode::UNAUTHORIZED,
            Self::WrongToken | Self::OtherHost | Self::OtherSite => StatusCode::FORBIDDEN,
            Self::Missing(_) => StatusCode::NOT_FOUND,
            Self::Misspelled(_) => StatusCode::BAD_REQUEST,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::Refused(_) => StatusCode::CONFLICT,
            Self::Unreadable(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let said = json!({ "error": self.to_string() });
        (status, Json(said)).into_response()
    }
}
