//! Finished records in segments: in a folder, in a bucket of S3, or in the journal where there is
//! neither. A segment is two files of JSON lines in gzip members, which any tool reads, and an index,
//! which is written last: a segment without an index is not there. It knows no queue; what goes into
//! a segment under which number is the caller's decision, which must be in the journal before the
//! segment is written, so that whoever writes it again after a crash writes the same.

use std::path::Path;
use std::sync::Arc;

use agon_outlets::InLine as _;
use agon_service_kit::bucket::{self, BucketError};
use agon_service_kit::compute;
use bytes::Bytes;

use crate::experiment::is_kept_name;
use crate::journal::{Journal, JournalError};

mod segment;
mod storage;

pub use segment::{Entry, Segment};
pub use storage::{RECORDS, TELEMETRY};

use segment::{Files, Index};
use storage::{INDEX, Storage};

/// The experiment's document, beside its segments.
const DOCUMENT: &str = "experiment.json";

/// The largest index and document: a hundred thousand sessions and more.
const MOST_INDEX_BYTES: u64 = 32 * 1024 * 1024;

/// The largest file of packed records or telemetry. Large enough for any one session.
pub const MOST_SEGMENT_BYTES: u64 = 256 * 1024 * 1024;

/// The results of an archive's calls.
pub type ArchiveResult<T> = Result<T, ArchiveError>;

/// Where a record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Archived {
    /// The segment's number.
    pub segment: u32,
    /// The entry's place in it, from 0.
    pub entry: u32,
}

/// An archive. Clones are the same archive.
#[derive(Clone)]
pub struct Archive {
    storage: Arc<Storage>,
}

impl Archive {
    /// An archive in a folder, which is made when it is missing. What is written is on disk once it
    /// is acknowledged.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub fn folder(path: &Path) -> ArchiveResult<Self> {
        std::fs::create_dir_all(path).map_err(|source| ArchiveError::Folder {
            path: path.in_line().to_string(),
            source,
        })?;
        Self::existing_folder(path)
    }

    /// An archive in a folder that is there, for reading it.
    ///
    /// # Errors
    /// The folder is not there or cannot be used.
    pub fn existing_folder(path: &Path) -> ArchiveResult<Self> {
        Storage::folder(path).map(Self::at)
    }

    /// An archive in a bucket: `s3://bucket` or `s3://bucket/folder`. Region, keys and endpoint come
    /// from the environment, under the names that AWS gives them (`AWS_REGION`,
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_ENDPOINT_URL`).
    ///
    /// # Errors
    /// The address or the environment makes no sense. Nobody is asked yet.
    pub fn s3(url: &str) -> ArchiveResult<Self> {
        Self::s3_with(url, bucket::of_environment())
    }

    /// The same with other variables than those of the environment.
    ///
    /// # Errors
    /// As [`Archive::s3`].
    pub fn s3_with(
        url: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> ArchiveResult<Self> {
        Storage::bucket(url, variables).map(Self::at)
    }

    /// An archive in the journal's store, for an installation that has no other place: every
    /// record stays in Redis then.
    pub fn in_journal(journal: Arc<dyn Journal>) -> Self {
        Self::at(Storage::Journal(journal))
    }

    fn at(storage: Storage) -> Self {
        Self {
            storage: Arc::new(storage),
        }
    }

    /// Whether it lies in the journal's store, and loses what that loses.
    pub fn is_in_journal(&self) -> bool {
        matches!(*self.storage, Storage::Journal(_))
    }

    /// Writes a segment. Once this returns, it is as safe as the storage keeps it. Writing the same
    /// segment again changes nothing.
    ///
    /// # Errors
    /// A segment of other entries has this number ([`ArchiveError::Taken`]); an entry is no gzip
    /// member, or there are too many; or the storage fails, and then the segment is not there and
    /// may be written again.
    pub async fn write(
        &self,
        experiment: &str,
        number: u32,
        entries: Vec<Entry>,
    ) -> ArchiveResult<()> {
        let name = |kind: &str| named(experiment, number, kind);
        let (records, telemetry, index) = (name(RECORDS)?, name(TELEMETRY)?, name(INDEX)?);
        let files = in_background(move || Files::of(&entries)).await??;
        if let Some(there) = self.storage.get(&index, MOST_INDEX_BYTES).await? {
            return if there == files.index {
                Ok(())
            } else {
                Err(ArchiveError::Taken {
                    experiment: experiment.to_owned(),
                    number,
                })
            };
        }
        self.storage.put(&records, files.records).await?;
        self.storage.put(&telemetry, files.telemetry).await?;
        self.storage.put(&index, files.index).await
    }

    /// Reads a segment whole.
    ///
    /// # Errors
    /// It is not there ([`ArchiveError::Missing`]), or not as it was written.
    pub async fn read(&self, experiment: &str, number: u32) -> ArchiveResult<Segment> {
        let index = self.index(experiment, number).await?;
        let mut files = Vec::with_capacity(2);
        for kind in [RECORDS, TELEMETRY] {
            let name = named(experiment, number, kind)?;
            let bytes = self.storage.get(&name, MOST_SEGMENT_BYTES).await?;
            files.push(bytes.ok_or_else(|| damaged(&name, "it is gone and its index is there"))?);
        }
        let telemetry = files.pop().unwrap_or_default();
        let records = files.pop().unwrap_or_default();
        let what = named(experiment, number, INDEX)?;
        in_background(move || Segment::new(&what, index, records, telemetry)).await?
    }

    /// Reads one entry and not the whole segment; `None` when the segment has fewer.
    ///
    /// # Errors
    /// As [`Archive::read`].
    pub async fn entry(&self, experiment: &str, at: Archived) -> ArchiveResult<Option<Entry>> {
        let index = self.index(experiment, at.segment).await?;
        let Some(session) = index.into_session(at.entry) else {
            return Ok(None);
        };
        let records = named(experiment, at.segment, RECORDS)?;
        let telemetry = named(experiment, at.segment, TELEMETRY)?;
        let record = self
            .storage
            .get_part(&records, session.record.range())
            .await?;
        let telemetry = self.storage.get_part(&telemetry, session.telemetry.range());
        session.entry(record, telemetry.await?).map(Some)
    }

    async fn index(&self, experiment: &str, number: u32) -> ArchiveResult<Index> {
        let name = named(experiment, number, INDEX)?;
        match self.storage.get(&name, MOST_INDEX_BYTES).await? {
            Some(bytes) => in_background(move || Index::parse(&name, &bytes)).await?,
            None => Err(ArchiveError::Missing {
                experiment: experiment.to_owned(),
                number,
            }),
        }
    }

    /// The numbers of all segments of an experiment, in order; none when it is not known.
    ///
    /// # Errors
    /// The storage fails.
    pub async fn list(&self, experiment: &str) -> ArchiveResult<Vec<u32>> {
        check(experiment)?;
        let names = self.storage.names(experiment).await?;
        let number = |name: &String| name.strip_suffix(INDEX)?.parse().ok();
        let mut numbers: Vec<u32> = names.iter().filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The names of all experiments of which something is here, in order.
    ///
    /// # Errors
    /// The storage fails.
    pub async fn experiments(&self) -> ArchiveResult<Vec<String>> {
        let mut names = self.storage.experiments().await?;
        names.retain(|name| is_kept_name(name));
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// Whether anything of an experiment is here.
    ///
    /// # Errors
    /// The storage fails.
    pub async fn holds(&self, experiment: &str) -> ArchiveResult<bool> {
        if !is_kept_name(experiment) {
            return Ok(false);
        }
        let names = self.storage.names(experiment).await?;
        Ok(!names.is_empty())
    }

    /// Removes everything of an experiment. May be repeated after an error.
    ///
    /// # Errors
    /// The storage fails; what is left is no segment any more, or still a whole one.
    pub async fn delete(&self, experiment: &str) -> ArchiveResult<()> {
        check(experiment)?;
        let mut names = self.storage.names(experiment).await?;
        // Segments go by their index first; the document, which names the experiment, goes last.
        names.sort_by_key(|name| (name == DOCUMENT, !name.ends_with(INDEX)));
        for name in names {
            self.storage.delete(&format!("{experiment}/{name}")).await?;
        }
        self.storage.sweep(experiment).await
    }

    /// Puts the experiment's document beside its segments, in place of the one before, so that the
    /// archive can be read without a coordinator.
    ///
    /// # Errors
    /// It is too large, or the storage fails.
    pub async fn put_document(&self, experiment: &str, document: Bytes) -> ArchiveResult<()> {
        check(experiment)?;
        if document.len() as u64 > MOST_INDEX_BYTES {
            return Err(too_large(DOCUMENT, MOST_INDEX_BYTES));
        }
        self.storage
            .put(&format!("{experiment}/{DOCUMENT}"), document)
            .await
    }

    /// The experiment's document.
    ///
    /// # Errors
    /// The storage fails.
    pub async fn document(&self, experiment: &str) -> ArchiveResult<Option<Bytes>> {
        check(experiment)?;
        let name = format!("{experiment}/{DOCUMENT}");
        self.storage.get(&name, MOST_INDEX_BYTES).await
    }
}

/// A name becomes part of a path, so nothing that could lead elsewhere is taken.
fn check(experiment: &str) -> ArchiveResult<()> {
    if is_kept_name(experiment) {
        Ok(())
    } else {
        Err(ArchiveError::Name {
            name: experiment.to_owned(),
        })
    }
}

/// The name of a segment's file.
fn named(experiment: &str, number: u32, kind: &str) -> ArchiveResult<String> {
    check(experiment)?;
    Ok(format!("{experiment}/{number:06}{kind}"))
}

/// Digests and JSON of megabytes, off the threads that serve others.
async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> ArchiveResult<T> {
    let working = compute::SHORT.run(work);
    working.await.map_err(|_| ArchiveError::Stopped)
}

fn damaged(what: &str, fault: &'static str) -> ArchiveError {
    ArchiveError::Damaged {
        what: what.to_owned(),
        fault,
    }
}

fn too_large(what: &str, most: u64) -> ArchiveError {
    ArchiveError::TooLarge {
        what: what.to_owned(),
        most,
    }
}

/// Why an archive did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// An experiment cannot be called so.
    #[error("{name:?} is no name of an experiment")]
    Name {
        /// The name.
        name: String,
    },
    /// The folder cannot be used.
    #[error("cannot use {path} as an archive")]
    Folder {
        /// The folder.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// There is no client of the bucket.
    #[error(transparent)]
    Bucket(#[from] BucketError),
    /// The folder or bucket refuses, or does not answer.
    #[error("cannot {operation} {name} in {place}")]
    Objects {
        /// What was tried.
        operation: &'static str,
        /// The file.
        name: String,
        /// The folder or the bucket's address.
        place: String,
        /// Why.
        #[source]
        source: Box<object_store::Error>,
    },
    /// The journal's store refuses, or does not answer.
    #[error("cannot {operation} {name} in the journal")]
    Journal {
        /// What was tried.
        operation: &'static str,
        /// The file.
        name: String,
        /// Why.
        #[source]
        source: JournalError,
    },
    /// There is more of it than anybody wrote.
    #[error("{what} is larger than {most} bytes")]
    TooLarge {
        /// What.
        what: String,
        /// The most that is taken.
        most: u64,
    },
    /// It is not as it was written.
    #[error("{what} in the archive is damaged: {fault}")]
    Damaged {
        /// The file or session.
        what: String,
        /// In which way.
        fault: &'static str,
    },
    /// The segment is not there.
    #[error("segment {number} of {experiment} is not in the archive")]
    Missing {
        /// The experiment.
        experiment: String,
        /// The segment.
        number: u32,
    },
    /// Another segment has the number.
    #[error("segment {number} of {experiment} is in the archive already, with other records")]
    Taken {
        /// The experiment.
        experiment: String,
        /// The segment.
        number: u32,
    },
    /// The process is being shut down.
    #[error("the archive has stopped")]
    Stopped,
}

impl ArchiveError {
    /// Whether the same may succeed later: the place did not answer, rather than that what is there is not
    /// what was asked for.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Folder { .. } | Self::Objects { .. } | Self::Journal { .. } | Self::Stopped => {
                true
            }
            Self::Name { .. }
            | Self::Bucket(_)
            | Self::TooLarge { .. }
            | Self::Damaged { .. }
            | Self::Missing { .. }
            | Self::Taken { .. } => false,
        }
    }
}
