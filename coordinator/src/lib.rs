//! The coordinator: experiments, their expansion into sessions, the queue, leases and results.
//!
//! It plays nothing and asks no model: workers take sessions from it over one long stream and
//! bring records back. Everything it must not lose is in a journal (one file, or Redis), so it can
//! stop and start at any time; of several on one Redis, one is in charge and the others stand by.
//!
//! Reading order: [`experiment`], [`queue`], [`journal`], [`owner`], [`coordinator`].

pub mod access;
pub mod archive;
pub mod coordinator;
pub mod experiment;
pub mod experiment_service;
pub mod journal;
// Hidden from the documentation: the simulation uses it as the services do.
#[doc(hidden)]
pub mod lease_token;
pub mod metrics;
pub mod owner;
pub mod queue;
mod result;
pub mod session_lease_service;
// As above.
#[doc(hidden)]
pub mod specs;
pub mod submission;
mod templates;
mod wire;

pub use coordinator::{
    ArchiveChoice, Coordinator, CoordinatorError, CoordinatorOptions, CoordinatorServices,
    StoreChoice,
};
pub use experiment_service::DescribeModels;
pub use owner::{OnStored, SessionLimits};
pub use wire::origins;
