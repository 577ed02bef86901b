//! Heads and bodies of HTTP/1 requests, byte by byte over TCP, to the gateway's HTTP door with and
//! without tokens, to one that speaks TLS, to the metrics endpoint and to the gRPC port. One byte before
//! each input says which. The plain HTTP servers must still answer an honest request afterwards.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agon_agent_gateway::access;
use agon_identity::gate::Gate;
use agon_identity::layer::behind;
use agon_identity::view::Identities;
use agon_service_kit::metrics;
use agon_service_kit::server::{self, Listener};
use agon_service_kit::tasks::Tasks;
use agon_service_kit::tls::{ServerTls, TlsFiles};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tonic::service::Routes;

use super::Target;
use super::bytes::{change, changed};
use super::draw::Draw;
use super::grpc::{Service, gateway};

/// An answer that takes longer is not waited for.
const PATIENCE: Duration = Duration::from_millis(300);

/// An answer that has not begun by then is not waited for: the request is likely incomplete.
const BEGINS_WITHIN: Duration = Duration::from_millis(20);

/// For an honest request beside the others.
const HONEST_PATIENCE: Duration = Duration::from_secs(10);

/// The most that is read of an answer.
const MOST_READ: u64 = 1 << 20;

/// Cases between two honest requests.
const HONEST_EVERY: u64 = 50;

const TOKEN: &str = "a-token-of-many-characters";

const WORDS: &[&str] = &[
    "GET ",
    "POST ",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/1.1\r\n",
    "HTTP/1.0\r\n",
    "\r\n",
    "\r\n\r\n",
    "content-length: 5\r\n",
    "content-length: 18446744073709551616\r\n",
    "transfer-encoding: chunked\r\n",
    "ffffffffffffffff\r\n",
    "0\r\n\r\n",
    "expect: 100-continue\r\n",
    "connection: upgrade\r\nupgrade: h2c\r\n",
    "authorization: Bearer x\r\n",
    "authorization: Bearer a-token-of-many-characters\r\n",
    "authorization: Bearer agon_00000000_",
    "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}",
    "content-encoding: gzip\r\n",
    "x-agon-session: s\r\n",
    "x-agon-index: 4294967296\r\n",
    "host: \r\n",
    "/v1/models/",
    "?limit=-1&after=%ff",
    "\"stream\":true",
    "\"messages\":[",
    "\"n\":99999999",
    "\"temperature\":1e999",
    "\"max_tokens\":-1",
    "\"tools\":[{}]",
    "\"response_format\":{\"type\":\"json_schema\"}",
];

fn corpus() -> Vec<Vec<u8>> {
    let post = |path: &str, body: &str| {
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
    };
    let texts = [
        post(
            "/v1/chat/completions",
            r#"{"model":"m","messages":[{"role":"system","content":"a"},{"role":"user","content":"hi"}],"temperature":0.5,"top_p":1,"max_tokens":9,"seed":3,"stop":["x"],"n":1,"user":"u"}"#,
        ),
        post(
            "/v1/chat/completions",
            r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"stream":true,"stream_options":{"include_usage":true},"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object"}}}}"#,
        ),
        post("/v1/doors/d/answers", r#"{"session":"s","seat":0,"index":0,"reply":"hi"}"#),
        "GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(),
        "GET /v1/models/m HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(),
        "GET /v1/doors/d/asks?wait=1s HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(),
        format!("GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n\r\n"),
        "GET /health HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(),
        "GET /metrics HTTP/1.1\r\nhost: x\r\naccept: text/plain\r\n\r\n".to_owned(),
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n\
         5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n"
            .to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0\0\0\u{12}\u{4}\0\0\0\0\0\0\u{3}\0\0\0d".to_owned(),
    ];
    texts.map(String::into_bytes).into()
}

/// The servers.
pub struct Heads {
    corpus: Vec<Vec<u8>>,
    addresses: [SocketAddr; 5],
    cases: AtomicU64,
    service: Service,
}

impl Heads {
    pub fn new() -> Self {
        let service = Service::start();
        let addresses = service.runtime.block_on(async {
            metrics::install().expect("a recorder");
            let tasks: &Tasks = &service.tasks;
            let gateway = gateway(service.folder.path()).await;
            let bind = async || Listener::bind("127.0.0.1:0").await.expect("a port");
            let listeners = [
                bind().await,
                bind().await,
                bind().await,
                bind().await,
                bind().await.with_tls(certified(service.folder.path())),
            ];
            let addresses = listeners.each_ref().map(Listener::local_addr);
            let [door, page, grpc, closed, encrypted] = listeners;
            let tokens = Identities::open(None, Some(tokens(service.folder.path())), tasks).await;
            let tokens = tokens.expect("a good file");
            for listener in [closed, encrypted] {
                let address = listener.local_addr();
                let gate = Gate::new(tokens.clone(), "http", access::HTTP_RULES, address);
                gateway.serve_http(tasks, listener, gate);
            }
            let identities = Identities::open(None, None, tasks).await;
            let identities = identities.expect("no file");
            let address = door.local_addr();
            let gate = Gate::new(identities.clone(), "http", access::HTTP_RULES, address);
            gateway.serve_http(tasks, door, gate);
            let (_always, ready) = watch::channel(true);
            metrics::serve(tasks, page, ready);
            let gate = Gate::new(identities, "gateway", access::RULES, grpc.local_addr());
            let routes = behind(gate, Routes::new(gateway.service()));
            server::serve(tasks, "gateway", grpc, routes);
            addresses
        });
        Self {
            corpus: corpus(),
            addresses,
            cases: AtomicU64::new(0),
            service,
        }
    }

    async fn honest(&self) {
        for (address, path) in [
            (self.addresses[0], "/health"),
            (self.addresses[1], "/metrics"),
            (self.addresses[3], "/health"),
        ] {
            let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
            let answered = tokio::time::timeout(
                HONEST_PATIENCE,
                say(address, request.as_bytes(), HONEST_PATIENCE),
            );
            let answer = answered.await.ok().flatten().unwrap_or_default();
            assert!(
                answer.starts_with(b"HTTP/1.1 200 "),
                "{path} no longer answers"
            );
        }
    }
}

/// A token of a team in a file, which stands in the corpus, too.
fn tokens(folder: &Path) -> PathBuf {
    let (token, file) = (folder.join("token"), folder.join("identity.toml"));
    fs::write(&token, TOKEN).expect("a writable folder");
    let text = format!(
        "[teams.red]\n[tokens.red]\nteam = 'red'\nscopes = ['submit', 'play']\nfile = '{}'\n",
        token.display()
    );
    fs::write(&file, text).expect("a writable folder");
    file
}

/// A certificate of its own.
fn certified(folder: &Path) -> ServerTls {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
    let made = made.expect("a certificate");
    let files = TlsFiles {
        cert: folder.join("cert.pem"),
        key: folder.join("key.pem"),
        client_ca: None,
    };
    fs::write(&files.cert, made.cert.pem()).expect("a writable folder");
    fs::write(&files.key, made.signing_key.serialize_pem()).expect("a writable folder");
    ServerTls::read(&files).expect("a pair of files")
}

async fn say(address: SocketAddr, bytes: &[u8], within: Duration) -> Option<Vec<u8>> {
    let mut connection = TcpStream::connect(address).await.ok()?;
    // A server may close before it has read everything.
    let _ = connection.write_all(bytes).await;
    let mut answer = Vec::new();
    // Whoever hangs up before the answer begins may get none.
    let _ = tokio::time::timeout(within, connection.read_buf(&mut answer)).await;
    let _ = connection.shutdown().await;
    let _ = connection.take(MOST_READ).read_to_end(&mut answer).await;
    Some(answer)
}

impl Target for Heads {
    fn input(&self, draw: &mut Draw) -> Vec<u8> {
        let mut input = vec![*draw.pick(&[0, 0, 0, 1, 2, 3, 3, 4])];
        if draw.one_in(2) {
            input.extend(changed(draw, &self.corpus, WORDS));
            return input;
        }
        // A body behind a head that knows its length.
        let request = draw.pick(&self.corpus).clone();
        let end = request.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        let (_, body) = request.split_at(end.map_or(0, |end| end + 4));
        let mut body = body.to_vec();
        for _ in 0..=draw.below(3) {
            change(draw, &mut body, &self.corpus, WORDS);
        }
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        input.extend(head.bytes().chain(body));
        input
    }

    fn run(&self, input: &[u8]) {
        let Some((which, bytes)) = input.split_first() else {
            return;
        };
        let address = self.addresses[usize::from(*which) % self.addresses.len()];
        self.service.runtime.block_on(async {
            let _ = tokio::time::timeout(PATIENCE, say(address, bytes, BEGINS_WITHIN)).await;
            if self.cases.fetch_add(1, Ordering::Relaxed) % HONEST_EVERY == HONEST_EVERY - 1 {
                self.honest().await;
            }
        });
    }
}
