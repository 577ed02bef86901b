//! A coordinator on a Redis of its own with its archive in a folder, and experiments for it; what the
//! system says of its processes.

use std::process::Command;

use agon_coordinator::experiment::ExperimentFile;
use agon_proto::v1::SubmitExperimentRequest;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_service_kit::server::channel;
use agon_tests::binary::Role;
use agon_tests::measured::{Memory, Process, memory_kib, processor_time};
use agon_tests::redis::RedisServer;
use tempfile::TempDir;
use tonic::transport::Channel;

/// What commands say to a coordinator.
pub type Experiments = ExperimentServiceClient<Channel>;

/// See the module.
pub struct Stand {
    pub redis: RedisServer,
    pub coordinator: Role,
    /// Where it listens.
    pub url: String,
    /// Holds the archive, and room for results.
    pub folder: TempDir,
}

impl Stand {
    /// Starts both, the coordinator on the first core alone if it is to have but one.
    pub fn start(one_core: bool) -> Self {
        let redis = RedisServer::start_synced_every_second();
        let folder = tempfile::tempdir().expect("a scratch folder");
        let archive = folder.path().join("archive").display().to_string();
        let url = redis.url();
        let arguments = [
            "coordinator",
            "--listen",
            "127.0.0.1:0",
            "--redis",
            &url,
            "--archive",
            &archive,
            "--log",
            "warn",
        ];
        let (coordinator, address) = match one_core {
            true => Role::listening_with(&arguments, |command| {
                *command = on_first_core(command);
                command
            }),
            false => Role::listening(&arguments),
        };
        Self {
            redis,
            coordinator,
            url: format!("http://{address}"),
            folder,
        }
    }

    /// A client of its commands.
    pub fn experiments(&self) -> Experiments {
        ExperimentServiceClient::new(channel(&self.url).expect("an address"))
    }

    /// Memory that Redis holds, in bytes.
    pub fn redis_memory(&self) -> u64 {
        let port = self.redis.port().to_string();
        let mut asking = Command::new("redis-cli");
        let said = asking.args(["-p", &port, "info", "memory"]).output();
        let said = said.expect("redis-cli, which comes with Redis").stdout;
        let said = String::from_utf8_lossy(&said).into_owned();
        let mut lines = said.lines();
        let used = lines.find_map(|line| line.strip_prefix("used_memory:"));
        used.and_then(|used| used.trim().parse().ok())
            .expect("a figure")
    }
}

/// The same command, for the first core.
fn on_first_core(command: &Command) -> Command {
    let mut pinned = Command::new("taskset");
    pinned.args(["--cpu-list", "0"]);
    pinned.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => pinned.env(name, value),
            None => pinned.env_remove(name),
        };
    }
    pinned
}

/// Sessions of two rule players and one round.
pub fn trivial(name: &str, sessions: u32) -> String {
    format!(
        "name = \"{name}\"\nrepeats = {sessions}\n[players.a]\nkind = \"rule\"\n\
         strategy = \"random\"\n[[games]]\ngame = \"guess_two_thirds\"\n\
         params = {{ rounds = 1 }}\nseats = [\"a\", \"a\"]\n"
    )
}

/// An experiment as it is handed in.
pub fn request(text: &str) -> SubmitExperimentRequest {
    let file = ExperimentFile::parse("bench.toml", text).expect("an experiment");
    let document = file.check().expect("a good experiment").to_json();
    SubmitExperimentRequest {
        document: document.into(),
        ..SubmitExperimentRequest::default()
    }
}

/// The number of sessions to measure with.
pub fn sessions(by_default: u32) -> u32 {
    let wanted = std::env::var("AGON_BENCH_SESSIONS").ok();
    wanted.map_or(by_default, |wanted| wanted.parse().expect("a number"))
}

/// Memory of a process, in bytes.
pub fn memory(role: &Role, which: Memory) -> u64 {
    memory_kib(Process::Id(role.id()), which) * 1024
}

/// Processor time that a process has taken, in seconds.
pub fn processor_seconds(role: &Role) -> f64 {
    let taken = processor_time(Process::Id(role.id()));
    taken.expect("a running process").as_secs_f64()
}
