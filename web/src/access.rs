//! What somebody who came in may see: sessions, what is made of them, and what is being played. Each holder
//! of a token has their own, so that no route can show one what is another's.

use std::sync::Arc;

use serde::Serialize;
use tokio_util::sync::{CancellationToken, DropGuard};
use utoipa::ToSchema;

use crate::library::Library;
use crate::results::Results;
use crate::sweeps::Sweeps;

/// See the module.
pub struct Access {
    pub(crate) library: Arc<Library>,
    pub(crate) results: Results,
    pub(crate) sweeps: Option<Arc<dyn Sweeps>>,
    /// Absent where there is one token for all.
    pub(crate) holder: Option<AccessHolder>,
    /// Ends what was begun for it, such as following experiments, once nobody can come in with it.
    _begun: DropGuard,
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
    /// Access to these sessions, and to what is being played. `begun` is cancelled when the last of it is
    /// dropped.
    pub fn new(
        library: Arc<Library>,
        sweeps: Option<Arc<dyn Sweeps>>,
        begun: CancellationToken,
    ) -> Self {
        Self {
            library,
            results: Results::default(),
            sweeps,
            holder: None,
            _begun: begun.drop_guard(),
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
}
