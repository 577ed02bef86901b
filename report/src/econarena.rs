//! Measures of the games of "Economics Arena for Large Language Models" (sections 3.2 and 4,
//! appendix A.3), gathered session by session and grouped by setting: payoffs and rationality
//! against the Nash equilibrium, actions, convergence over runs, what history and opponents
//! change. Definitions with their formulas stand in `docs/measures.md`.

mod convergence;
mod history;
mod published;
mod reading;
mod tables;

use agon_engine::record::StoredRecord;

use crate::game_report::{Paper, Report};
use crate::gathered::{Gathered, Setting};
use crate::grouping::Statistic::{Count, Deviation, Largest, Last, Mean, Total};
use crate::grouping::{
    Key, Label, Section, Statistic, all_together, by_player, by_player_and_round,
};
use crate::layout::Layout;
use crate::observation::{Observation, SessionObservations};
use crate::published::Papers;
use crate::row::Row;

/// The games whose records are measured, with what tables call them.
const GAMES: [(&str, &str); 3] = [
    ("beauty_contest", "Beauty contest"),
    ("second_price_auction", "Second-price auction"),
    ("ascending_auction", "Ascending auction"),
];

/// After so many sessions the paper looks at payoffs (table 1).
const FIRST_SESSIONS: [u64; 3] = [20, 60, 100];

/// Measures of any number of sessions; other games are passed over.
pub(crate) type EconArenaReport = Report<EconArena>;

/// The paper.
#[derive(Default)]
pub(crate) struct EconArena;

const SETTING: Section = Section {
    name: "setting",
    labels: &[],
    by: all_together,
    fields: &[
        ("rounds", Last("rounds")),
        ("history_shown", Last("history_shown")),
        ("void_rounds", Total("void_rounds")),
    ],
};

/// Payoffs are means of one run of a seat, over seats and sessions; void runs count for nothing
/// but rule breaking.
const PLAYERS: Section = Section {
    name: "players",
    labels: &["player"],
    by: by_player,
    fields: &[
        ("sat", Total("sat")),
        ("n", Count("payoff")),
        ("payoff", Mean("payoff")),
        ("payoff_sd", Deviation("payoff")),
        ("profit", Mean("profit")),
        ("profit_sd", Deviation("profit")),
        ("equilibrium_payoff", Mean("equilibrium_payoff")),
        ("payoff_gap", Mean("payoff_gap")),
        ("rationality", Mean("rationality")),
        ("final_over_equilibrium", Mean("final_over_equilibrium")),
        ("final_over_initial", Mean("assets")),
        ("wins", Mean("wins")),
        ("rule_breaking", Mean("rule_breaking")),
        ("actions", Count("action")),
        ("action", Mean("action")),
        ("action_sd", Deviation("action")),
        ("relative_action", Mean("relative_action")),
        ("deviation", Mean("deviation")),
        ("deviation_sd", Deviation("deviation")),
    ],
};

/// Adaptation to opponents (section 4.2): who else sat at the table.
const OPPONENTS: Section = Section {
    name: "opponents",
    labels: &["player", "opponents"],
    by: by_opponents,
    fields: &[
        ("sat", Total("sat")),
        ("n", Count("payoff")),
        ("payoff", Mean("payoff")),
        ("rationality", Mean("rationality")),
        ("wins", Mean("wins")),
        ("actions", Count("action")),
        ("action", Mean("action")),
        ("relative_action", Mean("relative_action")),
        ("deviation", Mean("deviation")),
    ],
};

/// How many runs the path of a player has at most, where sessions have several.
const PATHS: Section = Section {
    name: "paths",
    labels: &["player"],
    by: by_player,
    fields: &[("runs", Largest("runs"))],
};

/// One run of a player, over seats and sessions.
const RUNS: Section = Section {
    name: "runs",
    labels: &["player", "run"],
    by: by_player_and_round,
    fields: RUN,
};

const RUN: &[(&str, Statistic)] = &[
    ("actions", Count("action")),
    ("action", Mean("action")),
    ("relative_action", Mean("relative_action")),
    ("distance", Mean("distance")),
];

/// Opponents are names: how often one of them sat does not matter. Its own is among them where
/// a player sat twice.
fn by_opponents(session: &SessionObservations<'_>, one: &Observation<'_>) -> Option<Key> {
    let seat = one.at.seat?;
    let others = (0..session.seats()).filter(|other| *other != seat);
    let names = others.filter_map(|other| session.player(other));
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names.dedup();
    Some(vec![session.player(seat)?.into(), Label::Words(names)])
}

impl Paper for EconArena {
    const GAMES: &'static [&'static str] = &[GAMES[0].0, GAMES[1].0, GAMES[2].0];

    const PAPERS: &'static Papers = &published::PAPERS;

    const SECTIONS: &'static [&'static Section] = &[&SETTING, &PLAYERS, &OPPONENTS, &PATHS, &RUNS];

    /// What players had after the first sessions, row by row.
    type Kept = Vec<Row>;

    fn observe<'a>(&self, record: &'a StoredRecord) -> Option<SessionObservations<'a>> {
        reading::observe(record)
    }

    fn keep(gathered: &mut Gathered<Vec<Row>>, _session: &SessionObservations<'_>) {
        let sessions = gathered.sessions;
        if FIRST_SESSIONS.contains(&sessions) {
            let first = gathered.rows(PLAYERS.name).into_iter().map(|row| {
                Row::default()
                    .with("player", row.word("player"))
                    .with("sessions", sessions)
                    .with("payoff", row.number("payoff"))
                    .with("profit", row.number("profit"))
                    .with("rationality", row.number("rationality"))
            });
            gathered.kept.extend(first);
        }
    }

    fn measures(&self, gathered: &Gathered<Vec<Row>>) -> Row {
        let setting = gathered.all(SETTING.name);
        let players = gathered.rows(PLAYERS.name);
        let players = players.into_iter().map(|row| {
            let first = gathered.kept.iter();
            let first = first.filter(|one| one.word("player") == row.word("player"));
            let first: Vec<Row> = first.map(|one| one.clone().split(1).1).collect();
            row.with("first_sessions", first)
        });
        setting
            .with(PLAYERS.name, players.collect::<Vec<_>>())
            .with(PATHS.name, convergence::paths(gathered))
            .with(history::SECTION, Vec::<Row>::new())
            .with(OPPONENTS.name, gathered.rows(OPPONENTS.name))
    }

    fn compare(settings: &mut [Setting]) {
        history::compare(settings);
    }

    fn tables(settings: &[Setting], layout: Layout) -> String {
        tables::render(settings, layout)
    }
}

#[cfg(test)]
mod tests;
