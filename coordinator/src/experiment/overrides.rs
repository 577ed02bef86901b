//! Changes to an experiment that come from flags: another model, another value, other luck.
//!
//! A value set by a flag takes the place of every axis that varied it. Errors name the flag as
//! the user wrote it, because that is what must be mended.

use std::collections::BTreeMap;

use agon_engine::names::among;
use agon_engine::registry;
use agon_engine::spec::Settings;
use agon_service_kit::config::ConfigError;
use serde_json::{Map, Value, json};

use super::path::{Step, TreePath};
use super::players::SUBJECT;
use super::source::{self, Source};
use super::values::by_value;

/// What `--set` may change, apart from `games[..]`.
const ROOTS: [&str; 15] = [
    "params",
    "players",
    "model",
    "seats",
    "world",
    "seed",
    "repeats",
    "series",
    "name",
    "team",
    "priority",
    "budget_dollars",
    "content_cache",
    "description",
    "templates",
];

/// Changes from the command line, applied in the order of the fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--model M`: the player `subject` becomes this model, and so do all that take theirs from
    /// the table `[model]`.
    pub model: Option<String>,
    /// `--models A,B`: an axis over these models, in the place of what `--model` sets.
    pub models: Vec<String>,
    /// `--player NAME=M`: a player becomes a model.
    pub players: BTreeMap<String, String>,
    /// `--set PATH=VALUE`: any value, by its path.
    pub set: Vec<String>,
    /// `--repeats N`.
    pub repeats: Option<u32>,
    /// `--max-cost DOLLARS`.
    pub budget_dollars: Option<String>,
    /// `--seed N`.
    pub seed: Option<u64>,
    /// `--templates FOLDER`.
    pub templates: Option<String>,
}

impl Overrides {
    /// Applies all changes; says which could not be.
    pub(super) fn apply(&self, source: &mut Source) -> Vec<ConfigError> {
        let mut errors = Vec::new();
        let mut change =
            |flag: String, change: &dyn Fn(&mut Source, &str) -> Result<(), String>| {
                if let Err(message) = change(source, &flag) {
                    errors.push(ConfigError {
                        file: flag,
                        place: None,
                        path: String::new(),
                        message,
                    });
                }
            };
        if let Some(model) = &self.model {
            change(format!("--model {model}"), &|source, flag| {
                any_model(source, model, flag)
            });
        }
        if !self.models.is_empty() {
            change(
                format!("--models {}", self.models.join(",")),
                &|source, flag| roster(source, &self.models, flag),
            );
        }
        for (player, model) in &self.players {
            change(format!("--player {player}={model}"), &|source, flag| {
                seat_model(source, player, model, flag)
            });
        }
        for text in &self.set {
            change(format!("--set {text}"), &|source, flag| {
                set(source, text, flag)
            });
        }
        let plain = [
            (
                "repeats",
                "repeats",
                self.repeats.map(|number| json!(number)),
            ),
            (
                "max-cost",
                "budget_dollars",
                self.budget_dollars.as_ref().map(|dollars| json!(dollars)),
            ),
            ("seed", "seed", self.seed.map(|number| json!(number))),
            (
                "templates",
                "templates",
                self.templates.as_ref().map(|folder| json!(folder)),
            ),
        ];
        for (name, key, value) in plain {
            let Some(value) = value else { continue };
            let shown = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            change(format!("--{name} {shown}"), &|source, flag| {
                put(source, &TreePath::root().key(key), value.clone(), flag)
            });
        }
        errors
    }
}

/// `--model M`: the model that `[model]` names, if it names one, and the player `subject`, unless
/// there is none or it takes its model from there.
fn any_model(source: &mut Source, model: &str, flag: &str) -> Result<(), String> {
    let shared = TreePath::root().key("model").key("model");
    let subject = TreePath::root().key("players").key(SUBJECT);
    if shared.get(&source.tree).is_some() {
        put(source, &shared, json!(model), flag)?;
        let own = |subject: &Value| {
            subject.get("kind") != Some(&json!("model")) || subject.get("model").is_some()
        };
        if !subject.get(&source.tree).is_some_and(own) {
            return Ok(());
        }
    }
    seat_model(source, SUBJECT, model, flag)
}

/// `--models A,B`: the same for several models, one setting for each.
fn roster(source: &mut Source, models: &[String], flag: &str) -> Result<(), String> {
    let Some(first) = models.first() else {
        return Ok(());
    };
    any_model(source, first, flag)?;
    let shared = TreePath::root().key("model").key("model");
    let own = TreePath::root().key("players").key(SUBJECT).key("model");
    let axis = match shared.get(&source.tree) {
        // What the player says itself would keep it from the axis.
        Some(_) => {
            let player = at_mut(
                &mut source.tree,
                &TreePath::root().key("players").key(SUBJECT),
            );
            if let Some(Value::Object(player)) = player {
                player.remove("model");
            }
            shared
        }
        None => own,
    };
    let grid = TreePath::root().key("grid").key(axis.to_string());
    grid.set(&mut source.tree, json!(models))?;
    source.flags.set(grid, flag);
    Ok(())
}

/// Makes a player a model. One that is a model already keeps its other settings.
fn seat_model(source: &mut Source, player: &str, model: &str, flag: &str) -> Result<(), String> {
    let at = TreePath::root().key("players").key(player);
    let Some(settings) = at.get(&source.tree) else {
        let players = source.tree.get("players").and_then(Value::as_object);
        let known = players.into_iter().flat_map(Map::keys).map(String::as_str);
        let which = among(player, known);
        return Err(format!(
            "the experiment has no player \"{player}\"{which}; name one with --player NAME={model}"
        ));
    };
    if settings.get("kind") == Some(&json!("model")) {
        return put(source, &at.key("model"), json!(model), flag);
    }
    put(
        source,
        &at,
        json!({ "kind": "model", "model": model }),
        flag,
    )
}

/// `--set PATH=VALUE`.
fn set(source: &mut Source, text: &str, flag: &str) -> Result<(), String> {
    let Some((path, value)) = text.split_once('=') else {
        return Err("write a path and a value, as --set params.rounds=5".to_owned());
    };
    let path = TreePath::read(path.trim())?;
    let value = source::parse_value(value)?;
    let root = path.first_key().unwrap_or_default().to_owned();
    match root.as_str() {
        "games" => put(source, &path, value, flag),
        "params" => set_parameter(source, &path, &value, flag),
        "seats" | "world" => {
            for game in 0..game_count(source) {
                put(source, &in_game(game, &path), value.clone(), flag)?;
            }
            drop_axes(source, &path);
            Ok(())
        }
        "players" => {
            let player = TreePath::root().join(&path.steps()[..path.steps().len().min(2)]);
            let players = source.tree.get("players").and_then(Value::as_object);
            if let ([_, Step::Key(name), ..], None) = (path.steps(), player.get(&source.tree)) {
                let known = players.into_iter().flat_map(Map::keys).map(String::as_str);
                return Err(format!(
                    "the experiment has no player \"{name}\"{}",
                    among(name, known)
                ));
            }
            put(source, &path, value, flag)
        }
        known if ROOTS.contains(&known) => put(source, &path, value, flag),
        other => Err(format!(
            "an experiment has no \"{other}\"{}",
            among(other, ROOTS)
        )),
    }
}

/// Sets a parameter in every game that has it.
fn set_parameter(
    source: &mut Source,
    path: &TreePath,
    value: &Value,
    flag: &str,
) -> Result<(), String> {
    let [_, Step::Key(parameter), ..] = path.steps() else {
        return Err("name one parameter, as --set params.rounds=5".to_owned());
    };
    let mut known = std::collections::BTreeSet::new();
    let mut changed = false;
    for game in 0..game_count(source) {
        let name = in_game(game, &TreePath::root().key("game"));
        let name = name.get(&source.tree).and_then(Value::as_str);
        let built = name
            .and_then(|name| registry::find(name).ok())
            .map(|game| game.build(&Settings::new()));
        match built {
            Some(Ok(built)) if !built.params.contains_key(parameter) => {
                known.extend(built.params.into_keys());
            }
            // Has it, or comes from the grid: then the check says what is wrong.
            _ => {
                put(source, &in_game(game, path), value.clone(), flag)?;
                changed = true;
            }
        }
    }
    if changed {
        drop_axes(source, path);
        return Ok(());
    }
    let which = among(parameter, known.iter().map(String::as_str));
    Err(format!(
        "no game here has a parameter \"{parameter}\"{which}"
    ))
}

fn game_count(source: &Source) -> usize {
    source
        .tree
        .get("games")
        .and_then(Value::as_array)
        .map_or(0, Vec::len)
}

fn in_game(game: usize, path: &TreePath) -> TreePath {
    TreePath::root().key("games").index(game).join(path.steps())
}

/// Puts a value into the tree, in place of axes that vary it.
fn put(source: &mut Source, path: &TreePath, value: Value, flag: &str) -> Result<(), String> {
    path.set(&mut source.tree, value)?;
    source.flags.set(path.clone(), flag);
    drop_axes(source, path);
    Ok(())
}

/// Takes every axis out of the grids that varies this value or something inside it.
fn drop_axes(source: &mut Source, path: &TreePath) {
    let mut holders = vec![TreePath::root()];
    holders.extend((0..game_count(source)).map(|game| in_game(game, &TreePath::root())));
    let stays =
        |name: &String| TreePath::read(name).map_or(true, |axis| axis.after(path).is_none());
    for holder in holders {
        let Some(Value::Object(table)) = at_mut(&mut source.tree, &holder) else {
            continue;
        };
        if let Some(Value::Object(grid)) = table.get_mut("grid") {
            let before = grid.len();
            grid.retain(|name, _| stays(name));
            if grid.is_empty() && before > 0 {
                table.remove("grid");
            }
        }
        if let Some(Value::Array(rows)) = table.get_mut("rows") {
            let mut changed = false;
            for row in rows.iter_mut().filter_map(Value::as_object_mut) {
                let before = row.len();
                row.retain(|name, _| stays(name));
                changed |= row.len() != before;
            }
            // Rows that differed only in what was set are one row now.
            if changed {
                let mut seen = std::collections::BTreeSet::new();
                rows.retain(|row| seen.insert(by_value(row).to_string()) && row != &json!({}));
            }
            if changed && rows.is_empty() {
                table.remove("rows");
            }
        }
    }
}

fn at_mut<'tree>(tree: &'tree mut Value, path: &TreePath) -> Option<&'tree mut Value> {
    path.steps()
        .iter()
        .try_fold(tree, |value, step| match step {
            Step::Key(key) => value.get_mut(key),
            Step::Index(index) => value.get_mut(index),
        })
}
