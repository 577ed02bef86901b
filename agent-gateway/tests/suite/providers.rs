//! Providers over real HTTP: the golden cases of `tests/fixtures`, whole decisions through the
//! gateway in each protocol, and clouds that want proof of who asks.

mod aws;
mod clouds;
mod golden;
mod google;
pub mod mirror;
mod whole;
