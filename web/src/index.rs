//! What pages list: runs, the cells of their grids with means, and one row per session. Kept in memory,
//! some 200 bytes a session, and filled while it is looked at. Knows where a record lies by a place
//! that only its source understands.

mod gaps;
mod selecting;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use agon_engine::spec::Settings;
use agon_engine::{Luck, SessionSpec};
use agon_report::Session;
use agon_report::board::Stated;
use agon_report::leaderboard::names_in;
use agon_report::viewing::in_words;
use serde::Serialize;
use utoipa::ToSchema;

use crate::query::SessionQuery;

use gaps::Gaps;

pub use selecting::Played;
pub(crate) use selecting::{Choices, RunChoice};

/// Where a record lies, for its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which file.
    pub file: u32,
    /// Where its line begins, in bytes.
    pub offset: u64,
}

/// A run by its number in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunKey(usize);

/// A run, or an experiment of a coordinator.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct Run {
    /// Its address below `/runs`.
    pub run: String,
    /// Its experiment.
    pub experiment: String,
    /// Where its records are, in words.
    pub place: String,
    /// How many sessions it has so far.
    pub sessions: usize,
    /// The games that are played in it.
    pub games: BTreeSet<String>,
    /// The players in it.
    pub players: BTreeSet<String>,
    /// Whether any answer came from a simulated model.
    pub simulated: bool,
}

/// A cell of a run's grid.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Cell {
    /// Its number in the run.
    pub cell: u32,
    /// Its game.
    pub game: String,
    /// Its place in the grid, in words.
    pub setting: Vec<Stated>,
    /// Its place in the grid, as results select by it.
    #[schema(value_type = BTreeMap<String, serde_json::Value>)]
    pub axes: Settings,
    /// How many sessions it has so far.
    pub sessions: usize,
    /// Means over its sessions, by measure; null where a mean is not finite.
    #[schema(value_type = BTreeMap<String, Option<f64>>)]
    pub means: BTreeMap<String, f64>,
    /// How many answers were refused in all its sessions.
    pub fouls: u64,
    /// How many questions were left without an answer in all its sessions.
    pub forfeits: u64,
}

/// A run with its grid.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RunHead {
    /// The run.
    pub run: Run,
    /// The cells of its grid, in the order in which they were found.
    pub cells: Vec<Cell>,
    /// The names of all means.
    pub measures: BTreeSet<String>,
    /// Remarks that a reader of the numbers needs.
    pub notes: Vec<String>,
}

/// A session as it is listed.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SessionRow {
    /// Its id.
    pub session: String,
    /// Its game.
    pub game: String,
    /// Its cell in the run.
    pub cell: u32,
    /// Its place in the grid, in words.
    pub setting: Vec<Stated>,
    /// The repeat, from 0.
    pub repeat: u32,
    /// The place in its series, from 0.
    pub place: u32,
    /// Who sat there, in words.
    pub players: String,
    /// What the first ten seats were paid.
    pub payoffs: String,
    /// Remarks that a reader of its numbers needs.
    pub notes: String,
}

/// A page of a list of sessions.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SessionPage {
    /// The sessions of this page, in order.
    pub sessions: Vec<SessionRow>,
    /// The cursor of the next page; null on the last one.
    pub next: Option<String>,
    /// How many sessions fit in all.
    pub total: usize,
}

/// Payoffs of more seats are left out of a row.
const MOST_PAYOFFS: usize = 10;

struct Row {
    session: Arc<str>,
    cell: u32,
    /// What was played by whom, by its number in the run.
    table: u32,
    luck: Luck,
    simulated: bool,
    players: Arc<str>,
    /// What those who sit there may be called in results, a line each.
    names: Arc<str>,
    payoffs: Box<str>,
    notes: Arc<str>,
    place: Place,
}

#[derive(Default)]
struct OfCell {
    game: String,
    setting: Vec<Stated>,
    /// A session of it, as far as filters go by that.
    like: Option<SessionSpec>,
    sessions: usize,
    sums: BTreeMap<String, (f64, usize)>,
    fouls: u64,
    forfeits: u64,
}

struct OfRun {
    run: Run,
    cells: Vec<OfCell>,
    by_setting: HashMap<String, u32>,
    /// Its games with their players: an experiment that was changed has several in one cell.
    tables: Vec<Played>,
    by_table: HashMap<String, u32>,
    rows: Vec<Row>,
    /// Texts that many rows share.
    texts: BTreeSet<Arc<str>>,
    gaps: Gaps,
}

/// See the module.
#[derive(Default)]
pub struct Index {
    runs: Vec<OfRun>,
    /// How many runs there are of a name.
    names: HashMap<String, usize>,
    /// Where each session is: its run and row.
    sessions: HashMap<Arc<str>, (RunKey, usize)>,
    /// All sessions in the order in which they came, which is that of the command line.
    order: Vec<(RunKey, usize)>,
}

impl Index {
    /// Adds a run, without sessions yet. Its address is the experiment's name, with a number when
    /// that is taken.
    pub fn add_run(&mut self, experiment: &str, place: String) -> RunKey {
        let slug = slug(experiment);
        let number = self.names.entry(slug.clone()).or_insert(0);
        *number += 1;
        // No name ends in a number of ours: those have a sign before it that slugs do not have.
        let name = match *number {
            1 => slug,
            number => format!("{slug}~{number}"),
        };
        self.runs.push(OfRun {
            run: Run {
                run: name,
                experiment: experiment.to_owned(),
                place,
                ..Run::default()
            },
            cells: Vec::new(),
            by_setting: HashMap::new(),
            tables: Vec::new(),
            by_table: HashMap::new(),
            rows: Vec::new(),
            texts: BTreeSet::new(),
            gaps: Gaps::default(),
        });
        RunKey(self.runs.len() - 1)
    }

    /// Adds a session of a run; one that is known already is not listed twice.
    pub fn add(&mut self, key: RunKey, session: &Session, place: Place) {
        let id: Arc<str> = session.session.as_str().into();
        let Some(of_run) = self.runs.get_mut(key.0) else {
            return;
        };
        if let Some((known, _)) = self.sessions.get(&id) {
            of_run.gaps.elsewhere += usize::from(*known != key);
            return;
        }
        self.sessions
            .insert(Arc::clone(&id), (key, of_run.rows.len()));
        self.order.push((key, of_run.rows.len()));
        of_run.add(id, session, place);
    }

    /// Notes a line of a run that cannot be read.
    pub fn note(&mut self, key: RunKey, note: String) {
        if let Some(of_run) = self.runs.get_mut(key.0) {
            of_run.gaps.note_unreadable(note);
        }
    }

    /// Says how many sessions of a run cannot be had for now, and why the last of them.
    pub fn set_missing(&mut self, key: RunKey, missing: Option<(usize, String)>) {
        if let Some(of_run) = self.runs.get_mut(key.0) {
            of_run.gaps.missing = missing;
        }
    }

    /// The address of a run that has sessions.
    pub fn name(&self, key: RunKey) -> Option<String> {
        let run = &self.runs.get(key.0)?.run;
        (run.sessions > 0).then(|| run.run.clone())
    }

    /// All runs that have sessions.
    pub fn runs(&self) -> Vec<Run> {
        let runs = self.runs.iter();
        let with_sessions = runs.filter(|one| one.run.sessions + one.gaps.elsewhere > 0);
        with_sessions.map(|one| one.run.clone()).collect()
    }

    /// A run with its grid.
    pub fn run(&self, name: &str) -> Option<RunHead> {
        let of_run = self.find(name)?;
        let cells: Vec<Cell> = (0..)
            .zip(&of_run.cells)
            .map(|(at, cell)| cell.shown(at))
            .collect();
        let measures = cells.iter().flat_map(|cell| cell.means.keys().cloned());
        Some(RunHead {
            run: of_run.run.clone(),
            measures: measures.collect(),
            notes: of_run.gaps.notes(),
            cells,
        })
    }

    /// Some sessions of a run.
    pub fn sessions(&self, name: &str, query: &SessionQuery) -> Option<SessionPage> {
        let of_run = self.find(name)?;
        let wanted = query.search.trim().to_lowercase();
        let fits = |row: &Row| {
            query.cell.is_none_or(|cell| cell == row.cell)
                && (wanted.is_empty() || of_run.contains(row, &wanted))
        };
        let (mut sessions, mut next, mut total) = (Vec::new(), None, 0);
        for (at, row) in of_run.rows.iter().enumerate().filter(|(_, row)| fits(row)) {
            total += 1;
            if at < query.from() {
                continue;
            }
            match sessions.len() < query.count() {
                true => sessions.push(of_run.shown(row)),
                false if next.is_none() => next = Some(at.to_string()),
                false => {}
            }
        }
        Some(SessionPage {
            sessions,
            next,
            total,
        })
    }

    /// The sessions of a run by id, with what was played and by whom.
    pub fn played(&self, name: &str) -> Option<impl Iterator<Item = (&str, &Played)>> {
        let of_run = self.find(name)?;
        let rows = of_run.rows.iter();
        Some(rows.filter_map(|row| Some((&*row.session, of_run.tables.get(row.table as usize)?))))
    }

    /// The run of a session, and where its record lies.
    pub fn place(&self, session: &str) -> Option<(&str, Place)> {
        let (key, row) = self.sessions.get(session)?;
        let of_run = &self.runs[key.0];
        Some((&of_run.run.run, of_run.rows[*row].place))
    }

    /// Other sessions of the same run that met the same luck in other cells.
    pub fn paired(&self, session: &str) -> Vec<SessionRow> {
        const MOST: usize = 50;
        let Some((key, at)) = self.sessions.get(session) else {
            return Vec::new();
        };
        let of_run = &self.runs[key.0];
        let row = &of_run.rows[*at];
        let game = &of_run.cells[row.cell as usize].game;
        let others = of_run.rows.iter().filter(|other| {
            other.luck == row.luck
                && other.cell != row.cell
                && of_run.cells[other.cell as usize].game == *game
        });
        others.take(MOST).map(|row| of_run.shown(row)).collect()
    }

    fn find(&self, name: &str) -> Option<&OfRun> {
        self.runs.iter().find(|one| one.run.run == name)
    }
}

impl OfRun {
    fn add(&mut self, id: Arc<str>, session: &Session, place: Place) {
        let cell = self.cell(&session.spec);
        let of_cell = &mut self.cells[cell as usize];
        of_cell.sessions += 1;
        of_cell.fouls += u64::from(session.fouls());
        of_cell.forfeits += u64::from(session.forfeits());
        let scores = session.scores().into_iter();
        let scores = scores.map(|(scheme, score)| (format!("score {scheme}"), score));
        let payoffs = ("mean payoff".to_owned(), session.mean_payoff());
        for (name, value) in scores
            .chain([payoffs])
            .filter(|(_, value)| value.is_finite())
        {
            let (sum, count) = of_cell.sums.entry(name).or_default();
            *sum += value;
            *count += 1;
        }
        self.run.sessions += 1;
        self.run.simulated |= session.simulated;
        self.run.games.insert(session.spec.game.clone());
        let players = session.spec.seats.iter().map(|player| &player.name);
        for player in players {
            if !self.run.players.contains(player) {
                self.run.players.insert(player.clone());
            }
        }
        let row = Row {
            session: id,
            cell,
            table: self.table(&session.spec),
            luck: session.spec.luck,
            simulated: session.simulated,
            names: self.shared(names_in(&session.spec.seats).join("\n")),
            players: self.shared(session.players()),
            payoffs: payoffs_of(&session.outcome.payoffs).into(),
            notes: self.shared(session.notes()),
            place,
        };
        self.rows.push(row);
    }

    /// The number of a cell; a new one when it has not been met.
    fn cell(&mut self, spec: &SessionSpec) -> u32 {
        let (game, setting) = (&spec.game, &spec.setting);
        let key = serde_json::to_string(&(game, setting)).unwrap_or_default();
        let next = self.cells.len() as u32;
        let cell = *self.by_setting.entry(key).or_insert(next);
        if cell == next {
            self.cells.push(OfCell {
                game: game.to_owned(),
                setting: in_words(setting),
                like: Some(spec.clone()),
                ..OfCell::default()
            });
        }
        cell
    }

    /// The number of a game with its players; a new one when it has not been met.
    fn table(&mut self, spec: &SessionSpec) -> u32 {
        let key = serde_json::to_string(&(&spec.game, &spec.seats)).unwrap_or_default();
        let next = self.tables.len() as u32;
        let table = *self.by_table.entry(key).or_insert(next);
        if table == next {
            let (game, seats) = (spec.game.clone(), spec.seats.clone());
            self.tables.push(Played { game, seats });
        }
        table
    }

    fn shared(&mut self, text: String) -> Arc<str> {
        let text: Arc<str> = text.into();
        if let Some(known) = self.texts.get(&text) {
            return Arc::clone(known);
        }
        self.texts.insert(Arc::clone(&text));
        text
    }

    fn contains(&self, row: &Row, wanted: &str) -> bool {
        let cell = &self.cells[row.cell as usize];
        let texts = [&*row.session, &row.players, &row.notes, &cell.game].into_iter();
        let setting = cell.setting.iter().map(|fact| fact.value.as_str());
        let mut all = texts.chain(setting);
        all.any(|text| text.to_lowercase().contains(wanted))
    }

    fn shown(&self, row: &Row) -> SessionRow {
        let cell = &self.cells[row.cell as usize];
        SessionRow {
            session: row.session.to_string(),
            game: cell.game.clone(),
            cell: row.cell,
            setting: cell.setting.clone(),
            repeat: row.luck.repeat,
            place: row.luck.place,
            players: row.players.to_string(),
            payoffs: row.payoffs.to_string(),
            notes: row.notes.to_string(),
        }
    }
}

impl OfCell {
    fn shown(&self, cell: u32) -> Cell {
        let sums = self.sums.iter();
        let means = sums.map(|(name, (sum, count))| (name.clone(), sum / *count as f64));
        Cell {
            cell,
            game: self.game.clone(),
            setting: self.setting.clone(),
            axes: self
                .like
                .as_ref()
                .map(|spec| spec.setting.clone())
                .unwrap_or_default(),
            sessions: self.sessions,
            means: means.collect(),
            fouls: self.fouls,
            forfeits: self.forfeits,
        }
    }
}

/// A name as part of an address.
fn slug(name: &str) -> String {
    let letters = name.chars().map(|letter| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' => letter,
        _ => '-',
    });
    let slug: String = letters.take(100).collect();
    match slug.trim_matches(['-', '.']) {
        "" => "run".to_owned(),
        slug => slug.to_owned(),
    }
}

fn payoffs_of(payoffs: &[f64]) -> String {
    let shown = payoffs.iter().take(MOST_PAYOFFS).map(|payoff| {
        let rounded = (payoff * 100.0).round() / 100.0;
        rounded.to_string()
    });
    let shown: Vec<String> = shown.collect();
    let more = if payoffs.len() > MOST_PAYOFFS {
        ", ..."
    } else {
        ""
    };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
pub(crate) mod tests;
