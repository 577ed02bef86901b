//! What AucArena and Harbor published, and which of one's own measures stand beside it.
//! How they are shown together is said in `crate::published`.

use super::Auctions;
use crate::basis::PublishedTerms;
use crate::gathered::Setting;
use crate::published::{Columns, Compared, Measure, Papers, Published, Sheet};

/// Both papers.
pub(super) const PAPERS: Papers = Papers {
    tables: &TABLES,
    terms: &[("order", &[])],
    findings: include_str!("../../data/auction_findings.csv"),
};

/// Harbor's houses; tables vary the rivals.
const HOUSES: PublishedTerms = &[
    ("players", &[]),
    ("budget", &["1000000"]),
    ("overestimate_percent", &["10"]),
];

const TABLES: [Published; 10] = [
    Published {
        name: "aucarena-competition",
        title: "Published beside it: Spearman's rho of plan faithfulness over all items and auctions \
                of a player (arXiv 2310.05746, figure 6)",
        terms: &[("budget", &["20000", "40000"])],
        sheets: &[Sheet {
            title: "",
            columns: Columns::MeasuresOfAll,
            rows: include_str!("../../data/aucarena_competition.csv"),
        }],
    },
    Published {
        name: "aucarena-behaviour",
        title: "Published beside it: no numbers (arXiv 2310.05746, figures 4 and 9 to 13)",
        terms: &[("budget", &["10000", "20000", "40000"])],
        sheets: &[],
    },
    Published {
        name: "aucarena-module-ablation",
        title: "Published beside it: no numbers (arXiv 2310.05746, figure 7)",
        terms: &[("budget", &["20000", "40000"])],
        sheets: &[],
    },
    Published {
        name: "aucarena-niche",
        title: "Published beside it: no numbers (arXiv 2310.05746, figure 8)",
        terms: &[("budget", &["10000", "20000", "30000"]), ("objective", &[])],
        sheets: &[],
    },
    Published {
        name: "aucarena-human",
        title: "Published beside it: mean profit and items won by order of sale (arXiv 2310.05746, \
                table 2 in appendix B, four persons)",
        terms: &[("budget", &["20000"])],
        sheets: &[Sheet::measures(include_str!(
            "../../data/aucarena_human.csv"
        ))],
    },
    Published {
        name: "harbor-persona-behaviour",
        title: "Published beside it: priority of the houses that suit a bidder (Harbor, figure 3)",
        terms: HOUSES,
        sheets: &[Sheet::measures(include_str!(
            "../../data/harbor_persona_behaviour.csv"
        ))],
    },
    Published {
        name: "harbor-persona-profit",
        title: "Published beside it: profit ratio in percent, GPT-4o-mini, personas rotated and \
                averaged (Harbor, table 2)",
        terms: HOUSES,
        sheets: &[Sheet::measures(include_str!(
            "../../data/harbor_persona_profit.csv"
        ))],
    },
    Published {
        name: "harbor-profiling-matches",
        title: "Published beside it: divergence of a profile that knows nothing (Harbor, appendix C)",
        terms: HOUSES,
        sheets: &[Sheet::measures(include_str!(
            "../../data/harbor_profiling_matches.csv"
        ))],
    },
    Published {
        name: "harbor-profiling-capacity",
        title: "Published beside it: divergence of a profile that knows nothing (Harbor, appendix C)",
        terms: HOUSES,
        sheets: &[Sheet::measures(include_str!(
            "../../data/harbor_profiling_capacity.csv"
        ))],
    },
    Published {
        name: "harbor-theory-of-mind",
        title: "Published beside it: Claude-3.5-Sonnet, personas rotated and averaged (Harbor, table 3)",
        terms: HOUSES,
        sheets: &[Sheet::measures(include_str!(
            "../../data/harbor_theory_of_mind.csv"
        ))],
    },
];

/// Headings with what they are among one's own measures.
const MEASURES: [Measure; 12] = [
    ("profit", 1, |one, name| {
        one.weighed("players", name, "profit", "n")
    }),
    ("items won", 2, |one, name| {
        one.weighed("players", name, "items_won", "n")
    }),
    ("profit ratio %", 2, |one, name| {
        one.weighed("players", name, "profit_ratio", "n")
    }),
    ("TrueSkill", 2, |one, name| {
        one.weighed("players", name, "single_trueskill", "n")
    }),
    ("acquisition", 2, |one, name| {
        one.weighed("players", name, "acquisition", "matched_offered")
    }),
    ("matched priority", 2, |one, name| {
        one.weighed("plans", name, "matched_priority", "planned")
    }),
    ("initial plan and bids", 4, |one, name| {
        rho(one, name, "initial_engagements")
    }),
    ("initial plan and won", 4, |one, name| {
        rho(one, name, "initial_won")
    }),
    ("current plan and bids", 4, |one, name| {
        rho(one, name, "current_engagements")
    }),
    ("current plan and won", 4, |one, name| {
        rho(one, name, "current_won")
    }),
    ("baseline KL", 2, |one, name| {
        one.weighed("profiles", name, "baseline", "profiles")
    }),
    ("KL at the end", 2, |one, name| {
        let row = one.row("profiles", "player", name)?;
        let last = row.list("divergence").last()?.number()?;
        Some((last, row.count("profiles") as f64))
    }),
];

impl Compared for Auctions {
    const MEASURES: &'static [Measure] = &MEASURES;

    fn condition(setting: &Setting, key: &str) -> String {
        match key {
            "order" => setting.head.axis("params.order").unwrap_or_default(),
            "rivals" => {
                let seats = setting.rows("players").iter().map(|row| row.count("sat"));
                let seats = seats.sum::<u64>().checked_div(setting.head.sessions);
                let rivals = seats.map(|seats| seats.saturating_sub(1).to_string());
                rivals.unwrap_or_default()
            }
            _ => setting.head.label(),
        }
    }

    fn names(setting: &Setting) -> Vec<&str> {
        setting.players()
    }
}

fn rho(setting: &Setting, name: &str, of: &str) -> Option<(f64, f64)> {
    let row = setting.row("plans", "player", name)?;
    Some((row.inner(of).number("rho")?, row.count("pairs") as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::check;

    #[test]
    fn every_row_has_a_source_and_every_column_a_measure_of_ones_own() {
        // Figure 6, tables 2 of both papers, table 3, two personas, two baselines, one more.
        let rows = 7 + 9 + 12 + 15 + 2 + 2 + 1;
        assert_eq!(check::<Auctions>(&PAPERS), (rows, 16));
    }
}
