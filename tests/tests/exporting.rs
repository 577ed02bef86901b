//! Exports as other programs read them: Parquet by an independent reader, CSV and JSON lines as text,
//! with the same totals, every session once.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use agon_report::export::{TABLES, Type};
use agon_tests::binary::run;
use agon_tests::tree;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

/// Rows and the sum of each column of numbers, of a table in some format.
#[derive(Debug, Default, PartialEq)]
struct Totals {
    rows: u64,
    /// In millionths, by column.
    sums: BTreeMap<String, i128>,
    /// Bytes of all text.
    text: usize,
}

impl Totals {
    fn number(&mut self, column: &str, number: f64) {
        let millionths = (number * 1e6).round() as i128;
        *self.sums.entry(column.to_owned()).or_default() += millionths;
    }
}

fn of_parquet(file: &Path) -> Totals {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    let mut totals = Totals::default();
    for row in reader.get_row_iter(None).unwrap() {
        totals.rows += 1;
        for (column, field) in row.unwrap().get_column_iter() {
            match field {
                Field::Null => {}
                Field::Long(number) => totals.number(column, *number as f64),
                Field::Double(number) => totals.number(column, *number),
                Field::Bool(flag) => totals.number(column, f64::from(*flag)),
                Field::Str(text) => totals.text += text.len(),
                other => panic!("{column}: {other:?}"),
            }
        }
    }
    totals
}

fn of_json(file: &Path) -> Totals {
    let mut totals = Totals::default();
    for line in fs::read_to_string(file).unwrap().lines() {
        totals.rows += 1;
        let row: BTreeMap<String, Value> = serde_json::from_str(line).unwrap();
        for (column, value) in row {
            match value {
                Value::Null => {}
                Value::Bool(flag) => totals.number(&column, f64::from(flag)),
                Value::Number(number) => totals.number(&column, number.as_f64().unwrap()),
                Value::String(text) => totals.text += text.len(),
                other => panic!("{column}: {other}"),
            }
        }
    }
    totals
}

fn of_csv(file: &Path, table: &str) -> Totals {
    let table = TABLES.iter().find(|one| one.name == table).unwrap();
    let mut totals = Totals::default();
    for row in csv::Reader::from_path(file).unwrap().records() {
        totals.rows += 1;
        let row = row.unwrap();
        for (column, cell) in table.columns.iter().zip(&row) {
            match (column.kind, cell) {
                (_, "") => {}
                (Type::Text, text) => totals.text += text.len(),
                (Type::Flag, flag) => totals.number(column.name, f64::from(flag == "true")),
                (_, number) => totals.number(column.name, number.parse().unwrap()),
            }
        }
    }
    totals
}

#[test]
fn all_formats_hold_the_same_of_every_session_once() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let data = place("data");
    let games = tree::recorded().join("gamma").display().to_string();
    let _ = run(&["import", &games, "--data", &data]).expect_code(0);
    let records = place("data/runs/imported-games/records.jsonl");
    for format in ["parquet", "csv", "jsonl"] {
        // The file is the same run again.
        let export = ["export", "imported-games", &records, "--data", &data];
        let out = place(format);
        let ended = run(&[&export[..], &["--format", format, "-o", &out]].concat());
        let ended = ended.expect_code(0);
        assert!(ended.out.contains("sessions: 512 rows"), "{}", ended.out);
        assert!(
            ended.out.contains("512 sessions lay in several places"),
            "{}",
            ended.out
        );
    }
    for table in &TABLES {
        let file = |format: &str| {
            folder
                .path()
                .join(format)
                .join(format!("{}.{format}", table.name))
        };
        let parquet = of_parquet(&file("parquet"));
        assert_eq!(parquet, of_json(&file("jsonl")), "{}", table.name);
        assert_eq!(parquet, of_csv(&file("csv"), table.name), "{}", table.name);
    }
    let sessions = of_parquet(&folder.path().join("parquet/sessions.parquet"));
    let seats = of_parquet(&folder.path().join("parquet/seats.parquet"));
    assert_eq!((sessions.rows, seats.rows), (512, 5_120));
    assert_eq!(sessions.sums["asks"], seats.sums["asks"]);
    // What is there is not overwritten.
    let again = run(&["export", "--data", &data, "-o", &place("csv")]).expect_code(2);
    assert!(
        again.err.contains("nothing is overwritten"),
        "{}",
        again.err
    );
}

#[test]
fn partitions_hold_what_the_whole_holds() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let data = place("data");
    let games = tree::recorded().join("gamma").display().to_string();
    let _ = run(&["import", &games, "--data", &data]).expect_code(0);
    let export = ["export", "--data", &data, "--tables", "sessions"];
    let whole = ["-o", &place("whole")];
    let parted = ["--partition", "game", "-o", &place("parted")];
    let _ = run(&[&export[..], &whole].concat()).expect_code(0);
    let _ = run(&[&export[..], &parted].concat()).expect_code(0);
    let whole = of_parquet(&folder.path().join("whole/sessions.parquet"));
    let files = fs::read_dir(folder.path().join("parted/sessions")).unwrap();
    let files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 8, "{files:?}");
    let rows: u64 = files.iter().map(|file| of_parquet(file).rows).sum();
    assert_eq!(rows, whole.rows);
    let pirates = of_parquet(&folder.path().join("parted/sessions/pirate.parquet"));
    assert!(pirates.rows > 0 && pirates.rows < whole.rows);
}

#[test]
fn what_a_killed_export_left_is_cleared_and_one_at_work_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let (data, out) = (place("data"), place("tables"));
    let games = tree::recorded().join("gamma").display().to_string();
    let _ = run(&["import", &games, "--data", &data]).expect_code(0);
    let draft = folder.path().join(".tables.part");
    fs::create_dir_all(draft.join("sessions")).unwrap();
    fs::write(draft.join("seats.parquet"), "half of it").unwrap();
    let lock = File::create(draft.join(".lock")).unwrap();
    lock.lock().unwrap();
    let export = ["export", "--data", &data, "--out", &out];
    let refused = run(&export).expect_code(3);
    assert!(
        refused.err.contains("another agon export"),
        "{}",
        refused.err
    );
    assert!(draft.join("seats.parquet").exists());
    drop(lock);
    let _ = run(&export).expect_code(0);
    assert!(!draft.exists());
    let left = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let left: Vec<String> = left.map(|name| name.into_string().unwrap()).collect();
    assert!(!left.contains(&".lock".to_owned()), "{left:?}");
    let seats = fs::read(folder.path().join("tables/seats.parquet")).unwrap();
    assert!(seats.starts_with(b"PAR1"));
}

#[test]
fn the_documentation_has_every_column_with_its_type_and_meaning() {
    let documented = fs::read_to_string(tree::root().join("docs/exports.md")).unwrap();
    let (_, shared) = documented
        .split_once("\n## Columns of several tables\n")
        .unwrap();
    let shared = shared.split("\n## ").next().unwrap();
    for table in &TABLES {
        let (_, section) = documented
            .split_once(&format!("\n## {}\n", table.name))
            .unwrap();
        let section = section.split("\n## ").next().unwrap();
        for column in table.columns {
            let kind = format!("{:?}", column.kind).to_lowercase();
            let row = format!("- `{}` ({kind}): {}\n", column.name, column.about);
            let is_shared =
                shared.contains(&row) && section.contains(&format!("`{}`", column.name));
            assert!(is_shared || section.contains(&row), "{}: {row}", table.name);
        }
    }
}
