//! A coordinator: a journal, an archive, the queue's owner or its standby, and the two services over
//! them. Opened by every role that needs one; several may share one Redis, and one of them is in
//! charge.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agon_proto::v1::experiment_service_server::ExperimentServiceServer;
use agon_proto::v1::session_lease_service_server::SessionLeaseServiceServer;
use agon_service_kit::server::LARGEST_RESULT_BYTES;
use agon_service_kit::tasks::{TaskKind, Tasks};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::archive::{Archive, ArchiveError};
use crate::experiment_service::{DescribeModels, Experiments};
use crate::journal::{FileJournal, Journal, JournalError, RedisJournal};
use crate::owner::{OnStored, OwnerOptions, OwnerTerms, Ownership, SessionLimits, Status, start};
use crate::session_lease_service::SessionLeases;

/// Where a coordinator keeps what it must not lose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChoice {
    /// A folder, for one coordinator.
    Folder(PathBuf),
    /// The address of a Redis, for one or several.
    Redis(String),
}

/// Where finished records go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ArchiveChoice {
    /// Into the store's folder; on Redis, into Redis.
    #[default]
    Store,
    /// Into a folder.
    Folder(PathBuf),
    /// Into object storage: `s3://BUCKET/PREFIX`.
    Bucket(String),
}

/// What a coordinator may be told.
#[derive(Clone)]
pub struct CoordinatorOptions {
    /// Where it can be reached, for those who ask a standby.
    pub address: String,
    /// How long a worker holds its sessions without being heard of.
    pub lease_time: Duration,
    /// How long an owner of the queue may stay silent before a standby takes over.
    pub ownership_time: Duration,
    /// All workers live in this process: nobody holds anything when it starts.
    pub own_workers_only: bool,
    /// A Redis that does not answer yet is waited for instead of being an error.
    pub store_may_come_later: bool,
    /// Where finished records go.
    pub archive: ArchiveChoice,
    /// Called once records are stored; nothing is called by default.
    pub on_stored: Option<OnStored>,
    /// Says where the answers of models come from; without it sessions do not know.
    pub describe_models: Option<DescribeModels>,
    /// Says how many sessions a team may have at work at a time; nobody is limited by default.
    pub session_limits: Option<SessionLimits>,
}

impl Default for CoordinatorOptions {
    fn default() -> Self {
        Self {
            address: "this process".to_owned(),
            lease_time: Duration::from_secs(10),
            ownership_time: Duration::from_secs(6),
            own_workers_only: false,
            store_may_come_later: false,
            archive: ArchiveChoice::default(),
            on_stored: None,
            describe_models: None,
            session_limits: None,
        }
    }
}

/// Why a coordinator cannot start.
#[derive(Debug, thiserror::Error)]
pub enum CoordinatorError {
    /// Its journal cannot be opened.
    #[error("cannot open the coordinator's store")]
    Store(#[source] JournalError),
    /// Its archive cannot be opened.
    #[error("cannot open the archive")]
    Archive(#[source] ArchiveError),
}

/// A running coordinator. Cheap to clone.
#[derive(Clone)]
pub struct Coordinator {
    experiments: Experiments,
    leases: SessionLeases,
    files: Option<FileJournal>,
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
    /// Opens the store and starts the owner or standby under `tasks`; returns once it is known which
    /// of them it is, or that the store does not answer yet.
    ///
    /// # Errors
    /// The store or the archive cannot be opened.
    pub async fn open(
        choice: StoreChoice,
        options: CoordinatorOptions,
        tasks: &Tasks,
    ) -> Result<Self, CoordinatorError> {
        let opened = open_journal(&choice, options.store_may_come_later).await;
        let opened = opened.map_err(CoordinatorError::Store)?;
        let archive = open_archive(&choice, &options.archive, &opened.journal);
        let archive = archive.map_err(CoordinatorError::Archive)?;
        Ok(Self::start(opened, archive, options, tasks).await)
    }

    /// The same over a journal and an archive that are open. Hidden from the documentation: tests have
    /// some that fail when they are told to.
    #[doc(hidden)]
    pub async fn over(
        journal: Arc<dyn Journal>,
        archive: Archive,
        options: CoordinatorOptions,
        tasks: &Tasks,
    ) -> Self {
        let opened = OpenedJournal {
            journal,
            files: None,
            answers: true,
        };
        Self::start(opened, archive, options, tasks).await
    }

    async fn start(
        opened: OpenedJournal,
        archive: Archive,
        options: CoordinatorOptions,
        tasks: &Tasks,
    ) -> Self {
        let OpenedJournal {
            journal,
            files,
            answers,
        } = opened;
        let terms = OwnerTerms {
            journal: Arc::clone(&journal),
            archive: archive.clone(),
            options: OwnerOptions {
                address: options.address,
                lease_time: options.lease_time,
                ownership_time: options.ownership_time,
                own_workers_only: options.own_workers_only,
            },
            tasks: tasks.clone(),
            on_stored: options.on_stored,
            session_limits: options.session_limits,
        };
        let mut ownership = start(terms, answers);
        ownership.settled().await;
        let experiments = Experiments {
            ownership: ownership.clone(),
            journal: Arc::clone(&journal),
            archive: archive.clone(),
            tasks: tasks.clone(),
            describe_models: options.describe_models,
        };
        let leases = SessionLeases {
            ownership,
            journal,
            archive,
            tasks: tasks.clone(),
            draining: CancellationToken::new(),
            lease_time: options.lease_time,
        };
        Self {
            experiments,
            leases,
            files,
        }
    }

    /// The two services.
    pub fn services(&self) -> CoordinatorServices {
        CoordinatorServices {
            experiments: ExperimentServiceServer::new(self.experiments.clone())
                .max_decoding_message_size(LARGEST_RESULT_BYTES)
                .max_encoding_message_size(LARGEST_RESULT_BYTES),
            session_leases: SessionLeaseServiceServer::new(self.leases.clone())
                .max_decoding_message_size(LARGEST_RESULT_BYTES)
                .max_encoding_message_size(LARGEST_RESULT_BYTES),
        }
    }

    /// Whether this coordinator is in charge of the queue and its store says so, at any time: what a
    /// readiness probe asks, so that callers are led to the one that is.
    pub fn in_charge(&self) -> watch::Receiver<bool> {
        self.whether(Ownership::is_owner)
    }

    /// Whether this coordinator is in charge or stands by for the one that is, at any time: what a
    /// roll-out waits for.
    pub fn is_settled(&self) -> watch::Receiver<bool> {
        self.whether(Ownership::knows_owner)
    }

    /// Why another coordinator has to be asked, at any time: this one stands by for it, or does not know
    /// yet. `None` while this one is in charge.
    pub fn elsewhere(&self) -> impl Fn() -> Option<String> + Send + Sync + 'static {
        let ownership = self.leases.ownership.clone();
        move || {
            ownership
                .owner()
                .err()
                .map(|status| status.message().to_owned())
        }
    }

    fn whether(&self, is: fn(&Ownership) -> bool) -> watch::Receiver<bool> {
        let mut ownership = self.leases.ownership.clone();
        let (sender, receiver) = watch::channel(is(&ownership));
        let follow = async move {
            while ownership.changed().await {
                let _ = sender.send_replace(is(&ownership));
            }
        };
        self.leases
            .tasks
            .spawn(TaskKind::UPKEEP, "who is in charge", follow);
        receiver
    }

    /// Who is connected; nobody while another coordinator is in charge.
    pub async fn status(&self) -> Status {
        match self.leases.ownership.owner() {
            Ok(office) => office.handle.status().await.unwrap_or_default(),
            Err(_) => Status::default(),
        }
    }

    /// Resolves when the coordinator's own files can take in nothing more (a full disk), with the
    /// reason. A coordinator on Redis waits for Redis instead, so there it never does.
    pub async fn trouble(&self) -> String {
        match &self.files {
            Some(files) => files.trouble().await,
            None => std::future::pending().await,
        }
    }

    /// Stops granting and tells connected workers to go elsewhere. Streams end by themselves soon
    /// after; shutting down the tasks waits for them.
    pub async fn drain(&self) {
        if let Ok(office) = self.leases.ownership.owner() {
            office.handle.drain().await;
        }
        self.leases.draining.cancel();
    }

    /// Lets the store's folder go, after the tasks have been shut down. Only needed where another
    /// coordinator is opened in the same process; the end of a process does the same.
    pub fn close(&self) {
        if let Some(files) = &self.files {
            files.close();
        }
    }
}

struct OpenedJournal {
    journal: Arc<dyn Journal>,
    /// The same if it is one in files.
    files: Option<FileJournal>,
    /// Whether its store answers.
    answers: bool,
}

async fn open_journal(
    choice: &StoreChoice,
    may_come_later: bool,
) -> Result<OpenedJournal, JournalError> {
    let (journal, answers) = match choice {
        StoreChoice::Folder(folder) => {
            let files = FileJournal::open(folder)?;
            return Ok(OpenedJournal {
                journal: Arc::new(files.clone()),
                files: Some(files),
                answers: true,
            });
        }
        StoreChoice::Redis(url) if may_come_later => RedisJournal::connect_when_there(url).await?,
        StoreChoice::Redis(url) => (RedisJournal::connect(url).await?, true),
    };
    Ok(OpenedJournal {
        journal: Arc::new(journal),
        files: None,
        answers,
    })
}

/// The folder of the archive inside a store's folder.
const ARCHIVE: &str = "archive";

fn open_archive(
    store: &StoreChoice,
    choice: &ArchiveChoice,
    journal: &Arc<dyn Journal>,
) -> Result<Archive, ArchiveError> {
    match (choice, store) {
        (ArchiveChoice::Folder(folder), _) => Archive::folder(folder),
        (ArchiveChoice::Bucket(url), _) => Archive::s3(url),
        (ArchiveChoice::Store, StoreChoice::Folder(folder)) => {
            Archive::folder(&folder.join(ARCHIVE))
        }
        (ArchiveChoice::Store, StoreChoice::Redis(_)) => {
            Ok(Archive::in_journal(Arc::clone(journal)))
        }
    }
}
