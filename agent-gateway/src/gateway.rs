//! The gateway as a whole: opens the store, wires ledger, limits, routes and
//! service together, and drains at the end. Called by the command line, which
//! serves it over a socket or, in one process, calls its service directly.

mod stores;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use agon_identity::gate::Gate;
use agon_service_kit::complaint::Complaint;
use agon_service_kit::secrets::shown_address;
use agon_service_kit::server::Listener;
use agon_service_kit::tasks::{TaskKind, Tasks};
use tokio::sync::watch;

use crate::config::GatewayConfig;
use crate::deciding::{Decider, LostAnswers, ProviderCalls, Recorder, SharedCache};
use crate::doors::http;

use crate::budgets::Budgets;
use crate::learnt_store::LearntStore;
use crate::metrics;

use crate::outbox::Outbox;
use crate::providers::Providers;
use crate::redis_store::{self, RedisStoreError};
use crate::reload::{ReloadError, Reloads};
use crate::routes::Routes;
use crate::service::{GatewayService, SlimService};
use crate::single_flight::SingleFlight;
use crate::status::gauges::Gauges;
use crate::store_error::StoreError;
use crate::store_watch::StoreWatch;
use crate::tally::Tallies;

use stores::Stores;

/// A drain gives everything else this long.
const DRAIN_WITHIN: Duration = Duration::from_secs(15);

/// An answer that came at the last moment is recorded well within this.
const TO_RECORD: Duration = Duration::from_secs(10);

/// Where decisions are kept and limits are shared.
#[derive(Clone)]
pub enum Store {
    /// One file for decisions; limits in memory. One gateway process.
    Embedded(PathBuf),
    /// The same file for several gateway processes of one machine, which keep limits and
    /// money together. Each session must be played by one of them at a time.
    Shared(PathBuf),
    /// A Redis address (`redis://host:port`); any number of gateway processes.
    Redis(String),
}

impl std::fmt::Debug for Store {
    /// The address of a Redis may hold its password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Store::Embedded(path) => f.debug_tuple("Embedded").field(path).finish(),
            Store::Shared(path) => f.debug_tuple("Shared").field(path).finish(),
            Store::Redis(url) => f.debug_tuple("Redis").field(&shown_address(url)).finish(),
        }
    }
}

/// Why a gateway cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The embedded store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The folder of the embedded store.
    #[error("cannot use the folder of {path}")]
    Folder {
        /// The file.
        path: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The Redis store.
    #[error(transparent)]
    Redis(#[from] RedisStoreError),
    /// The HTTP client towards the providers.
    #[error("cannot set up the HTTP client")]
    HttpClient(#[source] reqwest::Error),
}

/// A running gateway. Cheap to clone.
#[derive(Clone)]
pub struct Gateway {
    decider: Arc<Decider>,
    reloads: Arc<Reloads>,
    tasks: Tasks,
    store_answers: watch::Receiver<bool>,
}

impl Gateway {
    /// Opens the store and makes ready to call the configured providers. A Redis
    /// that does not answer yet is waited for while the gateway runs.
    pub async fn open(config: GatewayConfig, store: Store) -> Result<Self, GatewayError> {
        let providers = Providers::real().map_err(GatewayError::HttpClient)?;
        Self::open_with(config, store, providers).await
    }

    /// As [`Gateway::open`], with providers of the caller's choice.
    pub async fn open_with(
        config: GatewayConfig,
        store: Store,
        providers: Providers,
    ) -> Result<Self, GatewayError> {
        let owner = new_owner();
        let tasks = Tasks::new();
        let mut store_answers = watch::Sender::new(true).subscribe();
        let mut learnt_store = None;
        let stores = match store {
            Store::Embedded(path) => Stores::embedded(&path).await?,
            Store::Shared(path) => Stores::shared(&path, &owner).await?,
            Store::Redis(url) => {
                let links = redis_store::connect(&url, config.confirmation())?;
                let store_watch = StoreWatch::begin(links.ordinary.clone(), &url).await?;
                store_answers = store_watch.answers();
                tasks.spawn(TaskKind::UPKEEP, "store watch", store_watch.run());
                let learnt = LearntStore::new(links.ordinary.clone(), providers.lessons());
                learnt_store = Some(Arc::new(learnt));
                Stores::redis(&links, &owner)
            }
        };
        let Stores {
            ledger,
            limiter,
            budget_store,
            cache,
            doors,
        } = stores;
        let outbox = Outbox::new(tasks.clone(), metrics::count_outbox_dropped);
        let routes = Routes::new(
            config,
            providers,
            Arc::clone(&limiter),
            &owner,
            tasks.clone(),
            outbox.clone(),
        );
        let decider = Arc::new_cyclic(|me| Decider {
            me: Weak::clone(me),
            tasks: tasks.clone(),
            recorder: Recorder::new(Arc::clone(&ledger), tasks.shutdown_token()),
            ledger,
            limiter,
            budgets: Budgets::new(budget_store, &owner, outbox.clone()),
            routes,
            learnt_store,
            single_flight: Arc::new(SingleFlight::new(tasks.clone())),
            content_cache: SharedCache::new(cache),
            doors,
            tallies: Tallies::default(),
            owner,
            named: AtomicU64::new(0),
            outbox,
            provider_calls: ProviderCalls::default(),
            unrenewed: Complaint::default(),
            stopping: tasks.shutdown_token(),
        });
        let gauges = Gauges::default().run(Arc::clone(&decider));
        tasks.spawn(TaskKind::UPKEEP, "gauges", gauges);
        if let Some(store) = &decider.learnt_store {
            tasks.spawn(TaskKind::UPKEEP, "learnt store", Arc::clone(store).run());
        }
        let reloads = Reloads::new(Arc::clone(&decider));
        Ok(Self {
            decider,
            reloads: Arc::new(reloads),
            store_answers,
            tasks,
        })
    }

    /// The gRPC service: to be served on a socket, or to be called directly as
    /// a tower service by a client in the same process. Cheap to clone.
    pub fn service(&self) -> SlimService {
        let (decider, reloads) = (Arc::clone(&self.decider), Arc::clone(&self.reloads));
        SlimService::new(GatewayService::new(decider, reloads))
    }

    /// Serves the HTTP door until shutdown; requests that wait for quota are sent away then.
    pub fn serve_http(&self, tasks: &Tasks, listener: Listener, gate: Gate) {
        let decider = Arc::clone(&self.decider);
        http::serve(tasks, decider, gate, self.store_answers(), listener);
    }

    /// Puts a configuration to use from the next admission on; calls that wait
    /// or run go on. Returns what changed, in a few words each.
    ///
    /// # Errors
    /// It cannot be used; the one in use stays.
    pub fn adopt(&self, config: GatewayConfig) -> Result<Vec<String>, ReloadError> {
        self.reloads.adopt(config)
    }

    /// Watches a configuration file and the files it names until the gateway is
    /// drained, and puts every change to use.
    pub fn follow(&self, file: PathBuf) {
        let follow = Arc::clone(&self.reloads).follow(file);
        self.tasks
            .spawn(TaskKind::UPKEEP, "configuration watch", follow);
    }

    /// Reads the followed file again now, whether or not it looks changed.
    pub fn reload(&self) {
        self.reloads.ask();
    }

    /// What is wrong with the configuration on disk; empty when it is in use.
    pub fn configuration_fault(&self) -> String {
        self.reloads.fault()
    }

    /// Whether the store answers now, and every change of that; always true for
    /// the embedded one. While it does not, callers are told to come again.
    pub fn store_answers(&self) -> watch::Receiver<bool> {
        self.store_answers.clone()
    }

    /// Resolves with the reason when the embedded ledger cannot write any more (a
    /// full disk). Nobody is asked anything new then; what was paid for meanwhile is kept and tried
    /// again until the gateway is drained. A gateway on Redis waits for Redis instead, so there
    /// it never does.
    pub async fn trouble(&self) -> String {
        self.decider.ledger.trouble().await
    }

    /// Begins to stop: nothing more is paid for. Says how long [`Gateway::stop`] takes at most:
    /// calls under way at providers are paid for and may take their whole time-out.
    pub fn begin_stop(&self) -> Duration {
        // First, so that no call begins of which is not known how long it takes.
        self.tasks.shutdown_token().cancel();
        let calls = self.decider.provider_calls.left();
        (calls + TO_RECORD).max(DRAIN_WITHIN)
    }

    /// As [`Gateway::drain`], for as long as it takes.
    pub async fn stop(&self) -> LostAnswers {
        self.drain(self.begin_stop()).await
    }

    /// Calls under way at providers: what is lost by not waiting for them.
    pub fn calls_under_way(&self) -> u64 {
        self.decider.provider_calls.calls()
    }

    /// Stops: who waits for quota is sent away, calls at providers are awaited
    /// and recorded until the deadline, then the ledger is closed. Says what was paid for and is
    /// lost.
    pub async fn drain(&self, deadline: Duration) -> LostAnswers {
        // Only work runs here, and the failure of work is never fatal.
        let _ = self.tasks.shutdown(deadline).await;
        let untold = self.decider.outbox.len();
        if untold > 0 {
            tracing::warn!(
                untold,
                "the store was not told everything before the deadline"
            );
        }
        self.decider.ledger.close().await;
        self.decider.recorder.lost()
    }
}

/// Unique among all gateway processes, living and dead: it names claims and
/// attempts in Redis. Several may live in one process (tests do that).
fn new_owner() -> String {
    static OPENED: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let host = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let mut hasher = blake3::Hasher::new();
    hasher.update(host.as_bytes());
    hasher.update(std::env::var("HOSTNAME").unwrap_or_default().as_bytes());
    hasher.update(&std::process::id().to_le_bytes());
    hasher.update(&since.as_nanos().to_le_bytes());
    hasher.update(&OPENED.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    hasher.finalize().to_hex()[..16].to_owned()
}
