//! Whether what a worker hands in is a result of the session that it was leased. It looks at form and
//! identity only: whether a record is true, `agon verify` finds out by playing it again. Called by
//! the service of workers.

use agon_engine::SessionId;
use agon_engine::extent::{Extent, RECORD, TooLarge};
use agon_engine::record::{RecordError, StoredRecord};
use agon_proto::packed::{claimed_bytes, unpack};
use bytes::Bytes;
use serde::de::IgnoredAny;

use crate::queue::SessionResult;
use crate::specs::KnownSpec;

/// Of one session, unpacked: some hundred bytes for each answer of a model.
const MOST_TELEMETRY_BYTES: u64 = 64 << 20;

/// Why bytes are no result of a session.
#[derive(Debug, thiserror::Error)]
pub enum ResultFault {
    /// Not one gzip member with one line of UTF-8, as records are kept.
    #[error("the {0} is not one line of text, packed with gzip")]
    NotOneLine(&'static str),
    /// The record holds more than any may.
    #[error("the record is too large: {0}; play fewer rounds or seats, or have shorter replies")]
    TooLarge(TooLarge),
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
/// the spec that was leased, as is one with the same text.
///
/// # Errors
/// It is no result of this session.
pub fn check(
    session: &str,
    leased: Option<&KnownSpec>,
    record: Bytes,
    telemetry: Bytes,
) -> Result<SessionResult, ResultFault> {
    // Before memory is taken for what a few bytes say of themselves.
    let claimed = Extent {
        bytes: claimed_bytes(&record).unwrap_or_default().saturating_sub(1),
        ..Extent::default()
    };
    claimed.within(&RECORD).map_err(ResultFault::TooLarge)?;
    if claimed_bytes(&telemetry).is_none_or(|bytes| bytes > MOST_TELEMETRY_BYTES) {
        return Err(ResultFault::Telemetry);
    }
    let line = unpack(&record).ok_or(ResultFault::NotOneLine("record"))?;
    Extent::check_json(line.as_bytes(), &RECORD).map_err(ResultFault::TooLarge)?;
    let known = |text: &str| leased.and_then(|leased| leased.recorded_as(text));
    let found = StoredRecord::check_line(&line, known).map_err(ResultFault::Record)?;
    if found.session.as_str() != session {
        return Err(ResultFault::OtherSession(found.session));
    }
    let told = unpack(&telemetry).ok_or(ResultFault::NotOneLine("telemetry"))?;
    // Not built, only read: nobody looks into it here.
    let is_json = serde_json::from_str::<IgnoredAny>(&told).is_ok();
    if !is_json || !told.trim_start().starts_with('{') {
        return Err(ResultFault::Telemetry);
    }
    let other = found.other_spec.map(|spec| spec.id());
    if let Some(other) = other.filter(|id| id.as_str() != session) {
        return Err(ResultFault::OtherSpec(other));
    }
    Ok(SessionResult {
        session_id: session.to_owned(),
        digest: digest(line.as_bytes()),
        record,
        telemetry,
    })
}

/// The beginning of a record's digest.
fn digest(line: &[u8]) -> u64 {
    let hash = blake3::hash(line);
    let first = hash.as_bytes().first_chunk().copied();
    u64::from_le_bytes(first.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use agon_proto::packed::pack;

    use super::*;

    #[test]
    fn a_record_that_nobody_could_read_is_refused_with_its_size_before_it_is_parsed() {
        let numbers = "1,".repeat(2_100_000);
        let text = "x".repeat(RECORD.bytes as usize - 1);
        for (line, said) in [
            (format!("[{numbers}1]"), "2000000 are the most"),
            (
                format!("\"{text}\""),
                "it has 104857601 bytes, and 104857600 are the most",
            ),
        ] {
            let fault = check("id", None, pack(&line), pack("{}")).unwrap_err();
            assert!(matches!(fault, ResultFault::TooLarge(_)));
            assert!(fault.to_string().contains(said), "{fault}");
        }
        let fault = check("id", None, pack("{}"), pack("{}")).unwrap_err();
        assert!(matches!(fault, ResultFault::Record(_)));
        // Four bytes at the end say how much it is: no memory is taken for what they claim.
        let claiming = |bytes: u32| {
            let mut packed = pack("{}").to_vec();
            let length = packed.len() - 4;
            packed.truncate(length);
            packed.extend(bytes.to_le_bytes());
            Bytes::from(packed)
        };
        let fault = check("id", None, claiming(400 << 20), pack("{}")).unwrap_err();
        assert!(matches!(fault, ResultFault::TooLarge(_)), "{fault}");
        let fault = check("id", None, pack("{}"), claiming(400 << 20)).unwrap_err();
        assert!(matches!(fault, ResultFault::Telemetry), "{fault}");
    }
}
