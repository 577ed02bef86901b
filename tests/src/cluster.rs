//! A cluster of real processes on free ports of this machine: coordinator,
//! gateway, workers; on Redis or on files.

use std::path::Path;

use crate::binary::Role;
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
    gateway_address: String,
    flags: Vec<String>,
    /// Flags that every role has.
    more: Vec<String>,
}

impl Cluster {
    /// Starts one. The model `any` is at the given server; the state is in Redis
    /// when an address is given, in `folder` otherwise.
    ///
    /// # Panics
    /// The folder cannot be written, or a process does not start.
    pub fn start(folder: &Path, redis: Option<&str>, models: &ModelServer, workers: usize) -> Self {
        Self::start_with(folder, redis, models, workers, &[])
    }

    /// The same, with further flags for every role.
    ///
    /// # Panics
    /// As [`Cluster::start`].
    pub fn start_with(
        folder: &Path,
        redis: Option<&str>,
        models: &ModelServer,
        workers: usize,
        more: &[&str],
    ) -> Self {
        let more: Vec<String> = more.iter().map(|flag| (*flag).to_owned()).collect();
        let config = folder.join("agon.toml");
        let base_url = models.base_url();
        let text = format!(
            "[providers.simulated]\nbase_url = \"{base_url}\"\nkeys = []\n\
             [models.any]\nprovider = \"simulated\"\nstructured_output = \"json_schema\"\nseed = true\n"
        );
        std::fs::write(&config, text).expect("a writable folder");
        let mut store = match redis {
            Some(url) => vec!["--redis".to_owned(), url.to_owned()],
            None => vec!["--data".to_owned(), folder.display().to_string()],
        };
        store.extend(more.clone());
        let mut flags = vec!["--config".to_owned(), config.display().to_string()];
        flags.extend(store.clone());
        let (coordinator, coordinator_address) =
            Role::listening(&arguments("coordinator", "127.0.0.1:0", &store));
        let (gateway, gateway_address) =
            Role::listening(&arguments("gateway", "127.0.0.1:0", &flags));
        let mut cluster = Self {
            coordinator,
            gateway,
            workers: Vec::new(),
            coordinator_address,
            gateway_address,
            flags: store,
            more,
        };
        for _ in 0..workers {
            cluster.add_worker();
        }
        cluster
    }

    /// Starts another worker.
    pub fn add_worker(&mut self) {
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
        arguments.extend(self.more.iter().map(String::as_str));
        let (worker, _) = Role::start(&arguments);
        self.workers.push(worker);
    }

    /// Starts the coordinator again on its address, after it was stopped or killed.
    pub fn restart_coordinator(&mut self) {
        let listen = self.coordinator_address.clone();
        let (coordinator, address) =
            Role::listening(&arguments("coordinator", &listen, &self.flags));
        assert_eq!(address, self.coordinator_address);
        self.coordinator = coordinator;
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

fn arguments<'a>(role: &'a str, listen: &'a str, flags: &'a [String]) -> Vec<&'a str> {
    let mut arguments = vec![role, "--listen", listen];
    arguments.extend(flags.iter().map(String::as_str));
    arguments
}
