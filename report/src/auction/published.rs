//! What AucArena and Harbor published, and which of one's own measures stand beside it.
//! How they are shown together is said in `crate::published`.

use super::{PlanRow, PlayerRow, ProfileRow, SettingMeasures};
use crate::published::{Compared, Measure, Papers, Published, Sheet};

/// Both papers.
pub(super) const PAPERS: Papers = Papers {
    tables: &TABLES,
    findings: include_str!("../../data/auction_findings.csv"),
};

const TABLES: [Published; 10] = [
    Published {
        name: "aucarena-competition",
        title: "Published beside it: Spearman's rho of plan faithfulness (arXiv 2310.05746, figure 6)",
        sheets: &[Sheet::measures(include_str!(
            "../../data/aucarena_competition.csv"
        ))],
    },
    Published {
        name: "aucarena-behaviour",
        title: "Published beside it: no numbers (arXiv 2310.05746, figures 4 and 9 to 13)",
        sheets: &[],
    },
    Published {
        name: "aucarena-module-ablation",
        title: "Published beside it: no numbers (arXiv 2310.05746, figure 7)",
        sheets: &[],
    },
    Published {
        name: "aucarena-niche",
        title: "Published beside it: no numbers (arXiv 2310.05746, figure 8)",
        sheets: &[],
    },
    Published {
        name: "aucarena-human",
        title: "Published beside it: mean profit and items won by order of sale (arXiv 2310.05746, \
                table 2 in appendix B, four persons)",
        sheets: &[Sheet::measures(include_str!(
            "../../data/aucarena_human.csv"
        ))],
    },
    Published {
        name: "harbor-persona-behaviour",
        title: "Published beside it: priority of the houses that suit a bidder (Harbor, figure 3)",
        sheets: &[Sheet::measures(include_str!(
            "../../data/harbor_persona_behaviour.csv"
        ))],
    },
    Published {
        name: "harbor-persona-profit",
        title: "Published beside it: profit ratio in percent, GPT-4o-mini, personas rotated and \
                averaged (Harbor, table 2)",
        sheets: &[Sheet::measures(include_str!(
            "../../data/harbor_persona_profit.csv"
        ))],
    },
    Published {
        name: "harbor-profiling-matches",
        title: "Published beside it: divergence of a profile that knows nothing (Harbor, appendix C)",
        sheets: &[Sheet::measures(include_str!(
            "../../data/harbor_profiling_matches.csv"
        ))],
    },
    Published {
        name: "harbor-profiling-capacity",
        title: "Published beside it: divergence of a profile that knows nothing (Harbor, appendix C)",
        sheets: &[Sheet::measures(include_str!(
            "../../data/harbor_profiling_capacity.csv"
        ))],
    },
    Published {
        name: "harbor-theory-of-mind",
        title: "Published beside it: Claude-3.5-Sonnet, personas rotated and averaged (Harbor, table 3)",
        sheets: &[Sheet::measures(include_str!(
            "../../data/harbor_theory_of_mind.csv"
        ))],
    },
];

/// Headings with what they are among one's own measures.
const MEASURES: [Measure<SettingMeasures>; 12] = [
    ("profit", 1, |one, name| sat(one, name, |row| row.profit)),
    ("items won", 2, |one, name| {
        sat(one, name, |row| row.items_won)
    }),
    ("profit ratio %", 2, |one, name| {
        sat(one, name, |row| row.profit_ratio)
    }),
    ("TrueSkill", 2, |one, name| {
        let rated = &player(one, name)?.trueskill;
        let sum: f64 = rated.iter().map(|rated| rated.mu).sum();
        let seats = rated.len() as f64;
        (seats > 0.0).then(|| (sum / seats, 1.0))
    }),
    ("acquisition", 2, |one, name| {
        let row = player(one, name)?;
        Some((row.acquisition?, row.matched_offered as f64))
    }),
    ("matched priority", 2, |one, name| {
        let row = planner(one, name)?;
        Some((row.matched_priority?, row.planned as f64))
    }),
    ("initial plan and bids", 4, |one, name| {
        rho(one, name, |row| row.initial_engagements?.rho.into())
    }),
    ("initial plan and won", 4, |one, name| {
        rho(one, name, |row| row.initial_won?.rho.into())
    }),
    ("current plan and bids", 4, |one, name| {
        rho(one, name, |row| row.current_engagements?.rho.into())
    }),
    ("current plan and won", 4, |one, name| {
        rho(one, name, |row| row.current_won?.rho.into())
    }),
    ("baseline KL", 2, |one, name| {
        let row = profiler(one, name)?;
        Some((row.baseline?, row.profiles as f64))
    }),
    ("KL at the end", 2, |one, name| {
        let row = profiler(one, name)?;
        let last = row.divergence.last().copied().flatten()?;
        Some((last, row.profiles as f64))
    }),
];

impl Compared for SettingMeasures {
    type Setting = Self;

    const MEASURES: &'static [Measure<Self>] = &MEASURES;

    fn condition(setting: &Self, key: &str) -> String {
        match key {
            "order" => setting.head.axis("params.order").unwrap_or_default(),
            "rivals" => {
                let seats: u64 = setting.players.iter().map(|row| row.sat).sum();
                let seats = seats.checked_div(setting.head.sessions);
                let rivals = seats.map(|seats| seats.saturating_sub(1).to_string());
                rivals.unwrap_or_default()
            }
            _ => setting.head.label(),
        }
    }

    fn names(setting: &Self) -> Vec<&str> {
        setting.players.iter().map(|row| &*row.player).collect()
    }
}

fn player<'a>(setting: &'a SettingMeasures, name: &str) -> Option<&'a PlayerRow> {
    setting.players.iter().find(|row| row.player == name)
}

fn planner<'a>(setting: &'a SettingMeasures, name: &str) -> Option<&'a PlanRow> {
    setting.plans.iter().find(|row| row.player == name)
}

fn profiler<'a>(setting: &'a SettingMeasures, name: &str) -> Option<&'a ProfileRow> {
    setting.profiles.iter().find(|row| row.player == name)
}

fn sat(
    setting: &SettingMeasures,
    name: &str,
    of: impl Fn(&PlayerRow) -> Option<f64>,
) -> Option<(f64, f64)> {
    let row = player(setting, name)?;
    Some((of(row)?, row.n as f64))
}

fn rho(
    setting: &SettingMeasures,
    name: &str,
    of: impl Fn(&PlanRow) -> Option<f64>,
) -> Option<(f64, f64)> {
    let row = planner(setting, name)?;
    Some((of(row)?, row.pairs as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::check;

    #[test]
    fn every_row_has_a_source_and_every_column_a_measure_of_ones_own() {
        // Figure 6, tables 2 of both papers, table 3, two personas, two baselines, one more.
        let rows = 7 + 9 + 12 + 15 + 2 + 2 + 1;
        assert_eq!(check::<SettingMeasures>(&PAPERS), (rows, 16));
    }
}
