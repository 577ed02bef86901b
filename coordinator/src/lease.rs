//! The lease actor: it knows which workers are connected and how many places they have free, and
//! hands queued sessions to them in batches. Renewals and results do not pass it: they concern
//! one session each and go straight to the store. What it knows is gone with its process and
//! comes back as workers connect again.

mod actor;
mod handle;
mod messages;
mod state;
#[cfg(test)]
mod tests;

pub use handle::LeaseHandle;
pub use messages::{Grant, LeaseStatus, StreamId};

pub(crate) use actor::LeaseOptions;
