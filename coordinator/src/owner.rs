//! The owner of the queue: one coordinator at a time, under an epoch of the journal. It carries out
//! what the queue decides, in batches: append, and only then answer and send. Its standbys watch,
//! and one of them takes over by reading snapshot and journal. Started by `coordinator.rs`; the
//! services speak to it through [`OwnerHandle`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

mod actor;
mod handle;
// Hidden from the documentation: the simulation drives these parts without the loop around them.
#[doc(hidden)]
pub mod loading;
#[doc(hidden)]
pub mod messages;
mod office;
mod removals;
#[doc(hidden)]
pub mod segments;
#[doc(hidden)]
pub mod state;
mod sweeping;
mod term;

pub use handle::OwnerHandle;
pub(crate) use loading::{bundle_name, document_name};
pub use messages::{FinishedPage, Grant, Located, Status, ToStream, Whereabouts};
pub use office::{Office, Ownership, Role};
pub use removals::HeldName;
pub(crate) use term::{Terms as OwnerTerms, start};

/// Called with the ids under which the gateway keeps the decisions of sessions, once their records are
/// stored: from then on their ledgers are of no use. It may be called again for the same session, and is not called again after a crash.
pub type OnStored = Arc<dyn Fn(&[String]) + Send + Sync>;

/// Sessions that teams may have at work at a time, by team, as of now.
pub type SessionLimits = Arc<dyn Fn() -> BTreeMap<String, u32> + Send + Sync>;

/// How the owner goes about it.
#[derive(Debug, Clone)]
pub struct OwnerOptions {
    /// Where this coordinator can be reached, for those who ask a standby.
    pub address: String,
    /// How long a worker holds its sessions without being heard of.
    pub lease_time: Duration,
    /// How long an owner may stay silent before another takes over.
    pub ownership_time: Duration,
    /// All workers live in this process: nobody holds anything when it starts.
    pub own_workers_only: bool,
}
