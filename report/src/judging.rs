//! Marks that judges gave to what a player did (Alympics, arXiv 2311.03220, section 7 and
//! table 3), criterion by criterion. Definitions stand in `docs/measures.md`.

mod published;
mod reading;

use agon_engine::record::StoredRecord;

use crate::game_report::{Paper, Report};
use crate::gathered::{Gathered, Setting};
use crate::grouping::Statistic::{Count, Deviation, Mean, Of};
use crate::grouping::{Key, Section, Sums};
use crate::layout::Layout;
use crate::observation::{Observation, SessionObservations};
use crate::published::Papers;
use crate::row::Row;
use crate::settings::SettingHead;
use crate::statistics::agreement::{Scale, alpha, alpha_interval};
use crate::statistics::quartiles;
use crate::table::{
    Cell, Line, SettingTables, cells_of, columns, headings, in_json, number, paragraphs,
    sessions_of,
};

/// The game whose records are measured.
const JUDGING: &str = "judging";

/// Who is judged where nothing else is said.
const AGENTS: &str = "agents";

/// The label of settings in which persons judge themselves.
const PERSONS: &str = "persons";

/// What is counted of criteria.
const TITLE: &str = "All settings together, criterion by criterion: marks over records and judges, \
    \u{b1} standard deviation over these, although marks of one record depend on each other; \
    spread: highest less lowest mark of a record; \u{3b1}: Krippendorff's, of the order of marks";

/// Marks of any number of records; other games are passed over.
pub(crate) type JudgingReport = Report<Judging>;

/// The part of the paper that judges.
#[derive(Default)]
pub(crate) struct Judging;

/// Criteria in the order in which they were asked; `spread` is how far judges of one record
/// disagree, over the `records` that have a mark.
const CRITERIA: Section = Section {
    name: "criteria",
    labels: &["criterion"],
    by: by_criterion,
    fields: &[
        ("marks", Count("mark")),
        ("mean", Mean("mark")),
        ("sd", Deviation("mark")),
        (
            "quartiles",
            Of(&["mark", "asked"], |sums| {
                quartiles(sums.values("mark")).into()
            }),
        ),
        ("spread", Mean("mark_spread")),
        ("records", Count("mark_spread")),
        (
            "alpha",
            Of(&["mark", "judges"], |sums| {
                alpha(records(sums).into_iter(), Scale::Ordinal).into()
            }),
        ),
        (
            "alpha_interval",
            Of(&["mark", "judges"], |sums| {
                alpha_interval(records(sums).into_iter(), Scale::Ordinal).into()
            }),
        ),
    ],
};

/// The marks of each record, which stand one after another.
fn records(sums: &Sums) -> Vec<&[f64]> {
    let mut marks = sums.values("mark");
    let judges = sums.values("judges").iter();
    let records = judges.map(|judges| {
        let (record, rest) = marks.split_at((*judges as usize).min(marks.len()));
        marks = rest;
        record
    });
    records.collect()
}

const SHOWN: [(&str, Cell); 9] = [
    ("marks", Cell::Count("marks")),
    ("mean", Cell::Spread("mean", "sd", 2)),
    ("lower", Cell::Made(|row| quartile(row, "lower"))),
    ("median", Cell::Made(|row| quartile(row, "median"))),
    ("upper", Cell::Made(|row| quartile(row, "upper"))),
    ("records", Cell::Count("records")),
    ("spread", Cell::Number("spread", 2)),
    ("\u{3b1}", Cell::Number("alpha", 2)),
    ("95%", Cell::Made(ends_of_alpha)),
];

fn ends_of_alpha(row: &Row) -> String {
    let ends = row.inner("alpha_interval");
    match ends.number("low").zip(ends.number("high")) {
        Some((low, high)) => format!("{low:.2} to {high:.2}"),
        None => number(None, 2),
    }
}

fn quartile(row: &Row, name: &str) -> String {
    number(row.inner("quartiles").number(name), 2)
}

fn by_criterion(_: &SessionObservations<'_>, one: &Observation<'_>) -> Option<Key> {
    Some(vec![one.at.item?.into()])
}

impl Paper for Judging {
    const GAMES: &'static [&'static str] = &[JUDGING];

    const PAPERS: &'static Papers = &published::PAPERS;

    const SECTIONS: &'static [&'static Section] = &[&CRITERIA];

    type Kept = ();

    fn observe<'a>(&self, record: &'a StoredRecord) -> Option<SessionObservations<'a>> {
        reading::observe(record)
    }

    fn measures(&self, gathered: &Gathered<()>) -> Row {
        Row::default()
            .with(reading::ABOUT, gathered.fact(reading::ABOUT))
            .with(CRITERIA.name, gathered.rows(CRITERIA.name))
    }

    /// What is judged is often a setting of its own.
    const POOLS: &'static [&'static str] = &[AGENTS, PERSONS];

    fn pool(head: &SettingHead) -> &'static str {
        reading::about(&head.label())
    }

    fn tables(settings: &[Setting], layout: Layout) -> String {
        let title = format!("Marks of {} of judging", sessions_of(settings, "session"));
        let tables = SettingTables { settings, layout };
        let table = tables.table(TITLE, columns("criterion", headings(&SHOWN)), |setting| {
            let rows = setting.rows("criteria").iter().map(|row| {
                Line::all(
                    &row.word("criterion").replace('_', " "),
                    cells_of(row, &SHOWN),
                )
            });
            rows.collect()
        });
        let rest = in_json("Setting by setting", layout);
        paragraphs([Some(title), table, Some(rest)])
    }
}

#[cfg(test)]
mod tests;
