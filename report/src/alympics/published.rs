//! What Alympics published, and which of one's own measures stand beside it. How they are
//! shown together is said in `crate::published`.

use super::Alympics;
use crate::basis::PublishedTerms;
use crate::gathered::Setting;
use crate::published::{Columns, Compared, Measure, Papers, Published, Sheet};
use crate::row::Value;

/// The paper.
pub(super) const PAPERS: Papers = Papers {
    tables: &TABLES,
    terms: WATER,
    findings: include_str!("../../data/alympics_findings.csv"),
};

/// Figures of who has none of its own: of the town as a whole.
const TOWN: &str = "";

/// Little, medium and plenty of water.
const WATER: PublishedTerms = &[
    ("supply_min", &["10", "15", "20"]),
    ("supply_max", &["20", "25", "30"]),
];

const TABLES: [Published; 3] = [
    Published {
        name: "alympics-resources",
        title: "Published beside it: GPT-4 without personas, 10 sessions each (Alympics, arXiv \
                2311.03220, table 2, settings 1 to 3)",
        terms: &[],
        sheets: &[
            SURVIVAL.rows(include_str!("../../data/alympics_survival.csv")),
            SATISFACTION.rows(include_str!("../../data/alympics_satisfaction.csv")),
        ],
    },
    Published {
        name: "alympics-personas",
        title: "Published beside it: GPT-4 with personas, 10 sessions each (Alympics, arXiv 2311.03220, \
                table 2, settings 4 to 6)",
        terms: &[],
        sheets: &[
            SURVIVAL.rows(include_str!("../../data/alympics_survival_personas.csv")),
            SATISFACTION.rows(include_str!(
                "../../data/alympics_satisfaction_personas.csv"
            )),
        ],
    },
    Published {
        name: "alympics-human",
        title: "Published beside it: no numbers (Alympics, arXiv 2311.03220, figure 10 in appendix A.4)",
        terms: &[],
        sheets: &[Sheet::measures(
            "supply,resident,survival rate,last day,source\n",
        )],
    },
];

/// One column per resident.
const SURVIVAL: Sheet = Sheet {
    title: "Share of sessions that each resident survives, by supply",
    columns: Columns::Players("survival rate"),
    rows: "",
};

/// One row per supply.
const SATISFACTION: Sheet = Sheet {
    title: "Resource satisfaction rate",
    columns: Columns::Measures,
    rows: "",
};

/// Headings with what they are among one's own measures.
const MEASURES: [Measure; 4] = [
    ("survival rate", 2, |one, name| {
        resident(one, name, "survival_rate")
    }),
    ("last day", 1, |one, name| {
        resident(one, name, "survival_rounds")
    }),
    ("RSR at start", 2, |one, name| town(one, name, "rsr_start")),
    ("RSR at end", 2, |one, name| town(one, name, "rsr_end")),
];

/// The supplies of the paper (section 4.2), in units a day.
const SUPPLIES: [(&str, (i64, i64)); 3] =
    [("low", (10, 20)), ("medium", (15, 25)), ("high", (20, 30))];

impl Compared for Alympics {
    const MEASURES: &'static [Measure] = &MEASURES;

    /// The label where it names a supply, or else the supply that the days had.
    fn condition(setting: &Setting, _key: &str) -> String {
        let label = setting.head.label();
        if SUPPLIES.iter().any(|(name, _)| *name == label) {
            return label;
        }
        let supply = setting.measures.list("supply");
        let known = SUPPLIES
            .iter()
            .find(|(_, (least, most))| supply == [Value::Count(*least), Value::Count(*most)]);
        known.map_or(label, |(name, _)| (*name).to_owned())
    }

    fn names(setting: &Setting) -> Vec<&str> {
        let residents = setting.rows("residents").iter();
        let residents = residents.map(|row| row.word("resident"));
        [TOWN].into_iter().chain(residents).collect()
    }
}

fn resident(setting: &Setting, name: &str, number: &str) -> Option<(f64, f64)> {
    let row = setting.row("residents", "resident", name)?;
    Some((row.number(number)?, row.count("n") as f64))
}

fn town(setting: &Setting, name: &str, number: &str) -> Option<(f64, f64)> {
    let number = setting.measures.number(number).filter(|_| name == TOWN)?;
    Some((number, setting.measures.list("survivors").len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::check;

    #[test]
    fn every_row_has_a_source_and_every_column_a_measure_of_ones_own() {
        // Table 2: three supplies, survival and satisfaction, with and without personas.
        assert_eq!(check::<Alympics>(&PAPERS), (4 * 3, 8));
    }
}
