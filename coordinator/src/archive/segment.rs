//! A segment: entries one behind the other in two files, and the index that says where each lies.
//! What is read is believed only as far as it fits together: digests of both files, and spans that
//! follow each other without a gap. Asks no place. Called by `Archive`.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use super::{
    ArchiveError, ArchiveResult, MOST_INDEX_BYTES, MOST_SEGMENT_BYTES, damaged, too_large,
};

/// The form of an index that is written and read here.
const VERSION: u32 = 1;

/// A finished session in a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its position in the experiment.
    pub position: u32,
    /// Its id.
    pub session: String,
    /// Digest of its record, the caller's.
    pub digest: u64,
    /// The record, packed ([`agon_proto::packed`]).
    pub record: Bytes,
    /// The telemetry, in the same form.
    pub telemetry: Bytes,
}

/// Where something lies in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    offset: u64,
    length: u64,
}

impl Span {
    /// From the first byte to the one behind the last; empty when the numbers make no sense.
    pub fn range(self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.length)
    }

    fn of(self, bytes: &Bytes) -> Option<Bytes> {
        let range = self.range();
        let start = usize::try_from(range.start).ok()?;
        let end = usize::try_from(range.end).ok()?;
        (end <= bytes.len()).then(|| bytes.slice(start..end))
    }
}

/// A session in the index.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexSession {
    position: u32,
    session: String,
    /// In hexadecimal: not every reader of JSON keeps whole numbers of this size.
    digest: String,
    /// Where its record lies.
    pub record: Span,
    /// Where its telemetry lies.
    pub telemetry: Span,
}

impl IndexSession {
    /// The entry with these bytes.
    pub fn entry(self, record: Bytes, telemetry: Bytes) -> ArchiveResult<Entry> {
        let digest = u64::from_str_radix(&self.digest, 16);
        let digest = digest.map_err(|_| damaged(&self.session, "its digest is no number"))?;
        Ok(Entry {
            position: self.position,
            session: self.session,
            digest,
            record,
            telemetry,
        })
    }
}

/// A file in the index.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct IndexFile {
    length: u64,
    blake3: String,
}

impl IndexFile {
    fn of(bytes: &[u8]) -> Self {
        Self {
            length: bytes.len() as u64,
            blake3: blake3::hash(bytes).to_hex().to_string(),
        }
    }
}

/// What the index of a segment holds.
#[derive(Debug, Serialize, Deserialize)]
pub struct Index {
    version: u32,
    records: IndexFile,
    telemetry: IndexFile,
    sessions: Vec<IndexSession>,
}

/// What is read of every version.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl Index {
    /// Reads it, and makes sure that its spans follow each other.
    pub fn parse(what: &str, bytes: &[u8]) -> ArchiveResult<Self> {
        let no_index = |_| damaged(what, "it is no index of a segment");
        let version: Version = serde_json::from_slice(bytes).map_err(no_index)?;
        if version.version != VERSION {
            return Err(damaged(what, "its version is none that this agon reads"));
        }
        let index: Self = serde_json::from_slice(bytes).map_err(no_index)?;
        let records = index.sessions.iter().map(|session| session.record);
        let telemetry = index.sessions.iter().map(|session| session.telemetry);
        if follow_each_other(records, index.records.length)
            && follow_each_other(telemetry, index.telemetry.length)
        {
            Ok(index)
        } else {
            Err(damaged(what, "its entries overlap or leave a gap"))
        }
    }

    /// What it says of one session.
    pub fn into_session(mut self, number: u32) -> Option<IndexSession> {
        let number = usize::try_from(number).ok()?;
        (number < self.sessions.len()).then(|| self.sessions.swap_remove(number))
    }
}

fn follow_each_other(spans: impl Iterator<Item = Span>, length: u64) -> bool {
    let mut end = 0_u64;
    for span in spans {
        let next = end.checked_add(span.length);
        let (true, Some(next)) = (span.offset == end, next) else {
            return false;
        };
        end = next;
    }
    end == length && length <= MOST_SEGMENT_BYTES
}

/// The files of a segment, ready to be written.
pub struct Files {
    /// All records.
    pub records: Bytes,
    /// All telemetry.
    pub telemetry: Bytes,
    /// Where each lies.
    pub index: Bytes,
}

impl Files {
    /// Puts entries together. The same entries make the same bytes.
    pub fn of(entries: &[Entry]) -> ArchiveResult<Self> {
        let mut records = Part::of(entries.iter().map(|entry| &entry.record));
        let mut telemetry = Part::of(entries.iter().map(|entry| &entry.telemetry));
        let mut sessions = Vec::with_capacity(entries.len());
        for entry in entries {
            sessions.push(IndexSession {
                position: entry.position,
                session: entry.session.clone(),
                digest: format!("{:016x}", entry.digest),
                record: records.add(&entry.record)?,
                telemetry: telemetry.add(&entry.telemetry)?,
            });
        }
        let (records, telemetry) = (records.bytes.freeze(), telemetry.bytes.freeze());
        let index = Index {
            version: VERSION,
            records: IndexFile::of(&records),
            telemetry: IndexFile::of(&telemetry),
            sessions,
        };
        let index = serde_json::to_vec(&index).map_err(|_| damaged("an index", "it is no JSON"))?;
        if index.len() as u64 > MOST_INDEX_BYTES {
            return Err(too_large("the index of a segment", MOST_INDEX_BYTES));
        }
        Ok(Self {
            records,
            telemetry,
            index: index.into(),
        })
    }
}

/// A file that grows.
struct Part {
    bytes: BytesMut,
}

impl Part {
    /// One with room for all that is to be added.
    fn of<'a>(all: impl Iterator<Item = &'a Bytes>) -> Self {
        Self {
            bytes: BytesMut::with_capacity(all.map(Bytes::len).sum()),
        }
    }

    fn add(&mut self, packed: &[u8]) -> ArchiveResult<Span> {
        let span = Span {
            offset: self.bytes.len() as u64,
            length: packed.len() as u64,
        };
        if span.range().end > MOST_SEGMENT_BYTES {
            return Err(too_large("a segment", MOST_SEGMENT_BYTES));
        }
        self.bytes.extend_from_slice(packed);
        Ok(span)
    }
}

/// A segment that was read whole.
#[derive(Debug, Clone)]
pub struct Segment {
    entries: Vec<Entry>,
}

impl Segment {
    /// Takes its files apart. Entries share their bytes.
    pub(super) fn new(
        what: &str,
        index: Index,
        records: Bytes,
        telemetry: Bytes,
    ) -> ArchiveResult<Self> {
        if index.records != IndexFile::of(&records) || index.telemetry != IndexFile::of(&telemetry)
        {
            return Err(damaged(
                what,
                "the files beside it are not those it was made of",
            ));
        }
        let sessions = index.sessions.into_iter().map(|session| {
            let parts = session.record.of(&records);
            match parts.zip(session.telemetry.of(&telemetry)) {
                Some((record, telemetry)) => session.entry(record, telemetry),
                None => Err(damaged(what, "an entry lies outside of its file")),
            }
        });
        let entries = sessions.collect::<Result<_, ArchiveError>>()?;
        Ok(Self { entries })
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of all entries, packed.
    pub fn bytes(&self) -> usize {
        let entries = self.entries.iter();
        let each = entries.map(|entry| entry.record.len() + entry.telemetry.len());
        each.sum()
    }

    /// An entry, from 0.
    pub fn entry(&self, number: u32) -> Option<&Entry> {
        self.entries.get(usize::try_from(number).ok()?)
    }

    /// All entries in the order in which they were written.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.entries.iter()
    }
}

#[cfg(test)]
mod tests;
