//! `agon gateway`: the agent gateway as a service, and `agon gateway status`,
//! `costs`, `revive` and `forget`, which ask a running one. Wires configuration, ledger and listener; calls no model
//! itself. Started by `commands.rs`.

mod address;
mod costs;
mod forget;
mod revive;
mod status;

use std::time::Duration;

use agon_agent_gateway::{Gateway as RunningGateway, Store, access};
use agon_identity::layer::behind;
use agon_service_kit::server;
use agon_service_kit::tasks::TaskKind;
use tonic::service::Routes;

use crate::data_folder::{GATEWAY, HeldFolder, LEDGER};
use crate::embedded;
use crate::failure::Failure;
use crate::identities::{IdentityArguments, gate};
use crate::model_config::ModelArguments;
use crate::output;
use crate::role::{
    LogArguments, MetricsArguments, OnSignals, StoreArguments, TlsArguments, announce, open_door,
    run_service, runtime,
};

/// Callers are told their answers within this time after the gateway has stopped.
const TO_SAY_SO: Duration = Duration::from_secs(5);

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
    /// Show what a running gateway is doing: teams, keys, limits, waiting
    Status(status::Status),
    /// Put keys back into use; the gateway also retries them by itself
    Revive(revive::Revive),
    /// Send parameters again that a model's server has refused
    Forget(forget::Forget),
    /// Show what was spent, by team, day, model or experiment, and how budgets stand
    Costs(costs::Costs),
}

#[derive(Debug, clap::Args)]
struct Serve {
    /// Where to listen
    #[arg(
        long,
        env = "AGON_LISTEN",
        hide_env_values = true,
        default_value = "127.0.0.1:7710",
        value_name = "ADDRESS"
    )]
    listen: String,
    /// Answer OpenAI's chat completions over HTTP here too, such as 127.0.0.1:7711;
    /// beyond this machine callers need tokens
    #[arg(
        long,
        env = "AGON_HTTP_LISTEN",
        hide_env_values = true,
        value_name = "ADDRESS"
    )]
    http_listen: Option<String>,
    #[command(flatten)]
    models: ModelArguments,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    identity: IdentityArguments,
    #[command(flatten)]
    tls: TlsArguments,
    #[command(flatten)]
    metrics: MetricsArguments,
}

/// Serves until told to stop, or asks a running one.
pub fn run(arguments: &Gateway, log: &LogArguments) -> Result<(), Failure> {
    match &arguments.ask {
        Some(Ask::Status(arguments)) => runtime()?.block_on(status::run(arguments)),
        Some(Ask::Revive(arguments)) => runtime()?.block_on(revive::run(arguments)),
        Some(Ask::Forget(arguments)) => runtime()?.block_on(forget::run(arguments)),
        Some(Ask::Costs(arguments)) => runtime()?.block_on(costs::run(arguments)),
        None => serve(&arguments.serve, log),
    }
}

fn serve(arguments: &Serve, log: &LogArguments) -> Result<(), Failure> {
    if arguments.models.names_a_server() {
        let text = "--base-url has no effect here, where no experiment names models: write \
                    [providers.NAME] with base_url into the configuration, and ask for NAME/MODEL";
        return Err(Failure::BadInput(text.to_owned()));
    }
    let config = arguments.models.read()?;
    let file = arguments.models.file();
    let data = match arguments.store.redis {
        Some(_) => None,
        None => Some(HeldFolder::of_service(&arguments.store.data, GATEWAY)?),
    };
    let store = match (&arguments.store.redis, &data) {
        (None, Some(data)) => Store::Embedded(data.path().join(LEDGER)),
        (url, _) => Store::Redis(url.clone().unwrap_or_default()),
    };
    run_service(log, "gateway", async |tasks| {
        let tls = arguments.tls.read(&tasks)?;
        let listener = open_door(&arguments.listen, tls.as_ref()).await?;
        let http = match &arguments.http_listen {
            Some(address) => Some(open_door(address, tls.as_ref()).await?),
            None => None,
        };
        let identities = arguments.identity.open(&arguments.store, &tasks).await?;
        let opened = RunningGateway::open(config, store).await;
        let gateway = opened.map_err(Failure::surroundings)?;
        arguments
            .metrics
            .serve(
                &tasks,
                &[
                    &agon_agent_gateway::metrics::METRICS,
                    &agon_identity::metrics::METRICS,
                ],
                Some(gateway.store_answers()),
            )
            .await?;
        let has_file = file.is_some();
        if let Some(file) = file {
            gateway.follow(file);
        }
        announce("gateway", &listener);
        if let Some(http) = http {
            let address = http.local_addr();
            let gate = gate(&identities, "gateway http", access::HTTP_RULES, &http);
            gateway.serve_http(&tasks, http, gate);
            output::print(&format!("agon gateway http listening on {address}"));
        }
        let gate = gate(&identities, "gateway", access::RULES, &listener);
        let routes = behind(gate, Routes::new(gateway.service()));
        server::serve_when(&tasks, "gateway", listener, routes, gateway.store_answers());
        let shutdown = tasks.shutdown_token();
        let drained = gateway.clone();
        tasks.spawn(TaskKind::SERVICE, "gateway drain", async move {
            shutdown.cancelled().await;
            if let Some(lost) = embedded::in_words(drained.stop().await) {
                output::tell(&lost);
            }
        });
        let (asked, reloaded) = (gateway.clone(), gateway.clone());
        let on_signals = OnSignals::stopping(
            move || asked.begin_stop() + TO_SAY_SO,
            move || embedded::cut_off(&gateway),
        );
        Ok(match has_file {
            true => on_signals.reloading(move || reloaded.reload()),
            false => on_signals,
        })
    })
}
