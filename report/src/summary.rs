//! The table at the end of a run: one row per setting, with mean and standard deviation over
//! its sessions, of how many, and what must be said of them. Below it what everything cost.

use std::collections::BTreeMap;

use crate::accumulator::Accumulator;
use crate::axes::{Axes, AxisNames, axes_of};
use crate::basis::{Answers, Basis, explained};
use crate::layout::Layout;
use crate::leaderboard;
use crate::money::{KnownCost, dollars};
use crate::selection::Selection;
use crate::session::{Session, Telemetry};
use crate::table::{
    Beside, Column, TextTable, count, counted, of_values, paragraphs, part_of, spread,
};
use crate::wrapping::prose;

/// The scheme that is shown first.
const FIRST_SCHEME: &str = "iclr2025";

/// Everything the table shows, folded session by session.
#[derive(Debug, Default)]
pub struct Summary {
    names: AxisNames,
    /// In the order in which settings came first, which is the experiment's.
    rows: Vec<Setting>,
    /// Where the row of a setting is.
    places: BTreeMap<String, usize>,
    sessions: u64,
    /// Nano-dollars, as far as prices are known.
    cost: u64,
    /// Decisions of real models whose price is not known.
    unpriced: u64,
    /// Decisions of real models whose tokens are estimates.
    estimated: u64,
    /// Whether any session is a later one of a series.
    in_series: bool,
    /// Of all sessions.
    answers: Answers,
}

#[derive(Debug, Default)]
struct Setting {
    game: String,
    axes: Axes,
    simulated: bool,
    /// Who sits there, in words.
    seats: String,
    sessions: u64,
    fouls: u64,
    forfeits: u64,
    /// In order of first seats.
    players: Vec<Player>,
    /// What the scores rest on.
    basis: Basis,
    scores: BTreeMap<String, Accumulator>,
    cost: KnownCost,
}

#[derive(Debug, Default)]
struct Player {
    name: String,
    seats: String,
    basis: Basis,
    payoff: Accumulator,
}

/// What the rows of one table have in common.
struct Shown<'a> {
    schemes: Vec<&'a str>,
    has_cost: bool,
    has_fouls: bool,
}

impl Summary {
    /// Takes in a session and what it cost.
    pub fn add(&mut self, session: &Session, telemetry: &Telemetry) {
        self.names.add(&session.spec);
        let row = self.row(session);
        row.sessions += 1;
        row.fouls += u64::from(session.fouls());
        row.forfeits += u64::from(session.forfeits());
        let answers = session.answers();
        row.basis.add(&session.spec, answers, answers.all());
        for (scheme, score) in session.scores() {
            row.scores.entry(scheme.to_owned()).or_default().add(score);
        }
        for paid in session.paid() {
            let known = row.players.iter().position(|one| one.name == paid.player);
            let known = known.unwrap_or_else(|| {
                row.players.push(Player {
                    name: paid.player.to_owned(),
                    seats: session.seats_of(paid.player),
                    ..Player::default()
                });
                row.players.len() - 1
            });
            let player = &mut row.players[known];
            player.basis.add(&session.spec, answers, &paid.answers);
            player.payoff.add_known(paid.payoff);
        }
        row.cost.add(&telemetry.usage, session.simulated);
        let cost = telemetry.usage.known_cost();
        self.sessions += 1;
        self.in_series |= session.spec.luck.place > 0;
        self.cost = self.cost.saturating_add(cost.unwrap_or_default());
        self.unpriced += telemetry.usage.unpriced_decisions;
        self.estimated += telemetry.usage.estimated_decisions;
        self.answers.add(answers.all());
    }

    /// The row of a session, new when its setting has not been seen.
    fn row(&mut self, session: &Session) -> &mut Setting {
        let axes = axes_of(&session.spec);
        let setting = serde_json::to_string(&axes).unwrap_or_default();
        // What is simulated is never taken together with what is not.
        let simulated = session.simulated;
        let key = format!(
            "{}\n{setting}\n{}\n{simulated}",
            session.spec.game,
            session.players()
        );
        let next = self.rows.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.rows.push(Setting {
                game: session.spec.game.clone(),
                axes,
                simulated,
                seats: session.players(),
                ..Setting::default()
            });
        }
        &mut self.rows[place]
    }

    /// Whether no session has been taken in.
    pub fn is_empty(&self) -> bool {
        self.sessions == 0
    }

    /// The table in this layout, with lines below it that say what must not be
    /// overlooked.
    pub fn render(&self, layout: Layout) -> String {
        let shown = Shown {
            schemes: self.schemes(),
            has_cost: self.cost > 0,
            has_fouls: self.rows.iter().any(|row| row.fouls + row.forfeits > 0),
        };
        let mut columns = ["game", "setting", "players"].map(Column::key).to_vec();
        columns.push(Column::number("n"));
        let schemes = shown.schemes.iter();
        columns.extend(schemes.map(|scheme| Column::number(format!("score {scheme}"))));
        columns.extend(["payoff", "cost", "fouls", "forfeits"].map(Column::number));
        columns.push(Column::notes());
        let mut table = TextTable::new(columns);
        for row in &self.rows {
            let setting = self.names.join(row.axes.iter());
            for (cells, player) in row.cells(setting, &shown) {
                let sessions = Selection::of_game(&row.game).setting(&row.axes);
                let sessions = sessions.simulated(row.simulated).player(&row.seats);
                table.row_with(
                    cells,
                    Beside::of(match player {
                        Some(player) => sessions.player(player),
                        None => sessions,
                    }),
                );
            }
        }
        let bases = self.rows.iter().flat_map(|row| {
            let players = row.players.iter().map(|player| &player.basis);
            [&row.basis].into_iter().chain(players)
        });
        let notes = bases.flat_map(Basis::notes);
        let mut below = vec![Some(prose(&self.reading(), layout))];
        below.push(explained(notes, layout));
        below.push(self.costs().map(|costs| prose(&costs, layout)));
        below.push(self.estimates().map(|estimates| prose(&estimates, layout)));
        below.push(self.attention().map(|attention| prose(&attention, layout)));
        let below: Vec<String> = below.into_iter().flatten().collect();
        paragraphs([
            Some(table.fitted(layout)),
            Some(below.join(layout.next_note())),
        ])
    }

    /// How to read the table.
    fn reading(&self) -> String {
        let sessions = counted(self.sessions, "session");
        let series = if self.in_series {
            ", although those of one series depend on each other"
        } else {
            ""
        };
        format!(
            "{sessions}; mean \u{b1} standard deviation over n sessions{series}; payoff: mean over \
             the seats of a player"
        )
    }

    /// What all of it cost, and what is not known of that; nothing where nothing is paid for.
    fn costs(&self) -> Option<String> {
        let cost = dollars(self.cost);
        let unpriced = counted(self.unpriced, "decision");
        let have = if self.unpriced == 1 { "has" } else { "have" };
        match (self.cost, self.unpriced) {
            (0, 0) => None,
            (0, _) => Some(format!("cost: unknown, {unpriced} {have} no known price")),
            (_, 0) => Some(format!("cost: {cost} in all")),
            (_, _) => Some(format!(
                "cost: {cost} in all, without {unpriced} that {have} no known price"
            )),
        }
    }

    /// Where tokens, and costs made of them, are not as a provider counted them.
    fn estimates(&self) -> Option<String> {
        let decisions = counted(self.estimated, "decision");
        (self.estimated > 0).then(|| {
            format!(
                "token counts and costs of {decisions} are estimates: the provider reported none, or \
                 impossible ones"
            )
        })
    }

    /// How much was forfeited in all, of the asks of all but rule players where these forfeited less;
    /// nothing where nothing was.
    fn attention(&self) -> Option<String> {
        let asked = self.answers.asks();
        let (forfeits, asks) = (asked.forfeited, asked.asks.max(1));
        let share = 100.0 * forfeits as f64 / asks as f64;
        let were = if forfeits == 1 { "was" } else { "were" };
        let of = if self.answers.is_without_rules() {
            " of models"
        } else {
            ""
        };
        (forfeits > 0).then(|| {
            format!(
                "ATTENTION: {} of {}{of} ({share:.1} %) {were} forfeited after too many fouls",
                count(forfeits),
                counted(asks, "ask"),
            )
        })
    }

    /// All schemes, the newest first.
    fn schemes(&self) -> Vec<&str> {
        let all = self.rows.iter().flat_map(|row| row.scores.keys());
        let mut schemes: Vec<&str> = all.map(String::as_str).collect();
        if self.rows.iter().any(Setting::is_scored) {
            schemes.push(FIRST_SCHEME);
        }
        schemes.sort_by_key(|scheme| (*scheme != FIRST_SCHEME, scheme.to_owned()));
        schemes.dedup();
        schemes
    }
}

impl Setting {
    /// Whether its game has a score, even where no session has one.
    fn is_scored(&self) -> bool {
        let mut games = leaderboard::GAMES.iter();
        !self.scores.is_empty() || games.any(|(game, _)| *game == self.game)
    }

    /// One row, and where several players sit one below it for each of them; each with the player that
    /// it is of.
    fn cells(&self, setting: String, shown: &Shown<'_>) -> Vec<(Vec<String>, Option<&str>)> {
        let [only] = &*self.players else {
            let seats = "all".to_owned();
            let whole = self.line([self.game.clone(), setting, seats], None, shown);
            let players = self.players.iter().map(|player| {
                let keys = [String::new(), String::new(), player.seats.clone()];
                let mut cells = keys.to_vec();
                cells.push(part_of(player.payoff.count(), self.sessions));
                cells.extend(shown.schemes.iter().map(|_| String::new()));
                cells.push(spread(&player.payoff, 2));
                cells.extend([(); 3].map(|()| String::new()));
                cells.push(player.basis.in_words());
                (cells, Some(&*player.name))
            });
            return [(whole, None)].into_iter().chain(players).collect();
        };
        let keys = [self.game.clone(), setting, only.seats.clone()];
        vec![(self.line(keys, Some(only), shown), Some(&only.name))]
    }

    /// The row of the whole setting, with the payoff of its only player.
    fn line(&self, keys: [String; 3], only: Option<&Player>, shown: &Shown<'_>) -> Vec<String> {
        let scored = |scheme: &str| self.scores.get(scheme).copied().unwrap_or_default();
        // The row's own first score, or none of a game that has one, or else the payoff.
        let mut own = shown.schemes.iter().map(|scheme| scored(scheme).count());
        let first = own.find(|count| *count > 0);
        let first = first.or_else(|| self.is_scored().then_some(0));
        let n = first.or_else(|| only.map(|player| player.payoff.count()));
        let mut cells = keys.to_vec();
        // Without a score the means stand in the rows of the players.
        cells.push(n.map_or_else(String::new, |n| part_of(n, self.sessions)));
        let n = n.unwrap_or(self.sessions);
        let scores = shown.schemes.iter().map(|scheme| {
            let scores = scored(scheme);
            of_values(spread(&scores, 1), scores.count(), n)
        });
        cells.extend(scores);
        cells.push(only.map_or_else(String::new, |player| {
            of_values(spread(&player.payoff, 2), player.payoff.count(), n)
        }));
        let cost = self.cost.in_words();
        cells.push(if shown.has_cost { cost } else { String::new() });
        for number in [self.fouls, self.forfeits] {
            cells.push(if shown.has_fouls {
                count(number)
            } else {
                String::new()
            });
        }
        cells.push(self.basis.in_words());
        cells
    }
}

#[cfg(test)]
mod tests;
