//! What somebody who came in may see: sessions, what is made of them, and what is being played. Those who
//! may see the same share it; nobody else has it, so that no route can show one what is another's.

use std::sync::Arc;

use serde::Serialize;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};
use utoipa::ToSchema;

use crate::judging::Judging;
use crate::library::Library;
use crate::refusal::Refusal;
use crate::results::Results;
use crate::sweeps::Sweeps;

/// Streams that one holder has open at once.
const OWN_STREAMS: usize = 32;

/// Sessions and what is made of them, for all who may see them.
pub struct Shelf {
    pub(crate) library: Arc<Library>,
    pub(crate) results: Results,
    /// Draws players to be judged, where that is offered.
    judging: Option<Arc<dyn Judging>>,
    /// One draft at a time.
    pub(crate) drafting: tokio::sync::Mutex<()>,
    /// Ends what was begun for it, such as following experiments, once nobody looks any more.
    _begun: DropGuard,
}

impl Shelf {
    /// One of a library; `begun` is cancelled when the last of it is dropped.
    pub fn new(library: Arc<Library>, begun: CancellationToken) -> Self {
        Self {
            library,
            results: Results::default(),
            judging: None,
            drafting: tokio::sync::Mutex::default(),
            _begun: begun.drop_guard(),
        }
    }

    /// The same, with somebody who draws players to be judged.
    #[must_use]
    pub fn with_judging(self, judging: Arc<dyn Judging>) -> Self {
        Self {
            judging: Some(judging),
            ..self
        }
    }

    /// Whoever draws players to be judged.
    ///
    /// # Errors
    /// Nobody does here.
    pub(crate) fn judging(&self) -> Result<Arc<dyn Judging>, Refusal> {
        let judging = self.judging.clone();
        judging.ok_or_else(|| Refusal::Missing("way to have players judged".to_owned()))
    }
}

/// See the module.
pub struct Access {
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) sweeps: Option<Arc<dyn Sweeps>>,
    /// Absent where there is one token for all.
    pub(crate) holder: Option<AccessHolder>,
    pub(crate) streams: Arc<Semaphore>,
}

/// Who came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AccessHolder {
    /// The name of the token, or of the person.
    pub name: String,
    /// Null for whoever sees all teams.
    pub team: Option<String>,
}

impl Access {
    /// Access to these sessions, and to what is being played.
    pub fn new(shelf: Arc<Shelf>, sweeps: Option<Arc<dyn Sweeps>>) -> Self {
        Self {
            shelf,
            sweeps,
            holder: None,
            streams: Arc::new(Semaphore::new(OWN_STREAMS)),
        }
    }

    /// The same for the holder of a token.
    #[must_use]
    pub fn of(self, holder: AccessHolder) -> Self {
        Self {
            holder: Some(holder),
            ..self
        }
    }
}

/// Somebody who has signed in.
#[derive(Clone)]
pub struct SignedIn {
    /// What they may see.
    pub access: Arc<Access>,
    /// Cancelled once they may not any more, and when they sign out.
    pub ended: CancellationToken,
    /// Whether it rests on a token of a store, which must have been heard lately.
    pub is_stored: bool,
}
