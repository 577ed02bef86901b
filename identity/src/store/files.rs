//! The store in a folder that services of one machine share: `identity.json`, and `audit.jsonl` for
//! what was done.

use std::fs::File;
use std::io::{self, BufRead as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;

use agon_outlets::InLine as _;
use agon_service_kit::folder::Folder;
use async_trait::async_trait;

use super::{IdentityStore, IdentityStoreError, StoreResult, Version, parse, write};
use crate::audit::AuditEntry;
use crate::document::IdentityDocument;

const DOCUMENT: &str = "identity.json";
const NEW_DOCUMENT: &str = ".identity.json.new";
const AUDIT: &str = "audit.jsonl";
const OLDER_AUDIT: &str = "audit.older.jsonl";

/// Its lock is held by whoever changes something.
const LOCK: &str = "lock";

/// A longer file of what was done becomes the older one.
const LONGEST_AUDIT_BYTES: u64 = 32 << 20;

/// See the module.
pub struct FileIdentityStore {
    folder: Arc<Folder>,
}

impl FileIdentityStore {
    /// Uses this folder, and makes it if need be.
    ///
    /// # Errors
    /// It cannot be made or read.
    pub fn at(folder: &Path) -> StoreResult<Self> {
        let opened = Folder::create(folder);
        let opened = opened.map_err(|source| IdentityStoreError::Files {
            operation: "keep tokens",
            folder: folder.in_line().to_string(),
            source,
        })?;
        Ok(Self {
            folder: Arc::new(opened),
        })
    }

    /// Runs on a thread that may wait for the disk.
    async fn run<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Folder) -> io::Result<T> + Send + 'static,
    ) -> StoreResult<T> {
        let folder = Arc::clone(&self.folder);
        let done = tokio::task::spawn_blocking(move || work(&folder)).await;
        let done = done.unwrap_or_else(|fault| Err(io::Error::other(fault)));
        done.map_err(|source| IdentityStoreError::Files {
            operation,
            folder: self.folder.path().in_line().to_string(),
            source,
        })
    }
}

/// Held until it is dropped.
fn lock(folder: &Folder) -> io::Result<File> {
    let lock = folder.file(LOCK)?;
    lock.lock()?;
    Ok(lock)
}

fn text(folder: &Folder) -> io::Result<Option<String>> {
    let bytes = folder.read(DOCUMENT)?;
    bytes
        .map(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
        .transpose()
}

fn version_of(text: Option<&String>) -> Version {
    text.map(|text| Version::of(text)).unwrap_or_default()
}

#[async_trait]
impl IdentityStore for FileIdentityStore {
    async fn read(
        &self,
        known: Option<&Version>,
    ) -> StoreResult<Option<(Version, IdentityDocument)>> {
        let text = self.run("read tokens", text).await?;
        let version = version_of(text.as_ref());
        if known == Some(&version) {
            return Ok(None);
        }
        let document = text.map(|text| parse(&text)).transpose()?;
        Ok(Some((version, document.unwrap_or_default())))
    }

    async fn replace(&self, known: &Version, document: &IdentityDocument) -> StoreResult<bool> {
        let (new, known) = (write(document)?, known.clone());
        let replace = move |folder: &Folder| {
            let _lock = lock(folder)?;
            if version_of(text(folder)?.as_ref()) != known {
                return Ok(false);
            }
            // One that a killed process left behind.
            match folder.remove_file(NEW_DOCUMENT) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = folder.new_file(NEW_DOCUMENT)?;
            file.write_all(new.as_bytes())?;
            file.sync_all()?;
            folder.rename(NEW_DOCUMENT, folder, DOCUMENT)?;
            folder.sync()?;
            Ok(true)
        };
        self.run("change tokens", replace).await
    }

    async fn append_audit(&self, entries: &[AuditEntry]) -> StoreResult<()> {
        let lines: String = entries.iter().map(|entry| entry.to_json() + "\n").collect();
        let append = move |folder: &Folder| {
            let _lock = lock(folder)?;
            let mut file = folder.file(AUDIT)?;
            if file.seek(SeekFrom::End(0))? > LONGEST_AUDIT_BYTES {
                folder.rename(AUDIT, folder, OLDER_AUDIT)?;
                file = folder.file(AUDIT)?;
            }
            file.write_all(lines.as_bytes())
        };
        self.run("keep what was done", append).await
    }

    async fn audit(&self, latest: usize) -> StoreResult<Vec<AuditEntry>> {
        let read = |folder: &Folder| {
            let _lock = lock(folder)?;
            let mut lines = Vec::new();
            for name in [OLDER_AUDIT, AUDIT] {
                if let Some(file) = folder.reader(name)? {
                    for line in io::BufReader::new(file).lines() {
                        lines.push(line?);
                    }
                }
            }
            Ok(lines)
        };
        let lines = self.run("read what was done", read).await?;
        let from = lines.len().saturating_sub(latest);
        Ok(lines[from..]
            .iter()
            .filter_map(|line| AuditEntry::from_json(line))
            .collect())
    }
}
