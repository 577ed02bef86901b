//! From a document to its sessions: every cell of every game's grid, times the repeats, times the
//! length of a series. One cell is held at a time, so that neither the grid nor the repeats take
//! memory; what they come to in all is bounded by `limits.rs`.
//!
//! The order of sessions is that of games, axes, repeats and places in a series; their ids depend
//! on none of it.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use agon_engine::SessionSpec;
use serde_json::{Map, Value};

use super::cell::{self, Cell};
use super::document::ExperimentDocument;
use super::faults::Faults;
use super::grid::{self, Axis};
use super::limits::{MOST_CELL_BYTES, MOST_CELLS, MOST_SESSIONS, bytes_of, in_words};
use super::path::TreePath;
use super::players;
use super::values::by_value;

/// Games whose grids set a value twice, after which no further one is looked at.
const MOST_CLASHING: usize = 10;

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

/// A document whose every cell was found good.
#[derive(Debug, Clone)]
pub struct Expansion<D> {
    document: D,
    settings: u64,
    grids: Arc<[Grid]>,
}

/// Checks every cell of a document.
///
/// # Errors
/// Everything that is wrong with the cells of the grid.
pub fn expand<D: Deref<Target = ExperimentDocument>>(document: D) -> Result<Expansion<D>, Faults> {
    expand_with(document, |_| {})
}

/// The same; every good cell is shown on its way, in order.
///
/// # Errors
/// Everything that is wrong with the cells of the grid.
pub fn expand_with<D: Deref<Target = ExperimentDocument>>(
    document: D,
    mut each: impl FnMut(&Cell),
) -> Result<Expansion<D>, Faults> {
    let mut cells = Cells::of(&*document);
    let mut settings = 0;
    for cell in cells.by_ref() {
        settings += 1;
        each(&cell);
    }
    cells.finish()?;
    Ok(Expansion::unchecked(document, settings))
}

impl<D: Deref<Target = ExperimentDocument>> Expansion<D> {
    /// Of a document that was checked before, with so many cells.
    pub fn unchecked(document: D, settings: u64) -> Self {
        let games = 0..document.games.len();
        let mut first = 0;
        let grids = games.map(|game| {
            let axes = grid::axes(&document, game, &mut Faults::default());
            let count = grid::cell_count(&axes).unwrap_or_default();
            let next = first;
            first += count;
            Grid {
                game,
                axes,
                next,
                count,
            }
        });
        Self {
            grids: grids.collect(),
            settings,
            document,
        }
    }

    /// One cell, by its number; `None` when there is none of this number, or it is not good.
    pub fn cell(&self, number: u64) -> Option<Cell> {
        let behind = self.grids.partition_point(|grid| grid.next <= number);
        let grid = self.grids.get(behind.checked_sub(1)?)?;
        let inside = number - grid.next;
        if inside >= grid.count {
            return None;
        }
        let assignments = grid::cell(&grid.axes, inside);
        let mut faults = Faults::default();
        cell::check(&self.document, grid.game, &assignments, &mut faults).cell
    }

    /// The document.
    pub fn document(&self) -> &ExperimentDocument {
        &self.document
    }

    /// Cells of the grid.
    pub fn settings(&self) -> u64 {
        self.settings
    }

    /// Sessions of all of them.
    pub fn len(&self) -> u64 {
        let each = u64::from(self.document.repeats) * u64::from(self.document.series_length());
        self.settings * each
    }

    /// Whether there is no session; a document that was read has one.
    pub fn is_empty(&self) -> bool {
        self.settings == 0
    }

    /// The cells, each checked again on its way.
    pub fn into_cells(self) -> Cells<D> {
        Cells::of(self.document)
    }

    /// All sessions in the experiment's own order: setting, repeat, place in a series.
    pub fn into_sessions(self) -> impl Iterator<Item = PlannedSession> {
        let (repeats, length) = (self.document.repeats, self.document.series_length());
        let cells = Cells::of(self.document).enumerate();
        cells.flat_map(move |(setting_index, cell)| {
            let label = label(&cell.spec);
            let places = (0..repeats).flat_map(move |r| (0..length).map(move |place| (r, place)));
            places.map(move |(repeat, place)| PlannedSession {
                spec: cell.session(repeat, place),
                setting_index,
                label: label.clone(),
            })
        })
    }
}

/// The good cells of a document's grids, in order, made one by one. What is wrong with the others
/// is said at the end, by [`Cells::finish`].
pub struct Cells<D> {
    document: D,
    faults: Faults,
    /// The game whose grid comes next.
    next_game: usize,
    grid: Option<Grid>,
    /// Digests of the settings so far, each with its game.
    seen: BTreeMap<[u8; 32], usize>,
    clashing: usize,
    sessions: u64,
    cells: u64,
    cell_bytes: u64,
}

/// The grid of one game.
#[derive(Debug)]
struct Grid {
    game: usize,
    axes: Vec<Axis>,
    /// The number of a cell: in a walk, of the next one within the grid; in an expansion, of its
    /// first one among all.
    next: u64,
    count: u64,
}

impl<D: Deref<Target = ExperimentDocument>> Cells<D> {
    /// The cells of a document.
    pub fn of(document: D) -> Self {
        Self {
            document,
            faults: Faults::default(),
            next_game: 0,
            grid: None,
            seen: BTreeMap::new(),
            clashing: 0,
            sessions: 0,
            cells: 0,
            cell_bytes: 0,
        }
    }

    /// Says what was wrong with the cells, after the last.
    ///
    /// # Errors
    /// Something was.
    pub fn finish(mut self) -> Result<(), Faults> {
        if !self.faults.is_full() {
            check_idle_players(&self.document, &mut self.faults);
        }
        self.faults.or(())
    }

    /// How often each cell is played.
    fn each(&self) -> u64 {
        u64::from(self.document.repeats) * u64::from(self.document.series_length())
    }

    /// The grid of the next game; `None` after the last.
    fn open(&mut self) -> Option<Grid> {
        while self.next_game < self.document.games.len() {
            let game = self.next_game;
            self.next_game += 1;
            let own = own(game);
            let mut clashes = Faults::default();
            let axes = grid::axes(&self.document, game, &mut clashes);
            if !clashes.is_empty() {
                // Which of two values counts is open: cells of this game would be guesses. Those of
                // the common grid are the same for every game.
                self.faults.extend(clashes);
                self.clashing += 1;
                if self.clashing > MOST_CLASHING {
                    self.stop();
                    return None;
                }
                continue;
            }
            let count = grid::cell_count(&axes);
            let more = count.and_then(|count| count.checked_mul(self.each()));
            self.sessions = more
                .and_then(|more| more.checked_add(self.sessions))
                .unwrap_or(u64::MAX);
            self.cells = count
                .and_then(|count| count.checked_add(self.cells))
                .unwrap_or(u64::MAX);
            let message = match (self.cells > MOST_CELLS, self.sessions > MOST_SESSIONS) {
                (true, _) => Some(too_many_cells(self.cells)),
                (false, true) => Some(too_many(self.sessions, &self.document)),
                (false, false) => None,
            };
            if let Some(message) = message {
                self.faults.value(&own, message);
                self.stop();
                return None;
            }
            let sets = axes.iter().flat_map(|axis| &axis.alternatives).flatten();
            let grid_bytes = sets.map(|set| bytes_of(&set.value)).sum();
            if !self.is_within_bounds(grid_bytes, game) {
                self.stop();
                return None;
            }
            return Some(Grid {
                game,
                axes,
                next: 0,
                count: count.unwrap_or_default(),
            });
        }
        None
    }

    /// Looks at no further cell.
    fn stop(&mut self) {
        self.next_game = self.document.games.len();
        self.grid = None;
    }

    /// Notes a good cell, unless it is the same as one before it.
    fn take(&mut self, cell: Cell, game: usize) -> Cell {
        let setting: Map<String, Value> = cell.spec.setting.clone().into_iter().collect();
        let setting = by_value(&Value::Object(setting)).to_string();
        let row = blake3::hash(format!("{}\n{setting}", cell.spec.game).as_bytes());
        if let Some(first) = self.seen.insert(*row.as_bytes(), game) {
            let message = if first == game {
                "two cells of its grid are the same setting".to_owned()
            } else {
                format!(
                    "plays the same setting as games[{first}]; give each a label, as label = \"one\""
                )
            };
            self.faults.value(&own(game), message);
        }
        cell
    }

    /// Whether what the cells come to so far is within bounds; says so where it is not.
    fn is_within_bounds(&mut self, cell_bytes: u64, game: usize) -> bool {
        self.cell_bytes = self.cell_bytes.saturating_add(cell_bytes);
        if self.cell_bytes <= MOST_CELL_BYTES {
            return true;
        }
        let (found, most) = (in_words(self.cell_bytes), in_words(MOST_CELL_BYTES));
        let message = format!(
            "the settings of its cells come to {found} up to here, and {most} are the most; shorten \
             what its players and parameters are given, or split the experiment"
        );
        self.faults.value(&own(game), message);
        false
    }
}

impl<D: Deref<Target = ExperimentDocument>> Iterator for Cells<D> {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        loop {
            let mut grid = match self.grid.take() {
                Some(grid) => grid,
                None => self.open()?,
            };
            if grid.next == grid.count {
                continue;
            }
            let (game, number) = (grid.game, grid.next);
            grid.next += 1;
            let assignments = grid::cell(&grid.axes, number);
            let checked = cell::check(&self.document, game, &assignments, &mut self.faults);
            let goes_on = self.is_within_bounds(checked.bytes, game) && !self.faults.is_full();
            if goes_on {
                self.grid = Some(grid);
            } else {
                self.stop();
            }
            if let Some(cell) = checked.cell {
                return Some(self.take(cell, game));
            }
        }
    }
}

fn own(game: usize) -> TreePath {
    TreePath::root().key("games").index(game)
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

fn too_many_cells(cells: u64) -> String {
    let count = match cells {
        u64::MAX => "far more".to_owned(),
        cells => cells.to_string(),
    };
    format!(
        "the grid has {count} settings up to here, and {MOST_CELLS} are the most; split the experiment"
    )
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
