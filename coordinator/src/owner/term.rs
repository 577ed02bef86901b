//! Terms of office: a coordinator waits until nobody owns the queue, takes it over, and serves until
//! another has, again and again. Started by `coordinator.rs`.

use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::tasks::{TaskKind, Tasks, with_causes};
use bytes::Bytes;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::actor::{OwnerActor, RENEWALS_PER_TERM, is_final};
use super::handle::OwnerHandle;
use super::loading::load;
use super::messages::MAILBOX;
use super::office::{Office, Ownership, Role};
use super::state::OwnerState;
use super::sweeping;
use super::{OnStored, OwnerOptions, SessionLimits};
use crate::archive::Archive;
use crate::journal::{Claim, Epoch, Journal, JournalError, JournalResult};
use crate::lease_token::{KEY, SEAL_KEY, Sealer};
use crate::metrics;
use crate::queue::Queue;

/// How long workers of the owner before have to say what they hold. Granting earlier would only have
/// some sessions played twice, from the same ledger.
const WORKERS_RETURN_WITHIN: Duration = Duration::from_secs(3);

/// How often a standby looks.
const LOOKS_PER_TERM: u32 = 10;

/// Between two looks while the store does not answer: each also tries to connect, so this bounds how
/// long a coordinator stays away after the store's return.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

pub(crate) struct Terms {
    pub journal: Arc<dyn Journal>,
    pub archive: Archive,
    pub options: OwnerOptions,
    pub tasks: Tasks,
    pub on_stored: Option<OnStored>,
    pub session_limits: Option<SessionLimits>,
}

/// What became of a try to own the queue.
enum Tried {
    /// A term begins.
    Granted(Epoch),
    /// It does not; the next try is due after this.
    Again(Duration),
}

/// Starts the terms; they end at shutdown, or with an error that another try does not mend.
pub(crate) fn start(terms: Terms, store_answers: bool) -> Ownership {
    let first = match store_answers {
        true => Role::Starting,
        false => Role::WithoutStore,
    };
    let (role, ownership) = watch::channel(first);
    let stopping = terms.tasks.shutdown_token();
    let tasks = terms.tasks.clone();
    tasks.spawn(TaskKind::SERVICE, "queue owner", async move {
        terms.run(role, stopping).await
    });
    Ownership(ownership)
}

impl Terms {
    async fn run(
        self,
        role: watch::Sender<Role>,
        stopping: CancellationToken,
    ) -> JournalResult<()> {
        let mut told = None;
        while !stopping.is_cancelled() {
            let epoch = match self.claim(&role, &mut told).await? {
                Tried::Granted(epoch) => epoch,
                Tried::Again(pause) => tokio::select! {
                    () = tokio::time::sleep(pause) => continue,
                    () = stopping.cancelled() => return Ok(()),
                },
            };
            told = None;
            match self.serve(epoch, &role, stopping.clone()).await {
                Ok(()) => {}
                Err(JournalError::Deposed) => {
                    warn!("another coordinator has taken over; this one is a standby now");
                }
                Err(corrupt @ JournalError::Corrupt { .. }) => {
                    error!(error = with_causes(&corrupt), "the journal cannot be read");
                    return Err(corrupt);
                }
                Err(error) => {
                    warn!(
                        error = with_causes(&error),
                        "the journal failed; trying again"
                    );
                    tokio::time::sleep(self.options.ownership_time / LOOKS_PER_TERM).await;
                }
            }
            let _ = role.send_replace(Role::Starting);
        }
        Ok(())
    }

    /// Tries to become the owner.
    ///
    /// # Errors
    /// No further try mends it.
    async fn claim(
        &self,
        role: &watch::Sender<Role>,
        told: &mut Option<String>,
    ) -> JournalResult<Tried> {
        let options = &self.options;
        let pause = options.ownership_time / LOOKS_PER_TERM;
        match self
            .journal
            .claim(&options.address, options.ownership_time)
            .await
        {
            Ok(Claim::Granted(epoch)) => {
                role.send_if_modified(|role| {
                    let came = matches!(role, Role::WithoutStore);
                    if came {
                        *role = Role::Starting;
                    }
                    came
                });
                Ok(Tried::Granted(epoch))
            }
            Ok(Claim::Held { owner, .. }) => {
                if told.as_ref() != Some(&owner) {
                    info!(%owner, "standing by");
                    let _ = role.send_replace(Role::Standby(owner.clone()));
                    *told = Some(owner);
                }
                Ok(Tried::Again(pause))
            }
            // No waiting mends these.
            Err(error @ (JournalError::Older { .. } | JournalError::Refused { .. })) => Err(error),
            Err(error) => {
                let error = with_causes(&error);
                if told.as_ref() != Some(&error) {
                    warn!(%error, "cannot ask who is in charge of the queue; trying again");
                    *told = Some(error);
                }
                role.send_if_modified(|role| {
                    let starting = matches!(role, Role::Starting);
                    if starting {
                        *role = Role::WithoutStore;
                    }
                    starting
                });
                Ok(Tried::Again(pause.min(LOOK_AGAIN)))
            }
        }
    }

    async fn serve(
        &self,
        epoch: Epoch,
        role: &watch::Sender<Role>,
        stopping: CancellationToken,
    ) -> JournalResult<()> {
        let options = &self.options;
        let since = Instant::now();
        let queue = Queue::new(epoch.0, options.lease_time);
        let loading = async {
            let sealer = self.sealer().await?;
            let journal = &*self.journal;
            let stored = sweeping::stored(journal).await?;
            let loaded = load(journal, &self.archive, queue).await?;
            let owner = (epoch, options.ownership_time);
            sweeping::sweep(journal, owner, stored, &loaded.queue, &loaded.specs).await;
            Ok::<_, JournalError>((sealer, loaded))
        };
        let (sealer, mut loaded) = tokio::select! {
            loaded = loading => loaded?,
            deposed = self.stay(epoch) => return Err(deposed),
            () = stopping.cancelled() => return self.journal.resign(epoch).await,
        };
        if loaded.unfinished && !options.own_workers_only {
            let return_within = WORKERS_RETURN_WITHIN.min(options.lease_time);
            loaded
                .queue
                .keep_quiet_until(since.elapsed() + return_within);
        }
        info!(
            epoch = epoch.0,
            experiments = loaded.queue.numbers().len(),
            "in charge of the queue"
        );
        let (sender, mailbox) = mpsc::channel(MAILBOX);
        let state = OwnerState::new(
            loaded.queue,
            loaded.segments,
            loaded.specs.clone(),
            loaded.next,
        );
        let state = match self.archive.is_in_journal() {
            true => state.with_archive_in_journal(&loaded.archived),
            false => state,
        };
        let actor = OwnerActor {
            journal: Arc::clone(&self.journal),
            archive: self.archive.clone(),
            sealer: sealer.clone(),
            epoch,
            options: options.clone(),
            tasks: self.tasks.clone(),
            state,
            mailbox,
            on_stored: self.on_stored.clone(),
            session_limits: self.session_limits.clone(),
            role: role.clone(),
            since,
            journaled: loaded.bytes,
        };
        let office = Office {
            handle: OwnerHandle::new(sender),
            sealer,
            specs: loaded.specs,
        };
        let _ = role.send_replace(Role::Owner(office));
        metrics::observe_in_charge(true);
        let ended = actor.run(stopping).await;
        metrics::observe_in_charge(false);
        ended
    }

    /// Renews the claim until that is refused for good: loading may take longer than the claim lasts.
    async fn stay(&self, epoch: Epoch) -> JournalError {
        let time = self.options.ownership_time;
        loop {
            tokio::time::sleep(time / RENEWALS_PER_TERM).await;
            match self.journal.renew(epoch, time).await {
                Ok(()) => {}
                Err(fatal) if is_final(&fatal) => return fatal,
                Err(error) => {
                    let error = with_causes(&error);
                    warn!(%error, "cannot say that this coordinator is in charge while it reads the journal");
                }
            }
        }
    }

    /// The installation's key, which the first owner draws.
    async fn sealer(&self) -> JournalResult<Sealer> {
        let stored = self.journal.blob(SEAL_KEY).await?;
        if let Some(key) = stored.and_then(|key| <[u8; KEY]>::try_from(&key[..]).ok()) {
            return Ok(Sealer::new(key));
        }
        let mut key = [0; KEY];
        getrandom::fill(&mut key).map_err(JournalError::Randomness)?;
        self.journal
            .put_blob(SEAL_KEY, Bytes::copy_from_slice(&key))
            .await?;
        Ok(Sealer::new(key))
    }
}
