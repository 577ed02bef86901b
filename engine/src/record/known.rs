//! A record read by somebody who knows what was played: the spec, which is most of a short record, is
//! compared where it stands in the line. Called by coordinators.

use serde_json::value::RawValue;

use super::{Record, RecordError, RecordedDecision, StoredMove, StoredRecord};
use crate::spec::{SessionId, SessionSpec};

/// Whose record a line is.
pub struct Whose {
    /// The session that it names.
    pub session: SessionId,
    /// Its spec, unless its text was known.
    pub other_spec: Option<SessionSpec>,
}

impl StoredRecord {
    /// Checks a line as [`StoredRecord::from_line`] does, and keeps nothing else of it. `known` returns the
    /// spec that has a text, if that text is known.
    ///
    /// # Errors
    /// As there.
    pub fn check_line<'a>(
        line: &str,
        known: impl FnOnce(&str) -> Option<&'a SessionSpec>,
    ) -> Result<Whose, RecordError> {
        let malformed = |error| RecordError::of(line, error);
        let read: Record<StoredMove, RecordedDecision, &RawValue> =
            serde_json::from_str(line).map_err(malformed)?;
        let text = read.spec.get();
        let other_spec = match known(text) {
            Some(spec) => {
                read.check(spec)?;
                None
            }
            None => {
                let spec = serde_json::from_str(text).map_err(malformed)?;
                read.check(&spec)?;
                Some(spec)
            }
        };
        Ok(Whose {
            session: read.session,
            other_spec,
        })
    }
}
