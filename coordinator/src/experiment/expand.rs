//! From a document to its sessions: every cell of every game's grid, times the repeats, times the
//! length of a series.
//!
//! The order of sessions is that of games, axes, repeats and places in a series; their ids depend
//! on none of it.

use std::collections::BTreeMap;

use agon_engine::SessionSpec;
use serde_json::{Map, Value};

use super::cell::{self, Cell};
use super::document::ExperimentDocument;
use super::faults::Faults;
use super::grid;
use super::path::TreePath;
use super::players;

/// Most sessions of one experiment: the coordinator holds their specs in memory while it queues
/// them, about 2 kB each.
pub const MOST_SESSIONS: u64 = 200_000;

/// One session of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedSession {
    /// What is played.
    pub spec: SessionSpec,
    /// Which cell of the grid it belongs to, from 0.
    pub setting_index: usize,
    /// The cell in words, for people.
    pub label: String,
}

/// All sessions in the experiment's own order: setting, repeat, place in a series.
///
/// # Errors
/// Everything that is wrong with the cells of the grid.
pub fn expand(document: &ExperimentDocument) -> Result<Vec<PlannedSession>, Faults> {
    let cells = cells(document)?;
    let length = document.series_length();
    let mut sessions = Vec::with_capacity(cells.len() * (document.repeats * length) as usize);
    for (setting_index, Cell { spec, .. }) in cells.into_iter().enumerate() {
        let label = label(&spec);
        let places =
            (0..document.repeats).flat_map(|repeat| (0..length).map(move |place| (repeat, place)));
        for (repeat, place) in places {
            let mut spec = spec.clone();
            spec.luck.repeat = repeat;
            spec.luck.place = place;
            sessions.push(PlannedSession {
                spec,
                setting_index,
                label: label.clone(),
            });
        }
    }
    Ok(sessions)
}

/// The checked cells of the grids, in order.
pub(super) fn cells(document: &ExperimentDocument) -> Result<Vec<Cell>, Faults> {
    let mut faults = Faults::default();
    let mut cells: Vec<Cell> = Vec::new();
    let mut rows = BTreeMap::new();
    let mut sessions = 0u64;
    for game in 0..document.games.len() {
        let own = TreePath::root().key("games").index(game);
        let mut clashes = Faults::default();
        let axes = grid::axes(document, game, &mut clashes);
        if !clashes.is_empty() {
            // Which of two values counts is open: cells of this game would be guesses.
            faults.extend(clashes);
            continue;
        }
        let count = grid::cell_count(&axes);
        let each = u64::from(document.repeats) * u64::from(document.series_length());
        let more = count.and_then(|count| count.checked_mul(each));
        sessions = more
            .and_then(|more| more.checked_add(sessions))
            .unwrap_or(u64::MAX);
        if sessions > MOST_SESSIONS {
            faults.value(&own, too_many(sessions, document));
            return Err(faults);
        }
        for number in 0..count.unwrap_or_default() {
            let assignments = grid::cell(&axes, number);
            let cell = cell::check(document, game, &assignments, &mut faults);
            if faults.is_full() {
                return Err(faults);
            }
            let Some(cell) = cell else { continue };
            let setting: Map<String, Value> = cell.spec.setting.clone().into_iter().collect();
            let setting = grid::by_value(&Value::Object(setting)).to_string();
            let row = (cell.spec.game.clone(), setting);
            if let Some(first) = rows.insert(row, game) {
                let message = if first == game {
                    "two cells of its grid are the same setting".to_owned()
                } else {
                    format!(
                        "plays the same setting as games[{first}]; give each a label, as label = \"one\""
                    )
                };
                faults.value(&own, message);
            }
            cells.push(cell);
        }
    }
    check_idle_players(document, &mut faults);
    faults.or(cells)
}

/// Players that no cell seats are not checked there; whatever a grid varies is left alone.
fn check_idle_players(document: &ExperimentDocument, faults: &mut Faults) {
    let rows = document
        .games
        .iter()
        .flat_map(|game| &game.rows)
        .chain(&document.rows)
        .flat_map(|row| row.keys());
    let grids = document
        .games
        .iter()
        .flat_map(|game| game.grid.keys())
        .chain(document.grid.keys());
    let varied: Vec<TreePath> = grids
        .chain(rows)
        .filter_map(|path| TreePath::read(path).ok())
        .collect();
    let model: Map<String, Value> = document.model.clone().into_iter().collect();
    for (name, settings) in &document.players {
        let at = TreePath::root().key("players").key(name.as_str());
        let touches = |path: &TreePath| path.overlaps(&at) || path.first_key() == Some("model");
        if varied.iter().any(touches) {
            continue;
        }
        let settings: Map<String, Value> = settings.clone().into_iter().collect();
        if let Err((key, message)) = players::player(name, &settings, &model) {
            let at = key.map_or_else(|| at.clone(), |key| at.key(key));
            faults.value(&at, message);
        }
    }
}

fn too_many(sessions: u64, document: &ExperimentDocument) -> String {
    let repeats = document.repeats;
    let series = match document.series_length() {
        1 => String::new(),
        length => format!(" of series of {length}"),
    };
    let count = if sessions == u64::MAX {
        "far more".to_owned()
    } else {
        format!("{sessions}")
    };
    format!(
        "the grid has {count} sessions up to here with {repeats} repeats{series}; {MOST_SESSIONS} are the most"
    )
}

/// A cell in words: game, label, axes.
fn label(spec: &SessionSpec) -> String {
    let mut words = vec![spec.game.clone()];
    for (axis, value) in &spec.setting {
        words.push(match value {
            Value::String(text) if axis == "label" => text.clone(),
            Value::String(text) => format!("{axis}={text}"),
            other => format!("{axis}={other}"),
        });
    }
    words.join(" ")
}
