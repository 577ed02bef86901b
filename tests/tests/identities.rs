//! Who comes in at the doors of real processes: every call with no token, unknown, expired, revoked,
//! narrower and another team's ones; what one team can learn of another; and streams that end with
//! their token. The calls come from the services' descriptors, so a new one without a rule fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use agon_agent_gateway::access as gateway_access;
use agon_coordinator::access as coordinator_access;
use agon_identity::gate::Rule;
use agon_identity::scope::Scope;
use agon_service_kit::server::channel;
use agon_tests::binary::{Ended, Role, command, run};
use agon_tests::cluster::{Cluster, Flags};
use agon_tests::runs;
use agon_tests::tree;
use agon_tests::waiting::until;
use serde_json::Value;
use tonic::client::Grpc;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

/// A data folder in which tokens are made as an operator makes them.
struct Installation {
    folder: tempfile::TempDir,
}

impl Installation {
    fn with_teams(teams: &[&str]) -> Self {
        let installation = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for team in teams {
            installation.agon(&["team", "create", team]);
        }
        installation
    }

    fn data(&self) -> String {
        self.folder.path().display().to_string()
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn agon(&self, arguments: &[&str]) -> String {
        let data = self.data();
        run(&[arguments, &["--data", &data]].concat())
            .expect_code(0)
            .out
    }

    fn token(&self, arguments: &[&str]) -> String {
        self.agon(&[&["token", "create"], arguments].concat())
            .trim()
            .to_owned()
    }

    fn of_team(&self, team: &str, scope: &str) -> String {
        self.token(&["--team", team, "--scope", scope])
    }

    fn revoke(&self, token: &str) {
        self.agon(&["token", "revoke", token.split('_').nth(1).unwrap()]);
    }
}

/// Runs a command with a token.
fn with_token(token: &str, arguments: &[&str]) -> Ended {
    command(arguments)
        .env("AGON_TOKEN", token)
        .output()
        .unwrap()
        .into()
}

/// The paths of all calls of the services, by service.
fn calls() -> BTreeMap<String, Vec<String>> {
    let root = tree::root().join("proto");
    let files = ["agent_gateway", "experiment", "session_lease"]
        .map(|name| root.join(format!("agon/v1/{name}.proto")));
    let descriptors = protox::compile(files, [root]).unwrap();
    let services = descriptors.file.iter().flat_map(|file| {
        let package = file.package().to_owned();
        file.service
            .iter()
            .map(move |service| (package.clone(), service))
    });
    services
        .map(|(package, service)| {
            let calls = service
                .method
                .iter()
                .map(|method| format!("/{package}.{}/{}", service.name(), method.name()));
            (service.name().to_owned(), calls.collect())
        })
        .collect()
}

fn rule(call: &str) -> Option<Rule> {
    let rules = coordinator_access::RULES
        .iter()
        .chain(gateway_access::RULES);
    rules
        .clone()
        .find(|(path, _)| *path == call)
        .map(|(_, rule)| *rule)
}

#[test]
fn every_call_has_a_rule_and_every_rule_a_call() {
    let calls: Vec<String> = calls().into_values().flatten().collect();
    assert!(calls.len() > 15, "{calls:?}");
    for call in &calls {
        assert!(
            rule(call).is_some_and(|rule| !rule.scopes.is_empty()),
            "{call} has no rule"
        );
    }
    let rules = coordinator_access::RULES
        .iter()
        .chain(gateway_access::RULES);
    for (path, _) in rules {
        assert!(calls.iter().any(|call| call == path), "{path} is no call");
    }
}

fn allows(rule: &Rule, scope: Scope) -> bool {
    rule.scopes.iter().any(|asked| scope.includes(*asked))
}

/// The rows of the documented table, as they follow from the rules.
fn table() -> String {
    let mut rows = String::new();
    let mut row = |door: &str, call: &str, rule: &Rule| {
        let scopes = Scope::ALL.into_iter().filter(|scope| allows(rule, *scope));
        let scopes: Vec<&str> = scopes.map(Scope::as_str).collect();
        rows.push_str(&format!("| {door} | `{call}` | {} |\n", scopes.join(", ")));
    };
    for (service, calls) in calls() {
        for call in calls {
            let rule = rule(&call).unwrap();
            row(&service, call.rsplit('/').next().unwrap(), &rule);
        }
    }
    for (route, rule) in gateway_access::HTTP_RULES {
        row("HTTP", route, rule);
    }
    rows
}

#[test]
fn documented_table_of_calls_and_scopes_is_that_of_the_rules() {
    let documented = fs::read_to_string(tree::root().join("docs/identity.md")).unwrap();
    let expected = table();
    assert!(
        documented.contains(&expected),
        "docs/identity.md should hold:\n{expected}"
    );
}

/// Makes a call with an empty message. A call that is let in may end in any other way.
async fn call(channel: &Channel, path: &str, token: Option<&str>) -> Result<(), Status> {
    let mut client = Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let mut request = Request::new(());
    if let Some(token) = token {
        let header = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", header);
    }
    let path = path.parse().unwrap();
    let codec = ProstCodec::<(), ()>::default();
    let answer = client.server_streaming(request, path, codec);
    match tokio::time::timeout(Duration::from_secs(5), answer).await {
        Ok(answer) => answer.map(drop),
        Err(_) => Ok(()),
    }
}

fn code(answer: Result<(), Status>) -> Code {
    answer.map_or_else(|status| status.code(), |()| Code::Ok)
}

/// Tokens that no call accepts, with what they are.
fn refused_tokens(installation: &Installation) -> Vec<(&'static str, Option<String>)> {
    let expired = installation.token(&["--scope", "admin", "--expires", "1ms"]);
    let revoked = installation.token(&["--scope", "admin"]);
    installation.revoke(&revoked);
    let valid = installation.token(&["--scope", "admin"]);
    vec![
        ("none", None),
        ("unknown", Some("agon_00000000_0".to_owned())),
        ("empty", Some(String::new())),
        ("cut", Some(valid[..valid.len() - 1].to_owned())),
        ("expired", Some(expired)),
        ("revoked", Some(revoked)),
    ]
}

/// A token for each scope.
fn tokens_by_scope(installation: &Installation) -> BTreeMap<Scope, String> {
    let tokens = Scope::ALL.into_iter().map(|scope| {
        let token = match scope.is_of_team() {
            true => installation.of_team("red", scope.as_str()),
            false => installation.token(&["--scope", scope.as_str()]),
        };
        (scope, token)
    });
    tokens.collect()
}

fn gateway(installation: &Installation) -> (Role, String, String) {
    let data = installation.data();
    let config = installation.path().join("agon.toml").display().to_string();
    fs::write(&config, "[gateway]\n").unwrap();
    let (mut gateway, address) = Role::listening(&[
        "gateway",
        "--listen",
        "127.0.0.1:0",
        "--http-listen",
        "127.0.0.1:0",
        "--data",
        &data,
        "--config",
        &config,
    ]);
    let line = gateway.line_with("http listening on ");
    let http = line.trim().rsplit(' ').next().unwrap().to_owned();
    (gateway, address, http)
}

fn coordinator(installation: &Installation) -> (Role, String) {
    let data = installation.data();
    Role::listening(&["coordinator", "--listen", "127.0.0.1:0", "--data", &data])
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_refuses_every_token_that_does_not_allow_it() {
    let installation = Installation::with_teams(&["red"]);
    let refused = refused_tokens(&installation);
    let by_scope = tokens_by_scope(&installation);
    let (_coordinator, at_coordinator) = coordinator(&installation);
    let (_gateway, at_gateway, _) = gateway(&installation);
    let mut tried = 0;
    for (service, calls) in calls() {
        let address = match service.as_str() {
            "AgentGatewayService" => &at_gateway,
            _ => &at_coordinator,
        };
        let channel = channel(&format!("http://{address}")).unwrap();
        for path in calls {
            for (what, token) in &refused {
                let answer = call(&channel, &path, token.as_deref()).await;
                assert_eq!(code(answer), Code::Unauthenticated, "{path} with {what}");
                tried += 1;
            }
            let rule = rule(&path).unwrap();
            for (scope, token) in &by_scope {
                let is_allowed = allows(&rule, *scope);
                let answer = code(call(&channel, &path, Some(token)).await);
                let is_refused = [Code::PermissionDenied, Code::Unauthenticated].contains(&answer);
                assert_eq!(is_refused, !is_allowed, "{path} with {scope}: {answer:?}");
                tried += 1;
            }
        }
        let unknown = call(&channel, "/agon.v1.Other/Call", None).await;
        assert_eq!(code(unknown), Code::Unauthenticated);
        let admin = by_scope[&Scope::Admin].as_str();
        let unknown = call(&channel, "/agon.v1.Other/Call", Some(admin)).await;
        assert_eq!(code(unknown), Code::PermissionDenied);
    }
    println!("{tried} of {tried} calls were refused or let in as documented");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_refuses_every_token_that_does_not_allow_it() {
    let installation = Installation::with_teams(&["red"]);
    let refused = refused_tokens(&installation);
    let by_scope = tokens_by_scope(&installation);
    let (_gateway, _, address) = gateway(&installation);
    agon_service_kit::server::install_crypto();
    let client = reqwest::Client::new();
    let mut tried = 0;
    for (route, rule) in gateway_access::HTTP_RULES {
        let path = route.replace("{name}", "alice").replace("{*id}", "m");
        let is_post = ["/v1/chat/completions", "/v1/doors/{name}/answers"].contains(route);
        let send = async |token: Option<&str>| {
            let url = format!("http://{address}{path}");
            let request = if is_post {
                client.post(url).body("{}")
            } else {
                client.get(url)
            };
            let request = match token {
                Some(token) => request.bearer_auth(token),
                None => request,
            };
            request.send().await.unwrap().status().as_u16()
        };
        for (what, token) in &refused {
            assert_eq!(send(token.as_deref()).await, 401, "{route} with {what}");
            tried += 1;
        }
        for (scope, token) in &by_scope {
            let is_allowed = allows(rule, *scope);
            assert_eq!(
                send(Some(token)).await == 403,
                !is_allowed,
                "{route} with {scope}"
            );
            tried += 1;
        }
    }
    println!("{tried} of {tried} requests were refused or let in as documented");
    for open in ["/health", "/live"] {
        let answer = client
            .get(format!("http://{address}{open}"))
            .send()
            .await
            .unwrap();
        assert_eq!(answer.status().as_u16(), 200, "{open}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_let_in_tokens_that_may_look_and_end_with_them() {
    let installation = Installation::with_teams(&["red"]);
    let refused = refused_tokens(&installation);
    let by_scope = tokens_by_scope(&installation);
    let data = installation.data();
    let listen = ["--listen", "127.0.0.1:0", "--web-listen", "127.0.0.1:0"];
    let arguments = [&["coordinator", "--data", &data][..], &listen].concat();
    let (mut coordinator, _) = Role::start(&arguments);
    let line = coordinator.line_with("coordinator pages: ");
    let pages = line.trim().rsplit(' ').next().unwrap().to_owned();
    agon_service_kit::server::install_crypto();
    let client = reqwest::Client::new();
    let enter = async |token: &str| {
        let body = serde_json::json!({ "token": token }).to_string();
        let entering = client.post(format!("{pages}/api/v1/enter")).body(body);
        let entering = entering.header("content-type", "application/json");
        let answer = entering.send().await.unwrap();
        let cookie = answer.headers().get("set-cookie");
        let cookie = cookie.map(|cookie| cookie.to_str().unwrap().split(';').next().unwrap());
        (answer.status().as_u16(), cookie.map(str::to_owned))
    };
    let look = async |route: &str, cookie: &str| {
        let asking = client.get(format!("{pages}/api/v1/{route}"));
        let answer = asking.header("cookie", cookie).send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.text().await.unwrap())
    };
    for (what, token) in &refused {
        let entered = enter(token.as_deref().unwrap_or_default()).await;
        assert_eq!(entered, (403, None), "{what}");
    }
    let may_look = [Scope::Read, Scope::Submit, Scope::Admin];
    for (scope, token) in &by_scope {
        let (status, cookie) = enter(token).await;
        let is_allowed = may_look.contains(scope);
        assert_eq!(
            (status == 204, cookie.is_some()),
            (is_allowed, is_allowed),
            "{scope}"
        );
        for route in [
            "runs",
            "results",
            "sweeps",
            "sweeps/events",
            "holder",
            "sessions/x",
        ] {
            assert_eq!(look(route, "agon-view=1").await.0, 401, "{route}");
        }
        let Some(cookie) = cookie else { continue };
        let team = match scope.is_of_team() {
            true => "\"team\":\"red\"",
            false => "\"team\":null",
        };
        let holder = look("holder", &cookie).await;
        assert!(
            holder.0 == 200 && holder.1.contains(team),
            "{scope}: {holder:?}"
        );
        installation.revoke(token);
        let is_out = || async { look("runs", &cookie).await.0 == 401 };
        let mut tries = 0;
        while !is_out().await {
            tries += 1;
            assert!(
                tries < 100,
                "{scope} still sees pages long after it was revoked"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    let audit = installation.agon(&["audit", "--json"]);
    assert!(audit.contains("SignIn"), "{audit}");
}

/// A cluster whose services know each other by one token.
fn cluster(installation: &Installation, models: &agon_tests::model_server::ModelServer) -> Cluster {
    let services = installation.token(&["--scope", "worker,coordinator"]);
    let file = installation.path().join("services-token");
    fs::write(&file, services).unwrap();
    let file = file.display().to_string();
    let flags = Flags {
        all: &["--token-file", &file],
        ..Flags::default()
    };
    Cluster::start_with(installation.path(), None, models, 1, flags)
}

fn submit(cluster: &Cluster, token: &str, experiment: &Path, out: &Path) -> Ended {
    let (url, gateway) = (cluster.coordinator_url(), cluster.gateway_url());
    let flags = ["--coordinator", &url, "--gateway", &gateway];
    let (experiment, out) = (experiment.display().to_string(), out.display().to_string());
    with_token(
        token,
        &[&["run", &experiment, "--out", &out][..], &flags].concat(),
    )
}

#[test]
fn teams_play_the_same_experiment_and_learn_nothing_of_each_other() {
    let models = runs::model_server("0ms");
    let installation = Installation::with_teams(&["red", "blue"]);
    let cluster = cluster(&installation, &models);
    let (red, blue) = (
        installation.of_team("red", "submit"),
        installation.of_team("blue", "submit"),
    );
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), &runs::dividers("shared", 2));
    let out = |name: &str| folder.path().join(name);
    let url = cluster.coordinator_url();

    let _ = submit(&cluster, &red, &experiment, &out("red")).expect_code(0);
    let asked_by_red = models.count("requests");
    let records = runs::records(&out("red"));
    assert!(asked_by_red > 0 && runs::decisions(&records) > 0);

    // Before blue has one of that name, red's is as absent as one that nobody has.
    for what in [
        &["show"][..],
        &["cancel"],
        &["delete"],
        &["retry"],
        &["resume"],
    ] {
        let ask = |name: &str| {
            let arguments = [&["experiments"], what, &[name, "--coordinator", &url]].concat();
            let ended = with_token(&blue, &arguments);
            (
                ended.code,
                ended.out.replace(name, "NAME"),
                ended.err.replace(name, "NAME"),
            )
        };
        let (there, absent) = (ask("shared"), ask("nothing"));
        assert_eq!(there, absent, "{what:?}");
        assert!(
            there.2.contains("\"NAME\" of team \"blue\""),
            "{what:?}: {there:?}"
        );
        assert_ne!(there.0, Some(0), "{what:?}: {there:?}");
        assert_eq!(
            ask("shared@red"),
            absent,
            "{what:?} by the name that admins use"
        );
    }
    let listed = with_token(&blue, &["experiments", "list", "--coordinator", &url]);
    assert!(!listed.out.contains("shared"), "{}", listed.out);
    let gateway = cluster.gateway_url();
    let costs = with_token(
        &blue,
        &["gateway", "costs", "--gateway", &gateway, "--team", "red"],
    );
    assert!(!costs.out.contains("red"), "{}", costs.out);
    let status = with_token(&blue, &["gateway", "status", "--gateway", &gateway]).expect_code(0);
    assert!(!status.out.contains("red"), "{}", status.out);

    let _ = submit(&cluster, &blue, &experiment, &out("blue")).expect_code(0);
    assert_eq!(
        models.count("requests"),
        2 * asked_by_red,
        "blue was answered with red's answers"
    );
    let _ = with_token(
        &blue,
        &["experiments", "delete", "shared", "--coordinator", &url],
    )
    .expect_code(0);
    let listed = with_token(&red, &["experiments", "list", "--coordinator", &url]);
    assert!(
        listed.out.contains("shared") && !listed.out.contains('@'),
        "{}",
        listed.out
    );

    let admin = installation.token(&["--scope", "admin"]);
    let listed = with_token(&admin, &["experiments", "list", "--coordinator", &url]);
    assert!(listed.out.contains("shared@red"), "{}", listed.out);
    let pulled = folder.path().join("pulled");
    let to = pulled.display().to_string();
    let pull = [
        "results",
        "pull",
        "shared@red",
        "--quiet",
        "--out",
        &to,
        "--coordinator",
        &url,
    ];
    let _ = with_token(&admin, &pull).expect_code(0);
    assert!(
        runs::records(&pulled) == records,
        "an admin gets other bytes"
    );
    let refused = submit(&cluster, &admin, &experiment, &out("admin")).expect_code(2);
    assert!(refused.err.contains("submit"), "{}", refused.err);
    let audit = installation.agon(&["audit", "--team", "blue", "--json"]);
    let audit: Vec<Value> = serde_json::from_str(&audit).unwrap();
    let deleted = |entry: &&Value| entry["call"] == "ExperimentService/DeleteExperiment";
    let deleted: Vec<&Value> = audit.iter().filter(deleted).collect();
    let outcomes: Vec<_> = deleted
        .iter()
        .map(|entry| (&entry["subject"], &entry["outcome"]))
        .collect();
    assert!(
        outcomes.contains(&(&"shared@blue".into(), &"ok".into())),
        "{audit:?}"
    );
}

#[test]
fn document_that_names_another_team_is_refused() {
    let models = runs::model_server("0ms");
    let installation = Installation::with_teams(&["red", "blue"]);
    let cluster = cluster(&installation, &models);
    let folder = tempfile::tempdir().unwrap();
    let text = format!("team = \"blue\"\n{}", runs::dividers("theirs", 1));
    let experiment = runs::write(folder.path(), &text);
    let out = folder.path().join("out");
    let red = installation.of_team("red", "submit");
    let refused = submit(&cluster, &red, &experiment, &out).expect_code(2);
    assert!(
        refused.err.contains("belongs to team red"),
        "{}",
        refused.err
    );
    assert_eq!(models.count("requests"), 0);
}

#[test]
fn revoked_worker_loses_its_stream_and_what_it_played_is_played_by_others() {
    let models = runs::model_server("50ms");
    let installation = Installation::with_teams(&["red"]);
    let mut cluster = cluster(&installation, &models);
    let second = installation.token(&["--scope", "worker"]);
    let (url, gateway) = (cluster.coordinator_url(), cluster.gateway_url());
    let worker = |command: &mut Command| {
        let _ = command.env("AGON_TOKEN", &second);
    };
    let arguments = [
        "worker",
        "--coordinator",
        &url,
        "--gateway",
        &gateway,
        "--id",
        "second",
    ];
    let (mut revoked, _) = Role::start_with(&arguments, |command| {
        worker(command);
        command
    });
    until("the second worker", || {
        cluster
            .coordinator_log()
            .contains("worker connected worker=second")
    });
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), &runs::dividers("revoked", 12));
    let red = installation.of_team("red", "submit");
    let out = folder.path().join("out");
    std::thread::scope(|scope| {
        let ended = scope.spawn(|| submit(&cluster, &red, &experiment, &out));
        until("decisions", || models.count("requests") > 3);
        installation.revoke(&second);
        until("the end of its stream", || {
            cluster
                .coordinator_log()
                .contains("worker disconnected worker=second")
        });
        let _ = ended.join().unwrap().expect_code(0);
    });
    let records = runs::records(&out);
    assert_eq!(runs::parsed(&records).len(), 12);
    assert!(records == runs::reference(&runs::dividers("revoked", 12)));
    revoked.kill();
    cluster.add_worker();
}

#[test]
fn door_beyond_this_machine_lets_nobody_in_without_a_token() {
    let installation = Installation::with_teams(&[]);
    let data = installation.data();
    let arguments = ["coordinator", "--listen", "0.0.0.0:0", "--data", &data];
    let (_coordinator, address) = Role::listening(&arguments);
    let port = address.rsplit(':').next().unwrap();
    let url = format!("http://127.0.0.1:{port}");
    let list = ["experiments", "list", "--coordinator", &url];
    let refused = run(&list).expect_code(2);
    assert!(refused.err.contains("AGON_TOKEN"), "{}", refused.err);
    let admin = installation.token(&["--scope", "admin"]);
    until("the new token", || {
        with_token(&admin, &list).code == Some(0)
    });
}
