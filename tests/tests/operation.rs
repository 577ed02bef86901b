//! Services as an operator runs them, as real processes: started before their Redis, sent SIGHUP,
//! told to stop with a paid call under way, given other keys while they run, asked how they are and
//! told what has changed outside; no key is in anything that they show.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use agon_service_kit::server::{channel, install_crypto};
use agon_tests::binary::{self, Role};
use agon_tests::model_server::{ModelServer, get};
use agon_tests::redis::{RedisServer, free_port};
use agon_tests::scripted_server::{Said, ScriptedServer};
use agon_tests::waiting::until;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

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

/// What a service says of its health, as a whole and as a process.
fn health(address: &str) -> [ServingStatus; 2] {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut client = HealthClient::new(channel(&format!("http://{address}")).unwrap());
        let mut shown = [ServingStatus::Unknown; 2];
        for (name, shown) in ["", "liveness"].into_iter().zip(&mut shown) {
            let service = name.to_owned();
            let answer = client.check(HealthCheckRequest { service }).await;
            *shown = answer.unwrap().into_inner().status();
        }
        shown
    })
}

/// A role that logs into a file, where it listens, and what it has logged.
fn logging(folder: &Path, arguments: &[&str]) -> (Role, String, impl Fn() -> String + use<>) {
    let log = folder.join(format!("{}.log", arguments[0]));
    let (role, first) = Role::start_with(arguments, |command| {
        command.stderr(File::create(&log).unwrap())
    });
    let address = first.trim().rsplit(' ').next().unwrap().to_owned();
    (role, address, move || fs::read_to_string(&log).unwrap())
}

#[test]
fn coordinator_started_before_redis_is_alive_and_not_ready_until_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut redis = RedisServer::start();
    redis.kill();
    let url = redis.url();
    let arguments = ["coordinator", "--listen", "127.0.0.1:0", "--redis", &url];
    let (mut coordinator, address, logged) = logging(folder.path(), &arguments);
    let url = format!("http://{address}");
    let list = || binary::run(&["experiments", "list", "--coordinator", &url]);

    assert_eq!(
        health(&address),
        [ServingStatus::NotServing, ServingStatus::Serving]
    );
    let away = list();
    assert_ne!(away.code, Some(0), "{}", away.out);
    assert!(away.err.contains("redis"), "{}", away.err);
    redis.restart();
    until("the coordinator is ready", || {
        health(&address)[0] == ServingStatus::Serving
    });
    assert_eq!(list().code, Some(0));
    assert_eq!(logged().matches("redis does not answer yet").count(), 1);
    let (status, _) = coordinator.terminate();
    assert!(status.success(), "{status}");
}

#[test]
fn services_outlive_sighup_and_say_once_that_they_ignore_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let at = ["--listen", "127.0.0.1:0", "--data", &data];
    let services = [
        [&["coordinator"], &at[..]].concat(),
        [&["gateway"], &at[..]].concat(),
        vec!["worker"],
        vec!["sim-llm", "--listen", "127.0.0.1:0"],
    ];
    for arguments in services {
        let (mut role, _, logged) = logging(folder.path(), &arguments);
        let said = || logged().matches("SIGHUP is ignored").count();
        role.signal("-HUP");
        until("it has said so", || said() == 1);
        role.signal("-HUP");
        let (status, _) = role.terminate();
        assert!(status.success(), "{}: {status}", arguments[0]);
        assert_eq!(said(), 1, "{}", logged());
    }
}

/// A gateway with an HTTP door before a model server, a question that it is being asked, and what
/// it logs.
struct Asked {
    gateway: Role,
    models: ModelServer,
    logged: Box<dyn Fn() -> String>,
    url: String,
    body: String,
}

impl Asked {
    /// Asks a model that takes so long, and goes on once its server was asked.
    fn start(folder: &Path, latency: &str) -> (Self, JoinHandle<String>) {
        let models = ModelServer::start(&["--latency", latency]);
        let config = format!(
            "[providers.p]\nbase_url = '{}'\n[models.m]\nprovider = 'p'\n",
            models.base_url()
        );
        let file = folder.join("agon.toml");
        fs::write(&file, config).unwrap();
        let (config, data) = (file.display().to_string(), folder.display().to_string());
        let mut arguments = vec!["gateway", "--config", &config, "--data", &data];
        arguments.extend(["--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0"]);
        let (mut gateway, _, logged) = logging(folder, &arguments);
        let line = gateway.line_with("http listening on ");
        let address = line.trim().rsplit(' ').next().unwrap();
        let asked = Self {
            gateway,
            models,
            logged: Box::new(logged),
            url: format!("http://{address}/v1/chat/completions"),
            body: "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"
                .to_owned(),
        };
        let answer = asked.ask();
        until("the model is asked", || {
            asked.models.count("in_flight") == 1
        });
        (asked, answer)
    }

    /// Asks under one address; answers the body, or what went wrong.
    fn ask(&self) -> JoinHandle<String> {
        post(self.url.clone(), self.body.clone(), "run/0/0".to_owned())
    }
}

/// Asks for a decision at the HTTP door; what it says, or why nothing came.
fn post(url: String, body: String, decision: String) -> JoinHandle<String> {
    install_crypto();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let request = reqwest::Client::new().post(url).body(body);
            let request = request.header("content-type", "application/json");
            match request.header("x-agon-decision", decision).send().await {
                Ok(answer) => answer.text().await.unwrap_or_default(),
                Err(fault) => fault.to_string(),
            }
        })
    })
}

#[test]
fn gateway_told_to_stop_finishes_its_paid_call() {
    let folder = tempfile::tempdir().unwrap();
    let (mut asked, answer) = Asked::start(folder.path(), "1500ms");
    let (status, _) = asked.gateway.terminate();
    assert!(status.success(), "{status}: {}", (asked.logged)());
    let answer = answer.join().unwrap();
    assert!(answer.contains("\"finish_reason\""), "{answer}");
    assert_eq!(asked.models.count("requests"), 1);
}

#[test]
fn second_signal_ends_a_gateway_at_once_and_says_what_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (mut asked, answer) = Asked::start(folder.path(), "60s");
    asked.gateway.signal("-TERM");
    until("it is stopping", || {
        (asked.logged)().contains("shutting down")
    });
    assert!(!asked.gateway.has_ended());
    let (status, _) = asked.gateway.terminate();
    assert!(!status.success(), "{status}");
    let logged = (asked.logged)();
    assert!(logged.contains("1 call in flight is lost"), "{logged}");
    let answer = answer.join().unwrap();
    assert!(!answer.contains("\"finish_reason\""), "{answer}");
}

/// A provider that refuses its key until the account is topped up, and temperatures always.
fn poor_and_old(topped_up: &Arc<AtomicBool>) -> ScriptedServer {
    let topped_up = Arc::clone(topped_up);
    ScriptedServer::start(move |_, body| {
        let refused = |status, error: &str| Said {
            status,
            body: format!(r#"{{"error":{{"message":"no",{error}}}}}"#).into_bytes(),
        };
        let asked = String::from_utf8_lossy(body);
        if !topped_up.load(Ordering::SeqCst) {
            return refused(401, r#""code":"invalid_api_key""#);
        }
        if asked.contains("temperature") {
            return refused(
                400,
                r#""param":"temperature","code":"unsupported_parameter""#,
            );
        }
        let answer = r#"{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,
            "message":{"role":"assistant","content":"7"},"finish_reason":"stop"}],
            "usage":{"prompt_tokens":5,"completion_tokens":1}}"#;
        Said {
            status: 200,
            body: answer.into(),
        }
    })
}

#[test]
fn keys_are_revived_and_refused_parameters_asked_for_again_by_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let topped_up = Arc::new(AtomicBool::new(false));
    let provider = poor_and_old(&topped_up);
    fs::write(path("key"), FIRST).unwrap();
    let text = format!(
        "[providers.p]\nbase_url = '{}'\nkeys = [{{ file = '{}' }}]\n\
         [models.m]\nprovider = 'p'\n",
        provider.base_url(),
        path("key")
    );
    fs::write(path("agon.toml"), text).unwrap();
    let (config, data) = (path("agon.toml"), path("data"));
    let mut arguments = vec!["gateway", "--listen", "127.0.0.1:0", "--config", &config];
    arguments.extend(["--data", &data, "--http-listen", "127.0.0.1:0"]);
    let (mut gateway, address, logged) = logging(folder.path(), &arguments);
    let line = gateway.line_with("http listening on ");
    let http = line.trim().rsplit(' ').next().unwrap();
    let url = format!("http://{address}");
    let told = |command: &[&str]| {
        let arguments = [&["gateway"], command, &["--gateway", &url]].concat();
        let said = binary::run(&arguments).expect_code(0).out;
        said.replace(&format!("{url}: "), "").trim().to_owned()
    };
    let ask = |index: u32| {
        let url = format!("http://{http}/v1/chat/completions");
        let body = r#"{"model":"m","temperature":0.5,"messages":[{"role":"user","content":"hi"}]}"#;
        post(url, body.to_owned(), format!("run/0/{index}"))
    };

    let refused = ask(0).join().unwrap();
    assert!(refused.contains("agon gateway revive"), "{refused}");
    assert!(told(&["status"]).contains("OUT OF USE: 401"));
    let nothing = "no matching key is out of use";
    assert_eq!(told(&["revive", "--provider", "other"]), nothing);
    let revived = told(&["revive", "--provider", "p"]);
    assert!(
        revived.starts_with("p: the key from ") && revived.ends_with(" is in use again"),
        "{revived}"
    );
    assert_eq!(told(&["revive"]), nothing);

    topped_up.store(true, Ordering::SeqCst);
    let nothing = "no parameter was being left out";
    assert_eq!(told(&["forget"]), nothing);
    for (index, requests) in [(1, 3), (2, 4)] {
        let answer = ask(index).join().unwrap();
        assert!(answer.contains("\"finish_reason\""), "{answer}");
        assert_eq!(provider.requests(), requests, "it is left out from then on");
    }
    let left_out = "left out because the provider refused it:";
    assert!(told(&["status"]).contains(left_out));
    assert_eq!(told(&["forget", "p/other"]), nothing);
    let forgotten = told(&["forget", "p/m"]);
    assert_eq!(forgotten, "p/m is asked with temperature again");
    assert_eq!(told(&["forget"]), nothing);
    assert!(!told(&["status"]).contains(left_out));
    let _ = ask(3).join().unwrap();
    assert_eq!(provider.requests(), 6, "asked with it, then without");
    assert!(!logged().contains(FIRST) && !revived.contains(FIRST));
}
