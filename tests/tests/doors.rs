//! A real gateway under callers who keep it waiting: more of them than the files that a process
//! may usually open.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use agon_tests::binary::{Role, run};
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
