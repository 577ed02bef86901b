//! One cell of the grid: its values put together, checked against the game, made into a spec.
//!
//! A fault is reported where the value comes from: at the entry of the grid when the grid set it,
//! else at the game's or player's own table.

use std::sync::Arc;

use agon_engine::registry::{self, Built, Registration};
use agon_engine::rule::StrategyError;
use agon_engine::spec::Settings;
use agon_engine::{Game, Luck, PlayerKind, PlayerSpec, SessionSpec};
use serde_json::{Map, Value, json};

use super::document::{ExperimentDocument, kind_of};
use super::faults::{Faults, among};
use super::grid::Assignment;
use super::path::{Step, TreePath};

/// Every game that takes its number of players from the seats calls the parameter so.
const PLAYERS: &str = "players";

/// Name of the setting that says which strategy a rule player follows.
const STRATEGY: &str = "strategy";

/// Name of the setting that says which model a model player is.
const MODEL: &str = "model";

const PLAYER_KINDS: [&str; 2] = ["rule", "model"];

/// A checked cell.
pub struct Cell {
    /// The spec of its first repeat.
    pub spec: SessionSpec,
    /// The game as it will be played.
    pub game: Arc<dyn Game>,
}

/// Checks one cell.
pub fn check(
    document: &ExperimentDocument,
    game: usize,
    assignments: &[&Assignment],
    faults: &mut Faults,
) -> Option<Cell> {
    let definition = &document.games[game];
    let mut tree = json!({
        "seed": document.seed,
        "params": definition.params,
        "players": document.players,
    });
    let own = [
        ("game", definition.game.clone().map(Value::String)),
        ("seats", definition.seats.clone()),
    ];
    for (key, value) in own {
        if let Some(value) = value {
            tree[key] = value;
        }
    }
    let mut checking = Checking {
        document,
        game,
        assignments,
        faults,
        sound: true,
    };
    checking.apply(&mut tree);
    checking.cell(&tree)
}

/// What a player's own settings must have, whatever the game.
///
/// # Errors
/// What is missing or wrong: the key it is about, and the message.
pub fn player_kind(
    settings: &Map<String, Value>,
) -> Result<PlayerKind, (Option<&'static str>, String)> {
    let kind = match settings.get("kind") {
        None => return Err((None, "needs a kind: \"rule\" or \"model\"".to_owned())),
        Some(Value::String(kind)) if kind == "rule" => PlayerKind::Rule,
        Some(Value::String(kind)) if kind == "model" => PlayerKind::Model,
        Some(Value::String(kind)) => {
            return Err((
                Some("kind"),
                format!("no kind \"{kind}\"{}", among(kind, PLAYER_KINDS)),
            ));
        }
        Some(other) => {
            let message = format!("must be \"rule\" or \"model\", not {}", kind_of(other));
            return Err((Some("kind"), message));
        }
    };
    let (key, example) = match kind {
        PlayerKind::Rule => (STRATEGY, "strategy = \"equilibrium\""),
        PlayerKind::Model => (MODEL, "model = \"gpt-4o\""),
    };
    match settings.get(key) {
        Some(Value::String(name)) if !name.is_empty() => Ok(kind),
        None => Err((
            None,
            format!("a player of this kind needs a {key}, as {example}"),
        )),
        Some(other) => {
            let given = if other == "" {
                "empty text"
            } else {
                kind_of(other)
            };
            Err((
                Some(key),
                format!("must be a name, as {example}, not {given}"),
            ))
        }
    }
}

struct Checking<'a> {
    document: &'a ExperimentDocument,
    game: usize,
    assignments: &'a [&'a Assignment],
    faults: &'a mut Faults,
    sound: bool,
}

impl Checking<'_> {
    fn apply(&mut self, tree: &mut Value) {
        for assignment in self.assignments {
            let Assignment {
                path,
                value,
                at,
                name,
            } = assignment;
            let unknown = match path.steps() {
                [Step::Key(root), Step::Key(player), ..] if root == "players" => {
                    let players = &self.document.players;
                    (!players.contains_key(player)).then(|| {
                        format!(
                            "no player \"{player}\"{}",
                            among(player, players.keys().map(String::as_str))
                        )
                    })
                }
                _ => None,
            };
            if let Some(message) = unknown.or_else(|| path.set(tree, value.clone()).err()) {
                // The path is at fault, the same in all cells: point at the key.
                let key = if at.steps().last() == Some(&Step::Key(name.clone())) {
                    Some(at.clone())
                } else {
                    at.parent()
                };
                self.faults.key(&key.unwrap_or_else(|| at.clone()), message);
                self.sound = false;
            }
        }
    }

    fn cell(&mut self, tree: &Value) -> Option<Cell> {
        let root = TreePath::root();
        let registration = self.registration(tree.get("game"))?;
        let defaults = (registration.build)(&Settings::new()).ok()?;
        let names = self.seats(tree, &defaults, registration);
        let players = names.as_ref().map(|names| self.players(tree, names));
        let built = self.build(tree, registration, &defaults, names.as_ref().map(Vec::len));
        let seats = players.flatten()?;
        let Some(built) = built else {
            self.strategy_names(registration, &seats);
            return None;
        };
        self.strategies(&*built.game, &seats);
        let Some(seed) = tree["seed"].as_u64() else {
            self.fault(
                &root.key("seed"),
                "must be a whole number, 0 or greater".to_owned(),
            );
            return None;
        };
        if !self.sound {
            return None;
        }
        let asks_outside = seats.iter().any(|player| player.kind == PlayerKind::Model);
        let document = self.document;
        let spec = SessionSpec {
            experiment: document.name.clone(),
            setting: self.setting(),
            luck: Luck { seed, repeat: 0 },
            game: registration.info.name.to_owned(),
            rules_version: registration.info.rules_version,
            params: built.params,
            seats,
            prompts_version: document.prompts_version.clone().filter(|_| asks_outside),
            prompt_bundle: document.prompt_bundle.clone().filter(|_| asks_outside),
        };
        Some(Cell {
            spec,
            game: built.game,
        })
    }

    fn setting(&self) -> Settings {
        let label = self.document.games[self.game].label.clone();
        let label = label.map(|label| ("label".to_owned(), Value::String(label)));
        let axes = self
            .assignments
            .iter()
            .map(|set| (set.name.clone(), set.value.clone()));
        label.into_iter().chain(axes).collect()
    }

    fn registration(&mut self, game: Option<&Value>) -> Option<&'static Registration> {
        let known = || registry::GAMES.iter().map(|game| game.info.name);
        let at = TreePath::root().key("game");
        match game {
            Some(Value::String(name)) => {
                let found = registry::find(name).ok();
                if found.is_none() {
                    self.fault(&at, format!("no game \"{name}\"{}", among(name, known())));
                }
                found
            }
            Some(other) => {
                self.fault(
                    &at,
                    format!("must be the name of a game, not {}", kind_of(other)),
                );
                None
            }
            None => {
                self.fault(&at, format!("needs a game{}", among("", known())));
                None
            }
        }
    }

    /// The player of every seat, by name.
    fn seats(
        &mut self,
        tree: &Value,
        defaults: &Built,
        registration: &Registration,
    ) -> Option<Vec<String>> {
        let at = TreePath::root().key("seats");
        let players = &self.document.players;
        let (fewest, most) = registration.info.seats;
        let Some(seats) = tree.get("seats") else {
            let mut names = players.keys();
            if let (Some(only), None) = (names.next(), names.next()) {
                return Some(vec![only.clone(); defaults.game.seats()]);
            }
            let known: Vec<&str> = players.keys().map(String::as_str).collect();
            let message = format!(
                "needs seats, as seats = [{{ player = \"{}\", count = {fewest} }}]; the players are {}",
                known.first().unwrap_or(&"subject"),
                known.join(", ")
            );
            self.fault(&at, message);
            return None;
        };
        let Value::Array(groups) = seats else {
            self.fault(
                &at,
                format!("must be a list of players, not {}", kind_of(seats)),
            );
            return None;
        };
        let mut counted = Vec::with_capacity(groups.len());
        let mut complete = true;
        for (index, group) in groups.iter().enumerate() {
            match self.seat_group(group, &at.index(index)) {
                Some(group) => counted.push(group),
                None => complete = false,
            }
        }
        if !complete {
            return None;
        }
        let total = counted
            .iter()
            .fold(0u64, |total, (_, count)| total.saturating_add(*count));
        if total < fewest as u64 || total > most as u64 {
            let range = if fewest == most {
                format!("{fewest}")
            } else {
                format!("{fewest} to {most}")
            };
            let game = registration.info.name;
            self.fault(&at, format!("{game} has {range} seats, here are {total}"));
            return None;
        }
        let names = counted
            .into_iter()
            .flat_map(|(name, count)| vec![name; count as usize]);
        Some(names.collect())
    }

    fn seat_group(&mut self, group: &Value, at: &TreePath) -> Option<(String, u64)> {
        let single;
        let table = match group {
            Value::String(_) => {
                single = Map::from_iter([("player".to_owned(), group.clone())]);
                &single
            }
            Value::Object(table) => table,
            other => {
                let message = format!(
                    "must be a player's name or {{ player, count }}, not {}",
                    kind_of(other)
                );
                self.fault(at, message);
                return None;
            }
        };
        let before = self.sound;
        for key in table
            .keys()
            .filter(|key| !["player", "count"].contains(&key.as_str()))
        {
            self.key_fault(
                &at.key(key.as_str()),
                format!("unknown key{}", among(key, ["player", "count"])),
            );
        }
        let inside = |key| {
            if group.is_string() {
                at.clone()
            } else {
                at.key(key)
            }
        };
        let count = table
            .get("count")
            .map_or(Some(1), Value::as_u64)
            .filter(|count| *count > 0);
        if count.is_none() {
            self.fault(
                &inside("count"),
                "must be a whole number, 1 or greater".to_owned(),
            );
        }
        let players = &self.document.players;
        let known = || players.keys().map(String::as_str);
        match table.get("player") {
            Some(Value::String(name)) if players.contains_key(name) => {
                return Some((name.clone(), count?)).filter(|_| self.sound == before);
            }
            Some(Value::String(name)) => {
                self.fault(
                    &inside("player"),
                    format!("no player \"{name}\"{}", among(name, known())),
                );
            }
            Some(other) => {
                self.fault(
                    &inside("player"),
                    format!("must be a player's name, not {}", kind_of(other)),
                );
            }
            None => self.fault(at, format!("needs a player{}", among("", known()))),
        }
        None
    }

    fn players(&mut self, tree: &Value, names: &[String]) -> Option<Vec<PlayerSpec>> {
        let mut made: Vec<PlayerSpec> = Vec::with_capacity(names.len());
        let mut complete = true;
        for (seat, name) in names.iter().enumerate() {
            // Seats of one player stand together, mostly.
            if seat > 0 && names[seat - 1] == *name {
                if let Some(same) = made.last().filter(|last| last.name == *name).cloned() {
                    made.push(same);
                }
                continue;
            }
            let at = TreePath::root().key("players").key(name.as_str());
            match at.get(tree) {
                Some(Value::Object(settings)) => match player_kind(settings) {
                    Ok(kind) => {
                        let settings = settings.iter().filter(|(key, _)| *key != "kind");
                        let settings = settings
                            .map(|(key, value)| (key.clone(), value.clone()))
                            .collect();
                        made.push(PlayerSpec {
                            name: name.clone(),
                            kind,
                            settings,
                        });
                    }
                    Err((key, message)) => {
                        complete = false;
                        self.fault(&key.map_or_else(|| at.clone(), |key| at.key(key)), message);
                    }
                },
                other => {
                    complete = false;
                    let given = kind_of(other.unwrap_or(&Value::Null));
                    self.fault(&at, format!("a player must be a table, not {given}"));
                }
            }
        }
        complete.then_some(made)
    }

    fn build(
        &mut self,
        tree: &Value,
        registration: &Registration,
        defaults: &Built,
        seats: Option<usize>,
    ) -> Option<Built> {
        let at = TreePath::root().key("params");
        let mut params: Settings = match &tree["params"] {
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            _ => Settings::new(),
        };
        let takes_players = defaults.params.contains_key(PLAYERS);
        if takes_players && params.remove(PLAYERS).is_some() {
            let message = "is taken from the seats; leave it out and say who sits there";
            self.key_fault(&at.key(PLAYERS), message.to_owned());
        }
        let known = || {
            defaults
                .params
                .keys()
                .map(String::as_str)
                .filter(|name| *name != PLAYERS)
        };
        let unknown = params
            .keys()
            .filter(|key| !defaults.params.contains_key(*key));
        for key in unknown.cloned().collect::<Vec<String>>() {
            let game = registration.info.name;
            let message = format!("{game} has no parameter \"{key}\"{}", among(&key, known()));
            self.key_fault(&at.key(key.as_str()), message);
            params.remove(&key);
        }
        if let Some(seats) = seats.filter(|_| takes_players) {
            params.insert(PLAYERS.to_owned(), json!(seats));
        }
        let built = self.built_params(registration, params, &at)?;
        if let Some(seats) = seats.filter(|seats| *seats != built.game.seats()) {
            let (game, needed) = (registration.info.name, built.game.seats());
            let message =
                format!("{game} has {needed} seats with these parameters, here are {seats}");
            self.fault(&TreePath::root().key("seats"), message);
            return None;
        }
        Some(built)
    }

    /// Builds the game; after a parameter of the wrong type, looks for more of them.
    fn built_params(
        &mut self,
        registration: &Registration,
        mut params: Settings,
        at: &TreePath,
    ) -> Option<Built> {
        let mut wrong_types = 0;
        loop {
            let error = match (registration.build)(&params) {
                Ok(built) => return (wrong_types == 0).then_some(built),
                Err(error) => error,
            };
            let inside = TreePath::read(&error.path).unwrap_or_default();
            let parameter = inside.first_key().unwrap_or_default();
            let is_type = ["invalid ", "unknown ", "missing "]
                .iter()
                .any(|start| error.message.starts_with(start));
            // Defaults took the place of wrong values: what they lead to is not the user's doing.
            if wrong_types > 0 && !is_type {
                return None;
            }
            let place = if parameter == PLAYERS {
                TreePath::root().key("seats")
            } else {
                at.join(inside.steps())
            };
            self.fault(&place, in_plain_words(&error.message));
            if !is_type || params.remove(parameter).is_none() {
                return None;
            }
            wrong_types += 1;
        }
    }

    fn strategies(&mut self, game: &dyn Game, seats: &[PlayerSpec]) {
        for (seat, player) in seats.iter().enumerate() {
            let Some((strategy, settings)) = strategy_of(player) else {
                continue;
            };
            if let Err(error) = game.rule(&strategy, &settings, seat) {
                let (key, message) = strategy_fault(&error, &settings);
                let at = TreePath::root().key("players").key(player.name.as_str());
                self.fault(&at.key(key), message);
            }
        }
    }

    /// What can be said about strategies while the game itself cannot be built.
    fn strategy_names(&mut self, registration: &Registration, seats: &[PlayerSpec]) {
        let known = || registration.strategies.iter().map(|entry| entry.name);
        for player in seats {
            let Some((strategy, _)) = strategy_of(player) else {
                continue;
            };
            if known().all(|name| name != strategy) {
                let game = registration.info.name;
                let message = no_strategy(game, &strategy, known());
                let at = TreePath::root().key("players").key(player.name.as_str());
                self.fault(&at.key(STRATEGY), message);
            }
        }
    }

    fn fault(&mut self, at: &TreePath, message: String) {
        self.sound = false;
        let at = self.origin(at);
        self.faults.value(&at, message);
    }

    fn key_fault(&mut self, at: &TreePath, message: String) {
        self.sound = false;
        let origin = self.origin(at);
        self.faults.key(&origin, message);
    }

    /// Where the experiment says what stands at a path of the cell.
    fn origin(&self, at: &TreePath) -> TreePath {
        for assignment in self.assignments {
            if let Some(further) = at.after(&assignment.path) {
                return assignment.at.join(further);
            }
        }
        // About several parameters together: the grid is what makes this cell differ.
        if at.first_key() == Some("params")
            && let Some(assignment) = self
                .assignments
                .iter()
                .find(|set| set.path.after(at).is_some())
        {
            return assignment.at.clone();
        }
        match at.first_key() {
            Some("players" | "seed") => at.clone(),
            _ => TreePath::root()
                .key("games")
                .index(self.game)
                .join(at.steps()),
        }
    }
}

/// The strategy of a rule player and its settings.
fn strategy_of(player: &PlayerSpec) -> Option<(String, Map<String, Value>)> {
    if player.kind != PlayerKind::Rule {
        return None;
    }
    let mut settings: Map<String, Value> = player.settings.clone().into_iter().collect();
    match settings.remove(STRATEGY) {
        Some(Value::String(strategy)) => Some((strategy, settings)),
        _ => None,
    }
}

fn no_strategy<'a>(game: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    format!("{game} has no strategy \"{name}\"{}", among(name, known))
}

/// The key that a strategy's error is about, and the message.
fn strategy_fault(error: &StrategyError, settings: &Map<String, Value>) -> (String, String) {
    match error {
        StrategyError::Unknown { name, game, known } => (
            STRATEGY.to_owned(),
            no_strategy(game, name, known.split(", ")),
        ),
        StrategyError::Settings { .. } => {
            let message = in_plain_words(&error.to_string());
            // The engine's message names the setting in one of three ways.
            let names = |key: &&String| {
                [
                    format!("\": {key}"),
                    format!("`{key}`"),
                    format!("\"{key}\""),
                ]
                .iter()
                .any(|form| message.contains(form.as_str()))
            };
            let key = settings.keys().find(names).cloned();
            (key.unwrap_or_else(|| STRATEGY.to_owned()), message)
        }
    }
}

/// A message about types without the names of Rust's types.
fn in_plain_words(message: &str) -> String {
    let Some((before, expected)) = message.rsplit_once("expected ") else {
        return message.to_owned();
    };
    let plain = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or greater",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        other => other,
    };
    format!("{before}expected {plain}")
}
