//! What "Economics Arena for Large Language Models" published, and which of one's own
//! measures stand beside it. How they are shown together is said in `crate::published`.

use super::{GAMES, PathRow, PlayerRow, SettingMeasures};
use crate::published::{Compared, Measure, Papers, Published, Sheet};

/// The paper.
pub(super) const PAPERS: Papers = Papers {
    tables: &TABLES,
    findings: include_str!("../../data/econarena_findings.csv"),
};

const TABLES: [Published; 6] = [
    Published {
        name: "econarena-melee",
        title: "Published beside it: percentage of runs with a foul, without history (Economics Arena, \
                table 2)",
        sheets: &[Sheet::measures(include_str!(
            "../../data/econarena_rules_without_history.csv"
        ))],
    },
    Published {
        name: "econarena-rational",
        title: "Published beside it: no numbers (Economics Arena, figures 1b and 2b)",
        sheets: &[Sheet::measures(
            "game and history,player,deviation,rationality,rules broken %,source\n",
        )],
    },
    Published {
        name: "econarena-configurations",
        title: "Published beside it: no numbers (Economics Arena, figure 3)",
        sheets: &[Sheet::measures(
            "game and configuration,player,payoff,over bound or value,source\n",
        )],
    },
    Published {
        name: "econarena-senior",
        title: "Published beside it: mean payoff after so many sessions (Economics Arena, table 1)",
        sheets: &[Sheet::measures(include_str!(
            "../../data/econarena_senior.csv"
        ))],
    },
    Published {
        name: "econarena-history-rational",
        title: "Published beside it: no numbers (Economics Arena, figures 4 and 5)",
        sheets: &[Sheet::measures(
            "game and history,player,deviation,slope of distance,half-life,source\n",
        )],
    },
    Published {
        name: "econarena-history-melee",
        title: "Published beside it: percentage of runs with a foul, with history (Economics Arena, \
                table 2)",
        sheets: &[Sheet::measures(include_str!(
            "../../data/econarena_rules_with_history.csv"
        ))],
    },
];

/// Headings with what they are among one's own measures. "payoff" is what the paper calls
/// so: the prize won, in auctions final assets over those in equilibrium.
const MEASURES: [Measure<SettingMeasures>; 10] = [
    ("payoff", 3, |one, name| {
        let paid = if is_auction(one) {
            |row: &PlayerRow| row.final_over_equilibrium
        } else {
            |row: &PlayerRow| row.payoff
        };
        sat(one, name, paid)
    }),
    ("20 sessions", 3, |one, name| after(one, name, 20)),
    ("60 sessions", 3, |one, name| after(one, name, 60)),
    ("100 sessions", 3, |one, name| after(one, name, 100)),
    ("rationality", 3, |one, name| {
        sat(one, name, |row| row.rationality)
    }),
    ("rules broken %", 2, |one, name| {
        let row = player(one, name)?;
        Some((row.rule_breaking?, row.sat as f64))
    }),
    ("deviation", 3, |one, name| {
        acted(one, name, |row| row.deviation)
    }),
    ("over bound or value", 3, |one, name| {
        acted(one, name, |row| row.relative_action)
    }),
    ("slope of distance", 4, |one, name| {
        Some((path(one, name)?.slope?, 1.0))
    }),
    ("half-life", 2, |one, name| {
        Some((path(one, name)?.half_life?, 1.0))
    }),
];

impl Compared for SettingMeasures {
    const MEASURES: &'static [Measure<Self>] = &MEASURES;

    fn condition(&self, key: &str) -> String {
        let game = &self.head.game;
        match key {
            "game and history" if self.history_shown > 0 => format!("{game}, with history"),
            "game and history" => format!("{game}, no history"),
            "game and configuration" if !self.head.label().is_empty() => {
                format!("{game}, {}", self.head.label())
            }
            _ => game.clone(),
        }
    }

    fn names(&self) -> Vec<&str> {
        self.players.iter().map(|row| &*row.player).collect()
    }
}

fn is_auction(setting: &SettingMeasures) -> bool {
    setting.head.game != GAMES[0].0
}

fn player<'a>(setting: &'a SettingMeasures, name: &str) -> Option<&'a PlayerRow> {
    setting.players.iter().find(|row| row.player == name)
}

fn path<'a>(setting: &'a SettingMeasures, name: &str) -> Option<&'a PathRow> {
    setting.paths.iter().find(|row| row.player == name)
}

fn sat(
    setting: &SettingMeasures,
    name: &str,
    of: impl Fn(&PlayerRow) -> Option<f64>,
) -> Option<(f64, f64)> {
    let row = player(setting, name)?;
    Some((of(row)?, row.n as f64))
}

fn acted(
    setting: &SettingMeasures,
    name: &str,
    of: impl Fn(&PlayerRow) -> Option<f64>,
) -> Option<(f64, f64)> {
    let row = player(setting, name)?;
    Some((of(row)?, row.actions as f64))
}

fn after(setting: &SettingMeasures, name: &str, sessions: u64) -> Option<(f64, f64)> {
    let mut first = player(setting, name)?.first_sessions.iter();
    let row = first.find(|row| row.sessions == sessions)?;
    let paid = if is_auction(setting) {
        row.rationality
    } else {
        row.payoff
    };
    Some((paid?, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::check;

    #[test]
    fn every_row_has_a_source_and_every_column_a_measure_of_ones_own() {
        // Table 2: nine models, two games, with and without history; table 1: five.
        assert_eq!(check::<SettingMeasures>(&PAPERS), (2 * 18 + 10, 14));
    }
}
