//! What the K-level paper published, and which of one's own measures stand beside it: of
//! the first seat, by its method and that of the others. How they are shown together is said
//! in `crate::published`.

use super::{GUESS_TO_SURVIVE, PlayerRow, SURVIVAL_AUCTION, SettingMeasures};
use crate::basis::Basis;
use crate::published::{Columns, Compared, Measure, Papers, Published, Sheet};

/// The paper.
pub(super) const PAPERS: Papers = Papers {
    tables: &TABLES,
    findings: include_str!("../../data/k_level_findings.csv"),
};

/// What conditions are of where there are none.
const EVERYBODY: &str = "all opponents";

const TABLES: [Published; 3] = [
    Published {
        name: "k-level-guessing",
        title: "Published beside it: GPT-4 guessing 0.8 of the average, one player against four opponents \
                of one method, 10 sessions each (arXiv 2402.01521, tables 1, 6 and 8)",
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
        sheets: &[Sheet {
            title: "Win rate by the player's method, against these opponents",
            columns: Columns::Players("win rate"),
            rows: include_str!("../../data/k_level_programmatic.csv"),
        }],
    },
];

/// What sheets are of, among one's own measures.
const MEASURES: [Measure<SettingMeasures>; 3] = [
    ("win rate", 2, |one, name| {
        let row = first(one, GUESS_TO_SURVIVE, name)?;
        Some((row.win_rate?, row.n as f64))
    }),
    ("rounds", 2, |one, name| {
        let row = first(one, SURVIVAL_AUCTION, name)?;
        let row = one.is_survival_auction.then_some(row)?;
        Some((row.survival_rounds?, row.n as f64))
    }),
    ("depth", 2, |one, name| {
        let row = first(one, GUESS_TO_SURVIVE, name)?;
        Some((row.strategic_depth?, row.strategic_depth_seats as f64))
    }),
];

impl Compared for SettingMeasures {
    const MEASURES: &'static [Measure<Self>] = &MEASURES;

    fn condition(&self, key: &str) -> String {
        match key {
            EVERYBODY => String::new(),
            _ => self.opponents.clone(),
        }
    }

    fn names(&self) -> Vec<&str> {
        self.first_seat.iter().map(|row| &*row.player).collect()
    }

    fn basis(&self, _name: &str) -> &Basis {
        self.head.basis(&self.first_player)
    }
}

/// Each table is about one of the games.
fn first<'a>(setting: &'a SettingMeasures, game: &str, name: &str) -> Option<&'a PlayerRow> {
    let mut rows = setting.first_seat.iter();
    let row = rows.find(|row| row.player == name);
    row.filter(|_| setting.head.game == game)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k_level::reading::METHODS;
    use crate::published::check;

    #[test]
    fn every_row_has_a_source_and_every_column_a_measure_of_ones_own() {
        // Tables 1 and 2: seven methods and their average; table 6; table 9.
        let (rows, findings) = check::<SettingMeasures>(&PAPERS);
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
