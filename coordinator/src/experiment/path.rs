//! Paths into an experiment: `games[0].params.ratio`, `players.subject.temperature`.
//!
//! Grids and `--set` name values by them, errors say with them what is wrong, and the place in
//! the file is found by them. Setting a value never creates a list entry and never turns a plain
//! value into a table.

use std::fmt;

use serde_json::{Map, Value};

/// Deeper than any value of an experiment: trees of thousands of tables inside each other could
/// not be walked.
pub const MOST_PARTS: usize = 32;

/// Where a value stands in a tree of tables and lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(Vec<Step>);

/// One step of a [`TreePath`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Into a table.
    Key(String),
    /// Into a list, from 0.
    Index(usize),
}

impl TreePath {
    /// The tree itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// Reads `a.b[0].c` or `a.b.0.c`; parts are never empty.
    ///
    /// # Errors
    /// A part is empty, a bracket is not closed, or there are more than [`MOST_PARTS`]; says what
    /// would be right.
    pub fn read(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is no path; write names with dots, as params.rounds");
        let dots = |c: char| c == '.' || c == '[';
        if text.matches(dots).count() > MOST_PARTS {
            return Err(too_deep(text));
        }
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (name, brackets) = part.split_at(part.find('[').unwrap_or(part.len()));
            if !name.is_empty() {
                let index = name.parse().ok().filter(|_| !steps.is_empty());
                steps.push(index.map_or_else(|| Step::Key(name.to_owned()), Step::Index));
            } else if brackets.is_empty() {
                return Err(wrong());
            }
            let mut rest = brackets;
            while let Some(inside) = rest.strip_prefix('[') {
                let (index, after) = inside.split_once(']').ok_or_else(wrong)?;
                steps.push(Step::Index(index.parse().map_err(|_| wrong())?));
                rest = after;
            }
            if !rest.is_empty() {
                return Err(wrong());
            }
        }
        if steps.len() > MOST_PARTS {
            return Err(too_deep(text));
        }
        Ok(Self(steps))
    }

    /// The path one key further in.
    pub fn key(&self, key: impl Into<String>) -> Self {
        self.step(Step::Key(key.into()))
    }

    /// The path one list entry further in.
    pub fn index(&self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    /// This path and then the other.
    pub fn join(&self, further: &[Step]) -> Self {
        let mut steps = self.0.clone();
        steps.extend_from_slice(further);
        Self(steps)
    }

    /// The path that this one stands in; the root has none.
    pub fn parent(&self) -> Option<Self> {
        let (_, before) = self.0.split_last()?;
        Some(Self(before.to_vec()))
    }

    /// The steps from the root.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The first step, when it is a key.
    pub fn first_key(&self) -> Option<&str> {
        match self.0.first() {
            Some(Step::Key(key)) => Some(key),
            _ => None,
        }
    }

    /// What follows when `self` starts with `start`.
    pub fn after(&self, start: &Self) -> Option<&[Step]> {
        self.0.strip_prefix(start.0.as_slice())
    }

    /// Whether one of the two stands inside the other, or they are the same.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.after(other).is_some() || other.after(self).is_some()
    }

    /// The value at this path.
    pub fn get<'tree>(&self, tree: &'tree Value) -> Option<&'tree Value> {
        self.0.iter().try_fold(tree, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Index(index) => value.get(index),
        })
    }

    /// Puts a value at this path; tables on the way are made when they are missing.
    ///
    /// # Errors
    /// The way leads through a plain value or to a list entry that does not exist.
    pub fn set(&self, tree: &mut Value, value: Value) -> Result<(), String> {
        let mut place = tree;
        for (depth, step) in self.0.iter().enumerate() {
            let here = || Self(self.0[..depth].to_vec());
            place = match step {
                Step::Key(key) => {
                    if place.is_null() {
                        *place = Value::Object(Map::new());
                    }
                    let Value::Object(table) = place else {
                        return Err(format!("{} is no table, so it has no {key}", here()));
                    };
                    table.entry(key.as_str()).or_insert(Value::Null)
                }
                Step::Index(index) => {
                    let Value::Array(list) = place else {
                        return Err(format!("{} is no list, so it has no entry {index}", here()));
                    };
                    list.get_mut(*index).ok_or_else(|| {
                        format!("{} has no entry {index}; they are counted from 0", here())
                    })?
                }
            };
        }
        *place = value;
        Ok(())
    }

    fn step(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

/// Shows the start of the path only: the rest may be long.
fn too_deep(text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    format!("a path has at most {MOST_PARTS} parts, and \"{start}...\" has more")
}

impl fmt::Display for TreePath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(out, "[{index}]")?,
                Step::Key(key) => {
                    let dot = if depth == 0 { "" } else { "." };
                    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
                    if key.chars().all(plain) && !key.is_empty() {
                        write!(out, "{dot}{key}")?;
                    } else {
                        write!(out, "{dot}{key:?}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> TreePath {
        TreePath::read(text).unwrap()
    }

    #[test]
    fn both_ways_of_writing_an_index_are_the_same() {
        assert_eq!(path("seats[0].count"), path("seats.0.count"));
        assert_eq!(path("seats.0.count").to_string(), "seats[0].count");
        assert_eq!(
            TreePath::root().key("grid").key("a.b").to_string(),
            "grid.\"a.b\""
        );
    }

    #[test]
    fn broken_paths_are_refused() {
        for wrong in ["", ".", "a..b", "a[", "a[x]", "a[0]b", "a."] {
            assert!(TreePath::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn paths_have_an_end() {
        let parts = |count: usize| vec!["a"; count].join(".");
        assert!(TreePath::read(&parts(MOST_PARTS)).is_ok());
        let brackets = format!("a{}", "[0]".repeat(MOST_PARTS));
        for long in [parts(MOST_PARTS + 1), parts(20_000), brackets] {
            let error = TreePath::read(&long).unwrap_err();
            assert!(error.contains("at most 32 parts"), "{error}");
            assert!(error.len() < 120, "{error}");
        }
    }

    #[test]
    fn setting_makes_tables_but_no_list_entries() {
        let mut tree = json!({"seats": [{"count": 1}], "name": "x"});
        path("params.costly.cost").set(&mut tree, json!(3)).unwrap();
        path("seats[0].count").set(&mut tree, json!(9)).unwrap();
        assert_eq!(path("params.costly.cost").get(&tree), Some(&json!(3)));
        assert_eq!(path("seats[0].count").get(&tree), Some(&json!(9)));
        assert!(path("seats[1].count").set(&mut tree, json!(1)).is_err());
        assert!(path("name.first").set(&mut tree, json!(1)).is_err());
    }
}
