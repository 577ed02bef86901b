//! The marks that Alympics published, and one's own beside them. How they are shown together
//! is said in `crate::published`; here the players of a sheet are mean, quartiles and spread.

use super::Judging;
use super::reading::ABOUT;
use crate::gathered::Setting;
use crate::published::{Compared, Measure, Papers, Published, Sheet};
use crate::row::Row;

/// The paper.
pub(super) const PAPERS: Papers = Papers {
    tables: &[Published {
        name: "alympics-judging",
        title: "Published beside it: marks from 1 to 5, five judges for each of 30 records, and ten \
                persons about themselves (Alympics, arXiv 2311.03220, table 3)",
        terms: &[],
        sheets: &[Sheet::measures(include_str!(
            "../../data/alympics_judging.csv"
        ))],
    }],
    terms: &[("players", &[])],
    findings: include_str!("../../data/alympics_judging_findings.csv"),
};

/// A number of a criterion's marks.
type Statistic = fn(&Row) -> Option<f64>;

/// The numbers that the paper gives.
const STATISTICS: [(&str, Statistic); 5] = [
    ("first quartile", |row| {
        row.inner("quartiles").number("lower")
    }),
    ("median", |row| row.inner("quartiles").number("median")),
    ("third quartile", |row| {
        row.inner("quartiles").number("upper")
    }),
    ("mean", |row| row.number("mean")),
    ("standard deviation", |row| row.number("sd")),
];

/// The paper's criteria by the names that they have in the game.
const MEASURES: [Measure; 6] = [
    ("information", 2, |one, name| {
        mark(one, "information_utilisation", name)
    }),
    ("reasoning", 2, |one, name| {
        mark(one, "logical_reasoning", name)
    }),
    ("effectiveness", 2, |one, name| {
        mark(one, "strategic_effectiveness", name)
    }),
    ("adaptability", 2, |one, name| {
        mark(one, "adaptability", name)
    }),
    ("planning", 2, |one, name| {
        mark(one, "long_term_planning", name)
    }),
    ("identity", 2, |one, name| {
        mark(one, "identity_alignment", name)
    }),
];

impl Compared for Judging {
    const MEASURES: &'static [Measure] = &MEASURES;

    fn condition(setting: &Setting, _key: &str) -> String {
        setting.measures.word(ABOUT).to_owned()
    }

    fn names(_: &Setting) -> Vec<&str> {
        STATISTICS.iter().map(|(name, _)| *name).collect()
    }
}

fn mark(setting: &Setting, criterion: &str, name: &str) -> Option<(f64, f64)> {
    let (_, statistic) = STATISTICS.iter().find(|(known, _)| *known == name)?;
    let row = setting.row("criteria", "criterion", criterion)?;
    Some((statistic(row)?, row.count("marks") as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::check;

    #[test]
    fn every_row_has_a_source_and_every_column_a_measure_of_ones_own() {
        // Table 3: five numbers each of agents and persons.
        assert_eq!(check::<Judging>(&PAPERS), (10, 2));
    }
}
