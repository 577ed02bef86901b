//! What the sessions of the submitted experiments are: made from document and position whenever they
//! are needed, and kept nowhere. Shared by the owner, the workers' streams and the command line's
//! service.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use agon_identity::holder::OF_TEAM;
use agon_proto::capabilities;
use agon_proto::v1::ExperimentSubmitted;
use parking_lot::Mutex;

use crate::experiment::{Cell, Expansion, ExperimentDocument};
use crate::queue::sessions::Shape;
use crate::queue::{CELL_KEY, grid_of, shape_of};

/// Cells that were used last: neighbours in a grid are granted together.
const RECENT: usize = 16;

/// A session, as it is told to workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownSession {
    /// Its id.
    pub id: String,
    /// Its spec as JSON.
    pub spec: String,
}

/// The id under which the gateway keeps a session's decisions: the session's, or, where experiments are
/// kept by team, one of the team's own. Two teams may play the same session, and neither is answered
/// with what the other has paid for.
pub fn ledger_session(submitted: &ExperimentSubmitted, session_id: &str) -> String {
    match submitted.name.split_once(OF_TEAM) {
        Some((_, team)) => format!("{team}/{session_id}"),
        None => session_id.to_owned(),
    }
}

/// An experiment whose sessions can be made.
pub struct KnownExperiment {
    /// As last submitted.
    pub submitted: ExperimentSubmitted,
    /// The name of its grid.
    pub grid: u64,
    shape: Shape,
    /// Versions of the rules under which it was submitted, by game.
    rules: BTreeMap<String, u32>,
    expansion: Expansion<Arc<ExperimentDocument>>,
    recent: Mutex<VecDeque<(u32, Arc<Cell>)>>,
}

impl KnownExperiment {
    /// Of a document that was checked when it was submitted.
    pub fn new(submitted: ExperimentSubmitted, document: Arc<ExperimentDocument>) -> Self {
        let shape = shape_of(&submitted);
        Self {
            expansion: Expansion::unchecked(document, u64::from(shape.cells)),
            recent: Mutex::new(VecDeque::new()),
            shape,
            grid: grid_of(&submitted),
            rules: rules_of(&submitted),
            submitted,
        }
    }

    /// The document.
    pub fn document(&self) -> &ExperimentDocument {
        self.expansion.document()
    }

    /// The session at a position; `None` when this program makes none there.
    pub fn session(&self, position: u32) -> Option<KnownSession> {
        let (cell, repeat, place) = self.shape.parts(position);
        let spec = self.cell(cell)?.session(repeat, place);
        let (id, spec) = spec.identified();
        Some(KnownSession {
            id: id.to_string(),
            spec,
        })
    }

    /// Whether it stands behind another in its series.
    pub fn follows(&self, position: u32) -> bool {
        self.shape.parts(position).2 > 0
    }

    /// Whether this program makes the same sessions of the document as the one that took it in. The
    /// first and the last cell of each thousand stand for all: versions are the same for a game.
    pub fn is_current(&self) -> bool {
        let step = (self.shape.cells / 1000).max(1) as usize;
        let last = self.shape.cells.checked_sub(1);
        let cells = (0..self.shape.cells).step_by(step).chain(last);
        cells.into_iter().all(|cell| {
            let first = cell as usize * CELL_KEY;
            let stored = self.submitted.cells.get(first..first + CELL_KEY);
            let found = self.cell(cell).map(|found| cell_key(&found));
            stored.is_some() && stored == found.as_ref().map(|key| &key[..])
        })
    }

    fn cell(&self, number: u32) -> Option<Arc<Cell>> {
        let find = |recent: &VecDeque<(u32, Arc<Cell>)>| {
            let found = recent.iter().find(|(known, _)| *known == number);
            found.map(|(_, cell)| Arc::clone(cell))
        };
        if let Some(cell) = find(&self.recent.lock()) {
            return Some(cell);
        }
        let mut cell = self.expansion.cell(u64::from(number))?;
        // Workers of the version that it was submitted to may still be there.
        if let Some(rules) = self.rules.get(&cell.spec.game) {
            cell.spec.rules_version = *rules;
        }
        let cell = Arc::new(cell);
        let mut recent = self.recent.lock();
        if recent.len() == RECENT {
            recent.pop_front();
        }
        recent.push_back((number, Arc::clone(&cell)));
        Some(cell)
    }
}

/// Versions of rules among the requirements of a submission, by game.
fn rules_of(submitted: &ExperimentSubmitted) -> BTreeMap<String, u32> {
    let required = submitted.requirements.iter();
    let rules = required.filter_map(|one| {
        let game = capabilities::game_of(&one.name)?;
        Some((game.to_owned(), one.version.parse().ok()?))
    });
    rules.collect()
}

/// A cell's key: the bytes of the id of its first session.
pub fn cell_key(cell: &Cell) -> [u8; CELL_KEY] {
    let id = cell.session(0, 0).id();
    let mut key = [0; CELL_KEY];
    for (byte, digits) in key.iter_mut().zip(id.as_str().as_bytes().chunks_exact(2)) {
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        // Ids are hexadecimal.
        *byte = u8::from_str_radix(digits, 16).unwrap_or_default();
    }
    key
}

/// Experiments by number. Cheap to clone.
#[derive(Clone, Default)]
pub struct Specs {
    known: Arc<Mutex<BTreeMap<u32, Arc<KnownExperiment>>>>,
}

impl Specs {
    /// Puts an experiment in place of what was known of it.
    pub fn put(&self, experiment: KnownExperiment) {
        let key = experiment.submitted.experiment;
        self.known.lock().insert(key, Arc::new(experiment));
    }

    /// Forgets one.
    pub fn remove(&self, key: u32) {
        self.known.lock().remove(&key);
    }

    /// What is known of an experiment.
    pub fn get(&self, key: u32) -> Option<Arc<KnownExperiment>> {
        self.known.lock().get(&key).cloned()
    }
}
