//! TLS of our own servers and clients: certificates, keys and authorities from PEM files, put to
//! use for new connections when the files change. It opens no port and holds no certificates of
//! model providers or Redis. Servers use it through `Listener::with_tls`, clients through
//! `channel_with`.

mod client;
pub mod metrics;
mod pem;
mod rotation;
mod server;

use std::sync::Once;

pub use client::{ClientTls, ClientTlsFiles};
pub use pem::{TlsError, not_valid_in};
pub use server::{ServerTls, TlsFiles};

/// Installs the process's TLS provider. Every binary and every test that may speak TLS calls it
/// first; further calls change nothing.
pub fn install_crypto() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Refused only when somebody installed one before us, and then one is there.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

#[cfg(test)]
mod tests;
