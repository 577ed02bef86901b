//! Checks of coordinators and gateways: real processes, with and without tokens, TLS, workers, right
//! keys and a right configuration.

use std::fs;
use std::path::Path;

use agon_tests::binary::{Ended, Role, run};
use agon_tests::cluster::Cluster;
use agon_tests::redis::{RedisServer, free_port};
use agon_tests::runs;
use agon_tests::scripted_server::{Said, ScriptedServer};
use agon_tests::waiting::until;

use super::{doctor, doctor_in, expect};

#[test]
fn cluster_at_work_passes_every_check() {
    let folder = tempfile::tempdir().unwrap();
    let models = runs::model_server("0ms");
    let cluster = Cluster::start(folder.path(), None, &models, 2);
    let experiment = runs::write(folder.path(), &runs::dividers("checked", 1));
    cluster.run(&experiment, &folder.path().join("out"));
    let (coordinator, gateway) = (cluster.coordinator_url(), cluster.gateway_url());
    let ended = doctor(&["--coordinator", &coordinator, "--gateway", &gateway]).expect_code(0);
    expect(
        &ended,
        "ok",
        &format!("coordinator {coordinator}"),
        "in charge",
    );
    expect(
        &ended,
        "ok",
        "coordinator token",
        "none is needed here, 1 experiment",
    );
    expect(&ended, "ok", "workers", "2 connected");
    expect(&ended, "ok", &format!("gateway {gateway}"), "serves");
    expect(&ended, "ok", "gateway token", "none is needed here");
    expect(&ended, "ok", "gateway configuration", "is in use");
    expect(&ended, "ok", "gateway keys", "1 key in use");
    expect(&ended, "ok", "gateway circuits", "all closed");
}

#[test]
fn service_that_is_away_is_told() {
    let gone = format!("http://127.0.0.1:{}", free_port());
    let ended = doctor(&["--coordinator", &gone, "--gateway", &gone]).expect_code(1);
    expect(
        &ended,
        "fail",
        &format!("coordinator {gone}"),
        "; start it, or correct the address",
    );
    expect(
        &ended,
        "fail",
        &format!("gateway {gone}"),
        "; start it, or correct the address",
    );
    assert!(
        ended.out.contains("no coordinator answers"),
        "{}",
        ended.out
    );
}

/// A role on the Redis at an address, which may be away.
fn on_redis(role: &str, redis: &str) -> (Role, String) {
    let arguments = [role, "--listen", "127.0.0.1:0", "--redis", redis];
    let (role, address) = Role::listening(&arguments);
    (role, format!("http://{address}"))
}

#[test]
fn one_coordinator_in_charge_and_others_that_stand_by_are_as_they_should_be() {
    let redis = RedisServer::start();
    let (_one, first) = on_redis("coordinator", &redis.url());
    let (_two, second) = on_redis("coordinator", &redis.url());
    let both = format!("{first},{second}");
    let look = || doctor(&["--coordinator", &both]);
    until("one is in charge", || look().out.contains(": in charge"));
    let ended = look().expect_code(0);
    let in_charge = ended.out.lines();
    let in_charge = in_charge.filter(|line| line.ends_with(": in charge"));
    assert_eq!(in_charge.count(), 1, "{}", ended.out);
    let stands_by = "is not in charge: stands by";
    assert!(ended.out.contains(stands_by), "{}", ended.out);
    let other = tempfile::tempdir().unwrap();
    let (_other, third) = coordinator_on(other.path());
    let ended = doctor(&["--coordinator", &format!("{both},{third}")]);
    expect(
        &ended,
        "warn",
        "coordinators",
        "; give them the same --redis",
    );
}

#[test]
fn services_whose_redis_is_away_are_told() {
    let away = format!("redis://127.0.0.1:{}", free_port());
    let (_coordinator, coordinator) = on_redis("coordinator", &away);
    let (_gateway, gateway) = on_redis("gateway", &away);
    let flags = ["--coordinator", &coordinator, "--gateway", &gateway];
    let ended = doctor(&flags).expect_code(1);
    expect(
        &ended,
        "fail",
        "coordinators",
        "; see whether their store answers",
    );
    let gateway = format!("gateway {gateway}");
    expect(&ended, "fail", &gateway, "; see whether its Redis answers");
}

#[test]
fn coordinator_whose_redis_dies_later_no_longer_says_that_it_is_in_charge() {
    let mut redis = RedisServer::start();
    let (_coordinator, url) = on_redis("coordinator", &redis.url());
    let look = || doctor(&["--coordinator", &url]);
    until("it is in charge", || look().out.contains(": in charge"));
    redis.kill();
    until("it no longer says so", || {
        look().out.contains("nobody is in charge of the queue")
    });
    redis.restart();
    until("it says so again", || look().out.contains(": in charge"));
}

/// Makes a token in a data folder.
fn token(data: &Path, scope: &str) -> String {
    let data = data.display().to_string();
    let made = run(&["token", "create", "--scope", scope, "--data", &data]);
    made.expect_code(0).out.trim().to_owned()
}

fn coordinator_on(data: &Path) -> (Role, String) {
    let data = data.display().to_string();
    let (role, address) =
        Role::listening(&["coordinator", "--listen", "127.0.0.1:0", "--data", &data]);
    (role, format!("http://{address}"))
}

#[test]
fn tokens_that_are_missing_unknown_or_too_narrow_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (admin, worker) = (
        token(folder.path(), "admin"),
        token(folder.path(), "worker"),
    );
    let (_coordinator, url) = coordinator_on(folder.path());
    let elsewhere = tempfile::tempdir().unwrap();
    let look = |token: &str| {
        let variables = [("AGON_TOKEN", token)];
        let ended = doctor_in(elsewhere.path(), &["--coordinator", &url], &variables);
        assert!(
            token.is_empty() || !ended.out.contains(token),
            "{}",
            ended.out
        );
        ended
    };
    let check = "coordinator token";
    let ended = look("").expect_code(1);
    expect(&ended, "fail", check, "this door wants a token");
    let ended = look("agon_00000000_unknown").expect_code(1);
    expect(&ended, "fail", check, "; `agon token create` makes one");
    let ended = look(&worker).expect_code(0);
    expect(
        &ended,
        "warn",
        check,
        "that takes the scope read or admin; use a token",
    );
    let ended = look(&admin).expect_code(0);
    expect(&ended, "ok", check, "accepted, 0 experiments");
    assert!(
        ended.out.contains("workers (no experiment is there"),
        "{}",
        ended.out
    );
}

#[test]
fn door_that_knows_no_tokens_beside_others_that_do_is_a_fault() {
    let (known, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let admin = token(known.path(), "admin");
    let (_right, right) = coordinator_on(known.path());
    let (_wrong, wrong) = coordinator_on(other.path());
    let elsewhere = tempfile::tempdir().unwrap();
    let data = known.path().display().to_string();
    let look = |url: &str, more: &[&str]| {
        let variables = [("AGON_TOKEN", &*admin)];
        let flags = [&["--coordinator", url], more].concat();
        doctor_in(elsewhere.path(), &flags, &variables)
    };
    let ended = look(&right, &[]).expect_code(0);
    assert!(!ended.out.contains("coordinator door"), "{}", ended.out);
    let ended = look(&wrong, &["--data", &data]).expect_code(1);
    expect(&ended, "fail", "coordinator door", "lets in whoever comes");
    // It may be meant so, where no installation is named.
    let ended = look(&wrong, &[]).expect_code(0);
    expect(&ended, "warn", "coordinator door", "lets in whoever comes");
    let redis = RedisServer::start();
    let (_gateway, gateway) = on_redis("gateway", &redis.url());
    let variables = [("AGON_TOKEN", &*admin)];
    let flags = ["--gateway", &gateway, "--data", &data];
    let ended = doctor_in(elsewhere.path(), &flags, &variables).expect_code(1);
    expect(&ended, "fail", "gateway door", "lets in whoever comes");
}

#[test]
fn certificate_of_a_service_is_accepted_by_those_who_know_its_ca() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("cert"), made.cert.pem()).unwrap();
    fs::write(at("key"), made.signing_key.serialize_pem()).unwrap();
    let (cert, key, data) = (at("cert"), at("key"), at("data"));
    let (_coordinator, address) = Role::listening(&[
        "coordinator",
        "--listen",
        "127.0.0.1:0",
        "--data",
        &data,
        "--tls-cert",
        &cert,
        "--tls-key",
        &key,
    ]);
    let port = address.rsplit(':').next().unwrap();
    let url = format!("https://localhost:{port}");
    let name = format!("coordinator {url}");
    let ended = doctor(&["--coordinator", &url, "--ca", &cert]).expect_code(0);
    expect(&ended, "ok", &name, "in charge");
    let ended = doctor(&["--coordinator", &url]).expect_code(1);
    expect(
        &ended,
        "fail",
        &name,
        "; name the CA of its certificate with --ca",
    );
    let in_clear = format!("http://localhost:{port}");
    let ended = doctor(&["--coordinator", &in_clear]).expect_code(1);
    expect(
        &ended,
        "fail",
        &format!("coordinator {in_clear}"),
        "(https:// if it serves TLS)",
    );
}

#[test]
fn sessions_that_wait_without_a_worker_fail() {
    let folder = tempfile::tempdir().unwrap();
    let (_coordinator, url) = coordinator_on(folder.path());
    let text = runs::rule_bidders("waits", 1, "");
    let experiment = runs::write(folder.path(), &text).display().to_string();
    let out = folder.path().join("out").display().to_string();
    let flags = ["--coordinator", &url, "--quiet", "--out", &out];
    let _run = Role::start_silent(&[&["run", &experiment][..], &flags].concat());
    let look = || doctor(&["--coordinator", &url]);
    until("its sessions wait", || look().out.contains("sessions wait"));
    expect(
        &look().expect_code(1),
        "fail",
        "workers",
        "; start `agon worker`",
    );
}

/// A cluster with one key of a provider that answers so.
fn with_provider(status: u16, body: &'static str) -> (Cluster, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let models = runs::model_server("0ms");
    let mut cluster = Cluster::start(folder.path(), None, &models, 1);
    let server = ScriptedServer::start(move |_, _| Said {
        status,
        body: body.as_bytes().to_vec(),
    });
    let key = folder.path().join("key").display().to_string();
    fs::write(&key, "sk-0123456789abcdef").unwrap();
    let keys = format!("keys = [{{ file = '{key}' }}]");
    runs::config_for(folder.path(), &server, &keys);
    cluster.gateway.kill();
    cluster.restart_gateway();
    (cluster, folder)
}

#[test]
fn configuration_that_is_not_in_use_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let models = runs::model_server("0ms");
    let cluster = Cluster::start(folder.path(), None, &models, 0);
    fs::write(folder.path().join("agon.toml"), "[nonsense]\n").unwrap();
    let gateway = cluster.gateway_url();
    let look = || doctor(&["--gateway", &gateway]);
    until("the fault is noticed", || {
        look().out.contains("is not in use")
    });
    let ended = look().expect_code(1);
    expect(
        &ended,
        "fail",
        "gateway configuration",
        "; correct the file",
    );
}

#[test]
fn key_out_of_use_is_told_with_its_reason_and_a_paused_session_too() {
    let (cluster, folder) = with_provider(401, r#"{"error":{"message":"no such key"}}"#);
    let (coordinator, gateway) = (cluster.coordinator_url(), cluster.gateway_url());
    let experiment = runs::write(folder.path(), &runs::dividers("refused", 1));
    let out = folder.path().join("out");
    let look = || doctor(&["--coordinator", &coordinator, "--gateway", &gateway]);
    let ended: Ended = runs::run_into(&experiment, &out, &["--coordinator", &coordinator]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let ended = look().expect_code(1);
    let key = folder.path().join("key").display().to_string();
    let key = format!("gateway key scripted file {key}");
    expect(&ended, "fail", &key, "no such key");
    expect(&ended, "fail", &key, "; replace it or top up");
    expect(
        &ended,
        "warn",
        "experiment refused",
        "1 session set aside; ",
    );
}

#[test]
fn open_circuit_is_told_with_what_the_provider_said() {
    let (cluster, folder) = with_provider(500, r#"{"error":{"message":"out of order"}}"#);
    let (coordinator, gateway) = (cluster.coordinator_url(), cluster.gateway_url());
    let experiment = runs::write(folder.path(), &runs::dividers("broken", 8));
    let out = folder.path().join("out");
    let _ended = runs::run_into(&experiment, &out, &["--coordinator", &coordinator]);
    let ended = doctor(&["--gateway", &gateway]);
    expect(
        &ended,
        "warn",
        "gateway circuit scripted/any",
        "; see the provider's status page",
    );
}
