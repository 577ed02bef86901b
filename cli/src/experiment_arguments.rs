//! What `run`, `check` and `plan` share: naming an experiment, changing it from
//! the command line, and checking all of it, templates and model settings
//! included, before anything is played.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_agents::{
    AgentError, PromptLibrary, models_of, path_of_outside, prompts_version, uses_replaced,
};
use agon_coordinator::experiment::limits::{MOST_REPEATS, MOST_SEED};
use agon_coordinator::experiment::{
    Cells, ExperimentDocument, ExperimentFile, Faults, Overrides, PromptsOfPlayer, TreePath,
    is_experiment_name,
};
use agon_engine::spec::prompts;
use agon_engine::{PlayerKind, PlayerSpec, SessionSpec};
use agon_outlets::InLine as _;
use agon_report::dollars;

use crate::failure::Failure;
use crate::judged::{self, JudgingArguments};
use crate::numbers::whole;
use crate::output;
use crate::outside::GameArguments;
use crate::presets;
use crate::run_folder::account::State;
use crate::run_folder::{Place, RunFolder, Standing};
use crate::templates;

mod roster;

use roster::Roster;

/// The player that `--model` replaces.
pub const SUBJECT: &str = "subject";

/// What a file says of itself that was written for a run.
const AS_RUN: &str = "\
# The experiment as it was run, with every change from the command line and every default
# written out. `agon run` with this file plays the same sessions.

";

/// An experiment and the changes to it.
#[derive(Debug, Clone, clap::Args)]
pub struct ExperimentArguments {
    /// An experiment file (TOML), or the name of a preset such as
    /// gamma-bench/leaderboard
    #[arg(value_name = "EXPERIMENT")]
    pub(super) experiment: String,
    /// Put this model in the place of the player `subject`: a model of the
    /// configuration, PROVIDER/MODEL such as openai/gpt-4o, or sim
    #[arg(long, value_name = "MODEL")]
    pub(super) model: Option<String>,
    /// Run it with each of these models in turn, in the place that --model fills, and show
    /// them side by side: names with commas between them, @FILE with one in each line, or
    /// a roster of a paper's models such as @gamma-bench (`agon presets` lists them)
    #[arg(long, value_name = "MODEL,...", value_parser = roster::read, conflicts_with = "model")]
    pub(super) models: Option<Roster>,
    /// Put a model in the place of any player
    #[arg(long = "player", value_name = "NAME=MODEL", value_parser = pair)]
    pub(super) players: Vec<(String, String)>,
    /// Name of the experiment and of its results; by default that of the file,
    /// followed by the models that were put in
    #[arg(long, value_name = "NAME")]
    pub(super) name: Option<String>,
    /// Set any value, such as params.rounds=5 or players.subject.temperature=0
    #[arg(long, value_name = "PATH=VALUE")]
    pub(super) set: Vec<String>,
    /// Play every setting this often
    #[arg(long, value_name = "N", value_parser = whole(1, MOST_REPEATS),
          allow_negative_numbers = true)]
    pub(super) repeats: Option<u32>,
    /// Seed of all chance
    #[arg(long, value_name = "N", value_parser = whole(0, MOST_SEED),
          allow_negative_numbers = true)]
    pub(super) seed: Option<u64>,
    /// The most that it may cost in all, in dollars: it pauses before the call that could cost more
    #[arg(long, value_name = "DOLLARS", allow_negative_numbers = true)]
    pub(super) max_cost: Option<String>,
    /// Use the prompt templates in this folder in place of built-in ones
    #[arg(long, value_name = "DIR")]
    pub(super) templates: Option<PathBuf>,
    #[command(flatten)]
    pub(super) judging: JudgingArguments,
    #[command(flatten)]
    pub(super) games: GameArguments,
}

/// Where the results and the state of a run would go, in words.
///
/// # Errors
/// The folder for the results cannot be used; says what to do.
pub fn place_in_words(place: &Place, state: &State, experiment: &str) -> Result<String, Failure> {
    let Standing { path, last, runs } = RunFolder::look(place, experiment)?;
    let beside = match runs {
        0 => String::new(),
        some => format!("; {} kept", output::counted(some as u64, "earlier run")),
    };
    Ok(format!(
        "results: {} (run {}{beside}); state: {}",
        path.in_line(),
        last + 1,
        state.in_words()
    ))
}

/// An experiment that was found good.
#[derive(Debug, Clone)]
pub struct CheckedExperiment {
    /// What is handed to the coordinator.
    pub document: ExperimentDocument,
    /// The file or preset.
    pub source: String,
    /// The file as it was read.
    pub text: String,
    /// What the command line changed, as it was typed.
    pub changes: Vec<String>,
    /// Versions of the rules of its games.
    pub rules: BTreeMap<String, u32>,
    /// Templates that replace built-in ones.
    pub templates: BTreeMap<String, String>,
    /// The built-in templates, with those in their place.
    pub library: PromptLibrary,
    /// Models that it names, fall-backs included.
    pub models: BTreeSet<String>,
    /// Cells of its grid.
    pub settings: u64,
}

impl CheckedExperiment {
    /// How many sessions it has.
    pub fn sessions(&self) -> u64 {
        let each = u64::from(self.document.repeats) * u64::from(self.document.series_length());
        self.settings * each
    }

    /// The budget, to stand at the end of a line; nothing without one.
    pub fn budget_in_words(&self) -> String {
        let budget = self.document.budget_nanodollars().map(dollars);
        budget
            .map(|budget| format!(", budget {budget}"))
            .unwrap_or_default()
    }
}

/// An experiment as it is run, as a file that plays the same sessions; its templates, if it has any,
/// are looked for in the folder `beside` it.
///
/// # Errors
/// It cannot be written as TOML.
pub fn as_file(
    document: &ExperimentDocument,
    templates: &BTreeMap<String, String>,
    beside: &str,
) -> Result<String, Failure> {
    let named = (!templates.is_empty()).then(|| beside.to_owned());
    let file = ExperimentDocument {
        templates: named,
        prompts: BTreeMap::new(),
        prompt_bundle: None,
        outside: BTreeMap::new(),
        ..document.clone()
    };
    let text = toml::to_string(&file).map_err(Failure::surroundings)?;
    Ok(format!("{AS_RUN}{text}"))
}

impl ExperimentArguments {
    /// Reads, changes and checks the experiment.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its place.
    pub fn check(&self) -> Result<CheckedExperiment, Failure> {
        self.refuse_two_models_for_one()?;
        let source = presets::find(&self.experiment)?;
        let bad = |errors| Failure::BadInput(format!("{errors}"));
        let mut file = ExperimentFile::parse(&source.name, &source.text).map_err(bad)?;
        file.apply(&self.overrides()).map_err(bad)?;
        presets::add_worlds(&mut file, &self.experiment)?;
        judged::add(&mut file, &self.judging)?;
        let outside = self.games.describe()?;
        file.add_outside(outside.iter().map(|game| &**game));
        // The cells are looked at once, when the library of prompts is there.
        let mut document = file.read().map_err(bad)?;
        let name = self.name_of(&document);
        if name != document.name {
            if !is_experiment_name(&name) {
                return Err(Failure::BadInput(format!(
                    "--name {}: must be 1 to 100 letters, digits, - and _",
                    name.in_line()
                )));
            }
            let set = vec![format!("name=\"{name}\"")];
            file.apply(&Overrides {
                set,
                ..Overrides::default()
            })
            .map_err(bad)?;
            document = file.read().map_err(bad)?;
        }
        let mut templates = templates_of(&mut document);
        templates.extend(self.read_templates(&document)?);
        let library = agon_agents::replaced(templates.clone()).map_err(Failure::input)?;
        document.prompt_bundle = library.digest().map(str::to_owned);
        let Players {
            models,
            prompts,
            rules,
            settings,
        } = check_models(&file, &document, &library, &self.games)?;
        document.prompts = prompts;
        Ok(CheckedExperiment {
            document,
            source: source.name,
            text: source.text,
            changes: self.changes(),
            rules,
            templates,
            library,
            models,
            settings,
        })
    }

    /// The flags that change the experiment.
    fn changes(&self) -> Vec<String> {
        let flag = |name: &str, value: &dyn std::fmt::Display| format!("--{name} {value}");
        let mut changes = Vec::new();
        changes.extend(self.model.iter().map(|model| flag("model", model)));
        let models = self.models.iter();
        changes.extend(models.map(|roster| flag("models", &roster.0.join(","))));
        let players = self.players.iter();
        changes.extend(players.map(|(name, model)| format!("--player {name}={model}")));
        changes.extend(self.name.iter().map(|name| flag("name", name)));
        changes.extend(self.set.iter().map(|set| flag("set", set)));
        changes.extend(self.repeats.iter().map(|repeats| flag("repeats", repeats)));
        changes.extend(self.max_cost.iter().map(|cost| flag("max-cost", cost)));
        changes.extend(self.seed.iter().map(|seed| flag("seed", seed)));
        changes.extend(self.games.typed());
        let templates = self.templates.iter();
        changes.extend(templates.map(|path| flag("templates", &path.to_string_lossy())));
        changes.extend(self.judging.changes());
        changes
    }

    fn refuse_two_models_for_one(&self) -> Result<(), Failure> {
        let subject = self.model.iter().map(|_| SUBJECT);
        let subject = subject.chain(self.models.iter().map(|_| SUBJECT));
        let named = self.players.iter().map(|(player, _)| player.as_str());
        let mut seen = BTreeSet::new();
        for player in subject.chain(named) {
            if !seen.insert(player) {
                let text = format!("player {player} is given two models on the command line");
                return Err(Failure::BadInput(text));
            }
        }
        Ok(())
    }

    /// Runs of one file with different models are different experiments, so that
    /// the results of one never take the place of another's.
    fn name_of(&self, document: &ExperimentDocument) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let models = self
            .model
            .iter()
            .chain(self.models.iter().flat_map(|roster| &roster.0))
            .chain(self.players.iter().map(|(_, model)| model));
        let models: Vec<&str> = models.map(String::as_str).collect();
        let own = document.name.len();
        if own + models.iter().map(|model| model.len() + 1).sum::<usize>() > LONGEST_NAME {
            let digest = blake3::hash(models.join("\n").as_bytes()).to_hex();
            let count = models.len();
            return format!("{}-{count}-models-{}", document.name, &digest[..8]);
        }
        let mut name = document.name.clone();
        if self.judging.own {
            name.push_str("-own");
        }
        for model in models {
            name.push('-');
            name.extend(model.chars().map(|letter| match letter {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
                _ => '-',
            }));
        }
        name
    }

    fn overrides(&self) -> Overrides {
        Overrides {
            model: self.model.clone(),
            models: self.models.clone().map_or_else(Vec::new, |roster| roster.0),
            players: self.players.iter().cloned().collect(),
            set: self.set.clone(),
            repeats: self.repeats,
            seed: self.seed,
            budget_dollars: self.max_cost.clone(),
            templates: self
                .templates
                .as_ref()
                .map(|folder| folder.to_string_lossy().into_owned()),
        }
    }

    /// The user's templates. A folder named in a file is looked for beside it.
    fn read_templates(
        &self,
        document: &ExperimentDocument,
    ) -> Result<BTreeMap<String, String>, Failure> {
        let Some(named) = &document.templates else {
            return Ok(BTreeMap::new());
        };
        let beside = match &self.templates {
            Some(_) => None,
            None => Path::new(&self.experiment).parent(),
        };
        templates::read(&beside.unwrap_or(Path::new("")).join(named))
    }
}

/// The templates that games bring which are played elsewhere; with all others they are handed in as
/// one bundle.
fn templates_of(document: &mut ExperimentDocument) -> BTreeMap<String, String> {
    let mut templates = BTreeMap::new();
    for (name, game) in &mut document.outside {
        let brought = std::mem::take(&mut Arc::make_mut(game).templates);
        let placed = brought
            .into_iter()
            .map(|(file, text)| (path_of_outside(name, &file), text));
        templates.extend(placed);
    }
    templates
}

/// An experiment that is called by more than so many letters, for its models, is called by their
/// number and a digest instead; a name may have 100.
const LONGEST_NAME: usize = 90;

/// Who plays what.
#[derive(Default)]
struct Players {
    models: BTreeSet<String>,
    /// What players are told.
    prompts: BTreeMap<String, PromptsOfPlayer>,
    /// Versions of the games' rules.
    rules: BTreeMap<String, u32>,
    settings: u64,
}

/// Checks the settings of every model player in every cell; returns who plays what.
fn check_models(
    file: &ExperimentFile,
    document: &ExperimentDocument,
    library: &PromptLibrary,
    games: &GameArguments,
) -> Result<Players, Failure> {
    let mut faults = Faults::default();
    let mut players = Players::default();
    // Digests: the settings of all cells together may be half a gigabyte.
    let mut seen = BTreeSet::new();
    let mut begun = BTreeMap::new();
    let mut cells = Cells::of(document);
    for cell in &mut cells {
        let spec = &cell.spec;
        players.settings += 1;
        if spec.outside.is_some() && begun.len() < MOST_STARTS {
            let seats = spec.seats.len();
            let params = serde_json::to_string(&(&spec.game, &spec.params, seats));
            let params = params.map_err(Failure::input)?;
            begun.entry(params).or_insert_with(|| spec.clone());
        }
        let versions = &mut players.rules;
        versions.insert(spec.game.clone(), spec.rules_version);
        let seats = spec.seats.iter().enumerate();
        let mut is_new = false;
        for (seat, player) in seats.filter(|(_, player)| player.kind == PlayerKind::Model) {
            players.models.extend(models_of(player).map(str::to_owned));
            let settings = serde_json::to_string(&what_is_checked(player));
            let digest = blake3::hash(settings.map_err(Failure::input)?.as_bytes());
            if !seen.insert((spec.game.clone(), player.name.clone(), *digest.as_bytes())) {
                continue;
            }
            is_new = true;
            if let Err(error) = agon_agents::check_seat(player, spec, seat, library) {
                let message = match error {
                    AgentError::Settings { message, .. } => message,
                    other @ AgentError::Template { .. } => other.to_string(),
                };
                faults.value(&place_of(document, player, &message), message);
            }
        }
        if is_new {
            players.prompts.extend(prompts_of(spec, library));
        }
        if faults.is_full() {
            break;
        }
    }
    let begun: Vec<SessionSpec> = begun.into_values().collect();
    for (spec, fault) in begun.iter().zip(games.try_starts(&begun)?) {
        if let Some(why) = fault {
            faults.value(&params_of(document, spec), why);
        }
    }
    let checked = match faults.is_full() {
        true => Err(faults),
        // What is wrong with the grid comes first.
        false => cells.finish().and_then(|()| faults.or(players)),
    };
    checked.map_err(|faults| Failure::BadInput(file.locate(&faults).to_string()))
}

/// Settings of games that are played elsewhere whose start is asked for before anything is played.
const MOST_STARTS: usize = 10_000;

/// Where the parameters of a session come from.
fn params_of(document: &ExperimentDocument, spec: &SessionSpec) -> TreePath {
    let mut games = document.games.iter();
    let named = games.position(|one| one.game.as_ref() == Some(&spec.game));
    let game = TreePath::root().key("games").index(named.unwrap_or(0));
    match named.is_some_and(|at| !document.games[at].params.is_empty()) {
        true => game.key("params"),
        false => game,
    }
}

/// The settings of a player that decide whether it can play and what it is told. Which model it is does
/// not, unless it may be one of its own fallbacks: a grid may name a hundred thousand models.
fn what_is_checked(player: &PlayerSpec) -> BTreeMap<&str, &serde_json::Value> {
    let settings = &player.settings;
    let model = settings.get("model").and_then(serde_json::Value::as_str);
    let is_any = model.is_some_and(|name| !name.trim().is_empty())
        && !settings.contains_key("fallback_models");
    let checked = settings
        .iter()
        .filter(|(name, _)| !(is_any && *name == "model"));
    checked
        .map(|(name, value)| (name.as_str(), value))
        .collect()
}

/// What the model players of a session are told. What is wrong with a player is not said here.
pub(crate) fn prompts_of(
    spec: &SessionSpec,
    library: &PromptLibrary,
) -> BTreeMap<String, PromptsOfPlayer> {
    let models = spec.seats.iter();
    let models = models.filter(|player| player.kind == PlayerKind::Model);
    let told = models.filter_map(|player| {
        let version = prompts_version(player, &spec.game, library).ok()?;
        let replaced = uses_replaced(player, &spec.game, library).ok()?;
        let key = prompts::key(&spec.game, player);
        Some((key, PromptsOfPlayer { version, replaced }))
    });
    told.collect()
}

/// Where a fault of a player's settings comes from: the grid that varies the
/// setting which the message begins with, or the setting, or the player.
fn place_of(document: &ExperimentDocument, player: &PlayerSpec, message: &str) -> TreePath {
    let root = TreePath::root();
    let at = root.key("players").key(&player.name);
    let named = message
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .next();
    let Some((setting, value)) = named.and_then(|name| player.settings.get_key_value(name)) else {
        return at;
    };
    let axis = format!("players.{}.{setting}", player.name);
    let position = |values: &Vec<serde_json::Value>| values.iter().position(|one| one == value);
    if let Some(place) = document.grid.get(&axis).and_then(position) {
        return root.key("grid").key(axis.as_str()).index(place);
    }
    for (number, game) in document.games.iter().enumerate() {
        if let Some(place) = game.grid.get(&axis).and_then(position) {
            let game = root.key("games").index(number);
            return game.key("grid").key(axis.as_str()).index(place);
        }
    }
    at.key(setting.as_str())
}

pub fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, model)) if !name.is_empty() && !model.is_empty() => {
            Ok((name.to_owned(), model.to_owned()))
        }
        _ => Err("write NAME=MODEL".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    /// Only what a command line needs.
    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        experiment: ExperimentArguments,
    }

    fn check(words: &[&str]) -> Result<CheckedExperiment, Failure> {
        let line = Line::try_parse_from([&["agon"], words].concat()).unwrap();
        line.experiment.check()
    }

    #[test]
    fn file_of_a_run_is_the_same_experiment_for_every_preset() {
        let mut compared = 0;
        for preset in presets::names() {
            // Some need a model, or records of another run.
            let checked = check(&[&preset, "--set", "seed=77", "--repeats", "2"]);
            let Ok(checked) = checked else { continue };
            let text = as_file(&checked.document, &checked.templates, "templates").unwrap();
            let file = ExperimentFile::parse("run", &text).unwrap();
            assert!(file.missing_worlds().is_empty(), "{preset}");
            let again = file
                .check()
                .unwrap_or_else(|error| panic!("{preset}: {error}"));
            let as_run = ExperimentDocument {
                prompts: BTreeMap::new(),
                prompt_bundle: None,
                ..checked.document
            };
            assert_eq!(again, as_run, "{preset}");
            compared += 1;
        }
        assert!(compared > 20, "{compared}");
    }

    #[test]
    fn changes_are_told_as_they_were_typed() {
        let words = [
            "gamma-bench/quick-start",
            "--set",
            "params.rounds=2",
            "--player",
            "random=sim",
            "--repeats",
            "1",
        ];
        let checked = check(&words).unwrap();
        let changes = [
            "--player random=sim",
            "--set params.rounds=2",
            "--repeats 1",
        ];
        assert_eq!(checked.changes, changes);
    }
}
