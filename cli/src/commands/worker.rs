//! `agon worker`: plays sessions for a coordinator. Keeps no state and opens no port
//! but that of its metrics. Started by `commands.rs`.

use std::time::{SystemTime, UNIX_EPOCH};

use agon_worker::{Transport, WorkerOptions};

use crate::connecting::{channel_to, over, transport_to};
use crate::failure::Failure;
use crate::numbers::whole;
use crate::outside::GameArguments;
use crate::role::{LogArguments, MetricsArguments, OnSignals, run_service};

/// Sessions whose calls share a connection to the gateway: it takes 16,384 calls at a time over one,
/// and a session has as many under way as it has model seats.
const PLACES_PER_CONNECTION: u32 = 1_000;

/// Arguments of `agon worker`.
#[derive(Debug, clap::Args)]
pub struct Worker {
    /// Where the coordinator listens; of several, separated by commas, the one in charge is found
    #[arg(
        long,
        env = "AGON_COORDINATOR",
        hide_env_values = true,
        default_value = "http://127.0.0.1:7700",
        value_delimiter = ',',
        value_name = "URL"
    )]
    coordinator: Vec<String>,
    /// Where the agent gateway listens
    #[arg(
        long,
        env = "AGON_GATEWAY",
        hide_env_values = true,
        default_value = "http://127.0.0.1:7710",
        value_name = "URL"
    )]
    gateway: String,
    /// How many sessions to play at the same time
    #[arg(long, env = "AGON_PLACES", hide_env_values = true, default_value_t = 64, value_name = "N",
          allow_negative_numbers = true, value_parser = whole(1_u32, 100_000))]
    places: u32,
    /// Name in logs and telemetry [default: host name and process id]
    #[arg(
        long,
        env = "AGON_WORKER_ID",
        hide_env_values = true,
        value_name = "NAME"
    )]
    id: Option<String>,
    #[command(flatten)]
    games: GameArguments,
    #[command(flatten)]
    metrics: MetricsArguments,
}

/// Runs a worker until it is told to stop.
pub fn run(arguments: &Worker, log: &LogArguments) -> Result<(), Failure> {
    run_service(log, "worker", async |tasks| {
        arguments
            .metrics
            .serve(&tasks, &[agon_worker::METRICS], None)
            .await?;
        let coordinators = arguments.coordinator.iter().map(|url| transport_to(url));
        let coordinators = coordinators.collect::<Result<Vec<Transport>, Failure>>()?;
        let connections = arguments.places.div_ceil(PLACES_PER_CONNECTION);
        let gateways = (0..connections).map(|_| channel_to(&arguments.gateway));
        let gateways = gateways.collect::<Result<Vec<_>, Failure>>()?;
        let options = WorkerOptions {
            worker_id: arguments.id.clone().unwrap_or_else(default_id),
            incarnation: incarnation(),
            places: arguments.places as usize,
            games: arguments.games.connect().await?,
        };
        agon_worker::start(&tasks, coordinators, over(gateways), &options);
        crate::output::print(&format!("agon worker {} started", options.worker_id));
        Ok(OnSignals::default())
    })
}

/// Another one for each start, also of a process that gets the same name and number again.
fn incarnation() -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    (now.as_nanos() as u64) ^ u64::from(std::process::id()).rotate_left(32)
}

/// Unique on one machine, and in a cluster where every pod has its host name.
fn default_id() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "worker".to_owned());
    format!("{host}-{}", std::process::id())
}
