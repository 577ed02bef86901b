//! A real redis-server for one test, on a free port, in a scratch folder, killed with its handle.
//! Called by `benches.rs` and `services.rs`; a missing redis-server fails the test.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than any healthy start; after that the test should say so.
const START_PATIENCE: Duration = Duration::from_secs(10);

pub struct RedisServer {
    child: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl RedisServer {
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let child = spawn(port, &folder);
        let mut server = Self {
            child,
            port,
            folder,
        };
        server.wait_until_it_answers().await;
        server
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Kills it as `kill -9` does and starts it again with the same files.
    pub async fn crash_and_restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = spawn(self.port, &self.folder);
        self.wait_until_it_answers().await;
    }

    async fn wait_until_it_answers(&mut self) {
        let client = redis::Client::open(self.url()).unwrap();
        let began = Instant::now();
        loop {
            if let Ok(mut connection) = client.get_multiplexed_async_connection().await {
                let ping = redis::cmd("PING");
                if ping.query_async::<String>(&mut connection).await.is_ok() {
                    return;
                }
            }
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "redis-server ended at once: {ended:?}");
            assert!(
                began.elapsed() < START_PATIENCE,
                "redis-server does not answer"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(port: u16, folder: &tempfile::TempDir) -> Child {
    Command::new("redis-server")
        .args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
        ])
        .args(["--appendonly", "yes", "--appendfsync", "always", "--dir"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server is not on the PATH, install it with: apt-get install redis-server")
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
