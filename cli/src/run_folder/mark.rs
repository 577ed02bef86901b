//! The mark of a folder of results: says whose it is, which run its tables show, and what was
//! written into it, by content. A file that is not as it was written is somebody else's by now.
//! Read and written by `run_folder.rs`.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write as _};

use agon_service_kit::folder::{Folder, Kind};
use serde::{Deserialize, Serialize};

/// The file.
pub const MARK: &str = "agon-results.json";

/// The newest form of it that this program knows.
const FORMAT: u32 = 1;

/// See the module.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Mark {
    /// [`FORMAT`].
    pub format: u32,
    /// The experiment whose results these are.
    pub experiment: String,
    /// The run that the tables show; 0 before there is one.
    #[serde(default)]
    pub shown: u32,
    /// The largest number that a run has had; numbers are never given twice.
    #[serde(default)]
    pub last: u32,
    /// The run that is being put in the place of the shown one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publishing: Option<u32>,
    /// Digests of what the files beside this one hold, or may hold while a run is being
    /// published.
    #[serde(default)]
    pub files: BTreeMap<String, Vec<String>>,
}

/// A mark that is being written: `.agon-results.json.PID.part`.
const DRAFT: &str = ".agon-results.json.";
const PART: &str = ".part";

/// Whether a file is a mark that is being written, or that a killed run left behind.
pub fn is_draft(name: &str) -> bool {
    name.starts_with(DRAFT) && name.ends_with(PART)
}

/// What a folder says about itself.
pub enum Found {
    /// It has no mark.
    None,
    /// It is ours.
    Mark(Mark),
    /// It has one that cannot be read; says why.
    Unreadable(String),
}

impl Mark {
    /// The mark of a new folder.
    pub fn new(experiment: &str) -> Self {
        Self {
            format: FORMAT,
            experiment: experiment.to_owned(),
            ..Self::default()
        }
    }

    /// Reads the mark of a folder.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn read(folder: &Folder) -> io::Result<Found> {
        if folder.kind(MARK)? == Some(Kind::Link) {
            return Ok(Found::Unreadable("it is a symbolic link".to_owned()));
        }
        let Some(bytes) = folder.read(MARK)? else {
            return Ok(Found::None);
        };
        Ok(match serde_json::from_slice::<Self>(&bytes) {
            Ok(mark) if mark.format > FORMAT => {
                Found::Unreadable("a newer version of agon wrote it".to_owned())
            }
            Ok(mark) => Found::Mark(mark),
            Err(error) => Found::Unreadable(error.to_string()),
        })
    }

    /// Puts the mark in its place.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, folder: &Folder) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        let draft = format!("{DRAFT}{}{PART}", std::process::id());
        if folder.kind(&draft)? == Some(Kind::File) {
            // Left by a process that was killed and had our number.
            folder.remove_file(&draft)?;
        }
        let mut file = folder.new_file(&draft)?;
        let written = file
            .write_all(format!("{text}\n").as_bytes())
            .and_then(|()| file.sync_all())
            .and_then(|()| folder.rename(&draft, folder, MARK));
        if written.is_err() {
            // What is left of our own draft.
            let _ = folder.remove_file(&draft);
        }
        written
    }

    /// Whether what stands under a name is what was written there.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn wrote(&self, folder: &Folder, name: &str) -> io::Result<bool> {
        let Some(digests) = self.files.get(name) else {
            return Ok(false);
        };
        if folder.kind(name)? != Some(Kind::File) {
            return Ok(false);
        }
        let Some(file) = folder.reader(name)? else {
            return Ok(false);
        };
        Ok(digests.contains(&digest_of(file)?))
    }
}

/// Digest of bytes, as marks and accounts have it.
pub fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Digest of all that a reader gives.
///
/// # Errors
/// It cannot be read.
pub fn digest_of(mut reader: impl Read) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().to_hex().to_string()),
            Ok(read) => {
                hasher.update(&buffer[..read]);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
