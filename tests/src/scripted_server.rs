//! A model server that says what a test wants said, byte by byte, over plain HTTP/1.1: for what a
//! well-behaved simulated server never says. Judges nothing; a thread for each connection.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// What an answer is made of: the number of the request, from 0, and its body.
pub type Script = dyn Fn(u64, &[u8]) -> Said + Send + Sync;

/// An answer.
pub struct Said {
    /// The HTTP status.
    pub status: u16,
    /// The body, sent as JSON whatever it is.
    pub body: Vec<u8>,
}

/// The server; it listens until the process ends.
pub struct ScriptedServer {
    address: SocketAddr,
    requests: Arc<AtomicU64>,
}

impl ScriptedServer {
    /// Starts to answer on a free port.
    ///
    /// # Panics
    /// There is no free port.
    pub fn start(script: impl Fn(u64, &[u8]) -> Said + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(AtomicU64::new(0));
        let (counted, script) = (Arc::clone(&requests), Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (counted, script) = (Arc::clone(&counted), Arc::clone(&script));
                thread::spawn(move || serve(stream, &counted, script.as_ref()));
            }
        });
        Self { address, requests }
    }

    /// The value for `--base-url`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Requests so far.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}

/// Until the client goes; a broken connection is the end of it.
fn serve(stream: TcpStream, counted: &AtomicU64, script: &Script) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut out = stream;
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end().to_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(said) = line.strip_prefix("content-length:") {
                length = said.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let said = script(counted.fetch_add(1, Ordering::Relaxed), &body);
        let head = format!(
            "HTTP/1.1 {} said\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            said.status,
            said.body.len()
        );
        // In one piece: the second of two would wait until the first was acknowledged.
        out.write_all(&[head.as_bytes(), &said.body].concat())
            .ok()?;
    }
}
