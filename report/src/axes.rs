//! The axes of an experiment: what tells one setting of a game from another, under its full
//! path, and the shortest names that tell axes apart in a table. Called by everything that
//! groups sessions.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::SessionSpec;
use agon_outlets::line;
use serde_json::Value;

/// The setting's entry that repeats the game's name.
const GAME: &str = "game";

/// The setting's entry that the experiment file calls a label.
pub(crate) const LABEL: &str = "label";

/// Axes by full path, with their values in one setting.
pub(crate) type Axes = BTreeMap<String, Value>;

/// What tells a setting from others of its game.
pub(crate) fn axes(spec: &SessionSpec) -> impl Iterator<Item = (&String, &Value)> {
    spec.setting.iter().filter(|(axis, _)| *axis != GAME)
}

/// The same, kept.
pub(crate) fn axes_of(spec: &SessionSpec) -> Axes {
    axes(spec)
        .map(|(axis, value)| (axis.clone(), value.clone()))
        .collect()
}

/// The same without axes that only name models: what sessions of several models have in common.
pub(crate) fn axes_without_models(spec: &SessionSpec) -> Axes {
    let mut axes = axes_of(spec);
    axes.retain(|axis, _| !names_a_model(axis));
    axes
}

/// Axes in a form that can be a key: text and JSON values, nothing that could not be written.
pub(crate) fn written(axes: &Axes) -> String {
    serde_json::to_string(axes).unwrap_or_default()
}

/// Whether the values of an axis are models.
pub(crate) fn names_a_model(axis: &str) -> bool {
    axis.rsplit('.').next() == Some("model")
}

/// A value without the quotation marks of JSON.
pub(crate) fn in_words(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Names for the axes that were taken in. An axis is called by its last segments, as few as
/// no other axis ends with: `ratio`, or `alice.temperature` beside `bob.temperature`.
#[derive(Debug, Clone, Default)]
pub struct AxisNames {
    known: BTreeSet<String>,
}

impl AxisNames {
    /// Takes in the axes of a session.
    pub fn add(&mut self, spec: &SessionSpec) {
        for (axis, _) in axes(spec) {
            if !self.known.contains(axis) {
                self.known.insert(axis.clone());
            }
        }
    }

    /// The setting of a session in words, apart from what names the game; empty without a grid.
    pub fn setting(&self, spec: &SessionSpec) -> String {
        self.join(axes(spec))
    }

    /// The same of axes with their values.
    pub(crate) fn join<'a>(&self, axes: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
        let parts = axes.map(|(axis, value)| {
            let value = in_words(value);
            if axis == LABEL {
                value
            } else {
                format!("{}={value}", self.name(axis))
            }
        });
        // Records of others name axes and values as they like.
        line(&parts.collect::<Vec<_>>().join(", ")).to_string()
    }

    /// The shortest name of an axis.
    pub fn name<'a>(&self, axis: &'a str) -> &'a str {
        let tails = axis.rmatch_indices('.').map(|(dot, _)| &axis[dot + 1..]);
        let is_shared = |tail: &str| {
            let mut others = self.known.iter().filter(|other| *other != axis);
            others.any(|other| ends_with(other, tail))
        };
        let mut tails = tails.filter(|tail| !is_shared(tail));
        tails.next().unwrap_or(axis)
    }
}

/// Whether these are the last segments of a path.
fn ends_with(path: &str, tail: &str) -> bool {
    let rest = path.strip_suffix(tail);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axes: &[&str]) -> Vec<String> {
        let known = axes.iter().map(|axis| (*axis).to_owned()).collect();
        let names = AxisNames { known };
        let shown = axes.iter().map(|axis| names.name(axis).to_owned());
        shown.collect()
    }

    #[test]
    fn names_and_values_of_others_stay_in_one_line() {
        let axes = Axes::from([
            (
                "params.a\n9 of 9 records verified".to_owned(),
                Value::from("b\u{1b}[2J\nc"),
            ),
            (LABEL.to_owned(), Value::from("d\u{2028}e")),
        ]);
        let joined = AxisNames::default().join(axes.iter());
        assert!(!joined.contains(char::is_control), "{joined:?}");
        assert_eq!(
            joined,
            "d\\u{2028}e, a\\n9 of 9 records verified=b\\u{1b}[2J\\nc"
        );
    }

    #[test]
    fn an_axis_has_the_shortest_name_that_tells_it_apart() {
        assert_eq!(names(&["params.ratio", "repeats"]), ["ratio", "repeats"]);
        let temperatures = ["players.alice.temperature", "players.bob.temperature"];
        assert_eq!(
            names(&temperatures),
            ["alice.temperature", "bob.temperature"]
        );
        let mixed = [
            "temperature",
            "model.temperature",
            "players.a.model.temperature",
        ];
        assert_eq!(
            names(&mixed),
            ["temperature", "model.temperature", "a.model.temperature"]
        );
        // Part of a segment is no segment.
        assert_eq!(names(&["params.max", "params.bid_max"]), ["max", "bid_max"]);
    }
}
