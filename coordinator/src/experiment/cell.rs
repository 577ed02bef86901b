//! One cell of the grid: its values put together, checked against the game, made into a spec.
//!
//! A fault is reported where the value comes from: at the entry of the grid when the grid set it,
//! else at the game's or player's own table.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_engine::extent::RECORD;
use agon_engine::game::usual_extent;
use agon_engine::names::among;
use agon_engine::registry::{Built, Registration};
use agon_engine::spec::prompts::{self, joint_version};
use agon_engine::spec::{Origin, Settings};
use agon_engine::{Game, Luck, PlayerKind, PlayerSpec, SessionSpec, versions};
use serde_json::{Value, json};

use super::document::{ExperimentDocument, PromptsOfPlayer};
use super::faults::Faults;
use super::grid::Assignment;
use super::limits::{MOST_SPEC_BYTES, bytes_of, in_words};
use super::path::{Step, TreePath};
use super::players::{STRATEGY, no_strategy, strategy_fault, strategy_of};
use super::values::in_plain_words;

mod games;
mod seats;
mod worlds;

/// Every game that takes its number of players from the seats calls the parameter so.
const PLAYERS: &str = "players";

/// A checked cell.
pub struct Cell {
    /// The spec of its first repeat.
    pub spec: SessionSpec,
    /// The game as it will be played.
    pub game: Arc<dyn Game>,
    /// The items of each further repeat, where a world is drawn anew for each; else empty.
    redrawn: Vec<Value>,
    /// Stands for what they are drawn from.
    drawn_from: Option<[u8; blake3::OUT_LEN]>,
}

impl Cell {
    /// The spec of one session: of a repeat, and a place in its series.
    pub fn session(&self, repeat: u32, place: u32) -> SessionSpec {
        let mut spec = self.spec.clone();
        spec.luck = self.luck(repeat, place);
        let further = (repeat as usize).checked_sub(1);
        if let Some(items) = further.and_then(|further| self.redrawn.get(further)) {
            spec.params.insert(worlds::ITEMS.to_owned(), items.clone());
        }
        spec
    }

    /// The luck of that session.
    pub fn luck(&self, repeat: u32, place: u32) -> Luck {
        let seed = self.spec.luck.seed;
        Luck::new(seed, repeat).at(place)
    }

    /// Stands for everything that its repeats may draw, however many there are; none where they differ in
    /// their luck alone.
    pub fn drawn_from(&self) -> Option<&[u8]> {
        self.drawn_from.as_ref().map(|source| &source[..])
    }

    /// Whether repeats differ in more than their luck.
    pub fn is_redrawn(&self) -> bool {
        !self.redrawn.is_empty()
    }
}

/// What became of a cell.
pub struct Checked {
    /// The cell; `None` when something is wrong with it.
    pub cell: Option<Cell>,
    /// What was put together to check it, in bytes.
    pub bytes: u64,
}

/// Checks one cell.
pub fn check(
    document: &ExperimentDocument,
    game: usize,
    assignments: &[&Assignment],
    faults: &mut Faults,
) -> Checked {
    let definition = &document.games[game];
    let mut tree = json!({ "seed": document.seed, "params": definition.params });
    let own = [
        ("game", definition.game.clone().map(Value::String)),
        ("seats", definition.seats.clone()),
        ("world", definition.world.clone()),
    ];
    for (key, value) in own {
        if let Some(value) = value {
            tree[key] = value;
        }
    }
    // Of all players a cell takes those that it seats and those that its grid changes.
    for assignment in assignments {
        let (at, settings) = match assignment.path.steps() {
            [Step::Key(root), ..] if root == "model" => {
                (TreePath::root().key("model"), Some(&document.model))
            }
            [Step::Key(root), Step::Key(player), ..] if root == "players" => {
                let at = TreePath::root().key("players").key(player.as_str());
                (at, document.players.get(player))
            }
            _ => continue,
        };
        if let Some(settings) = settings.filter(|_| at.get(&tree).is_none()) {
            // Nothing stands in the way: both are tables that were just made.
            let _ = at.set(&mut tree, json!(settings));
        }
    }
    let mut checking = Checking {
        document,
        game,
        assignments,
        faults,
        sound: true,
        drawn: None,
        bytes: 0,
    };
    checking.apply(&mut tree);
    checking.bytes = bytes_of(&tree);
    let cell = checking.cell(tree);
    Checked {
        cell,
        bytes: checking.bytes,
    }
}

/// The origins of the models that these players name: of anything in their settings that is
/// the name of one.
fn origins(document: &ExperimentDocument, seats: &[PlayerSpec]) -> BTreeMap<String, Origin> {
    let models = seats
        .iter()
        .filter(|player| player.kind == PlayerKind::Model);
    let values = models.flat_map(|player| player.settings.values());
    let texts = values.flat_map(|value| match value {
        Value::Array(values) => values.as_slice(),
        value => std::slice::from_ref(value),
    });
    let named = texts.filter_map(|text| document.origins.get_key_value(text.as_str()?));
    named
        .map(|(model, origin)| (model.clone(), origin.clone()))
        .collect()
}

struct Checking<'a> {
    document: &'a ExperimentDocument,
    game: usize,
    assignments: &'a [&'a Assignment],
    faults: &'a mut Faults,
    sound: bool,
    /// The world that the items come from, and the place of each among the items there.
    drawn: Option<(String, Vec<usize>)>,
    /// As in [`Checked`].
    bytes: u64,
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

    fn cell(&mut self, mut tree: Value) -> Option<Cell> {
        let root = TreePath::root();
        let found = self.registration(tree.get("game"))?;
        let registration = &*found;
        let defaults = &*found.defaults()?;
        let params_bytes = tree.get("params").map_or(0, bytes_of);
        if params_bytes > MOST_SPEC_BYTES {
            self.too_large(&root.key("params"), "the parameters", params_bytes);
            return None;
        }
        let names = self.seats(&tree, defaults, registration);
        let players = names.as_ref().map(|names| self.players(&tree, names));
        let count = names.as_ref().map(Vec::len);
        let takes = |name: &str| defaults.params.contains_key(name);
        let world = self.world(&mut tree, registration, &takes, count);
        let built = self.build(&tree, registration, defaults, count);
        let drawing = world.as_ref().and_then(Option::as_ref);
        let drawn_from = drawing.and_then(worlds::Drawing::source);
        let redrawn = match (&built, world.as_ref()) {
            (Some(built), Some(Some(drawing))) => self.redraw(registration, built, drawing),
            _ => Vec::new(),
        };
        let mut seats = players.flatten()?;
        self.tell(&mut seats, world?.as_ref());
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
        self.length(&*built.game, &seats);
        if !self.sound {
            return None;
        }
        let document = self.document;
        let models = seats
            .iter()
            .filter(|player| player.kind == PlayerKind::Model);
        let keys = models.map(|player| prompts::key(&registration.info.name, player));
        let told: Vec<&PromptsOfPlayer> =
            keys.filter_map(|key| document.prompts.get(&key)).collect();
        let versions = told.iter().map(|told| told.version.as_str()).collect();
        let replaced = told.iter().any(|told| told.replaced);
        let outside = document.outside.get(&*registration.info.name);
        let outside = outside.map(|game| game.rules(&built.params));
        let spec = SessionSpec {
            experiment: document.name.clone(),
            setting: self.setting(),
            luck: Luck::new(seed, 0),
            game: registration.info.name.to_string(),
            rules_version: match &outside {
                Some(_) => registration.info.rules_version,
                None => versions::rules(registration.info.rules_version),
            },
            outside,
            params: built.params,
            prompts_version: joint_version(&versions),
            prompt_bundle: document.prompt_bundle.clone().filter(|_| replaced),
            origins: origins(document, &seats),
            seats,
        };
        let spec_bytes = spec.canonical_json().len() as u64;
        if spec_bytes > MOST_SPEC_BYTES {
            self.too_large(&root.key("seats"), "a session's spec", spec_bytes);
            return None;
        }
        Some(Cell {
            spec,
            game: built.game,
            redrawn,
            drawn_from,
        })
    }

    /// Says that something is larger than a session's spec may be.
    fn too_large(&mut self, at: &TreePath, what: &str, bytes: u64) {
        let (found, most) = (in_words(bytes), in_words(MOST_SPEC_BYTES));
        let message = format!(
            "{what} would have {found}, and a session's spec has {most} at most; shorten what its \
             players and parameters are given"
        );
        self.fault(at, message);
    }

    /// Refuses a session that no record has room for.
    fn length(&mut self, game: &dyn Game, seats: &[PlayerSpec]) {
        let models = seats
            .iter()
            .filter(|player| player.kind == PlayerKind::Model);
        let Err(much) = usual_extent(game, models.count()).within(&RECORD) else {
            return;
        };
        let (asks, seats) = (game.usual_asks_per_seat(), seats.len());
        let message = format!(
            "the record of a session of {seats} seats with {asks} moves each would be too long, by \
             estimate {much}; play fewer rounds or seats"
        );
        self.fault(&TreePath::root().key("params"), message);
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
            let game = &*registration.info.name;
            let message = format!("{game} has no parameter \"{key}\"{}", among(&key, known()));
            self.key_fault(&at.key(key.as_str()), message);
            params.remove(&key);
        }
        if let Some(seats) = seats.filter(|_| takes_players) {
            params.insert(PLAYERS.to_owned(), json!(seats));
        }
        let built = self.built_params(registration, params, &at)?;
        if let Some(seats) = seats.filter(|seats| *seats != built.game.seats()) {
            let (game, needed) = (&registration.info.name, built.game.seats());
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
            let error = match registration.build(&params) {
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
            if let Err(error) = game.rule_player(&strategy, &settings, seat) {
                let (key, message) = strategy_fault(&error, &settings);
                let at = TreePath::root().key("players").key(player.name.as_str());
                self.fault(&at.key(key), message);
            }
        }
    }

    /// What can be said about strategies while the game itself cannot be built.
    fn strategy_names(&mut self, registration: &Registration, seats: &[PlayerSpec]) {
        let known = || {
            registration
                .strategies()
                .into_iter()
                .map(|entry| entry.name)
        };
        for player in seats {
            let Some((strategy, _)) = strategy_of(player) else {
                continue;
            };
            if known().all(|name| name != strategy) {
                let game = &*registration.info.name;
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
        // Items that come from a world are wrong there.
        if let Some((world, places)) = &self.drawn
            && let [
                Step::Key(root),
                Step::Key(name),
                Step::Index(item),
                inside @ ..,
            ] = at.steps()
            && root == "params"
            && name == "items"
            && let Some(place) = places.get(*item)
        {
            let items = TreePath::root()
                .key("worlds")
                .key(world.as_str())
                .key("items");
            return items.index(*place).join(inside);
        }
        match at.first_key() {
            Some("players" | "model" | "seed") => at.clone(),
            _ => TreePath::root()
                .key("games")
                .index(self.game)
                .join(at.steps()),
        }
    }
}
