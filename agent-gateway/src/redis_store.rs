//! The one connection to Redis that ledger and admission share, and the clear
//! error when there is none. Refuses to show the address with its password.
//! Called by `gateway.rs` when the store is Redis.

use std::time::Duration;

use agon_service_kit::config::without_secrets;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};

/// Redis answers these scripts in well under a millisecond; a busy machine may
/// need longer, but after this the connection is worth replacing.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long one try to connect may take.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(3);

/// The first connection is tried a few times, so that a gateway started
/// together with its Redis finds it; after that the operator should know.
const FIRST_RETRIES: usize = 3;

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
        source: redis::RedisError,
    },
    /// Nobody answers there.
    #[error("cannot reach redis at {shown}, is it running and reachable from here?")]
    Unreachable {
        /// The address without its password.
        shown: String,
        /// What the client says.
        #[source]
        source: redis::RedisError,
    },
}

/// Connects and checks that somebody answers. Later losses are healed by the
/// connection itself; calls made meanwhile fail and say so.
pub async fn connect(url: &str) -> Result<ConnectionManager, RedisStoreError> {
    agon_service_kit::server::install_crypto();
    let client = redis::Client::open(url).map_err(|source| RedisStoreError::Address {
        shown: without_secrets(url),
        source,
    })?;
    let config = ConnectionManagerConfig::new()
        .set_response_timeout(Some(RESPONSE_TIMEOUT))
        .set_connection_timeout(Some(CONNECTION_TIMEOUT))
        .set_number_of_retries(FIRST_RETRIES)
        .set_max_delay(Duration::from_secs(1));
    let unreachable = |source| RedisStoreError::Unreachable {
        shown: without_secrets(url),
        source,
    };
    let mut connection = ConnectionManager::new_with_config(client, config)
        .await
        .map_err(unreachable)?;
    redis::cmd("PING")
        .query_async::<String>(&mut connection)
        .await
        .map_err(unreachable)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nobody_there_is_one_clear_error() {
        let port = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port()
        };
        let error = connect(&format!("redis://:secret@127.0.0.1:{port}"))
            .await
            .err()
            .unwrap();
        let text = format!("{error} {error:?}");
        assert!(text.contains(&format!("cannot reach redis at redis://127.0.0.1:{port}")));
        assert!(!text.contains("secret"));
    }
}
