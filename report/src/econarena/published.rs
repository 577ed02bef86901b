//! What "Economics Arena for Large Language Models" published, and which of one's own
//! measures stand beside it. How they are shown together is said in `crate::published`.

use super::{EconArena, GAMES};
use crate::basis::PublishedTerms;
use crate::gathered::Setting;
use crate::published::{Compared, Measure, Papers, Published, Sheet};

/// The paper.
pub(super) const PAPERS: Papers = Papers {
    tables: &TABLES,
    terms: AMOUNTS,
    findings: include_str!("../../data/econarena_findings.csv"),
};

/// Configurations vary the amounts, tables the players and the history.
const AMOUNTS: PublishedTerms = &[
    ("players", &[]),
    ("assets", &[]),
    ("bound_min", &[]),
    ("bound_max", &[]),
    ("value_mean", &[]),
    ("value_sd", &[]),
    ("history", &[]),
];

/// Six runs, of which actions or strategies are shown.
const SIX_RUNS: PublishedTerms = &[("rounds", &["6"]), ("shown", &[])];

const TABLES: [Published; 6] = [
    Published {
        name: "econarena-melee",
        title: "Published beside it: percentage of runs with a foul, without history (Economics Arena, \
                table 2)",
        terms: &[],
        sheets: &[Sheet::measures(include_str!(
            "../../data/econarena_rules_without_history.csv"
        ))],
    },
    Published {
        name: "econarena-rational",
        title: "Published beside it: no numbers (Economics Arena, figures 1b and 2b)",
        terms: &[],
        sheets: &[Sheet::measures(
            "game and history,player,deviation,rationality,rules broken %,source\n",
        )],
    },
    Published {
        name: "econarena-configurations",
        title: "Published beside it: no numbers (Economics Arena, figure 3)",
        terms: &[],
        sheets: &[Sheet::measures(
            "game and configuration,player,payoff,over bound or value,source\n",
        )],
    },
    Published {
        name: "econarena-senior",
        title: "Published beside it: mean payoff after so many sessions, in auctions \
                the profit, value less price (Economics Arena, table 1)",
        terms: &[],
        sheets: &[Sheet::measures(include_str!(
            "../../data/econarena_senior.csv"
        ))],
    },
    Published {
        name: "econarena-history-rational",
        title: "Published beside it: no numbers (Economics Arena, figures 4 and 5)",
        terms: SIX_RUNS,
        sheets: &[Sheet::measures(
            "game and history,player,deviation,slope of distance,half-life,source\n",
        )],
    },
    Published {
        name: "econarena-history-melee",
        title: "Published beside it: percentage of runs with a foul, with history (Economics Arena, \
                table 2)",
        terms: SIX_RUNS,
        sheets: &[Sheet::measures(include_str!(
            "../../data/econarena_rules_with_history.csv"
        ))],
    },
];

/// Headings with what they are among one's own measures. "payoff" is the prize won, in
/// auctions the profit: the paper's figures are near 0, some are negative, and table 1 has 0.28
/// to 1.45, where final over equilibrium assets would be within a few percent of 1.
const MEASURES: [Measure; 10] = [
    ("payoff", 3, |one, name| {
        one.weighed("players", name, paid(one), "n")
    }),
    ("20 sessions", 3, |one, name| after(one, name, 20)),
    ("60 sessions", 3, |one, name| after(one, name, 60)),
    ("100 sessions", 3, |one, name| after(one, name, 100)),
    ("rationality", 3, |one, name| {
        one.weighed("players", name, "rationality", "n")
    }),
    ("rules broken %", 2, |one, name| {
        one.weighed("players", name, "rule_breaking", "sat")
    }),
    ("deviation", 3, |one, name| {
        one.weighed("players", name, "deviation", "actions")
    }),
    ("over bound or value", 3, |one, name| {
        one.weighed("players", name, "relative_action", "actions")
    }),
    ("slope of distance", 4, |one, name| {
        one.alike("paths", name, "slope")
    }),
    ("half-life", 2, |one, name| {
        one.alike("paths", name, "half_life")
    }),
];

impl Compared for EconArena {
    const MEASURES: &'static [Measure] = &MEASURES;

    fn condition(setting: &Setting, key: &str) -> String {
        let game = &setting.head.game;
        match key {
            "game and history" if setting.measures.count("history_shown") > 0 => {
                format!("{game}, with history")
            }
            "game and history" => format!("{game}, no history"),
            "game and configuration" if !setting.head.label().is_empty() => {
                format!("{game}, {}", setting.head.label())
            }
            _ => game.clone(),
        }
    }

    fn names(setting: &Setting) -> Vec<&str> {
        setting.players()
    }
}

fn is_auction(setting: &Setting) -> bool {
    setting.head.game != GAMES[0].0
}

fn after(setting: &Setting, name: &str, sessions: u64) -> Option<(f64, f64)> {
    let row = setting.row("players", "player", name)?;
    let mut first = row.rows("first_sessions").iter();
    let row = first.find(|row| row.count("sessions") == sessions)?;
    Some((row.number(paid(setting))?, 1.0))
}

/// The measure on the scale of the paper's payoffs.
fn paid(setting: &Setting) -> &'static str {
    match is_auction(setting) {
        true => "profit",
        false => "payoff",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::check;

    #[test]
    fn every_row_has_a_source_and_every_column_a_measure_of_ones_own() {
        // Table 2: nine models, two games, with and without history; table 1: five.
        assert_eq!(check::<EconArena>(&PAPERS), (2 * 18 + 10, 14));
    }
}
