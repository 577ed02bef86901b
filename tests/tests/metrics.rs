//! Every service answers Prometheus at the address it is given, and counts what
//! it did; logs come as text or as JSON.

use agon_tests::binary::{self, Ended, Role};
use agon_tests::cluster::Cluster;
use agon_tests::model_server::{ModelServer, get};
use agon_tests::redis::free_port;
use agon_tests::runs;

/// The value of a metric without labels, or the sum over its labels.
fn value(address: &str, name: &str) -> f64 {
    let text = get(address, "/metrics");
    let lines = text
        .lines()
        .filter(|line| line.starts_with(name) && !line.starts_with('#'));
    let numbers = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    numbers.sum()
}

#[test]
fn services_count_what_they_did() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&[]);
    let mut cluster = Cluster::start(folder.path(), None, &models, 0);
    let metrics = format!("127.0.0.1:{}", free_port());
    let (coordinator, gateway) = (cluster.coordinator_url(), cluster.gateway_url());
    let (worker, _) = Role::start(&[
        "worker",
        "--coordinator",
        &coordinator,
        "--gateway",
        &gateway,
        "--metrics",
        &metrics,
    ]);
    cluster.workers.push(worker);
    let experiment = "name = \"counted\"\nrepeats = 3\n[players.subject]\nkind = \"model\"\nmodel = \"any\"\n\
                      [[games]]\ngame = \"divide_dollar\"\nparams = { rounds = 2 }\n\
                      seats = [{ player = \"subject\", count = 3 }]\n";
    let experiment = runs::write(folder.path(), experiment);
    cluster.run(&experiment, &folder.path().join("out"));
    assert_eq!(value(&metrics, "agon_worker_sessions_ended_total"), 3.0);
    assert_eq!(value(&metrics, "agon_worker_sessions_running"), 0.0);
    let text = get(&metrics, "/metrics");
    assert!(
        text.contains("# HELP agon_worker_sessions_ended_total Tries that ended"),
        "{text}"
    );
    assert_eq!(get(&metrics, "/healthz"), "ok\n");
}

#[test]
fn a_run_in_one_process_has_the_metrics_of_all_roles() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&["--latency", "50ms"]);
    let metrics = format!("127.0.0.1:{}", free_port());
    let experiment = runs::write(folder.path(), runs::MIXED)
        .display()
        .to_string();
    let (base_url, data) = (
        models.base_url(),
        folder.path().join("data").display().to_string(),
    );
    let mut running = Role::start_silent(&[
        "run",
        &experiment,
        "--base-url",
        &base_url,
        "--data",
        &data,
        "--metrics",
        &metrics,
    ]);
    agon_tests::waiting::until("some decisions are made", || models.count("requests") > 50);
    let text = get(&metrics, "/metrics");
    for role in ["agon_worker_", "agon_coordinator_", "agon_gateway_"] {
        assert!(text.contains(role), "no {role} in {text}");
    }
    assert_eq!(running.end().0, Some(0));
}

#[test]
fn json_logs_are_json_on_every_line() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let arguments = [
        "run",
        "gamma-bench/quick-start",
        "--repeats",
        "1",
        "--quiet",
        "--data",
        &data,
        "--log",
        "debug",
        "--log-format",
        "json",
    ];
    let ended = Ended::from(binary::command(&arguments).output().unwrap()).expect_code(0);
    let lines: Vec<&str> = ended.err.lines().collect();
    assert!(lines.len() > 5, "{}", ended.err);
    for line in lines {
        let parsed: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(parsed["level"].is_string(), "{line}");
    }
}
