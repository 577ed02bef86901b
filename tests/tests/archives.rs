//! The archive of a coordinator, read where it lies: tables, logs and exports of it are those of the
//! run that fetched the same sessions, and nothing has to be submitted for them.

use std::fs;
use std::path::Path;

use agon_tests::binary::run;
use agon_tests::cluster::{Cluster, Flags};
use agon_tests::runs::{self, MIXED};
use agon_tests::waiting::until;

/// Whether all records of an experiment have arrived.
fn is_complete(archive: &Path, sessions: usize) -> bool {
    let entries = fs::read_dir(archive.join("mixed")).into_iter().flatten();
    let indices = entries.flatten().map(|entry| entry.path());
    let indices = indices.filter(|path| path.to_string_lossy().ends_with(".index.json"));
    let listed = indices.map(|path| {
        let index: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        index["sessions"].as_array().unwrap().len()
    });
    listed.sum::<usize>() == sessions
}

#[test]
fn archive_is_read_as_the_run_that_fetched_it_without_a_coordinator() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let place = archive.display().to_string();
    let models = runs::model_server("1ms");
    let flags = Flags {
        coordinator: &["--archive", &place],
        ..Flags::default()
    };
    let cluster = Cluster::start_with(folder.path(), None, &models, 1, flags);
    let experiment = runs::write(folder.path(), MIXED);
    let out = folder.path().join("out");
    let records = cluster.run(&experiment, &out);
    let sessions = records.iter().filter(|byte| **byte == b'\n').count();
    until("the archive holds every session", || {
        is_complete(&archive, sessions)
    });
    drop(cluster);
    let (archived, fetched) = (archive.join("mixed"), out.display().to_string());
    let archived = archived.display().to_string();
    let exports = |place: &str, name: &str| {
        let to = folder.path().join(name);
        let shown = to.display().to_string();
        let _ = run(&["export", place, "--format", "csv", "-o", &shown]).expect_code(0);
        let read = |table: &str| fs::read_to_string(to.join(table)).unwrap();
        let mut sessions: Vec<String> = read("sessions.csv").lines().map(str::to_owned).collect();
        sessions.sort();
        sessions
    };
    // Costs and times lie in the telemetry, which is read beside the records.
    assert_eq!(exports(&archived, "a"), exports(&fetched, "b"));
    let report = run(&["report", &archived]).expect_code(0);
    let counted = format!("{sessions} sessions");
    assert!(report.out.contains(&counted), "{}", report.out);
    let first = String::from_utf8_lossy(&records);
    let first: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    let session = first["session"].as_str().unwrap();
    let show = |place: &str| run(&["show", session, "--results", place, "--prompts"]);
    let shown = show(&archived).expect_code(0).out;
    assert_eq!(shown, show(&fetched).expect_code(0).out);
}
