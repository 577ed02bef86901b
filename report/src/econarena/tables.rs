//! The measures of EconArena's games as text: for each game payoffs, actions, convergence,
//! what history and opponents change; then rule breaking over all games. A table without a
//! row is left out; what tables have no room for stays in the JSON.

use super::{GAMES, HistoryRow, OpponentsRow, PathPoint, PathRow, SettingMeasures};
use crate::basis::Basis;
use crate::table::{
    Column, NONE, Row, SettingTables, TextTable, columns, count, evenly, in_json, mean_and_spread,
    number, paragraphs, part_of, percent, sessions_of,
};
use crate::wrapping::prose;

/// How the tables are read.
const READING: &str = "n: how often a player sat; payoff: of one run of a seat; \u{b1}: standard \
    deviation over seats and sessions, of actions and deviations over these, although those of one \
    session depend on each other";

/// Runs that a path has columns for; of longer ones some are shown, the first and last
/// among them.
const MOST_RUNS: usize = 8;

/// Heading of the share of runs won.
const WINS: &str = "wins %";

type Tables<'a> = SettingTables<'a, SettingMeasures>;

/// The tables of these settings in at most `width` columns.
pub(super) fn render(settings: &[SettingMeasures], width: u16) -> String {
    let sessions = sessions_of(settings, "session");
    let mut parts = vec![Some(format!("Measures of {sessions} of EconArena"))];
    for (game, name) in GAMES {
        let of_game = settings.iter().filter(|one| one.head.game == game);
        let of_game: Vec<SettingMeasures> = of_game.cloned().collect();
        let tables = Tables {
            settings: &of_game,
            width,
        };
        let is_auction = game != GAMES[0].0;
        parts.extend([
            tables.payoffs(name, is_auction),
            tables.actions(name, is_auction),
            tables.paths(name, is_auction),
            tables.history(name),
            tables.opponents(name),
        ]);
    }
    parts.push(rule_breaking(settings, width));
    let rest = "Runs one by one and what tables have no room for";
    parts.extend([Some(prose(READING, width)), Some(in_json(rest, width))]);
    paragraphs(parts)
}

impl Tables<'_> {
    fn payoffs(&self, game: &str, is_auction: bool) -> Option<String> {
        let mut headings = vec!["n", "payoff", "gap", "rationality"];
        headings.extend(is_auction.then_some("final/initial"));
        headings.push(WINS);
        let what = if is_auction {
            "final assets as payoffs, their gap to those in equilibrium, and rationality, final over \
             equilibrium assets"
        } else {
            "payoffs, their gap to the payoff in equilibrium, and rationality, payoff over that in \
             equilibrium"
        };
        let title = format!("{game}: {what}");
        self.table(&title, columns("player", headings), |setting| {
            let rows = setting.players.iter().map(|row| {
                let mut cells = vec![
                    part_of(row.n, row.sat),
                    mean_and_spread(row.payoff, row.payoff_sd, 3),
                    number(row.payoff_gap, 3),
                    number(row.rationality, 3),
                ];
                cells.extend(is_auction.then(|| number(row.final_over_initial, 3)));
                cells.push(percent(row.wins, 1));
                Row::player(&row.player, cells)
            });
            rows.collect()
        })
    }

    fn actions(&self, game: &str, is_auction: bool) -> Option<String> {
        let over = over(is_auction);
        let headings = [
            "actions",
            "mean action",
            over,
            "deviation",
            "fouls %",
            "void",
        ];
        let title = format!(
            "{game}: valid actions, and their deviation distance from the equilibrium; percentage \
             of runs with a foul; void runs of all sessions"
        );
        self.table(&title, columns("player", headings), |setting| {
            let rows = setting.players.iter().enumerate().map(|(place, row)| {
                // Of the table, not of the player: said once.
                let void = if place == 0 {
                    count(setting.void_rounds)
                } else {
                    String::new()
                };
                let cells = vec![
                    count(row.actions),
                    mean_and_spread(row.action, row.action_sd, 2),
                    number(row.relative_action, 3),
                    mean_and_spread(row.deviation, row.deviation_sd, 3),
                    number(row.rule_breaking, 2),
                    void,
                ];
                Row::player(&row.player, cells)
            });
            rows.collect()
        })
    }

    fn paths(&self, game: &str, is_auction: bool) -> Option<String> {
        let all = || self.settings.iter().flat_map(|setting| &setting.paths);
        let longest = all().map(|path| path.runs.len()).max()?;
        let shown = evenly(longest, MOST_RUNS);
        let mut columns = vec![Column::key("player"), Column::key("measure")];
        let runs = shown.iter().map(|place| (place + 1).to_string());
        columns.extend(runs.map(Column::number));
        columns.extend(["slope", "ln slope", "half-life"].map(Column::number));
        let over = if is_auction { "assets" } else { "bound" };
        let title = format!(
            "{game}, run by run: mean action, and distance from the equilibrium over the {over}; \
             slopes of the distance and of its logarithm per run, runs in which it halves"
        );
        self.table(&title, columns, |setting| {
            let rows = setting.paths.iter();
            rows.flat_map(|path| path_rows(path, &shown)).collect()
        })
    }

    fn history(&self, game: &str) -> Option<String> {
        let title = format!("{game}: the same without and with past runs shown");
        let mut columns = vec![Column::key("player"), Column::key("measure")];
        columns.extend(["without", "with", "gain"].map(Column::number));
        self.table(&title, columns, |setting| {
            let rows = setting.history.iter();
            rows.flat_map(history_rows).collect()
        })
    }

    /// Only of players that met several sets of others.
    fn opponents(&self, game: &str) -> Option<String> {
        let all = self.settings.iter().flat_map(|one| &one.opponents);
        let met = |row: &OpponentsRow| {
            let same = self.settings.iter().flat_map(|one| &one.opponents);
            let mut same = same.filter(|other| other.player == row.player);
            same.any(|other| other.opponents != row.opponents)
        };
        if !all.clone().any(met) {
            return None;
        }
        let mut columns = vec![Column::key("player"), Column::key("against")];
        let headings = [
            "n",
            "payoff",
            "rationality",
            WINS,
            "actions",
            "mean action",
            "deviation",
        ];
        columns.extend(headings.map(Column::number));
        let title = format!("{game}, by who else sat at the table");
        self.table(&title, columns, |setting| {
            let rows = setting.opponents.iter().filter(|row| met(row)).map(|row| {
                let cells = vec![
                    row.opponents.join(", "),
                    part_of(row.n, row.sat),
                    number(row.payoff, 3),
                    number(row.rationality, 3),
                    percent(row.wins, 1),
                    count(row.actions),
                    number(row.action, 2),
                    number(row.deviation, 3),
                ];
                Row::player(&row.player, cells)
            });
            rows.collect()
        })
    }
}

/// What actions are taken relative to.
fn over(is_auction: bool) -> &'static str {
    if is_auction {
        "over value"
    } else {
        "over bound"
    }
}

/// Mean action and distance, one row each.
fn path_rows(path: &PathRow, shown: &[usize]) -> [Row; 2] {
    let row = |what: &str, of: &dyn Fn(&PathPoint) -> String| {
        let mut cells = vec![what.to_owned()];
        let points = shown.iter().map(|place| path.runs.get(*place));
        cells.extend(points.map(|point| point.map_or_else(|| NONE.to_owned(), of)));
        cells
    };
    let mut actions = row("action", &|point| number(point.action, 2));
    actions.extend([String::new(), String::new(), String::new()]);
    let mut distances = row("distance", &|point| number(point.distance, 4));
    distances.extend([
        number(path.slope, 4),
        number(path.log_slope, 3),
        number(path.half_life, 2),
    ]);
    [Row::player(&path.player, actions), Row::more(distances)]
}

/// Rationality, wins and deviation, one row each.
fn history_rows(row: &HistoryRow) -> [Row; 3] {
    let cells = |what: &str, of: [Option<f64>; 3], show: fn(Option<f64>, usize) -> String| {
        let decimals = if what == WINS { 1 } else { 3 };
        let numbers = of.iter().map(|number| show(*number, decimals));
        [what.to_owned()].into_iter().chain(numbers).collect()
    };
    let rationality = [
        row.rationality_without,
        row.rationality_with,
        row.rationality_gain,
    ];
    let wins = [row.wins_without, row.wins_with, row.wins_gain];
    let deviation = [
        row.deviation_without,
        row.deviation_with,
        row.deviation_gain,
    ];
    [
        Row::player(&row.player, cells("rationality", rationality, number)),
        Row::more(cells(WINS, wins, percent)),
        Row::more(cells("deviation", deviation, number)),
    ]
}

/// Rule breaking by player, game and history, over all settings (table 2); only where there
/// is something to compare.
fn rule_breaking(settings: &[SettingMeasures], width: u16) -> Option<String> {
    let games = GAMES.iter().flat_map(|game| [(game, false), (game, true)]);
    let belongs = |one: &SettingMeasures, game: &str, history: bool| {
        one.head.game == game && (one.history_shown > 0) == history
    };
    let games: Vec<_> = games
        .filter(|((game, _), history)| settings.iter().any(|one| belongs(one, game, *history)))
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for row in settings.iter().flat_map(|one| &one.players) {
        if !names.contains(&&*row.player) {
            names.push(&row.player);
        }
    }
    if games.len() < 2 {
        return None;
    }
    let headings = games.iter().map(|((_, name), history)| {
        let how = if *history {
            "with history"
        } else {
            "no history"
        };
        format!("{}, {how}", name.to_lowercase())
    });
    let mut columns = columns("player", headings);
    columns.push(Column::notes());
    let mut table = TextTable::new(columns);
    for name in names {
        let mut basis = Basis::default();
        let cells = games.iter().map(|((game, _), history)| {
            let (mut sum, mut seats) = (0.0, 0.0);
            for one in settings.iter().filter(|one| belongs(one, game, *history)) {
                for row in one.players.iter().filter(|row| row.player == name) {
                    sum += row.rule_breaking.unwrap_or_default() * row.sat as f64;
                    seats += row.sat as f64;
                    basis.merge(one.head.basis(name));
                }
            }
            number((seats > 0.0).then(|| sum / seats), 2)
        });
        let mut row: Vec<String> = [name.to_owned()].into_iter().chain(cells).collect();
        row.push(basis.in_words());
        table.row(row);
    }
    Some(format!(
        "Rule breaking, all settings: percentage of runs with a foul\n\n{}",
        table.fitted(width)
    ))
}
