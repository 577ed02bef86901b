//! The folder of one run: what came out, in files that other programs read.
//! Files appear whole or not at all: each is written beside its place first.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::data_folder::cannot;
use crate::failure::Failure;

/// The session records, one JSON object per line.
pub const RECORDS: &str = "records.jsonl";
/// Telemetry beside the records, one JSON object per line, in the same order.
pub const TELEMETRY: &str = "telemetry.jsonl";
/// One row per session.
pub const RESULTS: &str = "results.csv";
/// The table as it was printed.
pub const SUMMARY: &str = "summary.txt";
/// The experiment as it was read.
pub const EXPERIMENT: &str = "experiment.toml";
/// The experiment as it was run, with every change from the command line.
pub const DOCUMENT: &str = "document.json";
/// The user's templates, when the experiment has any.
pub const TEMPLATES: &str = "templates";

/// The folder of one run.
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Creates the folder if need be.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn create(path: PathBuf) -> Result<Self, Failure> {
        fs::create_dir_all(&path).map_err(|error| cannot("create", &path, &error))?;
        Ok(Self { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a file of it is.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A file that appears under its name when it is kept.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn begin(&self, name: &str) -> Result<NewFile, Failure> {
        let path = self.path.join(name);
        let draft = self.path.join(format!(".{name}.part"));
        if let Some(folder) = draft.parent() {
            fs::create_dir_all(folder).map_err(|error| cannot("create", folder, &error))?;
        }
        let file = File::create(&draft).map_err(|error| cannot("write", &draft, &error))?;
        Ok(NewFile {
            path,
            draft,
            out: BufWriter::new(file),
        })
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

    /// Writes the user's templates, in place of older ones.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn write_templates<'a>(
        &self,
        templates: impl Iterator<Item = (&'a String, &'a String)>,
    ) -> Result<(), Failure> {
        let folder = self.path.join(TEMPLATES);
        if folder.is_dir() {
            fs::remove_dir_all(&folder).map_err(|error| cannot("replace", &folder, &error))?;
        }
        for (name, text) in templates {
            let path = folder.join(name);
            let parent = path.parent().unwrap_or(&folder);
            fs::create_dir_all(parent).map_err(|error| cannot("create", parent, &error))?;
            fs::write(&path, text).map_err(|error| cannot("write", &path, &error))?;
        }
        Ok(())
    }
}

/// A file that is being written.
pub struct NewFile {
    path: PathBuf,
    draft: PathBuf,
    out: BufWriter<File>,
}

impl NewFile {
    /// Adds text or any other bytes.
    ///
    /// # Errors
    /// They cannot be written (a full disk, for one).
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.out
            .write_all(bytes)
            .map_err(|error| cannot("write", &self.draft, &error))
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
        let flushed = self
            .out
            .flush()
            .and_then(|()| self.out.get_ref().sync_all());
        flushed.map_err(|error| cannot("write", &self.draft, &error))?;
        fs::rename(&self.draft, &self.path).map_err(|error| cannot("write", &self.path, &error))
    }
}

/// For writers of formats, which speak of plain input and output errors.
impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
