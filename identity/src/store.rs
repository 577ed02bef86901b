//! Where teams and tokens are kept, and what was done: in the Redis that coordinator and gateway
//! share, or in the data folder. A change reads the document and puts another in its place if nobody
//! else did meanwhile. Used by `view.rs` and by the commands that change it.

pub mod files;
pub mod redis;

use std::io;

use agon_service_kit::status::ErrorClass;
use async_trait::async_trait;

use crate::audit::AuditEntry;
use crate::document::{ChangeError, IdentityDocument};

pub use files::FileIdentityStore;
pub use redis::RedisIdentityStore;

/// Tries of a change; between two others changed it.
const MOST_TRIES: usize = 20;

/// Names what a document says; empty when there is none. Derived from its content, so a store that
/// was emptied and filled again has no version of before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Version(String);

impl Version {
    /// Nothing was ever stored.
    pub(crate) fn is_of_nothing(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn of(text: &str) -> Self {
        Self(blake3::hash(text.as_bytes()).to_hex().to_string())
    }
}

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IdentityStoreError {
    /// Redis did not do what it was asked to.
    #[error("redis cannot {operation}")]
    Redis {
        /// What was tried.
        operation: &'static str,
        /// What it says.
        #[source]
        source: ::redis::RedisError,
    },
    /// The address makes no sense.
    #[error("what was given is not a Redis address, write redis://host:port")]
    Address {
        /// What the client says.
        #[source]
        source: ::redis::RedisError,
    },
    /// The folder cannot be used.
    #[error("cannot {operation} in {folder}")]
    Files {
        /// What was tried.
        operation: &'static str,
        /// The folder.
        folder: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// It is not what any version of this program writes.
    #[error("what is kept of teams and tokens cannot be read")]
    Unreadable(#[source] serde_json::Error),
    /// The change itself makes no sense.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// Too many change it at the same time.
    #[error("others keep changing teams and tokens, try again")]
    Busy,
}

impl IdentityStoreError {
    /// The row of the error table.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Redis { .. } | Self::Files { .. } | Self::Busy => ErrorClass::Unavailable,
            Self::Unreadable(_) => ErrorClass::Internal,
            Self::Address { .. } | Self::Change(_) => ErrorClass::Invalid,
        }
    }
}

/// What store operations return.
pub type StoreResult<T> = Result<T, IdentityStoreError>;

/// Keeps the document, and what was done.
#[async_trait]
pub trait IdentityStore: Send + Sync {
    /// The document, unless it is the one of this version.
    async fn read(
        &self,
        known: Option<&Version>,
    ) -> StoreResult<Option<(Version, IdentityDocument)>>;

    /// Puts a document in the place of that version; false if another stands there.
    async fn replace(&self, known: &Version, document: &IdentityDocument) -> StoreResult<bool>;

    /// Adds what was done.
    async fn append_audit(&self, entries: &[AuditEntry]) -> StoreResult<()>;

    /// The latest entries, oldest first.
    async fn audit(&self, latest: usize) -> StoreResult<Vec<AuditEntry>>;
}

/// Makes a change, however many others make theirs at the same time.
///
/// # Errors
/// The store cannot be used, or the change makes no sense: nothing was changed.
pub async fn change<T: Send>(
    store: &dyn IdentityStore,
    mut change: impl FnMut(&mut IdentityDocument) -> Result<T, ChangeError> + Send,
) -> StoreResult<T> {
    for _ in 0..MOST_TRIES {
        let read = store.read(None).await?;
        let (version, mut document) = read.unwrap_or_default();
        let done = change(&mut document)?;
        if store.replace(&version, &document).await? {
            return Ok(done);
        }
    }
    Err(IdentityStoreError::Busy)
}

fn parse(text: &str) -> StoreResult<IdentityDocument> {
    serde_json::from_str(text).map_err(IdentityStoreError::Unreadable)
}

fn write(document: &IdentityDocument) -> StoreResult<String> {
    serde_json::to_string_pretty(document).map_err(IdentityStoreError::Unreadable)
}

#[cfg(test)]
mod tests;
