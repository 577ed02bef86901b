//! Grids: which values the cells of an experiment have.
//!
//! Axes multiply; the rows of `rows` count as one more axis that changes several values together.
//! A cell is a list of [`Assignment`]s; nothing here knows what the values mean.

use std::collections::BTreeSet;

use serde_json::Value;

use super::document::ExperimentDocument;
use super::faults::Faults;
use super::limits::MOST_AXES;
use super::path::TreePath;

/// One value that a cell sets.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The path as the experiment writes it; names the axis in settings.
    pub name: String,
    /// What is set.
    pub path: TreePath,
    /// The value.
    pub value: Value,
    /// Where the experiment says so: the value in the grid.
    pub at: TreePath,
}

/// One direction of the grid: alternatives of assignments.
#[derive(Debug, Clone)]
pub struct Axis {
    /// What each alternative sets.
    pub alternatives: Vec<Vec<Assignment>>,
}

/// The axes of one game: those of the whole experiment first, then its own.
pub fn axes(document: &ExperimentDocument, game: usize, faults: &mut Faults) -> Vec<Axis> {
    let root = TreePath::root();
    let own = root.key("games").index(game);
    let definition = &document.games[game];
    let mut axes = Vec::new();
    for (grid, at) in [
        (&document.grid, root.key("grid")),
        (&definition.grid, own.key("grid")),
    ] {
        for (name, values) in grid {
            let at = at.key(name.as_str());
            let assign = |(index, value): (usize, &Value)| {
                assignment(name, value, at.index(index))
                    .into_iter()
                    .collect()
            };
            axes.push(Axis {
                alternatives: values.iter().enumerate().map(assign).collect(),
            });
        }
    }
    for (rows, at) in [
        (&document.rows, root.key("rows")),
        (&definition.rows, own.key("rows")),
    ] {
        if rows.is_empty() {
            continue;
        }
        let row = |(index, row): (usize, &agon_engine::spec::Settings)| {
            let at = at.index(index);
            row.iter()
                .filter_map(|(name, value)| assignment(name, value, at.key(name.as_str())))
                .collect()
        };
        axes.push(Axis {
            alternatives: rows.iter().enumerate().map(row).collect(),
        });
    }
    let paths = |axis: &Axis| {
        let rows = axis.alternatives.iter().flatten();
        rows.map(|set| set.name.as_str())
            .collect::<BTreeSet<_>>()
            .len()
    };
    for (count, what) in [
        (axes.len(), "axes"),
        (axes.iter().map(paths).max().unwrap_or_default(), "paths"),
    ] {
        if count > MOST_AXES {
            let message = format!(
                "its grid varies {count} {what}, and {MOST_AXES} are the most; set what does not \
                 vary in params, players or model"
            );
            faults.value(&own, message);
            return axes;
        }
    }
    check_overlaps(&axes, faults);
    axes
}

/// How many cells the axes span; `None` when that is more than a number holds.
pub fn cell_count(axes: &[Axis]) -> Option<u64> {
    axes.iter().try_fold(1u64, |count, axis| {
        count.checked_mul(axis.alternatives.len() as u64)
    })
}

/// The assignments of one cell; the last axis varies fastest.
pub fn cell(axes: &[Axis], number: u64) -> Vec<&Assignment> {
    let mut rest = number;
    let mut chosen = Vec::with_capacity(axes.len());
    for axis in axes.iter().rev() {
        let size = axis.alternatives.len() as u64;
        chosen.push(&axis.alternatives[(rest % size) as usize]);
        rest /= size;
    }
    chosen.into_iter().rev().flatten().collect()
}

fn assignment(name: &str, value: &Value, at: TreePath) -> Option<Assignment> {
    // Paths were checked when the document was read.
    let path = TreePath::read(name).ok()?;
    Some(Assignment {
        name: name.to_owned(),
        path,
        value: value.clone(),
        at,
    })
}

/// Two axes that set the same value would leave it to their order which of them counts.
fn check_overlaps(axes: &[Axis], faults: &mut Faults) {
    let mut seen: Vec<(usize, &Assignment)> = Vec::new();
    for (number, axis) in axes.iter().enumerate() {
        for (row, alternative) in axis.alternatives.iter().enumerate() {
            for (position, assignment) in alternative.iter().enumerate() {
                let before = &alternative[..position];
                let clash = before
                    .iter()
                    .chain(
                        seen.iter()
                            .filter(|(other, _)| *other != number)
                            .map(|(_, seen)| *seen),
                    )
                    .find(|other| other.path.overlaps(&assignment.path));
                if let Some(other) = clash {
                    let at = &assignment.at;
                    let at = at
                        .parent()
                        .filter(|_| alternative.len() == 1)
                        .unwrap_or_else(|| at.clone());
                    let message = format!(
                        "\"{}\" is set by {} already; set it once",
                        assignment.name, other.at
                    );
                    faults.key(&at, message);
                }
                // The alternatives of a plain axis all set the same path.
                if row == 0
                    || !seen
                        .iter()
                        .any(|(other, held)| *other == number && held.path == assignment.path)
                {
                    seen.push((number, assignment));
                }
            }
        }
    }
}
