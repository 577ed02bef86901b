//! Leaderboards of single games and over all of them: who did best in the same game and setting, by
//! what a session paid or by its score, and how strong players are who met in sessions. Called by `agon
//! leaderboard` and the report's page.

pub(crate) mod melee;
mod overall;

use std::collections::BTreeMap;

use self::melee::Melee;
use crate::axes::{Axes, AxisNames, axes_without_models};
use crate::layout::Layout;
use crate::leaderboard::{self, player_of, players_of, published};
use crate::ranges::cut;
use crate::ranking;
use crate::selection::Selection;
use crate::session::{Session, cluster_of};
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
    groups: BTreeMap<Group, BTreeMap<String, Values>>,
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

/// Sum and number of sessions by cluster.
type Values = BTreeMap<u64, (f64, f64)>;

/// A row before it is ranked.
struct Row {
    player: String,
    value: f64,
    interval: Option<Interval>,
    /// Sessions or series; `None` of a published row.
    n: Option<u64>,
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
        let score = session.scores().get(leaderboard::SCHEME).copied();
        if let Some(score) = score {
            group.measure = format!("score {}", leaderboard::SCHEME);
            let players = players_of(&spec.seats);
            self.value(group, players, cluster, score);
            return;
        }
        // A session of the suite without a score was not answered: its payoffs say nothing either.
        if leaderboard::GAMES
            .iter()
            .any(|(game, _)| *game == spec.game)
        {
            return;
        }
        let made = made_by_players(session);
        if made.len() > 1 {
            let melee = (spec.game.clone(), session.simulated);
            self.melees.entry(melee).or_default().add(cluster, &made);
        }
        for (player, payoff) in made {
            self.value(group.clone(), player, cluster, payoff);
        }
    }

    fn value(&mut self, group: Group, player: String, cluster: u64, value: f64) {
        let players = self.groups.entry(group).or_default();
        let sums = players
            .entry(player)
            .or_default()
            .entry(cluster)
            .or_default();
        sums.0 += value;
        sums.1 += 1.0;
    }

    /// A table for each game and setting with two players or more, best first, and below those of a
    /// game the ratings of players who met in its sessions. Without games of the suite's leaderboard
    /// unless they are asked for.
    pub fn by_game(&self, with_suite: bool, layout: Layout) -> String {
        let mut parts = Vec::new();
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
        let how = format!(
            "Means over n sessions or series, best first; 95 %, the interval of the mean ({METHOD}; \
             {CAVEAT}; - where there is one session, and where all have the same); ranks, from the \
             best to the worst that these intervals leave open, published rows taken as exact."
        );
        parts.insert(0, prose(&how, layout));
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
        ]);
        let ends = rows.iter();
        let ends: Vec<Interval> = ends
            .map(|row| {
                // Published rows are taken as exact; of a single session nothing is known.
                let without = match row.n {
                    None => Interval::point(row.value),
                    Some(_) => Interval::unknown(),
                };
                row.interval.unwrap_or(without)
            })
            .collect();
        for (place, row) in rows.iter().enumerate() {
            let cells = [
                ranking::rank(place, &ends),
                row.player.clone(),
                number(Some(row.value), 2),
                from_to(row.interval, 2),
                row.n.map_or_else(|| NONE.to_owned(), count),
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
            table.row_with(cells, beside.bar(Some(row.value), row.interval));
        }
        table.fitted(layout)
    }

    fn rows(&self, group: &Group, players: &BTreeMap<String, Values>) -> Vec<Row> {
        let own = players.iter().filter_map(|(player, values)| {
            let clusters: Vec<(f64, f64)> = values.values().copied().collect();
            let ratio = ratio(&clusters)?;
            Some(Row {
                player: player.clone(),
                value: ratio.value,
                interval: (ratio.interval.filter(|one| !one.is_point()))
                    .map(|one| cut(one, &group.measure)),
                n: Some(clusters.len() as u64),
            })
        });
        let mut rows: Vec<Row> = own.collect();
        let is_plain = self
            .axes
            .get(&group.setting)
            .is_some_and(BTreeMap::is_empty);
        if is_plain && group.measure.ends_with(leaderboard::SCHEME) {
            rows.extend(published().into_iter().filter_map(|row| {
                Some(Row {
                    value: *row.scores.get(&group.game)?,
                    player: format!("{} (published)", row.model),
                    interval: None,
                    n: None,
                })
            }));
        }
        rows.sort_by(|one, other| other.value.total_cmp(&one.value));
        rows
    }
}

/// What is independent of others, as a number.
pub(crate) fn cluster_number(session: &Session) -> u64 {
    let cluster = cluster_of(&session.session, &session.spec);
    // The first half of the digits of a digest tell as many apart as there are.
    let digits = cluster.get(..16).unwrap_or(&cluster);
    u64::from_str_radix(digits, 16).unwrap_or_default()
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
