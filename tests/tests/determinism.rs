//! The one rule, end to end: a session's record is the same bytes whatever ran
//! it, and no decision is asked twice of the model server while the gateway lives.

use std::thread;

use agon_tests::cluster::{Cluster, Flags};
use agon_tests::model_server::ModelServer;
use agon_tests::redis::RedisServer;
use agon_tests::runs::{self, MIXED};
use agon_tests::waiting::until;

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn one_worker_and_four_make_the_same_records() {
    let one = runs::reference(MIXED);
    assert!(one.len() > 10_000 && runs::decisions(&one) > 200);
    let fouls = runs::fouls(&one);
    assert!(
        fouls.contains_key("unreadable") && fouls.contains_key("no_reply"),
        "{fouls:?}"
    );
    let four = runs::in_process(
        scratch().path(),
        MIXED,
        &["--workers", "4", "--places", "3"],
    );
    assert!(one == four);
}

#[test]
fn repeats_of_one_setting_are_not_answered_alike() {
    let folder = scratch();
    let models = ModelServer::start(&[]);
    let experiment = r#"
name = "twice"
repeats = 2
[players.subject]
kind = "model"
model = "any"
[[games]]
game = "guess_two_thirds"
params = { rounds = 1 }
seats = [{ player = "subject", count = 8 }]
"#;
    let experiment = runs::write(folder.path(), experiment);
    let (out, data) = (folder.path().join("out"), folder.path().join("data"));
    let (base_url, data) = (models.base_url(), data.display().to_string());
    let flags = ["--base-url", &base_url, "--data", &data];
    let _ = runs::run_into(&experiment, &out, &flags).expect_code(0);
    let replies: Vec<Vec<String>> = runs::parsed(&runs::records(&out))
        .iter()
        .map(|record| {
            let decisions = record["decisions"].as_array().unwrap().iter();
            decisions
                .map(|decision| decision["reply"].to_string())
                .collect()
        })
        .collect();
    // What they are asked is the same, word for word; only their sampling seeds differ.
    assert_eq!((replies[0].len(), replies[1].len()), (8, 8));
    assert_ne!(replies[0], replies[1]);
}

#[test]
fn files_and_redis_make_the_same_records() {
    let redis = RedisServer::start();
    let shared = runs::in_process(
        scratch().path(),
        MIXED,
        &["--redis", &redis.url(), "--workers", "4"],
    );
    assert!(runs::reference(MIXED) == shared);
}

#[test]
fn separate_processes_make_the_same_records() {
    let redis = RedisServer::start();
    for store in [Some(redis.url()), None] {
        let folder = scratch();
        let models = runs::model_server("2ms");
        let cluster = Cluster::start(folder.path(), store.as_deref(), &models, 4);
        let records = cluster.run(
            &runs::write(folder.path(), MIXED),
            &folder.path().join("out"),
        );
        assert_eq!(models.count("requests"), runs::decisions(&records));
        assert!(runs::reference(MIXED) == records, "store {store:?}");
    }
}

#[test]
fn killing_a_worker_half_way_changes_nothing_and_asks_nothing_twice() {
    let redis = RedisServer::start();
    for store in [Some(redis.url()), None] {
        let folder = scratch();
        let models = runs::model_server("30ms");
        // Soon after the kill the sessions are somebody else's.
        let flags = Flags {
            coordinator: &["--lease-ttl", "2s"],
            ..Flags::default()
        };
        let mut cluster = Cluster::start_with(folder.path(), store.as_deref(), &models, 2, flags);
        let experiment = runs::write(folder.path(), MIXED);
        let out = folder.path().join("out");
        let url = cluster.coordinator_url();
        let records = thread::scope(|scope| {
            let running = scope.spawn(|| {
                let flags = ["--coordinator", url.as_str()];
                let _ = runs::run_into(&experiment, &out, &flags).expect_code(0);
                runs::records(&out)
            });
            until("half of the decisions are made", || {
                models.count("requests") > 150
            });
            cluster.workers[0].kill();
            running.join().unwrap()
        });
        assert_eq!(models.count("requests"), runs::decisions(&records));
        assert!(runs::reference(MIXED) == records, "store {store:?}");
    }
}
