//! A session of a hundred megabytes goes the whole way that any session goes, and a record of more than
//! any may have is refused in one line, whoever reads it.

use std::fs;
use std::path::Path;

use agon_engine::extent::RECORD;
use agon_tests::binary::{Ended, run};
use agon_tests::cluster::{Cluster, Flags};
use agon_tests::redis::RedisServer;
use agon_tests::runs;
use agon_tests::scripted_server::ScriptedServer;
use agon_tests::talker::talker;
use agon_tests::waiting::until;

/// 640 decisions.
const EXPERIMENT: &str = r#"
name = "large"
[players.talker]
kind = "model"
model = "any"
[[games]]
game = "divide_dollar"
params = { rounds = 64 }
seats = [{ player = "talker", count = 10 }]
"#;

/// Letters of what is thought before each reply, and of a reply.
const THOUGHT: usize = 150_000;
const REPLY: usize = 5_000;

/// Whether the record has left the journal for the archive, in a folder or in Redis.
fn is_archived(folder: &Path, redis: Option<&RedisServer>) -> bool {
    if let Some(redis) = redis {
        let index =
            |number| format!("{{agon}}:journal:v1:blob:archive/large/{number:06}.index.json");
        return (0..2).any(|number| redis.ask(&["GET", &index(number)]).is_some());
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        let is_index = path.to_string_lossy().ends_with(".index.json");
        is_index || (path.is_dir() && is_archived(&path, None))
    })
}

/// What a cluster makes of the experiment, fetched by the run, and once more out of the archive.
fn in_cluster(redis: Option<&RedisServer>, models: &ScriptedServer) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start_at(
        folder.path(),
        redis.map(RedisServer::url).as_deref(),
        &models.base_url(),
        1,
        Flags::default(),
    );
    let experiment = runs::write(folder.path(), EXPERIMENT);
    let records = cluster.run(&experiment, &folder.path().join("run"));
    let url = cluster.coordinator_url();
    until("the record is archived", || {
        is_archived(folder.path(), redis)
    });
    let out = folder.path().join("pulled").display().to_string();
    let pull = [
        "results",
        "pull",
        "large",
        "--coordinator",
        &url,
        "-o",
        &out,
    ];
    let _ = run(&pull).expect_code(0);
    assert!(runs::records(out.as_ref()) == records);
    records
}

#[test]
fn session_of_a_hundred_megabytes_is_handed_in_stored_fetched_and_verified() {
    let models = talker(THOUGHT, REPLY, "bid");
    let (base_url, folder) = (models.base_url(), tempfile::tempdir().unwrap());
    let (out, _) = runs::run_in(folder.path(), EXPERIMENT, &["--base-url", &base_url]);
    let embedded = runs::records(&out);
    assert!(embedded.len() >= 100_000_000, "{}", embedded.len());
    assert_eq!(embedded.iter().filter(|byte| **byte == b'\n').count(), 1);
    assert!(in_cluster(None, &models) == embedded, "on files");
    let redis = RedisServer::start();
    assert!(in_cluster(Some(&redis), &models) == embedded, "on Redis");
    let records = out.join("records.jsonl").display().to_string();
    let verified = run(&["verify", &records]).expect_code(0);
    assert!(
        verified.out.contains("1 of 1 records verified"),
        "{}",
        verified.out
    );
}

/// What is said of a record whose last reply is so long that its line has so many bytes.
fn read(bytes: u64) -> [Ended; 3] {
    let folder = tempfile::tempdir().unwrap();
    let base_url = runs::model_server("0ms");
    let flags = ["--base-url", &base_url.base_url()];
    let (out, _) = runs::run_in(folder.path(), &runs::dividers("short", 1), &flags);
    let line = String::from_utf8(runs::records(&out)).unwrap();
    let (before, after) = line.trim_end().rsplit_once("\"reply\":\"").unwrap();
    let missing = bytes as usize - line.trim_end().len();
    let line = format!("{before}\"reply\":\"{}{after}\n", "x".repeat(missing));
    let path = folder.path().join("long.jsonl");
    fs::write(&path, line).unwrap();
    let path = path.display().to_string();
    let show = ["show", "short", "--results", &path];
    [run(&["verify", &path]), run(&["report", &path]), run(&show)]
}

#[test]
fn record_that_is_one_byte_too_long_is_refused_in_one_line() {
    let [verified, reported, shown] = read(RECORD.bytes);
    // Its reply is no longer what the model said; it is read, and played again.
    assert_eq!(verified.code, Some(1), "{}", verified.err);
    let _ = (reported.expect_code(0), shown.expect_code(0));
    for refused in read(RECORD.bytes + 1) {
        assert_ne!(refused.code, Some(0));
        let told = refused
            .err
            .lines()
            .filter(|line| line.contains("104857600"));
        assert_eq!(told.count(), 1, "{}", refused.err);
    }
}
