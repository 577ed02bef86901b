//! The connection to Redis that coordinator and gateway share: where Redis is (one server, or
//! sentinels that know the master; TLS, user and password), and a link that finds the server that
//! takes writes again after each loss. Knows no keys and no scripts of either.

mod address;
mod link;

pub use address::Address;
pub use link::{Confirmation, Link, may_pass};
