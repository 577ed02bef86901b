//! What a game says of itself that is played elsewhere, and the entry among games that it
//! becomes. Everything that sessions depend on goes from here into their specs, so that nobody
//! needs the other process to know what a session is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::parameters::{self, Parameter, ParameterKind};
use super::state::OutsideGame;
use crate::game::{Blueprint, Built, FactNames, GameInfo, ParameterError, Registration, Timing};
use crate::names::is_identifier;
use crate::outside::OutsideRules;
use crate::registry;
use crate::rule_player::StrategyInfo;
use crate::spec::Settings;

/// Version of the contract.
pub const CONTRACT: u32 = 1;

/// The parameter that is taken from the seats of an experiment.
const PLAYERS: &str = "players";

/// Most seats of any game.
const MOST_SEATS: usize = 1_000;

/// Longest title.
const LONGEST_TITLE: usize = 200;

/// Longest summary and source.
const LONGEST_TEXT: usize = 1_000;

/// Bytes of all defaults together: they stand in every spec.
const MOST_DEFAULTS: usize = 64 * 1024;

/// Longest name of a game: it is a column and a folder.
const LONGEST_NAME: usize = 60;

/// A game that is played elsewhere, as its process describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Version of the contract, [`CONTRACT`].
    pub agon_game: u32,
    /// Name in experiment files and records: lower case letters, digits and `_`.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// What it is, in one sentence.
    #[serde(default)]
    pub summary: String,
    /// Where its rules come from.
    #[serde(default)]
    pub source: String,
    /// Version of the rules. Part of every session id: raised whenever the same answers could
    /// lead to another record.
    pub rules_version: u32,
    /// Fewest and most seats. Where they differ there is a parameter `players`.
    pub seats: (usize, usize),
    /// Whether seats move at the same time or one after another.
    pub timing: Timing,
    /// Whether it draws.
    #[serde(default)]
    pub chance: bool,
    /// Whether a seat may know something that another may not.
    #[serde(default)]
    pub hidden_information: bool,
    /// Names of facts that mean the same in every game.
    #[serde(default)]
    pub facts: FactNames,
    /// What there is to set.
    #[serde(default)]
    pub parameters: BTreeMap<String, Parameter>,
    /// Most asks that one seat can get in a session, fouls apart.
    pub asks_per_seat: AsksPerSeat,
    /// Smallest and largest payoff of a seat, where the game promises them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payoff_bounds: Option<(f64, f64)>,
    /// Templates in which models are told of it, by name (`system.j2`); without any they are
    /// told in the words that all such games share.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub templates: BTreeMap<String, String>,
}

/// Most asks of a seat: so many, or so many times a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AsksPerSeat {
    /// How many, or how many for each unit of the parameter.
    pub times: u32,
    /// A parameter that is a whole number, such as `rounds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
}

impl AsksPerSeat {
    fn with(&self, params: &Settings) -> u32 {
        let of = |name: &String| params.get(name).and_then(Value::as_u64);
        let units = self.parameter.as_ref().map_or(Some(1), of).unwrap_or(1);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        self.times.saturating_mul(units).max(1)
    }
}

impl Description {
    /// Checks that everything in it fits together.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
    pub fn check(&self) -> Result<(), String> {
        let name = &self.name;
        if self.agon_game != CONTRACT {
            let found = self.agon_game;
            return Err(format!(
                "agon_game is {found}; this program speaks version {CONTRACT} of the contract"
            ));
        }
        if !is_identifier(name) || name.len() > LONGEST_NAME {
            return Err(format!(
                "name {name:?} must have 1 to {LONGEST_NAME} lower case letters, digits and _, a \
                 letter first"
            ));
        }
        // Folders of templates have these names.
        if registry::find(name).is_ok() || ["outside", "shared"].contains(&name.as_str()) {
            return Err(format!(
                "name \"{name}\" is taken by this program; choose another"
            ));
        }
        self.check_words()?;
        let (fewest, most) = self.seats;
        if fewest == 0 || fewest > most || most > MOST_SEATS {
            return Err(format!(
                "seats are {fewest} to {most}; there must be 1 to {MOST_SEATS}, the fewest first"
            ));
        }
        if fewest != most && !self.parameters.contains_key(PLAYERS) {
            return Err(format!(
                "seats are {fewest} to {most}, so there must be a parameter \"{PLAYERS}\", which is \
                 set to their number"
            ));
        }
        let in_parameters = |error: ParameterError| {
            let ParameterError { path, message } = error;
            format!("the default of parameters.{path} {message}")
        };
        parameters::check_defaults(&self.parameters).map_err(in_parameters)?;
        let unit = self.asks_per_seat.parameter.iter();
        if let Some(unknown) = unit.into_iter().find(|unit| {
            let parameter = self.parameters.get(*unit);
            let is_whole = |one: &Parameter| matches!(one.kind, ParameterKind::Integer { .. });
            !parameter.is_some_and(|one| is_whole(one) && one.default.is_u64())
        }) {
            return Err(format!(
                "asks_per_seat.parameter is \"{unknown}\", which must be a parameter that is a \
                 whole number"
            ));
        }
        Ok(())
    }

    /// Checks the lengths of what is told to people, and the names of parameters: they stand in
    /// every spec, table and page.
    fn check_words(&self) -> Result<(), String> {
        for (what, text, most) in [
            ("title", &self.title, LONGEST_TITLE),
            ("summary", &self.summary, LONGEST_TEXT),
            ("source", &self.source, LONGEST_TEXT),
        ] {
            if text.len() > most || text.chars().any(char::is_control) {
                return Err(format!("{what} must be one line of at most {most} letters"));
            }
        }
        let is_known = |file: &&String| {
            let name = file.strip_suffix(".j2").unwrap_or_default();
            let told = ["open_", "result_"].iter();
            let event = told.filter_map(|start| name.strip_prefix(start)).next();
            ["system", "ask", "result"].contains(&name) || event.is_some_and(is_identifier)
        };
        if let Some(file) = self.templates.keys().find(|file| !is_known(file)) {
            return Err(format!(
                "the template {file:?} tells nothing: there are system.j2, ask.j2, result.j2, \
                 open_EVENT.j2 and result_EVENT.j2"
            ));
        }
        let needed = ["system.j2", "ask.j2"].into_iter();
        let missing = needed
            .into_iter()
            .find(|file| !self.templates.contains_key(*file));
        if let Some(file) = missing.filter(|_| !self.templates.is_empty()) {
            return Err(format!("there are templates, but no {file}"));
        }
        if self.title.trim().is_empty() {
            return Err("title must not be empty".to_owned());
        }
        if let Some(name) = self.parameters.keys().find(|name| !is_identifier(name)) {
            return Err(format!(
                "the parameter {name:?} must be called by lower case letters, digits and _"
            ));
        }
        let defaults = self.parameters.values().map(|one| one.default.to_string());
        let bytes: usize = defaults.map(|text| text.len()).sum();
        let facts = serde_json::to_string(&self.facts).unwrap_or_default();
        match bytes.max(facts.len()) > MOST_DEFAULTS {
            true => Err(format!(
                "the defaults of parameters, or the names of facts, have more than {MOST_DEFAULTS} \
                 bytes"
            )),
            false => Ok(()),
        }
    }

    /// The entry among games that it is.
    pub fn registration(self: &Arc<Self>) -> Registration {
        let (blueprint, info) = (Arc::clone(self), self.info());
        Registration::new(info, blueprint)
    }

    /// What kind of game it is.
    pub fn info(&self) -> GameInfo {
        GameInfo {
            name: Cow::Owned(self.name.clone()),
            title: Cow::Owned(self.title.clone()),
            summary: Cow::Owned(self.summary.clone()),
            rules_version: self.rules_version,
            seats: self.seats,
            timing: self.timing,
            chance: self.chance,
            hidden_information: self.hidden_information,
            source: Cow::Owned(self.source.clone()),
            facts: self.facts.clone(),
        }
    }

    /// What specs of its sessions say of it, with these parameters.
    pub fn rules(&self, params: &Settings) -> OutsideRules {
        OutsideRules {
            title: self.title.clone(),
            timing: self.timing,
            facts: self.facts.clone(),
            asks_per_seat: self.asks_per_seat.with(params),
        }
    }
}

impl Blueprint for Description {
    fn strategies(&self) -> Vec<StrategyInfo> {
        OutsideGame::common()
    }

    fn build(&self, settings: &Settings) -> Result<Built, ParameterError> {
        let (fewest, most) = self.seats;
        let params = parameters::complete(&self.parameters, settings)?;
        let players = params
            .get(PLAYERS)
            .map_or(Some(fewest as u64), Value::as_u64);
        let seats = players.and_then(|players| usize::try_from(players).ok());
        let Some(seats) = seats.filter(|seats| (fewest..=most).contains(seats)) else {
            return Err(ParameterError::new(
                PLAYERS,
                format!("must be a whole number from {fewest} to {most}"),
            ));
        };
        let game = OutsideGame::new(self.info(), self.rules(&params), seats);
        Ok(Built {
            game: Arc::new(game.promising(self.payoff_bounds)),
            params,
        })
    }

    fn schema(&self) -> Value {
        parameters::schema(&self.parameters)
    }
}
