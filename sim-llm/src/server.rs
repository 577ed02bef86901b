//! The server as a value: started, asked for its counts, stopped. A process of its own, tests and
//! benchmarks start one; dropping it stops it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::server::{ListenError, Listener};
use agon_service_kit::tasks::{TaskKind, Tasks};

use crate::http;
use crate::options::SimOptions;
use crate::stats::SimStats;

/// How long running requests get when the server is stopped; none takes long but a hung one,
/// and that ends at once.
const STOP_DEADLINE: Duration = Duration::from_secs(2);

/// A running simulated provider. Dropping it stops it.
#[derive(Debug)]
pub struct SimLlm {
    tasks: Tasks,
    local_addr: SocketAddr,
    provider: Arc<http::Provider>,
}

impl SimLlm {
    /// Listens on `address` (`host:port`; port 0 means any free port) and starts to answer.
    pub async fn start(options: SimOptions, address: &str) -> Result<Self, ListenError> {
        let listener = Listener::bind(address).await?;
        let local_addr = listener.local_addr();
        let tasks = Tasks::new();
        let provider = Arc::new(http::Provider::new(options, tasks.shutdown_token()));
        let server = http::serve(listener, provider.clone());
        tasks.spawn(TaskKind::SERVICE, "simulated model provider", server);
        Ok(Self {
            tasks,
            local_addr,
            provider,
        })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// What a provider's configuration calls the base URL, such as `http://127.0.0.1:8080/v1`,
    /// for OpenAI's protocol and Anthropic's. Azure's is the same without `/v1`, Gemini's has
    /// `/v1beta` instead.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.local_addr)
    }

    /// What it has counted so far; the same as `GET /stats`.
    pub fn stats(&self) -> SimStats {
        self.provider.stats()
    }

    /// Begins the counts "since the mark" anew; the same as `POST /stats/mark`.
    pub fn mark(&self) {
        self.provider.mark();
    }

    /// Stops listening, ends running requests and waits for that.
    pub async fn stop(self) {
        // The only task that can fail is the server, and it has nothing left to do.
        let _ = self.tasks.shutdown(STOP_DEADLINE).await;
    }
}

impl Drop for SimLlm {
    fn drop(&mut self) {
        self.tasks.shutdown_token().cancel();
    }
}
