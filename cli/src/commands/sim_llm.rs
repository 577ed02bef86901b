//! `agon sim-llm`: a model server that needs no model, for trying things out and
//! for tests. What comes of it is marked `simulated` everywhere.

use std::time::Duration;

use agon_agent_gateway::sim_llm::{SimLlm as Server, SimOptions};

use crate::failure::Failure;
use crate::output;
use crate::role::{LogArguments, run_service};

/// Arguments of `agon sim-llm`.
#[derive(Debug, clap::Args)]
pub struct SimLlm {
    /// Where to listen
    #[arg(long, default_value = "127.0.0.1:7780", value_name = "ADDRESS")]
    listen: String,
    /// Answers follow from this seed and the request alone
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How long every answer takes, such as 50ms
    #[arg(long, default_value = "0ms", value_parser = humantime::parse_duration, value_name = "TIME")]
    latency: Duration,
    /// Up to this much longer, by chance
    #[arg(long, default_value = "0ms", value_parser = humantime::parse_duration, value_name = "TIME")]
    latency_jitter: Duration,
    /// Requests per minute and key; more are refused with 429
    #[arg(long, value_name = "N")]
    requests_per_minute: Option<u32>,
    /// Tokens per minute and key; more are refused with 429
    #[arg(long, value_name = "N")]
    tokens_per_minute: Option<u32>,
    /// Requests in flight per key; more are refused with 429
    #[arg(long, value_name = "N")]
    concurrency: Option<u32>,
    /// Share of requests that fail with 500, 0 to 1
    #[arg(long, default_value_t = 0.0, value_parser = share, value_name = "SHARE")]
    error_rate: f64,
    /// Share of answers that are no legal answer, 0 to 1
    #[arg(long, default_value_t = 0.0, value_parser = share, value_name = "SHARE")]
    malformed_rate: f64,
    /// Share of requests that are never answered, 0 to 1
    #[arg(long, default_value_t = 0.0, value_parser = share, value_name = "SHARE")]
    timeout_rate: f64,
    /// Accept only this API key (may be repeated); any key when absent
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
}

/// Serves until it is told to stop.
pub fn run(arguments: &SimLlm, log: &LogArguments) -> Result<(), Failure> {
    run_service(log, "sim-llm", async |tasks| {
        let options = SimOptions {
            seed: arguments.seed,
            latency: arguments.latency,
            latency_jitter: arguments.latency_jitter,
            requests_per_minute: arguments.requests_per_minute,
            tokens_per_minute: arguments.tokens_per_minute,
            concurrency: arguments.concurrency,
            error_rate: arguments.error_rate,
            malformed_rate: arguments.malformed_rate,
            timeout_rate: arguments.timeout_rate,
            api_keys: arguments.keys.clone(),
        };
        let started = Server::start(options, &arguments.listen).await;
        let server = started.map_err(Failure::surroundings)?;
        output::print(&format!(
            "agon sim-llm listening on {}",
            server.local_addr()
        ));
        output::print(&format!(
            "base URL {} (statistics at /stats)",
            server.base_url()
        ));
        let shutdown = tasks.shutdown_token();
        let kind = agon_service_kit::tasks::TaskKind::SERVICE;
        tasks.spawn(kind, "sim-llm", async move {
            shutdown.cancelled().await;
            server.stop().await;
        });
        Ok(())
    })
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number"))?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err("must be from 0 to 1".to_owned())
    }
}
