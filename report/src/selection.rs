//! Which sessions a number rests on, as plain data: their game, setting, player and experiment. Rows of
//! tables and points of figures name theirs, and pages filter by the same. Knows no table and no page.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::{PlayerSpec, SessionSpec};
use agon_outlets::line;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::axes::{AxisNames, LABEL, axes, in_words};

/// Sessions that have all of this in common; what is left out may be anything.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Selection {
    /// Their experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub experiment: Option<String>,
    /// Their game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub game: Option<String>,
    /// Players who all sit in them: by name, by model or strategy, or all seats in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub players: Vec<String>,
    /// Exactly these axes of the experiment with their values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub setting: Option<BTreeMap<String, Value>>,
    /// Whether they may have further axes for a model or a label.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loose: bool,
    /// Whether a simulated model answered in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub simulated: Option<bool>,
}

impl Selection {
    /// Sessions of a game.
    pub fn of_game(game: &str) -> Self {
        Self {
            game: Some(game.to_owned()),
            ..Self::default()
        }
    }

    /// Of exactly this setting.
    #[must_use]
    pub(crate) fn setting(mut self, axes: &BTreeMap<String, Value>) -> Self {
        self.setting = Some(axes.clone());
        self
    }

    /// Of this setting, whatever models and label.
    #[must_use]
    pub(crate) fn loosely(mut self, axes: &BTreeMap<String, Value>) -> Self {
        (self.setting, self.loose) = (Some(axes.clone()), true);
        self
    }

    /// With somebody.
    #[must_use]
    pub(crate) fn player(mut self, player: &str) -> Self {
        if !player.is_empty() {
            self.players.push(player.to_owned());
        }
        self
    }

    /// Answered by simulated models, or by none.
    #[must_use]
    pub(crate) fn simulated(mut self, simulated: bool) -> Self {
        self.simulated = Some(simulated);
        self
    }

    /// Whether a session of this is one of them, whoever sits in it.
    pub fn fits(&self, spec: &SessionSpec, simulated: bool) -> bool {
        let is = |wanted: &Option<String>, own: &str| {
            let wanted = wanted.as_deref();
            wanted.is_none_or(|wanted| wanted == own)
        };
        is(&self.experiment, &spec.experiment)
            && is(&self.game, &spec.game)
            && self.simulated.is_none_or(|wanted| wanted == simulated)
            && self.is_in_setting(spec)
    }

    fn is_in_setting(&self, spec: &SessionSpec) -> bool {
        let Some(wanted) = &self.setting else {
            return true;
        };
        let may_be_more =
            |axis: &str| self.loose && (axis == LABEL || axis.rsplit('.').next() == Some("model"));
        let own = axes(spec).filter(|(axis, _)| wanted.contains_key(*axis) || !may_be_more(axis));
        own.eq(wanted.iter())
    }
}

/// Which models sit on these seats, in words: `alice gpt-4o, bob gpt-4o-mini`; empty without any.
pub(crate) fn models_in(seats: &[PlayerSpec]) -> String {
    let models: BTreeSet<String> = seats
        .iter()
        .filter_map(|player| {
            let model = player.settings.get("model")?.as_str()?;
            Some(match model == player.name {
                true => line(model).to_string(),
                false => format!("{} {}", player.name, line(model)),
            })
        })
        .collect();
    let models: Vec<String> = models.into_iter().collect();
    models.join(", ")
}

/// What a filter calls the game, as if it were an axis of every experiment.
const GAME: &str = "game";

/// Several axes of a session fit one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("several axes end with \"{}\": {}", line(axis), self.in_words())]
pub struct SeveralAxes {
    /// The name.
    pub axis: String,
    /// The shortest name of each of them that fits no other.
    pub names: Vec<String>,
}

impl SeveralAxes {
    /// Their names in a sentence.
    fn in_words(&self) -> String {
        let names: Vec<String> = self
            .names
            .iter()
            .map(|name| line(name).to_string())
            .collect();
        names.join(" and ")
    }
}

/// The value of an axis of a session in words, by its name or the last segments of it, or its game; empty
/// without such an axis.
///
/// # Errors
/// Several axes end so, and none is called so.
pub fn value_of(spec: &SessionSpec, axis: &str) -> Result<String, SeveralAxes> {
    if let Some(value) = spec.setting.get(axis) {
        return Ok(in_words(value));
    }
    let suffix = format!(".{axis}");
    let found = spec.setting.iter();
    let found = found.filter(|(name, _)| name.ends_with(&suffix));
    match found.collect::<Vec<_>>().as_slice() {
        [(_, value)] => Ok(in_words(value)),
        [] if axis == GAME => Ok(spec.game.clone()),
        [] => Ok(String::new()),
        several => {
            let mut known = AxisNames::default();
            known.add(spec);
            let names = several.iter().map(|(name, _)| known.name(name).to_owned());
            Err(SeveralAxes {
                axis: axis.to_owned(),
                names: names.collect(),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::Table;

    #[test]
    fn setting_is_exact_unless_models_and_labels_are_left_open() {
        let played = Table {
            game: "guess_two_thirds",
            params: json!({ "rounds": 1 }),
            setting: json!({ "params.ratio": 0.5, "players.a.model": "m" }),
            seats: &[("a", &[1.0]), ("b", &[2.0])],
            repeat: 0,
        };
        let spec = played.played().spec;
        let ratio = || BTreeMap::from([("params.ratio".to_owned(), json!(0.5))]);
        let game = || Selection::of_game("guess_two_thirds");
        assert!(!game().setting(&ratio()).fits(&spec, false));
        assert!(game().loosely(&ratio()).fits(&spec, false));
        assert!(!game().loosely(&ratio()).simulated(true).fits(&spec, false));
        assert!(!game().loosely(&BTreeMap::new()).fits(&spec, false));
        let of_model = |model: &str| {
            let mut wanted = ratio();
            wanted.insert("players.a.model".to_owned(), json!(model));
            wanted
        };
        assert!(game().setting(&of_model("m")).fits(&spec, false));
        assert!(!game().loosely(&of_model("other")).fits(&spec, false));
        assert!(!Selection::of_game("pirate").fits(&spec, false));
        assert_eq!(value_of(&spec, "ratio").unwrap(), "0.5");
        assert_eq!(value_of(&spec, "game").unwrap(), "guess_two_thirds");
        assert_eq!(value_of(&spec, "rounds").unwrap(), "");
    }

    #[test]
    fn a_name_that_fits_several_axes_is_none_of_them() {
        let played = Table {
            game: "guess_two_thirds",
            params: json!({ "rounds": 1 }),
            setting: json!({
                "players.a.temperature": 0.0, "players.b.temperature": 1.0, "players.b.warmth": 2,
                "warmth": 1,
            }),
            seats: &[("a", &[1.0]), ("b", &[2.0])],
            repeat: 0,
        };
        let spec = played.played().spec;
        let several = value_of(&spec, "temperature").unwrap_err();
        assert_eq!(several.names, ["a.temperature", "b.temperature"]);
        assert_eq!(
            several.to_string(),
            "several axes end with \"temperature\": a.temperature and b.temperature"
        );
        for name in several.names {
            let _ = value_of(&spec, &name).unwrap();
        }
        // The whole name of an axis is that axis, whatever others end with.
        assert_eq!(value_of(&spec, "warmth").unwrap(), "1");
        assert_eq!(value_of(&spec, "players.b.temperature").unwrap(), "1.0");
    }
}
