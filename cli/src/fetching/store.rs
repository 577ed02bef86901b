//! The file of what was fetched: results as a coordinator sends them, packed, in the order in which
//! they came; read back in the experiment's order. A result that a killed process left half-written
//! is dropped. Called by `fetching.rs`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use agon_proto::v1::FetchRecordsResponse;
use prost::Message as _;

use crate::data_folder::cannot;
use crate::failure::Failure;
use crate::run_folder::Entry;

/// The name of the file in the entry of a run. It stays there until every session is fetched.
pub const FETCHED: &str = ".fetched";

/// Before each part of the file: its length, and the beginning of its digest.
const HEAD: usize = 8;

/// See the module.
pub struct Fetched {
    path: PathBuf,
    reader: File,
    writer: BufWriter<File>,
    end: u64,
    stored: Vec<Stored>,
    /// Results that the coordinator could not read: they are asked for again the next time.
    faults: Vec<FetchRecordsResponse>,
}

/// Where a result is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stored {
    position: u32,
    offset: u64,
    bytes: u32,
}

impl Fetched {
    /// What an entry holds of these results; what it holds of others is dropped.
    ///
    /// # Errors
    /// The file cannot be used.
    pub fn open(entry: &Entry, results_id: &[u8]) -> Result<Self, Failure> {
        let path = entry.file(FETCHED);
        let (writer, reader) = entry.unfinished(FETCHED)?;
        let opened = read(&reader, results_id).and_then(|(stored, end)| {
            writer.set_len(end)?;
            let mut fetched = Self {
                path: path.clone(),
                reader,
                writer: BufWriter::new(writer),
                end,
                stored,
                faults: Vec::new(),
            };
            if end == 0 {
                fetched.append(results_id)?;
            }
            Ok(fetched)
        });
        opened.map_err(|error| cannot("use", &path, &error))
    }

    /// How many sessions are there.
    pub fn sessions(&self) -> u64 {
        self.stored.len() as u64
    }

    /// Their positions, a bit each.
    pub fn positions(&self) -> Vec<u8> {
        let mut bits = Vec::new();
        for stored in &self.stored {
            let byte = stored.position as usize / 8;
            if bits.len() <= byte {
                bits.resize(byte + 1, 0);
            }
            bits[byte] |= 1 << (stored.position % 8);
        }
        bits
    }

    /// Takes a result in.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, result: FetchRecordsResponse) -> Result<(), Failure> {
        if !result.fault.is_empty() {
            self.faults.push(result);
            return Ok(());
        }
        let message = result.encode_to_vec();
        let added = self.append(&message).map(|(offset, bytes)| {
            self.stored.push(Stored {
                position: result.position,
                offset,
                bytes,
            });
        });
        added.map_err(|error| cannot("write", &self.path, &error))
    }

    /// Writes what is on its way.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn flush(&mut self) -> Result<(), Failure> {
        let flushed = self.writer.flush();
        flushed.map_err(|error| cannot("write", &self.path, &error))
    }

    /// All of it in the order of the experiment, those that could not be read at the end.
    pub fn in_order(mut self) -> InOrder {
        self.stored.sort_unstable();
        InOrder {
            path: self.path,
            reader: self.reader,
            stored: self.stored.into_iter(),
            faults: self.faults.into_iter(),
        }
    }

    fn append(&mut self, part: &[u8]) -> io::Result<(u64, u32)> {
        let bytes = u32::try_from(part.len()).map_err(io::Error::other)?;
        self.writer.write_all(&bytes.to_le_bytes())?;
        self.writer.write_all(&mark(part))?;
        self.writer.write_all(part)?;
        let offset = self.end + HEAD as u64;
        self.end = offset + u64::from(bytes);
        Ok((offset, bytes))
    }
}

/// See [`Fetched::in_order`].
pub struct InOrder {
    path: PathBuf,
    reader: File,
    stored: std::vec::IntoIter<Stored>,
    faults: std::vec::IntoIter<FetchRecordsResponse>,
}

impl InOrder {
    /// The next result; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn next(&mut self) -> Result<Option<FetchRecordsResponse>, Failure> {
        let Some(stored) = self.stored.next() else {
            return Ok(self.faults.next());
        };
        let mut part = vec![0; stored.bytes as usize];
        let place = self.reader.seek(SeekFrom::Start(stored.offset));
        let read = place.and_then(|_| self.reader.read_exact(&mut part));
        let decoded = read.and_then(|()| Ok(FetchRecordsResponse::decode(&*part)?));
        let decoded = decoded.map_err(|error| cannot("read", &self.path, &error))?;
        Ok(Some(decoded))
    }
}

/// Where the results are, and where the last whole one ends; nothing where they are of others.
fn read(file: &File, results_id: &[u8]) -> io::Result<(Vec<Stored>, u64)> {
    let size = file.metadata()?.len();
    let mut reader = BufReader::new(file);
    let mut left = size;
    if next_part(&mut reader, &mut left)?.is_none_or(|id| id != results_id) {
        return Ok((Vec::new(), 0));
    }
    let (mut stored, mut end) = (Vec::new(), size - left);
    while let Some(part) = next_part(&mut reader, &mut left)? {
        let result = FetchRecordsResponse::decode(&*part)?;
        stored.push(Stored {
            position: result.position,
            offset: end + HEAD as u64,
            // It was written with this length.
            bytes: part.len() as u32,
        });
        end = size - left;
    }
    Ok((stored, end))
}

/// The next part; `None` where no whole one follows.
fn next_part(reader: &mut impl Read, left: &mut u64) -> io::Result<Option<Vec<u8>>> {
    if *left < HEAD as u64 {
        return Ok(None);
    }
    let (mut bytes, mut marked) = ([0; 4], [0; 4]);
    reader.read_exact(&mut bytes)?;
    reader.read_exact(&mut marked)?;
    let bytes = u32::from_le_bytes(bytes);
    if *left - (HEAD as u64) < u64::from(bytes) {
        return Ok(None);
    }
    let mut part = vec![0; bytes as usize];
    reader.read_exact(&mut part)?;
    if mark(&part) != marked {
        return Ok(None);
    }
    *left -= HEAD as u64 + u64::from(bytes);
    Ok(Some(part))
}

fn mark(part: &[u8]) -> [u8; 4] {
    let mut mark = [0; 4];
    mark.copy_from_slice(&blake3::hash(part).as_bytes()[..4]);
    mark
}
