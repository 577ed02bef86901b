//! Measures of the K-level paper (arXiv 2402.01521, appendix C), gathered session by session
//! and grouped by setting: win rates, how long players last, how they adapt, how deep their
//! first choice is, and how well they predict. Definitions stand in `docs/measures.md`.

mod predictions;
mod published;
mod reading;
mod tables;

use agon_engine::record::StoredRecord;

use crate::game_report::{Paper, Report};
use crate::gathered::{Gathered, Setting};
use crate::grouping::Statistic::{Count, Deviation, Last, Mean, Total};
use crate::grouping::{Key, Section, Statistic, all_together, by_player, by_player_and_round};
use crate::layout::Layout;
use crate::observation::{Observation, SessionObservations};
use crate::published::Papers;
use crate::row::Row;

/// The guessing game.
const GUESS_TO_SURVIVE: &str = "guess_to_survive";

/// The game that is a survival auction when it has water for one of equal residents.
const SURVIVAL_AUCTION: &str = "water_allocation";

/// Measures of any number of sessions; other games are passed over, and towns that are no
/// survival auction, unless a player predicts in them.
pub(crate) type KLevelReport = Report<KLevel>;

/// The paper.
#[derive(Default)]
pub(crate) struct KLevel;

const SETTING: Section = Section {
    name: "setting",
    labels: &[],
    by: all_together,
    fields: &[
        ("rounds", Last("rounds")),
        ("is_survival_auction", Last("is_survival_auction")),
    ],
};

/// What players came to; means are of one seat in one session.
const PLAYERS: Section = Section {
    name: "players",
    labels: &["player"],
    by: by_player,
    fields: PLAYER,
};

/// The same of the first seat alone, under the name of its method: the one player against
/// opponents of one method that the paper's tables are about.
const FIRST_SEAT: Section = Section {
    name: "first_seat",
    labels: &["player"],
    by: by_method,
    fields: PLAYER,
};

const PLAYER: &[(&str, Statistic)] = &[
    ("sat", Total("sat")),
    ("n", Count("win_rate")),
    ("win_rate", Mean("win_rate")),
    ("win_rate_sd", Deviation("win_rate")),
    ("survival_rounds", Mean("survival_rounds")),
    ("survival_rounds_sd", Deviation("survival_rounds")),
    ("adaptation", Mean("adaptation")),
    ("adaptation_seats", Count("adaptation")),
    ("strategic_depth", Mean("strategic_depth")),
    ("strategic_depth_seats", Count("strategic_depth")),
    ("prediction_error", Mean("prediction_error")),
    ("predictions", Count("prediction_error")),
];

const PLAYERS_ROUNDS: Section = Section {
    name: "rounds of players",
    labels: &["player", "round"],
    by: by_player_and_round,
    fields: ROUND,
};

const FIRST_SEAT_ROUNDS: Section = Section {
    name: "rounds of the first seat",
    labels: &["player", "round"],
    by: by_method_and_round,
    fields: ROUND,
};

const ROUND: &[(&str, Statistic)] = &[
    ("predictions", Count("prediction_error")),
    ("error", Mean("prediction_error")),
];

fn by_method(session: &SessionObservations<'_>, one: &Observation<'_>) -> Option<Key> {
    let method = session.facts().get(reading::METHOD)?;
    (one.at.seat == Some(0)).then(|| vec![(&**method).into()])
}

fn by_method_and_round(session: &SessionObservations<'_>, one: &Observation<'_>) -> Option<Key> {
    let mut key = by_method(session, one)?;
    key.push(one.at.round?.into());
    Some(key)
}

impl Paper for KLevel {
    const GAMES: &'static [&'static str] = &[GUESS_TO_SURVIVE, SURVIVAL_AUCTION];

    const PAPERS: &'static Papers = &published::PAPERS;

    const SECTIONS: &'static [&'static Section] = &[
        &SETTING,
        &PLAYERS,
        &FIRST_SEAT,
        &PLAYERS_ROUNDS,
        &FIRST_SEAT_ROUNDS,
    ];

    type Kept = ();

    fn observe<'a>(&self, record: &'a StoredRecord) -> Option<SessionObservations<'a>> {
        reading::observe(record)
    }

    fn measures(&self, gathered: &Gathered<()>) -> Row {
        let setting = gathered.all(SETTING.name);
        Row::default()
            .with("rounds", setting.count("rounds"))
            .with(
                "is_survival_auction",
                setting.count("is_survival_auction") > 0,
            )
            .with("opponents", gathered.fact(reading::OPPONENTS))
            .with(PLAYERS.name, players(gathered, &PLAYERS, &PLAYERS_ROUNDS))
            .with(
                FIRST_SEAT.name,
                players(gathered, &FIRST_SEAT, &FIRST_SEAT_ROUNDS),
            )
    }

    fn tables(settings: &[Setting], layout: Layout) -> String {
        tables::render(settings, layout)
    }
}

/// The rows of a section with their predictions, from the first round to the last that was
/// predicted.
fn players(gathered: &Gathered<()>, section: &Section, rounds: &Section) -> Vec<Row> {
    let predicted = gathered.rows(rounds.name);
    let rows = gathered.rows(section.name).into_iter().map(|player| {
        let name = player.word("player");
        let of_player = predicted.iter().filter(|row| row.word("player") == name);
        let last = of_player.clone().map(|row| row.count("round") as u32).max();
        let of_rounds = (1..=last.unwrap_or(0)).map(|round| {
            let mut known = of_player.clone();
            let found = known.find(|row| row.count("round") == u64::from(round));
            let empty = || gathered.empty(rounds.name, &[name.into(), round.into()]);
            found.cloned().unwrap_or_else(empty).split(1).1
        });
        let of_rounds: Vec<Row> = of_rounds.collect();
        player.with("prediction_rounds", of_rounds)
    });
    rows.collect()
}

#[cfg(test)]
mod tests;
