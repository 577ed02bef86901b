//! Where tables are written: a folder here, or a place in S3-compatible storage. They appear together
//! or not at all, as far as storage can do that: its objects appear one after the other, the
//! description of the columns last.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use agon_outlets::InLine as _;

use super::{COLUMNS, LOCK, claim};
use crate::data_folder::cannot;
use crate::failure::Failure;
use crate::output::counted;
use crate::storage::{self, Bucket, ObjectFile};

/// See the module.
pub(super) enum Place {
    Folder(Draft),
    Storage(Bucket),
}

/// A file that is being written.
pub(super) enum Sink {
    File(File),
    Object(ObjectFile),
}

impl Place {
    /// A place with nothing in it.
    ///
    /// # Errors
    /// There is something, or it cannot be reached.
    pub(super) fn begin(out: &Path) -> Result<Self, Failure> {
        if storage::is_address(out) {
            let bucket = Bucket::at(out)?;
            bucket.must_be_empty()?;
            return Ok(Self::Storage(bucket));
        }
        Draft::begin(out).map(Self::Folder)
    }

    /// A new file there; its name may begin with that of a folder.
    pub(super) fn create(&self, name: &str) -> io::Result<Sink> {
        match self {
            Self::Folder(draft) => draft.create(name).map(Sink::File),
            Self::Storage(bucket) => Ok(Sink::Object(bucket.create(name))),
        }
    }

    /// That a file could not be written. Nothing is there then, unless files are already `whole`.
    pub(super) fn failed(&self, name: &str, error: &io::Error, whole: &[String]) -> Failure {
        let bucket = match self {
            Self::Folder(draft) => return cannot("write", &draft.path.join(name), error),
            Self::Storage(bucket) => bucket,
        };
        let there = match whole {
            [] => "nothing was written there".to_owned(),
            [one] => format!("one file is there whole: {one}; delete it, or name another prefix"),
            several => format!(
                "{} are there whole: {}; delete them, or name another prefix",
                counted(several.len() as u64, "file"),
                several.join(", ")
            ),
        };
        let address = bucket.shown().in_line();
        Failure::Surroundings(format!(
            "cannot write {name} to {address}: {error}; {there}"
        ))
    }

    /// Lets all files appear, these and the description of columns.
    ///
    /// # Errors
    /// One cannot; says which are there.
    pub(super) fn complete(
        &self,
        files: Vec<(String, Sink)>,
        columns: Sink,
    ) -> Result<(), Failure> {
        let mut whole = Vec::new();
        let last = (COLUMNS.to_owned(), columns);
        for (name, sink) in files.into_iter().chain([last]) {
            if let Sink::Object(object) = sink {
                let completed = object.complete();
                completed.map_err(|error| self.failed(&name, &error, &whole))?;
            }
            whole.push(name);
        }
        match self {
            Self::Folder(draft) => draft.complete(),
            Self::Storage(_) => Ok(()),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Object(object) => object.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Object(object) => object.flush(),
        }
    }
}

/// A folder until it is whole.
pub(super) struct Draft {
    folder: PathBuf,
    path: PathBuf,
    /// Held as long as the draft is written.
    _lock: File,
}

impl Draft {
    fn begin(folder: &Path) -> Result<Self, Failure> {
        let mut entries = fs::read_dir(folder).into_iter().flatten();
        if folder.is_file() || entries.next().is_some() {
            return Err(Failure::BadInput(format!(
                "{} is no empty folder, and nothing is overwritten; name a new folder with -o",
                folder.in_line()
            )));
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let path = folder.with_file_name(format!(".{name}.part"));
        let lock = claim(&path, "export")?;
        Ok(Self {
            folder: folder.to_owned(),
            path,
            _lock: lock,
        })
    }

    fn create(&self, name: &str) -> io::Result<File> {
        let path = self.path.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        File::create_new(path)
    }

    fn complete(&self) -> Result<(), Failure> {
        let removed = fs::remove_file(self.path.join(LOCK));
        removed.map_err(|error| cannot("write", &self.path, &error))?;
        // An empty folder may be there.
        let _ = fs::remove_dir(&self.folder);
        let renamed = fs::rename(&self.path, &self.folder);
        renamed.map_err(|error| cannot("write", &self.folder, &error))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Whole exports have been renamed, and nothing is there any more.
        let _ = fs::remove_dir_all(&self.path);
    }
}
