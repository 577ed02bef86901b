//! Records of an experiment that is being played, as a coordinator hands them out: kept in a temporary
//! file for as long as pages are served, and listed.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use agon_proto::packed::unpack;
use agon_proto::v1::FetchRecordsResponse;
use agon_report::Session;
use agon_web::{Library, Place, RunKey};

use super::files::Files;
use crate::run_folder::{RECORDS, TELEMETRY};

/// See the module.
pub struct Spool {
    library: Arc<Library>,
    run: RunKey,
    file: u32,
    records: File,
    telemetry: File,
    end: u64,
    /// Positions that are here, a bit each.
    have: Vec<u8>,
}

impl Spool {
    /// An empty one in a new folder below this one.
    ///
    /// # Errors
    /// The folder or its files cannot be made.
    pub fn open(
        below: &Path,
        experiment: &str,
        place: String,
        files: &Files,
        library: Arc<Library>,
    ) -> io::Result<Self> {
        let run = library.index.write().add_run(experiment, place);
        let folder = below.join(files.all().len().to_string());
        fs::create_dir(&folder)?;
        let path = folder.join(RECORDS);
        let records = File::create_new(&path)?;
        let telemetry = File::create_new(folder.join(TELEMETRY))?;
        Ok(Self {
            library,
            run,
            file: files.add(path),
            records,
            telemetry,
            end: 0,
            have: Vec::new(),
        })
    }

    /// Its run in the list.
    pub fn run(&self) -> RunKey {
        self.run
    }

    /// Positions that are here, a bit each.
    pub fn have(&self) -> &[u8] {
        &self.have
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        let ones = self.have.iter().map(|byte| u64::from(byte.count_ones()));
        ones.sum()
    }

    /// Takes a result in; one that cannot be read is noted.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn add(&mut self, result: Unpacked) -> io::Result<()> {
        // One that cannot be read is not asked for again either.
        let byte = result.position as usize / 8;
        if self.have.len() <= byte {
            self.have.resize(byte + 1, 0);
        }
        self.have[byte] |= 1 << (result.position % 8);
        let (session, mut record) = match result.read {
            Ok(read) => read,
            Err(note) => {
                self.library.index.write().note(self.run, note);
                return Ok(());
            }
        };
        record.push('\n');
        self.records.write_all(record.as_bytes())?;
        self.telemetry
            .write_all(format!("{}\n", result.telemetry.trim_end()).as_bytes())?;
        let place = Place {
            file: self.file,
            offset: self.end,
        };
        self.end += record.len() as u64;
        self.library.index.write().add(self.run, &session, place);
        Ok(())
    }
}

/// A result that was unpacked and read, which takes processor time.
pub struct Unpacked {
    position: u32,
    /// What is listed of it, and its line; or why it cannot be read.
    read: Result<(Session, String), String>,
    telemetry: String,
}

impl Unpacked {
    /// Reads a result.
    pub fn of(result: &FetchRecordsResponse) -> Self {
        let record = match result.fault.is_empty() {
            true => unpack(&result.record).ok_or_else(|| "it is not packed text".to_owned()),
            false => Err(result.fault.clone()),
        };
        let read = record.and_then(|mut record| {
            record.truncate(record.trim_end().len());
            let session = Session::from_line(record.as_bytes());
            Ok((session.map_err(|error| error.to_string())?, record))
        });
        let unreadable = |fault| format!("session {} cannot be read: {fault}", result.session_id);
        Self {
            position: result.position,
            read: read.map_err(unreadable),
            telemetry: unpack(&result.telemetry).unwrap_or_default(),
        }
    }
}
