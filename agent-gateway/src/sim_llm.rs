//! A simulated model provider over HTTP: OpenAI, Azure OpenAI, Anthropic and Gemini, with limits,
//! charge rules and vices of its own. An answer is a pure function of the server's seed and the
//! request's bytes, never of arrival order. It refuses streaming. `agon sim-llm` runs it as a
//! process, tests and benchmarks inside theirs; to the gateway it is one more base URL. Options,
//! names of models and counts are told in `options.rs` and `stats.rs`.

mod answer;
mod books;
mod charge;
mod draw;
mod http;
mod limits;
mod options;
mod protocol;
mod schema;
mod stats;
mod window;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::server::{ListenError, Listener};
use agon_service_kit::tasks::{TaskKind, Tasks};

pub use charge::OPENAI_OUTPUT_WHEN_UNSAID;
pub use options::{SimCharge, SimHeaders, SimLimits, SimModel, SimOptions};
pub use stats::{SimCounts, SimLimit, SimStats, SimTaken, SimTokens, SimUse};

/// The only model it serves by name; any other name is answered as well.
pub const MODEL: &str = "agon-sim";

/// The `system_fingerprint` of answers in OpenAI's form, by which results made with it are
/// marked.
pub const FINGERPRINT: &str = "agon-sim-llm";

/// The header on every reply, of every protocol, that says the same.
pub const SIMULATED_HEADER: &str = "x-agon-simulated";

/// The name under which results know the simulated provider that a process brings along.
pub const SIMULATED_ENDPOINT: &str = "this process";

/// The header with the reply that whoever plays a dry run thinks plausible, as a JSON string in
/// ASCII. A server answers with it but for some slips.
pub const REPLY_HEADER: &str = "x-agon-simulated-reply";

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

#[cfg(test)]
mod tests;
