//! The numbers of a figure as a table for pages, made of its CSV, so that both are the same. Called by
//! `drawing.rs`.

use csv::StringRecord;

use crate::blocks::{Bar, Heading, Row, Table};

/// Columns that every row has alike, or that pages do not show.
const NOT_SHOWN: [&str; 5] = ["panel", "kind", "x_axis", "y_axis", "link"];

/// Columns of numbers.
const NUMBERS: [&str; 4] = ["y", "low", "high", "n"];

/// Rows of a figure's CSV, those of lines to compare with left out.
pub(super) fn table(csv: &str) -> Table {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let headings = reader.headers().cloned().unwrap_or_default();
    let records: Vec<StringRecord> = reader.records().flatten().collect();
    let at = |name: &str| headings.iter().position(|heading| heading == name);
    let cell = |record: &StringRecord, name: &str| {
        let cell = at(name).and_then(|place| record.get(place));
        cell.unwrap_or_default().to_owned()
    };
    let number = |record: &StringRecord, name: &str| cell(record, name).parse::<f64>().ok();
    let points = || {
        let records = records.iter();
        records.filter(|record| cell(record, "kind") != "baseline" && !cell(record, "y").is_empty())
    };
    let shown = headings.iter().filter(|name| {
        !NOT_SHOWN.contains(name) && points().any(|record| !cell(record, name).is_empty())
    });
    let shown: Vec<&str> = shown.collect();
    let rows = points().map(|record| {
        let ends = number(record, "low").zip(number(record, "high"));
        let value = number(record, "y");
        Row {
            cells: shown
                .iter()
                .map(|name| in_short(&cell(record, name)))
                .collect(),
            sessions: serde_json::from_str(&cell(record, "link")).ok(),
            bar: value.map(|value| Bar {
                value,
                interval: ends.map(|(low, high)| [low, high]),
            }),
        }
    });
    let heading = |name: &&str| Heading {
        name: match *name {
            "title" => "panel".to_owned(),
            "y" => "value".to_owned(),
            name => name.to_owned(),
        },
        is_number: NUMBERS.contains(name),
    };
    Table {
        rows: rows.collect(),
        columns: shown.iter().map(heading).collect(),
    }
}

/// A number with four digits behind the point at the most; anything else as it is.
fn in_short(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(number) if cell.contains('.') => {
            let rounded = format!("{number:.4}");
            rounded
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
        }
        _ => cell.to_owned(),
    }
}
