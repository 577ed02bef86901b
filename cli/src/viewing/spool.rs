//! Records of an experiment that is being played, as a coordinator hands them out: kept in a temporary
//! file for as long as pages are served, and listed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;

use agon_proto::packed::unpack;
use agon_proto::v1::FetchRecordsResponse;
use agon_report::Session;
use agon_web::{Library, Place, RunKey};

use super::files::Files;
use crate::data_folder::cannot;
use crate::failure::Failure;
use crate::run_folder::{RECORDS, TELEMETRY, TEMPLATES};
use crate::templates;

/// See the module.
pub struct Spool {
    library: Arc<Library>,
    run: RunKey,
    file: u32,
    records: File,
    telemetry: File,
    end: u64,
    telemetry_end: u64,
    /// Positions that are here, a bit each.
    have: Vec<u8>,
    /// What the coordinator could not read, by position, and why. It is asked for again.
    missing: BTreeMap<u32, String>,
}

impl Spool {
    /// An empty one in a new folder below this one, beside the templates of its experiment.
    ///
    /// # Errors
    /// The folder or its files cannot be made.
    pub fn open(
        below: &Path,
        experiment: &str,
        place: &str,
        templates: &BTreeMap<String, String>,
        files: &Files,
        library: Arc<Library>,
    ) -> Result<Self, Failure> {
        let folder = below.join(files.all().len().to_string());
        let made = fs::create_dir(&folder);
        made.map_err(|error| cannot("create", &folder, &error))?;
        if !templates.is_empty() {
            let templates = templates.iter();
            let texts: Vec<_> = templates.map(|(name, text)| (&**name, &**text)).collect();
            templates::write_new(&folder.join(TEMPLATES), &texts)?;
        }
        let new = |name| {
            let path = folder.join(name);
            File::create_new(&path).map_err(|error| cannot("create", &path, &error))
        };
        let (records, telemetry) = (new(RECORDS)?, new(TELEMETRY)?);
        let run = library.index.write().add_run(experiment, place.to_owned());
        Ok(Self {
            run,
            library,
            file: files.add(folder.join(RECORDS)),
            records,
            telemetry,
            end: 0,
            telemetry_end: 0,
            have: Vec::new(),
            missing: BTreeMap::new(),
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

    /// Takes a result in, and says whether it is here now; one that cannot be read is noted.
    ///
    /// # Errors
    /// The files cannot be written; what was here stays.
    pub fn add(&mut self, result: Unpacked) -> io::Result<bool> {
        let position = result.position;
        let (session, record) = match result.read {
            Ok(read) => read,
            Err(Unread::Now(why)) => {
                self.missing.insert(position, why);
                return Ok(false);
            }
            Err(Unread::Ever(note)) => {
                self.library.index.write().note(self.run, note);
                self.has(position);
                return Ok(true);
            }
        };
        let telemetry = format!("{}\n", result.telemetry.trim_end());
        let written = self
            .records
            .write_all(format!("{record}\n").as_bytes())
            .and_then(|()| self.telemetry.write_all(telemetry.as_bytes()));
        if let Err(error) = written {
            // Half a line would move every later one from its place.
            self.cut()?;
            return Err(error);
        }
        let place = Place {
            file: self.file,
            offset: self.end,
        };
        self.end += record.len() as u64 + 1;
        self.telemetry_end += telemetry.len() as u64;
        self.library.index.write().add(self.run, &session, place);
        self.has(position);
        Ok(true)
    }

    /// Says in the list what is missing.
    pub fn tell_missing(&self) {
        let why = self.missing.values().next_back().cloned();
        let missing = why.map(|why| (self.missing.len(), why));
        self.library.index.write().set_missing(self.run, missing);
    }

    fn has(&mut self, position: u32) {
        let byte = position as usize / 8;
        if self.have.len() <= byte {
            self.have.resize(byte + 1, 0);
        }
        self.have[byte] |= 1 << (position % 8);
        self.missing.remove(&position);
    }

    fn cut(&mut self) -> io::Result<()> {
        for (file, end) in [
            (&mut self.records, self.end),
            (&mut self.telemetry, self.telemetry_end),
        ] {
            file.set_len(end)?;
            file.seek(SeekFrom::Start(end))?;
        }
        Ok(())
    }
}

/// Why a result is not here.
enum Unread {
    /// The coordinator could not read it, and may the next time.
    Now(String),
    /// What the coordinator has of it is no record.
    Ever(String),
}

/// A result that was unpacked and read, which takes processor time.
pub struct Unpacked {
    position: u32,
    /// What is listed of it, and its line.
    read: Result<(Session, String), Unread>,
    telemetry: String,
}

impl Unpacked {
    /// Reads a result.
    pub fn of(result: &FetchRecordsResponse) -> Self {
        let read = match result.fault.is_empty() {
            false => Err(Unread::Now(result.fault.clone())),
            true => read(&result.record).map_err(|fault| {
                let id = &result.session_id;
                Unread::Ever(format!("session {id} cannot be read: {fault}"))
            }),
        };
        Self {
            position: result.position,
            read,
            telemetry: unpack(&result.telemetry).unwrap_or_default(),
        }
    }
}

fn read(packed: &[u8]) -> Result<(Session, String), String> {
    let mut record = unpack(packed).ok_or("it is not packed text")?;
    record.truncate(record.trim_end().len());
    let session = Session::from_line(record.as_bytes()).map_err(|error| error.to_string())?;
    Ok((session, record))
}

#[cfg(test)]
mod tests {
    use agon_coordinator::experiment::{ExperimentFile, expand};
    use agon_engine::{Record, session};
    use agon_proto::packed::pack;

    use super::*;
    use crate::viewing::library_of;

    const GUESSES: &str = "name = 'x'\n[players.anybody]\nkind = 'rule'\nstrategy = 'random'\n\
                           [[games]]\ngame = 'guess_two_thirds'\nparams = { rounds = 1 }\n\
                           seats = [{ player = 'anybody', count = 2 }]\n";

    /// A record, as a line.
    fn line(repeat: u32) -> String {
        let document = ExperimentFile::parse("x.toml", GUESSES).unwrap().check();
        let document = document.unwrap();
        let cell = expand(&document).unwrap().cell(0).unwrap();
        let spec = cell.session(repeat, 0);
        let play = session::open(&spec).unwrap();
        let record = Record::new(spec, play, Vec::new(), Vec::new());
        record.to_line().unwrap()
    }

    fn result(position: u32, fault: &str) -> Unpacked {
        Unpacked::of(&FetchRecordsResponse {
            position,
            record: pack(&line(position)),
            telemetry: pack("{}"),
            fault: fault.to_owned(),
            ..FetchRecordsResponse::default()
        })
    }

    #[test]
    fn record_that_cannot_be_had_is_missing_until_it_can() {
        let folder = tempfile::tempdir().unwrap();
        let files = Arc::new(Files::default());
        let library = library_of(&files);
        let templates = BTreeMap::from([("shared/answer.j2".to_owned(), "Answer.".to_owned())]);
        let here = "a coordinator";
        let spool = Spool::open(
            folder.path(),
            "x",
            here,
            &templates,
            &files,
            Arc::clone(&library),
        );
        let mut spool = spool.unwrap();
        let written = folder
            .path()
            .join("0")
            .join(TEMPLATES)
            .join("shared/answer.j2");
        assert_eq!(fs::read_to_string(written).unwrap(), "Answer.");

        assert!(spool.add(result(0, "")).unwrap());
        assert!(!spool.add(result(1, "the archive is away")).unwrap());
        spool.tell_missing();
        let notes = || library.index.read().run("x").unwrap().notes;
        let missing = "missing here: 1 of its sessions, which cannot be fetched for now (the archive \
                       is away)";
        assert_eq!((spool.count(), notes()), (1, vec![missing.to_owned()]));
        assert_eq!(library.index.read().notes_of_runs(|_| true).len(), 1);

        assert!(spool.add(result(1, "")).unwrap());
        spool.tell_missing();
        assert_eq!((spool.count(), notes()), (2, Vec::new()));
    }
}
