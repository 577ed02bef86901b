//! What the end-to-end tests share: the project's own tree, real processes of
//! the `agon` binary, a real Redis, simulated model servers.

pub mod binary;
pub mod redis;
pub mod tree;
