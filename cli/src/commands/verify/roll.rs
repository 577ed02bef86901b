//! Which sessions a run should hold, by the document in its folder, and whether those of a series
//! were handed what the one before left. Filled by `agon verify` record by record.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;

use agon_coordinator::experiment::limits::MOST_FILE_BYTES;
use agon_coordinator::experiment::{ExperimentDocument, expand};
use agon_engine::record::StoredRecord;
use agon_engine::{Carried, SessionSpec};
use agon_outlets::InLine as _;
use agon_report::grouped;
use agon_service_kit::files::read_whole;

use crate::failure::Failure;
use crate::run_folder::{DOCUMENT, history};

/// The sessions that a run should hold.
pub(super) struct Roll {
    /// Ids that have not been seen; `None` without a document.
    expected: Option<BTreeSet<String>>,
    seen: BTreeSet<String>,
    /// What the players of each session here take along into the next.
    left: BTreeMap<String, Taken>,
    /// What those of later sessions of a series were handed, and from which one.
    handed: Vec<(String, String, Taken)>,
    faults: Vec<String>,
}

/// What players took along, as its digest: the notes of all sessions may be long.
type Taken = [u8; 32];

fn taken(carried: &Carried) -> Taken {
    // Strings, numbers and maps of them always serialise.
    let text = serde_json::to_vec(carried).unwrap_or_default();
    *blake3::hash(&text).as_bytes()
}

/// What a roll needs to know of one record.
pub(super) struct Entry {
    session: String,
    /// The id that a document gives to the session: it does not know where models are.
    planned: String,
    /// What its players take along.
    left: Option<Taken>,
    /// From which session they were handed what.
    handed: Option<(String, Taken)>,
}

impl Entry {
    /// Of a record and its line.
    pub(super) fn of(stored: &StoredRecord, line: &str) -> Self {
        let left = Carried::from_record(line.as_bytes()).ok();
        let planned = SessionSpec {
            origins: BTreeMap::new(),
            ..stored.spec.clone()
        };
        let handed = stored.carried.as_ref();
        Self {
            session: stored.session.to_string(),
            planned: planned.id().to_string(),
            left: left
                .filter(|left| !left.notes.is_empty())
                .map(|left| taken(&left)),
            handed: handed.map(|from| (from.from.to_string(), taken(from))),
        }
    }
}

impl Roll {
    /// By the document beside a file of records, if there is one.
    pub(super) fn read(records: &Path) -> Result<Self, Failure> {
        let path = history::beside(records, DOCUMENT);
        let expected = match read_whole(&path, MOST_FILE_BYTES) {
            Err(error) if error.kind() == ErrorKind::FileTooLarge => {
                return Err(Failure::BadInput(format!("{}: {error}", path.in_line())));
            }
            Err(_) => None,
            Ok(bytes) => {
                let wrong = |faults| Failure::BadInput(format!("{}: {faults}", path.in_line()));
                let document = ExperimentDocument::from_json(&bytes).map_err(wrong)?;
                let sessions = expand(&document).map_err(wrong)?.into_sessions();
                let ids = sessions.map(|session| session.spec.id().to_string());
                Some(ids.collect())
            }
        };
        Ok(Self {
            expected,
            seen: BTreeSet::new(),
            left: BTreeMap::new(),
            handed: Vec::new(),
            faults: Vec::new(),
        })
    }

    /// How many sessions there should be, if that is known.
    pub(super) fn sessions(&self) -> Option<u64> {
        self.expected.as_ref().map(|ids| ids.len() as u64)
    }

    /// Notes a record; one that stands twice, or is of no session of the experiment, is a fault.
    pub(super) fn call(&mut self, entry: Entry) {
        let session = entry.session;
        let handed = entry.handed.into_iter();
        let handed = handed.map(|(from, what)| (session.clone(), from, what));
        self.handed.extend(handed);
        if let Some(left) = entry.left {
            self.left.insert(session.clone(), left);
        }
        if !self.seen.insert(session.clone()) {
            self.faults
                .push(format!("session {session} stands here twice"));
        } else if let Some(expected) = &mut self.expected
            && !expected.remove(&entry.planned)
        {
            self.faults
                .push(format!("session {session} is none of this experiment"));
        }
    }

    /// All faults, those of series among them, once every record was noted. Only sessions whose
    /// record is here are compared.
    pub(super) fn into_faults(mut self) -> Vec<String> {
        for (session, before, handed) in self.handed {
            let nothing = Carried {
                from: before.clone().into(),
                notes: Vec::new(),
            };
            let left = self.left.get(&before).copied();
            let left = left.unwrap_or_else(|| taken(&nothing));
            if self.seen.contains(&before) && left != handed {
                self.faults.push(format!(
                    "session {session} was handed something else than session {before} left"
                ));
            }
        }
        self.faults
    }

    /// Says how many sessions the run has no record of.
    pub(super) fn missing(&self) -> String {
        match self.expected.as_ref().map_or(0, BTreeSet::len) {
            0 => String::new(),
            1 => "; 1 more session of the experiment has no record here".to_owned(),
            missing => format!(
                "; {} more sessions of the experiment have no record here",
                grouped(missing as u64)
            ),
        }
    }
}
