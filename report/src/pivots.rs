//! The tables of gamma-Bench's robustness and generalisability experiments (Huang et al., arXiv
//! 2403.11807, appendix D, tables 5 to 9): a row per game and a column per run, temperature,
//! wording, improvement or setting, with the mean over the columns and its spread. What is
//! published, or follows from the authors' published games, is `data/gamma_bench_tables.csv`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::accumulator::Accumulator;
use crate::axes::{Axes, AxisNames, LABEL, axes, in_words, written};
use crate::basis::{Basis, explained};
use crate::layout::Layout;
use crate::leaderboard::{GAMES, players};
use crate::published::titled;
use crate::session::Session;
use crate::table::{Column, TextTable, number, paragraphs};

/// The scheme of the paper's first version, in which its tables are.
const SCHEME: &str = "arxiv2024";

/// What experiments call the tables, with what their columns are and the paper's table.
const TABLES: [(&str, &str, u8); 5] = [
    ("gamma-bench-repeats", "run", 5),
    ("gamma-bench-temperatures", "temperature", 6),
    ("gamma-bench-prompt-versions", "wording", 7),
    ("gamma-bench-settings", "setting", 8),
    ("gamma-bench-improvements", "improvement", 9),
];

/// Published cells.
const PUBLISHED: &str = include_str!("../data/gamma_bench_tables.csv");

/// Whose they are.
const PUBLISHED_MODEL: &str = "gpt-3.5-turbo-0125 (published)";

/// Parameters that are set together, without their names as the paper writes them.
const TOGETHER: [&[&str]; 2] = [
    &[
        "params.costly_cost",
        "params.costly_utility",
        "params.cheap_cost",
        "params.cheap_utility",
    ],
    &["params.base_hit_rate", "params.interval"],
];

/// What experiments call these tables.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|(name, ..)| *name)
}

/// Scores by game and setting, folded session by session.
#[derive(Debug, Default)]
pub struct Pivots {
    names: AxisNames,
    /// In the order in which they came first, which is the experiment's.
    cells: Vec<Cell>,
    /// Where each is: by players, game, label and axes as JSON.
    places: BTreeMap<(String, String, String, String), usize>,
}

/// The scores of one game in one setting.
#[derive(Debug)]
struct Cell {
    players: String,
    game: String,
    /// What an experiment calls several settings of a game.
    label: String,
    axes: Axes,
    basis: Basis,
    by_repeat: BTreeMap<u32, Accumulator>,
}

/// A row of a table: who played what, with the mean of each column, in the order of the
/// experiment; no mean where every session was left out.
struct Line {
    model: String,
    game: String,
    means: Vec<(String, Option<f64>)>,
    notes: String,
}

impl Line {
    fn scores(&self) -> Vec<Option<f64>> {
        self.means.iter().map(|(_, mean)| *mean).collect()
    }

    fn columns(&self) -> impl Iterator<Item = &str> {
        self.means.iter().map(|(column, _)| &**column)
    }
}

impl Pivots {
    /// Takes in a session; other games are passed over.
    pub fn add(&mut self, session: &Session) {
        let game = &session.spec.game;
        if !GAMES.iter().any(|(known, _)| known == game) {
            return;
        }
        self.names.add(&session.spec);
        let players = players(session);
        let mut label = String::new();
        let mut shown = Axes::new();
        for (axis, value) in axes(&session.spec) {
            let is_model = axis.ends_with("model") && value.as_str() == Some(&players);
            if axis == LABEL {
                label = in_words(value);
            } else if !is_model {
                shown.insert(axis.clone(), value.clone());
            }
        }
        let scores = session.scores();
        let score = scores.get(SCHEME).copied();
        let key = (
            players.clone(),
            game.clone(),
            label.clone(),
            written(&shown),
        );
        let place = *self.places.entry(key).or_insert_with(|| {
            self.cells.push(Cell {
                players,
                game: game.clone(),
                label,
                axes: shown,
                basis: Basis::default(),
                by_repeat: BTreeMap::new(),
            });
            self.cells.len() - 1
        });
        self.cells[place].add(session, score);
    }

    /// The table of this name with the published cells above one's own, in this layout; `None` when there is no such table.
    pub fn beside_published(&self, name: &str, layout: Layout) -> Option<String> {
        let (_, columns, table) = TABLES.iter().find(|(known, ..)| *known == name)?;
        let title = format!(
            "Published beside it: scores {SCHEME} by {columns} (arXiv 2403.11807, table {table}), as far \
             as its text has them, else computed from the authors' published games; avg and sd over \
             the columns of a row, sd with n - 1"
        );
        let mut parts = vec![Some(titled(&title, layout))];
        let published = published(name);
        let own = self.lines();
        // One table for all games that have the same columns.
        let mut tables: Vec<Vec<&Line>> = Vec::new();
        for line in &own {
            let mut known = tables.iter_mut();
            match known.find(|lines| lines[0].columns().eq(line.columns())) {
                Some(lines) => lines.push(line),
                None => tables.push(vec![line]),
            }
        }
        for lines in tables {
            parts.push(Some(table_of(&lines, &published, layout)));
        }
        let notes = self.cells.iter().flat_map(|cell| cell.basis.notes());
        parts.push(explained(notes, layout));
        Some(paragraphs(parts))
    }

    fn cells_of<'a>(&'a self, players: &'a str, game: &'a str) -> impl Iterator<Item = &'a Cell> {
        let cells = self.cells.iter();
        cells.filter(move |cell| cell.players == players && cell.game == game)
    }

    /// One line per player, game and label, games in the paper's order.
    fn lines(&self) -> Vec<Line> {
        let mut keys: Vec<(&str, &str, &str)> = Vec::new();
        for cell in &self.cells {
            let key = (&*cell.players, &*cell.game, &*cell.label);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let place = |game: &str| GAMES.iter().position(|(known, _)| *known == game);
        keys.sort_by_key(|(_, game, _)| place(game));
        let lines = keys.into_iter().map(|(players, game, label)| {
            let cells = self.cells_of(players, game);
            let cells: Vec<&Cell> = cells.filter(|cell| cell.label == label).collect();
            let mut basis = Basis::default();
            for cell in &cells {
                basis.merge(&cell.basis);
            }
            Line {
                model: players.to_owned(),
                game: game.to_owned(),
                means: cells.iter().flat_map(|cell| self.means(cell)).collect(),
                notes: basis.in_words(),
            }
        });
        lines.collect()
    }

    /// The columns of a cell with their means: of its setting, or of its runs where the game has
    /// no other setting.
    fn means(&self, cell: &Cell) -> Vec<(String, Option<f64>)> {
        let mut settings = self.cells_of(&cell.players, &cell.game);
        if settings.all(|other| other.axes == cell.axes) {
            let runs = cell.by_repeat.iter();
            let name = |repeat: &u32| format!("T{}", u64::from(*repeat) + 1);
            let runs = runs.map(|(repeat, scores)| (name(repeat), scores.mean()));
            return runs.collect();
        }
        let mut all = Accumulator::default();
        for scores in cell.by_repeat.values() {
            all.merge(scores);
        }
        vec![(self.heading(cell), all.mean())]
    }

    /// What tells a setting from the others of its game, as short as it can be said.
    fn heading(&self, cell: &Cell) -> String {
        let others = || self.cells_of(&cell.players, &cell.game);
        let others: Vec<&Cell> = others().filter(|one| one.label == cell.label).collect();
        if cell.axes.is_empty() {
            return "default".to_owned();
        }
        let axes: Vec<&String> = cell.axes.keys().collect();
        let together = TOGETHER.iter().find(|set| {
            set.len() == axes.len() && set.iter().all(|name| axes.iter().any(|axis| axis == name))
        });
        if let Some(set) = together {
            let values = set.iter().map(|name| shortly(&cell.axes[*name]));
            return values.collect::<Vec<_>>().join(", ");
        }
        if axes.len() == 1 && others.iter().all(|other| other.axes.len() <= 1) {
            return cell.axes.values().map(shortly).collect();
        }
        let rounded = cell
            .axes
            .iter()
            .map(|(axis, value)| (axis.clone(), short(value)));
        self.names.join(rounded.collect::<Axes>().iter())
    }
}

impl Cell {
    fn add(&mut self, session: &Session, score: Option<f64>) {
        let answers = session.answers();
        self.basis.add(&session.spec, answers, answers.all());
        let repeat = self.by_repeat.entry(session.spec.luck.repeat);
        repeat.or_default().add_known(score);
    }
}

/// A number with two decimals at most, anything else as it is.
fn short(value: &Value) -> Value {
    match value.as_f64() {
        Some(number) if value.is_f64() => {
            let rounded = (number * 100.0).round() / 100.0;
            let is_whole = rounded.fract() == 0.0 && rounded.abs() < 1e9;
            if is_whole {
                Value::from(rounded as i64)
            } else {
                Value::from(rounded)
            }
        }
        _ => value.clone(),
    }
}

fn shortly(value: &Value) -> String {
    in_words(&short(value))
}

/// Published cells of a table: game and column with the score.
fn published(name: &str) -> BTreeMap<(String, String), f64> {
    let mut reader = csv::Reader::from_reader(PUBLISHED.as_bytes());
    let rows = reader
        .records()
        .flatten()
        .filter(|row| row.get(0) == Some(name));
    let cells = rows.filter_map(|row| {
        let score = row.get(3)?.parse().ok()?;
        Some(((row.get(1)?.to_owned(), row.get(2)?.to_owned()), score))
    });
    cells.collect()
}

/// Rows with the same columns; where they are all games of one player, their mean below them.
fn table_of(
    lines: &[&Line],
    published: &BTreeMap<(String, String), f64>,
    layout: Layout,
) -> String {
    let columns: Vec<&str> = lines[0].columns().collect();
    let mut all = vec![Column::key("game"), Column::key("model")];
    all.extend(columns.iter().copied().map(Column::number));
    all.extend(["avg", "sd"].map(Column::number));
    all.push(Column::notes());
    let mut table = TextTable::new(all);
    let (mut last, mut models): (&str, Vec<&str>) = ("", Vec::new());
    // Lines of a game stand together.
    for line in lines {
        if line.game != last {
            last = &line.game;
            let score = |column: &&str| published.get(&(line.game.clone(), (*column).to_owned()));
            let known: Vec<Option<f64>> = columns.iter().map(|one| score(one).copied()).collect();
            if known.iter().any(Option::is_some) {
                table.row(cells(last, PUBLISHED_MODEL, &known, ""));
            }
        }
        if !models.contains(&&*line.model) {
            models.push(&line.model);
        }
        table.row(cells(last, &line.model, &line.scores(), &line.notes));
    }
    for model in models {
        let own: Vec<&&Line> = lines.iter().filter(|line| line.model == model).collect();
        if own.len() < GAMES.len() {
            continue;
        }
        let overall = (0..columns.len()).map(|column| {
            let sum: Option<f64> = own.iter().map(|line| line.means[column].1).sum();
            sum.map(|sum| sum / own.len() as f64)
        });
        table.row(cells("overall", model, &overall.collect::<Vec<_>>(), ""));
    }
    table.fitted(layout)
}

fn cells(game: &str, model: &str, scores: &[Option<f64>], notes: &str) -> Vec<String> {
    let mut over_columns = Accumulator::default();
    for score in scores {
        over_columns.add_known(*score);
    }
    let all_known = scores.iter().all(Option::is_some);
    let both = [over_columns.mean(), over_columns.standard_deviation()];
    let both = both.map(|one| one.filter(|_| all_known));
    let mut cells = vec![game.to_owned(), model.to_owned()];
    cells.extend(scores.iter().chain(&both).map(|one| number(*one, 1)));
    cells.push(notes.to_owned());
    cells
}
