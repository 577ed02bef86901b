//! The gamma-Bench leaderboard: a user's own rows beside the published ones.
//!
//! The overall score is the mean over the eight games of the mean score
//! `iclr2025` (Huang et al., arXiv 2403.11807, and the authors' published table,
//! whose rows are in `data/gamma_bench.csv`).

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::PlayerSpec;

use crate::accumulator::Accumulator;
use crate::axes::{Axes, AxisNames, LABEL, axes};
use crate::basis::{Basis, explained};
use crate::layout::Layout;
use crate::players::{player_of, players_of};
use crate::published::{titled, unlike_published};
use crate::ranges::OF_SCORES;
use crate::ranking;
use crate::selection::{Selection, models_in};
use crate::session::{Session, cluster_number, players_in};
use crate::statistics::aggregate::{FEWEST, interquartile_mean, interquartile_mean_interval};
use crate::statistics::mean_interval::{CAVEAT, METHOD};
use crate::statistics::{Interval, as_numbers, mean_interval};
use crate::table::{Beside, Column, NONE, TextTable, count, number, paragraphs, part_of};

/// The games, in the order of the published table.
pub const GAMES: [(&str, &str); 8] = [
    ("guess_two_thirds", "guessing"),
    ("el_farol", "bar"),
    ("divide_dollar", "dollar"),
    ("public_goods", "goods"),
    ("diners_dilemma", "diner"),
    ("sealed_bid_auction", "auction"),
    ("battle_royale", "battle"),
    ("pirate", "pirate"),
];

/// How many games these are.
const GAMES_IN_ALL: usize = GAMES.len();

/// The scheme of the published table.
pub(crate) const SCHEME: &str = "iclr2025";

/// The published rows; facts, not targets.
const PUBLISHED: &str = include_str!("../data/gamma_bench.csv");

/// A user's own rows, folded session by session.
#[derive(Debug, Default)]
pub struct Leaderboard {
    names: AxisNames,
    rows: BTreeMap<String, Own>,
    experiments: BTreeSet<String>,
}

/// One of them: who played, in which setting of which experiment, over all games.
#[derive(Debug, Default)]
struct Own {
    players: String,
    experiment: String,
    axes: Axes,
    simulated: bool,
    basis: Basis,
    games: BTreeMap<String, Game>,
}

#[derive(Debug, Default)]
struct Game {
    sessions: u64,
    scores: Accumulator,
    each: Vec<f64>,
    /// What is independent: sessions, or series of them, with the sum of their scores and how many
    /// there are.
    clusters: BTreeMap<u64, (f64, f64)>,
}

impl Game {
    /// Takes in a session.
    fn add(&mut self, session: &Session) {
        let score = session.scores().get(SCHEME).copied();
        self.sessions += 1;
        self.scores.add_known(score);
        self.each.extend(score);
        let cluster = self.clusters.entry(cluster_number(session)).or_default();
        if let Some(score) = score {
            cluster.0 += score;
            cluster.1 += 1.0;
        }
    }

    /// Whether sessions of it depend on each other.
    fn is_in_series(&self) -> bool {
        (self.clusters.len() as u64) < self.sessions
    }

    /// Sessions or series with a score.
    fn scored(&self) -> Vec<(f64, f64)> {
        let clusters = self.clusters.values().copied();
        clusters.filter(|(_, scores)| *scores > 0.0).collect()
    }

    /// The scores, those of a series taken together as one.
    fn independent(&self) -> Accumulator {
        match self.is_in_series() {
            true => as_numbers(&self.scored()).unwrap_or_default(),
            false => self.scores,
        }
    }

    /// The mean score, summed in order as the published table was.
    fn mean(&self) -> Option<f64> {
        (!self.each.is_empty()).then(|| self.each.iter().sum::<f64>() / self.each.len() as f64)
    }
}

impl Leaderboard {
    /// Takes in a session; games that are not in the table are passed over.
    pub fn add(&mut self, session: &Session) {
        let game = &session.spec.game;
        if !GAMES.iter().any(|(known, _)| known == game) {
            return;
        }
        self.names.add(&session.spec);
        // A label names one game of the experiment; a row compares models over all.
        let axes = axes(&session.spec).filter(|(axis, _)| *axis != LABEL);
        let axes: Axes = axes
            .map(|(axis, value)| (axis.clone(), value.clone()))
            .collect();
        let players = players(session);
        let setting = serde_json::to_string(&axes).unwrap_or_default();
        let experiment = &session.spec.experiment;
        // What is simulated is never taken together with what is not.
        let simulated = session.simulated;
        let row = format!("{experiment}\n{players}\n{setting}\n{simulated}");
        self.experiments.insert(experiment.clone());
        let row = self.rows.entry(row).or_insert_with(|| Own {
            players,
            experiment: experiment.clone(),
            axes,
            simulated,
            ..Own::default()
        });
        let answers = session.answers();
        row.basis.add(&session.spec, answers, answers.all());
        row.games.entry(game.clone()).or_default().add(session);
    }

    /// Whether nothing was taken in.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Own rows among the published ones, best first, in this layout; rows without
    /// an overall score come last.
    pub fn render(&self, layout: Layout) -> String {
        let mut columns = vec![Column::key("rank"), Column::key("model"), Column::key("")];
        columns.extend(["overall", "IQM"].map(Column::number));
        columns.extend(GAMES.map(|(_, short)| Column::number(short)));
        columns.push(Column::notes());
        let mut table = TextTable::new(columns);
        let mut rows: Vec<Row> = Vec::new();
        for own in self.rows.values() {
            rows.push(Row {
                overall: own.overall(),
                interval: own.interval().filter(|interval| !interval.is_point()),
                is_exact: false,
                sessions: Some(own.sessions()),
                cells: own.cells(self.name_of(own)),
            });
        }
        for published in published() {
            let overall = number(Some(published.overall), 1);
            let mut cells = vec![published.model, String::new(), overall, NONE.to_owned()];
            let scores = GAMES.map(|(game, _)| published.scores.get(game).copied());
            cells.extend(scores.map(|score| number(score, 1)));
            cells.push(String::new());
            rows.push(Row {
                overall: Some(published.overall),
                interval: None,
                is_exact: true,
                sessions: None,
                cells,
            });
        }
        rows.sort_by(|one, other| other.worth().total_cmp(&one.worth()));
        for row in &rows {
            let beside = Beside {
                sessions: row.sessions.clone(),
                ..Beside::default()
            };
            table.row_with(
                [vec![row.rank(&rows)], row.cells.clone()].concat(),
                beside.bar(row.overall, row.interval),
            );
        }
        let title = format!(
            "Leaderboard of gamma-Bench, score {SCHEME}: your rows, mean and standard deviation \
             over sessions, among the published ones (arXiv 2403.11807, mean of five runs); n, sessions, \
             or series of them; low and high, ends of the 95 % interval of the mean over these \
             ({METHOD}, Welch over games; {CAVEAT}; - for \
             n = 1 and where all sessions have the same score); ranks, from the best to the worst that \
             these intervals leave open, published rows taken as exact; IQM, interquartile mean over \
             all games (arXiv 2108.13264), its interval of sessions drawn again where each game has {FEWEST}, none of series"
        );
        let notes = self.rows.values().flat_map(|own| own.basis.notes());
        paragraphs([
            Some(titled(&title, layout)),
            Some(table.fitted(layout)),
            explained(notes, layout),
        ])
    }

    /// Who plays in a row of one's own, and in which setting if that says more.
    fn name_of(&self, own: &Own) -> String {
        let players = &own.players;
        let says_more = own.axes.iter().filter(|(axis, value)| {
            let is_model = axis.rsplit('.').next() == Some("model");
            !(is_model && value.as_str() == Some(players))
        });
        let axes = self.names.join(says_more);
        let name = match axes.is_empty() {
            true => format!("{players} (yours)"),
            false => format!("{players} (yours) [{axes}]"),
        };
        match self.experiments.len() {
            0 | 1 => name,
            _ => format!("{name} {}", own.experiment),
        }
    }
}

/// A row of the table, before it is ranked.
struct Row {
    overall: Option<f64>,
    /// Where the true score lies, as far as it is known.
    interval: Option<Interval>,
    /// Whether its score is taken as exact: a published one.
    is_exact: bool,
    /// The sessions that it rests on; `None` of a published one.
    sessions: Option<Selection>,
    /// All but its rank.
    cells: Vec<String>,
}

impl Row {
    fn worth(&self) -> f64 {
        self.overall.unwrap_or(f64::NEG_INFINITY)
    }

    /// The ends of its interval: of a published row, its score.
    fn ends(&self) -> Interval {
        let without = match self.is_exact || self.overall.is_none() {
            true => Interval::point(self.worth()),
            false => Interval::unknown(),
        };
        self.interval.unwrap_or(without)
    }

    /// From the best to the worst rank among all rows, itself among them, that intervals leave
    /// open.
    fn rank(&self, rows: &[Self]) -> String {
        let ends: Vec<Interval> = rows.iter().map(Self::ends).collect();
        let own = rows.iter().position(|row| std::ptr::eq(row, self));
        let own = own.filter(|_| self.overall.is_some());
        own.map_or_else(|| NONE.to_owned(), |own| ranking::rank(own, &ends))
    }
}

impl Own {
    /// The sessions that it rests on, of whatever label.
    fn sessions(&self) -> Selection {
        let sessions = Selection {
            experiment: Some(self.experiment.clone()),
            ..Selection::default()
        };
        let sessions = sessions.loosely(&self.axes).player(&self.players);
        sessions.simulated(self.simulated)
    }

    /// Means, below them their spread, and below that of how many sessions they are.
    fn cells(&self, name: String) -> Vec<String> {
        let mean = as_published(self.overall());
        let ends = ends_of(self.interval());
        let overall = format!("{mean}\n\n{ends}\n{}", self.counts());
        let mut cells = vec![name, "mean\n\u{b1}\nlow\nhigh\nn".to_owned(), overall];
        cells.push(self.middle());
        cells.extend(GAMES.iter().map(|(game, _)| {
            let Some(game) = self.games.get(*game) else {
                return NONE.to_owned();
            };
            let scores = &game.scores;
            let ends = ends_of(mean_interval(&[game.independent()]));
            let mean = as_published(game.mean());
            let spread = number(scores.standard_deviation(), 1);
            let n = part_of(game.scored().len() as u64, game.clusters.len() as u64);
            format!("{mean}\n{spread}\n{ends}\n{n}")
        }));
        cells.push(self.notes());
        cells
    }

    /// How many sessions or series with a score each game has, in the order of the table.
    fn scored(&self) -> [u64; GAMES_IN_ALL] {
        GAMES.map(|(game, _)| {
            self.games
                .get(game)
                .map_or(0, |game| game.scored().len() as u64)
        })
    }

    /// Mean over the eight games; `None` while one has no score.
    fn overall(&self) -> Option<f64> {
        let means = GAMES.iter().map(|(game, _)| self.games.get(*game)?.mean());
        let sum = means.sum::<Option<f64>>()?;
        Some(sum / GAMES_IN_ALL as f64)
    }

    /// The 95 % interval of the overall score; `None` without one, and while a game has a single
    /// session.
    fn interval(&self) -> Option<Interval> {
        self.overall()?;
        let games = GAMES.iter();
        let scores = games.map(|(game, _)| self.games.get(*game).map(Game::independent));
        mean_interval(&scores.collect::<Option<Vec<_>>>()?).map(|one| one.within(OF_SCORES))
    }

    /// The interquartile mean over all games, with its interval, of which there is none for series; a
    /// dash while one has no score.
    fn middle(&self) -> String {
        let games = GAMES.iter();
        let games = games.map(|(game, _)| self.games.get(*game).map(|game| game.each.clone()));
        let Some(games) = games.collect::<Option<Vec<Vec<f64>>>>() else {
            return NONE.to_owned();
        };
        let in_series = self.games.values().any(Game::is_in_series);
        let with_interval = interquartile_mean_interval(&games).filter(|_| !in_series);
        let mean = number(interquartile_mean(&games), 1);
        let ends = ends_of(with_interval.map(|(_, interval)| interval));
        format!("{mean}\n\n{ends}\n")
    }

    /// Of how many sessions or series a game the overall score is; empty without one.
    fn counts(&self) -> String {
        let scored = self.scored();
        let (least, most) = (scored.iter().min(), scored.iter().max());
        match (least, most) {
            (Some(0), _) | (None, _) | (_, None) => String::new(),
            (Some(least), Some(most)) if least == most => count(*least),
            (Some(least), Some(most)) => format!("{}\u{2013}{}", count(*least), count(*most)),
        }
    }

    /// What must be said of the row.
    fn notes(&self) -> String {
        let scored = self.scored();
        let without = scored.iter().filter(|count| **count == 0).count();
        let is_uneven = scored.iter().any(|count| *count != scored[0]);
        let overall = match without {
            0 if is_uneven => Some("overall of unequal n".to_owned()),
            0 => None,
            GAMES_IN_ALL => Some("no overall: no game has a score".to_owned()),
            1 => Some("no overall: 1 game has no score".to_owned()),
            games => Some(format!("no overall: {games} games have no score")),
        };
        let basis = Some(self.basis.in_words()).filter(|words| !words.is_empty());
        let notes = [basis, unlike_published(&self.basis, &[]), overall];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        notes.join(", ")
    }
}

/// A mean as the published table rounds it (pandas: the even one of two that are as near), so that
/// the same games give the same digits.
fn as_published(mean: Option<f64>) -> String {
    number(mean.map(|mean| (10.0 * mean).round_ties_even() / 10.0), 1)
}

/// Both ends of an interval, one below the other; none where all numbers are the same.
fn ends_of(interval: Option<Interval>) -> String {
    let interval = (interval.filter(|one| !one.is_point())).map(|one| one.within(OF_SCORES));
    let ends = [interval.map(|one| one.low), interval.map(|one| one.high)];
    ends.map(|end| number(end, 1)).join("\n")
}

/// One published row.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// The model.
    pub model: String,
    /// Its overall score.
    pub overall: f64,
    /// Score by registered game name.
    pub scores: BTreeMap<String, f64>,
}

/// The published rows, best first.
pub fn published() -> Vec<Published> {
    let mut reader = csv::Reader::from_reader(PUBLISHED.as_bytes());
    let headings = reader.headers().cloned().unwrap_or_default();
    let rows = reader.records().flatten().map(|row| {
        let mut scores = BTreeMap::new();
        let mut published = Published {
            model: String::new(),
            overall: 0.0,
            scores: BTreeMap::new(),
        };
        for (heading, cell) in headings.iter().zip(&row) {
            match (heading, cell.parse::<f64>()) {
                ("model", _) => published.model = cell.to_owned(),
                ("overall", Ok(score)) => published.overall = score,
                (game, Ok(score)) => {
                    scores.insert(game.to_owned(), score);
                }
                // A test reads every cell of the file.
                (_, Err(_)) => {}
            }
        }
        Published {
            scores,
            ..published
        }
    });
    rows.collect()
}

/// Who plays, without the game: what a row of the table compares.
pub(crate) fn players(session: &Session) -> String {
    players_of(&session.spec.seats)
}

/// What those who sit in a session may be called in results: names of players, their models or strategies, and
/// all of them together in the words of each table.
pub fn names_in(seats: &[PlayerSpec]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let each = seats.iter();
    let each = each.flat_map(|seat| [seat.name.clone(), player_of(seat, seats)]);
    let together = [players_of(seats), players_in(seats), models_in(seats)];
    for name in each.chain(together).filter(|name| !name.is_empty()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_as_exact_as_the_intervals_leave_it() {
        let around = |overall: f64, half: f64| {
            (half > 0.0).then_some(Interval {
                low: overall - half,
                high: overall + half,
            })
        };
        let row = |overall: f64, half: f64| Row {
            overall: Some(overall),
            interval: around(overall, half),
            is_exact: true,
            sessions: None,
            cells: Vec::new(),
        };
        let mut rows = vec![
            row(70.0, 0.0),
            row(62.0, 0.0),
            row(62.0, 0.0),
            row(61.0, 4.0),
        ];
        rows.push(row(40.0, 0.5));
        let ranks = |rows: &[Row]| rows.iter().map(|row| row.rank(rows)).collect::<Vec<_>>();
        // The fourth may be better than both before it, and so both may be one worse.
        assert_eq!(
            ranks(&rows),
            ["1", "2\u{2013}3", "2\u{2013}3", "2\u{2013}4", "5"]
        );
        rows[3].interval = None;
        assert_eq!(ranks(&rows), ["1", "2", "2", "4", "5"]);
        rows[3].interval = around(61.0, 30.0);
        assert_eq!(ranks(&rows)[3], "1\u{2013}5");
        // Of a single session nothing is known of how exact it is.
        (rows[3].interval, rows[3].is_exact) = (None, false);
        assert_eq!(ranks(&rows)[3], "1\u{2013}5");
        rows[3].overall = None;
        assert_eq!(ranks(&rows)[3], NONE);
    }
}
