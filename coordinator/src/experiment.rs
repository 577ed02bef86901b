//! Experiments: files, the documents made from them, their expansion into sessions, and plans.
//!
//! [`ExperimentFile`] is what the command line works with: it reads a file, takes changes from
//! flags, and checks everything, with the place of every fault. The coordinator sees only the
//! [`ExperimentDocument`] that comes out.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use agon_engine::outside_game::Description;
use agon_service_kit::config::ConfigError;
use agon_service_kit::files::read_whole;
use serde_json::Value;

mod budget;
mod cell;
mod document;
mod expand;
mod faults;
mod grid;
mod grid_path;
pub mod limits;
mod overrides;
mod path;
mod plan;
mod players;
mod source;
#[cfg(test)]
mod tests;
mod values;
mod world;

pub use cell::Cell;
pub use document::{
    COMPARISONS, DEFAULT_TEAM, ExperimentDocument, GameDefinition, PromptsOfPlayer,
    ReportDefinition, SeriesDefinition, Terms, is_experiment_name, is_kept_name, is_player_name,
};
pub use expand::{Cells, Expansion, PlannedSession, expand, expand_with};
pub use faults::{Fault, Faults};
pub use overrides::Overrides;
pub use path::{Step, TreePath};
pub use plan::{AgentPlan, Estimates, ModelPlan, Plan, Range, Table, Writes, plan, plan_left};

use source::{Places, Source};

/// An experiment file, read but not yet checked.
#[derive(Debug, Clone)]
pub struct ExperimentFile {
    file: String,
    text: String,
    source: Source,
    /// The worlds that were added from files of their own, by name, for the places of faults.
    worlds: BTreeMap<String, Self>,
}

/// Everything that is wrong with an experiment file, in the order of the file. Prints one fault
/// after the other, each with its place. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperimentErrors(pub Vec<ConfigError>);

impl ExperimentFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// It cannot be read, is not UTF-8, or is no TOML.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ExperimentErrors> {
        let path = path.as_ref();
        let file = path.to_string_lossy().into_owned();
        let unreadable = |message: String| {
            let path = String::new();
            ExperimentErrors(vec![ConfigError {
                file: file.clone(),
                place: None,
                path,
                message,
            }])
        };
        let read = read_whole(path, limits::MOST_FILE_BYTES);
        let bytes = read.map_err(|cause| unreadable(format!("cannot be read: {cause}")))?;
        Self::parse_bytes(&file, &bytes)
    }

    /// Reads a file's content; `file` stands for it in errors.
    ///
    /// # Errors
    /// It is not UTF-8 or no TOML.
    pub fn parse_bytes(file: &str, bytes: &[u8]) -> Result<Self, ExperimentErrors> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::parse(file, text),
            Err(fault) => {
                let start = fault.valid_up_to();
                let readable = String::from_utf8_lossy(bytes);
                let message = "is not UTF-8 text here; save the file as UTF-8";
                let error = ConfigError::new(file, &readable, Some(start..start + 1), "", message);
                Err(ExperimentErrors(vec![error]))
            }
        }
    }

    /// Reads a file's text; `file` stands for it in errors.
    ///
    /// # Errors
    /// It is no TOML.
    pub fn parse(file: &str, text: &str) -> Result<Self, ExperimentErrors> {
        let source = source::parse(file, text).map_err(ExperimentErrors)?;
        Ok(Self {
            file: file.to_owned(),
            text: text.to_owned(),
            source,
            worlds: BTreeMap::new(),
        })
    }

    /// Changes the experiment as the command line asks for.
    ///
    /// # Errors
    /// A flag names something that the experiment does not have.
    pub fn apply(&mut self, overrides: &Overrides) -> Result<(), ExperimentErrors> {
        let errors = overrides.apply(&mut self.source);
        if errors.is_empty() {
            Ok(())
        } else {
            Err(ExperimentErrors(errors))
        }
    }

    /// Names of the worlds that its games name and that it does not hold itself.
    pub fn missing_worlds(&self) -> std::collections::BTreeSet<String> {
        let held = self.source.tree.get("worlds").and_then(Value::as_object);
        let missing = world::named(&self.source.tree).into_iter();
        missing
            .filter(|name| held.is_none_or(|held| !held.contains_key(name)))
            .collect()
    }

    /// Adds the world of a name from the text of its file; `file` stands for that in errors.
    ///
    /// # Errors
    /// It is no TOML or no world; everything that is wrong with it.
    pub fn add_world(
        &mut self,
        name: &str,
        file: &str,
        text: &str,
    ) -> Result<(), ExperimentErrors> {
        let own = Self::parse(file, text)?;
        let mut faults = Faults::default();
        world::read(&own.source.tree, &TreePath::root(), &mut faults);
        if !faults.is_empty() {
            return Err(own.locate(&faults));
        }
        let at = TreePath::root().key("worlds").key(name);
        // Where worlds are no table, the check says so.
        let tree = own.source.tree.clone();
        if at.set(&mut self.source.tree, tree).is_ok() {
            self.worlds.insert(name.to_owned(), own);
        }
        Ok(())
    }

    /// Adds what games are that are played elsewhere.
    pub fn add_outside<'a>(&mut self, games: impl IntoIterator<Item = &'a Description>) {
        for game in games {
            let at = TreePath::root().key("outside").key(game.name.as_str());
            // A file is a table, so a key can be set, and a description is plain data.
            let told = serde_json::to_value(game).unwrap_or_default();
            let _ = at.set(&mut self.source.tree, told);
        }
    }

    /// A player of the file, as it stands there.
    pub fn player(&self, name: &str) -> Option<&Value> {
        self.source.tree.get("players")?.get(name)
    }

    /// The names of the file's players.
    pub fn players(&self) -> impl Iterator<Item = &str> {
        let players = self.source.tree.get("players").and_then(Value::as_object);
        players.into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// Adds a player.
    pub fn add_player(&mut self, name: &str, player: Value) {
        let at = TreePath::root().key("players").key(name);
        // Where players are no table, the check says so.
        let _ = at.set(&mut self.source.tree, player);
    }

    /// The file's entries under `games`, as they stand there.
    pub fn games(&self) -> &[Value] {
        let games = self.source.tree.get("games").and_then(Value::as_array);
        games.map_or(&[], Vec::as_slice)
    }

    /// Puts others in their place; `flag` is what made it so, for errors.
    pub fn replace_games(&mut self, games: Vec<Value>, flag: &str) {
        let at = TreePath::root().key("games");
        // A file is a table, so a key can be set.
        if at.set(&mut self.source.tree, Value::Array(games)).is_ok() {
            self.source.flags.set(at, flag);
        }
    }

    /// Checks everything: keys, types, names, and every cell of the grid against its game.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn check(&self) -> Result<ExperimentDocument, ExperimentErrors> {
        let document = self.read()?;
        expand(&document).map_err(|faults| self.locate(&faults))?;
        Ok(document)
    }

    /// Checks everything apart from the cells of the grid.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn read(&self) -> Result<ExperimentDocument, ExperimentErrors> {
        let read = ExperimentDocument::read(&self.source.tree);
        let read = read.and_then(|document| document.check_extent().map(|()| document));
        read.map_err(|faults| self.locate(&faults))
    }

    /// Gives faults their places in this file; for checks that are made elsewhere, such as those
    /// of agents' settings.
    pub fn locate(&self, faults: &Faults) -> ExperimentErrors {
        let places = Places::of(&self.text);
        let mut found: Vec<(usize, ConfigError)> = Vec::new();
        for fault in faults.iter() {
            let located = self.locate_one(fault, &places);
            // A flag sets a value in every game: what is wrong with it is said of the first.
            let said = |(_, error): &(usize, ConfigError)| {
                let (_, new) = &located;
                let of_game = |path: &str| path.split_once("].").map(|(_, key)| key.to_owned());
                error.place.is_none()
                    && error.file == new.file
                    && of_game(&new.path).is_some_and(|key| of_game(&error.path) == Some(key))
            };
            if !found.iter().any(said) {
                found.push(located);
            }
        }
        found.sort_by_key(|(offset, _)| *offset);
        ExperimentErrors(found.into_iter().map(|(_, error)| error).collect())
    }

    /// A fault inside a world that has a file of its own, as one of that file.
    fn in_world(&self, fault: &Fault) -> Option<(&Self, Fault)> {
        let worlds = TreePath::root().key("worlds");
        let (name, world) = self
            .worlds
            .iter()
            .find(|(name, _)| fault.at.after(&worlds.key(name.as_str())).is_some())?;
        let inside = fault.at.after(&worlds.key(name.as_str()))?;
        let at = TreePath::root().join(inside);
        let fault = Fault {
            at,
            ..fault.clone()
        };
        Some((world, fault))
    }

    fn locate_one(&self, fault: &Fault, places: &Places<'_>) -> (usize, ConfigError) {
        if let Some((world, fault)) = self.in_world(fault) {
            return world.locate_one(&fault, &Places::of(&world.text));
        }
        let path = faults::shortened(&fault.at.to_string());
        if let Some(flag) = self.source.flags.find(&fault.at) {
            let error = ConfigError {
                file: flag.to_owned(),
                place: None,
                path,
                message: fault.message.clone(),
            };
            return (0, error);
        }
        let place = places.find(&fault.at);
        // What is missing is best seen at the key of what it is missing from.
        let at_key = fault.about_key || place.path != fault.at;
        let span = if at_key && !place.key.is_empty() {
            place.key
        } else {
            place.value
        };
        let (start, message) = (span.start, fault.message.as_str());
        let error = ConfigError::new(&self.file, &self.text, Some(span), &path, message);
        (start, error)
    }
}

impl fmt::Display for ExperimentErrors {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, error) in self.0.iter().enumerate() {
            let separator = if number == 0 { "" } else { "\n" };
            write!(out, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ExperimentErrors {}
