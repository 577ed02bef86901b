//! The cluster that is disturbed: two coordinators on a Redis with a replica and a sentinel, two
//! gateways on a Redis of their own, workers, an archive in a folder. Knows where everything is;
//! disturbs nothing. Called by `kills.rs` and `killer.rs`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{WatchExperimentRequest, WatchExperimentResponse};
use agon_service_kit::server::channel;
use agon_tests::binary::MODEL_SERVERS;
use agon_tests::model_server::ModelServer;
use agon_tests::redis::{RedisServer, Sentinel, free_port};
use agon_tests::waiting::until;
use tonic::transport::Channel;

use crate::process::{Agon, Process, Program};

/// How many workers there are.
const WORKERS: usize = 3;

/// A worker that was not heard of for so long has lost its sessions.
const LEASE: &str = "2s";

/// A coordinator that was not heard of for so long is replaced.
const TAKE_OVER_AFTER: &str = "2s";

/// The sentinel replaces a master that was away for so long: more than it is ever stopped for.
const SENTINEL_PATIENCE: Duration = Duration::from_secs(2);

/// Where the journal keeps its end.
const JOURNAL_STATE: &str = "{agon}:journal:v1:state";

/// A coordinator that is in charge and runs answers sooner.
const ANSWERS_WITHIN: Duration = Duration::from_millis(500);

/// See the module.
pub struct Stand {
    /// All of them; the fields below are places in it.
    pub processes: Vec<Process>,
    /// Both coordinators.
    pub coordinators: [usize; 2],
    /// Both gateways.
    pub gateways: [usize; 2],
    /// The workers.
    pub workers: Vec<usize>,
    /// The Redis of the coordinators' journal: at first the master, then the replica.
    pub journal: [usize; 2],
    /// The Redis of the gateways' ledger.
    pub ledger: usize,
    /// The sentinel that watches the journal's.
    pub sentinel: usize,
    /// Where finished records go.
    pub archive: PathBuf,
    /// What `--coordinator` takes, of each of them.
    pub urls: [String; 2],
    clients: [ExperimentServiceClient<Channel>; 2],
}

impl Stand {
    /// Starts everything, with so many places at each worker.
    pub fn start(folder: &Path, models: &ModelServer, places: usize) -> Self {
        let config = folder.join("agon.toml");
        let text = format!(
            "[providers.simulated]\nbase_url = \"{}\"\nendpoint = \"{MODEL_SERVERS}\"\nkeys = []\n\
             [models.any]\nprovider = \"simulated\"\n",
            models.base_url()
        );
        fs::write(&config, text).expect("a writable folder");
        let config = config.display().to_string();
        let archive = folder.join("archive");
        let log = |name: &str| folder.join(format!("{name}.log"));

        let mut processes = Vec::new();
        let mut add = |name: &str, program: Program| {
            processes.push(Process::new(name, program));
            processes.len() - 1
        };
        let (master, ledger) = (RedisServer::start(), RedisServer::start());
        let replica = RedisServer::start_replica_of(&master);
        let sentinel = Sentinel::patient(&master, SENTINEL_PATIENCE);
        until("the sentinel knows the replica", || {
            let known = sentinel.ask(&["INFO", "sentinel"]);
            known.is_some_and(|known| known.contains("slaves=1"))
        });
        let journal_url = format!(
            "redis+sentinel://127.0.0.1:{}/{}",
            sentinel.port(),
            Sentinel::MASTER
        );
        let ledger_url = ledger.url();
        let address = || format!("127.0.0.1:{}", free_port());
        let gateway_addresses = [address(), address()];
        let gateway_urls = gateway_addresses
            .each_ref()
            .map(|at| format!("http://{at}"));
        let gateways = [0, 1].map(|number| {
            let listen = &gateway_addresses[number];
            let arguments = [
                "gateway",
                "--listen",
                listen,
                "--config",
                &config,
                "--redis",
                &ledger_url,
            ];
            let name = format!("gateway-{number}");
            let agon = Agon::launch(&arguments, log(&name));
            add(&name, Program::Agon(agon))
        });
        let place = archive.display().to_string();
        let addresses = [address(), address()];
        let coordinators = [0, 1].map(|number| {
            let listen = &addresses[number];
            let arguments = [
                &["coordinator", "--listen", listen, "--redis", &journal_url][..],
                &["--archive", &place, "--gateway", &gateway_urls[number]],
                &["--lease-ttl", LEASE, "--take-over-after", TAKE_OVER_AFTER],
            ];
            let name = format!("coordinator-{number}");
            let agon = Agon::launch(&arguments.concat(), log(&name));
            add(&name, Program::Agon(agon))
        });
        let urls = addresses.map(|at| format!("http://{at}"));
        let (both, places) = (urls.join(","), places.to_string());
        let workers = (0..WORKERS).map(|number| {
            let gateway = &gateway_urls[number % gateway_urls.len()];
            let arguments = [
                &["worker", "--coordinator", &both, "--gateway", gateway][..],
                &["--places", &places],
            ];
            let name = format!("worker-{number}");
            let agon = Agon::launch(&arguments.concat(), log(&name));
            add(&name, Program::Agon(agon))
        });
        let workers = workers.collect();
        let clients = urls
            .each_ref()
            .map(|url| ExperimentServiceClient::new(channel(url).expect("an address")));
        Self {
            coordinators,
            gateways,
            workers,
            journal: [
                add("journal-redis-0", Program::Redis(master)),
                add("journal-redis-1", Program::Redis(replica)),
            ],
            ledger: add("ledger-redis", Program::Redis(ledger)),
            sentinel: add("sentinel", Program::Sentinel(sentinel)),
            processes,
            archive,
            urls,
            clients,
        }
    }

    /// Which coordinator is in charge, and how the experiment stands.
    pub async fn look(&self, experiment: &str) -> Option<(usize, WatchExperimentResponse)> {
        let [one, two] = self
            .clients
            .each_ref()
            .map(|client| look(client.clone(), experiment.to_owned()));
        let (one, two) = tokio::join!(one, two);
        let first = one.map(|state| (0, state));
        first.or_else(|| two.map(|state| (1, state)))
    }

    /// Whether the replica of the journal has all that its master has.
    pub fn is_in_step(&self) -> bool {
        let replica = self.processes[self.journal[1]].redis();
        let info = replica.ask(&["INFO", "replication"]);
        info.is_some_and(|info| info.contains("master_link_status:up"))
    }

    /// The place of the journal's last batch, as its master or its replica has it.
    pub fn end_of_journal(&self, at: usize) -> Option<u64> {
        let redis = self.processes[self.journal[at]].redis();
        let end = redis.ask(&["HGET", JOURNAL_STATE, "end"])?;
        end.parse().ok()
    }

    /// Whether the replica of the journal has become its master.
    pub fn is_promoted(&self) -> bool {
        let replica = self.processes[self.journal[1]].redis();
        let info = replica.ask(&["INFO", "replication"]);
        info.is_some_and(|info| info.contains("role:master"))
    }
}

async fn look(
    mut client: ExperimentServiceClient<Channel>,
    experiment_id: String,
) -> Option<WatchExperimentResponse> {
    let asking = async {
        let request = WatchExperimentRequest { experiment_id };
        let mut states = client.watch_experiment(request).await.ok()?.into_inner();
        states.message().await.ok()?
    };
    tokio::time::timeout(ANSWERS_WITHIN, asking).await.ok()?
}
