//! What all long-running roles share: logs and traces, the metrics endpoint, and
//! an orderly end.

use std::ffi::OsStr;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_outlets::InLine as _;
use agon_service_kit::metrics;
use agon_service_kit::metrics::Metric;
use agon_service_kit::secrets::shown_address;
use agon_service_kit::server::Listener;
use agon_service_kit::signals::{Hangups, shutdown_signal};
use agon_service_kit::tasks::Tasks;
use agon_service_kit::telemetry::{self, LogFormat, TelemetryGuard, TelemetryOptions};
use agon_service_kit::tls::{self, ServerTls, TlsFiles};
use tokio::sync::watch;

use crate::connecting::follow_certificates;
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
    /// Keep the state in this Redis, shared by replicas: redis://, rediss:// (TLS), or
    /// redis+sentinel://SENTINEL,SENTINEL/MASTER; see docs/gateway.md
    #[arg(long, env = "AGON_REDIS", hide_env_values = true, value_name = "URL")]
    pub redis: Option<String>,
    /// Keep the state in files of this folder when there is no Redis
    #[arg(
        long,
        env = "AGON_DATA",
        hide_env_values = true,
        default_value = DATA,
        value_name = "DIR"
    )]
    pub data: PathBuf,
}

impl StoreArguments {
    /// The same in words.
    pub fn shown(&self) -> String {
        match &self.redis {
            Some(url) => shown_address(url),
            None => self.data.in_line().to_string(),
        }
    }

    /// The option that names it, with a space before it; nothing where it is the usual one.
    pub fn option(&self) -> String {
        match &self.redis {
            Some(url) => format!(" --redis {}", shown_address(url)),
            None if self.data == Path::new(DATA) => String::new(),
            None => format!(" --data {}", self.data.in_line()),
        }
    }

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

/// The usual data folder.
const DATA: &str = "agon-data";

/// Whether an option was typed: what stands in its variable may be meant for other commands.
pub fn typed(value: Option<&impl AsRef<OsStr>>, variable: &str) -> bool {
    value.is_some_and(|value| std::env::var_os(variable).as_deref() != Some(value.as_ref()))
}

/// Exits at the next Ctrl-C or SIGTERM: whoever asks twice does not want to wait. Says what is lost
/// by it; what is recorded by then is kept all the same.
pub fn exit_at_second_signal(lost: impl FnOnce() -> Option<String> + Send + 'static) {
    // Listened for from now on, not only once the task runs.
    let again = shutdown_signal();
    tokio::spawn(async {
        again.await;
        if let Some(lost) = lost() {
            output::tell(&lost);
        }
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
        default_value = DATA,
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
    /// Somebody typed that they are to be served.
    pub fn is_asked_for(&self) -> bool {
        typed(self.metrics.as_ref(), "AGON_METRICS")
    }

    /// Serves the endpoint, if it was asked for; a role that does not say otherwise is always ready.
    ///
    /// # Errors
    /// The address cannot be listened on.
    pub async fn serve(
        &self,
        tasks: &Tasks,
        listed: &[&[Metric]],
        ready: Option<watch::Receiver<bool>>,
    ) -> Result<(), Failure> {
        let Some(address) = &self.metrics else {
            return Ok(());
        };
        let listener = listen_on(address).await?;
        metrics::install().map_err(Failure::surroundings)?;
        metrics::describe(&tls::metrics::METRICS);
        for metrics in listed {
            metrics::describe(metrics);
        }
        let ready = ready.unwrap_or_else(|| watch::channel(true).1);
        metrics::serve(tasks, listener, ready);
        Ok(())
    }
}

/// A stopping service has this long, unless it waits for calls that are paid for.
const STOP_WITHIN: Duration = Duration::from_secs(20);

/// What a service does at signals.
pub struct OnSignals {
    within: Box<dyn Fn() -> Duration + Send>,
    lost: Box<dyn Fn() -> Option<String> + Send>,
    reload: Option<Box<dyn Fn() + Send>>,
}

impl Default for OnSignals {
    fn default() -> Self {
        Self::stopping(|| STOP_WITHIN, || None)
    }
}

impl OnSignals {
    /// Stops within the time that it says when it is asked to, but at least the usual one; and what is
    /// lost when it is told to stop at once.
    pub fn stopping(
        within: impl Fn() -> Duration + Send + 'static,
        lost: impl Fn() -> Option<String> + Send + 'static,
    ) -> Self {
        Self {
            within: Box::new(within),
            lost: Box::new(lost),
            reload: None,
        }
    }

    /// The same, and it reads its configuration again at SIGHUP.
    #[must_use]
    pub fn reloading(self, reload: impl Fn() + Send + 'static) -> Self {
        Self {
            reload: Some(Box::new(reload)),
            ..self
        }
    }

    /// Does at each SIGHUP what is to be done; a service that has nothing to read again says so once.
    async fn at_hangups(&self, mut hangups: Hangups) {
        let mut told = false;
        loop {
            hangups.next().await;
            match &self.reload {
                Some(reload) => reload(),
                None if !told => {
                    tracing::info!("SIGHUP is ignored: this service has no configuration file");
                    told = true;
                }
                None => {}
            }
        }
    }
}

/// Runs a role until SIGINT or SIGTERM, or until one of its tasks fails for good. A second signal
/// ends it at once. SIGHUP never does.
///
/// # Errors
/// The role could not start, or a task without which it makes no sense failed.
pub fn run_service<F, Fut>(log: &LogArguments, name: &str, start: F) -> Result<(), Failure>
where
    F: FnOnce(Tasks) -> Fut,
    Fut: Future<Output = Result<OnSignals, Failure>>,
{
    runtime()?.block_on(async {
        let guard = log.start(name, false)?;
        let tasks = Tasks::new();
        follow_certificates(&tasks);
        let hangups = Hangups::listen();
        let on_signals = start(tasks.clone()).await?;
        let signal = tokio::select! {
            signal = shutdown_signal() => Some(signal),
            () = tasks.shutdown_token().cancelled_owned() => None,
            () = on_signals.at_hangups(hangups) => None,
        };
        exit_at_second_signal(on_signals.lost);
        // Whoever reads this may send another: it is listened for by now.
        if let Some(signal) = signal {
            tracing::info!(signal, "shutting down");
        }
        let within = (on_signals.within)().max(STOP_WITHIN);
        let ended = tasks.shutdown(within).await;
        guard.shutdown().await;
        ended.map_err(Failure::surroundings)
    })
}

/// How a door is encrypted.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Encryption")]
pub struct TlsArguments {
    /// Serve TLS with this certificate and its intermediate ones (PEM); read again when they change
    #[arg(
        long,
        env = "AGON_TLS_CERT",
        hide_env_values = true,
        value_name = "FILE",
        requires = "tls_key"
    )]
    tls_cert: Option<PathBuf>,
    /// The key of that certificate (PEM)
    #[arg(
        long,
        env = "AGON_TLS_KEY",
        hide_env_values = true,
        value_name = "FILE",
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,
    /// Ask callers for a certificate of this CA (PEM)
    #[arg(
        long,
        env = "AGON_TLS_CLIENT_CA",
        hide_env_values = true,
        value_name = "FILE",
        requires = "tls_cert"
    )]
    tls_client_ca: Option<PathBuf>,
}

impl TlsArguments {
    /// The files that are named.
    pub fn files(&self) -> Option<TlsFiles> {
        Some(TlsFiles {
            cert: self.tls_cert.clone()?,
            key: self.tls_key.clone()?,
            client_ca: self.tls_client_ca.clone(),
        })
    }

    /// The same for pages, whose readers show a token: browsers have no certificates of ours.
    ///
    /// # Errors
    /// A file cannot be used.
    pub fn for_browsers(&self, tasks: &Tasks) -> Result<Option<ServerTls>, Failure> {
        let without_client_ca = Self {
            tls_client_ca: None,
            ..self.clone()
        };
        without_client_ca.read(tasks)
    }

    /// What the doors of a service encrypt with, if they do.
    ///
    /// # Errors
    /// A file cannot be used.
    pub fn read(&self, tasks: &Tasks) -> Result<Option<ServerTls>, Failure> {
        let Some(files) = self.files() else {
            return Ok(None);
        };
        let tls = ServerTls::read(&files).map_err(Failure::input)?;
        tls.follow(tasks);
        Ok(Some(tls))
    }
}

/// Takes an address.
async fn listen_on(address: &str) -> Result<Listener, Failure> {
    require_listen_address(address)?;
    let listener = Listener::bind(address).await;
    listener.map_err(Failure::surroundings)
}

/// Refuses what is no address to listen on, whatever this machine has.
///
/// # Errors
/// It is none.
pub fn require_listen_address(text: &str) -> Result<(), Failure> {
    let parts = text.rsplit_once(':');
    match parts.filter(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()) {
        Some(_) => Ok(()),
        None => Err(Failure::BadInput(format!(
            "`{}` is not an address to listen on, write HOST:PORT such as 127.0.0.1:8080",
            text.in_line()
        ))),
    }
}

/// Takes an address for a door.
///
/// # Errors
/// It cannot be listened on.
pub async fn open_door(address: &str, tls: Option<&ServerTls>) -> Result<Listener, Failure> {
    let listener = listen_on(address).await?;
    Ok(match tls {
        Some(tls) => listener.with_tls(tls.clone()),
        None => listener,
    })
}

/// Takes an address that only this machine reaches.
///
/// # Errors
/// It cannot be listened on, or others would reach it.
pub async fn on_this_machine(address: &str) -> Result<Listener, Failure> {
    let listener = open_door(address, None).await?;
    let address = listener.local_addr();
    match address.ip().is_loopback() {
        true => Ok(listener),
        false => Err(Failure::BadInput(format!(
            "{address} can be reached from other machines, and this serves this one only; listen on \
             127.0.0.1, and reach it from elsewhere through ssh -L"
        ))),
    }
}

/// Says where a service can be reached; scripts and tests read this line.
pub fn announce(role: &str, listener: &Listener) {
    output::print(&format!(
        "agon {role} listening on {}",
        listener.local_addr()
    ));
}
