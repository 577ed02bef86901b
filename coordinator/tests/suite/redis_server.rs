//! A real redis-server for one test: the shared one, as this suite calls it.
//! Called by `benches.rs` and `services.rs`; a missing redis-server fails the test.

pub struct RedisServer(agon_tests::redis::RedisServer);

impl RedisServer {
    pub async fn start() -> Self {
        Self(agon_tests::redis::RedisServer::start())
    }

    pub fn url(&self) -> String {
        self.0.url()
    }

    /// Kills it as `kill -9` does and starts it again with the same files.
    pub async fn crash_and_restart(&mut self) {
        self.0.restart();
    }
}
