//! `agon coordinator`: experiments, queue, leases and results as a service. Wires a
//! store, a listener and the hook that has ledgers forgotten; decides nothing about
//! sessions itself. Started by `commands.rs`.

use std::sync::Arc;
use std::time::Duration;

use agon_coordinator::{
    ArchiveChoice, Coordinator as RunningCoordinator, CoordinatorOptions, SessionLimits,
    StoreChoice, access, metrics,
};
use agon_identity::layer::behind;
use agon_identity::view::Identities;
use agon_service_kit::server;
use agon_service_kit::tasks::TaskKind;
use tonic::service::Routes;
use url::Url;

use crate::connecting::transport_to;
use crate::data_folder::{COORDINATOR, HeldFolder, STORE};
use crate::describing::describe_at;
use crate::failure::Failure;
use crate::forgetting::forget_at;
use crate::identities::{self, IdentityArguments};
use crate::role::{
    LogArguments, MetricsArguments, OnSignals, StoreArguments, TlsArguments, announce, open_door,
    run_service,
};
use crate::viewing::teams::TeamPages;

/// Arguments of `agon coordinator`.
#[derive(Debug, clap::Args)]
pub struct Coordinator {
    /// Where to listen
    #[arg(
        long,
        env = "AGON_LISTEN",
        hide_env_values = true,
        default_value = "127.0.0.1:7700",
        value_name = "ADDRESS"
    )]
    listen: String,
    /// How long a worker holds its sessions without being heard of
    #[arg(long, env = "AGON_LEASE_TTL", hide_env_values = true, default_value = "10s", value_name = "TIME",
          value_parser = at_least_a_second)]
    lease_ttl: Duration,
    /// How long the coordinator in charge may be silent before one of those that stand by on the
    /// same Redis takes over
    #[arg(long, env = "AGON_TAKE_OVER_AFTER", hide_env_values = true, default_value = "6s", value_name = "TIME",
          value_parser = at_least_a_second)]
    take_over_after: Duration,
    /// Where others reach this coordinator; a standby names the one in charge by it
    /// [default: the address that it listens on]
    #[arg(
        long,
        env = "AGON_ADVERTISE",
        hide_env_values = true,
        value_name = "ADDRESS"
    )]
    advertise: Option<String>,
    /// Where finished records go: a folder, or s3://BUCKET/PREFIX with credentials in AWS_*
    /// variables [default: into the data folder; with --redis, into Redis]
    #[arg(
        long,
        env = "AGON_ARCHIVE",
        hide_env_values = true,
        value_name = "PLACE",
        help_heading = "Store"
    )]
    archive: Option<String>,
    /// Gateway of the cluster: says where models are when an experiment is handed in, and is
    /// told when a session's decisions are no longer needed because its record is stored
    #[arg(long, env = "AGON_GATEWAY", hide_env_values = true, value_name = "URL")]
    gateway: Option<String>,
    /// Serve pages to whoever signs in with a token of a team: its experiments as they are played,
    /// sessions, results. On an address of this machine alone and without tokens, the address to
    /// open is printed. Encrypted if the coordinator's door is
    #[arg(
        long,
        env = "AGON_WEB_LISTEN",
        hide_env_values = true,
        value_name = "ADDRESS",
        help_heading = "Pages"
    )]
    web_listen: Option<String>,
    /// Where people reach these pages, such as https://agon.example.org; a provider at which they sign in
    /// sends them back there [default: where the pages listen]
    #[arg(
        long,
        env = "AGON_WEB_ADDRESS",
        hide_env_values = true,
        value_name = "URL",
        value_parser = origin,
        requires = "web_listen",
        help_heading = "Pages"
    )]
    web_address: Option<String>,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    identity: IdentityArguments,
    #[command(flatten)]
    tls: TlsArguments,
    #[command(flatten)]
    metrics: MetricsArguments,
}

/// Serves until told to stop.
pub fn run(arguments: &Coordinator, log: &LogArguments) -> Result<(), Failure> {
    let data = match arguments.store.redis {
        Some(_) => None,
        None => Some(HeldFolder::of_service(&arguments.store.data, COORDINATOR)?),
    };
    let choice = match (&arguments.store.redis, &data) {
        (None, Some(data)) => StoreChoice::Folder(data.path().join(STORE)),
        (url, _) => StoreChoice::Redis(url.clone().unwrap_or_default()),
    };
    run_service(log, "coordinator", async |tasks| {
        let tls = arguments.tls.read(&tasks)?;
        let listener = open_door(&arguments.listen, tls.as_ref()).await?;
        let gateway = match &arguments.gateway {
            Some(url) => Some(transport_to(url)?),
            None => {
                tracing::warn!(
                    "no --gateway: experiments with models are refused, and ledgers of finished \
                     sessions are not deleted"
                );
                None
            }
        };
        let identities = arguments.identity.open(&arguments.store, &tasks).await?;
        let address = listener.local_addr().to_string();
        let options = CoordinatorOptions {
            address: arguments.advertise.clone().unwrap_or(address),
            lease_time: arguments.lease_ttl,
            ownership_time: arguments.take_over_after,
            store_may_come_later: true,
            archive: archive(arguments.archive.as_deref()),
            on_stored: gateway.clone().map(|gateway| forget_at(gateway, &tasks)),
            describe_models: gateway.clone().map(describe_at),
            session_limits: Some(session_limits(&identities)),
            ..CoordinatorOptions::default()
        };
        let opened = RunningCoordinator::open(choice, options, &tasks).await;
        let coordinator = opened.map_err(Failure::surroundings)?;
        arguments
            .metrics
            .serve(
                &tasks,
                &[&metrics::METRICS, &agon_identity::metrics::METRICS],
                Some(coordinator.is_settled()),
            )
            .await?;
        announce("coordinator", &listener);
        let services = coordinator.services();
        let routes = Routes::new(services.experiments).add_service(services.session_leases);
        let gate = identities::gate(&identities, "coordinator", access::RULES, &listener);
        let routes = behind(gate, routes);
        if let Some(listen) = &arguments.web_listen {
            let tls = arguments.tls.for_browsers(&tasks)?;
            let listener = open_door(listen, tls.as_ref()).await?;
            let pages = TeamPages {
                gate: identities::gate(&identities, "pages", &[], &listener),
                services: routes.clone(),
                gateway,
                address: arguments.web_address.clone(),
                elsewhere: Box::new(coordinator.elsewhere()),
            };
            pages.serve(&tasks, listener, tls.is_some())?;
        }
        server::serve_when(
            &tasks,
            "coordinator",
            listener,
            routes,
            coordinator.in_charge(),
        );
        let shutdown = tasks.shutdown_token();
        tasks.spawn(TaskKind::UPKEEP, "coordinator drain", async move {
            shutdown.cancelled().await;
            coordinator.drain().await;
        });
        Ok(OnSignals::default())
    })
}

fn session_limits(identities: &Identities) -> SessionLimits {
    let identities = identities.clone();
    Arc::new(move || identities.session_limits())
}

fn archive(place: Option<&str>) -> ArchiveChoice {
    match place {
        None => ArchiveChoice::Store,
        Some(url) if url.starts_with("s3://") => ArchiveChoice::Bucket(url.to_owned()),
        Some(folder) => ArchiveChoice::Folder(folder.into()),
    }
}

/// Less would run out between two heartbeats on a busy machine.
const SHORTEST: Duration = Duration::from_secs(1);

/// A scheme and a host, with a port or without.
fn origin(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    let is_origin = matches!(url.scheme(), "http" | "https")
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty();
    match is_origin {
        true => Ok(url.origin().ascii_serialization()),
        false => Err("must be http:// or https:// and a host, without a path".to_owned()),
    }
}

fn at_least_a_second(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if time >= SHORTEST {
        Ok(time)
    } else {
        Err("must be at least 1s".to_owned())
    }
}
