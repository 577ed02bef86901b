//! Why a decision was not made, and what that means on the wire. Made by
//! `deciding.rs`, turned into statuses by `service.rs` and `doors/http/api_error.rs`.

use std::time::Duration;

use agon_service_kit::status::ErrorClass;

use crate::decision::{DecisionAddress, RequestDigest};

use crate::budgets::MoneyRefusal;
use crate::routes::RouteError;
use crate::store_error::StoreError;

/// Why there is no answer. Small, because everything that waits makes room for it;
/// what is large is boxed.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// The determinism guard: one address, two questions.
    #[error(
        "decision {address} belongs to request {recorded}, but was asked as {asked}: the session \
         did not play the same way twice"
    )]
    Conflict {
        address: Box<DecisionAddress>,
        recorded: RequestDigest,
        asked: RequestDigest,
    },
    #[error(transparent)]
    Route(Box<RouteError>),
    #[error(transparent)]
    Store(Box<StoreError>),
    #[error("the paid answer to {address} could not be recorded before the gateway stopped")]
    Unrecorded {
        address: DecisionAddress,
        /// Why it was not recorded.
        #[source]
        source: Box<StoreError>,
    },
    #[error("model {model} refused the request for good: {reason}")]
    Refused { model: String, reason: String },
    #[error("the answer to {address} was given without {parameter}, which is required now")]
    Omitted {
        address: Box<DecisionAddress>,
        parameter: &'static str,
    },
    #[error(
        "model {model} is {now} now, but the session is played with {expected}: hand the \
         experiment in again to play it with the new one, or, if the same server has moved, give \
         its provider endpoint = \"...\" with the name that it had"
    )]
    OtherOrigin {
        model: String,
        now: Box<str>,
        expected: Box<str>,
    },
    #[error("provider {provider} has no usable key left: {reasons}")]
    NoKeyLeft { provider: String, reasons: String },
    #[error(
        "model {model}: no answer after {tries} attempts within the time limit; last error: {last}"
    )]
    PatienceOver {
        model: String,
        tries: u32,
        last: String,
    },
    #[error("model {model}: the provider answers, but not in its protocol: {last}")]
    NotItsProtocol { model: String, last: String },
    /// The model fails again and again, and there is another one to ask.
    #[error("the circuit of model {model} is open on every key")]
    CircuitOpen { model: String },
    /// There is no quota for longer than patience lasts, and there is another model to ask.
    #[error("model {model} has no quota for the next {}", in_words(*wait))]
    QuotaLater { model: String, wait: Duration },
    #[error("model {model} was taken out of the configuration while the call waited")]
    ModelGone { model: String },
    #[error(transparent)]
    Money(#[from] Box<MoneyRefusal>),
    #[error("the gateway is stopping")]
    Stopping,
    /// A fault of ours ended the work.
    #[error("decision {address} was lost to a fault of the gateway")]
    Lost { address: DecisionAddress },
    /// Another replica has the address now; the question goes back to wait for it.
    #[error("the claim of {address} was lost while the store was away")]
    ClaimLost { address: DecisionAddress },
    #[error("nobody waits for this decision any more")]
    Abandoned,
}

impl DecideError {
    /// One address, two questions.
    pub fn conflict(
        address: &DecisionAddress,
        recorded: RequestDigest,
        asked: RequestDigest,
    ) -> Self {
        Self::Conflict {
            address: Box::new(address.clone()),
            recorded,
            asked,
        }
    }

    /// Whether a fall-back may answer instead: the model's keys are dead, its
    /// circuit is open, or patience with it is over.
    pub fn lets_another_model_try(&self) -> bool {
        matches!(
            self,
            Self::NoKeyLeft { .. }
                | Self::CircuitOpen { .. }
                | Self::QuotaLater { .. }
                | Self::PatienceOver { .. }
                | Self::NotItsProtocol { .. }
        )
    }

    /// The row of the error table.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Conflict { .. } => ErrorClass::Conflict,
            Self::Route(error) => match **error {
                RouteError::TooMany { .. } => ErrorClass::Unavailable,
                _ => ErrorClass::Invalid,
            },
            Self::Refused { .. } => ErrorClass::Invalid,
            Self::Omitted { .. } | Self::OtherOrigin { .. } => ErrorClass::Conflict,
            Self::Money(refusal) => match **refusal {
                MoneyRefusal::NoPrice { .. } => ErrorClass::Invalid,
                MoneyRefusal::Spent { .. } => ErrorClass::Exhausted,
            },
            Self::Lost { .. } => ErrorClass::Internal,
            Self::Store(error) => error.class(),
            Self::NoKeyLeft { .. } | Self::CircuitOpen { .. } | Self::QuotaLater { .. } => {
                ErrorClass::GaveUp
            }
            // A person took it out and may put it back.
            Self::ModelGone { .. } => ErrorClass::GaveUp,
            Self::PatienceOver { .. } | Self::NotItsProtocol { .. } => ErrorClass::GaveUp,
            Self::Unrecorded { .. } | Self::Stopping => ErrorClass::Unavailable,
            Self::ClaimLost { .. } | Self::Abandoned => ErrorClass::Unavailable,
        }
    }
}

impl From<RouteError> for DecideError {
    fn from(error: RouteError) -> Self {
        Self::Route(Box::new(error))
    }
}

impl From<StoreError> for DecideError {
    fn from(error: StoreError) -> Self {
        Self::Store(Box::new(error))
    }
}

fn in_words(wait: Duration) -> impl std::fmt::Display {
    humantime_serde::re::humantime::format_duration(Duration::from_secs(wait.as_secs()))
}
