//! One table over all games and settings, by how likely a player does better than another. Called by
//! `standings.rs`.

use std::collections::{BTreeMap, BTreeSet};

use super::{Standings, Values, from_to};
use crate::layout::Layout;
use crate::ranking;
use crate::selection::Selection;
use crate::statistics::Interval;
use crate::statistics::aggregate::{AmongOthers, mean_superiority, mean_superiority_interval};
use crate::table::{Beside, Column, NONE, TextTable, count, number, paragraphs};
use crate::wrapping::prose;

/// What a player made in the sessions of a game and setting.
type Own<'a> = (&'a String, Vec<f64>);

/// What all players made in a game and setting.
struct Contest<'a> {
    players: Vec<Own<'a>>,
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
}

impl Standings {
    /// One table over all games and settings: how likely a session of a player goes better than one of
    /// another in the same game and setting. `None` for fewer than two games or players, and where nobody
    /// is in all of them.
    pub fn overall(&self, layout: Layout) -> Option<String> {
        let groups = self.groups.values().filter(|players| players.len() > 1);
        let groups: Vec<Contest<'_>> = groups.map(contest).collect();
        if groups.len() < 2 {
            return None;
        }
        let mut players: Vec<&str> = Vec::new();
        for (player, _) in groups.iter().flat_map(|contest| &contest.players) {
            if !players.contains(&&***player) {
                players.push(player);
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
                match row.chance {
                    Some(_) => String::new(),
                    None => "no overall: not in all of them".to_owned(),
                },
            ];
            let beside = Beside::of(Selection::default().player(row.player));
            let percent = row.chance.map(|chance| 100.0 * chance);
            table.row_with(cells, beside.bar(percent, interval));
        }
        let title = "Overall: how likely, in percent, a session of a player goes better than one of \
             another player in the same game and setting, by score or payoff, equal ones counted half; \
             the mean over others, games and settings (P(X > Y) of arXiv 2108.13264). 95 %, of sessions \
             drawn again; - where one has fewer than 5 of a game, and where players met in sessions. Who is not in all games and settings has \
             none";
        Some(paragraphs([
            Some(prose(title, layout)),
            Some(table.fitted(layout)),
        ]))
    }
}

fn contest(players: &BTreeMap<String, Values>) -> Contest<'_> {
    let clusters = players.values().flat_map(BTreeMap::keys);
    let all = clusters.clone().count();
    let apart: BTreeSet<&u64> = clusters.collect();
    let players = players.iter().map(|(player, values)| {
        let means = values.values().map(|(sum, n)| sum / n);
        (player, means.collect())
    });
    Contest {
        players: players.collect(),
        met: apart.len() < all,
    }
}

fn row<'a>(player: &'a str, groups: &[Contest<'_>]) -> Row<'a> {
    let mut among: Vec<AmongOthers> = Vec::new();
    let mut sessions = 0;
    for Contest { players, .. } in groups {
        let Some((_, own)) = players.iter().find(|(name, _)| *name == player) else {
            continue;
        };
        sessions += own.len();
        let others = players.iter().filter(|(name, _)| *name != player);
        let others = others.map(|(_, other)| other.clone()).collect();
        among.push((own.clone(), others));
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
    }
}
