//! Records are stored compressed: they are JSON that repeats itself, a tenth is left of them. What
//! is in them is not looked at. Called by both back ends.

use std::io::{Read as _, Write as _};

use agon_service_kit::server::LARGEST_MESSAGE_BYTES;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use super::{Granted, SessionResult, StoreError, StoreResult};

/// A result, ready to be stored.
pub struct Packed {
    /// Digest of the record before compression: completions are compared by it.
    pub digest: String,
    /// The record, compressed.
    pub record: Vec<u8>,
    /// Telemetry, compressed.
    pub telemetry: Vec<u8>,
}

/// Compresses a result. Takes a millisecond or two for a long session.
pub fn pack(result: &SessionResult) -> Packed {
    Packed {
        digest: blake3::hash(&result.record).to_hex().to_string(),
        record: deflate(&result.record),
        telemetry: deflate(&result.telemetry),
    }
}

/// The opposite of what [`pack`] did to one part.
pub fn unpack(packed: &[u8], what: &str) -> StoreResult<Vec<u8>> {
    let mut bytes = Vec::new();
    // Nothing larger was ever taken in, so a file of somebody else cannot fill the memory.
    let most = LARGEST_MESSAGE_BYTES as u64 + 1;
    let read = DeflateDecoder::new(packed)
        .take(most)
        .read_to_end(&mut bytes);
    if read.is_ok() && bytes.len() <= LARGEST_MESSAGE_BYTES {
        return Ok(bytes);
    }
    Err(StoreError::Corrupt {
        what: what.to_owned(),
    })
}

/// A stored result, or why it cannot be unpacked.
pub fn unpack_result(
    record: &[u8],
    telemetry: &[u8],
    session: &str,
) -> Result<SessionResult, String> {
    let part = |packed, name| {
        unpack(packed, &format!("the {name} of session {session}"))
            .map_err(|error| error.to_string())
    };
    Ok(SessionResult {
        record: part(record, "record")?,
        telemetry: part(telemetry, "telemetry")?,
    })
}

impl Granted {
    /// Takes the record of the session before it apart, which was stored packed. What cannot be
    /// read is left out: the session is set aside then, and nobody waits for it.
    pub(super) fn unpack_before(&mut self) {
        let Some(packed) = self.before.take() else {
            return;
        };
        match unpack(&packed, "the session before") {
            Ok(record) => self.before = Some(record),
            Err(error) => {
                let session_id = &self.key.session;
                tracing::error!(%session_id, %error, "cannot hand on what players take along");
            }
        }
    }
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    // Writing into a vector cannot fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}
