//! One table over all games and settings, by how likely a player does better than another. Called by
//! `standings.rs`.

use std::collections::{BTreeMap, BTreeSet};

use super::{Own, Standings, from_to};
use crate::basis::{Basis, Note, explained};
use crate::layout::Layout;
use crate::ranking;
use crate::selection::Selection;
use crate::statistics::Interval;
use crate::statistics::aggregate::{AmongOthers, mean_superiority, mean_superiority_interval};
use crate::table::{Beside, Column, NONE, TextTable, count, number, paragraphs};
use crate::wrapping::prose;

/// What a player made in the sessions of a game and setting.
struct Made<'a> {
    player: &'a str,
    values: Vec<f64>,
    basis: &'a Basis,
}

/// What all players made in a game and setting.
struct Contest<'a> {
    players: Vec<Made<'a>>,
    /// Whether players met in sessions, so that what they made there depends on each other.
    met: bool,
}

/// A row before it is ranked.
struct Row<'a> {
    player: &'a str,
    /// Games and settings that it is in.
    played: usize,
    sessions: usize,
    /// The chance to do better; `None` where it is not in all of them.
    chance: Option<f64>,
    interval: Option<Interval>,
    basis: Basis,
}

impl Standings {
    /// One table over all games and settings, and one of what is simulated: how likely a session of a
    /// player goes better than one of another in the same game and setting. `None` for fewer than two
    /// games or players, and where nobody is in all of them.
    pub fn overall(&self, layout: Layout) -> Option<String> {
        let tables = [false, true].map(|simulated| self.overall_of(simulated, layout));
        let tables: Vec<String> = tables.into_iter().flatten().collect();
        (!tables.is_empty()).then(|| tables.join("\n\n"))
    }

    fn overall_of(&self, simulated: bool, layout: Layout) -> Option<String> {
        let groups = self.groups.iter();
        let groups = groups.filter(|(group, _)| group.simulated == simulated);
        let groups = groups.map(|(_, players)| contest(players));
        let groups: Vec<Contest<'_>> = groups.filter(|contest| contest.players.len() > 1).collect();
        if groups.len() < 2 {
            return None;
        }
        let mut players: Vec<&str> = Vec::new();
        for made in groups.iter().flat_map(|contest| &contest.players) {
            if !players.contains(&made.player) {
                players.push(made.player);
            }
        }
        let rows = players.into_iter().map(|player| row(player, &groups));
        let mut rows: Vec<Row<'_>> = rows.collect();
        let worth = |row: &Row<'_>| row.chance.unwrap_or(f64::NEG_INFINITY);
        rows.sort_by(|one, other| worth(other).total_cmp(&worth(one)));
        let ends = rows.iter().filter_map(|row| {
            let _ = row.chance?;
            Some(row.interval.unwrap_or_else(Interval::unknown))
        });
        let ends: Vec<Interval> = ends.collect();
        if ends.is_empty() {
            return None;
        }
        let mut table = TextTable::new(vec![
            Column::number("rank"),
            Column::key("player"),
            Column::number("better"),
            Column::number("95 %"),
            Column::number("games and settings"),
            Column::number("sessions"),
            Column::notes(),
        ]);
        for (place, row) in rows.iter().enumerate() {
            let interval = row.interval.map(|interval| interval.moved(0.0, 100.0));
            let cells = [
                row.chance
                    .map_or_else(|| NONE.to_owned(), |_| ranking::rank(place, &ends)),
                row.player.to_owned(),
                number(row.chance.map(|chance| 100.0 * chance), 1),
                from_to(interval, 1),
                format!("{} of {}", row.played, groups.len()),
                count(row.sessions as u64),
                row.notes_in_words(),
            ];
            let sessions = Selection::default().player(row.player);
            let beside = Beside::of(sessions.simulated(simulated));
            let percent = row.chance.map(|chance| 100.0 * chance);
            table.row_with(cells, beside.bar(percent, interval));
        }
        let title = format!(
            "Overall{}: how likely, in percent, a session of a player goes better than one of \
             another player in the same game and setting, by score or payoff, equal ones counted half; \
             the mean over others, games and settings (P(X > Y) of arXiv 2108.13264). 95 %, of sessions \
             drawn again; - where one has fewer than 5 of a game, and where players met in sessions. Who is not in all games and settings has \
             none",
            if simulated { " (SIMULATED)" } else { "" }
        );
        let notes = rows.iter().flat_map(|row| row.basis.notes_below_title());
        Some(paragraphs([
            Some(prose(&title, layout)),
            Some(table.fitted(layout)),
            explained(notes, layout),
        ]))
    }
}

fn contest(players: &BTreeMap<String, Own>) -> Contest<'_> {
    let players = players.iter().filter(|(_, own)| !own.values.is_empty());
    let clusters = players.clone().flat_map(|(_, own)| own.values.keys());
    let all = clusters.clone().count();
    let apart: BTreeSet<&u64> = clusters.collect();
    let players = players.map(|(player, own)| Made {
        player,
        values: own.values.values().map(|(sum, n)| sum / n).collect(),
        basis: &own.basis,
    });
    Contest {
        players: players.collect(),
        met: apart.len() < all,
    }
}

fn row<'a>(player: &'a str, groups: &[Contest<'_>]) -> Row<'a> {
    let mut among: Vec<AmongOthers> = Vec::new();
    let mut sessions = 0;
    let mut basis = Basis::default();
    for Contest { players, .. } in groups {
        let Some(own) = players.iter().find(|made| made.player == player) else {
            continue;
        };
        sessions += own.values.len();
        basis.merge(own.basis);
        let others = players.iter().filter(|made| made.player != player);
        let others = others.map(|made| made.values.clone()).collect();
        among.push((own.values.clone(), others));
    }
    let played = among.len();
    let is_whole = played == groups.len();
    let chance = mean_superiority(&among).filter(|_| is_whole);
    // Sessions are drawn again, never players of the same ones.
    let apart = groups.iter().all(|contest| !contest.met);
    let interval = chance.filter(|_| apart);
    let interval = interval.and_then(|_| mean_superiority_interval(&among));
    Row {
        player,
        played,
        sessions,
        chance,
        interval: interval.map(|(_, interval)| interval),
        basis,
    }
}

impl Row<'_> {
    fn notes_in_words(&self) -> String {
        let notes = self.basis.notes_below_title();
        let notes = notes.iter().map(Note::in_words);
        let missing = self.chance.is_none();
        let missing = missing.then(|| "no overall: not in all of them".to_owned());
        let notes: Vec<String> = notes.chain(missing).collect();
        notes.join(", ")
    }
}
