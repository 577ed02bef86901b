//! What stands while a section measures: a real Redis, replicas of `agon gateway`
//! on it, one configuration for all of them. Everything ends when it is dropped.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::{
    GetGatewayStatusRequest, GetGatewayStatusResponse, ListCostsRequest, ListCostsResponse,
};
use agon_service_kit::server::channel;
use agon_tests::binary::Role;
use agon_tests::measured::{Memory, Process, memory_kib};
use agon_tests::redis::RedisServer;
use tempfile::TempDir;
use tonic::transport::Channel;

use crate::simulated::Simulated;

/// A connection of ours carries many calls; several keep one reader from being
/// the bottleneck of the measurement.
const CHANNELS_PER_REPLICA: usize = 4;

/// A client of the gateway.
pub type Client = AgentGatewayServiceClient<Channel>;

/// A gateway's configuration as it grows, and the folder it lies in.
pub struct Config {
    folder: TempDir,
    text: String,
}

impl Config {
    /// An empty one.
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a scratch folder"),
            text: String::new(),
        }
    }

    /// A provider with so many keys; `lines` are further lines of its section.
    pub fn provider(&mut self, name: &str, server: &Simulated, keys: usize, lines: &str) {
        let sources: Vec<String> = (0..keys)
            .map(|number| {
                let path = self.folder.path().join(format!("{name}-{number}.key"));
                fs::write(&path, format!("bench-{name}-{number:04}")).expect("a writable folder");
                format!("{{ file = '{}' }}", path.display())
            })
            .collect();
        let (base_url, sources) = (server.base_url(), sources.join(", "));
        let _ = write!(
            self.text,
            "[providers.{name}]\nbase_url = '{base_url}'\nkeys = [{sources}]\n{lines}\n"
        );
    }

    /// Anything else.
    pub fn add(&mut self, lines: &str) {
        self.text.push_str(lines);
        self.text.push('\n');
    }

    /// Puts other text in the place of some and writes the file again, for
    /// gateways that run.
    pub fn replace(&mut self, from: &str, to: &str) {
        assert!(self.text.contains(from), "no `{from}` in the configuration");
        self.text = self.text.replace(from, to);
        self.write();
    }

    fn write(&self) -> PathBuf {
        let path = self.folder.path().join("gateway.toml");
        fs::write(&path, &self.text).expect("a writable folder");
        path
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// The processes.
pub struct Stand {
    /// The replicas; one may be killed and started again.
    pub replicas: Vec<Replica>,
    /// The store that they share.
    pub redis: RedisServer,
    /// Their configuration.
    pub config: Config,
}

impl Stand {
    /// Starts Redis and so many replicas.
    pub fn start(replicas: usize, config: Config) -> Self {
        let redis = RedisServer::start_synced_every_second();
        let mut stand = Self {
            replicas: Vec::new(),
            redis,
            config,
        };
        for _ in 0..replicas {
            let replica = Replica::start(&stand.config, &stand.redis.url(), stand.replicas.len());
            stand.replicas.push(replica);
        }
        stand
    }

    /// Starts another replica in the place of one that was killed.
    pub fn restart(&mut self, place: usize) {
        self.replicas[place] = Replica::start(&self.config, &self.redis.url(), place);
    }

    /// A client of one replica.
    pub fn client(&self, replica: usize) -> Client {
        self.replicas[replica].client()
    }

    /// Tells what replicas have logged that no gateway should.
    pub fn tell_oddities(&self) {
        for replica in &self.replicas {
            let log = fs::read_to_string(&replica.log).unwrap_or_default();
            let panics = log.lines().filter(|line| line.contains("panicked"));
            for line in panics.take(3) {
                println!("  a gateway panicked: {line}");
            }
        }
    }
}

/// One process of `agon gateway`.
pub struct Replica {
    /// The process.
    pub role: Role,
    /// Where it answers OpenAI's protocol; empty when it was started silently.
    pub http_url: String,
    clients: Vec<Client>,
    next: AtomicUsize,
    log: PathBuf,
}

impl Replica {
    /// Starts one and waits until it listens.
    fn start(config: &Config, redis: &str, number: usize) -> Self {
        let log = log_file(config, number);
        let file = File::options().create(true).append(true).open(&log);
        let file = file.expect("a writable folder");
        let config = config.write().display().to_string();
        let mut arguments = arguments(&config, redis, "127.0.0.1:0").to_vec();
        arguments.extend(["--http-listen", "127.0.0.1:0"]);
        let mut role = Role::launch_with(&arguments, |command| command.stderr(file));
        let first = role.line();
        let address = first.trim().rsplit("listening on ").next();
        let address = address.filter(|address| address.contains(':'));
        let told = || fs::read_to_string(&log).unwrap_or_default();
        let address = address.unwrap_or_else(|| panic!("no gateway listens: {first}{}", told()));
        let second = role.line();
        let http = second.trim().rsplit("listening on ").next();
        Self {
            http_url: format!("http://{}/v1", http.unwrap_or_default()),
            ..Self::reached_at(role, address, log)
        }
    }

    /// Starts one on an address and does not wait for anything.
    pub fn start_silent(config: &Config, redis: &str, address: &str) -> Self {
        let log = log_file(config, 0);
        let file = File::create(&log).expect("a writable folder");
        let path = config.write().display().to_string();
        let arguments = arguments(&path, redis, address);
        let role = Role::launch_with(&arguments, |command| command.stderr(file));
        Self::reached_at(role, address, log)
    }

    fn reached_at(role: Role, address: &str, log: PathBuf) -> Self {
        let url = format!("http://{address}");
        let clients = (0..CHANNELS_PER_REPLICA)
            .map(|_| AgentGatewayServiceClient::new(channel(&url).expect("an address")))
            .collect();
        Self {
            role,
            http_url: String::new(),
            clients,
            next: AtomicUsize::new(0),
            log,
        }
    }

    /// A client; callers are spread over the connections.
    pub fn client(&self) -> Client {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        self.clients[next % self.clients.len()].clone()
    }

    /// What it does now.
    pub async fn status(&self) -> GetGatewayStatusResponse {
        let asked = GetGatewayStatusRequest::default();
        let status = self.client().get_gateway_status(asked).await;
        status.expect("a status").into_inner()
    }

    /// What was spent, of all replicas.
    pub async fn costs(&self) -> ListCostsResponse {
        let costs = self.client().list_costs(ListCostsRequest::default()).await;
        costs.expect("costs").into_inner()
    }

    /// Memory that the process holds now, in bytes.
    pub fn memory(&self) -> u64 {
        memory_kib(Process::Id(self.role.id()), Memory::Now) * 1024
    }
}

/// Lets time pass while the callers work.
pub async fn for_seconds(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

fn log_file(config: &Config, number: usize) -> PathBuf {
    config.folder().join(format!("gateway-{number}.log"))
}

fn arguments<'a>(config: &'a str, redis: &'a str, address: &'a str) -> [&'a str; 9] {
    [
        "gateway", "--listen", address, "--config", config, "--redis", redis, "--log", "warn",
    ]
}
