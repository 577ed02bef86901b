//! `agon gateway`: the agent gateway as a service, and `agon gateway status`, which
//! asks a running one. Wires configuration, ledger and listener; calls no model
//! itself. Started by `commands.rs`.

use std::time::Duration;

use agon_agent_gateway::{Gateway as RunningGateway, Store};
use agon_proto::v1::GetGatewayStatusRequest;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_service_kit::server::{self, Listener, channel};
use agon_service_kit::tasks::TaskKind;
use tonic::service::Routes;

use crate::data_folder::ServiceFolder;
use crate::failure::Failure;
use crate::model_config::ModelArguments;
use crate::output::{self, Columns};
use crate::results::refused;
use crate::role::{LogArguments, MetricsArguments, StoreArguments, announce, run_service, runtime};

/// Calls at providers may finish within this time when the gateway stops.
const DRAIN_WITHIN: Duration = Duration::from_secs(15);

/// Arguments of `agon gateway`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Gateway {
    #[command(subcommand)]
    ask: Option<Ask>,
    #[command(flatten)]
    serve: Serve,
}

#[derive(Debug, clap::Subcommand)]
enum Ask {
    /// Show what a running gateway is doing: keys, calls, waiting
    Status {
        /// Where the gateway listens
        #[arg(
            long,
            env = "AGON_GATEWAY",
            default_value = "http://127.0.0.1:7710",
            value_name = "URL"
        )]
        gateway: String,
    },
}

#[derive(Debug, clap::Args)]
struct Serve {
    /// Where to listen
    #[arg(
        long,
        env = "AGON_LISTEN",
        default_value = "127.0.0.1:7710",
        value_name = "ADDRESS"
    )]
    listen: String,
    #[command(flatten)]
    models: ModelArguments,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    metrics: MetricsArguments,
}

/// Serves until told to stop, or shows the status of a running one.
pub fn run(arguments: &Gateway, log: &LogArguments) -> Result<(), Failure> {
    match &arguments.ask {
        Some(Ask::Status { gateway }) => runtime()?.block_on(status(gateway)),
        None => serve(&arguments.serve, log),
    }
}

fn serve(arguments: &Serve, log: &LogArguments) -> Result<(), Failure> {
    let config = arguments.models.read()?;
    let data = match arguments.store.redis {
        Some(_) => None,
        None => Some(ServiceFolder::take(&arguments.store.data, "gateway")?),
    };
    let store = match (&arguments.store.redis, &data) {
        (None, Some(data)) => Store::Embedded(data.path().join("ledger.db")),
        (url, _) => Store::Redis(url.clone().unwrap_or_default()),
    };
    run_service(log, "gateway", async |tasks| {
        let listener = Listener::bind(&arguments.listen)
            .await
            .map_err(Failure::surroundings)?;
        let opened = RunningGateway::open(config, store).await;
        let gateway = opened.map_err(Failure::surroundings)?;
        arguments
            .metrics
            .serve(&tasks, &[&agon_agent_gateway::metrics::METRICS])
            .await?;
        announce("gateway", &listener);
        let routes = Routes::new(gateway.service());
        server::serve_when(&tasks, "gateway", listener, routes, gateway.store_answers());
        let shutdown = tasks.shutdown_token();
        tasks.spawn(TaskKind::SERVICE, "gateway drain", async move {
            shutdown.cancelled().await;
            gateway.drain(DRAIN_WITHIN).await;
        });
        Ok(())
    })
}

async fn status(url: &str) -> Result<(), Failure> {
    let channel = channel(url).map_err(Failure::input)?;
    let mut client = AgentGatewayServiceClient::new(channel);
    let asked = client
        .get_gateway_status(GetGatewayStatusRequest::default())
        .await;
    let status = asked.map_err(|refusal| refused(&format!("the gateway at {url}"), &refusal))?;
    let status = status.into_inner();
    output::print(&format!(
        "decided {} ({} from the ledger), {} waiting for quota, {} at providers",
        status.decided, status.answered_from_ledger, status.waiting_for_quota, status.in_flight
    ));
    let mut columns = Columns::new([
        "provider",
        "key from",
        "in flight",
        "calls",
        "refused",
        "failed",
        "state",
    ]);
    for key in status.keys {
        let state = match (key.quarantine_reason.as_str(), key.held_for_ms) {
            ("", 0) => "ready".to_owned(),
            ("", held) => format!("held for {:.1} s", held as f64 / 1000.0),
            (reason, _) => format!("out of use: {reason}"),
        };
        columns.row([
            key.provider,
            key.source,
            key.in_flight.to_string(),
            key.calls.to_string(),
            key.refused_by_provider.to_string(),
            key.failed.to_string(),
            state,
        ]);
    }
    output::print(&columns.to_string());
    Ok(())
}
