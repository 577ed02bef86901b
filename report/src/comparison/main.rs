//! The comparisons that a report shows without being asked: runs with the first one of them, or, of
//! one run, its players and the values of each axis with the first ones that were played. Called by
//! `agon report -o`.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::{Comparison, SetId};
use crate::axes::{AxisNames, axes, in_words, names_a_model};
use crate::layout::Layout;
use crate::players::players_of;
use crate::session::Session;
use crate::table::{counted, paragraphs};
use crate::wrapping::prose;

/// Sets of one comparison; sessions of further ones are left out.
const MOST_SETS: usize = 20;

/// Axes whose values are compared; with more each value has few pairs.
const MOST_AXES: usize = 8;

/// What is compared with what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    Run,
    Players,
    Axis(String),
}

/// See the module.
#[derive(Debug)]
pub struct MainComparison {
    has_several_runs: bool,
    names: AxisNames,
    comparisons: BTreeMap<By, Sets>,
}

/// One comparison, with its sets by what they are called.
#[derive(Debug, Default)]
struct Sets {
    comparison: Comparison,
    ids: BTreeMap<String, SetId>,
    /// Hashes of what sets beyond [`MOST_SETS`] are called.
    left_out: BTreeSet<u64>,
}

impl MainComparison {
    /// Of several runs, or within one.
    pub fn new(has_several_runs: bool) -> Self {
        Self {
            has_several_runs,
            names: AxisNames::default(),
            comparisons: BTreeMap::new(),
        }
    }

    /// Takes in a session of a run.
    pub fn add(&mut self, run: &str, session: &Session) {
        if self.has_several_runs {
            return self.add_to(By::Run, run, session);
        }
        self.names.add(&session.spec);
        let players = players_of(&session.spec.seats);
        self.add_to(By::Players, &players, session);
        // Models are compared as players.
        let axes = axes(&session.spec).filter(|(axis, _)| !names_a_model(axis));
        for (axis, value) in axes.take(MOST_AXES) {
            self.add_to(By::Axis(axis.clone()), &in_words(value), session);
        }
    }

    fn add_to(&mut self, by: By, called: &str, session: &Session) {
        let axis = match &by {
            By::Axis(axis) => Some(axis.clone()),
            By::Run | By::Players => None,
        };
        let sets = self.comparisons.entry(by).or_default();
        let id = match sets.ids.get(called) {
            Some(id) => *id,
            None if sets.ids.len() == MOST_SETS => {
                let mut hasher = DefaultHasher::new();
                called.hash(&mut hasher);
                sets.left_out.insert(hasher.finish());
                return;
            }
            None => {
                let id = sets.comparison.set(called);
                sets.ids.insert(called.to_owned(), id);
                id
            }
        };
        match axis {
            Some(axis) => sets.comparison.add_of_axis(&axis, id, session),
            None => sets.comparison.add(id, session),
        }
    }

    /// Each comparison that has pairs, with what it compares in words.
    pub fn render(&mut self, layout: Layout) -> Vec<(String, String)> {
        let (names, comparisons) = (&self.names, self.comparisons.iter_mut());
        let shown = comparisons.filter_map(|(by, sets)| {
            // Runs stay in the order in which they were named.
            if *by != By::Run {
                sets.comparison.sort();
            }
            let table = sets.comparison.render_pairs(layout)?;
            let title = match by {
                By::Run => "Runs".to_owned(),
                By::Players => "Players".to_owned(),
                By::Axis(axis) => format!("By {}", names.name(axis)),
            };
            let left_out = (!sets.left_out.is_empty()).then(|| {
                let more = counted(sets.left_out.len() as u64, "further set");
                prose(
                    &format!("Left out: {more} after the first {MOST_SETS}"),
                    layout,
                )
            });
            Some((title, paragraphs([Some(table), left_out])))
        });
        shown.collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::Table;

    /// A guess of two thirds with one round: `first` guesses this, two others 30 and 60.
    fn session(first: f64, setting: Value, repeat: u32) -> Session {
        let table = Table {
            game: "guess_two_thirds",
            params: json!({ "rounds": 1 }),
            setting,
            seats: &[("first", &[first]), ("low", &[30.0]), ("high", &[60.0])],
            repeat,
        };
        Session::of(&table.played())
    }

    fn shown(comparison: &mut MainComparison) -> Vec<(String, String)> {
        comparison.render(Layout::Markdown)
    }

    #[test]
    fn values_of_an_axis_are_compared_where_all_else_is_equal() {
        let mut comparison = MainComparison::new(false);
        for repeat in 0..3 {
            for warmth in [0.0, 1.0] {
                for ratio in [1, 2] {
                    let guess = 30.0 + 10.0 * warmth;
                    let setting =
                        json!({ "game": "g", "players.first.warmth": warmth, "ratio": ratio });
                    comparison.add("", &session(guess, setting, repeat));
                }
            }
        }
        let shown = shown(&mut comparison);
        let titles: Vec<&str> = shown.iter().map(|(title, _)| &**title).collect();
        assert_eq!(titles, ["By warmth", "By ratio"]);
        let by_warmth = &shown[0].1;
        assert!(
            by_warmth.contains("A is 0.0, 6 sessions; B is 1.0, 6 sessions"),
            "{by_warmth}"
        );
        // In each ratio three pairs, and the axis itself is no part of the setting.
        for setting in ["ratio=1", "ratio=2"] {
            let mut rows = by_warmth.lines().filter(|line| line.contains(setting));
            assert!(rows.any(|row| row.contains("| 3 |")), "{by_warmth}");
        }
        assert!(!by_warmth.contains("warmth="), "{by_warmth}");
    }

    #[test]
    fn values_that_change_together_with_something_else_are_not_compared() {
        let mut comparison = MainComparison::new(false);
        for repeat in 0..3 {
            for (model, warmth) in [("a", 0.0), ("b", 1.0)] {
                let setting =
                    json!({ "game": "g", "players.first.model": model, "warmth": warmth });
                comparison.add("", &session(30.0 + warmth, setting, repeat));
            }
        }
        assert_eq!(shown(&mut comparison), []);
    }

    #[test]
    fn several_runs_are_each_compared_with_the_first_and_by_nothing_else() {
        let mut comparison = MainComparison::new(true);
        for (run, guess) in [("before", 30.0), ("after", 40.0), ("later", 50.0)] {
            for repeat in 0..2 {
                comparison.add(
                    run,
                    &session(guess, json!({ "game": "g", "axis": 1 }), repeat),
                );
            }
        }
        let shown = shown(&mut comparison);
        assert_eq!(shown.len(), 1);
        let (title, table) = &shown[0];
        assert_eq!(title, "Runs");
        assert!(
            table.contains(
                "A is before, 2 sessions; B is one of: after, 2 sessions; later, 2 sessions"
            ),
            "{table}"
        );
        for run in ["after", "later"] {
            let row = table
                .lines()
                .find(|line| line.starts_with(&format!("| {run} |")));
            assert!(
                row.is_some_and(|row| row.contains("| 2 |")),
                "{run}: {table}"
            );
        }
    }

    #[test]
    fn nothing_is_compared_without_pairs() {
        let mut comparison = MainComparison::new(false);
        comparison.add("", &session(30.0, json!({ "game": "g", "axis": 1 }), 0));
        comparison.add("", &session(30.0, json!({ "game": "g", "axis": 2 }), 1));
        assert_eq!(shown(&mut comparison), []);
    }

    #[test]
    fn of_very_many_values_the_first_are_compared_and_the_rest_is_counted() {
        let mut comparison = MainComparison::new(false);
        for value in 0..25 {
            comparison.add("", &session(30.0, json!({ "game": "g", "axis": value }), 0));
        }
        let (_, table) = &shown(&mut comparison)[0];
        assert!(
            table.contains("Left out: 5 further sets after the first 20"),
            "{table}"
        );
    }
}
