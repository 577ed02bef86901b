//! An experiment as it is handed in: the same tables as its file, in JSON.
//!
//! [`ExperimentDocument::read`] checks everything that can be checked without playing through
//! the grid: keys, types, names, ranges. What depends on a cell of the grid is checked by
//! [`super::cell`]. The command line makes documents, the coordinator reads them again.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_engine::extent::Extent;
use agon_engine::outside_game::Description;
use agon_engine::spec::{Origin, Settings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::budget::nanodollars;
use super::faults::Faults;
use super::limits::DOCUMENT;
use super::path::TreePath;
use super::world::World;

mod added;
mod names;
mod reader;

pub use names::{is_experiment_name, is_kept_name, is_player_name};

/// The tables that are known to show beside one's own results.
pub const COMPARISONS: [&str; 29] = [
    "gamma-bench",
    "gamma-bench-repeats",
    "gamma-bench-temperatures",
    "gamma-bench-prompt-versions",
    "gamma-bench-settings",
    "gamma-bench-improvements",
    "aucarena-competition",
    "aucarena-behaviour",
    "aucarena-module-ablation",
    "aucarena-niche",
    "aucarena-human",
    "harbor-persona-behaviour",
    "harbor-persona-profit",
    "harbor-profiling-matches",
    "harbor-profiling-capacity",
    "harbor-theory-of-mind",
    "econarena-melee",
    "econarena-rational",
    "econarena-configurations",
    "econarena-senior",
    "econarena-history-rational",
    "econarena-history-melee",
    "alympics-resources",
    "alympics-personas",
    "alympics-human",
    "alympics-judging",
    "k-level-guessing",
    "k-level-survival-auction",
    "k-level-programmatic",
];

/// An experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentDocument {
    /// Its name; sessions of two experiments are never the same.
    pub name: String,
    /// What it is about, for people.
    #[serde(default)]
    pub description: String,
    /// Where all chance comes from.
    #[serde(default = "one_u64")]
    pub seed: u64,
    /// How often every setting is played, each time with other luck.
    #[serde(default = "one")]
    pub repeats: u32,
    /// How sessions follow each other; each stands for itself when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesDefinition>,
    /// Who pays.
    #[serde(default = "default_team")]
    pub team: String,
    /// Of the team's experiments those of higher priority go first.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub priority: i32,
    /// The most that it may cost in all, in dollars, as text so that no digit is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_dollars: Option<String>,
    /// Decisions may be answered from the gateway's content cache, and fill it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub content_cache: bool,
    /// The players by name: `kind` and the settings of that kind.
    pub players: BTreeMap<String, Settings>,
    /// Settings of every model player that does not set them itself.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub model: Settings,
    /// The games.
    pub games: Vec<GameDefinition>,
    /// Axes that apply to every game: path to values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grid: BTreeMap<String, Vec<Value>>,
    /// Variants that change several values together, for every game.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Settings>,
    /// How results are shown.
    #[serde(default, skip_serializing_if = "ReportDefinition::is_default")]
    pub report: ReportDefinition,
    /// Worlds by name; those that the games name are put here by the command line.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub worlds: BTreeMap<String, World>,
    /// Folder of templates that replace built-in ones, as the file names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<String>,
    /// What its model players are told, by [`agon_engine::spec::prompts::key`]; set by the
    /// command line.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, PromptsOfPlayer>,
    /// The games that are played elsewhere, as their processes describe them, by name; set by the
    /// command line.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outside: BTreeMap<String, Arc<Description>>,
    /// Digest of the replaced templates; set by the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_bundle: Option<String>,
    /// Where the answers of its models come from, by name. The coordinator asks the gateway and
    /// never believes what is handed in.
    #[serde(skip)]
    pub origins: BTreeMap<String, Origin>,
}

/// The prompts of a model player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptsOfPlayer {
    /// Version of its agent and of the built-in templates that this uses.
    pub version: String,
    /// Whether the experiment's own templates replace any of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaced: bool,
}

/// On which terms an experiment's decisions are asked; no part of what its sessions are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// Of the team's experiments those of higher priority are leased first.
    pub priority: i32,
    /// The most that it may cost in all, in nano-dollars.
    pub budget: Option<u64>,
    /// The gateway's content cache may answer.
    pub content_cache: bool,
}

/// One entry of `[[games]]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameDefinition {
    /// Registered name; may come from the grid instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
    /// Names its rows in tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Parameters; missing ones take their defaults.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub params: Settings,
    /// Who sits where; the only player, or the one called `subject`, everywhere when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seats: Option<Value>,
    /// What is sold and who may want it: the name of a world, or what of it is played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<Value>,
    /// Axes of this game: path to values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grid: BTreeMap<String, Vec<Value>>,
    /// Variants that change several values together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Settings>,
}

/// Sessions that are played one after the other, their players taking along what they concluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeriesDefinition {
    /// Sessions of each series; every repeat of every setting is one.
    pub length: u32,
}

/// How results are shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportDefinition {
    /// A published table to show beside the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<String>,
}

impl ReportDefinition {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

const fn one_u64() -> u64 {
    1
}

const fn one() -> u32 {
    1
}

fn is_usual(priority: &i32) -> bool {
    *priority == 0
}

/// Who pays when nobody says so.
pub const DEFAULT_TEAM: &str = "default";

pub(super) fn default_team() -> String {
    DEFAULT_TEAM.to_owned()
}

impl ExperimentDocument {
    /// On which terms its decisions are asked; nothing here makes other sessions of it.
    pub fn terms(&self) -> Terms {
        Terms {
            priority: self.priority,
            budget: self.budget_nanodollars(),
            content_cache: self.content_cache,
        }
    }

    /// How many sessions each repeat of a setting has: those of its series, else one.
    pub fn series_length(&self) -> u32 {
        self.series.map_or(1, |series| series.length)
    }

    /// The budget, if there is one.
    pub fn budget_nanodollars(&self) -> Option<u64> {
        nanodollars(self.budget_dollars.as_deref()?)
    }

    /// Reads a document from its tree.
    ///
    /// # Errors
    /// Everything that is wrong with it, apart from what only single cells of the grid show.
    pub fn read(tree: &Value) -> Result<Self, Faults> {
        reader::read(tree)
    }

    /// Reads a document as it is handed in.
    ///
    /// # Errors
    /// It is too large, is no JSON, or is wrong in the sense of [`ExperimentDocument::read`].
    pub fn from_json(bytes: &[u8]) -> Result<Self, Faults> {
        check_extent(bytes)?;
        match serde_json::from_slice(bytes) {
            Ok(tree) => Self::read(&tree),
            Err(error) => Err(about_all(format!("the document is no JSON: {error}"))),
        }
    }

    /// Checks that the document is not too large to be handed in.
    ///
    /// # Errors
    /// It is; says by which measure.
    pub(super) fn check_extent(&self) -> Result<(), Faults> {
        check_extent(&self.to_json())
    }

    /// The document as it is handed in.
    pub fn to_json(&self) -> Vec<u8> {
        // Strings, numbers and maps with string keys: nothing here can fail to serialise.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

fn check_extent(json: &[u8]) -> Result<(), Faults> {
    Extent::check_json(json, &DOCUMENT).map_err(|error| {
        about_all(format!(
            "the document is too large: {error}; split the experiment into several"
        ))
    })
}

fn about_all(message: String) -> Faults {
    let mut faults = Faults::default();
    faults.value(&TreePath::root(), message);
    faults
}
