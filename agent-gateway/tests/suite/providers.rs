//! Providers over real HTTP: the golden cases of `tests/fixtures`, and whole
//! decisions through the gateway in each protocol.

mod golden;
pub mod mirror;
mod whole;
