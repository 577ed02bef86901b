//! The settings of an experiment, in the order in which they came first, and something
//! kept of the sessions of each. What tells settings apart is said in `axes.rs`.
//! Called by every report.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::record::StoredRecord;
use serde::Serialize;
use serde_json::Value as Json;

use crate::axes::{AxisNames, LABEL, axes_of, in_words, written};
use crate::basis::{Basis, Note};
use crate::observation::SessionObservations;
use crate::selection::models_in;

/// What every report says of a setting.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SettingHead {
    /// Registered name of the game.
    pub game: String,
    /// The setting in words; empty without a grid.
    pub setting: String,
    /// The same as axes of the experiment with their values, the label among them.
    pub axes: BTreeMap<String, Json>,
    /// How many sessions there were.
    pub sessions: u64,
    /// How many of them were answered by a simulated model.
    pub simulated: u64,
    /// Which models played, and whether they were simulated: sessions of other models are another
    /// setting.
    #[serde(skip)]
    pub played_by: (String, bool),
    /// What numbers about all seats rest on.
    pub answers: Basis,
    /// What numbers about one player rest on, in order of first seats.
    pub answers_by_player: Vec<PlayerAnswers>,
}

/// What numbers about one player rest on.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PlayerAnswers {
    /// Its name; all its seats are taken together.
    pub player: String,
    /// Its answers.
    #[serde(flatten)]
    pub answers: Basis,
}

impl SettingHead {
    /// The value of an axis in words; `None` without such an axis.
    pub(crate) fn axis(&self, name: &str) -> Option<String> {
        self.axes.get(name).map(in_words)
    }

    /// The label of the experiment's entry; empty without one.
    pub(crate) fn label(&self) -> String {
        self.axis(LABEL).unwrap_or_default()
    }

    /// What numbers about a player rest on; those about all seats for any other name.
    pub(crate) fn basis(&self, player: &str) -> &Basis {
        let mut players = self.answers_by_player.iter();
        let found = players.find(|one| one.player == player);
        found.map_or(&self.answers, |one| &one.answers)
    }

    /// Everything that must be said of any number of this setting.
    pub(crate) fn notes(&self) -> impl Iterator<Item = Note> + use<> {
        let mut notes = self.answers.notes();
        for one in &self.answers_by_player {
            notes.extend(one.answers.notes());
        }
        notes.into_iter()
    }

    /// What settings that only their players tell apart have in common.
    fn key(&self) -> (&str, String) {
        (&self.game, written(&self.axes))
    }

    /// Takes in the sessions of another setting, whoever played them.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.simulated += other.simulated;
        self.answers.merge(&other.answers);
    }

    /// Counts a session.
    fn count(&mut self, session: &SessionObservations<'_>) {
        let (record, answers) = (session.record, &session.answers);
        self.sessions += 1;
        self.simulated += u64::from(record.simulated);
        self.answers.add(&record.spec, answers, answers.all());
        let seats = &record.spec.seats;
        for (place, seat) in seats.iter().enumerate() {
            let player = &seat.name;
            if seats[..place].iter().any(|before| before.name == *player) {
                continue;
            }
            let mut known = self.answers_by_player.iter();
            let known = known.position(|one| one.player == *player);
            let known = known.unwrap_or_else(|| {
                self.answers_by_player.push(PlayerAnswers {
                    player: player.clone(),
                    ..PlayerAnswers::default()
                });
                self.answers_by_player.len() - 1
            });
            let basis = &mut self.answers_by_player[known].answers;
            basis.add(&record.spec, answers, &answers.of_player(seats, player));
        }
    }
}

/// Settings and what is kept of each. Settings of two games are two, whatever they say.
#[derive(Debug, Clone)]
pub(crate) struct BySetting<T> {
    names: AxisNames,
    settings: Vec<(SettingHead, T)>,
    /// Where each is: by game, axes as JSON, and who played. A sweep may have many thousands.
    places: BTreeMap<(String, String, (String, bool)), usize>,
}

impl<T> Default for BySetting<T> {
    fn default() -> Self {
        Self {
            names: AxisNames::default(),
            settings: Vec::new(),
            places: BTreeMap::new(),
        }
    }
}

impl<T> BySetting<T> {
    /// Counts a session and hands out what is kept of its setting, made new when it has not been
    /// seen.
    pub fn count(&mut self, session: &SessionObservations<'_>, new: impl FnOnce() -> T) -> &mut T {
        let record = session.record;
        self.names.add(&record.spec);
        let axes = axes_of(&record.spec);
        let game = &record.spec.game;
        let played_by = played_by(record);
        let key = (game.clone(), written(&axes), played_by.clone());
        let place = *self.places.entry(key).or_insert_with(|| {
            let head = SettingHead {
                game: game.clone(),
                axes,
                played_by,
                ..SettingHead::default()
            };
            self.settings.push((head, new()));
            self.settings.len() - 1
        });
        let (head, kept) = &mut self.settings[place];
        head.count(session);
        kept
    }

    /// Whether no session was counted.
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }

    /// All of them, named by what tells them apart: their axes, and where these are the same the
    /// models that played, or that they were simulated.
    pub fn iter(&self) -> impl Iterator<Item = (SettingHead, &T)> {
        let mut alike: BTreeMap<(&str, String), BTreeSet<&(String, bool)>> = BTreeMap::new();
        for (head, _) in &self.settings {
            alike.entry(head.key()).or_default().insert(&head.played_by);
        }
        self.settings.iter().map(move |(head, kept)| {
            let mut words = vec![self.names.join(head.axes.iter())];
            let others = alike.get(&head.key()).into_iter().flatten();
            let (models, simulated) = &head.played_by;
            if others.clone().any(|(other, _)| other != models) {
                words.push(models.clone());
            }
            if *simulated && others.clone().any(|(_, other)| !other) {
                words.push("simulated".to_owned());
            }
            words.retain(|word| !word.is_empty());
            let head = SettingHead {
                setting: words.join(", "),
                ..head.clone()
            };
            (head, kept)
        })
    }
}

/// Which models play in a session, in words (`alice gpt-4o, bob gpt-4o-mini`), and whether any of
/// them is simulated. Experiments vary everything else along axes.
fn played_by(record: &StoredRecord) -> (String, bool) {
    (models_in(&record.spec.seats), record.simulated)
}
