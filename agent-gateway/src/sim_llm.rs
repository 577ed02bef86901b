//! A simulated model provider: an OpenAI-compatible HTTP server that answers every ask of ours
//! with a legal but naive choice, within limits and with faults as its options say. An answer is
//! a pure function of the server's seed and the request's bytes, never of arrival order, so a
//! replay meets the same answers. It refuses streaming. `agon sim-llm` runs it as a process of
//! its own, tests run it inside theirs; the gateway itself knows it only as one more base URL.

mod answer;
mod draw;
mod http;
mod limits;
mod schema;
mod stats;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::server::{ListenError, Listener};
use agon_service_kit::tasks::{TaskKind, Tasks};

pub use stats::SimStats;

/// The only model it serves by name; any other name is answered as well.
pub const MODEL: &str = "agon-sim";

/// Every answer's `system_fingerprint`, by which results made with it are marked.
pub const FINGERPRINT: &str = "agon-sim-llm";

/// The header on every reply that says the same.
pub const SIMULATED_HEADER: &str = "x-agon-simulated";

/// How long running requests get when the server is stopped; none takes long but a hung one,
/// and that ends at once.
const STOP_DEADLINE: Duration = Duration::from_secs(2);

/// How the server behaves.
#[derive(Debug, Clone, PartialEq)]
pub struct SimOptions {
    /// Decides every choice and every fault.
    pub seed: u64,
    /// Time before each answer.
    pub latency: Duration,
    /// Added to it, between nothing and this much, decided by the request.
    pub latency_jitter: Duration,
    /// Requests each key may make per minute; a whole minute's worth may come at once.
    pub requests_per_minute: Option<u32>,
    /// Tokens, in and out together, that each key may use per minute.
    pub tokens_per_minute: Option<u32>,
    /// Requests each key may have running.
    pub concurrency: Option<u32>,
    /// Share of tries that fail with status 500; another try of the same request may succeed.
    pub error_rate: f64,
    /// Share of requests answered with nonsense: broken JSON, a refusal, numbers out of range.
    pub malformed_rate: f64,
    /// Share of tries that are never answered.
    pub timeout_rate: f64,
    /// Keys that are let in; anybody when empty.
    pub api_keys: Vec<String>,
}

impl Default for SimOptions {
    /// Immediate, without limits or faults.
    fn default() -> Self {
        Self {
            seed: 0,
            latency: Duration::ZERO,
            latency_jitter: Duration::ZERO,
            requests_per_minute: None,
            tokens_per_minute: None,
            concurrency: None,
            error_rate: 0.0,
            malformed_rate: 0.0,
            timeout_rate: 0.0,
            api_keys: Vec::new(),
        }
    }
}

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

    /// What a provider's configuration calls the base URL, such as `http://127.0.0.1:8080/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.local_addr)
    }

    /// What it has counted so far; the same as `GET /stats`.
    pub fn stats(&self) -> SimStats {
        self.provider.stats()
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

#[cfg(test)]
mod tests;
