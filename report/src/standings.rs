//! Leaderboards of single games and over all of them: who did best in the same game and setting, by
//! what a session paid or by its score, and how strong players are who met in sessions. Called by `agon
//! leaderboard` and the report's page.

pub(crate) mod melee;
mod overall;

use std::collections::BTreeMap;

use self::melee::Melee;
use crate::axes::{Axes, AxisNames, axes_without_models};
use crate::basis::{Basis, Note, explained};
use crate::layout::Layout;
use crate::leaderboard::{self, published};
use crate::players::{player_of, players_of};
use crate::published::unlike_published;
use crate::ranges::cut;
use crate::ranking;
use crate::selection::Selection;
use crate::session::{Session, cluster_number};
use crate::statistics::mean_interval::{CAVEAT, METHOD};
use crate::statistics::{Interval, ratio};
use crate::table::{Beside, Column, NONE, TextTable, count, number};
use crate::wrapping::prose;

/// How often sessions are drawn again for the interval of a rating.
const RATING_DRAWS: usize = 200;

/// Of more sessions none are drawn again: it would take minutes.
const MOST_DRAWN: usize = 500;

/// Everything that was played, by game and setting.
#[derive(Debug, Default)]
pub struct Standings {
    names: AxisNames,
    groups: BTreeMap<Group, BTreeMap<String, Own>>,
    axes: BTreeMap<String, Axes>,
    melees: BTreeMap<(String, bool), Melee>,
}

/// What players must have in common to be compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    game: String,
    /// Axes as JSON, those that only name models left out.
    setting: String,
    simulated: bool,
    /// The score or the payoff.
    measure: String,
}

/// What a player made in a game and setting.
#[derive(Debug, Default)]
struct Own {
    /// Sum and number of sessions that count, by cluster.
    values: BTreeMap<u64, (f64, f64)>,
    basis: Basis,
}

/// A row before it is ranked.
struct Row {
    player: String,
    /// `None` where no session counts.
    value: Option<f64>,
    interval: Option<Interval>,
    /// Sessions or series; `None` of a published row.
    n: Option<u64>,
    notes: Vec<Note>,
    /// Which parameters are not those of the published rows beside it.
    unlike: Option<String>,
}

impl Standings {
    /// Takes in a session.
    pub fn add(&mut self, session: &Session) {
        let spec = &session.spec;
        self.names.add(spec);
        let axes = axes_without_models(spec);
        let setting = serde_json::to_string(&axes).unwrap_or_default();
        self.axes.entry(setting.clone()).or_insert(axes);
        let cluster = cluster_number(session);
        let mut group = Group {
            game: spec.game.clone(),
            setting,
            simulated: session.simulated,
            measure: "payoff".to_owned(),
        };
        let answers = session.answers();
        // A session of the suite without a score was not answered: its payoffs say nothing either.
        let mut suite = leaderboard::GAMES.iter();
        if suite.any(|(game, _)| *game == spec.game) {
            group.measure = format!("score {}", leaderboard::SCHEME);
            let score = session.scores().get(leaderboard::SCHEME).copied();
            let own = self.own(&group, players_of(&spec.seats));
            own.basis.add(spec, answers, answers.all());
            own.add(cluster, score);
            return;
        }
        let made = made_by_players(session);
        if made.len() > 1 {
            let melee = (spec.game.clone(), session.simulated);
            self.melees.entry(melee).or_default().add(cluster, &made);
        }
        for paid in session.paid() {
            let mut seats = spec.seats.iter();
            let Some(seat) = seats.find(|seat| seat.name == paid.player) else {
                continue;
            };
            let own = self.own(&group, player_of(seat, &spec.seats));
            own.basis.add(spec, answers, &paid.answers);
        }
        for (player, payoff) in made {
            self.own(&group, player).add(cluster, Some(payoff));
        }
    }

    fn own(&mut self, group: &Group, player: String) -> &mut Own {
        let players = self.groups.entry(group.clone()).or_default();
        players.entry(player).or_default()
    }

    /// A table for each game and setting with two players or more, best first, and below those of a
    /// game the ratings of players who met in its sessions. Without games of the suite's leaderboard
    /// unless they are asked for.
    pub fn by_game(&self, with_suite: bool, layout: Layout) -> String {
        let mut parts = Vec::new();
        let (mut notes, mut has_published) = (Vec::new(), false);
        let mut game = None;
        for (group, players) in &self.groups {
            let in_suite = group.measure.ends_with(leaderboard::SCHEME);
            if in_suite && !with_suite {
                continue;
            }
            let rows = self.rows(group, players);
            if rows.len() < 2 {
                continue;
            }
            notes.extend(rows.iter().flat_map(|row| row.notes.clone()));
            has_published |= rows.iter().any(|row| row.n.is_none());
            let own = (group.game.clone(), group.simulated);
            if let Some(before) = game.replace(own.clone()).filter(|before| *before != own) {
                parts.extend(self.ratings(&before, layout));
            }
            parts.push(prose(&self.title(group), layout));
            parts.push(self.table_of(group, &rows, layout));
        }
        if let Some(last) = game {
            parts.extend(self.ratings(&last, layout));
        }
        if parts.is_empty() {
            return String::new();
        }
        let published = match has_published {
            true => ", published rows taken as exact",
            false => "",
        };
        let how = format!(
            "Means over n sessions or series, best first; 95 %, the interval of the mean ({METHOD}; \
             {CAVEAT}; - where there is one session, and where all have the same); ranks, from the \
             best to the worst that these intervals leave open{published}."
        );
        parts.insert(0, prose(&how, layout));
        parts.extend(explained(notes, layout));
        parts.join("\n\n")
    }

    /// Ratings of the players who met in the sessions of a game; `None` where none did.
    fn ratings(&self, game: &(String, bool), layout: Layout) -> Option<String> {
        let melee = self.melees.get(game)?;
        Some(melee.table(&game.0, game.1, layout))
    }

    fn title(&self, group: &Group) -> String {
        let axes = self.axes.get(&group.setting);
        let setting = axes
            .map(|axes| self.names.join(axes.iter()))
            .unwrap_or_default();
        let setting = match setting.is_empty() {
            true => String::new(),
            false => format!(" [{setting}]"),
        };
        let simulated = if group.simulated { " (SIMULATED)" } else { "" };
        format!("{}{setting}{simulated}: {}", group.game, group.measure)
    }

    fn table_of(&self, group: &Group, rows: &[Row], layout: Layout) -> String {
        let mut table = TextTable::new(vec![
            Column::number("rank"),
            Column::key("player"),
            Column::number("mean"),
            Column::number("95 %"),
            Column::number("n"),
            Column::notes(),
        ]);
        // Rows without a value come last.
        let ends: Vec<Interval> = rows.iter().filter_map(Row::ends).collect();
        for (place, row) in rows.iter().enumerate() {
            let rank = row.value.map(|_| ranking::rank(place, &ends));
            let cells = [
                rank.unwrap_or_else(|| NONE.to_owned()),
                row.player.clone(),
                number(row.value, 2),
                from_to(row.interval, 2),
                row.n.map_or_else(|| NONE.to_owned(), count),
                row.notes_in_words(),
            ];
            let sessions = Selection::of_game(&group.game).player(&row.player);
            let sessions = match self.axes.get(&group.setting) {
                Some(axes) => sessions.loosely(axes),
                None => sessions,
            };
            let beside = match row.n {
                Some(_) => Beside::of(sessions.simulated(group.simulated)),
                None => Beside::default(),
            };
            table.row_with(cells, beside.bar(row.value, row.interval));
        }
        table.fitted(layout)
    }

    fn rows(&self, group: &Group, players: &BTreeMap<String, Own>) -> Vec<Row> {
        let axes = self.axes.get(&group.setting);
        let is_published =
            axes.is_some_and(BTreeMap::is_empty) && group.measure.ends_with(leaderboard::SCHEME);
        let own = players.iter().map(|(player, own)| {
            let clusters: Vec<(f64, f64)> = own.values.values().copied().collect();
            let ratio = ratio(&clusters);
            let interval = ratio.and_then(|ratio| ratio.interval);
            let unlike = unlike_published(&own.basis, &[]).filter(|_| is_published);
            Row {
                player: player.clone(),
                value: ratio.map(|ratio| ratio.value),
                interval: (interval.filter(|one| !one.is_point()))
                    .map(|one| cut(one, &group.measure)),
                n: Some(clusters.len() as u64),
                notes: own.basis.notes_below_title(),
                unlike,
            }
        });
        let mut rows: Vec<Row> = own.collect();
        if is_published {
            rows.extend(published().into_iter().filter_map(|row| {
                Some(Row {
                    value: Some(*row.scores.get(&group.game)?),
                    player: format!("{} (published)", row.model),
                    interval: None,
                    n: None,
                    notes: Vec::new(),
                    unlike: None,
                })
            }));
        }
        let worth = |row: &Row| row.value.unwrap_or(f64::NEG_INFINITY);
        rows.sort_by(|one, other| worth(other).total_cmp(&worth(one)));
        rows
    }
}

impl Own {
    /// Takes in what was made in a session of a cluster; nothing where it does not count.
    fn add(&mut self, cluster: u64, value: Option<f64>) {
        if let Some(value) = value {
            let sums = self.values.entry(cluster).or_default();
            sums.0 += value;
            sums.1 += 1.0;
        }
    }
}

impl Row {
    /// Where its value may lie; `None` without one.
    fn ends(&self) -> Option<Interval> {
        let value = self.value?;
        // Published rows are taken as exact; of a single session nothing is known.
        let without = match self.n {
            None => Interval::point(value),
            Some(_) => Interval::unknown(),
        };
        Some(self.interval.unwrap_or(without))
    }

    fn notes_in_words(&self) -> String {
        let notes = self.notes.iter().map(Note::in_words);
        let notes: Vec<String> = notes.chain(self.unlike.clone()).collect();
        notes.join(", ")
    }
}

/// What each player of a session was paid, by model or strategy; without players that answered too
/// little.
pub(crate) fn made_by_players(session: &Session) -> Vec<(String, f64)> {
    let mut made: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for paid in session.paid() {
        let mut seats = session.spec.seats.iter();
        let seat = seats.find(|seat| seat.name == paid.player);
        let Some((seat, payoff)) = seat.zip(paid.payoff) else {
            continue;
        };
        let player = player_of(seat, &session.spec.seats);
        let sums = made.entry(player).or_default();
        sums.0 += payoff;
        sums.1 += 1.0;
    }
    let made = made.into_iter();
    made.map(|(player, (sum, n))| (player, sum / n)).collect()
}

/// An interval in words, to so many decimals.
pub(crate) fn from_to(interval: Option<Interval>, decimals: usize) -> String {
    let Some(interval) = interval else {
        return NONE.to_owned();
    };
    let ends = [interval.low, interval.high].map(|end| number(Some(end), decimals));
    ends.join(" to ")
}
