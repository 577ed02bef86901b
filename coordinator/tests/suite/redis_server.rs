//! A real redis-server for one test: the shared one, as this suite calls it.
//! Called by the tests of the services; a missing redis-server fails the test.

pub struct RedisServer(agon_tests::redis::RedisServer);

impl RedisServer {
    pub async fn start() -> Self {
        Self(agon_tests::redis::RedisServer::start())
    }

    pub fn url(&self) -> String {
        self.0.url()
    }
}
