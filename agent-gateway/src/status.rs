//! How the gateway, its keys and its teams stand, for people and for gauges. Called by `service.rs`
//! and `gateway.rs`.

pub(crate) mod gauges;
pub(crate) mod keys;
pub(crate) mod teams;
