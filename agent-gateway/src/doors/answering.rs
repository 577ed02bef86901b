//! Handing in an answer at a door: to whoever waits, or, when it was recorded
//! meanwhile, to nobody, which is just as well. Refuses to change what stands.
//! Called by `service.rs` and by `http/asks.rs`.

use agon_service_kit::status::ErrorClass;

use crate::deciding::Decider;
use crate::decision::{DecisionAddress, RequestDigest};
use crate::door_store::{SubmitOutcome, SubmittedAnswer};
use crate::store_error::StoreError;

/// Why an answer was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswerError {
    #[error("nobody asks {address} at door {door} now, look again at what is asked there")]
    NobodyAsks {
        address: DecisionAddress,
        door: String,
    },
    #[error("{address} is asked with request {asked}, not {answered}: read the question again")]
    OtherRequest {
        address: DecisionAddress,
        asked: RequestDigest,
        answered: RequestDigest,
    },
    #[error("{address} was answered differently before, and the first answer stands")]
    AnsweredDifferently { address: DecisionAddress },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AnswerError {
    /// The row of the error table.
    pub(crate) fn class(&self) -> ErrorClass {
        match self {
            Self::NobodyAsks { .. } => ErrorClass::NotFound,
            Self::OtherRequest { .. } | Self::AnsweredDifferently { .. } => ErrorClass::NotFound,
            Self::Store(error) => error.class(),
        }
    }
}

/// Hands an answer in. Safe to repeat; a team is told that nobody asks any more
/// once it is recorded.
pub(crate) async fn answer(decider: &Decider, handed: &SubmittedAnswer) -> Result<(), AnswerError> {
    let address = handed.address.clone();
    match decider.doors.answer(handed).await? {
        SubmitOutcome::Stands => Ok(()),
        SubmitOutcome::NobodyAsks => repeated(decider, handed).await,
        SubmitOutcome::OtherRequest(asked) => Err(AnswerError::OtherRequest {
            address,
            asked,
            answered: handed.digest.clone(),
        }),
        SubmitOutcome::AnsweredDifferently => Err(AnswerError::AnsweredDifferently { address }),
    }
}

/// Nobody asks, perhaps because this very answer has been recorded. Not said to
/// a team: the ledger does not know whose a decision is, so a token could find
/// out by trying what others were asked and what they answered.
async fn repeated(decider: &Decider, handed: &SubmittedAnswer) -> Result<(), AnswerError> {
    let address = &handed.address;
    let standing = match handed.team {
        Some(_) => None,
        None => decider.ledger.find(address).await?,
    };
    match standing {
        Some(decision) if decision.request_digest != handed.digest => {
            Err(AnswerError::OtherRequest {
                address: address.clone(),
                asked: decision.request_digest,
                answered: handed.digest.clone(),
            })
        }
        Some(decision) if decision.reply == handed.answer.reply => Ok(()),
        Some(_) => Err(AnswerError::AnsweredDifferently {
            address: address.clone(),
        }),
        None => Err(AnswerError::NobodyAsks {
            address: address.clone(),
            door: handed.door.clone(),
        }),
    }
}
