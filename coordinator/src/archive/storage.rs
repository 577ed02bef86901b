//! Where an archive lies: files by name, in a folder, in a bucket or in the journal's blobs. A name
//! is `experiment/file`, and both parts were checked before. Knows nothing of what is in them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_outlets::InLine as _;
use agon_service_kit::bucket::{self, RetryConfig};
use agon_service_kit::folder::{Folder, IsALink, Kind};
use bytes::Bytes;
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt as _};

use super::{ArchiveError, ArchiveResult, damaged, in_background, too_large};
use crate::journal::{Journal, JournalError};

/// The ends of the names of a segment's files.
pub const RECORDS: &str = ".records.jsonl.gz";
/// Telemetry of the same sessions.
pub const TELEMETRY: &str = ".telemetry.jsonl.gz";
/// Written last.
pub const INDEX: &str = ".index.json";

/// Begins the names of blobs.
const IN_JOURNAL: &str = "archive/";

/// See the module.
pub enum Storage {
    /// A folder or a bucket.
    Objects(Objects),
    /// The blobs of a journal.
    Journal(Arc<dyn Journal>),
}

/// A folder or a bucket.
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    prefix: ObjectPath,
    /// The folder, when it is one.
    folder: Option<PathBuf>,
    /// As it is shown.
    shown: String,
}

impl Storage {
    /// A folder that is there. What is put there is on disk afterwards.
    pub fn folder(path: &Path) -> ArchiveResult<Self> {
        let shown = path.in_line().to_string();
        let store = LocalFileSystem::new_with_prefix(path).map_err(|source| {
            let source = std::io::Error::other(source);
            ArchiveError::Folder {
                path: shown.clone(),
                source,
            }
        })?;
        Ok(Self::Objects(Objects {
            store: Arc::new(store.with_fsync(true)),
            prefix: ObjectPath::default(),
            folder: Some(path.to_owned()),
            shown,
        }))
    }

    /// A bucket, with the keys and the endpoint that the variables name.
    pub fn bucket(
        url: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> ArchiveResult<Self> {
        let (store, prefix) = bucket::open(url, variables, RetryConfig::default())?;
        Ok(Self::Objects(Objects {
            store: Arc::new(store),
            prefix,
            folder: None,
            shown: url.to_owned(),
        }))
    }

    /// Puts a file there, in place of the one before.
    pub async fn put(&self, name: &str, bytes: Bytes) -> ArchiveResult<()> {
        const OPERATION: &str = "write";
        match self {
            Self::Journal(journal) => {
                let put = journal.put_blob(&blob(name), bytes).await;
                put.map_err(in_journal(OPERATION, name))
            }
            Self::Objects(objects) => {
                objects.refuse_link(name).await?;
                let put = objects.store.put(&objects.path(name), bytes.into()).await;
                put.map_err(objects.failed(OPERATION, name))?;
                Ok(())
            }
        }
    }

    /// A file, unless it has more than so many bytes; `None` when it is not there.
    pub async fn get(&self, name: &str, most_bytes: u64) -> ArchiveResult<Option<Bytes>> {
        let bytes = match self {
            Self::Journal(journal) => {
                let found = journal.blob(&blob(name)).await;
                found.map_err(in_journal("read", name))?
            }
            Self::Objects(objects) => objects.get(name, most_bytes).await?,
        };
        match bytes {
            Some(bytes) if bytes.len() as u64 > most_bytes => Err(too_large(name, most_bytes)),
            bytes => Ok(bytes),
        }
    }

    /// A part of a file that is there.
    pub async fn get_part(&self, name: &str, range: Range<u64>) -> ArchiveResult<Bytes> {
        let outside = || damaged(name, "it ends too early");
        let wanted = range.end - range.start;
        let part = match self {
            Self::Journal(_) => {
                let whole = self.get(name, u64::MAX).await?.ok_or_else(outside)?;
                let start = usize::try_from(range.start).map_err(|_| outside())?;
                let end = usize::try_from(range.end).map_err(|_| outside())?;
                if end > whole.len() {
                    return Err(outside());
                }
                whole.slice(start..end)
            }
            Self::Objects(objects) => {
                let read = objects.store.get_range(&objects.path(name), range).await;
                read.map_err(objects.failed("read", name))?
            }
        };
        // A file that is shorter is answered with what there is.
        if part.len() as u64 == wanted {
            Ok(part)
        } else {
            Err(outside())
        }
    }

    /// The names of an experiment's files, without that of the experiment.
    pub async fn names(&self, experiment: &str) -> ArchiveResult<Vec<String>> {
        const OPERATION: &str = "list";
        match self {
            Self::Journal(journal) => {
                let prefix = format!("{}/", blob(experiment));
                let names = journal.blobs(&prefix).await;
                let names = names.map_err(in_journal(OPERATION, experiment))?;
                let rest = |name: &String| name.strip_prefix(&prefix).map(str::to_owned);
                Ok(names.iter().filter_map(rest).collect())
            }
            Self::Objects(objects) => {
                let path = objects.path(experiment);
                let listed = objects.store.list_with_delimiter(Some(&path)).await;
                let listed = listed.map_err(objects.failed(OPERATION, experiment))?;
                let name = |path: &ObjectPath| path.filename().map(str::to_owned);
                let files = listed.objects.iter();
                Ok(files.filter_map(|file| name(&file.location)).collect())
            }
        }
    }

    /// The names of what stands at the top, experiments among it.
    pub async fn experiments(&self) -> ArchiveResult<Vec<String>> {
        const OPERATION: &str = "list";
        match self {
            Self::Journal(journal) => {
                let names = journal.blobs(IN_JOURNAL).await;
                let names = names.map_err(in_journal(OPERATION, "experiments"))?;
                let experiment = |name: &String| {
                    let (experiment, _) = name.strip_prefix(IN_JOURNAL)?.split_once('/')?;
                    Some(experiment.to_owned())
                };
                let experiments: BTreeSet<_> = names.iter().filter_map(experiment).collect();
                Ok(experiments.into_iter().collect())
            }
            Self::Objects(objects) => {
                let listed = objects.store.list_with_delimiter(Some(&objects.prefix));
                let listed = listed.await;
                let listed = listed.map_err(objects.failed(OPERATION, "experiments"))?;
                let name = |path: &ObjectPath| path.filename().map(str::to_owned);
                Ok(listed.common_prefixes.iter().filter_map(name).collect())
            }
        }
    }

    /// Removes a file; one that is not there is fine.
    pub async fn delete(&self, name: &str) -> ArchiveResult<()> {
        const OPERATION: &str = "delete";
        match self {
            Self::Journal(journal) => {
                let deleted = journal.delete_blob(&blob(name)).await;
                deleted.map_err(in_journal(OPERATION, name))
            }
            Self::Objects(objects) => {
                objects.refuse_link(name).await?;
                match objects.store.delete(&objects.path(name)).await {
                    Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                    Err(error) => Err(objects.failed(OPERATION, name)(error)),
                }
            }
        }
    }

    /// Removes what is left of an experiment whose files are deleted: in a folder, that folder and
    /// what a process that was killed left half-written there.
    pub async fn sweep(&self, experiment: &str) -> ArchiveResult<()> {
        let Self::Objects(Objects {
            folder: Some(root),
            shown,
            ..
        }) = self
        else {
            return Ok(());
        };
        let (root, experiment) = (root.clone(), experiment.to_owned());
        let swept = in_background(move || -> std::io::Result<()> {
            let root = Folder::open(&root)?;
            let Some(folder) = root.existing_folder(&experiment)? else {
                return Ok(());
            };
            for name in folder.names()? {
                folder.remove_file(&name)?;
            }
            root.remove_empty_folder(&experiment)
        });
        swept.await?.map_err(|source| ArchiveError::Folder {
            path: shown.clone(),
            source,
        })
    }
}

impl Objects {
    fn path(&self, name: &str) -> ObjectPath {
        let parts = name.split('/');
        // Whatever a part holds, it stays one part.
        parts.fold(self.prefix.clone(), ObjectPath::join)
    }

    fn failed(
        &self,
        operation: &'static str,
        name: &str,
    ) -> impl FnOnce(object_store::Error) -> ArchiveError + use<> {
        let (name, place) = (name.to_owned(), self.shown.clone());
        move |source| ArchiveError::Objects {
            operation,
            name,
            place,
            source: Box::new(source),
        }
    }

    async fn get(&self, name: &str, most_bytes: u64) -> ArchiveResult<Option<Bytes>> {
        const OPERATION: &str = "read";
        let found = match self.store.get(&self.path(name)).await {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failed(OPERATION, name)(error)),
        };
        // Before anything of it is taken in.
        if found.meta.size > most_bytes {
            return Err(too_large(name, most_bytes));
        }
        let bytes = found.bytes().await;
        bytes.map(Some).map_err(self.failed(OPERATION, name))
    }

    /// Nothing is written or deleted through a link that stands in the place of an experiment.
    async fn refuse_link(&self, name: &str) -> ArchiveResult<()> {
        let Some(root) = self.folder.clone() else {
            return Ok(());
        };
        let experiment = name.split('/').next().unwrap_or(name).to_owned();
        let looked = in_background(move || Folder::open(&root)?.kind(&experiment)).await?;
        let source = match looked {
            Ok(Some(Kind::Link)) => std::io::Error::other(IsALink),
            Ok(_) => return Ok(()),
            Err(source) => source,
        };
        Err(ArchiveError::Folder {
            path: format!("{}/{name}", self.shown),
            source,
        })
    }
}

fn blob(name: &str) -> String {
    format!("{IN_JOURNAL}{name}")
}

fn in_journal(operation: &'static str, name: &str) -> impl FnOnce(JournalError) -> ArchiveError {
    let name = name.to_owned();
    move |source| ArchiveError::Journal {
        operation,
        name,
        source,
    }
}
