//! The gateway as an operator runs it, as a real process: started before its
//! Redis, given other keys while it runs, and asked how it is; no key is in
//! anything that it shows.

use std::fs::{self, File};

use agon_tests::binary::{self, Role};
use agon_tests::model_server::get;
use agon_tests::redis::{RedisServer, free_port};
use agon_tests::waiting::until;

const FIRST: &str = "sk-agon-first-1f0c7d9be2a84455";
const SECOND: &str = "sk-agon-second-93ab0c7712de6788";

#[test]
fn gateway_started_before_redis_takes_other_keys_and_shows_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("key"), FIRST).unwrap();
    let text = format!(
        "[providers.p]\nbase_url = 'http://127.0.0.1:9/v1'\nkeys = [{{ file = '{}' }}]\n\
         [models.m]\nprovider = 'p'\n",
        path("key").display()
    );
    fs::write(path("agon.toml"), &text).unwrap();
    let mut redis = RedisServer::start();
    redis.kill();
    let (config, url) = (path("agon.toml").display().to_string(), redis.url());
    let metrics = format!("127.0.0.1:{}", free_port());
    let mut arguments = vec!["gateway", "--listen", "127.0.0.1:0", "--config", &config];
    arguments.extend(["--redis", &url, "--metrics", &metrics, "--log", "trace"]);
    let log = File::create(path("log")).unwrap();
    let (gateway, address) = Role::listening_with(&arguments, |command| command.stderr(log));
    let gateway_url = format!("http://{address}");
    let ask = |more: &[&str]| {
        let mut arguments = vec!["gateway", "status", "--gateway", &gateway_url];
        arguments.extend(more);
        binary::run(&arguments)
    };
    let logged = || fs::read_to_string(path("log")).unwrap();

    let away = ask(&[]);
    assert_ne!(away.code, Some(0), "{}", away.out);
    assert!(away.err.contains("redis"), "{}", away.err);
    redis.restart();
    until("the gateway has found its redis", || {
        ask(&[]).code == Some(0)
    });
    assert_eq!(logged().matches("redis does not answer yet").count(), 1);

    fs::write(path("key"), SECOND).unwrap();
    until("the second key is in use", || {
        logged().contains("1 came, 1 left")
    });
    fs::write(path("agon.toml"), format!("{text}key = '{SECOND}'\n")).unwrap();
    until("the fault is shown", || ask(&[]).out.contains("NOT in use"));
    gateway.signal("-HUP");

    let shown = [
        ask(&[]).out,
        ask(&["--json"]).expect_code(0).out,
        get(&metrics, "/metrics"),
        logged(),
        away.err,
    ];
    assert!(shown[2].contains("agon_gateway_configuration_faulty 1"));
    for text in shown {
        assert!(!text.contains(FIRST) && !text.contains(SECOND), "{text}");
    }
}
