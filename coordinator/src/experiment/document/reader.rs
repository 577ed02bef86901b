//! Reads a document from its tree, with everything that is wrong with it. Knows the file's form:
//! parameters, seats and strategies are checked cell by cell in `experiment/cell.rs`. Called by
//! `ExperimentDocument::read`.

use std::collections::BTreeMap;

use agon_engine::names::among;
use agon_engine::spec::Settings;
use agon_service_kit::team_name::TeamName;
use serde_json::{Map, Value};

use super::names::{LONGEST_NAME, is_experiment_name, is_player_name, parameter_owner};
use super::{
    COMPARISONS, ExperimentDocument, GameDefinition, ReportDefinition, SeriesDefinition, added,
    default_team,
};
use crate::experiment::budget::nanodollars;
use crate::experiment::faults::Faults;
use crate::experiment::grid_path;
use crate::experiment::limits::{MOST_REPEATS, MOST_SEED};
use crate::experiment::path::TreePath;
use crate::experiment::values::{by_value, kind_of, to_settings};
use crate::experiment::world::{self, World};

/// Longest series: its sessions wait for each other, so a longer one would take weeks.
const MOST_LENGTH: u64 = 1_000;

/// Farthest from 0 that a priority may be; the queue in Redis has room for so many steps.
const MOST_PRIORITY: i32 = 100;

/// The keys of the file.
const KEYS: [&str; 17] = [
    "name",
    "description",
    "seed",
    "repeats",
    "series",
    "team",
    "priority",
    "budget_dollars",
    "content_cache",
    "players",
    "model",
    "games",
    "grid",
    "rows",
    "report",
    "templates",
    "worlds",
];
const GAME_KEYS: [&str; 7] = ["game", "label", "params", "seats", "world", "grid", "rows"];

/// See [`ExperimentDocument::read`].
pub fn read(tree: &Value) -> Result<ExperimentDocument, Faults> {
    let mut reader = Reader {
        faults: Faults::default(),
    };
    let document = reader.document(tree);
    reader.faults.or(document)
}

struct Reader {
    faults: Faults,
}

impl Reader {
    fn document(&mut self, tree: &Value) -> ExperimentDocument {
        let root = TreePath::root();
        let empty = Map::new();
        let table = self.table(tree, &root).unwrap_or(&empty);
        self.known_keys(table, &root, |key| {
            let known = KEYS.contains(&key) || added::KEYS.contains(&key);
            (!known).then(|| format!("unknown key{}", among(key, KEYS)))
        });
        let name = self.name(table, &root, "name");
        if name.is_none() && !table.contains_key("name") {
            self.faults
                .key(&root, "needs a name, as name = \"my-experiment\"");
        }
        let players = self.players(table.get("players"), &root.key("players"));
        let added = added::read(table, &mut self.faults);
        ExperimentDocument {
            name: name.unwrap_or_default(),
            description: self.text(table, &root, "description").unwrap_or_default(),
            seed: self.number(table, &root, "seed", 0, MOST_SEED).unwrap_or(1),
            // MOST_REPEATS fits.
            repeats: self
                .number(table, &root, "repeats", 1, MOST_REPEATS.into())
                .unwrap_or(1) as u32,
            series: self.series(table.get("series"), &root.key("series")),
            team: self.team(table, &root).unwrap_or_else(default_team),
            priority: self.priority(table, &root),
            budget_dollars: self.budget(table, &root),
            content_cache: self.switch(table, &root, "content_cache"),
            players,
            model: self.model(table.get("model"), &root.key("model")),
            games: self.games(table.get("games"), &root.key("games")),
            grid: self.grid(table.get("grid"), &root.key("grid")),
            rows: self.rows(table.get("rows"), &root.key("rows")),
            report: self.report(table.get("report"), &root.key("report")),
            worlds: self.worlds(table.get("worlds"), &root.key("worlds")),
            templates: self.text(table, &root, "templates"),
            prompts: added.prompts,
            outside: added.outside,
            prompt_bundle: added.prompt_bundle,
            origins: BTreeMap::new(),
        }
    }

    fn players(&mut self, value: Option<&Value>, at: &TreePath) -> BTreeMap<String, Settings> {
        const EXAMPLE: &str = "[players.subject] with kind = \"rule\" and a strategy";
        let Some(value) = value else {
            self.faults.key(
                &TreePath::root(),
                format!("needs at least one player, as {EXAMPLE}"),
            );
            return BTreeMap::new();
        };
        let mut players = BTreeMap::new();
        let Some(table) = self.table(value, at) else {
            return players;
        };
        if table.is_empty() {
            self.faults
                .key(at, format!("needs at least one player, as {EXAMPLE}"));
        }
        for (name, player) in table {
            let inside = at.key(name.as_str());
            if !is_player_name(name) {
                let message =
                    "a player's name starts with a letter and has letters, digits, - and _";
                self.faults.key(&inside, message);
            }
            if let Some(settings) = self.table(player, &inside) {
                players.insert(name.clone(), to_settings(settings));
            }
        }
        players
    }

    fn model(&mut self, value: Option<&Value>, at: &TreePath) -> Settings {
        let Some(table) = value.and_then(|value| self.table(value, at)) else {
            return Settings::new();
        };
        if table.contains_key("kind") {
            let message = "belongs to a player; here are settings of all model players";
            self.faults.key(&at.key("kind"), message);
        }
        to_settings(table)
    }

    fn games(&mut self, value: Option<&Value>, at: &TreePath) -> Vec<GameDefinition> {
        const EXAMPLE: &str = "[[games]] with game = \"guess_two_thirds\"";
        let list = match value {
            None => {
                self.faults.key(
                    &TreePath::root(),
                    format!("needs at least one game, as {EXAMPLE}"),
                );
                return Vec::new();
            }
            Some(Value::Array(list)) => list,
            Some(other) => {
                let message = format!(
                    "must be a list of tables, as {EXAMPLE}, not {}",
                    kind_of(other)
                );
                self.faults.value(at, message);
                return Vec::new();
            }
        };
        if list.is_empty() {
            self.faults
                .value(at, format!("needs at least one game, as {EXAMPLE}"));
        }
        let entries = list.iter().enumerate();
        let games: Vec<GameDefinition> = entries
            .map(|(index, entry)| self.game(entry, &at.index(index)))
            .collect();
        self.labels(&games, at);
        games
    }

    fn game(&mut self, value: &Value, at: &TreePath) -> GameDefinition {
        let Some(table) = self.table(value, at) else {
            return GameDefinition::default();
        };
        self.known_keys(table, at, |key| {
            let message = || match parameter_owner(table, key) {
                Some(game) => {
                    format!("unknown key; game parameters stand under params, and {game} has params.{key}")
                }
                None => format!("unknown key{}", among(key, GAME_KEYS)),
            };
            (!GAME_KEYS.contains(&key)).then(message)
        });
        let params = table
            .get("params")
            .and_then(|params| self.table(params, &at.key("params")));
        GameDefinition {
            game: self.text(table, at, "game"),
            label: self.name(table, at, "label"),
            params: params.map(to_settings).unwrap_or_default(),
            seats: table.get("seats").cloned(),
            world: table.get("world").cloned(),
            grid: self.grid(table.get("grid"), &at.key("grid")),
            rows: self.rows(table.get("rows"), &at.key("rows")),
        }
    }

    fn labels(&mut self, games: &[GameDefinition], at: &TreePath) {
        let mut seen = BTreeMap::new();
        for (index, game) in games.iter().enumerate() {
            let Some(label) = &game.label else { continue };
            if let Some(first) = seen.insert((label, &game.game), index) {
                let place = at.index(index).key("label");
                let message = format!(
                    "the label \"{label}\" is that of games[{first}] too; labels must differ"
                );
                self.faults.value(&place, message);
            }
        }
    }

    fn grid(&mut self, value: Option<&Value>, at: &TreePath) -> BTreeMap<String, Vec<Value>> {
        let mut axes = BTreeMap::new();
        let Some(table) = value.and_then(|value| self.table(value, at)) else {
            return axes;
        };
        if table.is_empty() {
            let message = "the grid is empty; give it an axis, as \"params.rounds\" = [10, 20]";
            self.faults.key(at, message);
        }
        for (path, values) in table {
            let inside = at.key(path.as_str());
            if let Err(message) = grid_path::check(path) {
                self.faults.key(&inside, message);
            }
            match values {
                Value::Array(values) if values.is_empty() => {
                    self.faults
                        .value(&inside, "has no values; an axis needs at least one");
                }
                Value::Array(values) => {
                    self.repeated(values, &inside);
                    axes.insert(path.clone(), values.clone());
                }
                other => {
                    let message = format!("must be a list of values, not {}", kind_of(other));
                    self.faults.value(&inside, message);
                }
            }
        }
        axes
    }

    fn repeated(&mut self, values: &[Value], at: &TreePath) {
        let mut seen = BTreeMap::new();
        for (index, value) in values.iter().enumerate() {
            if let Some(first) = seen.insert(by_value(value).to_string(), index) {
                let message =
                    format!("is the same value as entry {first}; every value stands once");
                self.faults.value(&at.index(index), message);
            }
        }
    }

    fn rows(&mut self, value: Option<&Value>, at: &TreePath) -> Vec<Settings> {
        const EXAMPLE: &str = "rows = [{ \"params.min\" = 0, \"params.max\" = 200 }]";
        let list = match value {
            None => return Vec::new(),
            Some(Value::Array(list)) => list,
            Some(other) => {
                let message = format!(
                    "must be a list of tables, as {EXAMPLE}, not {}",
                    kind_of(other)
                );
                self.faults.value(at, message);
                return Vec::new();
            }
        };
        if list.is_empty() {
            self.faults
                .value(at, format!("has no rows; write at least one, as {EXAMPLE}"));
        }
        let mut rows = Vec::with_capacity(list.len());
        for (index, row) in list.iter().enumerate() {
            let at = at.index(index);
            let Some(table) = self.table(row, &at) else {
                continue;
            };
            for path in table.keys() {
                if let Err(message) = grid_path::check(path) {
                    self.faults.key(&at.key(path.as_str()), message);
                }
            }
            rows.push(to_settings(table));
        }
        self.repeated(list, at);
        rows
    }

    fn worlds(&mut self, value: Option<&Value>, at: &TreePath) -> BTreeMap<String, World> {
        let table = value.and_then(|value| self.table(value, at));
        let mut worlds = BTreeMap::new();
        for (name, value) in table.into_iter().flatten() {
            let world = world::read(value, &at.key(name.as_str()), &mut self.faults);
            worlds.insert(name.clone(), world);
        }
        worlds
    }

    fn series(&mut self, value: Option<&Value>, at: &TreePath) -> Option<SeriesDefinition> {
        let table = self.table(value?, at)?;
        self.known_keys(table, at, |key| {
            (key != "length").then(|| format!("unknown key{}", among(key, ["length"])))
        });
        if !table.contains_key("length") {
            let message = "needs a length, how many sessions follow each other, as length = 10";
            self.faults.key(at, message);
        }
        // MOST_LENGTH fits.
        let length = self.number(table, at, "length", 1, MOST_LENGTH)? as u32;
        Some(SeriesDefinition { length })
    }

    fn report(&mut self, value: Option<&Value>, at: &TreePath) -> ReportDefinition {
        let Some(table) = value.and_then(|value| self.table(value, at)) else {
            return ReportDefinition::default();
        };
        self.known_keys(table, at, |key| {
            (key != "compare").then(|| format!("unknown key{}", among(key, ["compare"])))
        });
        let compare = self.text(table, at, "compare");
        if let Some(name) = &compare
            && !COMPARISONS.contains(&name.as_str())
        {
            let message = format!("no published table \"{name}\"{}", among(name, COMPARISONS));
            self.faults.value(&at.key("compare"), message);
        }
        ReportDefinition { compare }
    }

    fn known_keys(
        &mut self,
        table: &Map<String, Value>,
        at: &TreePath,
        fault: impl Fn(&str) -> Option<String>,
    ) {
        for key in table.keys() {
            if self.faults.is_full() {
                return;
            }
            if let Some(message) = fault(key) {
                self.faults.key(&at.key(key.as_str()), message);
            }
        }
    }

    fn table<'tree>(
        &mut self,
        value: &'tree Value,
        at: &TreePath,
    ) -> Option<&'tree Map<String, Value>> {
        let table = value.as_object();
        if table.is_none() {
            self.faults
                .value(at, format!("must be a table, not {}", kind_of(value)));
        }
        table
    }

    fn text(&mut self, table: &Map<String, Value>, at: &TreePath, key: &str) -> Option<String> {
        let value = table.get(key)?;
        let text = value.as_str().map(str::to_owned);
        if text.is_none() {
            self.faults.value(
                &at.key(key),
                format!("must be text in quotes, not {}", kind_of(value)),
            );
        }
        text
    }

    fn name(&mut self, table: &Map<String, Value>, at: &TreePath, key: &str) -> Option<String> {
        let name = self.text(table, at, key)?;
        // Labels may hold version numbers, too.
        let without_dots = name.replace('.', "");
        let checked = if key == "label" { &without_dots } else { &name };
        if is_experiment_name(checked) && name.len() <= LONGEST_NAME {
            return Some(name);
        }
        let message = format!("must be 1 to {LONGEST_NAME} letters, digits, - and _");
        self.faults.value(&at.key(key), message);
        None
    }

    fn team(&mut self, table: &Map<String, Value>, at: &TreePath) -> Option<String> {
        let name = self.text(table, at, "team")?;
        match TeamName::read(name) {
            Ok(name) => Some(name.into_string()),
            Err(error) => {
                self.faults.value(&at.key("team"), error.to_string());
                None
            }
        }
    }

    fn priority(&mut self, table: &Map<String, Value>, at: &TreePath) -> i32 {
        let Some(value) = table.get("priority") else {
            return 0;
        };
        let range = -MOST_PRIORITY..=MOST_PRIORITY;
        let given = value
            .as_i64()
            .and_then(|number| i32::try_from(number).ok())
            .filter(|number| range.contains(number));
        if given.is_none() {
            let message = format!(
                "must be a whole number from -{MOST_PRIORITY} to {MOST_PRIORITY}; higher goes \
                 first, 0 is usual"
            );
            self.faults.value(&at.key("priority"), message);
        }
        given.unwrap_or_default()
    }

    fn budget(&mut self, table: &Map<String, Value>, at: &TreePath) -> Option<String> {
        let given = match table.get("budget_dollars")? {
            Value::String(text) => text.clone(),
            // The shortest text of a number, which is how it was written.
            other => other.to_string(),
        };
        let text = Some(given).filter(|text| nanodollars(text).is_some());
        if text.is_none() {
            let message = "must be dollars, as \"25.00\" (at most nine decimals)";
            self.faults.value(&at.key("budget_dollars"), message);
        }
        text
    }

    fn switch(&mut self, table: &Map<String, Value>, at: &TreePath, key: &str) -> bool {
        let Some(value) = table.get(key) else {
            return false;
        };
        let given = value.as_bool();
        if given.is_none() {
            let message = format!("must be true or false, not {}", kind_of(value));
            self.faults.value(&at.key(key), message);
        }
        given.unwrap_or_default()
    }

    fn number(
        &mut self,
        table: &Map<String, Value>,
        at: &TreePath,
        key: &str,
        low: u64,
        high: u64,
    ) -> Option<u64> {
        let value = table.get(key)?;
        let number = value
            .as_u64()
            .filter(|number| (low..=high).contains(number));
        if number.is_none() {
            let given = if value.is_number() {
                value.to_string()
            } else {
                kind_of(value).to_owned()
            };
            let message = format!("must be a whole number from {low} to {high}, not {given}");
            self.faults.value(&at.key(key), message);
        }
        number
    }
}
