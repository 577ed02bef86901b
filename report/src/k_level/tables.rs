//! The measures of the K-level paper as text: for each of its games what players came to,
//! and how well they predict round by round. A table without a row is left out; the rest is
//! in the JSON.

use super::{GUESS_TO_SURVIVE, SURVIVAL_AUCTION};
use crate::gathered::Setting;
use crate::layout::Layout;
use crate::row::Row;
use crate::table::{
    Cell, Cells, Line, SettingTables, columns, count, evenly, in_json, number, paragraphs,
    sessions_of,
};
use crate::wrapping::prose;

/// How the tables are read.
const READING: &str = "n: how often a player sat; win rate: rounds won over rounds; rounds: the last \
    one played; adaptation: deviation in the second half over that in the first; \u{b1}: standard \
    deviation over seats and sessions, although seats of one session depend on each other";

/// Rounds that have columns; of longer games some are shown, the first and last among them.
const MOST_ROUNDS: usize = 10;

/// The games, whether they are survival auctions, and what tables call them.
const GAMES: [(&str, bool, &str); 3] = [
    (GUESS_TO_SURVIVE, false, "Guessing to survive"),
    (SURVIVAL_AUCTION, true, "Survival auction"),
    (SURVIVAL_AUCTION, false, "Water allocation, other rules"),
];

/// The tables of these settings in this layout.
pub(super) fn render(settings: &[Setting], layout: Layout) -> String {
    let sessions = sessions_of(settings, "session");
    let title = format!("Measures of {sessions} by those of K-level reasoning");
    let mut parts = vec![Some(title)];
    for (game, is_survival_auction, name) in GAMES {
        let of_game = settings.iter().filter(|one| {
            one.head.game == game && one.measures.flag("is_survival_auction") == is_survival_auction
        });
        let of_game: Vec<Setting> = of_game.cloned().collect();
        let tables = SettingTables {
            settings: &of_game,
            layout,
        };
        parts.extend([players(&tables, name), predictions(&tables, name)]);
    }
    parts.extend([
        Some(prose(READING, layout)),
        Some(in_json("All of it", layout)),
    ]);
    paragraphs(parts)
}

const PLAYERS: [(&str, Cell); 6] = [
    ("n", Cell::PartOf("n", "sat")),
    ("win rate", Cell::Spread("win_rate", "win_rate_sd", 2)),
    (
        "rounds",
        Cell::Spread("survival_rounds", "survival_rounds_sd", 2),
    ),
    (
        "adaptation",
        Cell::OfValues("adaptation", "adaptation_seats", "n"),
    ),
    (
        "depth",
        Cell::OfValues("strategic_depth", "strategic_depth_seats", "n"),
    ),
    (
        "off by",
        Cell::OfValues("prediction_error", "predictions", "n"),
    ),
];

fn all_players<'a>(tables: &SettingTables<'a>) -> impl Iterator<Item = &'a Row> {
    let settings = tables.settings.iter();
    settings.flat_map(|setting| setting.rows("players"))
}

fn players(tables: &SettingTables<'_>, game: &str) -> Option<String> {
    let has_depth = all_players(tables).any(|row| row.count("strategic_depth_seats") > 0);
    let has_errors = all_players(tables).any(|row| row.count("predictions") > 0);
    let mut shown = PLAYERS.to_vec();
    shown.retain(|(heading, _)| match *heading {
        "depth" => has_depth,
        "off by" => has_errors,
        _ => true,
    });
    let mut title = format!("{game}: wins, rounds survived, adaptation index");
    if has_depth {
        title.push_str(", strategic depth of the first choice");
    }
    if has_errors {
        title.push_str(", how far predictions were off");
    }
    tables.players_table(&title, &shown, |setting| setting.rows("players"))
}

fn predictions(tables: &SettingTables<'_>, game: &str) -> Option<String> {
    let lengths = all_players(tables).map(|row| row.rows("prediction_rounds").len());
    let shown = evenly(lengths.max()?, MOST_ROUNDS);
    let mut headings = vec!["in all".to_owned()];
    headings.extend(shown.iter().map(|place| (place + 1).to_string()));
    let title = format!(
        "{game}: how far predictions of the rivals were off, round by round, and how many \
         there were in all"
    );
    tables.table(&title, columns("player", headings), |setting| {
        let rows = setting.rows("players").iter();
        let rows = rows.filter(|row| row.count("predictions") > 0);
        rows.map(|row| Line::player(row.word("player"), errors(row, &shown)))
            .collect()
    })
}

fn errors(row: &Row, shown: &[usize]) -> Cells {
    let mut cells = vec![count(row.count("predictions"))];
    let of_rounds = row.rows("prediction_rounds");
    let rounds = shown.iter().map(|place| of_rounds.get(*place));
    cells.extend(rounds.map(|one| number(one.and_then(|one| one.number("error")), 1)));
    cells
}
