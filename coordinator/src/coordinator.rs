//! A coordinator: a store, the lease actor, and the two services over them. Opened by every role
//! that needs one; several may share one Redis.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agon_proto::v1::experiment_service_server::ExperimentServiceServer;
use agon_proto::v1::session_lease_service_server::SessionLeaseServiceServer;
use agon_service_kit::server::LARGEST_MESSAGE_BYTES;
use agon_service_kit::tasks::Tasks;
use tokio_util::sync::CancellationToken;

use crate::experiment_service::{DescribeModels, Experiments};
use crate::lease::{LeaseHandle, LeaseOptions, LeaseStatus};
use crate::session_lease_service::{OnStored, SessionLeases};
use crate::store::{EmbeddedStore, RedisStore, Store, StoreError, StoreResult};

/// Sweeps in a lease's time: a lost session waits at most a tenth longer than its lease.
const SWEEPS_PER_TTL: u32 = 10;

/// Where a coordinator keeps what it must not lose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChoice {
    /// A folder, for one coordinator.
    Embedded(PathBuf),
    /// A folder for one experiment, for one coordinator. A new one begins with what the older
    /// folder, that of a coordinator with several experiments, has of it.
    OfExperiment {
        /// Of this experiment alone.
        folder: PathBuf,
        /// Its name.
        experiment: String,
        /// Need not be there.
        older: PathBuf,
    },
    /// The address of a Redis, for one or several.
    Redis(String),
}

/// What a coordinator may be told.
#[derive(Clone)]
pub struct CoordinatorOptions {
    /// How long a lease holds without being renewed; workers renew every third of it.
    pub lease_ttl: Duration,
    /// All workers live in this process: sessions found leased in an embedded store were left by
    /// workers that are dead, and are queued again at once instead of after their lease.
    pub own_workers_only: bool,
    /// Called once a session's record is stored; nothing is called by default.
    pub on_stored: Option<OnStored>,
    /// Says where the answers of models come from; without it sessions do not know.
    pub describe_models: Option<DescribeModels>,
}

impl Default for CoordinatorOptions {
    fn default() -> Self {
        Self {
            lease_ttl: Duration::from_secs(10),
            own_workers_only: false,
            on_stored: None,
            describe_models: None,
        }
    }
}

/// Why a coordinator cannot start.
#[derive(Debug, thiserror::Error)]
pub enum CoordinatorError {
    /// Its store cannot be opened.
    #[error("cannot open the coordinator's store")]
    Store(#[source] StoreError),
}

/// A running coordinator. Cheap to clone.
#[derive(Clone)]
pub struct Coordinator {
    experiments: Experiments,
    leases: SessionLeases,
    embedded: Option<EmbeddedStore>,
}

/// The coordinator's two gRPC services: for a server, or to be called in the same process.
#[derive(Clone)]
pub struct CoordinatorServices {
    /// For the command line.
    pub experiments: ExperimentServiceServer<Experiments>,
    /// For workers.
    pub session_leases: SessionLeaseServiceServer<SessionLeases>,
}

impl Coordinator {
    /// Opens the store and starts the lease actor under `tasks`.
    ///
    /// # Errors
    /// The store cannot be opened.
    pub async fn open(
        choice: StoreChoice,
        options: CoordinatorOptions,
        tasks: &Tasks,
    ) -> Result<Self, CoordinatorError> {
        let opened = open_store(choice, &options).await;
        let (store, embedded) = opened.map_err(CoordinatorError::Store)?;
        let draining = CancellationToken::new();
        let lease_ttl = options.lease_ttl;
        let lease_options = LeaseOptions {
            ttl: lease_ttl,
            sweep_every: lease_ttl / SWEEPS_PER_TTL,
            greet_every: lease_ttl / 2,
        };
        let leases = LeaseHandle::start(store.clone(), lease_options, tasks, draining.clone());
        let experiments = Experiments {
            store: store.clone(),
            tasks: tasks.clone(),
            describe_models: options.describe_models,
        };
        let leases = SessionLeases {
            store,
            leases,
            tasks: tasks.clone(),
            draining,
            lease_ttl,
            on_stored: options.on_stored,
        };
        Ok(Self {
            experiments,
            leases,
            embedded,
        })
    }

    /// The two services.
    pub fn services(&self) -> CoordinatorServices {
        CoordinatorServices {
            experiments: ExperimentServiceServer::new(self.experiments.clone())
                .max_decoding_message_size(LARGEST_MESSAGE_BYTES)
                .max_encoding_message_size(LARGEST_MESSAGE_BYTES),
            session_leases: SessionLeaseServiceServer::new(self.leases.clone())
                .max_decoding_message_size(LARGEST_MESSAGE_BYTES)
                .max_encoding_message_size(LARGEST_MESSAGE_BYTES),
        }
    }

    /// Who is connected.
    pub async fn status(&self) -> LeaseStatus {
        self.leases.leases.status().await
    }

    /// Resolves when the coordinator's own files can take in nothing more (a full disk), with the
    /// reason. A coordinator on Redis waits for Redis instead, so there it never does.
    pub async fn trouble(&self) -> String {
        match &self.embedded {
            Some(embedded) => embedded.trouble().await,
            None => std::future::pending().await,
        }
    }

    /// Stops leasing and tells connected workers to go elsewhere. Streams end by themselves soon
    /// after; shutting down the tasks waits for them.
    pub fn drain(&self) {
        self.leases.draining.cancel();
    }

    /// Lets the store's folder go, after the tasks have been shut down. Only needed where another
    /// coordinator is opened in the same process; the end of a process does the same.
    pub fn close(&self) {
        if let Some(embedded) = &self.embedded {
            embedded.close();
        }
    }
}

/// A store, and the same if it is one in files.
type Opened = (Arc<dyn Store>, Option<EmbeddedStore>);

async fn open_store(choice: StoreChoice, options: &CoordinatorOptions) -> StoreResult<Opened> {
    let store = match choice {
        StoreChoice::Embedded(folder) => EmbeddedStore::open(&folder)?,
        StoreChoice::OfExperiment {
            folder,
            experiment,
            older,
        } => EmbeddedStore::open_for(&folder, &experiment, &older)?,
        StoreChoice::Redis(url) => return Ok((Arc::new(RedisStore::connect(&url).await?), None)),
    };
    if options.own_workers_only {
        store.reclaim().await?;
    }
    Ok((Arc::new(store.clone()), Some(store)))
}
