//! Plumbing that every Agon service shares: configuration files, telemetry, metrics, supervised
//! tasks, signals, work that takes processor time, the error table, back-off, milliseconds, names of
//! teams, folders on disk and the room there, secrets kept out of what is said, storage in buckets, TLS, and servers and
//! channels. A closed list: what only one service needs, or what knows a game, a session or a
//! provider, belongs to that service.

pub mod backoff;
pub mod bucket;
pub mod clock;
pub mod complaint;
pub mod compute;
pub mod config;
mod connections;
pub mod files;
pub mod folder;
pub mod http;
pub mod metric;
pub mod metrics;
pub mod open_files;
pub mod secret_source;
pub mod secrets;
pub mod server;
pub mod signals;
pub mod space;
pub mod status;
pub mod tasks;
pub mod team_name;
pub mod telemetry;
pub mod tls;
