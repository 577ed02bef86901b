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
            "x" => "at".to_owned(),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::blocks::Bar;
    use crate::plots::{PlotData, find};
    use crate::reports::Reports;
    use crate::selection::Selection;
    use crate::testing::Table;

    #[test]
    fn points_are_the_numbers_of_the_csv_and_name_their_sessions() {
        let mut plot = PlotData::new(find("payoffs").unwrap());
        let reports = Reports::default();
        for (repeat, first) in [(0, 10.0), (1, 20.0), (2, 31.0)] {
            let table = Table {
                game: "divide_dollar",
                params: json!({ "rounds": 1, "golds": 100 }),
                setting: json!({ "params.golds": 100 }),
                seats: &[("a", &[first]), ("b", &[40.0])],
                repeat,
            };
            plot.add(&table.played(), &reports);
        }
        let csv = plot.figure().csv();
        let points = plot.points();
        let names: Vec<&str> = points.columns.iter().map(|one| &*one.name).collect();
        assert!(
            !csv.contains("experiment") && !names.contains(&"link"),
            "{names:?}"
        );
        let [row, other] = &points.rows[..] else {
            panic!("{points:?}");
        };
        let Some(Bar { value, interval }) = row.bar else {
            panic!("{row:?}");
        };
        assert!((value - 61.0 / 3.0).abs() < 1e-9, "{row:?}");
        assert!(interval.is_some_and(|[low, high]| low < value && value < high));
        assert!(csv.contains(&value.to_string()), "{csv}");
        assert!(row.cells.contains(&"20.3333".to_owned()), "{row:?}");
        let axes = [("params.golds".to_owned(), json!(100))]
            .into_iter()
            .collect();
        let own = Selection::of_game("divide_dollar").setting(&axes);
        for (row, name) in [(row, "a (specified)"), (other, "b (specified)")] {
            let own = own.clone().player(name).simulated(false);
            assert_eq!(row.sessions, Some(own));
        }
    }
}
