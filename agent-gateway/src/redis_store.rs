//! The one connection to Redis that the stores share, and the clear errors when
//! its address is wrong. It is made when it is first used and again after each
//! loss, so a gateway may start before its Redis (`store_watch.rs`). Refuses to
//! show the address with its password. Called by `gateway.rs`.

use std::time::Duration;

use agon_service_kit::secrets::keep_address;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::io::tcp::TcpSettings;
use redis::{ErrorKind, IntoConnectionInfo as _, RedisError, ServerErrorKind};

/// Redis answers these scripts in well under a millisecond; a busy machine may
/// need longer, but after this the caller should know.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long one try to connect may take.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(2);

/// Tries of one round: callers who wait for the connection are told after a
/// second or so, and the next call begins a new round.
const RETRIES: usize = 3;

/// Between two tries; Redis is back in use this soon after its return.
const LONGEST_DELAY: Duration = Duration::from_millis(500);

/// What is sent and not acknowledged for so long never will be: a connection
/// lost without a word is replaced, instead of waiting minutes for the kernel.
const UNACKNOWLEDGED: Duration = Duration::from_secs(3);

/// Redis could not be reached or understood.
#[derive(Debug, thiserror::Error)]
pub enum RedisStoreError {
    /// The address makes no sense.
    #[error("{shown:?} is not a redis address, write redis://host:port")]
    Address {
        /// The address without its password.
        shown: String,
        /// What the client says.
        #[source]
        source: RedisError,
    },
    /// Somebody answers there, but will not serve us; waiting does not help.
    #[error("redis at {shown} refuses this gateway")]
    Refused {
        /// The address without its password.
        shown: String,
        /// What it says.
        #[source]
        source: RedisError,
    },
}

/// A connection that is made when it is first used. Calls made while Redis is
/// away fail and say so; losses are healed by the connection itself.
///
/// # Errors
/// The address makes no sense.
pub fn connect(url: &str) -> Result<ConnectionManager, RedisStoreError> {
    agon_service_kit::server::install_crypto();
    let wrong = |source| RedisStoreError::Address {
        shown: keep_address(url),
        source,
    };
    let tcp = TcpSettings::default()
        .set_nodelay(true)
        .set_user_timeout(UNACKNOWLEDGED);
    let address = url.into_connection_info().map_err(wrong)?;
    let client = redis::Client::open(address.set_tcp_settings(tcp)).map_err(wrong)?;
    let config = ConnectionManagerConfig::new()
        .set_response_timeout(Some(RESPONSE_TIMEOUT))
        .set_connection_timeout(Some(CONNECTION_TIMEOUT))
        .set_number_of_retries(RETRIES)
        .set_max_delay(LONGEST_DELAY);
    ConnectionManager::new_lazy_with_config(client, config).map_err(wrong)
}

/// Whether an error may be over when Redis is back or has read its files, as
/// opposed to one that a person has to see to (a wrong password).
pub(crate) fn may_pass(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Io => true,
        ErrorKind::Server(kind) => matches!(
            kind,
            ServerErrorKind::BusyLoading
                | ServerErrorKind::TryAgain
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown
                | ServerErrorKind::ReadOnly
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_no_address_is_one_clear_error() {
        let error = connect("http://:secret@nowhere").err().unwrap();
        let text = format!("{error} {error:?}");
        assert!(text.contains("is not a redis address"), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}
