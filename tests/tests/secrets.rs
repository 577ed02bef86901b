//! Keys are never printed, logged or stored: a run with a key leaves it in no
//! log at the finest level, no file, no status and no metric.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, mpsc};

use agon_tests::binary::{self, Ended};
use agon_tests::model_server::{ModelServer, get};
use agon_tests::scripted_server::{Said, ScriptedServer};
use agon_tests::{redis, runs, waiting};

#[path = "secrets/said.rs"]
mod said;

use said::Protocol;

/// Long and odd enough to be found wherever it might turn up.
const KEY: &str = "sk-agon-test-8c1f2e7b90d34a5566";

const EXPERIMENT: &str = r#"
name = "keyed"
[players.subject]
kind = "model"
model = "any"
[[games]]
game = "divide_dollar"
params = { rounds = 2 }
seats = [{ player = "subject", count = 3 }]
"#;

fn holds_key(path: &Path) -> Option<String> {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap();
        return entries.flatten().find_map(|entry| holds_key(&entry.path()));
    }
    let bytes = fs::read(path).unwrap();
    let found = bytes
        .windows(KEY.len())
        .any(|window| window == KEY.as_bytes());
    found.then(|| path.display().to_string())
}

fn run_with_key(experiment: &Path, out: &Path, flags: &[&str]) -> Ended {
    let (experiment, out) = (experiment.display().to_string(), out.display().to_string());
    let mut arguments = vec!["run", &experiment, "--out", &out, "--log", "trace"];
    arguments.extend(["--log-format", "json", "--key-env", "TEST_MODEL_KEY"]);
    arguments.extend(flags);
    let mut command = binary::command(&arguments);
    Ended::from(command.env("TEST_MODEL_KEY", KEY).output().unwrap())
}

#[test]
fn a_key_is_in_no_output_and_in_no_file() {
    let redis = redis::RedisServer::start();
    let (redis_url, port) = (redis.url(), redis::free_port());
    let models = ModelServer::start(&["--key", KEY, "--error-rate", "0.2"]);
    let nowhere = format!("http://127.0.0.1:{port}/v1");
    for (base_url, store, code) in [
        (models.base_url(), None, 0),
        (models.base_url(), Some(&redis_url), 0),
        // A provider that cannot be reached is the likeliest to be complained about.
        (nowhere, None, 130),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let experiment = runs::write(folder.path(), EXPERIMENT);
        let data = folder.path().join("data").display().to_string();
        let mut flags = vec!["--base-url", &base_url, "--data", &data];
        if let Some(url) = store {
            flags.extend(["--redis", url]);
        }
        let out = folder.path().join("out");
        let ended = if code == 0 {
            run_with_key(&experiment, &out, &flags).expect_code(0)
        } else {
            interrupted(&experiment, &out, &flags)
        };
        assert!(
            !ended.out.contains(KEY) && !ended.err.contains(KEY),
            "in the output"
        );
        assert!(
            ended.err.contains("provider_call") || code != 0,
            "the log is at trace level"
        );
        assert_eq!(holds_key(folder.path()), None);
    }
    assert_eq!(holds_key(redis.folder()), None);
}

/// The same run, stopped after a while because it would wait for its provider.
fn interrupted(experiment: &Path, out: &Path, flags: &[&str]) -> Ended {
    let (experiment, out) = (experiment.display().to_string(), out.display().to_string());
    let mut arguments = vec!["run", &experiment, "--out", &out, "--log", "trace"];
    arguments.extend(["--key-env", "TEST_MODEL_KEY"]);
    arguments.extend(flags);
    let command = binary::command(&arguments);
    let program = command.get_program().to_owned();
    let mut limited = std::process::Command::new("timeout");
    limited
        .args(["--signal", "INT", "--preserve-status", "3"])
        .arg(program)
        .args(&arguments);
    Ended::from(limited.env("TEST_MODEL_KEY", KEY).output().unwrap()).expect_code(130)
}

/// A key of no known shape: only who knows it can find it.
const UNKNOWN: &str = "q7Zp-w9Xk2M_51uhVb83TrLcE";

/// A way to spell a text, with its name.
type Encoding = (&'static str, fn(&str) -> String);

const ENCODINGS: [Encoding; 7] = [
    ("plain", str::to_owned),
    ("hexadecimal", |text| {
        by_byte(text, |byte| format!("{byte:02x}"))
    }),
    ("percent", |text| {
        by_byte(text, |byte| format!("%{byte:02X}"))
    }),
    ("JSON", |text| {
        by_byte(text, |byte| format!("\\u{byte:04x}"))
    }),
    ("HTML", |text| by_byte(text, |byte| format!("&#{byte};"))),
    ("Base64", |text| base64(text.as_bytes())),
    ("Base64 of Bearer", |text| {
        base64(format!("Bearer {text}").as_bytes())
    }),
];

fn by_byte(text: &str, spell: impl Fn(u8) -> String) -> String {
    text.bytes().map(spell).collect()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let mut number = 0;
        for place in 0..3 {
            number = number << 8 | u32::from(part.get(place).copied().unwrap_or(0));
        }
        for place in 0..=part.len() {
            let letter = number >> (18 - 6 * place) & 63;
            text.push(char::from(LETTERS[letter as usize]));
        }
    }
    text
}

/// In which encoding a text gives the key away, if it does: half of it is enough.
fn given_away(bytes: &[u8]) -> Option<&'static str> {
    ENCODINGS.iter().find_map(|(name, encode)| {
        let forms = match *name {
            "Base64 of Bearer" => vec![encode(UNKNOWN).split_off(12)],
            // Where it begins among other bytes decides how it looks.
            "Base64" => (0..3)
                .map(|before| {
                    let shifted = format!("{}{UNKNOWN}", "x".repeat(before));
                    encode(&shifted).split_off(4)
                })
                .collect(),
            _ => vec![encode(UNKNOWN)],
        };
        let holds = |form: &String| {
            let half = &form.as_bytes()[..form.len() / 2];
            bytes.windows(half.len()).any(|window| window == half)
        };
        forms.iter().any(holds).then_some(*name)
    })
}

fn assert_keeps(what: &str, text: &[u8]) {
    let found = given_away(text);
    let shown = String::from_utf8_lossy(text);
    assert_eq!(found, None, "{what} gives the key away: {shown:.3000}");
}

fn assert_files_keep(what: &str, path: &Path) {
    if !path.exists() {
        return;
    }
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            assert_files_keep(what, &entry.path());
        }
    } else if path.file_name().is_some_and(|name| name != "key") {
        assert_keeps(
            &format!("{what}: {}", path.display()),
            &fs::read(path).unwrap(),
        );
    }
}

#[test]
fn a_key_that_a_provider_repeats_is_in_no_output_and_no_file_however_it_is_spelled() {
    nowhere_is_the_key_that_is_repeated(&said::OPENAI, &ENCODINGS);
}

#[test]
fn key_that_is_repeated_in_messages_of_anthropic_is_nowhere() {
    nowhere_is_the_key_that_is_repeated(&said::ANTHROPIC, &[ENCODINGS[0], ENCODINGS[5]]);
}

#[test]
fn key_that_is_repeated_in_contents_of_gemini_is_nowhere() {
    nowhere_is_the_key_that_is_repeated(&said::GEMINI, &[ENCODINGS[0], ENCODINGS[5]]);
}

#[test]
fn key_that_is_repeated_in_conversations_of_bedrock_is_nowhere() {
    nowhere_is_the_key_that_is_repeated(&said::BEDROCK, &[ENCODINGS[0], ENCODINGS[5]]);
}

/// Plays against a provider that repeats its key in every place it can, and looks for it in all that a
/// run prints, logs, counts and stores.
fn nowhere_is_the_key_that_is_repeated(protocol: &Protocol, encodings: &[Encoding]) {
    let said = protocol.said;
    for (encoding, encode) in encodings {
        let spelled = encode(UNKNOWN);
        let (looked, looking) = mpsc::channel::<()>();
        let looking = Mutex::new(looking);
        let server = ScriptedServer::start(move |number, _| {
            if number as usize >= said.len() {
                // Nobody goes on before the metrics were looked at; then the channel is closed.
                let _ = looking.lock().unwrap().recv();
            }
            let (status, body) = said[number as usize % said.len()];
            Said {
                status,
                body: body.replace("KEY", &spelled).into_bytes(),
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let text = EXPERIMENT.replace("rounds = 2", "rounds = 3");
        let experiment = runs::write(folder.path(), &format!("repeats = 20\n{text}"));
        let experiment = experiment.display().to_string();
        let [data, out] =
            ["data", "out"].map(|name| folder.path().join(name).display().to_string());
        let section = format!(
            "{}\nkeys = [{{ env = 'TEST_MODEL_KEY' }}]",
            protocol.section
        );
        let config = runs::config_for(folder.path(), &server, &section);
        let metrics = format!("127.0.0.1:{}", redis::free_port());
        let mut arguments = vec!["run", &experiment, "--config", &config, "--data", &data];
        arguments.extend(["--out", &out, "--log", "trace", "--metrics", &metrics]);
        let [printed, log] = ["said.txt", "log.txt"].map(|name| folder.path().join(name));
        let mut command = binary::command(&arguments);
        command.env("TEST_MODEL_KEY", UNKNOWN);
        command.stdout(fs::File::create(&printed).unwrap());
        command.stderr(fs::File::create(&log).unwrap());
        let mut running = command.spawn().unwrap();
        let mut counted = String::new();
        waiting::until("all places were seen", || {
            server.requests() as usize >= said.len() && {
                counted = get(&metrics, "/metrics");
                calls(&counted) >= said.len() as f64
            }
        });
        drop(looked);
        let _ = running.wait().unwrap();
        let log = fs::read_to_string(&log).unwrap();
        assert!(log.contains("[key]"), "{encoding}: {log}");
        assert_keeps(encoding, counted.as_bytes());
        assert_files_keep(encoding, folder.path());
        let shown = binary::run(&["show", "--results", &out]);
        assert_keeps(encoding, shown.out.as_bytes());
    }
}

/// Calls of the provider that are over, as the metrics count them.
fn calls(metrics: &str) -> f64 {
    let lines = metrics
        .lines()
        .filter(|line| line.starts_with("agon_gateway_provider_requests_total{"));
    let counts = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    counts.sum()
}

/// Where people put a secret by mistake.
const MISPLACED: [&str; 20] = [
    "[providers.p]\nbase_url = 'http://h'\nkeys = ['KEY']",
    "[providers.p]\nbase_url = 'http://h'\nkeys = 'KEY'",
    "[providers.p]\nbase_url = 'http://h'\nkeys = [{ value = 'KEY' }]",
    "[providers.p]\nbase_url = 'http://h'\nkeys = [{ env = 'KEY' }]",
    "[providers.p]\nbase_url = 'http://h'\nkeys = [{ KEY = 'x' }]",
    "[providers.p]\nbase_url = 'http://h'\napi_key = 'KEY'",
    "[providers.p]\nbase_url = 'http://h'\nKEY = 1",
    "[providers.p]\nbase_url = 'http://me:KEY@h'",
    "[providers.p]\nbase_url = 'http://h?key=KEY'",
    "[providers.p]\nbase_url = 'KEY'",
    "[providers.p]\nbase_url = 'http://h'\nkind = 'KEY'",
    "[providers.p]\nbase_url = 'http://h'\ntimeout = 'KEY'",
    "[providers]\np = 'KEY'",
    "[models.m]\nprovider = 'KEY'",
    "[models.m]\nprovider = 'p'\nthinking = 'KEY'",
    "[teams.red]\ntokens = ['KEY']",
    "[teams.red]\ntokens = 'KEY'",
    "[teams.red]\ntokens = [{ value = 'KEY' }]",
    "[teams.red]\nbudget_dollars = 'KEY'",
    "OPENAI_API_KEY = 'KEY'",
];

/// Where people put a key (`@@`) into an experiment file, which takes none.
const IN_EXPERIMENTS: [&str; 24] = [
    "api_key = '@@'",
    "api_key = \"@@\"",
    "OPENAI_API_KEY = '@@'",
    "players.subject.api_key = '@@'",
    "players.subject = { kind = 'model', token = '@@', model = 'm' }",
    "models = { password = '@@' }",
    "\"x-api-key\" = '@@'",
    "headers = { Authorization = 'Bearer @@' }",
    "api_key = @@",
    "tokens = ['@@', '@@']",
    "api_key: @@",
    "api_key: \"@@\"",
    "api_key == \"@@\"",
    "secrets = { openai = '@@' }",
    "secrets.openai = '@@'",
    "keys.openai = '@@'",
    "openai_key2 = '@@'",
    "authToken = '@@'",
    "clientSecret = '@@'",
    "OPENAIKEY = '@@'",
    "bearer = '@@'",
    "pwd = '@@'",
    "passphrase = '@@'",
    "api_key = { a = 'x', b = '@@' }",
];

/// Arguments that hold a key where it does not belong, before the experiment's file.
const IN_ARGUMENTS: [&str; 9] = [
    "check --set api_key=KEY",
    "check --set players.subject.token=KEY",
    "experiments list --coordinator http://me:KEY@127.0.0.1:1",
    "experiments list --coordinator http://127.0.0.1:1/?token=KEY",
    "experiments list --coordinator KEY",
    "experiments list --coordinator http://127.0.0.1:1 --token-file KEY",
    "worker --coordinator http://127.0.0.1:1 --gateway http://127.0.0.1:1 --otlp KEY",
    "worker --coordinator http://127.0.0.1:1 --gateway http://127.0.0.1:1 --otlp u:KEY",
    "verify s3://u:KEY@b/x",
];

#[test]
fn key_in_an_argument_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), EXPERIMENT).display().to_string();
    for arguments in IN_ARGUMENTS {
        let line = arguments.replace("KEY", UNKNOWN);
        let mut arguments: Vec<&str> = line.split(' ').collect();
        if arguments[0] == "check" {
            arguments.push(&experiment);
        }
        let mut command = binary::command(&arguments);
        // No cloud is asked for credentials.
        command.env("AWS_EC2_METADATA_DISABLED", "true");
        command.env("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1");
        let ended = Ended::from(command.output().unwrap());
        assert!(matches!(ended.code, Some(2 | 3)), "{ended:?}");
        assert!(!ended.err.is_empty());
        assert_keeps(&line, [ended.out, ended.err].concat().as_bytes());
    }
}

#[test]
fn key_in_an_experiment_file_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    for place in IN_EXPERIMENTS {
        // One of no known shape, and one that is short.
        for key in [UNKNOWN, "hunter2hunter2"] {
            let text = format!("{}\n{EXPERIMENT}", place.replace("@@", key));
            let experiment = runs::write(folder.path(), &text).display().to_string();
            for called in ["check", "run", "plan"] {
                let ended = binary::run(&[called, &experiment, "--model", "sim"]).expect_code(2);
                assert!(ended.err.contains(".toml:"), "{}", ended.err);
                let said = [ended.out, ended.err].concat();
                assert!(!said.contains(key), "{called} {place}: {said}");
            }
        }
    }
}

#[test]
fn a_secret_in_the_wrong_place_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("agon.toml");
    let path = config.display().to_string();
    let data = folder.path().join("data").display().to_string();
    for place in MISPLACED {
        fs::write(&config, place.replace("KEY", UNKNOWN)).unwrap();
        let serve = [
            "gateway",
            "--listen",
            "127.0.0.1:0",
            "--data",
            &data,
            "--config",
            &path,
        ];
        let ended = binary::run(&serve).expect_code(2);
        assert!(
            ended.err.contains("agon.toml") || ended.err.contains("error:"),
            "{}",
            ended.err
        );
        assert_keeps(place, ended.err.as_bytes());
    }
    let experiment = runs::write(folder.path(), EXPERIMENT).display().to_string();
    let nowhere = format!("127.0.0.1:{}", redis::free_port());
    for password in ["KEY", "a#KEY", "a?KEY", "a/KEY", "a@KEY", "%23KEY"] {
        let password = password.replace("KEY", UNKNOWN);
        for (flag, scheme) in [("--redis", "redis"), ("--coordinator", "http")] {
            let address = format!("{scheme}://me:{password}@{nowhere}");
            let out = folder.path().join("out").display().to_string();
            let arguments = [
                "run",
                &experiment,
                "--model",
                "sim",
                flag,
                &address,
                "--out",
                &out,
            ];
            let ended = binary::run(&arguments);
            assert!(matches!(ended.code, Some(2 | 3)), "{ended:?}");
            assert_keeps(&address, ended.err.as_bytes());
            assert_files_keep(&address, &folder.path().join("data"));
        }
    }
}
