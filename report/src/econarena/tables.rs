//! The measures of EconArena's games as text: for each game payoffs, actions, convergence,
//! what history and opponents change; then rule breaking over all games. A table without a
//! row is left out; what tables have no room for stays in the JSON.

use super::{GAMES, history};
use crate::basis::Basis;
use crate::gathered::Setting;
use crate::layout::Layout;
use crate::row::Row;
use crate::table::{
    Cell, Column, Line, SettingTables, TextTable, cells_of, columns, count, evenly, headings,
    in_json, number, paragraphs, percent, sessions_of,
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

/// The tables of these settings in this layout.
pub(super) fn render(settings: &[Setting], layout: Layout) -> String {
    let sessions = sessions_of(settings, "session");
    let mut parts = vec![Some(format!("Measures of {sessions} of EconArena"))];
    for (game, name) in GAMES {
        let of_game = settings.iter().filter(|one| one.head.game == game);
        let of_game: Vec<Setting> = of_game.cloned().collect();
        let tables = SettingTables {
            settings: &of_game,
            layout,
        };
        let is_auction = game != GAMES[0].0;
        parts.extend([
            payoffs(&tables, name, is_auction),
            actions(&tables, name, is_auction),
            paths(&tables, name, is_auction),
            history(&tables, name),
            opponents(&tables, name),
        ]);
    }
    parts.push(rule_breaking(settings, layout));
    let rest = "Runs one by one and what tables have no room for";
    parts.extend([Some(prose(READING, layout)), Some(in_json(rest, layout))]);
    paragraphs(parts)
}

/// Payoffs; contests have no columns of auctions.
const PAYOFFS: [(&str, Cell); 7] = [
    ("n", Cell::PartOf("n", "sat")),
    ("payoff", Cell::Spread("payoff", "payoff_sd", 3)),
    (PROFIT, Cell::Spread("profit", "profit_sd", 3)),
    ("gap", Cell::Number("payoff_gap", 3)),
    ("rationality", Cell::Number("rationality", 3)),
    (FINAL, Cell::Number("final_over_initial", 3)),
    (WINS, Cell::Percent("wins", 1)),
];

const FINAL: &str = "final/initial";

const PROFIT: &str = "profit";

const ACTIONS: [(&str, Cell); 5] = [
    ("actions", Cell::Count("actions")),
    ("mean action", Cell::Spread("action", "action_sd", 2)),
    ("over", Cell::Number("relative_action", 3)),
    ("deviation", Cell::Spread("deviation", "deviation_sd", 3)),
    ("fouls %", Cell::Number("rule_breaking", 2)),
];

const AGAINST: [(&str, Cell); 8] = [
    ("against", Cell::Words("opponents")),
    ("n", Cell::PartOf("n", "sat")),
    ("payoff", Cell::Number("payoff", 3)),
    ("rationality", Cell::Number("rationality", 3)),
    (WINS, Cell::Percent("wins", 1)),
    ("actions", Cell::Count("actions")),
    ("mean action", Cell::Number("action", 2)),
    ("deviation", Cell::Number("deviation", 3)),
];

fn payoffs(tables: &SettingTables<'_>, game: &str, is_auction: bool) -> Option<String> {
    let mut shown = PAYOFFS.to_vec();
    shown.retain(|(heading, _)| is_auction || ![FINAL, PROFIT].contains(heading));
    let what = if is_auction {
        "final assets as payoffs, what they are beyond the assets at the start (profit), their \
         gap to those in equilibrium, and rationality, final over equilibrium assets"
    } else {
        "payoffs, their gap to the payoff in equilibrium, and rationality, payoff over that in \
         equilibrium"
    };
    let title = format!("{game}: {what}");
    tables.players_table(&title, &shown, |setting| setting.rows("players"))
}

fn actions(tables: &SettingTables<'_>, game: &str, is_auction: bool) -> Option<String> {
    let mut headings = headings(&ACTIONS);
    headings[2] = if is_auction {
        "over value"
    } else {
        "over bound"
    };
    headings.push("void");
    let title = format!(
        "{game}: valid actions, and their deviation distance from the equilibrium; percentage \
         of runs with a foul; void runs of all sessions"
    );
    tables.table(&title, columns("player", headings), |setting| {
        let rows = setting
            .rows("players")
            .iter()
            .enumerate()
            .map(|(place, row)| {
                let mut cells = cells_of(row, &ACTIONS);
                // Of the table, not of the player: said once.
                cells.push(if place == 0 {
                    count(setting.measures.count("void_rounds"))
                } else {
                    String::new()
                });
                Line::player(row.word("player"), cells)
            });
        rows.collect()
    })
}

fn paths(tables: &SettingTables<'_>, game: &str, is_auction: bool) -> Option<String> {
    let all = tables.settings.iter();
    let all = all.flat_map(|setting| setting.rows("paths"));
    let longest = all.map(|path| path.rows("runs").len()).max()?;
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
    tables.table(&title, columns, |setting| {
        let rows = setting.rows("paths").iter();
        rows.flat_map(|path| path_rows(path, &shown)).collect()
    })
}

fn history(tables: &SettingTables<'_>, game: &str) -> Option<String> {
    let title = format!("{game}: the same without and with past runs shown");
    let mut columns = vec![Column::key("player"), Column::key("measure")];
    columns.extend(["without", "with", "gain"].map(Column::number));
    tables.table(&title, columns, |setting| {
        let rows = setting.rows(history::SECTION).iter();
        rows.flat_map(history_rows).collect()
    })
}

/// Only of players that met several sets of others.
fn opponents(tables: &SettingTables<'_>, game: &str) -> Option<String> {
    let all = || tables.settings.iter().flat_map(|one| one.rows("opponents"));
    let met = |row: &Row| {
        let mut same = all().filter(|other| other.word("player") == row.word("player"));
        same.any(|other| other.get("opponents") != row.get("opponents"))
    };
    if !all().any(met) {
        return None;
    }
    let headings = headings(&AGAINST);
    let mut shown = vec![Column::key("player"), Column::key(headings[0])];
    shown.extend(headings[1..].iter().copied().map(Column::number));
    let title = format!("{game}, by who else sat at the table");
    tables.table(&title, shown, |setting| {
        let rows = setting.rows("opponents").iter().filter(|row| met(row));
        rows.map(|row| Line::player(row.word("player"), cells_of(row, &AGAINST)))
            .collect()
    })
}

/// Mean action and distance, one row each.
fn path_rows(path: &Row, shown: &[usize]) -> [Line; 2] {
    let runs = path.rows("runs");
    let row = |measure: &str, decimals: usize| {
        let points = shown.iter().map(|place| runs.get(*place));
        let numbers =
            points.map(|point| number(point.and_then(|point| point.number(measure)), decimals));
        let cells = [measure.to_owned()].into_iter().chain(numbers);
        cells.collect::<Vec<_>>()
    };
    let mut actions = row("action", 2);
    actions.extend([String::new(), String::new(), String::new()]);
    let mut distances = row("distance", 4);
    distances.extend([
        number(path.number("slope"), 4),
        number(path.number("log_slope"), 3),
        number(path.number("half_life"), 2),
    ]);
    [
        Line::player(path.word("player"), actions),
        Line::more(distances),
    ]
}

/// Rationality, wins and deviation, one row each.
fn history_rows(row: &Row) -> [Line; 3] {
    let cells = |what: &str, measure: &str, show: fn(Option<f64>, usize) -> String, decimals| {
        let of = ["without", "with", "gain"].map(|of| format!("{measure}_{of}"));
        let numbers = of.map(|name| show(row.number(&name), decimals));
        [what.to_owned()].into_iter().chain(numbers).collect()
    };
    [
        Line::player(
            row.word("player"),
            cells("rationality", "rationality", number, 3),
        ),
        Line::more(cells(WINS, "wins", percent, 1)),
        Line::more(cells("deviation", "deviation", number, 3)),
    ]
}

/// Rule breaking by player, game and history, over all settings (table 2); only where there
/// is something to compare.
fn rule_breaking(settings: &[Setting], layout: Layout) -> Option<String> {
    let games = GAMES.iter().flat_map(|game| [(game, false), (game, true)]);
    let belongs = |one: &Setting, game: &str, history: bool| {
        one.head.game == game && (one.measures.count("history_shown") > 0) == history
    };
    let games: Vec<_> = games
        .filter(|((game, _), history)| settings.iter().any(|one| belongs(one, game, *history)))
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for name in settings.iter().flat_map(Setting::players) {
        if !names.contains(&name) {
            names.push(name);
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
                if let Some(row) = one.row("players", "player", name) {
                    let sat = row.count("sat") as f64;
                    sum += row.number("rule_breaking").unwrap_or_default() * sat;
                    seats += sat;
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
        table.fitted(layout)
    ))
}
