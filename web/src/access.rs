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
    /// Cancelled once its token is not accepted any more.
    ended: CancellationToken,
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
            ended: CancellationToken::new(),
            _begun: begun.drop_guard(),
        }
    }

    /// The same for the holder of a token, until that is not accepted any more.
    #[must_use]
    pub fn of(self, holder: AccessHolder, ended: CancellationToken) -> Self {
        Self {
            holder: Some(holder),
            ended,
            ..self
        }
    }

    /// Whether its token is not accepted any more.
    pub fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Cancelled once it is not.
    pub(crate) fn ended(&self) -> CancellationToken {
        self.ended.clone()
    }
}
