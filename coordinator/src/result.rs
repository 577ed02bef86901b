//! Whether what a worker hands in is a result of the session that it was leased, and whether what
//! is stored still is one. It looks at form and identity only: whether a record is true, `agon
//! verify` finds out by playing it again. Called by both services.

use agon_engine::SessionId;
use agon_engine::record::{RecordError, StoredRecord};
use serde::Deserialize;

use crate::store::SessionResult;

/// Why bytes are no result of a session.
#[derive(Debug, thiserror::Error)]
pub enum ResultFault {
    /// Not one line of UTF-8, as records are kept.
    #[error("the {0} is not one line of text")]
    NotOneLine(&'static str),
    /// The record cannot be read.
    #[error("{}", agon_service_kit::tasks::with_causes(.0))]
    Record(#[source] RecordError),
    /// The telemetry cannot be read.
    #[error("the telemetry is no JSON object")]
    Telemetry,
    /// It is the record of another session.
    #[error("the record is one of session {0}")]
    OtherSession(SessionId),
    /// What it says was played has another id than the session.
    #[error("the record's spec is one of session {0}")]
    OtherSpec(SessionId),
}

/// Checks what a worker hands in. The session's id is the hash of its spec, so a spec of this id is
/// the spec that was leased.
///
/// # Errors
/// It is no result of this session.
pub fn check(session: &str, result: &SessionResult) -> Result<(), ResultFault> {
    let record = StoredRecord::from_line(lines_of(result)?).map_err(ResultFault::Record)?;
    is_of(session, record.session)?;
    let telemetry = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>;
    telemetry(&result.telemetry).map_err(|_| ResultFault::Telemetry)?;
    let found = record.spec.id();
    if found.as_str() != session {
        return Err(ResultFault::OtherSpec(found));
    }
    Ok(())
}

/// Checks that what is stored is a record of this session, as it was when it came in; the rest was
/// read then, and is read again by whoever it is sent to.
///
/// # Errors
/// It is no result of this session.
pub fn check_stored(session: &str, result: &SessionResult) -> Result<(), ResultFault> {
    #[derive(Deserialize)]
    struct Identity {
        session: SessionId,
    }
    let line = lines_of(result)?;
    let found: Identity = serde_json::from_str(line)
        .map_err(|error| ResultFault::Record(RecordError::Malformed(error)))?;
    is_of(session, found.session)
}

/// The record, where both parts are one line of text.
fn lines_of(result: &SessionResult) -> Result<&str, ResultFault> {
    one_line(&result.telemetry).ok_or(ResultFault::NotOneLine("telemetry"))?;
    one_line(&result.record).ok_or(ResultFault::NotOneLine("record"))
}

fn is_of(session: &str, found: SessionId) -> Result<(), ResultFault> {
    match found.as_str() == session {
        true => Ok(()),
        false => Err(ResultFault::OtherSession(found)),
    }
}

fn one_line(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.contains('\n')).then_some(text)
}
