//! Who did what: one entry for each audited call of somebody known, whether it was allowed or not. In
//! the log, and in the store for as long as that keeps it. Telling it never holds up a call. Filled
//! by the gate's layers.

use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::clock::unix_ms;
use agon_service_kit::complaint::Complaint;
use agon_service_kit::tasks::with_causes;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tracing::{info, warn};

use crate::holder::Holder;
use crate::store::IdentityStore;

/// Entries that wait for a store that is away.
const WAITING: usize = 4_096;

/// Entries written at once.
const BATCH: usize = 256;

/// Between two tries to write to a store that is away.
const PAUSE: Duration = Duration::from_secs(1);

/// What somebody did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
    /// The door: `coordinator`, `gateway`, `gateway http` or `command line`.
    pub door: String,
    /// The call, such as `ExperimentService/CancelExperiment`.
    pub call: String,
    /// The name of the token.
    pub holder: String,
    /// Its id; empty when there was none.
    pub token_id: String,
    /// Its team; empty when it has none.
    pub team: String,
    /// What it was done to, such as an experiment; empty when nobody said.
    pub subject: String,
    /// How it ended: `ok`, or the name of a gRPC code.
    pub outcome: String,
}

impl AuditEntry {
    /// An entry of this moment.
    pub fn new(door: &str, call: &str, holder: &Holder, subject: &str, outcome: &str) -> Self {
        Self {
            at_ms: unix_ms(),
            door: door.to_owned(),
            call: call.to_owned(),
            holder: holder.name.to_string(),
            token_id: holder.token_id.to_string(),
            team: holder.team().unwrap_or_default().to_owned(),
            subject: subject.to_owned(),
            outcome: outcome.to_owned(),
        }
    }

    pub(crate) fn to_json(&self) -> String {
        // Plain text under plain names always can be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(crate) fn from_json(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    #[cfg(test)]
    pub(crate) fn example(number: u64) -> Self {
        Self {
            at_ms: number,
            subject: format!("x{number}"),
            ..Self::new(
                "coordinator",
                "ExperimentService/Cancel",
                &Holder::anybody(),
                "",
                "ok",
            )
        }
    }
}

/// What a call was done to, for the entry; handlers put it among the extensions of their response.
#[derive(Debug, Clone)]
pub struct AuditSubject(pub String);

/// Takes entries. Cheap to clone.
#[derive(Clone)]
pub struct Auditor {
    entries: mpsc::Sender<AuditEntry>,
    dropped: Arc<Complaint>,
}

impl Auditor {
    /// An auditor, and what writes down what it takes.
    pub(crate) fn new(
        store: Option<Arc<dyn IdentityStore>>,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (entries, waiting) = mpsc::channel(WAITING);
        let auditor = Self {
            entries,
            dropped: Arc::default(),
        };
        (auditor, write(store, waiting))
    }

    /// Notes an entry.
    pub fn note(&self, entry: AuditEntry) {
        let AuditEntry {
            door,
            call,
            holder,
            token_id,
            team,
            subject,
            outcome,
            ..
        } = &entry;
        info!(target: "agon_audit", door, call, holder, token_id, team, subject, outcome, "audit");
        if self.entries.try_send(entry).is_err()
            && let Some(entries) = self.dropped.note()
        {
            warn!(
                entries,
                "the store does not take what was done: these entries are in this log only"
            );
        }
    }
}

async fn write(store: Option<Arc<dyn IdentityStore>>, mut waiting: mpsc::Receiver<AuditEntry>) {
    let mut batch = Vec::new();
    while waiting.recv_many(&mut batch, BATCH).await > 0 {
        let Some(store) = &store else {
            batch.clear();
            continue;
        };
        let mut told = false;
        while let Err(error) = store.append_audit(&batch).await {
            if !told {
                let reason = with_causes(&error);
                warn!(reason, "what was done cannot be kept now, trying again");
                told = true;
            }
            tokio::time::sleep(PAUSE).await;
        }
        batch.clear();
    }
}
