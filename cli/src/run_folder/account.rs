//! `run.json`: what a run was and what became of it. Written when the run begins and again when it
//! ends, so that one that was killed has an account, too. Holds no secrets: keys are named by where
//! they were found. Later versions of this program add fields, so unknown ones are passed over.

use std::collections::BTreeMap;

use agon_coordinator::experiment::PromptsOfPlayer;
use agon_engine::spec::Origin;
use serde::{Deserialize, Serialize};

/// The form of this file.
pub const FORMAT: u32 = 1;

/// See the module.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Account {
    /// [`FORMAT`].
    pub format: u32,
    /// The run's number in its folder, from 1.
    pub run: u32,
    /// The experiment's name.
    pub experiment: String,
    /// When it began, UTC.
    pub started: String,
    /// When it ended, UTC; absent while it runs, and when it was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// What became of it.
    pub outcome: Outcome,
    /// What was told at its end, unless all went well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The command line, without secrets.
    pub command: Vec<String>,
    /// What the command line changed in the experiment.
    pub changes: Vec<String>,
    /// The experiment's file or preset.
    pub source: Source,
    /// Digest of the document that was run.
    pub document: String,
    /// Versions of what played.
    pub versions: Versions,
    /// Digest of all templates that replaced built-in ones, if any did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_bundle: Option<String>,
    /// Digest of each template that replaced a built-in one, by its path.
    pub templates: BTreeMap<String, String>,
    /// Where the answers of its models came from, by name.
    pub models: BTreeMap<String, Origin>,
    /// Where its state was kept.
    pub state: State,
    /// Its sessions, as far as it got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Counts>,
    /// Digests of the files beside this one, by name.
    pub files: BTreeMap<String, String>,
}

/// What became of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It runs, or was killed.
    #[default]
    Unfinished,
    /// All sessions are done.
    Complete,
    /// It came to its end with bad news: sessions set aside, a mismatch, a cancellation.
    BadNews,
    /// A budget was spent.
    Paused,
    /// Ctrl-C.
    Interrupted,
    /// Something outside was missing.
    Failed,
    /// It was run before runs had accounts.
    Unknown,
}

impl Outcome {
    /// In words, for a list.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Unfinished => "running or killed",
            Self::Complete => "complete",
            Self::BadNews => "finished with problems",
            Self::Paused => "paused",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// An experiment's text, and where it was found.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Source {
    /// The file or preset.
    pub name: String,
    /// Digest of its text.
    pub digest: String,
}

/// Versions of what played.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Versions {
    /// This program.
    pub agon: String,
    /// The newest form of records that it writes.
    pub record: u32,
    /// What the players of models were told, by game and player.
    pub prompts: BTreeMap<String, PromptsOfPlayer>,
    /// The rules, by game.
    pub rules: BTreeMap<String, u32>,
}

/// Where a run kept its state: in a data folder, a Redis or a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The data folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Redis, without its password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redis: Option<String>,
    /// The coordinator of a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordinator: Option<String>,
}

impl State {
    /// For messages: "in DIR" or "at URL".
    pub fn in_words(&self) -> String {
        let Self {
            data,
            redis,
            coordinator,
        } = self;
        match (data, redis.as_ref().or(coordinator.as_ref())) {
            (Some(data), _) => format!("in {data}"),
            (None, Some(address)) => format!("at {address}"),
            (None, None) => "nowhere".to_owned(),
        }
    }
}

/// How far a run got.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Sessions of the experiment.
    pub all: u64,
    /// Finished ones, whose records are in the entry.
    pub done: u64,
    /// Of these, finished before this run.
    pub done_before: u64,
    /// Sessions that were set aside, with the reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub set_aside: BTreeMap<String, String>,
}
