//! The connection to Redis that the stores share, and the clear errors when its address is wrong.
//! Refuses to show the address with its password. Called by `gateway.rs`.

use agon_redis_link::{Address, Confirmation, Link};
use agon_service_kit::secrets::keep_address;
use redis::RedisError;

/// Redis could not be reached or understood.
#[derive(Debug, thiserror::Error)]
pub enum RedisStoreError {
    /// The address makes no sense.
    #[error("what was given is not a Redis address, write redis://host:port")]
    Address {
        /// What the client says.
        #[source]
        source: RedisError,
    },
    /// Somebody answers there, but will not serve us; waiting does not help.
    #[error("Redis at {shown} refuses this gateway")]
    Refused {
        /// The address without its password.
        shown: String,
        /// What it says.
        #[source]
        source: RedisError,
    },
}

/// The links of one gateway.
#[derive(Clone)]
pub struct Links {
    /// For everything that is renewed or expires.
    pub ordinary: Link,
    /// For what must not be lost: decisions and money. The ordinary one unless replicas are to
    /// confirm what is written.
    pub lasting: Link,
}

/// Links that connect when they are first used, so that a gateway may start before its Redis.
/// Calls made while Redis is away fail and say so; the next ones connect again.
///
/// # Errors
/// The address makes no sense.
pub fn connect(url: &str, confirmation: Option<Confirmation>) -> Result<Links, RedisStoreError> {
    keep_address(url);
    let link = |confirmation| {
        let address = Address::read(url).map_err(|source| RedisStoreError::Address { source });
        address.map(|address| Link::confirming(address, redis::pipe(), confirmation))
    };
    let ordinary = link(None)?;
    let lasting = match confirmation {
        None => ordinary.clone(),
        Some(_) => link(confirmation)?,
    };
    Ok(Links { ordinary, lasting })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_no_address_is_one_clear_error() {
        for address in [
            "http://:secret@nowhere",
            "rediss://:secret",
            "redis://user:secret",
            "redis+sentinel://:secret/x",
            "secret",
        ] {
            let error = connect(address, None).err().unwrap();
            let text = format!("{error} {error:?}");
            assert!(text.contains("is not a Redis address"), "{text}");
            assert!(!text.contains("secret"), "{text}");
        }
    }
}
