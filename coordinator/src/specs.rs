//! What the sessions of the submitted experiments are: made from document and position whenever they
//! are needed, and kept nowhere. Shared by the owner, the workers' streams and the command line's
//! service.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use agon_engine::Luck;
use agon_engine::spec::{Repeats, SessionSpec};
use agon_identity::holder::OF_TEAM;
use agon_proto::capabilities;
use agon_proto::v1::ExperimentSubmitted;
use bytes::Bytes;
use parking_lot::Mutex;

use crate::experiment::{Cell, Expansion, ExperimentDocument};
use crate::queue::sessions::Shape;
use crate::queue::{CELL_KEY, LeaseId, grid_of, shape_of};

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

/// What is known of the spec of a session that was leased.
pub struct KnownSpec {
    written: Arc<Written>,
    luck: Luck,
}

impl KnownSpec {
    /// The spec, up to its luck, if this is how records have it. Sessions with items of their own, and
    /// specs as workers of another version write them, are not known.
    pub fn recorded_as(&self, text: &str) -> Option<&SessionSpec> {
        let repeats = self.written.repeats.as_ref()?;
        let is_same = repeats.is_recorded_as(self.luck, text);
        is_same.then(|| &self.written.cell.spec)
    }
}

/// A cell, and its sessions as they are written unless each of them has items of its own.
struct Written {
    cell: Cell,
    repeats: Option<Repeats>,
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

/// What the store holds of an experiment beside the journal, by name: kept here as well, for a store that
/// loses it.
#[derive(Debug, Clone, Default)]
pub struct Stored {
    /// The document.
    pub document: Option<(String, Bytes)>,
    /// The templates that it brought.
    pub templates: Option<(String, Bytes)>,
}

impl Stored {
    /// What was handed in again without its templates, which are in the store, has them from before.
    pub fn keep_templates(&mut self, before: &Self) {
        if self.templates.is_none() {
            self.templates.clone_from(&before.templates);
        }
    }

    /// All of it.
    pub fn blobs(&self) -> impl Iterator<Item = (String, Bytes)> {
        [&self.document, &self.templates]
            .into_iter()
            .flatten()
            .cloned()
    }
}

/// An experiment whose sessions can be made.
pub struct KnownExperiment {
    /// As last submitted.
    pub submitted: ExperimentSubmitted,
    /// What the store holds of it.
    pub stored: Stored,
    /// The name of its grid.
    pub grid: u64,
    shape: Shape,
    /// Versions of the rules under which it was submitted, by game.
    rules: BTreeMap<String, u32>,
    expansion: Expansion<Arc<ExperimentDocument>>,
    recent: Mutex<VecDeque<(u32, Arc<Written>)>>,
}

impl KnownExperiment {
    /// Of a document that was checked when it was submitted.
    pub fn new(
        submitted: ExperimentSubmitted,
        document: Arc<ExperimentDocument>,
        stored: Stored,
    ) -> Self {
        let shape = shape_of(&submitted);
        Self {
            expansion: Expansion::unchecked(document, u64::from(shape.cells)),
            recent: Mutex::new(VecDeque::new()),
            shape,
            grid: grid_of(&submitted),
            rules: rules_of(&submitted),
            submitted,
            stored,
        }
    }

    /// The document.
    pub fn document(&self) -> &ExperimentDocument {
        self.expansion.document()
    }

    /// The session at a position; `None` when this program makes none there.
    pub fn session(&self, position: u32) -> Option<KnownSession> {
        let (cell, repeat, place) = self.shape.parts(position);
        let written = self.cell(cell)?;
        let (id, spec) = match &written.repeats {
            Some(repeats) => repeats.identified(written.cell.luck(repeat, place)),
            None => written.cell.session(repeat, place).identified(),
        };
        Some(KnownSession {
            id: id.to_string(),
            spec,
        })
    }

    /// What the record of the session at a position is compared with. `None` if its cell has not been used
    /// lately: expanding it again would take longer than reading a short record.
    pub fn spec(&self, position: u32) -> Option<KnownSpec> {
        let (cell, repeat, place) = self.shape.parts(position);
        let written = self.recent(cell)?;
        Some(KnownSpec {
            luck: written.cell.luck(repeat, place),
            written,
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
            let found = self.cell(cell).map(|found| cell_key(&found.cell));
            stored.is_some() && stored == found.as_ref().map(|key| &key[..])
        })
    }

    fn recent(&self, number: u32) -> Option<Arc<Written>> {
        let recent = self.recent.lock();
        let found = recent.iter().find(|(known, _)| *known == number);
        found.map(|(_, cell)| Arc::clone(cell))
    }

    fn cell(&self, number: u32) -> Option<Arc<Written>> {
        if let Some(cell) = self.recent(number) {
            return Some(cell);
        }
        let mut cell = self.expansion.cell(u64::from(number))?;
        // Workers of the version that it was submitted to may still be there.
        if let Some(rules) = self.rules.get(&cell.spec.game) {
            cell.spec.rules_version = *rules;
        }
        let repeats = (!cell.is_redrawn()).then(|| Repeats::of(&cell.spec));
        let cell = Arc::new(Written { cell, repeats });
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

/// A cell's key: the bytes of the id of its first session. Where repeats draw items of their own, which that
/// one does not show, what they draw from counts as well.
pub fn cell_key(cell: &Cell) -> [u8; CELL_KEY] {
    let id = cell.session(0, 0).id();
    let mut key = [0; CELL_KEY];
    if let Some(source) = cell.drawn_from() {
        let mut hasher = blake3::Hasher::new();
        hasher.update(id.as_str().as_bytes()).update(source);
        key.copy_from_slice(&hasher.finalize().as_bytes()[..CELL_KEY]);
        return key;
    }
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

    /// What the record of a leased session is compared with. `None` if its experiment has another grid by
    /// now, and as in [`KnownExperiment::spec`].
    pub fn spec(&self, lease: LeaseId) -> Option<KnownSpec> {
        let known = self.get(lease.session.experiment)?;
        (known.grid == lease.grid).then(|| known.spec(lease.session.position))?
    }

    /// What the store holds of all experiments, by name.
    pub fn stored(&self) -> Vec<(String, Bytes)> {
        let known = self.known.lock();
        known.values().flat_map(|one| one.stored.blobs()).collect()
    }

    /// What is known of an experiment.
    pub fn get(&self, key: u32) -> Option<Arc<KnownExperiment>> {
        self.known.lock().get(&key).cloned()
    }
}

#[cfg(test)]
mod tests {
    use agon_proto::v1::SubmitExperimentRequest;

    use super::*;
    use crate::experiment::ExperimentFile;
    use crate::submission;

    fn known(games: &str) -> KnownExperiment {
        known_with(3, games)
    }

    fn known_with(repeats: u32, games: &str) -> KnownExperiment {
        let text = format!(
            "name = \"x\"\nseed = 7\nrepeats = {repeats}\nseries = {{ length = 2 }}\n\
             players.me = {{ kind = \"rule\", strategy = \"equilibrium\" }}\n\
             players.bidder = {{ kind = \"rule\", strategy = \"truthful\" }}\n{games}"
        );
        let file = ExperimentFile::parse("x.toml", &text).unwrap();
        let document = file.check().unwrap_or_else(|errors| panic!("{errors}"));
        let request = SubmitExperimentRequest {
            document: document.to_json().into(),
            ..Default::default()
        };
        let made = submission::prepare(request, Vec::new()).unwrap();
        KnownExperiment::new(made.submitted, made.document, Stored::default())
    }

    const GUESSING: &str = "[[games]]\ngame = \"guess_two_thirds\"\nseats = [\"me\", \"me\"]\n\
         grid.\"params.ratio\" = [0.4, 0.6]\n";

    /// Six houses, of which each repeat draws two.
    fn houses() -> String {
        let houses = (0..6).map(|house| {
            format!(
                "[[worlds.w.items]]\nname = \"{house}\"\nstarting_price = 1\ntrue_value = 2\n\
                 suits = [\"{}\"]\n",
                ["a", "b"][house % 2]
            )
        });
        let personas = ["a", "b"]
            .map(|name| format!("[[worlds.w.personas]]\nname = \"{name}\"\ntext = \"t\"\n"));
        let game = "[[games]]\ngame = \"english_auction\"\nseats = [\"bidder\", \"bidder\"]\n\
             world = { name = \"w\", items = 2, draw = \"per_repeat\", matched = 1, \
             personas = [[\"a\"], [\"b\"]] }\n";
        houses.chain(personas).chain([game.to_owned()]).collect()
    }

    /// Specs of all sessions, as they are told.
    fn specs(known: &KnownExperiment) -> Vec<SessionSpec> {
        let sessions = (0..).map_while(|position| known.session(position));
        let specs = sessions.map(|session| {
            let spec: SessionSpec = serde_json::from_str(&session.spec).unwrap();
            assert_eq!(spec.identified(), (session.id.into(), session.spec));
            spec
        });
        specs.collect()
    }

    #[test]
    fn every_session_is_told_with_its_own_luck_and_its_own_items() {
        let guessing = specs(&known(GUESSING));
        assert_eq!(guessing.len(), 12);
        let houses = specs(&known(&houses()));
        assert_eq!(houses.len(), 6);
        for specs in [guessing, houses] {
            for (at, spec) in specs.iter().enumerate() {
                assert_eq!(spec.luck, Luck::new(7, at as u32 / 2 % 3).at(at as u32 % 2));
            }
            let items: Vec<_> = specs.iter().map(|spec| spec.params.get("items")).collect();
            let is_redrawn = items[0].is_some();
            assert_eq!(items.iter().any(|drawn| *drawn != items[0]), is_redrawn);
        }
    }

    #[test]
    fn a_spec_is_known_at_its_own_position_in_the_words_of_its_record_and_nowhere_else() {
        let (known, unused) = (known(GUESSING), known(GUESSING));
        let specs = specs(&known);
        for (at, spec) in specs.iter().enumerate() {
            let text = serde_json::to_string(spec).unwrap();
            for position in 0..specs.len() {
                let leased = known.spec(position as u32).unwrap();
                let found = leased.recorded_as(&text).is_some();
                assert_eq!(found, position == at, "{text} at {position}");
            }
        }
        assert!(known.spec(specs.len() as u32).is_none());
        assert!(unused.spec(0).is_none());
    }

    #[test]
    fn a_world_that_changes_makes_another_grid_also_where_the_first_repeat_draws_the_same() {
        let grid = |games: &str| known(games).grid;
        let named = |houses: &str| (known(houses).session(0).unwrap().id, grid(houses));
        let first = houses();
        // Each repeat draws two of six: one that the first does not draw is worth more.
        let changed = (0..6).map(|house| {
            let item = format!("name = \"{house}\"\nstarting_price = 1\ntrue_value = 2");
            first.replace(&item, &item.replace("true_value = 2", "true_value = 3"))
        });
        let (id, own) = named(&first);
        let mut unseen = 0;
        for changed in changed {
            let (other, grid) = named(&changed);
            unseen += u32::from(other == id);
            assert_ne!(grid, own);
        }
        assert_eq!(unseen, 4);
        let more = known_with(4, &first);
        assert_eq!(
            more.submitted.cells,
            known(&first).submitted.cells,
            "more repeats are no other cells"
        );
    }

    #[test]
    fn what_is_drawn_anew_for_each_repeat_is_read() {
        let known = known(&houses());
        for (at, spec) in specs(&known).iter().enumerate() {
            let text = serde_json::to_string(spec).unwrap();
            let leased = known.spec(at as u32).unwrap();
            assert!(leased.recorded_as(&text).is_none());
        }
    }
}
