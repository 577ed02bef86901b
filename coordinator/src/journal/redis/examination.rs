//! What a Redis says of itself, and what it holds of older versions, without claiming or changing
//! anything of a journal. Called by `agon doctor`.

use agon_redis_link::{Address, Survey, may_pass};
use agon_service_kit::secrets::{NO_ADDRESS, keep_address};

use super::older;
use crate::journal::{JournalError, JournalResult};

/// See the module.
#[derive(Debug, Clone)]
pub struct Examination {
    /// Where it is, without its password.
    pub address: String,
    /// What it says of itself.
    pub survey: Survey,
    /// Experiments with something to play in the queue of an older version.
    pub older_unfinished: usize,
    /// Experiments of an older version whose results are there and nothing else.
    pub older_finished: usize,
}

/// Asks a Redis.
///
/// # Errors
/// [`JournalError::Unreachable`] or [`JournalError::Refused`].
pub async fn examine(url: &str) -> JournalResult<Examination> {
    let shown = keep_address(url);
    let address = Address::read(url).map_err(|source| JournalError::Refused {
        address: NO_ADDRESS.to_owned(),
        source,
    })?;
    let examined = async {
        let (survey, mut link) = Survey::of(address).await?;
        let older = older::look(&mut link).await?;
        Ok((survey, older))
    };
    match examined.await {
        Ok((survey, older)) => Ok(Examination {
            address: shown,
            survey,
            older_unfinished: older.unfinished,
            older_finished: older.finished,
        }),
        Err(source) if may_pass(&source) => Err(JournalError::Unreachable {
            address: shown,
            source,
        }),
        Err(source) => Err(JournalError::Refused {
            address: shown,
            source,
        }),
    }
}
