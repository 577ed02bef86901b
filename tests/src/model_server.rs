//! A simulated model server in a process of its own, and its own count of what
//! it was asked.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use crate::binary::Role;

/// A running server.
pub struct ModelServer {
    role: Role,
    address: String,
}

impl ModelServer {
    /// Starts one on a free port, with further flags of `agon sim-llm`.
    pub fn start(flags: &[&str]) -> Self {
        let mut arguments = vec!["sim-llm", "--listen", "127.0.0.1:0"];
        arguments.extend(flags);
        let (role, address) = Role::listening(&arguments);
        Self { role, address }
    }

    /// What `--base-url` takes.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Holds its answers back, until [`ModelServer::go_on`].
    pub fn hold(&self) {
        self.role.signal("-STOP");
    }

    /// Answers again.
    pub fn go_on(&self) {
        self.role.signal("-CONT");
    }

    /// One of its counts, by name.
    ///
    /// # Panics
    /// It does not answer, or has no such count.
    pub fn count(&self, name: &str) -> u64 {
        let stats = get(&self.address, "/stats");
        let stats: Value = serde_json::from_str(&stats).expect("statistics as JSON");
        stats[name]
            .as_u64()
            .unwrap_or_else(|| panic!("no count {name} in {stats}"))
    }
}

/// The body of a GET request.
///
/// # Panics
/// There is no server, or it refuses.
pub fn get(address: &str, path: &str) -> String {
    exchange("GET", address, path)
}

/// The body of the answer to a POST request without one.
///
/// # Panics
/// There is no server, or it refuses.
pub fn post(address: &str, path: &str) -> String {
    exchange("POST", address, path)
}

fn exchange(method: &str, address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a server");
    let request = format!(
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\nContent-Length: 0\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("a connection");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.contains(" 20"), "{head}");
    body.to_owned()
}
