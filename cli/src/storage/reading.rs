//! Reads what lies in a bucket: which objects there are, and what one holds, in pieces of which only a
//! few are in memory. A thread of its own asks the storage, so that whoever reads may be anywhere.
//! Called by the readers of records.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use agon_outlets::InLine as _;
use agon_service_kit::bucket::{self, RetryConfig};
use bytes::Buf as _;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::{ObjectStore as _, ObjectStoreExt as _};
use tokio::runtime::Builder;

use super::{Place, open, retry, said};
use crate::failure::Failure;

/// Pieces that wait for the reader: some kilobytes each, as they come from the network.
const PIECES: usize = 64;

/// Variables of which one is set where a person has given credentials, or the platform has.
const CREDENTIALS: [&str; 6] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_SKIP_SIGNATURE",
    "AWS_METADATA_ENDPOINT",
];

/// The addresses of all objects below an address whose names fit, in order.
///
/// # Errors
/// It is no address, or the storage refuses or does not answer.
pub fn below(address: &Path, fits: fn(&str) -> bool) -> Result<Vec<PathBuf>, Failure> {
    let (address, shown) = (address.to_owned(), address.in_line().to_string());
    let listed = thread::spawn(move || list(&address, fits)).join();
    listed.unwrap_or_else(|_| Err(Failure::Surroundings(format!("cannot list {shown}"))))
}

fn list(address: &Path, fits: fn(&str) -> bool) -> Result<Vec<PathBuf>, Failure> {
    let Place { store, prefix } = open_for_reading(address)?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::surroundings)?;
    let address = address.to_string_lossy();
    let bucket = address.strip_prefix(bucket::SCHEME).unwrap_or(&address);
    let bucket = bucket.split('/').next().unwrap_or(bucket).to_owned();
    let names = runtime.block_on(async {
        let listed = store.list(Some(&prefix));
        let names = listed.map_ok(|object| object.location.to_string());
        let wanted = names.try_filter(|name| std::future::ready(fits(name)));
        wanted.try_collect::<Vec<String>>().await
    });
    let failed = |error| {
        Failure::Surroundings(format!(
            "cannot read {}: {}",
            address.in_line(),
            why(&error)
        ))
    };
    let mut names = names.map_err(failed)?;
    names.sort();
    let places = names.iter();
    let places = places.map(|name| PathBuf::from(format!("{}{bucket}/{name}", bucket::SCHEME)));
    Ok(places.collect())
}

/// Whether the storage lists what is below an address. Asks once. Runs outside of any runtime.
///
/// # Errors
/// It is no address, or the storage refuses or does not answer.
pub fn answers(address: &Path) -> Result<(), Failure> {
    let once = RetryConfig {
        max_retries: 0,
        ..retry()
    };
    let Place { store, prefix } = open(&address.to_string_lossy(), once)?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(Failure::surroundings)?;
    let first = runtime.block_on(async { store.list(Some(&prefix)).next().await.transpose() });
    let failed = |error| {
        let (address, why) = (address.in_line(), why(&error));
        Failure::Surroundings(format!("cannot read {address}: {why}"))
    };
    first.map(drop).map_err(failed)
}

/// What an object holds, and how many bytes that is.
///
/// # Errors
/// There is none, or the storage does not answer.
pub fn reader(address: &Path) -> io::Result<(ObjectReader, u64)> {
    let (pieces, coming) = sync_channel(PIECES);
    let address = address.to_owned();
    thread::spawn(move || send(&address, &pieces));
    let gone = || io::Error::other("it could not be opened");
    match coming.recv().map_err(|_| gone())? {
        Ok(Piece::Size(size)) => Ok((
            ObjectReader {
                coming,
                piece: Bytes::new(),
            },
            size,
        )),
        Ok(Piece::Bytes(_)) => Err(gone()),
        Err(error) => Err(error),
    }
}

enum Piece {
    /// Comes first.
    Size(u64),
    Bytes(Bytes),
}

/// See [`reader`].
pub struct ObjectReader {
    coming: Receiver<io::Result<Piece>>,
    piece: Bytes,
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.coming.recv() {
                Ok(Ok(Piece::Bytes(piece))) => self.piece = piece,
                Ok(Ok(Piece::Size(_))) => {}
                Ok(Err(error)) => return Err(error),
                // The end: the thread has sent everything.
                Err(_) => return Ok(0),
            }
        }
        let read = buffer.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut buffer[..read]);
        Ok(read)
    }
}

/// Sends an object piece by piece, until its end or until nobody listens.
fn send(address: &Path, pieces: &SyncSender<io::Result<Piece>>) {
    let sent = fetch(address, pieces);
    if let Err(error) = sent {
        // Whoever stopped reading does not want to know.
        let _ = pieces.send(Err(error));
    }
}

fn fetch(address: &Path, pieces: &SyncSender<io::Result<Piece>>) -> io::Result<()> {
    let opened = open_for_reading(address);
    let Place { store, prefix } = opened.map_err(|why| io::Error::other(why.to_string()))?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let failed = |error| io::Error::other(why(&error));
    runtime.block_on(async {
        let found = store.get(&prefix).await.map_err(failed)?;
        let mut next = Ok(Piece::Size(found.meta.size));
        let mut stream = found.into_stream();
        while pieces.send(next).is_ok() {
            match stream.next().await {
                Some(piece) => next = Ok(Piece::Bytes(piece.map_err(failed)?)),
                None => break,
            }
        }
        Ok(())
    })
}

fn open_for_reading(address: &Path) -> Result<Place, Failure> {
    let retry = match has_credentials() {
        true => retry(),
        // The platform's own service for them answers at once, where there is one.
        false => RetryConfig {
            max_retries: 0,
            ..retry()
        },
    };
    open(&address.to_string_lossy(), retry)
}

fn has_credentials() -> bool {
    bucket::of_environment().any(|(name, _)| CREDENTIALS.contains(&name.as_str()))
}

/// What went wrong; without credentials, that this may be why.
fn why(error: &object_store::Error) -> String {
    match error {
        object_store::Error::NotFound { .. } => said(error),
        _ if has_credentials() => said(error),
        _ => format!(
            "{}; no credentials are set: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
             AWS_SKIP_SIGNATURE=true for a public bucket",
            said(error)
        ),
    }
}
