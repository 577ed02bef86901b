//! Walks `tests/fixtures`: one folder per protocol, each file a list of cases
//! with the documentation they come from. A case is a request, what the server
//! answers, and what has to become of both. Written by hand; a case is added by
//! adding it to a file.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;
use std::time::{Duration, SystemTime};

use agon_agent_gateway::GatewayConfig;
use agon_agent_gateway::catalogue::{ProviderKind, ResolvedModel};
use agon_agent_gateway::decision::{Message, ReplyFormat, Request, Role, Usage};
use agon_agent_gateway::limits::{Room, Signals};
use agon_agent_gateway::providers::{Arrived, Call, Providers, Refusal, Remedy, Reply};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;

use super::google::Google;
use super::mirror::{Answer, Mirror, Seen};

/// What a simulated model would say; nothing of it reaches a provider.
const PLAUSIBLE: &str = "a-plausible-bid";

const KEY: &str = "k-5ecret-of-the-golden-cases";

/// How far a time that a server gives as a date may be off when it is read.
const CLOCK_SLACK_MS: u64 = 2_500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Pages of documentation that the facts come from.
    sources: Vec<String>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// Path of the provider's address. Default: as its documentation has it.
    path: Option<String>,
    /// Further lines of its section.
    #[serde(default)]
    provider: String,
    /// Lines of the model's section.
    #[serde(default)]
    model: String,
    #[serde(default)]
    request: Asked,
    /// Default 200.
    status: Option<u16>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// What the server answers, as JSON or as text. Default: a fine answer.
    body: Option<Value>,
    text: Option<String>,
    expect: Expected,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Asked {
    messages: Vec<(String, String)>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    max_output_tokens: Option<u32>,
    seed: Option<u64>,
    schema: Option<Value>,
    effort: Option<String>,
    stop: Vec<String>,
    logprobs: Option<u32>,
}

/// What is not named is not looked at.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// Path and query of the request.
    url: Option<String>,
    #[serde(default)]
    request_headers: BTreeMap<String, String>,
    request_body: Option<Value>,
    reply: Option<String>,
    answered_by: Option<String>,
    finish_reason: Option<String>,
    usage: Option<ExpectedUsage>,
    /// Tokens of the reply with their logarithms, and the candidates behind each.
    logprobs: Option<Value>,
    #[serde(default)]
    usage_unknown: bool,
    remedy: Option<String>,
    /// The time that comes with the remedy, in milliseconds.
    wait_ms: Option<u64>,
    /// The same, when it depends on the clock: from, to.
    wait_between_ms: Option<(u64, u64)>,
    /// What was asked for and not sent.
    omitted: Option<Vec<String>>,
    /// It cannot be said in this protocol: nothing is sent.
    #[serde(default)]
    unsent: bool,
    /// Part of the reason.
    reason: Option<String>,
    maybe_used: Option<bool>,
    /// All limits that may be known; those not named must be unknown.
    signals: Option<BTreeMap<String, ExpectedRoom>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ExpectedUsage {
    input: u64,
    output: u64,
    cached: u64,
    cache_written: u64,
    reasoning: u64,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ExpectedRoom {
    limit: Option<u64>,
    remaining: Option<u64>,
    reset_ms: Option<u64>,
}

/// What differs between the folders.
struct Folder {
    name: &'static str,
    kind: ProviderKind,
    path: &'static str,
    key_header: &'static str,
    fine: &'static str,
    /// Further lines of the provider's section.
    section: &'static str,
    /// The key is a service account, whose tokens are what is sent.
    has_account: bool,
}

const OPENAI_FINE: &str = r#"{"model":"x","choices":[{"message":{"content":"ok"}}]}"#;

const FOLDERS: [Folder; 6] = [
    Folder {
        name: "openai",
        kind: ProviderKind::OpenAi,
        path: "/v1",
        key_header: "authorization",
        fine: OPENAI_FINE,
        section: "",
        has_account: false,
    },
    Folder {
        name: "azure",
        kind: ProviderKind::Azure,
        path: "",
        key_header: "api-key",
        fine: OPENAI_FINE,
        section: "",
        has_account: false,
    },
    Folder {
        name: "anthropic",
        kind: ProviderKind::Anthropic,
        path: "/v1",
        key_header: "x-api-key",
        fine: r#"{"model":"x","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn"}"#,
        section: "",
        has_account: false,
    },
    Folder {
        name: "gemini",
        kind: ProviderKind::Gemini,
        path: "/v1beta",
        key_header: "x-goog-api-key",
        fine: r#"{"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}]}"#,
        section: "",
        has_account: false,
    },
    Folder {
        name: "vertex",
        kind: ProviderKind::Vertex,
        path: "/v1",
        key_header: "authorization",
        fine: r#"{"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}]}"#,
        section: "project = 'p-1'\nlocation = 'us-central1'",
        has_account: true,
    },
    Folder {
        name: "bedrock",
        kind: ProviderKind::Bedrock,
        path: "",
        key_header: "authorization",
        fine: r#"{"output":{"message":{"content":[{"text":"ok"}]}},"stopReason":"end_turn"}"#,
        section: "region = 'us-east-1'",
        has_account: false,
    },
];

/// The bars of the issue: so many cases of a kind at least.
const LEAST_CASES: [(&str, usize); 4] = [
    ("errors", 25),
    ("usage", 15),
    ("requests", 12),
    ("signals", 8),
];

#[tokio::test]
async fn every_golden_error_has_its_remedy() {
    walk("errors").await;
}

#[tokio::test]
async fn every_golden_usage_is_counted() {
    walk("usage").await;
}

#[tokio::test]
async fn every_golden_request_is_what_its_protocol_wants() {
    walk("requests").await;
}

#[tokio::test]
async fn every_golden_signal_is_heard_with_success_and_refusal() {
    walk("signals").await;
}

/// Runs the file of this name of every folder.
async fn walk(name: &str) {
    let (mirror, google) = (Mirror::open().await, Google::open().await);
    let providers = Providers::real().unwrap();
    let (mut cases, mut wrong) = (0, Vec::new());
    for folder in &FOLDERS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures")
            .join(folder.name)
            .join(format!("{name}.json"));
        let text = std::fs::read_to_string(&path).unwrap();
        let file: File = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(
            !file.sources.is_empty(),
            "{} names no source",
            path.display()
        );
        for case in &file.cases {
            cases += 1;
            let statuses: &[u16] = match name {
                "signals" => &[200, 429],
                _ => &[200],
            };
            for status in statuses {
                let status = case.status.unwrap_or(*status);
                let found = run(folder, case, status, &mirror, &google, &providers).await;
                if !found.is_empty() {
                    let (of, name) = (folder.name, &case.name);
                    wrong.push(format!("{of}: {name}: {}", found.join("; ")));
                }
            }
        }
    }
    println!(
        "{name}: {} of {cases} golden cases match",
        cases - wrong.len()
    );
    let least = LEAST_CASES
        .iter()
        .find(|(kind, _)| *kind == name)
        .unwrap()
        .1;
    assert!(cases >= least, "{cases} cases of {name}, {least} wanted");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

async fn run(
    folder: &Folder,
    case: &Case,
    status: u16,
    mirror: &Mirror,
    google: &Google,
    providers: &Providers,
) -> Vec<String> {
    let fine = || folder.fine.to_owned();
    let json = case.body.as_ref().map(Value::to_string);
    mirror.will_answer([Answer {
        status,
        headers: case
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), with_time(value)))
            .collect(),
        body: case.text.clone().or(json).unwrap_or_else(fine),
    }]);
    let path = case.path.as_deref().unwrap_or(folder.path);
    let model = model(folder, case, &format!("{}{path}", mirror.address));
    let key = SecretString::from(match folder.has_account {
        true => google.account(),
        false => KEY.to_owned(),
    });
    agon_service_kit::secrets::keep(KEY);
    let request = request(&case.request);
    let call = Call {
        model: &model,
        request: &request,
        key: Some(&key),
        required: &[],
        simulated_reply: Some(PLAUSIBLE),
    };
    let before = mirror.seen().len();
    let outcome = providers.get(folder.kind).unwrap().call(call).await;
    let expect = &case.expect;
    let mut wrong = Wrong::default();
    match mirror.seen().get(before) {
        Some(seen) => look_at_request(folder, expect, seen, &mut wrong),
        None => wrong.unless_equal("unsent", &true, &expect.unsent),
    }
    match &outcome {
        Ok(reply) => look_at_reply(expect, reply, &mut wrong),
        Err(refusal) => look_at_refusal(expect, refusal, &mut wrong),
    }
    let signals = match &outcome {
        Ok(reply) => &reply.signals,
        Err(refusal) => &refusal.signals,
    };
    let dated = case.headers.values().any(|value| value.starts_with('{'));
    let slack_ms = if dated { CLOCK_SLACK_MS } else { 0 };
    look_at_signals(expect, signals, slack_ms, &mut wrong);
    let seen = mirror.seen();
    let sent = seen
        .get(before)
        .map(|seen| format!("{:?} {}", seen.headers, seen.body));
    if sent.is_some_and(|sent| sent.contains(PLAUSIBLE)) {
        wrong
            .0
            .push("it is told what a simulated model would say".to_owned());
    }
    if format!("{outcome:?}").contains("5ecret") {
        wrong.0.push("the key is in the outcome".to_owned());
    }
    wrong.0
}

fn model(folder: &Folder, case: &Case, base_url: &str) -> ResolvedModel {
    let text = format!(
        "[providers.p]\nkind = '{}'\nbase_url = '{base_url}'\n{}\n{}\n[models.m]\nprovider = 'p'\n{}",
        folder.name, folder.section, case.provider, case.model
    );
    let config = GatewayConfig::parse(&case.name, &text).unwrap();
    config.resolve_without_keys("m").unwrap()
}

fn request(asked: &Asked) -> Request {
    let messages = asked.messages.iter().map(|(role, content)| Message {
        role: match role.as_str() {
            "system" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => panic!("no role: {role}"),
        },
        content: content.clone(),
    });
    let mut messages: Vec<Message> = messages.collect();
    if messages.is_empty() {
        messages.push(Message {
            role: Role::User,
            content: "hi".to_owned(),
        });
    }
    Request {
        model: "m".to_owned(),
        messages,
        temperature: asked.temperature,
        top_p: asked.top_p,
        max_output_tokens: asked.max_output_tokens,
        sampling_seed: asked.seed,
        reply_format: asked.schema.as_ref().map(|schema| ReplyFormat {
            name: "act".to_owned(),
            json_schema: schema.to_string(),
        }),
        fallback_models: Vec::new(),
        reasoning_effort: asked.effort.clone(),
        stop_sequences: asked.stop.clone(),
        logprobs: asked.logprobs,
    }
}

/// `{now+30s}` becomes that time as RFC 3339, `{date+30s}` as an HTTP date.
fn with_time(value: &str) -> String {
    let inner = value.strip_prefix('{').and_then(|v| v.strip_suffix("s}"));
    let Some((form, seconds)) = inner.and_then(|inner| inner.split_once('+')) else {
        return value.to_owned();
    };
    let at = SystemTime::now() + Duration::from_secs(seconds.parse().unwrap());
    match form {
        "now" => jiff::Timestamp::try_from(at).unwrap().to_string(),
        "date" => httpdate::fmt_http_date(at),
        _ => panic!("no form of time: {form}"),
    }
}

#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn unless_equal<T: PartialEq + Debug>(&mut self, what: &str, found: &T, expected: &T) {
        if found != expected {
            self.0
                .push(format!("{what} is {found:?} instead of {expected:?}"));
        }
    }
}

fn look_at_request(folder: &Folder, expect: &Expected, seen: &Seen, wrong: &mut Wrong) {
    if let Some(url) = &expect.url {
        wrong.unless_equal("url", &seen.uri.to_string(), url);
    }
    for (name, value) in &expect.request_headers {
        let found = seen.headers.get(name).map(|found| found.to_str().unwrap());
        wrong.unless_equal(name, &found, &Some(value.as_str()));
    }
    if let Some(body) = &expect.request_body {
        wrong.unless_equal("body", &seen.body, body);
    }
    let in_body = seen.body.to_string().contains("5ecret");
    if in_body || seen.uri.to_string().contains("5ecret") {
        wrong.0.push("the key is in the url or the body".to_owned());
    }
    let with_key: Vec<&str> = seen
        .headers
        .iter()
        .filter(|(_, value)| value.to_str().unwrap().contains("5ecret"))
        .map(|(name, _)| name.as_str())
        .collect();
    wrong.unless_equal("headers with the key", &with_key, &vec![folder.key_header]);
}

fn look_at_reply(expect: &Expected, reply: &Reply, wrong: &mut Wrong) {
    if expect.remedy.is_some() {
        wrong.0.push(format!("answered with {reply:?}"));
    }
    for (what, found, expected) in [
        ("reply", &reply.text, &expect.reply),
        ("answered_by", &reply.answered_by, &expect.answered_by),
        ("finish_reason", &reply.finish_reason, &expect.finish_reason),
    ] {
        if let Some(expected) = expected {
            wrong.unless_equal(what, found, expected);
        }
    }
    if let Some(expected) = &expect.omitted {
        let omitted = reply.applied.omitted.iter();
        let omitted: Vec<String> = omitted.map(|one| one.name().to_owned()).collect();
        wrong.unless_equal("omitted", &omitted, expected);
    }
    let usage = expect.usage.as_ref().map(|usage| Usage {
        input_tokens: usage.input,
        output_tokens: usage.output,
        cached_input_tokens: usage.cached,
        reasoning_tokens: usage.reasoning,
        estimated: false,
        cache_write_input_tokens: usage.cache_written,
    });
    if let Some(expected) = &expect.logprobs {
        let found = serde_json::to_value(&reply.logprobs).unwrap();
        wrong.unless_equal("logprobs", &found, expected);
    }
    if usage.is_some() || expect.usage_unknown {
        wrong.unless_equal("usage", &reply.usage, &usage);
    }
}

fn look_at_refusal(expect: &Expected, refusal: &Refusal, wrong: &mut Wrong) {
    let (remedy, wait) = match refusal.remedy {
        Remedy::Retry(wait) => ("retry", wait),
        Remedy::RetryOtherKey => ("retry_other_key", None),
        Remedy::RetryUnreadable => ("retry_unreadable", None),
        Remedy::HoldKey(wait) => ("hold_key", wait),
        Remedy::QuarantineKey => ("quarantine_key", None),
        Remedy::AskWithLess => ("ask_with_less", None),
        Remedy::GiveUp => ("give_up", None),
    };
    if expect.signals.is_none() || expect.remedy.is_some() {
        let expected = expect.remedy.as_deref();
        wrong.unless_equal("remedy", &Some(remedy), &expected);
        let wait = wait.map(|wait| wait.as_millis() as u64);
        match expect.wait_between_ms {
            None => wrong.unless_equal("wait", &wait, &expect.wait_ms),
            Some((from, to)) if wait.is_some_and(|wait| (from..=to).contains(&wait)) => {}
            Some(expected) => wrong
                .0
                .push(format!("wait is {wait:?}, not in {expected:?}")),
        }
    }
    if let Some(part) = &expect.reason
        && !refusal.reason.contains(part)
    {
        wrong
            .0
            .push(format!("reason {:?} lacks {part:?}", refusal.reason));
    }
    if let Some(maybe_used) = expect.maybe_used {
        wrong.unless_equal(
            "maybe_used",
            &(refusal.arrived == Arrived::PerhapsDone),
            &maybe_used,
        );
    }
}

fn look_at_signals(expect: &Expected, signals: &Signals, slack_ms: u64, wrong: &mut Wrong) {
    let Some(expected) = &expect.signals else {
        return;
    };
    let none = ExpectedRoom::default();
    for (name, room) in [
        ("requests", &signals.requests),
        ("tokens", &signals.tokens),
        ("input_tokens", &signals.input_tokens),
        ("output_tokens", &signals.output_tokens),
    ] {
        let expected = expected.get(name).unwrap_or(&none);
        let found = Room {
            reset: None,
            ..*room
        };
        let limits = Room {
            limit: expected.limit,
            remaining: expected.remaining,
            reset: None,
        };
        wrong.unless_equal(name, &found, &limits);
        let reset = room.reset.map(|reset| reset.as_millis() as u64);
        let near = match (reset, expected.reset_ms) {
            (Some(found), Some(expected)) => found.abs_diff(expected) <= slack_ms,
            (None, None) => true,
            _ => false,
        };
        if !near {
            let expected = expected.reset_ms;
            wrong
                .0
                .push(format!("{name} reset is {reset:?} instead of {expected:?}"));
        }
    }
}
