//! What providers answer: heads and bodies of five protocols, made from the golden cases of the
//! gateway's tests, over real HTTP to the real providers; the text that comes out, and prose, goes on to
//! the reader of replies. One byte before each input says which protocol.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agon_agent_gateway::GatewayConfig;
use agon_agent_gateway::catalogue::{ProviderKind, ResolvedModel};
use agon_agent_gateway::decision::{Message, Request, Role};
use agon_agent_gateway::providers::{Call, Providers};
use agon_agents::{Reply, reading};
use agon_engine::session::open;
use agon_engine::{Ask, PlayerKind, registry};
use agon_tests::tree;
use secrecy::SecretString;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use super::Target;
use super::bytes::{change, changed};
use super::draw::Draw;
use super::json::forged;
use super::records::spec;

/// Folder of the golden cases, which is the kind's name, and further lines of its section.
const PROTOCOLS: [(&str, ProviderKind, &str); 5] = [
    ("openai", ProviderKind::OpenAi, ""),
    ("azure", ProviderKind::Azure, ""),
    ("anthropic", ProviderKind::Anthropic, ""),
    ("gemini", ProviderKind::Gemini, ""),
    ("bedrock", ProviderKind::Bedrock, "region = 'r'"),
];

/// The number before an input that is prose and no head.
const PROSE: u8 = 5;

/// What an answer that never ends may take.
const PATIENCE: Duration = Duration::from_millis(300);

const WORDS: &[&str] = &[
    "\"choices\":[",
    "\"usage\":{",
    "\"content\":",
    "\"text\":",
    "\"candidates\":[",
    "\"error\":{",
    "HTTP/1.1 200 OK\r\n",
    "retry-after: 1\r\n",
    "transfer-encoding: chunked\r\n",
    "content-encoding: gzip\r\n",
    "x-ratelimit-remaining-tokens: 5\r\n",
    "I choose ",
    "My answer is ",
    "not ",
    "between 10 and 20",
];

const HEADERS: &[&str] = &[
    "retry-after",
    "retry-after-ms",
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
    "x-ratelimit-reset-requests",
    "anthropic-ratelimit-tokens-reset",
    "anthropic-ratelimit-input-tokens-remaining",
    "x-agon-simulated",
    "date",
];

const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "1e308",
    "nan",
    "18446744073709551616",
    "6m0s",
    "99999999999h",
    "1ms",
    "",
    "2026-01-01T00:00:00Z",
    "9999-12-31T23:59:59+23:59",
    "-262144-01-01T00:00:00Z",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "0.0000000000001s",
    "1h1h1h",
];

const STATUSES: &[u16] = &[
    200, 200, 200, 200, 400, 401, 403, 404, 408, 413, 429, 500, 503, 529, 204, 302,
];

/// The providers, a server that answers them, and the asks of every game.
pub struct Replies {
    bodies: [Vec<Value>; 5],
    prose: Vec<Vec<u8>>,
    models: Vec<(ProviderKind, ResolvedModel)>,
    providers: Providers,
    answer: Arc<Mutex<Vec<u8>>>,
    asks: Vec<Ask>,
    key: SecretString,
    runtime: Runtime,
}

impl Replies {
    pub fn new() -> Self {
        agon_service_kit::server::install_crypto();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let answer: Arc<Mutex<Vec<u8>>> = Arc::default();
        let listener = runtime
            .block_on(TcpListener::bind("127.0.0.1:0"))
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        runtime.spawn(serve(listener, Arc::clone(&answer)));
        let models = PROTOCOLS.map(|(named, kind, section)| {
            let text = format!(
                "[providers.p]\nkind = '{named}'\nbase_url = 'http://{address}/v1'\nkeys = []\n\
                 timeout = '1s'\n{section}\n[models.m]\nprovider = 'p'\n"
            );
            let config = GatewayConfig::parse("x.toml", &text).expect("a configuration");
            (kind, config.resolve_without_keys("m").expect("a model"))
        });
        let prose = ["seen", "varied"].map(|file| {
            let path = tree::root().join(format!("agents/tests/corpus/{file}.tsv"));
            std::fs::read_to_string(path).expect("a file of the project")
        });
        let prose = prose.iter().flat_map(|text| text.lines());
        let prose = prose.filter_map(|line| Some(line.rsplit('\t').next()?.as_bytes().to_vec()));
        let asks = registry::GAMES.iter().flat_map(|entry| {
            let play = open(&spec(&entry.info.name, PlayerKind::Model)).expect("a session");
            play.waiting().take(1).cloned().collect::<Vec<_>>()
        });
        Self {
            bodies: PROTOCOLS.map(|(folder, ..)| bodies(folder)),
            prose: prose.collect(),
            models: models.into(),
            providers: Providers::real().expect("an HTTP client"),
            answer,
            asks: asks.collect(),
            key: SecretString::from("key".to_owned()),
            runtime,
        }
    }

    fn read(&self, text: &str) {
        let others = ["alice".to_owned(), "bob".to_owned()];
        for finish_reason in ["stop", "length"] {
            let reply = Reply {
                text: text.to_owned(),
                finish_reason: finish_reason.to_owned(),
            };
            // Two games of them all, so that a case is short.
            for further in 0..2 {
                let ask = &self.asks[(text.len() + further) % self.asks.len()];
                let _ = reading::read_among(ask, &others, &reply);
            }
        }
    }
}

/// The answers of a protocol's golden cases.
fn bodies(folder: &str) -> Vec<Value> {
    let path = tree::root()
        .join("agent-gateway/tests/fixtures")
        .join(folder);
    let cases = ["errors", "usage", "signals"].map(|file| {
        let text = std::fs::read_to_string(path.join(format!("{file}.json")));
        let file: Value = serde_json::from_str(&text.expect("a fixture")).expect("JSON");
        file["cases"].as_array().cloned().unwrap_or_default()
    });
    let bodies = cases.into_iter().flatten();
    let bodies: Vec<Value> = bodies
        .filter_map(|case| case.get("body").cloned())
        .collect();
    assert!(!bodies.is_empty(), "{folder} has no bodies");
    bodies
}

/// Answers every request of a connection with the bytes that are set.
async fn serve(listener: TcpListener, answer: Arc<Mutex<Vec<u8>>>) {
    while let Ok((connection, _)) = listener.accept().await {
        let answer = Arc::clone(&answer);
        tokio::spawn(async move { answer_to(connection, &answer).await });
    }
}

async fn answer_to(mut connection: TcpStream, answer: &Mutex<Vec<u8>>) -> Option<()> {
    let mut seen = Vec::new();
    loop {
        let end = loop {
            if let Some(end) = seen.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
            if connection.read_buf(&mut seen).await.ok()? == 0 {
                return None;
            }
        };
        let head = String::from_utf8_lossy(&seen[..end]).to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length
            .and_then(|length| length.trim().parse().ok())
            .unwrap_or(0);
        while seen.len() < end + length {
            if connection.read_buf(&mut seen).await.ok()? == 0 {
                return None;
            }
        }
        seen.drain(..end + length);
        let bytes = answer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        connection.write_all(&bytes).await.ok()?;
        // An answer that does not say where it ends ends with the connection.
        if !bytes.starts_with(b"HTTP/1.1 200 Kept\r\n") {
            return connection.shutdown().await.ok();
        }
    }
}

impl Target for Replies {
    fn input(&self, draw: &mut Draw) -> Vec<u8> {
        let protocol = draw.below(6);
        let mut input = vec![protocol as u8];
        if protocol == usize::from(PROSE) {
            input.extend(changed(draw, &self.prose, WORDS));
            return input;
        }
        let body = {
            let real = draw.pick(&self.bodies[protocol]);
            forged(draw, real)
        };
        let mut body = body.to_string().into_bytes();
        let texts = [body.clone()];
        if draw.one_in(3) {
            change(draw, &mut body, &texts, WORDS);
        }
        let status = *draw.pick(STATUSES);
        let mut head = match status {
            200 => "HTTP/1.1 200 Kept\r\n".to_owned(),
            _ => format!("HTTP/1.1 {status} Said\r\n"),
        };
        while draw.one_in(3) {
            head.push_str(&format!(
                "{}: {}\r\n",
                draw.pick(HEADERS),
                draw.pick(VALUES)
            ));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        let mut head = head.into_bytes();
        if draw.one_in(6) {
            let texts = [head.clone()];
            change(draw, &mut head, &texts, WORDS);
            // It may no longer say where it ends.
            head = String::from_utf8_lossy(&head)
                .replace(" Kept", " OK")
                .into_bytes();
        }
        input.extend(head);
        input.extend(body);
        input
    }

    fn run(&self, input: &[u8]) {
        let Some((protocol, bytes)) = input.split_first() else {
            return;
        };
        let Some((kind, model)) = self.models.get(usize::from(*protocol)) else {
            return self.read(&String::from_utf8_lossy(bytes));
        };
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = bytes.to_vec();
        let request = Request {
            model: "m".to_owned(),
            messages: vec![Message {
                role: Role::User,
                content: "hi".to_owned(),
            }],
            ..Request::default()
        };
        let call = Call {
            model,
            request: &request,
            // Without one, Bedrock would want a signature.
            key: Some(&self.key),
            required: &[],
            simulated_reply: None,
        };
        let provider = self.providers.get(*kind).expect("a provider of each kind");
        let answered = async { tokio::time::timeout(PATIENCE, provider.call(call)).await };
        if let Ok(Ok(reply)) = self.runtime.block_on(answered) {
            self.read(&reply.text);
        }
    }
}
