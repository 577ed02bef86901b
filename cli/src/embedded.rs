//! All roles in one process: the same coordinator, gateway and workers as in a
//! cluster, over the same protocol messages, without a socket between them.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use agon_agent_gateway::redis_store::RedisStoreError;
use agon_agent_gateway::{Gateway, GatewayConfig, GatewayError, LostAnswers, Store, access};
use agon_coordinator::{Coordinator, CoordinatorOptions, StoreChoice};
use agon_engine::spec::SIMULATED_ENDPOINT;
use agon_identity::gate::Gate;
use agon_identity::view::Identities;
use agon_report::{counted, dollars};
use agon_service_kit::tasks::Tasks;
use agon_sim_llm::{SimLlm, SimOptions};
use agon_worker::{Transport, WorkerOptions, transport};
use tonic::service::Routes;

use crate::data_folder::{HeldFolder, LEDGER, STORE};
use crate::describing::describe_at;
use crate::failure::Failure;
use crate::forgetting::forget_at;
use crate::model_config::{self, SIMULATED};
use crate::output;
use crate::outside::GameArguments;
use crate::role::{exit_at_second_signal, on_this_machine};

/// Workers give their sessions back within this time.
const WORKERS_STOP_WITHIN: Duration = Duration::from_secs(10);

/// Streams and requests may finish within this time.
const COORDINATOR_STOPS_WITHIN: Duration = Duration::from_secs(5);

/// The gateway has told whoever looks at a door by then.
const DOORS_STOP_WITHIN: Duration = Duration::from_secs(2);

/// How the roles run.
pub struct Options {
    /// Redis to keep the state in; files of the data folder otherwise.
    pub redis: Option<String>,
    /// The data folder.
    pub data: PathBuf,
    /// The experiment that is run; nothing else is played.
    pub experiment: String,
    /// How many workers.
    pub workers: usize,
    /// Sessions that each of them plays at the same time.
    pub places: usize,
    /// Games that are played elsewhere.
    pub games: GameArguments,
}

/// A cluster inside this process.
pub struct Cluster {
    /// The coordinator's experiment service.
    pub experiments: Transport,
    /// The gateway's service.
    pub gateway: Transport,
    workers: Tasks,
    /// The coordinator's tasks.
    services: Tasks,
    /// Those of doors over HTTP, which end with the gateway.
    doors: Tasks,
    running_gateway: Gateway,
    coordinator: Coordinator,
    simulated: Option<SimLlm>,
    /// Taken for this process until it ends.
    _folders: Option<Folders>,
}

/// The folders in which the roles of this process keep their state.
struct Folders {
    experiment: HeldFolder,
    gateway: HeldFolder,
}

impl Folders {
    /// Waits while another process runs the same experiment in the same data folder.
    async fn take(options: &Options) -> Result<Self, Failure> {
        Ok(Self {
            experiment: HeldFolder::of_experiment(&options.data, &options.experiment).await?,
            gateway: HeldFolder::of_gateway(&options.data)?,
        })
    }
}

impl Cluster {
    /// Starts every role; the simulated model too, when it plays.
    ///
    /// # Errors
    /// A store, a model or its key is missing; says what to do.
    pub async fn start(
        options: &Options,
        mut config: GatewayConfig,
        models: &BTreeSet<String>,
    ) -> Result<Self, Failure> {
        let folders = match &options.redis {
            Some(_) => None,
            None => Some(Folders::take(options).await?),
        };
        let simulated = start_simulated(&mut config, models).await?;
        model_config::require(&config, models)?;
        for line in model_config::unusable_keys(&config, models) {
            output::tell(&line);
        }
        let store = match (&folders, &options.redis) {
            (Some(folders), _) => Store::Shared(folders.gateway.path().join(LEDGER)),
            (None, url) => Store::Redis(url.clone().unwrap_or_default()),
        };
        let opened = Gateway::open(config, store).await;
        let running_gateway = opened.map_err(|error| match error {
            GatewayError::Redis(RedisStoreError::Address { source }) => Failure::BadInput(format!(
                "--redis is not a Redis address, write redis://host:port: {source}"
            )),
            other => Failure::surroundings(other),
        })?;
        let gateway = transport::into_service(running_gateway.service());
        let store = match (&folders, &options.redis) {
            (Some(folders), _) => StoreChoice::Folder(folders.experiment.path().join(STORE)),
            (None, url) => StoreChoice::Redis(url.clone().unwrap_or_default()),
        };
        let services = Tasks::new();
        let options_of_coordinator = CoordinatorOptions {
            on_stored: Some(forget_at(gateway.clone(), &services)),
            describe_models: Some(describe_at(gateway.clone())),
            own_workers_only: true,
            ..CoordinatorOptions::default()
        };
        let opened = Coordinator::open(store, options_of_coordinator, &services).await;
        let coordinator = opened.map_err(Failure::surroundings)?;
        let served = coordinator.services();
        let leases = transport::into_service(served.session_leases.clone());
        let services_of_coordinator =
            Routes::new(served.experiments).add_service(served.session_leases);
        let experiments = transport::into_service(services_of_coordinator.prepare());
        let games = options.games.connect().await?;
        let workers = Tasks::new();
        for number in 0..options.workers {
            let worker_id = format!("embedded-{number}");
            let options = WorkerOptions {
                worker_id,
                incarnation: std::process::id().into(),
                places: options.places,
                games: games.clone(),
            };
            agon_worker::start(&workers, vec![leases.clone()], gateway.clone(), &options);
        }
        Ok(Self {
            experiments,
            gateway,
            workers,
            services,
            doors: Tasks::new(),
            running_gateway,
            coordinator,
            simulated,
            _folders: folders,
        })
    }

    /// Has programs of this machine answer at doors over HTTP; gives the address.
    ///
    /// # Errors
    /// It cannot be listened on, or others would reach it.
    pub async fn serve_http(&self, address: &str) -> Result<SocketAddr, Failure> {
        let listener = on_this_machine(address).await?;
        let address = listener.local_addr();
        let tasks = &self.doors;
        // Nobody has tokens for a single run.
        let identities = Identities::open(None, None, tasks).await;
        let identities = identities.map_err(Failure::input)?;
        let gate = Gate::new(identities, "run http", access::HTTP_RULES, address);
        self.running_gateway.serve_http(tasks, listener, gate);
        Ok(address)
    }

    /// Exits at the next signal, and says what is lost by it.
    pub fn exit_at_second_signal(&self) {
        let gateway = self.running_gateway.clone();
        exit_at_second_signal(move || cut_off(&gateway));
    }

    /// The tasks of this process, for whatever should end with it.
    pub fn tasks(&self) -> &Tasks {
        &self.workers
    }

    /// Resolves with the reason when the data folder can take in nothing more.
    pub async fn trouble(&self) -> String {
        tokio::select! {
            reason = self.coordinator.trouble() => reason,
            reason = self.running_gateway.trouble() => reason,
        }
    }

    /// Gives running sessions back; what is under way at providers is recorded.
    pub async fn stop_workers(&self) {
        // A worker's task that failed has said so already.
        let _ = self.workers.shutdown(WORKERS_STOP_WITHIN).await;
    }

    /// Stops everything in the order in which nothing is lost: sessions are given
    /// back, calls under way are recorded, stores are closed. Gives how it ended back,
    /// with what was paid for and could not be recorded.
    pub async fn stop(self, ended: Result<(), Failure>) -> Result<(), Failure> {
        self.stop_workers().await;
        self.coordinator.drain().await;
        // Its ledgers' last chance to be forgotten, so the gateway stops after it.
        let _ = self.services.shutdown(COORDINATOR_STOPS_WITHIN).await;
        self.coordinator.close();
        let lost = self.running_gateway.stop().await;
        let _ = self.doors.shutdown(DOORS_STOP_WITHIN).await;
        if let Some(simulated) = self.simulated {
            simulated.stop().await;
        }
        match in_words(lost) {
            Some(lost) => Err(Failure::and(ended, &lost)),
            None => ended,
        }
    }
}

/// What is lost by not waiting for calls under way; nothing when there are none.
pub fn cut_off(gateway: &Gateway) -> Option<String> {
    let calls = gateway.calls_under_way();
    let (under_way, are) = (
        counted(calls, "call"),
        if calls == 1 { "is" } else { "are" },
    );
    (calls > 0).then(|| {
        format!(
            "stopped at once; {under_way} in flight {are} lost and will be paid for again if \
             repeated"
        )
    })
}

/// What was paid for and is lost; nothing when that is nothing.
pub fn in_words(lost: LostAnswers) -> Option<String> {
    let answers = counted(lost.answers, "answer");
    let cost = dollars(lost.cost.0);
    let are = if lost.answers == 1 { "was" } else { "were" };
    (lost.answers > 0).then(|| {
        format!(
            "{answers} that cost {cost} {are} paid for and could not be recorded; asked again, they \
             will be paid for again"
        )
    })
}

/// Starts the simulated model server when a player uses it and the configuration
/// does not say otherwise.
async fn start_simulated(
    config: &mut GatewayConfig,
    models: &BTreeSet<String>,
) -> Result<Option<SimLlm>, Failure> {
    let configured = config.model_names().any(|name| name == SIMULATED);
    if configured || !models.contains(SIMULATED) {
        return Ok(None);
    }
    let started = SimLlm::start(SimOptions::default(), "127.0.0.1:0").await;
    let server = started.map_err(Failure::surroundings)?;
    let simulated = model_config::Server {
        provider: "simulated",
        base_url: &server.base_url(),
        endpoint: Some(SIMULATED_ENDPOINT),
        key_variable: None,
    };
    model_config::add_server(config, &simulated, std::iter::once(SIMULATED))?;
    Ok(Some(server))
}
