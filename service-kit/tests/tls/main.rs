//! TLS over real sockets, at gRPC servers and at HTTP servers of this crate: whom clients trust,
//! whom servers serve, how long a handshake may take, and certificates that change.

mod deadlines;
mod ground;
#[cfg(unix)]
mod rotation;
mod trust;
