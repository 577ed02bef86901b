//! Providers over real HTTP: the golden cases of `tests/fixtures`, and whole
//! decisions through the gateway in each protocol.

mod golden;
mod mirror;
mod whole;
