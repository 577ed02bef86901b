//! What dies, what happens: whole runs, coordinators, gateways and Redis are
//! killed in the middle, and nothing that was done is lost or done again.

use std::thread;

use agon_tests::binary::{Role, run};
use agon_tests::cluster::{Cluster, Flags};
use agon_tests::model_server::ModelServer;
use agon_tests::redis::RedisServer;
use agon_tests::runs::{self, MIXED};
use agon_tests::waiting::until;

#[test]
fn a_killed_run_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&["--latency", "30ms"]);
    let experiment = runs::write(folder.path(), MIXED);
    let (experiment, base_url) = (experiment.display().to_string(), models.base_url());
    let (data, out) = (folder.path().join("data"), folder.path().join("out"));
    let (data, out_flag) = (data.display().to_string(), out.display().to_string());
    let arguments = runs::arguments(&experiment, &base_url, &data, &out_flag);
    let mut killed = Role::start_silent(&arguments);
    until("half of the decisions are made", || {
        models.count("requests") > 150
    });
    killed.kill();
    let asked_before = models.count("requests");
    let _ = run(&arguments).expect_code(0);
    let records = runs::records(&out);
    let under_way = runs::asking_seats(&records);
    // Only what was under way when the gateway itself died is asked again.
    let asked_twice = models.count("requests") - runs::decisions(&records);
    assert!(
        asked_twice <= under_way && asked_twice < asked_before,
        "{asked_twice} of {asked_before} were asked twice"
    );
    let again = runs::decisions(&records);
    let _ = run(&arguments).expect_code(0);
    assert_eq!(
        models.count("requests"),
        again + asked_twice,
        "a finished run asks nothing"
    );
}

#[test]
fn ctrl_c_stops_cleanly_and_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&["--latency", "30ms"]);
    let experiment = runs::write(folder.path(), MIXED);
    let (experiment, base_url) = (experiment.display().to_string(), models.base_url());
    let data = folder.path().join("data").display().to_string();
    let arguments = ["run", &experiment, "--base-url", &base_url, "--data", &data];
    let mut running = Role::start_silent(&arguments);
    until("some decisions are made", || models.count("requests") > 60);
    running.signal("-INT");
    let (code, err) = running.end();
    assert_eq!(code, Some(130), "{err}");
    assert!(
        err.contains("Run the same command again to continue"),
        "{err}"
    );
    // Everything that was asked was recorded, so nothing is asked twice.
    let _ = run(&arguments).expect_code(0);
    let records = runs::records(&folder.path().join("data/runs/mixed"));
    assert_eq!(models.count("requests"), runs::decisions(&records));
}

#[test]
fn workers_outlive_their_coordinator() {
    let redis = RedisServer::start();
    let undisturbed = runs::reference(MIXED);
    for store in [Some(redis.url()), None] {
        let folder = tempfile::tempdir().unwrap();
        let models = runs::model_server("20ms");
        let mut cluster = Cluster::start(folder.path(), store.as_deref(), &models, 2);
        let experiment = runs::write(folder.path(), MIXED);
        let out = folder.path().join("out");
        let url = cluster.coordinator_url();
        thread::scope(|scope| {
            // The one who watches is cut off with the coordinator; the experiment is not.
            let watching =
                scope.spawn(|| runs::run_into(&experiment, &out, &["--coordinator", &url]));
            until("some decisions are made", || models.count("requests") > 100);
            cluster.coordinator.kill();
            cluster.restart_coordinator();
            let _ = watching.join().unwrap();
        });
        let records = cluster.run(&experiment, &out);
        assert_eq!(
            models.count("requests"),
            runs::decisions(&records),
            "store {store:?}"
        );
        assert!(records == undisturbed, "store {store:?}");
    }
}

#[test]
fn redis_may_go_away_and_come_back() {
    let undisturbed = runs::reference(MIXED);
    let mut redis = RedisServer::start();
    let folder = tempfile::tempdir().unwrap();
    let models = runs::model_server("20ms");
    let cluster = Cluster::start(folder.path(), Some(&redis.url()), &models, 2);
    let experiment = runs::write(folder.path(), MIXED);
    let out = folder.path().join("out");
    let records = thread::scope(|scope| {
        let running = scope.spawn(|| cluster.run(&experiment, &out));
        until("some decisions are made", || models.count("requests") > 100);
        redis.kill();
        until("the coordinator misses it", || {
            let log = cluster.coordinator_log();
            log.contains("cannot append to the journal") || log.contains("granting nothing")
        });
        redis.restart();
        running.join().unwrap()
    });
    // It keeps what it has answered, and the gateway what was answered while it was away: what was
    // in flight is not asked again.
    assert_eq!(models.count("requests"), runs::decisions(&records));
    assert!(records == undisturbed, "nobody sees that Redis was away");
}

#[test]
fn a_terminated_worker_gives_its_sessions_back_and_exits_with_success() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&["--latency", "30ms"]);
    let mut cluster = Cluster::start(folder.path(), None, &models, 2);
    let experiment = runs::write(folder.path(), MIXED);
    let out = folder.path().join("out");
    let url = cluster.coordinator_url();
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            let _ = runs::run_into(&experiment, &out, &["--coordinator", &url]).expect_code(0);
        });
        until("some decisions are made", || models.count("requests") > 100);
        let (status, _) = cluster.workers[0].terminate();
        assert_eq!(status.code(), Some(0));
        running.join().unwrap();
    });
    let records = runs::records(&out);
    assert_eq!(models.count("requests"), runs::decisions(&records));
    let log = cluster.coordinator_log();
    assert!(!log.contains("a session failed"), "{log}");
    assert!(!log.contains("leases ran out"), "{log}");
}

#[test]
fn a_killed_gateway_comes_back_and_only_what_was_in_flight_is_asked_again() {
    let redis = RedisServer::start();
    for store in [Some(redis.url()), None] {
        let folder = tempfile::tempdir().unwrap();
        let models = ModelServer::start(&["--latency", "30ms"]);
        let mut cluster = Cluster::start(folder.path(), store.as_deref(), &models, 2);
        let experiment = runs::write(folder.path(), MIXED);
        let out = folder.path().join("out");
        let url = cluster.coordinator_url();
        thread::scope(|scope| {
            let running = scope.spawn(|| {
                let _ = runs::run_into(&experiment, &out, &["--coordinator", &url]).expect_code(0);
            });
            until("some decisions are made", || models.count("requests") > 100);
            cluster.gateway.kill();
            cluster.restart_gateway();
            running.join().unwrap();
        });
        let records = runs::records(&out);
        let asked_twice = models.count("requests") - runs::decisions(&records);
        let under_way = runs::asking_seats(&records);
        assert!(
            asked_twice <= under_way,
            "{asked_twice} were asked twice, {under_way} under way at most; store {store:?}"
        );
    }
}

#[test]
fn a_worker_that_was_stopped_comes_back_too_late_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&["--latency", "30ms"]);
    let flags = Flags {
        coordinator: &["--lease-ttl", "2s"],
        ..Flags::default()
    };
    let mut cluster = Cluster::start_with(folder.path(), None, &models, 2, flags);
    let experiment = runs::write(folder.path(), MIXED);
    let (out, url) = (folder.path().join("out"), cluster.coordinator_url());
    thread::scope(|scope| {
        let running = scope.spawn(|| cluster.run(&experiment, &out));
        until("some decisions are made", || models.count("requests") > 100);
        cluster.workers[0].signal("-STOP");
        // It holds sessions; the other one gets them when their leases have run out.
        let _ = running.join().unwrap();
        cluster.workers[0].signal("-CONT");
    });
    let log = cluster.coordinator_log();
    assert!(log.contains("leases ran out"), "{log}");
    let records = runs::records(&out);
    assert_eq!(models.count("requests"), runs::decisions(&records));
    // It is of use again, alone, and has handed in everything when it ends.
    cluster.workers[1].kill();
    let other = MIXED.replace("seed = 11", "seed = 12");
    let other = other.replace("name = \"mixed\"", "name = \"other\"");
    let other_folder = folder.path().join("other");
    std::fs::create_dir(&other_folder).unwrap();
    let other_out = other_folder.join("out");
    cluster.run(&runs::write(&other_folder, &other), &other_out);
    let (status, _) = cluster.workers[0].terminate();
    assert_eq!(status.code(), Some(0));
    let _ = runs::run_into(&experiment, &out, &["--coordinator", &url]).expect_code(0);
    assert!(runs::records(&out) == records, "the records are as before");
    let log = cluster.coordinator_log();
    assert!(!log.contains("different records"), "{log}");
    let alone = runs::records_in_one_process(MIXED, &models);
    assert!(alone == records, "nobody sees that a worker was stopped");
}

#[test]
fn workers_killed_now_and_then_set_nothing_aside() {
    let redis = RedisServer::start();
    for store in [Some(redis.url()), None] {
        let folder = tempfile::tempdir().unwrap();
        let models = ModelServer::start(&["--latency", "30ms"]);
        let flags = Flags {
            coordinator: &["--lease-ttl", "1s"],
            ..Flags::default()
        };
        let mut cluster = Cluster::start_with(folder.path(), store.as_deref(), &models, 3, flags);
        let experiment = runs::write(folder.path(), MIXED);
        let (out, url) = (folder.path().join("out"), cluster.coordinator_url());
        thread::scope(|scope| {
            // One that set a session aside would end with another code.
            let running = scope.spawn(|| {
                let _ = runs::run_into(&experiment, &out, &["--coordinator", &url]).expect_code(0);
            });
            for (killed, decisions) in [40, 80, 120, 160, 200, 240].into_iter().enumerate() {
                until("some decisions are made", || {
                    models.count("requests") > decisions
                });
                // Oldest first, with whatever it plays.
                cluster.workers[killed].kill();
                cluster.add_worker();
            }
            running.join().unwrap();
        });
        let log = cluster.coordinator_log();
        assert!(log.contains("leases ran out"), "{log}");
        let records = runs::records(&out);
        assert_eq!(
            models.count("requests"),
            runs::decisions(&records),
            "store {store:?}"
        );
    }
}

#[test]
fn whoever_follows_an_experiment_is_served_by_the_coordinator_that_takes_over() {
    let undisturbed = runs::reference(MIXED);
    let redis = RedisServer::start();
    let folder = tempfile::tempdir().unwrap();
    let models = runs::model_server("20ms");
    let quick = ["--lease-ttl", "2s", "--take-over-after", "2s"];
    let flags = Flags {
        coordinator: &quick,
        ..Flags::default()
    };
    let mut cluster = Cluster::start_with(folder.path(), Some(&redis.url()), &models, 0, flags);
    let (gateway, store) = (cluster.gateway_url(), redis.url());
    let standby = ["coordinator", "--listen", "127.0.0.1:0", "--redis", &store];
    let more = ["--gateway", &gateway, "--web-listen", "127.0.0.1:0"];
    let (mut standby, address) = Role::listening(&[&standby[..], &quick, &more].concat());
    let line = standby.line_with("coordinator pages: ");
    let pages = line.trim().rsplit(' ').next().unwrap().to_owned();
    // Its pages would show nothing, so they say who has what there is.
    let (status, said) = look_at(&pages);
    assert_eq!(status, 503);
    assert!(
        said.contains("this coordinator is a standby; the one in charge is"),
        "{said}"
    );
    // The standby is named first: who is in charge has to be found.
    let urls = format!("http://{address},{}", cluster.coordinator_url());
    let worker = ["worker", "--coordinator", &urls, "--gateway", &gateway];
    let _worker = Role::start(&worker);
    let experiment = runs::write(folder.path(), MIXED);
    let out = folder.path().join("out");
    thread::scope(|scope| {
        let following = scope.spawn(|| {
            let followed = runs::run_into(&experiment, &out, &["--coordinator", &urls]);
            let _ = followed.expect_code(0);
        });
        until("some decisions are made", || models.count("requests") > 100);
        // It hangs: nobody is told anything, and connections stay open.
        cluster.coordinator.signal("-STOP");
        following.join().unwrap();
    });
    cluster.coordinator.kill();
    assert!(runs::records(&out) == undisturbed);
    let list = run(&["experiments", "list", "--coordinator", &urls]).expect_code(0);
    assert!(list.out.contains("mixed"), "{}", list.out);
    assert_eq!(look_at(&pages).0, 200);
}

/// The status and text of a page.
fn look_at(address: &str) -> (u16, String) {
    agon_service_kit::server::install_crypto();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let answer = reqwest::get(address).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    })
}
