//! The coordinator: experiments, their expansion into sessions, the queue, leases and results.
//!
//! It plays nothing and asks no model: workers take sessions from it over one long stream and
//! bring records back. Everything it must not lose is in a store (one file, or Redis), so it can
//! stop and start at any time, and on Redis several of it may run side by side.
//!
//! Reading order: [`experiment`], [`store`], [`lease`], [`coordinator`].

pub mod coordinator;
pub mod experiment;
pub mod experiment_service;
pub mod lease;
pub mod metrics;
mod result;
pub mod session_lease_service;
pub mod store;
mod wire;

pub use coordinator::{
    Coordinator, CoordinatorError, CoordinatorOptions, CoordinatorServices, StoreChoice,
};
pub use experiment_service::DescribeModels;
pub use session_lease_service::OnStored;
pub use wire::origins;
