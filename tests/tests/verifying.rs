//! `agon verify` as a command: faults come in the order of the lines though lines are played side by
//! side, and what would take long is begun only when it is asked for.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use agon_tests::binary::run;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Eight records of the quick start, in a folder of their own without anything beside them.
fn records(folder: &Path) -> Vec<String> {
    let data = folder.join("data").display().to_string();
    let quick = "gamma-bench/quick-start";
    let _ = run(&["run", quick, "--repeats", "1", "--data", &data]).expect_code(0);
    let text = fs::read_to_string(folder.join("data/runs/gamma-bench-quick-start/records.jsonl"));
    text.unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn faults_are_told_in_the_order_of_the_lines() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = records(folder.path());
    assert_eq!(lines.len(), 8);
    for (place, line) in lines.iter_mut().enumerate() {
        if place % 3 == 0 {
            *line = line.replacen("\"action\":", "\"action\" :", 1);
        }
    }
    let file = folder.path().join("changed.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    let ended = run(&["verify", &file.display().to_string()]).expect_code(1);
    let faults = ended.out.lines().filter(|line| line.starts_with("fault: "));
    let numbers: Vec<&str> = faults
        .filter_map(|line| line.split("changed.jsonl:").nth(1)?.split(':').next())
        .collect();
    assert_eq!(numbers, ["1", "4", "7"], "{}", ended.out);
    assert!(
        ended.out.contains("5 of 8 records verified"),
        "{}",
        ended.out
    );
}

#[test]
fn a_packed_file_that_takes_long_is_verified_when_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let lines = records(folder.path());
    let path = folder.path().join("packed.jsonl.gz");
    let mut packed = GzEncoder::new(File::create(&path).unwrap(), Compression::none());
    writeln!(packed, "{}", lines[0]).unwrap();
    // Empty lines are quick to pass over, and stored as they are they pass for no bomb.
    let mebibyte = vec![b'\n'; 1024 * 1024];
    for _ in 0..65 {
        packed.write_all(&mebibyte).unwrap();
    }
    writeln!(packed, "{}", lines[1]).unwrap();
    packed.finish().unwrap();
    let packed = path.display().to_string();
    let ended = run(&["verify", &packed]).expect_code(2);
    assert!(
        ended
            .out
            .contains("1 of 1 records verified; there are more"),
        "{}",
        ended.out
    );
    assert!(
        ended.err.contains("unpacks to more than 64 MiB of records")
            && ended.err.contains("--long"),
        "{}",
        ended.err
    );
    let long = run(&["verify", &packed, "--long"]).expect_code(0);
    assert!(long.out.contains("2 of 2 records verified"), "{}", long.out);
}
