//! The agent gateway: every choice that the program does not make itself passes
//! here once and is recorded under its decision address before anyone acts on
//! it. Read `deciding.rs` first: it is one decision from top to bottom.
//!
//! Workers come in through [`Gateway::service`], everything else over HTTP
//! ([`doors::http`]). The ledger, the limits and the doors have two back ends each
//! behind a trait (embedded, Redis); providers sit behind a trait of their own. What is public
//! beside [`Gateway`] and its configuration is there for tests of those traits. Nothing here knows games, sessions or agents.

pub mod access;
pub mod admission;
pub mod budgets;
mod caller;
pub mod catalogue;
pub mod config;
pub mod content_cache;
mod decide_error;
mod deciding;
pub mod decision;
pub mod door_store;
pub mod doors;
mod estimate;
pub mod fairness;
pub mod gateway;
pub mod health;
pub mod keys;
mod single_flight;

mod learnt_store;
pub mod ledger;
pub mod limits;
pub mod metrics;
pub mod money;
mod outbox;
pub mod parameters;
pub mod peers;
pub mod providers;
mod redis_script;
pub mod redis_store;
pub mod reload;
mod routes;
pub mod service;
mod status;
pub mod store_error;
mod store_watch;
mod tally;
mod wire;

pub use catalogue::ResolvedModel;
pub use config::{ConfigError, GatewayConfig, ModelSection, ProviderSection};
pub use deciding::LostAnswers;
pub use gateway::{Gateway, GatewayError, Store};
