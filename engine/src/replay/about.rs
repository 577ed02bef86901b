//! Where a recorded game came from, and the spec under which it is kept as a session: who played,
//! which repeat of which setting it was. Knows no game.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use crate::chance::Luck;
use crate::spec::{Origin, PlayerKind, PlayerSpec, RECORDED, SessionSpec, Settings};

/// How a player is called that always answers the same ("specified=91").
const SCRIPTED: &str = "specified";

/// What a line may say about where its game came from.
#[derive(Debug, Default, Deserialize)]
pub(super) struct About {
    /// The model that played all seats, as the file is named.
    #[serde(default)]
    file_model: Option<String>,
    /// The models of the seats, as the provider was asked for them.
    #[serde(default)]
    models: Vec<String>,
    /// Which game of its series ("v1_3").
    #[serde(default)]
    variant: Option<String>,
    /// What the series varies; "run" where games are repeats of one setting.
    #[serde(default)]
    variant_class: Option<String>,
}

/// What a spec of a recorded game is made of, besides [`About`].
pub(super) struct Imported<'a> {
    pub experiment: &'a str,
    /// Id of the line.
    pub id: &'a str,
    pub game: &'a str,
    pub rules_version: u32,
    pub params: &'a Settings,
    /// What they are by default.
    pub defaults: &'a Settings,
    /// Parameters that say how the other program played, and nothing about the setting.
    pub adjusted: &'static [&'static str],
    /// Who sat where, as far as the family says.
    pub seats: Vec<PlayerSpec>,
}

/// A player of whom only the name is known.
pub(super) fn named(name: &str) -> PlayerSpec {
    PlayerSpec {
        name: name.to_owned(),
        kind: PlayerKind::Model,
        settings: Settings::new(),
    }
}

/// Players of whom nothing is known.
pub(super) fn numbered(seats: usize) -> Vec<PlayerSpec> {
    (0..seats)
        .map(|seat| named(&format!("player_{seat}")))
        .collect()
}

/// A model that is known.
fn player_of(model: &str) -> PlayerSpec {
    PlayerSpec {
        settings: [("model".to_owned(), json!(model))].into(),
        ..named(model)
    }
}

/// A number that belongs to this id, small enough for every reader of JSON.
fn number_of(id: &str) -> u64 {
    let digest = blake3::hash(id.as_bytes());
    let first = digest.as_bytes().iter().take(6);
    first.fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

impl About {
    /// The spec of the session as which the game is kept.
    pub fn spec(&self, imported: Imported<'_>) -> SessionSpec {
        let setting = self.setting(&imported);
        let seats = self.seats(imported.seats.clone());
        let origins = self.origins(&seats);
        SessionSpec {
            experiment: imported.experiment.to_owned(),
            setting,
            luck: Luck {
                // Of the line itself: two records of the same play stay two.
                seed: number_of(imported.id),
                repeat: self.repeat(),
                place: 0,
            },
            game: imported.game.to_owned(),
            outside: None,
            rules_version: imported.rules_version,
            params: imported.params.clone(),
            seats,
            prompts_version: None,
            prompt_bundle: None,
            origins,
        }
    }

    /// Who played: the model that the file is named after in all seats, unless they were played by
    /// several; those that the authors' program played by a fixed answer are called so. Unnamed
    /// players where the record does not say it of every seat.
    fn seats(&self, unnamed: Vec<PlayerSpec>) -> Vec<PlayerSpec> {
        let is_whole = self.models.len() == unnamed.len();
        let Some(of_file) = self.file_model.as_ref().filter(|_| is_whole) else {
            return unnamed;
        };
        let played = || {
            self.models
                .iter()
                .filter(|model| !model.starts_with(SCRIPTED))
        };
        let is_one = played().all(|model| played().next() == Some(model));
        let seats = self
            .models
            .iter()
            .map(|model| match model.starts_with(SCRIPTED) {
                true => named(model),
                false if is_one => player_of(of_file),
                false => player_of(model),
            });
        seats.collect()
    }

    /// Where each of these players was asked, by its name.
    fn origins(&self, seats: &[PlayerSpec]) -> BTreeMap<String, Origin> {
        let asked = seats.iter().zip(&self.models);
        let asked = asked.filter(|(seat, _)| seat.settings.contains_key("model"));
        let mut asked: BTreeMap<&str, &str> =
            asked.map(|(seat, model)| (&*seat.name, &**model)).collect();
        if asked.is_empty() {
            asked.insert(RECORDED, RECORDED);
        }
        let origins = asked.into_iter().map(|(name, model)| {
            let origin = Origin {
                provider_kind: RECORDED.to_owned(),
                endpoint: "games that another program recorded".to_owned(),
                provider_model: model.to_owned(),
                additions: String::new(),
            };
            (name.to_owned(), origin)
        });
        origins.collect()
    }

    /// Whether it is a repeat of the setting that the others repeat, too.
    fn is_repeat(&self) -> bool {
        self.variant_class
            .as_deref()
            .is_none_or(|class| class == "run")
    }

    /// What was varied: parameters that are not as they usually are, and what the record calls it.
    fn setting(&self, imported: &Imported<'_>) -> Settings {
        let params = imported.params.iter();
        let varied = params.filter(|(name, value)| {
            let is_one = !value.is_array() && !value.is_object();
            let is_adjusted = imported.adjusted.contains(&name.as_str());
            is_one && !is_adjusted && imported.defaults.get(*name) != Some(*value)
        });
        let mut setting: Settings = varied
            .map(|(name, value)| (format!("params.{name}"), value.clone()))
            .collect();
        if let Some(variant) = self.variant.as_ref().filter(|_| !self.is_repeat()) {
            setting.insert("variant".to_owned(), json!(variant));
        }
        setting
    }

    /// The number at the end of a repeat's name, from 0.
    fn repeat(&self) -> u32 {
        let variant = self.variant.as_deref().filter(|_| self.is_repeat());
        let number = variant.and_then(|variant| variant.rsplit('_').next()?.parse::<u32>().ok());
        number.map_or(0, |number| number.saturating_sub(1))
    }
}
