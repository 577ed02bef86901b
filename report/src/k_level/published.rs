//! What the K-level paper published, and which of one's own measures stand beside it: of
//! the first seat, by its method and that of the others. How they are shown together is said
//! in `crate::published`.

use super::reading::FIRST_PLAYER;
use super::{GUESS_TO_SURVIVE, KLevel, SURVIVAL_AUCTION};
use crate::basis::Basis;
use crate::gathered::Setting;
use crate::published::{Columns, Compared, Measure, Papers, Published, Sheet};

/// The paper.
pub(super) const PAPERS: Papers = Papers {
    tables: &TABLES,
    terms: &[],
    findings: include_str!("../../data/k_level_findings.csv"),
};

/// What conditions are of where there are none.
const EVERYBODY: &str = "all opponents";

const TABLES: [Published; 3] = [
    Published {
        name: "k-level-guessing",
        title: "Published beside it: GPT-4 guessing 0.8 of the average, one player against four opponents \
                of one method, 10 sessions each (arXiv 2402.01521, tables 1, 6 and 8)",
        terms: &[],
        sheets: &[
            Sheet {
                title: "Win rate by the player's method, against these opponents",
                columns: Columns::Players("win rate"),
                rows: include_str!("../../data/k_level_guessing.csv"),
            },
            Sheet {
                title: "Strategic depth of the first choice by the player's method",
                columns: Columns::Players("depth"),
                rows: include_str!("../../data/k_level_depth.csv"),
            },
        ],
    },
    Published {
        name: "k-level-survival-auction",
        title: "Published beside it: GPT-4 in the survival auction, one player against four opponents of \
                one method, 10 sessions each (arXiv 2402.01521, tables 2 and 8)",
        terms: &[
            ("rounds", &["10"]),
            ("supply_min", &["10"]),
            ("supply_max", &["10"]),
            ("ties", &[]),
        ],
        sheets: &[Sheet {
            title: "Rounds survived by the player's method, against these opponents",
            columns: Columns::Players("rounds"),
            rows: include_str!("../../data/k_level_survival_auction.csv"),
        }],
    },
    Published {
        name: "k-level-programmatic",
        title: "Published beside it: GPT-4 guessing 0.8 of the average, one player against four programmed \
                opponents (arXiv 2402.01521, table 9)",
        terms: &[],
        sheets: &[Sheet {
            title: "Win rate by the player's method, against these opponents",
            columns: Columns::Players("win rate"),
            rows: include_str!("../../data/k_level_programmatic.csv"),
        }],
    },
];

/// What sheets are of, among one's own measures.
const MEASURES: [Measure; 3] = [
    ("win rate", 2, |one, name| {
        first(one, GUESS_TO_SURVIVE, name, "win_rate", "n")
    }),
    ("rounds", 2, |one, name| {
        let is_survival_auction = one.measures.flag("is_survival_auction");
        let rounds = first(one, SURVIVAL_AUCTION, name, "survival_rounds", "n");
        rounds.filter(|_| is_survival_auction)
    }),
    ("depth", 2, |one, name| {
        first(
            one,
            GUESS_TO_SURVIVE,
            name,
            "strategic_depth",
            "strategic_depth_seats",
        )
    }),
];

impl Compared for KLevel {
    const MEASURES: &'static [Measure] = &MEASURES;

    fn condition(setting: &Setting, key: &str) -> String {
        match key {
            EVERYBODY => String::new(),
            _ => setting.measures.word("opponents").to_owned(),
        }
    }

    fn names(setting: &Setting) -> Vec<&str> {
        let rows = setting.rows("first_seat").iter();
        rows.map(|row| row.word("player")).collect()
    }

    fn basis<'a>(setting: &'a Setting, _name: &str) -> &'a Basis {
        setting.head.basis(setting.fact(FIRST_PLAYER))
    }
}

/// Each table is about one of the games.
fn first(
    setting: &Setting,
    game: &str,
    name: &str,
    number: &str,
    weight: &str,
) -> Option<(f64, f64)> {
    let weighed = setting.weighed("first_seat", name, number, weight);
    weighed.filter(|_| setting.head.game == game)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k_level::reading::METHODS;
    use crate::published::check;

    #[test]
    fn every_row_has_a_source_and_every_column_a_measure_of_ones_own() {
        // Tables 1 and 2: seven methods and their average; table 6; table 9.
        let (rows, findings) = check::<KLevel>(&PAPERS);
        assert_eq!((rows, findings), (2 * 8 + 1 + 6, 7));
    }

    #[test]
    fn columns_are_methods() {
        for sheet in TABLES.iter().flat_map(|table| table.sheets) {
            let mut reader = csv::Reader::from_reader(sheet.rows.as_bytes());
            let headings = reader.headers().unwrap().clone();
            for heading in headings.iter().skip(1).take(headings.len() - 2) {
                assert!(METHODS.contains(&heading), "{heading}");
            }
        }
    }

    #[test]
    fn averages_are_those_of_their_columns_but_for_one() {
        let mut odd = Vec::new();
        for rows in [
            include_str!("../../data/k_level_guessing.csv"),
            include_str!("../../data/k_level_survival_auction.csv"),
        ] {
            let mut reader = csv::Reader::from_reader(rows.as_bytes());
            let headings = reader.headers().unwrap().clone();
            let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            let (average, rows) = rows.split_last().unwrap();
            for column in 1..=7 {
                let cell = |row: &csv::StringRecord| row[column].parse::<f64>().unwrap();
                let mean = rows.iter().map(cell).sum::<f64>() / rows.len() as f64;
                if (mean - cell(average)).abs() > 0.006 {
                    odd.push((headings[column].to_owned(), average[column].to_owned()));
                }
            }
        }
        // The paper's own: the seven win rates above it have a mean of 0.42.
        assert_eq!(odd, [("chain-of-thought".to_owned(), "0.32".to_owned())]);
    }
}
