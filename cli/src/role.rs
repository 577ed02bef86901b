//! What all long-running roles share: logs and traces, the metrics endpoint, and
//! an orderly end.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use agon_service_kit::metrics;
use agon_service_kit::metrics::Metric;
use agon_service_kit::server::Listener;
use agon_service_kit::tasks::{Tasks, shutdown_signal};
use agon_service_kit::telemetry::{self, LogFormat, TelemetryGuard, TelemetryOptions};

use crate::failure::{Failure, INTERRUPTED};
use crate::output;
use crate::run_folder;
use crate::run_folder::account::State;

pub use crate::runtime::runtime;

/// How much and where the program tells about itself.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Logs and traces")]
pub struct LogArguments {
    /// What to log, such as `info` or `warn,agon_worker=debug` [default: info for
    /// services, nothing for everything else]
    #[arg(
        long = "log",
        global = true,
        env = "AGON_LOG",
        hide_env_values = true,
        value_name = "FILTER"
    )]
    filter: Option<String>,
    /// How log lines look: text or json
    #[arg(
        long,
        global = true,
        env = "AGON_LOG_FORMAT",
        hide_env_values = true,
        default_value = "text",
        value_name = "FORMAT"
    )]
    log_format: LogFormat,
    /// Send traces to this OTLP collector, such as http://collector:4317
    #[arg(
        long,
        global = true,
        env = "AGON_OTLP",
        hide_env_values = true,
        value_name = "URL"
    )]
    otlp: Option<String>,
}

impl LogArguments {
    /// Starts logs and traces; what the guard holds is flushed when it is dropped.
    ///
    /// # Errors
    /// The filter or the endpoint is wrong.
    pub fn start(&self, service: &str, quiet: bool) -> Result<TelemetryGuard, Failure> {
        // A command says in its own words what goes wrong, once.
        let default = if quiet { "off" } else { "info" };
        let options = TelemetryOptions {
            log_filter: self.filter.clone().unwrap_or_else(|| default.to_owned()),
            log_format: self.log_format,
            otlp_endpoint: self.otlp.clone(),
            service_name: format!("agon-{service}"),
        };
        telemetry::init(&options).map_err(Failure::input)
    }
}

/// Where a service keeps its state.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Store")]
pub struct StoreArguments {
    /// Keep the state in this Redis, shared by replicas
    #[arg(long, env = "AGON_REDIS", hide_env_values = true, value_name = "URL")]
    pub redis: Option<String>,
    /// Keep the state in files of this folder when there is no Redis
    #[arg(
        long,
        env = "AGON_DATA",
        hide_env_values = true,
        default_value = "agon-data",
        value_name = "DIR"
    )]
    pub data: PathBuf,
}

impl StoreArguments {
    /// The same for a run's account.
    pub fn state(&self) -> State {
        let data = self.data.to_string_lossy().into_owned();
        State {
            data: Some(data).filter(|_| self.redis.is_none()),
            redis: self.redis.clone(),
            coordinator: None,
        }
    }
}

/// Exits at the next Ctrl-C: whoever presses it twice does not want to wait. What is recorded by
/// then is kept all the same.
pub fn exit_at_second_signal() {
    tokio::spawn(async {
        shutdown_signal().await;
        std::process::exit(INTERRUPTED);
    });
}

/// Where `agon run` kept what commands read that come after it.
#[derive(Debug, Clone, clap::Args)]
pub struct DataArguments {
    /// The data folder of `agon run`
    #[arg(
        long,
        env = "AGON_DATA",
        hide_env_values = true,
        default_value = "agon-data",
        value_name = "DIR"
    )]
    data: PathBuf,
}

impl DataArguments {
    /// The data folder.
    pub fn folder(&self) -> PathBuf {
        self.data.clone()
    }

    /// The folders of results that were given no other place.
    pub fn runs(&self) -> PathBuf {
        run_folder::by_default(&self.data)
    }
}

/// Where measurements can be read.
#[derive(Debug, Clone, clap::Args)]
pub struct MetricsArguments {
    /// Serve Prometheus metrics at http://ADDRESS/metrics
    #[arg(
        long,
        env = "AGON_METRICS",
        hide_env_values = true,
        value_name = "ADDRESS",
        help_heading = "Logs and traces"
    )]
    metrics: Option<String>,
}

impl MetricsArguments {
    /// They are to be served.
    pub fn is_asked_for(&self) -> bool {
        self.metrics.is_some()
    }

    /// Serves the endpoint, if it was asked for.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub async fn serve(&self, tasks: &Tasks, listed: &[&[Metric]]) -> Result<(), Failure> {
        let Some(address) = &self.metrics else {
            return Ok(());
        };
        let listener = Listener::bind(address)
            .await
            .map_err(Failure::surroundings)?;
        metrics::install().map_err(Failure::surroundings)?;
        for metrics in listed {
            metrics::describe(metrics);
        }
        metrics::serve(tasks, listener);
        Ok(())
    }
}

/// A stopping service has this long; Kubernetes kills after 30 s by default.
const STOP_WITHIN: Duration = Duration::from_secs(20);

/// Runs a role until SIGINT or SIGTERM, or until one of its tasks fails for good.
///
/// # Errors
/// The role could not start, or a task without which it makes no sense failed.
pub fn run_service<F, Fut>(log: &LogArguments, name: &str, start: F) -> Result<(), Failure>
where
    F: FnOnce(Tasks) -> Fut,
    Fut: Future<Output = Result<(), Failure>>,
{
    runtime()?.block_on(async {
        let guard = log.start(name, false)?;
        let tasks = Tasks::new();
        start(tasks.clone()).await?;
        let ended = tasks.run_until(shutdown_signal(), STOP_WITHIN).await;
        guard.shutdown().await;
        ended.map_err(Failure::surroundings)
    })
}

/// Says where a service can be reached; scripts and tests read this line.
pub fn announce(role: &str, listener: &Listener) {
    output::print(&format!(
        "agon {role} listening on {}",
        listener.local_addr()
    ));
}
