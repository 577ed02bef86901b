//! The asynchronous runtime of a command: one for each, never one inside another. Called by every
//! command and by storage.

use crate::failure::Failure;

/// The runtime of a command.
///
/// # Errors
/// The system gives no threads.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let built = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    built.map_err(Failure::surroundings)
}
