//! Files in S3-compatible storage: addresses as `s3://bucket/prefix`, credentials, region and endpoint
//! from the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`,
//! `AWS_REGION`, `AWS_ENDPOINT_URL`). Large files go up in parts, a few at a time; an object appears
//! whole or not at all. Called by commands that write what people name with `-o`, and by those that
//! read an archive there.

use std::path::Path;
use std::time::Duration;

use agon_outlets::InLine as _;
use agon_service_kit::bucket::{self, RetryConfig};
use agon_service_kit::secrets;
use agon_service_kit::tasks::with_causes;
use futures_util::StreamExt as _;
use object_store::aws::AmazonS3;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore as _, PutMode};
use tokio::runtime::Runtime;

use crate::failure::Failure;
use crate::runtime::runtime;

mod reading;
mod writing;

pub use reading::{answers, below, reader};
pub use writing::ObjectFile;

/// Bytes of a part. S3 takes 5 MB at least and 10,000 parts of an object, which makes 80 GB.
const PART: usize = 8 * 1024 * 1024;

/// Parts of a file that are under way at once, and in memory.
const PARTS_AT_ONCE: usize = 2;

/// How long a request is tried again for; a command is waited for.
const RETRIED_FOR: Duration = Duration::from_secs(60);

/// Tries of a request within that time.
const MOST_RETRIES: usize = 5;

/// Whether a path that somebody named is an address in such storage.
pub fn is_address(path: &Path) -> bool {
    path.to_str()
        .is_some_and(|path| path.starts_with(bucket::SCHEME))
}

/// Whether a file of this path or address may be written, as far as is known before.
///
/// # Errors
/// It is an address of no file, or the environment says too little to reach it.
pub fn check(path: &Path) -> Result<(), Failure> {
    match is_address(path) {
        true => Bucket::of_file(path).map(drop),
        false => Ok(()),
    }
}

/// Writes a file that is in memory; one that is there is replaced only if that is `allowed`.
///
/// # Errors
/// There is one, or it cannot be written.
pub fn write(path: &Path, bytes: &[u8], allowed: bool) -> Result<(), Failure> {
    let bucket = Bucket::of_file(path)?;
    let mode = match allowed {
        true => PutMode::Overwrite,
        false => PutMode::Create,
    };
    let put = bucket
        .store
        .put_opts(&bucket.prefix, bytes.to_vec().into(), mode.into());
    match bucket.runtime.block_on(put) {
        Ok(_) => Ok(()),
        Err(object_store::Error::AlreadyExists { .. }) => Err(Failure::BadInput(format!(
            "{} exists, and nothing is overwritten; name another one, or add --overwrite",
            path.in_line()
        ))),
        Err(error) => Err(bucket.failed("write", &error)),
    }
}

fn retry() -> RetryConfig {
    RetryConfig {
        max_retries: MOST_RETRIES,
        retry_timeout: RETRIED_FOR,
        ..RetryConfig::default()
    }
}

/// The client of a bucket, and what an address names in it.
struct Place {
    store: AmazonS3,
    prefix: ObjectPath,
}

fn open(address: &str, retry: RetryConfig) -> Result<Place, Failure> {
    let opened = bucket::open(address, bucket::of_environment(), retry);
    let (store, prefix) =
        opened.map_err(|error| Failure::BadInput(with_causes(&error).in_line().to_string()))?;
    Ok(Place { store, prefix })
}

/// A place in storage.
pub struct Bucket {
    store: AmazonS3,
    prefix: ObjectPath,
    /// The address, as it was named.
    shown: String,
    runtime: Runtime,
}

impl Bucket {
    /// The place of this address.
    ///
    /// # Errors
    /// It is no address, or the environment says nothing that it can be reached with.
    pub fn at(address: &Path) -> Result<Self, Failure> {
        let shown = address.to_string_lossy().into_owned();
        let Place { store, prefix } = open(&shown, retry())?;
        Ok(Self {
            store,
            prefix,
            shown,
            runtime: runtime()?,
        })
    }

    /// The place of a single file.
    fn of_file(address: &Path) -> Result<Self, Failure> {
        let bucket = Self::at(address)?;
        match bucket.prefix.as_ref().is_empty() || bucket.shown.ends_with('/') {
            false => Ok(bucket),
            true => Err(Failure::BadInput(format!(
                "{} names no file; add one, as s3://bucket/report.html",
                address.in_line()
            ))),
        }
    }

    /// Refuses a place where something is.
    ///
    /// # Errors
    /// There is something, or the storage does not answer.
    pub fn must_be_empty(&self) -> Result<(), Failure> {
        let first = self.runtime.block_on(async {
            let mut listed = self.store.list(Some(&self.prefix));
            listed.next().await.transpose()
        });
        match first.map_err(|error| self.failed("read", &error))? {
            None => Ok(()),
            Some(_) => Err(Failure::BadInput(format!(
                "{} has objects in it, and nothing is overwritten; name another prefix with -o",
                self.shown.in_line()
            ))),
        }
    }

    /// A file below the place, which appears when it is complete.
    pub fn create(&self, name: &str) -> ObjectFile {
        let path = ObjectPath::from(format!("{}/{name}", self.prefix));
        ObjectFile::new(self.store.clone(), path, self.runtime.handle().clone())
    }

    /// The address, as it was named.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    fn failed(&self, what: &str, error: &object_store::Error) -> Failure {
        Failure::Surroundings(format!(
            "cannot {what} {}: {}",
            self.shown.in_line(),
            said(error)
        ))
    }
}

/// What went wrong, without secrets: what the storage said of it, where it said anything.
fn said(error: &object_store::Error) -> String {
    let text = with_causes(error);
    let tagged = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        rest.split_once('<').map(|(inside, _)| inside)
    };
    let text = match (tagged("Code"), tagged("Message")) {
        (Some(code), Some(message)) => format!("{message} ({code})"),
        _ => text.clone(),
    };
    secrets::without(&text).in_line().to_string()
}
