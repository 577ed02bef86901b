//! Whether what a worker hands in is a result of the session that it was leased, and whether what
//! is stored still is one. It looks at form and identity only: whether a record is true, `agon
//! verify` finds out by playing it again. Called by both services.

use agon_engine::record::{RecordError, StoredRecord};
use agon_engine::{SessionId, SessionSpec};

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
    let spec = read(session, result)?;
    let found = spec.id();
    if found.as_str() != session {
        return Err(ResultFault::OtherSpec(found));
    }
    Ok(())
}

/// Checks what is stored. Its spec may be in the words of an earlier version, with another hash.
///
/// # Errors
/// It is no result of this session.
pub fn check_stored(session: &str, result: &SessionResult) -> Result<(), ResultFault> {
    read(session, result).map(|_| ())
}

fn read(session: &str, result: &SessionResult) -> Result<SessionSpec, ResultFault> {
    let line = one_line(&result.record).ok_or(ResultFault::NotOneLine("record"))?;
    one_line(&result.telemetry).ok_or(ResultFault::NotOneLine("telemetry"))?;
    let record = StoredRecord::from_line(line).map_err(ResultFault::Record)?;
    if record.session.as_str() != session {
        return Err(ResultFault::OtherSession(record.session));
    }
    let telemetry = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>;
    telemetry(&result.telemetry).map_err(|_| ResultFault::Telemetry)?;
    Ok(record.spec)
}

fn one_line(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.contains('\n')).then_some(text)
}
