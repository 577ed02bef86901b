//! Real servers under callers who keep them waiting: more of them than the files that a process may
//! open, and requests that would never be done.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use agon_tests::binary::{self, Role, run};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What most systems allow a process that does not ask for more.
const USUAL_FILES: u64 = 1_024;

/// Half-sent heads at each door.
const HALF_SENT: usize = 1_100;

/// After this the door is taken for stopped.
const PATIENCE: Duration = Duration::from_secs(60);

fn set_soft_limit(current: Option<u64>) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).expect("a limit below the hard one");
}

#[test]
fn half_sent_heads_in_thousands_stop_neither_door_of_a_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    // The gateway begins with what is usual; this process holds the other ends.
    set_soft_limit(Some(USUAL_FILES));
    let (mut gateway, grpc) = Role::listening(&[
        "gateway",
        "--listen",
        "127.0.0.1:0",
        "--http-listen",
        "127.0.0.1:0",
        "--data",
        &data,
    ]);
    set_soft_limit(getrlimit(Resource::Nofile).maximum);
    let line = gateway.line_with("http listening on ");
    let http = line.trim().rsplit(' ').next().unwrap_or_default();
    let mut slow = Vec::new();
    for (door, beginning) in [
        (http, &b"POST /v1/chat/completions HTTP/1.1\r\nhost"[..]),
        (&grpc, &b"PRI * HTTP/2.0\r\n"[..]),
    ] {
        for _ in 0..HALF_SENT {
            let mut stream = TcpStream::connect(door).expect("a door");
            stream.write_all(beginning).expect("an open connection");
            slow.push(stream);
        }
    }
    let mut caller = TcpStream::connect(http).expect("a door");
    caller.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = b"GET /live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    caller.write_all(request).unwrap();
    let mut answer = String::new();
    caller.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let url = format!("http://{grpc}");
    let _ = run(&["gateway", "status", "--gateway", &url]).expect_code(0);
    drop(slow);
    let (status, _) = gateway.terminate();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn limit_of_connections_says_so_in_the_log_when_it_bites_and_how_to_have_more() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    // Of 150 files two thirds are for connections.
    let binary = binary::path().display().to_string();
    let mut command = binary::command_in_shell("ulimit -n 150 && exec \"$0\" \"$@\"", &binary);
    command.args(["gateway", "--listen", "127.0.0.1:0", "--data", &data]);
    command.stderr(std::process::Stdio::piped());
    let mut server = Role::of(command, "gateway");
    let line = server.line_with("listening on ");
    let address = line.trim().rsplit(' ').next().unwrap_or_default();
    let mut held: Vec<TcpStream> = (0..100)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    let mut refused = TcpStream::connect(address).unwrap();
    refused.set_read_timeout(Some(PATIENCE)).unwrap();
    let closed = refused.read(&mut [0; 1]);
    let is_closed = match &closed {
        Ok(read) => *read == 0,
        Err(fault) => fault.kind() == std::io::ErrorKind::ConnectionReset,
    };
    assert!(is_closed, "{closed:?}");
    held.clear();
    server.signal("-TERM");
    let (code, log) = server.end();
    assert_eq!(code, Some(0), "{log}");
    let told: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("refused"))
        .collect();
    assert_eq!(told.len(), 1, "{log}");
    for words in [
        "WARN",
        "as many connections as this server takes",
        "ulimit -n",
    ] {
        assert!(told[0].contains(words), "{words}: {log}");
    }
}

#[test]
fn simulated_provider_ends_when_it_is_told_to_while_schemas_ask_for_billions() {
    let (mut server, address) = Role::listening(&["sim-llm", "--listen", "127.0.0.1:0"]);
    let schema = r#"{"type":"object","required":["a"],"properties":{"a":{"type":"array","minItems":4000000000,"items":{"type":"integer"}}}}"#;
    let body = format!(
        "{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"now\"}}],\"response_format\":\
         {{\"type\":\"json_schema\",\"json_schema\":{{\"name\":\"a\",\"schema\":{schema}}}}}}}"
    );
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut asking: Vec<TcpStream> = (0..32)
        .map(|_| {
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    // It is at work once the first answer has begun.
    asking[0].set_read_timeout(Some(PATIENCE)).unwrap();
    let mut first = [0; 12];
    asking[0].read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let (told, ended) = std::sync::mpsc::channel();
    server.signal("-TERM");
    std::thread::spawn(move || told.send(server.end().0));
    let code = ended.recv_timeout(PATIENCE).expect("it ends by itself");
    assert_eq!(code, Some(0));
}
