//! The archive of a coordinator, read where it lies, in a folder or in a bucket: tables, logs and exports
//! of it are those of the run that fetched the same sessions, and nothing has to be submitted for
//! them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use agon_tests::binary::{self, Ended, run};
use agon_tests::cluster::{Cluster, Flags};
use agon_tests::left_out::left_out;
use agon_tests::runs::{self, MIXED};
use agon_tests::s3::S3Server;
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

/// An experiment that was played, its archive, and what a run fetched of it.
struct Archived {
    folder: tempfile::TempDir,
    sessions: usize,
    /// The id of one of them.
    session: String,
    archive: PathBuf,
    fetched: String,
}

impl Archived {
    fn new() -> Self {
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
        let sessions = runs::parsed(&records);
        until("the archive holds every session", || {
            is_complete(&archive, sessions.len())
        });
        Self {
            folder,
            sessions: sessions.len(),
            session: sessions[0]["session"].as_str().unwrap().to_owned(),
            archive: archive.join("mixed"),
            fetched: out.display().to_string(),
        }
    }

    fn export(&self, place: &str, command: impl Fn(&[&str]) -> Ended) -> Vec<String> {
        let to = tempfile::tempdir_in(self.folder.path()).unwrap();
        let to = to.path().join("tables");
        let shown = to.display().to_string();
        let _ = command(&["export", place, "--format", "csv", "-o", &shown]).expect_code(0);
        let sessions = fs::read_to_string(to.join("sessions.csv")).unwrap();
        let mut sessions: Vec<String> = sessions.lines().map(str::to_owned).collect();
        sessions.sort();
        sessions
    }

    /// Everything that reads it there comes to what the run has.
    fn is_read_at(&self, place: &str, command: impl Fn(&[&str]) -> Ended) {
        // Costs and times lie in the telemetry, which is read beside the records.
        assert_eq!(
            self.export(place, &command),
            self.export(&self.fetched, run)
        );
        let report = command(&["report", place]).expect_code(0);
        let counted = format!("{} sessions", self.sessions);
        assert!(report.out.contains(&counted), "{}", report.out);
        let show = ["show", &self.session, "--prompts", "--results"];
        let shown = command(&[&show[..], &[place]].concat()).expect_code(0).out;
        let fetched = run(&[&show[..], &[&self.fetched]].concat()).expect_code(0);
        assert_eq!(shown, fetched.out);
        let listed = command(&["show", place]).expect_code(0).out;
        assert!(listed.contains(&self.session[..8]), "{listed}");
        let verified = command(&["verify", place]).expect_code(0).out;
        let all = format!("{0} of {0} records verified", self.sessions);
        assert!(verified.contains(&all), "{verified}");
    }
}

#[test]
fn archive_is_read_as_the_run_that_fetched_it_without_a_coordinator() {
    let archived = Archived::new();
    archived.is_read_at(&archived.archive.display().to_string(), run);
}

fn ended(mut command: Command) -> Ended {
    command.output().unwrap().into()
}

#[test]
fn archive_in_a_bucket_is_read_as_the_run_that_fetched_it_and_what_is_missing_is_one_line() {
    let server = match S3Server::start() {
        Ok(server) => server,
        Err(why) => return left_out("an archive in a bucket", &why),
    };
    let archived = Archived::new();
    for file in fs::read_dir(&archived.archive).unwrap().flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        let bytes = fs::read(file.path()).unwrap();
        server.request("PUT", &format!("runs/mixed/{name}"), &bytes);
    }
    let at_server = |arguments: &[&str]| {
        let mut command = binary::command(arguments);
        command.envs(server.variables());
        ended(command)
    };
    archived.is_read_at("s3://bucket/runs/mixed", at_server);
    archived.is_read_at("s3://bucket/runs", at_server);
    let without_credentials = |arguments: &[&str]| {
        let mut command = binary::command(arguments);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
            command.env_remove(name);
        }
        ended(command)
    };
    for command in ["report", "show", "verify"] {
        let empty = at_server(&[command, "s3://bucket/nothing"]).expect_code(2);
        let elsewhere = at_server(&[command, "s3://no-such-bucket/runs"]).expect_code(3);
        let nobody = without_credentials(&[command, "s3://bucket/runs"]).expect_code(3);
        for (ended, said) in [
            (empty, "s3://bucket/nothing: no .jsonl or .jsonl.gz file"),
            (elsewhere, "NoSuchBucket"),
            (nobody, "AWS_ACCESS_KEY_ID"),
        ] {
            assert!(ended.err.contains(said), "{command}: {}", ended.err);
            assert_eq!(ended.err.trim().lines().count(), 1, "{}", ended.err);
        }
    }
    let named = "s3://bucket/runs/mixed/0.records.jsonl.gz";
    let missing = at_server(&["report", named]).expect_code(2);
    assert!(
        missing.err.contains("no finished session"),
        "{}",
        missing.err
    );
}
