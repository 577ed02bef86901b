//! A real redis-server on a free port of this machine, with a folder of its own;
//! stopped by its process id when it is dropped.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a server may take to start.
const STARTS_WITHIN: Duration = Duration::from_secs(20);

/// A server that hangs is not waited for longer.
const ANSWERS_WITHIN: Duration = Duration::from_millis(500);

/// A sentinel that is not patient replaces a master that has not answered for so long.
const SOON: Duration = Duration::from_millis(300);

/// A running server.
pub struct RedisServer {
    child: Child,
    port: u16,
    folder: TempDir,
    arguments: Vec<String>,
}

/// Every command is written before it is answered, and none waits for the disk: whatever
/// was answered outlives the process. Syncing every second puts writes off while the disk
/// is busy, and a killed server then loses what it answered.
const WRITTEN: &str = "no";

/// As in production, for figures.
const EVERY_SECOND: &str = "everysec";

impl RedisServer {
    /// Starts a server with an append-only file that outlives its process.
    ///
    /// # Panics
    /// There is no redis-server on this machine, or it does not start: the test
    /// that needs it must fail.
    pub fn start() -> Self {
        Self::start_on(free_port())
    }

    /// The same, on a port that others were told before.
    ///
    /// # Panics
    /// As [`RedisServer::start`].
    pub fn start_on(port: u16) -> Self {
        Self::start_with(port, &["--appendfsync", WRITTEN])
    }

    /// Starts a replica of a server.
    ///
    /// # Panics
    /// As [`RedisServer::start`].
    pub fn start_replica_of(master: &Self) -> Self {
        let of = format!("127.0.0.1 {}", master.port);
        let quick = ["--repl-diskless-sync-delay", "0"];
        let arguments = ["--appendfsync", WRITTEN, "--replicaof", &of];
        Self::start_with(free_port(), &[&arguments[..], &quick].concat())
    }

    /// The same with a file that is synced every second.
    ///
    /// # Panics
    /// As [`RedisServer::start`].
    pub fn start_synced_every_second() -> Self {
        Self::start_with(free_port(), &["--appendfsync", EVERY_SECOND])
    }

    /// Starts a server that also speaks TLS, on a port of its own.
    ///
    /// # Panics
    /// As [`RedisServer::start`].
    pub fn start_with_tls() -> (Self, Tls) {
        let tls = Tls::new();
        (Self::start_speaking(&tls, &[]), tls)
    }

    /// Starts a replica that has everything of its master's over TLS and speaks it too, with the same
    /// certificate, on a port of its own.
    ///
    /// # Panics
    /// As [`RedisServer::start`].
    pub fn start_tls_replica_of(master: &Tls) -> Self {
        let of = format!("localhost {}", master.port);
        let tls = Tls {
            port: free_port(),
            folder: Arc::clone(&master.folder),
        };
        let quick = ["--repl-diskless-sync-delay", "0", "--replicaof", &of];
        Self::start_speaking(&tls, &quick)
    }

    fn start_speaking(tls: &Tls, more: &[&str]) -> Self {
        let [ca, cert, key] = tls.files().map(|file| file.display().to_string());
        let port = tls.port.to_string();
        let files = ["--tls-ca-cert-file", &ca, "--tls-cert-file", &cert];
        let rest = ["--tls-key-file", &key, "--tls-port", &port];
        // Certificates are of names. A master becomes a replica of whoever took its place.
        let arguments = ["--appendfsync", WRITTEN, "--tls-auth-clients", "optional"];
        let replicas = [
            "--tls-replication",
            "yes",
            "--replica-announce-ip",
            "localhost",
        ];
        let all = [&arguments[..], &replicas, &files, &rest, more];
        Self::start_with(free_port(), &all.concat())
    }

    fn start_with(port: u16, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let arguments: Vec<String> = arguments.iter().copied().map(str::to_owned).collect();
        let child = spawn(port, &folder, &arguments);
        let mut server = Self {
            child,
            port,
            folder,
            arguments,
        };
        server.wait();
        server
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The folder that holds its append-only file.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Kills its process.
    pub fn kill(&mut self) {
        // It may have died by itself, which is the same here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again on the same port and folder.
    pub fn restart(&mut self) {
        self.kill();
        self.child = spawn(self.port, &self.folder, &self.arguments);
        self.wait();
    }

    /// Stops its process where it is, as a machine that hangs does.
    ///
    /// # Panics
    /// There is no `kill` command.
    pub fn pause(&self) {
        signal(&self.child, "-STOP");
    }

    /// Lets a paused process go on.
    ///
    /// # Panics
    /// There is no `kill` command.
    pub fn resume(&self) {
        signal(&self.child, "-CONT");
    }

    /// The answer to a command whose answer is one string; nothing when there is none in time.
    pub fn ask(&self, words: &[&str]) -> Option<String> {
        ask(self.port, words)
    }

    fn wait(&mut self) {
        let deadline = Instant::now() + STARTS_WITHIN;
        while !self.answers() {
            let ended = self.child.try_wait().expect("a child");
            assert!(ended.is_none(), "redis-server ended at once: {ended:?}");
            assert!(Instant::now() < deadline, "redis-server does not answer");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn answers(&self) -> bool {
        answers(self.port)
    }
}

/// Whether a server has read its files and takes commands.
fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    let mut answer = [0; 5];
    let asked = stream.write_all(b"PING\r\n");
    asked.is_ok() && stream.read_exact(&mut answer).is_ok() && answer == *b"+PONG"
}

/// See [`RedisServer::ask`].
fn ask(port: u16, words: &[&str]) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(ANSWERS_WITHIN)).ok()?;
    let mut command = format!("*{}\r\n", words.len());
    for word in words {
        command += &format!("${}\r\n{word}\r\n", word.len());
    }
    stream.write_all(command.as_bytes()).ok()?;
    let mut answer = BufReader::new(stream);
    let mut head = String::new();
    answer.read_line(&mut head).ok()?;
    let mut text = vec![0; head.trim().strip_prefix('$')?.parse().ok()?];
    answer.read_exact(&mut text).ok()?;
    String::from_utf8(text).ok()
}

fn signal(child: &Child, signal: &str) {
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status()
        .expect("a kill command");
    assert!(sent.success(), "redis-server is gone");
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(port: u16, folder: &TempDir, arguments: &[String]) -> Child {
    Command::new("redis-server")
        .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "yes"])
        .args(["--port", &port.to_string()])
        .args(arguments)
        .arg("--dir")
        .arg(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server must be installed: tests/run installs it")
}

/// The certificates of one server, and the port at which it shows them.
pub struct Tls {
    port: u16,
    folder: Arc<TempDir>,
}

impl Tls {
    fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
        let made = made.expect("a certificate");
        let folder = tempfile::tempdir().expect("a scratch folder");
        let tls = Self {
            port: free_port(),
            folder: Arc::new(folder),
        };
        let [ca, cert, key] = tls.files();
        let texts = [
            made.cert.pem(),
            made.cert.pem(),
            made.signing_key.serialize_pem(),
        ];
        for (file, text) in [ca, cert, key].into_iter().zip(texts) {
            std::fs::write(file, text).expect("a scratch file");
        }
        tls
    }

    /// The authority's certificate, the server's, and its key.
    fn files(&self) -> [PathBuf; 3] {
        ["ca.pem", "cert.pem", "key.pem"].map(|name| self.folder.path().join(name))
    }

    /// Where the server is for a user, with its authority.
    pub fn url(&self, user: &str, password: &str) -> String {
        let ([ca, ..], port) = (self.files(), self.port);
        format!(
            "rediss://{user}:{password}@localhost:{port}?ca={}",
            ca.display()
        )
    }

    /// The same with a certificate of its own, for servers that ask for one.
    pub fn url_with_certificate(&self, user: &str, password: &str) -> String {
        let ([_, cert, key], url) = (self.files(), self.url(user, password));
        format!("{url}&cert={}&key={}", cert.display(), key.display())
    }

    /// The same without the authority, which no system knows.
    pub fn url_without_authority(&self) -> String {
        format!("rediss://localhost:{}", self.port)
    }
}

/// A sentinel that watches one master alone and replaces it when it stops to answer.
pub struct Sentinel {
    child: Child,
    port: u16,
    /// Holds its configuration, which it writes to.
    folder: TempDir,
}

impl Sentinel {
    /// The name of the master that it watches.
    pub const MASTER: &str = "main";

    /// Starts one that replaces the master soon.
    ///
    /// # Panics
    /// As [`RedisServer::start`].
    pub fn watching(master: &RedisServer) -> Self {
        Self::patient(master, SOON)
    }

    /// Starts one that replaces the master when it has not answered for so long.
    ///
    /// # Panics
    /// As [`RedisServer::start`].
    pub fn patient(master: &RedisServer, patience: Duration) -> Self {
        Self::start(&monitoring("127.0.0.1", master.port, patience))
    }

    /// Starts one that speaks TLS as its master does and replaces it soon, and the address of it for a
    /// user of that.
    ///
    /// # Panics
    /// As [`RedisServer::start`].
    pub fn with_tls(master: &Tls, user: &str, password: &str) -> (Self, String) {
        let [ca, cert, key] = master.files().map(|file| file.display().to_string());
        let (name, port) = (Self::MASTER, free_port());
        let monitoring = monitoring("localhost", master.port, SOON);
        // Certificates are of names.
        let sentinel = Self::start(&format!(
            "tls-port {port}\ntls-ca-cert-file {ca}\ntls-cert-file {cert}\ntls-key-file {key}\n\
             tls-auth-clients optional\ntls-replication yes\n\
             sentinel resolve-hostnames yes\nsentinel announce-hostnames yes\n\
             {monitoring}"
        ));
        let url = format!("rediss+sentinel://{user}:{password}@localhost:{port}/{name}?ca={ca}");
        (sentinel, url)
    }

    /// Starts one that has not been told of any master yet.
    ///
    /// # Panics
    /// As [`RedisServer::start`].
    pub fn watching_nobody() -> Self {
        Self::start("")
    }

    /// Tells it of a master.
    pub fn watch(&self, master: &RedisServer) {
        let port = master.port.to_string();
        // The answer is no string.
        let _ = self.ask(&["SENTINEL", "MONITOR", Self::MASTER, "127.0.0.1", &port, "1"]);
    }

    fn start(watched: &str) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let port = free_port();
        let lines = format!("port {port}\nbind 127.0.0.1\n{watched}");
        std::fs::write(folder.path().join(CONFIGURATION), lines).expect("a scratch file");
        let mut sentinel = Self {
            child: spawn_sentinel(folder.path()),
            port,
            folder,
        };
        sentinel.wait();
        sentinel
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The answer to a command whose answer is one string; nothing when there is none in time.
    pub fn ask(&self, words: &[&str]) -> Option<String> {
        ask(self.port, words)
    }

    /// Kills its process.
    pub fn kill(&mut self) {
        // It may have died by itself, which is the same here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again with what it knew.
    pub fn restart(&mut self) {
        self.kill();
        self.child = spawn_sentinel(self.folder.path());
        self.wait();
    }

    /// Stops its process where it is.
    ///
    /// # Panics
    /// There is no `kill` command.
    pub fn pause(&self) {
        signal(&self.child, "-STOP");
    }

    /// Lets a paused process go on.
    ///
    /// # Panics
    /// There is no `kill` command.
    pub fn resume(&self) {
        signal(&self.child, "-CONT");
    }

    fn wait(&mut self) {
        let deadline = Instant::now() + STARTS_WITHIN;
        while !answers(self.port) {
            let ended = self.child.try_wait().expect("a child");
            assert!(ended.is_none(), "the sentinel ended at once: {ended:?}");
            assert!(Instant::now() < deadline, "the sentinel does not answer");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Lines of a sentinel's configuration: which master it watches, and how long it waits for it.
fn monitoring(host: &str, port: u16, patience: Duration) -> String {
    let (name, patience) = (Sentinel::MASTER, patience.as_millis());
    format!(
        "sentinel monitor {name} {host} {port} 1\n\
         sentinel down-after-milliseconds {name} {patience}\n\
         sentinel failover-timeout {name} 3000\n"
    )
}

/// The file in a sentinel's folder that it reads and writes.
const CONFIGURATION: &str = "sentinel.conf";

fn spawn_sentinel(folder: &Path) -> Child {
    Command::new("redis-server")
        .arg(folder.join(CONFIGURATION))
        .arg("--sentinel")
        .current_dir(folder)
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server must be installed: tests/run installs it")
}

/// Below the ports that a system gives to outgoing connections (from 32,768 on): one of those could take
/// the port before the server has started.
const FREE_PORTS: Range<u16> = 20_000..32_000;

/// A port that was free a moment ago, another one for each who asks.
///
/// # Panics
/// None is free.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let of_process = u64::from(std::process::id()).wrapping_mul(7_919);
    let ports = u64::from(FREE_PORTS.end - FREE_PORTS.start);
    for _ in FREE_PORTS {
        let place = of_process + u64::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = FREE_PORTS.start + u16::try_from(place % ports).expect("less than the ports");
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no port of {FREE_PORTS:?} is free");
}
