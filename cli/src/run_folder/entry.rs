//! The entry of one run in the history of its folder: `history/0003-2026-11-22T12-53-18Z`, with all
//! that was run and all that came of it. Files appear whole or not at all and are never changed
//! afterwards, except the account, which is completed at the end. Made by `run_folder.rs`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_service_kit::folder::Folder;
use parking_lot::Mutex;

use super::LARGE;
use super::account::Account;
use super::digest_of;
use crate::data_folder::cannot;
use crate::failure::Failure;

/// What a run was and what became of it.
pub const ACCOUNT: &str = "run.json";

/// Locked while the run goes on.
pub(super) const RUNNING: &str = ".running";

/// See the module.
pub struct Entry {
    folder: Arc<Folder>,
    running: Option<File>,
    /// What was run, and what is known of its end.
    pub account: Account,
    written: Arc<Written>,
}

/// What an entry holds so far, and what the run before it left.
#[derive(Default)]
struct Written {
    /// Digests by name.
    files: Mutex<BTreeMap<String, String>>,
    before: Option<Before>,
}

/// The entry whose tables are shown when a run begins.
struct Before {
    folder: Folder,
    files: BTreeMap<String, String>,
}

impl Before {
    /// Whether a file of it is what it was then: somebody may have changed it since.
    fn still_holds(&self, name: &str, digest: &String) -> bool {
        let is_named = self.files.get(name) == Some(digest);
        let file = is_named.then(|| self.folder.reader(name).ok().flatten());
        file.flatten()
            .is_some_and(|file| digest_of(file).is_ok_and(|found| found == *digest))
    }
}

impl Entry {
    /// An entry in a folder that was made for it.
    pub(super) fn new(folder: Folder, account: Account) -> Self {
        Self {
            folder: Arc::new(folder),
            running: None,
            account,
            written: Arc::default(),
        }
    }

    /// The same, of a run that goes on for as long as this exists.
    ///
    /// # Errors
    /// That cannot be written.
    pub(super) fn of_running(mut self) -> io::Result<Self> {
        let running = self.folder.file(RUNNING)?;
        running.lock()?;
        self.running = Some(running);
        Ok(self)
    }

    /// The same; what comes out as it is in the folder `before` takes no space of its own.
    pub(super) fn after(mut self, before: Option<Folder>) -> Self {
        let before = before.map(|folder| {
            let account = folder.read(ACCOUNT).ok().flatten();
            let account = account.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let Account { files, .. } = account.unwrap_or_default();
            Before { folder, files }
        });
        self.written = Arc::new(Written {
            before,
            ..Written::default()
        });
        self
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where a file of it is.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.place(name)
    }

    /// A file that appears under its name when it is kept.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn begin(&self, name: &str) -> Result<NewFile, Failure> {
        NewFile::begin(&self.folder, name, &self.written)
    }

    /// Writes a small file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        let mut file = self.begin(name)?;
        file.add(text.as_bytes())?;
        file.keep()
    }

    /// Writes files into a folder of the entry, by their path in it.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn write_all(&self, name: &str, files: &BTreeMap<String, String>) -> Result<(), Failure> {
        for (path, text) in files {
            let failed = |error| cannot("write", &self.folder.place(name).join(path), &error);
            let mut parts: Vec<&str> = path.split('/').collect();
            let file = parts.pop().unwrap_or_default();
            let mut folder = self.folder.folder(name).map_err(failed)?;
            for part in parts {
                folder = folder.folder(part).map_err(failed)?;
            }
            let mut out = folder.new_file(file).map_err(failed)?;
            out.write_all(text.as_bytes()).map_err(failed)?;
        }
        Ok(())
    }

    /// A file of what the run has fetched so far, to write at its end and to read: no result of it,
    /// and not in its account.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn unfinished(&self, name: &str) -> Result<(File, File), Failure> {
        let opened = self.folder.file(name).and_then(|writer| {
            let reader = self.folder.reader(name)?;
            Ok((writer, reader.ok_or(io::ErrorKind::NotFound)?))
        });
        opened.map_err(|error| cannot("use", &self.folder.place(name), &error))
    }

    /// Such a file is not needed any more.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove_unfinished(&self, name: &str) -> Result<(), Failure> {
        let removed = self.folder.remove_file(name);
        removed.map_err(|error| cannot("remove", &self.folder.place(name), &error))
    }

    /// Moves such a file here from an earlier run.
    pub(super) fn take_over(&self, name: &str, from: &Folder) -> io::Result<()> {
        from.rename(name, &self.folder, name)
    }

    /// Writes the account of files that are there already.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write_carried(
        &mut self,
        files: &BTreeMap<String, String>,
    ) -> Result<(), Failure> {
        self.written.files.lock().clone_from(files);
        self.write_account()
    }

    /// Writes the account as it is now.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_account(&mut self) -> Result<(), Failure> {
        self.account.files.clone_from(&self.written.files.lock());
        self.account.files.remove(ACCOUNT);
        let text = serde_json::to_string_pretty(&self.account).map_err(Failure::surroundings)?;
        self.write(ACCOUNT, &format!("{text}\n"))
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if self.running.take().is_some() {
            // Where this fails, the file stays, and nobody has it locked.
            let _ = self.folder.remove_file(RUNNING);
        }
    }
}

/// A file that is being written.
pub struct NewFile {
    folder: Arc<Folder>,
    name: String,
    draft: String,
    out: BufWriter<File>,
    hasher: blake3::Hasher,
    written: Arc<Written>,
}

impl NewFile {
    fn begin(folder: &Arc<Folder>, name: &str, written: &Arc<Written>) -> Result<Self, Failure> {
        let draft = format!(".{name}.part");
        let file = folder
            .new_file(&draft)
            .map_err(|error| cannot("write", &folder.place(&draft), &error))?;
        Ok(Self {
            folder: Arc::clone(folder),
            name: name.to_owned(),
            draft,
            out: BufWriter::new(file),
            hasher: blake3::Hasher::new(),
            written: Arc::clone(written),
        })
    }

    /// Adds text or any other bytes.
    ///
    /// # Errors
    /// They cannot be written (a full disk, for one).
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = self.write_all(bytes);
        written.map_err(|error| cannot("write", &self.folder.place(&self.draft), &error))
    }

    /// Adds a line.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn line(&mut self, line: &[u8]) -> Result<(), Failure> {
        self.add(line)?;
        self.add(b"\n")
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// It cannot be written to its end.
    pub fn keep(mut self) -> Result<(), Failure> {
        let digest = self.hasher.finalize().to_hex().to_string();
        let kept = self
            .out
            .flush()
            .and_then(|()| self.out.get_ref().sync_all())
            .and_then(|()| self.put(&digest));
        kept.map_err(|error| cannot("write", &self.folder.place(&self.name), &error))?;
        let name = std::mem::take(&mut self.name);
        self.written.files.lock().insert(name, digest);
        Ok(())
    }

    fn put(&self, digest: &String) -> io::Result<()> {
        let before = self.written.before.as_ref();
        let same = before.filter(|before| before.still_holds(&self.name, digest));
        if let Some(before) = same.filter(|_| LARGE.contains(&self.name.as_str()))
            && before
                .folder
                .link(&self.name, &self.folder, &self.name)
                .is_ok()
        {
            return Ok(());
        }
        self.folder.rename(&self.draft, &self.folder, &self.name)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // Our own draft, unless it is the file by now.
        let _ = self.folder.remove_file(&self.draft);
    }
}

/// For writers of formats, which speak of plain input and output errors.
impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
