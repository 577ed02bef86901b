//! A real redis-server for one test: the shared one, as this suite calls it,
//! with a connection of the gateway's own making.

use agon_redis_link::Link;

pub struct RedisServer(agon_tests::redis::RedisServer);

impl RedisServer {
    pub async fn start() -> Self {
        Self(agon_tests::redis::RedisServer::start())
    }

    pub fn url(&self) -> String {
        self.0.url()
    }

    pub async fn connection(&self) -> Link {
        agon_agent_gateway::redis_store::connect(&self.url(), None)
            .unwrap()
            .ordinary
    }

    /// Where its files are.
    pub fn folder(&self) -> &std::path::Path {
        self.0.folder()
    }

    /// As `kill -9`.
    pub fn kill(&mut self) {
        self.0.kill();
    }

    /// Starts again on the same port with the same files.
    pub async fn start_again(&mut self) {
        self.0.restart();
    }
}
