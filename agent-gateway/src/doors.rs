//! The faces of the gateway beside its gRPC service: answering and watching at doors, and HTTP.
//! Called by `service.rs` and by `gateway.rs`.

pub(crate) mod answering;
pub mod http;
pub(crate) mod watching;
