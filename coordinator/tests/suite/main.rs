//! The coordinator against its stores and its callers: one contract for both back ends, and the
//! services over them.

mod benches;
mod contract;
mod redis_server;
mod series;
mod services;
mod worker;
