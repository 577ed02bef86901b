//! A cluster of real processes on free ports of this machine: coordinator,
//! gateway, workers; on Redis or on files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::binary::{MODEL_SERVERS, Role};
use crate::model_server::ModelServer;
use crate::runs;

/// The processes.
pub struct Cluster {
    /// The coordinator.
    pub coordinator: Role,
    /// The gateway.
    pub gateway: Role,
    /// The workers.
    pub workers: Vec<Role>,
    coordinator_address: String,
    coordinator_flags: Vec<String>,
    coordinator_log: PathBuf,
    gateway_address: String,
    gateway_flags: Vec<String>,
    worker_flags: Vec<String>,
}

/// Further flags of the processes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Flags<'a> {
    /// Of every one.
    pub all: &'a [&'a str],
    /// Of the coordinator.
    pub coordinator: &'a [&'a str],
}

impl Cluster {
    /// Starts one. The model `any` is at the given server; the state is in Redis
    /// when an address is given, in `folder` otherwise.
    ///
    /// # Panics
    /// The folder cannot be written, or a process does not start.
    pub fn start(folder: &Path, redis: Option<&str>, models: &ModelServer, workers: usize) -> Self {
        Self::start_with(folder, redis, models, workers, Flags::default())
    }

    /// The same, with further flags.
    ///
    /// # Panics
    /// As [`Cluster::start`].
    pub fn start_with(
        folder: &Path,
        redis: Option<&str>,
        models: &ModelServer,
        workers: usize,
        flags: Flags<'_>,
    ) -> Self {
        Self::start_at(folder, redis, &models.base_url(), workers, flags)
    }

    /// The same, with the models of any server.
    ///
    /// # Panics
    /// As [`Cluster::start`].
    pub fn start_at(
        folder: &Path,
        redis: Option<&str>,
        base_url: &str,
        workers: usize,
        flags: Flags<'_>,
    ) -> Self {
        let config = folder.join("agon.toml");
        let text = format!(
            "[providers.simulated]\nbase_url = \"{base_url}\"\nendpoint = \"{MODEL_SERVERS}\"\n\
             keys = []\n[models.any]\nprovider = \"simulated\"\n\
             [models.lukewarm]\nprovider = \"simulated\"\ntemperature = false\n"
        );
        fs::write(&config, text).expect("a writable folder");
        let store = match redis {
            Some(url) => ["--redis".to_owned(), url.to_owned()],
            None => ["--data".to_owned(), folder.display().to_string()],
        };
        let worker_flags = owned(flags.all);
        let shared = [&store[..], &worker_flags].concat();
        let config = ["--config".to_owned(), config.display().to_string()];
        let gateway_flags = [&config[..], &shared].concat();
        let (gateway, gateway_address) =
            Role::listening(&arguments("gateway", "127.0.0.1:0", &gateway_flags));
        let at = ["--gateway".to_owned(), format!("http://{gateway_address}")];
        let coordinator_flags = [&shared[..], &owned(flags.coordinator), &at].concat();
        let coordinator_log = folder.join("coordinator.log");
        let (coordinator, coordinator_address) =
            coordinator("127.0.0.1:0", &coordinator_flags, &coordinator_log);
        let mut cluster = Self {
            coordinator,
            gateway,
            workers: Vec::new(),
            coordinator_address,
            coordinator_flags,
            coordinator_log,
            gateway_address,
            gateway_flags,
            worker_flags,
        };
        for _ in 0..workers {
            cluster.add_worker();
        }
        cluster
    }

    /// Starts another worker.
    pub fn add_worker(&mut self) {
        self.add_worker_with(&[]);
    }

    /// The same, with further flags.
    pub fn add_worker_with(&mut self, flags: &[&str]) {
        let (coordinator, gateway) = (self.coordinator_url(), self.gateway_url());
        let mut arguments = vec![
            "worker",
            "--coordinator",
            &coordinator,
            "--gateway",
            &gateway,
            "--places",
            "8",
        ];
        arguments.extend(self.worker_flags.iter().map(String::as_str));
        arguments.extend(flags);
        let (worker, _) = Role::start(&arguments);
        self.workers.push(worker);
    }

    /// Starts the coordinator again on its address, after it was stopped or killed.
    pub fn restart_coordinator(&mut self) {
        let (coordinator, address) = coordinator(
            &self.coordinator_address,
            &self.coordinator_flags,
            &self.coordinator_log,
        );
        assert_eq!(address, self.coordinator_address);
        self.coordinator = coordinator;
    }

    /// Starts the gateway again on its address, after it was stopped or killed.
    pub fn restart_gateway(&mut self) {
        let listen = self.gateway_address.clone();
        let (gateway, address) =
            Role::listening(&arguments("gateway", &listen, &self.gateway_flags));
        assert_eq!(address, self.gateway_address);
        self.gateway = gateway;
    }

    /// What the coordinator has logged so far.
    ///
    /// # Panics
    /// It cannot be read.
    pub fn coordinator_log(&self) -> String {
        fs::read_to_string(&self.coordinator_log).expect("the coordinator's log")
    }

    /// What `--coordinator` takes.
    pub fn coordinator_url(&self) -> String {
        format!("http://{}", self.coordinator_address)
    }

    /// What `--gateway` takes.
    pub fn gateway_url(&self) -> String {
        format!("http://{}", self.gateway_address)
    }

    /// Runs an experiment in the cluster and returns its records.
    ///
    /// # Panics
    /// It does not succeed.
    pub fn run(&self, experiment: &Path, out: &Path) -> Vec<u8> {
        let ended = runs::run_into(experiment, out, &["--coordinator", &self.coordinator_url()]);
        let _ = ended.expect_code(0);
        runs::records(out)
    }
}

/// Starts a coordinator whose log goes to the end of a file.
fn coordinator(listen: &str, flags: &[String], log: &Path) -> (Role, String) {
    let log = File::options().create(true).append(true).open(log);
    let log = log.expect("a writable folder");
    let arguments = arguments("coordinator", listen, flags);
    Role::listening_with(&arguments, |command| command.stderr(log))
}

fn owned(flags: &[&str]) -> Vec<String> {
    flags.iter().map(|flag| (*flag).to_owned()).collect()
}

fn arguments<'a>(role: &'a str, listen: &'a str, flags: &'a [String]) -> Vec<&'a str> {
    let mut arguments = vec![role, "--listen", listen];
    arguments.extend(flags.iter().map(String::as_str));
    arguments
}
