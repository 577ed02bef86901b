//! A server that speaks S3 (moto, from PyPI) on a free port of this machine, with one empty bucket;
//! stopped by its process id when it is dropped. `tests/run` installs it below the target folder.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::redis::free_port;

/// How long it may take to start: Python imports a lot, and the machine may be busy.
const STARTS_WITHIN: Duration = Duration::from_secs(120);

/// Where `tests/run` installs it, below the target folder.
const INSTALLED: &str = "s3-server/bin/moto_server";

/// A running server.
pub struct S3Server {
    child: Child,
    port: u16,
}

impl S3Server {
    /// The name of its bucket.
    pub const BUCKET: &str = "bucket";

    /// Starts a server; says why not when there is none on this machine.
    ///
    /// # Errors
    /// It is not installed.
    ///
    /// # Panics
    /// It does not start.
    pub fn start() -> Result<Self, String> {
        let test = std::env::current_exe().expect("the test's own path");
        let target = test
            .ancestors()
            .nth(3)
            .expect("target/<profile>/deps/<test>");
        let installed = target.join(INSTALLED);
        let program = if installed.is_file() {
            installed
        } else {
            PathBuf::from("moto_server")
        };
        let port = free_port();
        let child = Command::new(&program)
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| {
                format!("it needs a server that speaks S3, which tests/run installs: {error}")
            })?;
        let mut server = Self { child, port };
        let deadline = Instant::now() + STARTS_WITHIN;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = server.child.try_wait().expect("a child");
            assert!(ended.is_none(), "moto_server ended at once: {ended:?}");
            assert!(Instant::now() < deadline, "moto_server does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = server.request("PUT", "", b"");
        Ok(server)
    }

    /// What a client is told of it, as environment variables.
    pub fn variables(&self) -> Vec<(String, String)> {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        vec![
            pair(
                "AWS_ENDPOINT_URL",
                &format!("http://127.0.0.1:{}", self.port),
            ),
            pair("AWS_REGION", "us-east-1"),
            pair("AWS_ACCESS_KEY_ID", "of-a-test"),
            pair("AWS_SECRET_ACCESS_KEY", "secret-of-a-test"),
        ]
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Does something to an object of the bucket, past any client, and gives what is answered. The
    /// server wants a signature and does not check it.
    ///
    /// # Panics
    /// The server refuses.
    pub fn request(&self, method: &str, name: &str, body: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let head = format!(
            "{method} /{}/{name} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\
             Authorization: AWS4-HMAC-SHA256 Credential=of-a-test/20200101/us-east-1/s3/\
             aws4_request, SignedHeaders=host, Signature=none\r\nContent-Length: {}\r\n\r\n",
            Self::BUCKET,
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("it reads");
        stream.write_all(body).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        let mut parts = answer.windows(4);
        let head = parts.position(|four| four == b"\r\n\r\n").expect("a head") + 4;
        let body = answer.split_off(head);
        let head = String::from_utf8_lossy(&answer);
        assert!(head.starts_with("HTTP/1.1 2"), "{method} {name}: {head}");
        body
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        // It may have died by itself, which is the same here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
