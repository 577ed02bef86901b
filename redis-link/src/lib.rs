//! The connection to Redis that coordinator and gateway share: where Redis is (one server, or
//! sentinels that know the master; TLS, user and password), a link that finds the server that takes
//! writes again after each loss, and what a server says of itself. Knows no scripts of either.

mod address;
mod link;
mod survey;

pub use address::Address;
pub use link::{Confirmation, Link, may_pass};
pub use survey::Survey;
