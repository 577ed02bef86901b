//! The measures of the K-level paper as text: for each of its games what players came to,
//! and how well they predict round by round. A table without a row is left out; the rest is
//! in the JSON.

use super::{GUESS_TO_SURVIVE, PlayerRow, SURVIVAL_AUCTION, SettingMeasures};
use crate::table::{
    Cells, Row, SettingTables, columns, count, evenly, in_json, mean_and_spread, number, of_values,
    paragraphs, part_of, sessions_of,
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

type Tables<'a> = SettingTables<'a, SettingMeasures>;

/// The tables of these settings in at most `width` columns.
pub(super) fn render(settings: &[SettingMeasures], width: u16) -> String {
    let sessions = sessions_of(settings, "session");
    let title = format!("Measures of {sessions} by those of K-level reasoning");
    let mut parts = vec![Some(title)];
    for (game, is_survival_auction, name) in GAMES {
        let of_game = settings
            .iter()
            .filter(|one| one.head.game == game && one.is_survival_auction == is_survival_auction);
        let of_game: Vec<SettingMeasures> = of_game.cloned().collect();
        let tables = Tables {
            settings: &of_game,
            width,
        };
        parts.extend([tables.players(name), tables.predictions(name)]);
    }
    parts.extend([
        Some(prose(READING, width)),
        Some(in_json("All of it", width)),
    ]);
    paragraphs(parts)
}

impl Tables<'_> {
    fn players(&self, game: &str) -> Option<String> {
        let all = || self.settings.iter().flat_map(|setting| &setting.players);
        let has_depth = all().any(|row| row.strategic_depth_seats > 0);
        let has_errors = all().any(|row| row.predictions > 0);
        let mut headings = vec!["n", "win rate", "rounds", "adaptation"];
        headings.extend(has_depth.then_some("depth"));
        headings.extend(has_errors.then_some("off by"));
        let mut title = format!("{game}: wins, rounds survived, adaptation index");
        if has_depth {
            title.push_str(", strategic depth of the first choice");
        }
        if has_errors {
            title.push_str(", how far predictions were off");
        }
        self.table(&title, columns("player", headings), |setting| {
            let rows = setting.players.iter().map(|row| {
                let of_seats =
                    |mean: Option<f64>, seats: u64| of_values(number(mean, 2), seats, row.n);
                let mut cells = vec![
                    part_of(row.n, row.sat),
                    mean_and_spread(row.win_rate, row.win_rate_sd, 2),
                    mean_and_spread(row.survival_rounds, row.survival_rounds_sd, 2),
                    of_seats(row.adaptation, row.adaptation_seats),
                ];
                let depth = || of_seats(row.strategic_depth, row.strategic_depth_seats);
                cells.extend(has_depth.then(depth));
                cells.extend(has_errors.then(|| of_seats(row.prediction_error, row.predictions)));
                Row::player(&row.player, cells)
            });
            rows.collect()
        })
    }

    fn predictions(&self, game: &str) -> Option<String> {
        let all = self.settings.iter().flat_map(|setting| &setting.players);
        let longest = all.map(|row| row.prediction_rounds.len()).max()?;
        let shown = evenly(longest, MOST_ROUNDS);
        let mut headings = vec!["in all".to_owned()];
        headings.extend(shown.iter().map(|place| (place + 1).to_string()));
        let title = format!(
            "{game}: how far predictions of the rivals were off, round by round, and how many \
             there were in all"
        );
        self.table(&title, columns("player", headings), |setting| {
            let rows = setting.players.iter().filter(|row| row.predictions > 0);
            rows.map(|row| Row::player(&row.player, errors(row, &shown)))
                .collect()
        })
    }
}

fn errors(row: &PlayerRow, shown: &[usize]) -> Cells {
    let mut cells = vec![count(row.predictions)];
    let rounds = shown.iter().map(|place| row.prediction_rounds.get(*place));
    cells.extend(rounds.map(|one| number(one.and_then(|one| one.error), 1)));
    cells
}
