//! What the services need of an owner, as long as it is one: the way to it, and what does not have to
//! pass through its mailbox. Also who the owner is at present.

use agon_service_kit::status::{ErrorClass, to_status};
use tokio::sync::watch;
use tonic::Status as WireStatus;

use super::handle::OwnerHandle;
use crate::lease_token::Sealer;
use crate::specs::Specs;

/// What an owner has besides its journal; as long as it is one.
#[derive(Clone)]
pub struct Office {
    /// The way to it.
    pub handle: OwnerHandle,
    /// Seals leases.
    pub sealer: Sealer,
    /// Makes sessions.
    pub specs: Specs,
}

/// What this coordinator is at present.
#[derive(Clone)]
pub enum Role {
    /// It has not asked yet, or reads the journal.
    Starting,
    /// The store does not answer, so nobody can say who owns the queue.
    WithoutStore,
    /// Another owns the queue: where it can be reached.
    Standby(String),
    /// It owns the queue.
    Owner(Office),
    /// It owns the queue as far as it knows; the store has not confirmed it at the last try, so it
    /// grants nothing.
    Doubted(Office),
}

impl Role {
    /// The same, now that the store has confirmed it or has not.
    pub(super) fn confirm(&mut self, confirmed: bool) -> bool {
        let changed = match (&*self, confirmed) {
            (Role::Owner(office), false) => Role::Doubted(office.clone()),
            (Role::Doubted(office), true) => Role::Owner(office.clone()),
            _ => return false,
        };
        *self = changed;
        true
    }
}

/// Follows the role. Cheap to clone.
#[derive(Clone)]
pub struct Ownership(pub(super) watch::Receiver<Role>);

impl Ownership {
    /// The way to the owner, if it is in this process.
    ///
    /// # Errors
    /// UNAVAILABLE, with where the owner is.
    pub fn owner(&self) -> Result<Office, WireStatus> {
        match &*self.0.borrow() {
            Role::Owner(office) | Role::Doubted(office) => Ok(office.clone()),
            Role::Standby(owner) => Err(to_status(
                ErrorClass::Unavailable,
                format!("this coordinator is a standby; the one in charge is {owner}"),
            )),
            Role::Starting => Err(to_status(
                ErrorClass::Unavailable,
                "this coordinator is starting",
            )),
            Role::WithoutStore => Err(to_status(
                ErrorClass::Unavailable,
                "this coordinator cannot reach its redis yet",
            )),
        }
    }

    /// Whether the owner is in this process, and its store has confirmed it.
    pub fn is_owner(&self) -> bool {
        matches!(*self.0.borrow(), Role::Owner(_))
    }

    /// Whether it is known who the owner is.
    pub fn knows_owner(&self) -> bool {
        !matches!(*self.0.borrow(), Role::Starting | Role::WithoutStore)
    }

    /// Resolves once it is known who owns the queue, or that the store does not say.
    pub async fn settled(&mut self) {
        // The sender lives as long as the coordinator.
        let _ = self
            .0
            .wait_for(|role| !matches!(role, Role::Starting))
            .await;
    }

    /// Waits for the next change of the role; false when there will be none.
    pub async fn changed(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }
}
