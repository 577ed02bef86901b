//! Who keeps a server waiting is sent away, and keeps nobody else out: over real sockets, at a gRPC
//! server and at an HTTP server of this crate.

use std::time::Duration;

use agon_service_kit::http;
use agon_service_kit::open_files;
use agon_service_kit::server::{self, ConnectionLimits, Listener};
use agon_service_kit::tasks::{TaskKind, Tasks};
use axum::Router;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::service::Routes;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
/// A head of 64 bytes, of which none comes.
const HALF_HEADERS: &[u8] = &[0, 0, 64, 1, 4, 0, 0, 0, 1];

/// Longer than any time-out of the servers; after that a test should say so.
const PATIENCE: Duration = Duration::from_secs(60);

/// Two servers, one of each kind.
struct Doors {
    tasks: Tasks,
    grpc: u16,
    http: u16,
}

async fn open(limits: impl Fn(ConnectionLimits) -> ConnectionLimits) -> Doors {
    let tasks = Tasks::new();
    let listen = async || {
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let limits = limits(listener.limits());
        listener.with_limits(limits)
    };
    let (grpc, web) = (listen().await, listen().await);
    let doors = Doors {
        tasks: tasks.clone(),
        grpc: grpc.local_addr().port(),
        http: web.local_addr().port(),
    };
    server::serve(&tasks, "grpc", grpc, Routes::default());
    let router = Router::new()
        .route("/", get(|| async { "here" }))
        .route("/echo", post(|body: String| async { body }));
    let shutdown = tasks.shutdown_token();
    let served = http::serve(tasks.clone(), "http", TaskKind::WORK, web, router, shutdown);
    tasks.spawn(TaskKind::SERVICE, "http", served);
    doors
}

impl Doors {
    /// Both answer somebody who speaks at once.
    async fn answer(&self) {
        let channel = server::channel(&format!("http://127.0.0.1:{}", self.grpc)).unwrap();
        let asked = HealthCheckRequest::default();
        HealthClient::new(channel).check(asked).await.unwrap();
        let request = "POST /echo HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
                       content-length: 5\r\n\r\nhello";
        let mut stream = connect(self.http).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.ends_with("hello"), "{answer}");
    }
}

async fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).await.unwrap()
}

/// What never becomes a request.
fn beginnings() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = [
        "",
        "G",
        "GET / HT",
        "GET / HTTP/1.1\r\nhost: x\r\nx-a: ",
        "PRI * HT",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec();
    all.push(PREFACE.to_vec());
    all.push([PREFACE, &SETTINGS[..4]].concat());
    all.push([PREFACE, SETTINGS].concat());
    all.push([PREFACE, SETTINGS, HALF_HEADERS].concat());
    // TLS, which neither speaks.
    all.push(vec![0x16, 0x03, 0x01, 0x02, 0x00]);
    all
}

/// Reads until the server has closed the connection.
async fn closed(mut stream: TcpStream) {
    let mut heard = [0; 1024];
    // A reset is an end, too.
    while let Ok(1..) = stream.read(&mut heard).await {}
}

#[tokio::test]
async fn who_never_finishes_a_head_is_sent_away_and_keeps_nobody_out() {
    let doors = open(|limits| ConnectionLimits {
        head_within: Duration::from_millis(500),
        ..limits
    })
    .await;
    let mut slow = Vec::new();
    for beginning in beginnings() {
        for port in [doors.grpc, doors.http] {
            for _ in 0..20 {
                let mut stream = connect(port).await;
                stream.write_all(&beginning).await.unwrap();
                slow.push(stream);
            }
        }
    }
    doors.answer().await;
    for stream in slow {
        let ended = tokio::time::timeout(PATIENCE, closed(stream)).await;
        ended.expect("the server closes it");
    }
    doors.answer().await;
    doors.tasks.shutdown(PATIENCE).await.unwrap();
}

#[tokio::test]
async fn half_sent_heads_in_thousands_stop_neither_door() {
    // Once these were enough. This process holds both ends of both.
    let many = (open_files::limit() / 5).min(1_100);
    let doors = open(|limits| limits).await;
    let mut slow = Vec::new();
    for port in [doors.grpc, doors.http] {
        for _ in 0..many {
            let mut stream = connect(port).await;
            stream.write_all(b"GET / HTTP/1.1\r\nhost").await.unwrap();
            slow.push(stream);
        }
    }
    doors.answer().await;
    drop(slow);
    doors.tasks.shutdown(PATIENCE).await.unwrap();
}

#[tokio::test]
async fn more_connections_than_a_server_takes_are_closed_at_once_and_others_take_their_place() {
    let doors = open(|limits| ConnectionLimits { most: 3, ..limits }).await;
    for port in [doors.grpc, doors.http] {
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(connect(port).await);
        }
        let ended = tokio::time::timeout(PATIENCE, closed(connect(port).await)).await;
        ended.expect("the server closes it");
    }
    // Both are empty again as soon as they have noticed.
    let answers = async {
        loop {
            let mut stream = connect(doors.http).await;
            let request = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
            let mut answer = String::new();
            if stream.write_all(request).await.is_ok()
                && stream.read_to_string(&mut answer).await.is_ok()
                && answer.ends_with("here")
            {
                return;
            }
        }
    };
    let answered = tokio::time::timeout(PATIENCE, answers).await;
    answered.expect("a place became free");
    doors.tasks.shutdown(PATIENCE).await.unwrap();
}

#[tokio::test]
async fn headers_beyond_their_bound_are_refused() {
    let doors = open(|limits| limits).await;
    let mut stream = connect(doors.http).await;
    let head = format!(
        "GET / HTTP/1.1\r\nhost: x\r\nx-a: {}\r\n",
        "a".repeat(1 << 20)
    );
    // It may be cut off before all of it is sent.
    let _ = stream.write_all(head.as_bytes()).await;
    let ended = tokio::time::timeout(PATIENCE, closed(stream)).await;
    ended.expect("the server closes it");
    let channel = server::channel(&format!("http://127.0.0.1:{}", doors.grpc)).unwrap();
    let mut asked = tonic::Request::new(HealthCheckRequest::default());
    let long = "a".repeat(64 * 1024).parse().unwrap();
    asked.metadata_mut().insert("x-a", long);
    assert!(HealthClient::new(channel).check(asked).await.is_err());
    doors.answer().await;
    doors.tasks.shutdown(PATIENCE).await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn listening_raises_the_soft_limit_of_open_files_to_the_hard_one() {
    let _listener = Listener::bind("127.0.0.1:0").await.unwrap();
    let limits = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    assert_eq!(limits.current, limits.maximum);
}
