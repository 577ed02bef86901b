//! Under which terms the sessions behind a number were played: parameters of the game and settings
//! of players that no axis of their experiment names. Sessions of several experiments, or of several
//! labels of one, may be taken together though these differ; then it is said which do.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::spec::Settings;
use agon_engine::{PlayerKind, SessionSpec, registry};
use serde_json::Value;

use crate::axes::{LABEL, axes};
use crate::players::player_of;

/// What is published of games: values of the parameters that were not, or not always, those which games have by default, as JSON;
/// any value where none are named, as where conditions are of them.
pub(crate) type PublishedTerms = &'static [(&'static str, &'static [&'static str])];

/// A setting that says who a player is, which every table shows.
const MODEL: &str = "model";

/// Terms of the sessions behind a number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    by_game: BTreeMap<String, OfGame>,
    /// Names of terms that were found to differ.
    differing: BTreeSet<String>,
}

/// Terms under which one game was played, by experiment and label. Sessions of one have the same
/// terms but for its axes, and for what follows from these.
type OfGame = BTreeMap<(String, String), BTreeMap<String, String>>;

impl Terms {
    /// Takes in a session.
    pub fn add(&mut self, spec: &SessionSpec) {
        let label = spec.setting.get(LABEL).and_then(Value::as_str);
        let label = label.unwrap_or_default();
        let known = self.by_game.get(&spec.game).is_some_and(|known| {
            let mut sources = known.keys();
            sources.any(|(experiment, own)| *experiment == spec.experiment && own == label)
        });
        if !known {
            let source = (spec.experiment.clone(), label.to_owned());
            let values: BTreeMap<String, String> = terms_of(spec).collect();
            let of_game = self.by_game.entry(spec.game.clone()).or_default();
            for known in of_game.values() {
                self.differing.extend(differing(known, &values));
            }
            of_game.insert(source, values);
        }
    }

    /// Takes in those of another row. Labels are settings, which rows may be taken together over.
    pub fn merge(&mut self, other: &Self) {
        self.differing.extend(other.differing.iter().cloned());
        for (game, others) in &other.by_game {
            let of_game = self.by_game.entry(game.clone()).or_default();
            for (source, values) in others {
                if of_game.contains_key(source) {
                    continue;
                }
                let alike = of_game.iter().filter(|((_, label), _)| *label == source.1);
                for (_, known) in alike {
                    self.differing.extend(differing(known, values));
                }
                of_game.insert(source.clone(), values.clone());
            }
        }
    }

    /// The names of terms that are not the same in all sessions of a game.
    pub fn differing(&self) -> &BTreeSet<String> {
        &self.differing
    }

    /// The names of parameters that are neither published ones nor those which games have by default.
    pub fn unusual(&self, published: &[PublishedTerms]) -> BTreeSet<String> {
        let mut unusual = BTreeSet::new();
        for (game, known) in &self.by_game {
            for (name, value) in usual(game).unwrap_or_default() {
                let (term, value) = (format!("params.{name}"), value.to_string());
                let mut played = known.values().filter_map(|values| values.get(&term));
                let as_published = published
                    .iter()
                    .copied()
                    .flatten()
                    .find(|(known, _)| *known == name);
                let is_usual = |played: &String| match as_published {
                    None => *played == value,
                    Some((_, values)) => values.is_empty() || values.contains(&&**played),
                };
                if played.any(|played| !is_usual(played)) {
                    unusual.insert(name);
                }
            }
        }
        unusual
    }
}

/// The names of terms that have other values there.
fn differing(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<String> {
    let both = one
        .iter()
        .filter_map(|(term, value)| Some((term, value, other.get(term)?)));
    let differing = both.filter(|(_, one, other)| one != other);
    differing.map(|(term, ..)| last(term).to_owned()).collect()
}

/// The parameters that a game has by default; `None` of one that is not built in.
fn usual(game: &str) -> Option<Settings> {
    let built = registry::find(game).ok()?.build(&Settings::new());
    built.ok().map(|built| built.params)
}

/// Parameters and settings with their values. Lists and tables are left out: some are drawn for
/// each session.
fn terms_of(spec: &SessionSpec) -> impl Iterator<Item = (String, String)> {
    let params = spec.params.iter();
    let params = params.map(|(name, value)| (format!("params.{name}"), value));
    let seats = spec.seats.iter();
    let seats = seats.filter(|player| player.kind != PlayerKind::Rule);
    let settings = seats.flat_map(|player| {
        let named = player_of(player, &spec.seats);
        let settings = player.settings.iter();
        settings.map(move |(name, value)| (format!("players.{named}.{name}"), value))
    });
    let varied = axes(spec).flat_map(|(axis, _)| axis.split('.'));
    let varied: BTreeSet<&str> = varied.collect();
    let all = params.chain(settings).filter(move |(term, value)| {
        let name = last(term);
        let is_plain = !value.is_array() && !value.is_object();
        is_plain && name != MODEL && !varied.contains(name)
    });
    all.map(|(term, value)| (term, value.to_string()))
}

/// The last segment of a path.
fn last(term: &str) -> &str {
    term.rsplit('.').next().unwrap_or(term)
}
