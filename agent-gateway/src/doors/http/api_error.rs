//! Faults in OpenAI's form, with the status that its clients act upon. A fault
//! that trying again does not mend says so, because those clients try again by
//! themselves. Messages say what to do. Called by all handlers.

use agon_identity::gate::Refusal;
use agon_service_kit::status::ErrorClass;
use agon_service_kit::tasks::with_causes;
use axum::extract::rejection::BytesRejection;
use axum::http::header::{HeaderValue, RETRY_AFTER};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::LARGEST_BODY_BYTES;
use crate::config::ConfigError;
use crate::decide_error::DecideError;
use crate::doors::answering::AnswerError;
use crate::routes::RouteError;

/// What OpenAI's own clients obey before anything else.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// A gateway that restarts, or a Redis, is back soon.
const RETRY_SECONDS: u64 = 2;

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ApiError {
    pub status: StatusCode,
    /// OpenAI's code, for programs.
    pub code: &'static str,
    /// Which field is wrong.
    pub param: Option<String>,
    /// For people.
    pub message: String,
}

impl ApiError {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            param: None,
            message: message.into(),
        }
    }

    /// A field of the request, or a header, is not as it should be.
    pub(super) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        let param = Some(param.into());
        Self {
            param,
            ..Self::bad_request(message)
        }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    /// OpenAI's API has it, and this gateway has not.
    pub(super) fn unsupported(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: "unsupported_parameter",
            ..Self::invalid(param, message)
        }
    }

    pub(super) fn unauthorized(message: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "invalid_api_key", message)
    }

    /// The gate does not let it in.
    pub(super) fn refused(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::Scope { .. } | Refusal::NoRule { .. } => {
                let code = "insufficient_scope";
                Self::new(StatusCode::FORBIDDEN, code, refusal.to_string())
            }
            Refusal::StoreAway => Self::of_class(ErrorClass::Unavailable, refusal.to_string()),
            _ => Self::unauthorized(&refusal.to_string()),
        }
    }

    /// A field or a header names a model that nobody knows.
    pub(super) fn model_not_found(param: &str, message: String) -> Self {
        Self {
            param: Some(param.to_owned()),
            ..Self::new(StatusCode::NOT_FOUND, "model_not_found", message)
        }
    }

    pub(super) fn stopping() -> Self {
        let message = "the gateway is stopping, try again in a moment";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message)
    }

    pub(super) fn too_large() -> Self {
        let most = LARGEST_BODY_BYTES / (1024 * 1024);
        let message = format!("the body is larger than {most} MiB, send a shorter conversation");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "request_too_large", message)
    }

    pub(super) fn of_body(rejection: &BytesRejection) -> Self {
        if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            return Self::too_large();
        }
        Self::bad_request("the body could not be read to its end, send it again")
    }

    /// The body of the answer, also sent within a stream that has begun.
    pub(super) fn body(&self) -> Value {
        let kind = match self.status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            StatusCode::TOO_MANY_REQUESTS => self.code,
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        json!({ "error": {
            "message": self.message, "type": kind, "param": self.param, "code": self.code,
        }})
    }
}

impl From<&DecideError> for ApiError {
    fn from(error: &DecideError) -> Self {
        let message = with_causes(error);
        if let DecideError::Route(error) = error
            && let RouteError::Config(ConfigError::UnknownModel { .. }) = **error
        {
            return Self::model_not_found("model", message);
        }
        Self::of_class(error.class(), message)
    }
}

impl From<AnswerError> for ApiError {
    fn from(error: AnswerError) -> Self {
        let message = with_causes(&error);
        match error {
            AnswerError::OtherRequest { .. } | AnswerError::AnsweredDifferently { .. } => {
                Self::of_class(ErrorClass::Conflict, message)
            }
            _ => Self::of_class(error.class(), message),
        }
    }
}

impl ApiError {
    /// Statuses for the classes of the shared table.
    pub(super) fn of_class(class: ErrorClass, message: String) -> Self {
        let (status, code) = match class {
            ErrorClass::Invalid => (StatusCode::BAD_REQUEST, "invalid_request"),
            ErrorClass::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            ErrorClass::Conflict | ErrorClass::Exists => (StatusCode::CONFLICT, "conflict"),
            // Only a spent budget is exhausted: lack of quota is waited for.
            ErrorClass::Exhausted => (StatusCode::TOO_MANY_REQUESTS, "insufficient_quota"),
            ErrorClass::Unavailable | ErrorClass::Cancelled | ErrorClass::TimedOut => {
                (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
            }
            ErrorClass::GaveUp => (StatusCode::BAD_GATEWAY, "provider_failed"),
            ErrorClass::Unauthenticated => (StatusCode::UNAUTHORIZED, "invalid_api_key"),
            ErrorClass::Forbidden => (StatusCode::FORBIDDEN, "forbidden"),
            ErrorClass::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal_error"),
        };
        Self::new(status, code, message)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let passes = self.status == StatusCode::SERVICE_UNAVAILABLE;
        let mut response = (self.status, axum::Json(self.body())).into_response();
        let headers = response.headers_mut();
        let again = if passes { "true" } else { "false" };
        headers.insert(SHOULD_RETRY, HeaderValue::from_static(again));
        if passes {
            headers.insert(RETRY_AFTER, HeaderValue::from(RETRY_SECONDS));
        }
        response
    }
}
