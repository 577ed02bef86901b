//! Published figures of AucArena and Harbor with one's own below them; facts, not targets.
//! Each preset names its table under `[report] compare`. Figures, and findings where the
//! papers have pictures only, are files in `data/`, row by row with their source.

use csv::StringRecord;

use super::tables::number;
use super::{AuctionReport, PlanRow, PlayerRow, ProfileRow, SettingMeasures};
use crate::session::{LABEL, in_words};
use crate::table::{NONE, SIMULATED, plain_table, trimmed};

/// One published table.
#[derive(Clone, Copy)]
struct Published {
    /// What an experiment calls it.
    name: &'static str,
    /// What it holds, and where it is published.
    title: &'static str,
    /// Its rows below their headings: condition, player, measures, source. Empty where
    /// nothing but pictures is published.
    rows: &'static str,
}

const PUBLISHED: [Published; 10] = [
    Published {
        name: "aucarena-competition",
        title: "Published beside it: Spearman's rho of plan faithfulness (arXiv 2310.05746, figure 6)",
        rows: include_str!("../../data/aucarena_competition.csv"),
    },
    Published {
        name: "aucarena-behaviour",
        title: "Published beside it: no numbers (arXiv 2310.05746, figures 4 and 9 to 13)",
        rows: "",
    },
    Published {
        name: "aucarena-module-ablation",
        title: "Published beside it: no numbers (arXiv 2310.05746, figure 7)",
        rows: "",
    },
    Published {
        name: "aucarena-niche",
        title: "Published beside it: no numbers (arXiv 2310.05746, figure 8)",
        rows: "",
    },
    Published {
        name: "aucarena-human",
        title: "Published beside it: mean profit and items won by order of sale (arXiv 2310.05746,\n\
                table 2 in appendix B, four persons)",
        rows: include_str!("../../data/aucarena_human.csv"),
    },
    Published {
        name: "harbor-persona-behaviour",
        title: "Published beside it: priority of the houses that suit a bidder (Harbor, figure 3)",
        rows: include_str!("../../data/harbor_persona_behaviour.csv"),
    },
    Published {
        name: "harbor-persona-profit",
        title: "Published beside it: profit ratio in percent, GPT-4o-mini, personas rotated and\n\
                averaged (Harbor, table 2)",
        rows: include_str!("../../data/harbor_persona_profit.csv"),
    },
    Published {
        name: "harbor-profiling-matches",
        title: "Published beside it: divergence of a profile that knows nothing (Harbor, appendix C)",
        rows: include_str!("../../data/harbor_profiling_matches.csv"),
    },
    Published {
        name: "harbor-profiling-capacity",
        title: "Published beside it: divergence of a profile that knows nothing (Harbor, appendix C)",
        rows: include_str!("../../data/harbor_profiling_capacity.csv"),
    },
    Published {
        name: "harbor-theory-of-mind",
        title: "Published beside it: Claude-3.5-Sonnet, personas rotated and averaged (Harbor, table 3)",
        rows: include_str!("../../data/harbor_theory_of_mind.csv"),
    },
];

/// What the papers found, in our words, table by table.
const FINDINGS: &str = include_str!("../../data/auction_findings.csv");

/// Columns of a table before its measures: condition and player.
const KEYS: usize = 2;

/// A number of one player in one setting, and what it weighs in a mean over settings.
type Own = fn(&SettingMeasures, &str) -> Option<(f64, f64)>;

/// What a column of published figures is among one's own measures: its heading, decimals
/// to show, and where it is.
const MEASURES: [(&str, usize, Own); 12] = [
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

impl AuctionReport {
    /// The published table of this name, each of its conditions followed by what these
    /// auctions have for it, and the published findings with their sources, in at most
    /// `width` columns; `None` when there is no such table.
    pub fn beside_published(&self, name: &str, width: u16) -> Option<String> {
        let published = PUBLISHED.iter().find(|table| table.name == name)?;
        let parts = [
            Some(published.title.to_owned()),
            self.compared(published.rows, width),
            findings(name, width),
        ];
        Some(parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n"))
    }

    /// The names of all published tables.
    pub fn published_tables() -> [&'static str; PUBLISHED.len()] {
        PUBLISHED.map(|table| table.name)
    }

    fn compared(&self, rows: &str, width: u16) -> Option<String> {
        let mut reader = csv::Reader::from_reader(rows.as_bytes());
        let headings = reader.headers().ok()?.clone();
        let published: Vec<StringRecord> = reader.records().collect::<Result<_, _>>().ok()?;
        let key = headings.get(0)?;
        let measured: Vec<&str> = headings.iter().skip(KEYS).collect();
        let (_, measured) = measured.split_last()?;
        let settings = self.settings();
        let mut conditions: Vec<String> = Vec::new();
        let of_rows = published.iter().filter_map(|row| row.get(0));
        let of_settings = settings.iter().map(|one| condition(key, one));
        for condition in of_rows.map(str::to_owned).chain(of_settings) {
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
        let mut table = vec![row("", headings.iter().take(KEYS + measured.len()))];
        for name in &conditions {
            let of_condition = published.iter().filter(|row| row.get(0) == Some(name));
            for one in of_condition {
                let cells = one.iter().take(KEYS + measured.len()).enumerate();
                let filled = cells.map(|(place, cell)| match cell {
                    "" if place >= KEYS => NONE,
                    cell => cell,
                });
                table.push(row("published", filled));
            }
            let own = settings.iter().filter(|one| condition(key, one) == *name);
            let own: Vec<&SettingMeasures> = own.collect();
            table.extend(own_rows(&own, name, measured));
        }
        // Without conditions there is nothing to say of them.
        if conditions.iter().all(String::is_empty) {
            for row in &mut table {
                row.remove(1);
            }
        }
        let mut rows = table.into_iter();
        let mut shown = plain_table(width);
        shown.set_header(rows.next()?);
        shown.add_rows(rows);
        Some(trimmed(&shown))
    }
}

fn row<'a>(whose: &'a str, cells: impl Iterator<Item = &'a str>) -> Vec<String> {
    let cells = [whose].into_iter().chain(cells);
    cells.map(str::to_owned).collect()
}

/// One row per player that has any of these measures in these settings.
fn own_rows(settings: &[&SettingMeasures], condition: &str, measured: &[&str]) -> Vec<Vec<String>> {
    let simulated = settings.iter().any(|one| one.simulated > 0);
    let whose = if simulated {
        format!("yours, {SIMULATED}")
    } else {
        "yours".to_owned()
    };
    let mut names: Vec<&str> = Vec::new();
    for row in settings.iter().flat_map(|one| &one.players) {
        if !names.contains(&&*row.player) {
            names.push(&row.player);
        }
    }
    let rows = names.into_iter().filter_map(|name| {
        let numbers = measured.iter().map(|heading| own(settings, name, heading));
        let numbers: Vec<Option<String>> = numbers.collect();
        if numbers.iter().all(Option::is_none) {
            return None;
        }
        let numbers = numbers.iter().map(|cell| cell.as_deref().unwrap_or(NONE));
        Some(row(&whose, [condition, name].into_iter().chain(numbers)))
    });
    rows.collect()
}

/// A player's weighted mean of a measure over settings; `None` where it has none.
fn own(settings: &[&SettingMeasures], name: &str, heading: &str) -> Option<String> {
    let (_, decimals, measure) = MEASURES.iter().find(|(known, ..)| *known == heading)?;
    let (mut sum, mut weights) = (0.0, 0.0);
    for (value, weight) in settings.iter().filter_map(|one| measure(one, name)) {
        sum += value * weight;
        weights += weight;
    }
    (weights > 0.0).then(|| number(Some(sum / weights), *decimals))
}

/// Which published condition a setting belongs to, by what conditions are of.
fn condition(key: &str, setting: &SettingMeasures) -> String {
    let axis = |name: &str| setting.axes.get(name).map(in_words);
    match key {
        "order" => axis("params.order"),
        "rivals" => {
            let seats: u64 = setting.players.iter().map(|row| row.sat).sum();
            let seats = seats.checked_div(setting.sessions);
            seats.map(|seats| seats.saturating_sub(1).to_string())
        }
        _ => axis(LABEL),
    }
    .unwrap_or_default()
}

/// What is published in words, with sources.
fn findings(name: &str, width: u16) -> Option<String> {
    let mut reader = csv::Reader::from_reader(FINDINGS.as_bytes());
    let mut table = plain_table(width);
    table.set_header(["published finding", "source"]);
    for row in reader.records() {
        let row = row.ok()?;
        if row.get(0) == Some(name) {
            table.add_row(row.iter().skip(1));
        }
    }
    (!table.is_empty()).then(|| trimmed(&table))
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
    Some((of(row)?, row.sat as f64))
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

    #[test]
    fn every_row_has_a_source_and_every_column_a_measure_of_ones_own() {
        let mut rows = 0;
        for published in PUBLISHED.iter().filter(|one| !one.rows.is_empty()) {
            let mut reader = csv::Reader::from_reader(published.rows.as_bytes());
            let headings = reader.headers().unwrap().clone();
            assert_eq!(headings.get(headings.len() - 1), Some("source"));
            for heading in headings.iter().take(headings.len() - 1).skip(KEYS) {
                let known = MEASURES.iter().any(|(name, ..)| *name == heading);
                assert!(known, "{}: {heading}", published.name);
            }
            for row in reader.records() {
                let row = row.unwrap();
                assert!(row.len() == headings.len(), "{row:?}");
                assert!(row[row.len() - 1].contains(", "), "{row:?}");
                let measured = row.iter().take(row.len() - 1).skip(KEYS);
                for cell in measured.filter(|cell| !cell.is_empty()) {
                    assert!(cell.parse::<f64>().is_ok(), "{row:?}");
                }
                rows += 1;
            }
        }
        // Figure 6, tables 2 of both papers, table 3, two personas, two baselines, one more.
        assert_eq!(rows, 7 + 9 + 12 + 15 + 2 + 2 + 1);
    }

    #[test]
    fn every_finding_belongs_to_a_table() {
        let mut reader = csv::Reader::from_reader(FINDINGS.as_bytes());
        for row in reader.records() {
            let row = row.unwrap();
            let known = PUBLISHED.iter().any(|one| Some(one.name) == row.get(0));
            assert!(known && !row[1].is_empty() && !row[2].is_empty(), "{row:?}");
        }
    }
}
