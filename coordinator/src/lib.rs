//! The coordinator: experiments, their expansion into sessions, the queue, leases and results.
//!
//! It plays nothing and asks no model: workers take sessions from it over one long stream and
//! bring records back. Everything it must not lose is in a store (one file, or Redis), so it can
//! stop and start at any time, and on Redis several of it may run side by side.

pub mod experiment;
pub mod store;
