//! What a configuration says of Redis beside its address, which is a flag of its own because it may
//! hold a password.

use std::time::Duration;

use agon_redis_link::Confirmation;
use serde::Deserialize;

use super::ConfigError;

const DEFAULT_WITHIN: Duration = Duration::from_millis(200);

/// A response of Redis may take three seconds in all.
const LONGEST_WITHIN: Duration = Duration::from_secs(2);

/// `[redis]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedisSection {
    /// How many replicas must have a decision or a charge before it counts as done, so that a
    /// failover does not lose it. Default 0: Redis tells its replicas later, within milliseconds.
    #[serde(default)]
    pub confirm_replicas: u32,
    /// How long they are waited for, at most 2 seconds. When they do not confirm in time, the
    /// gateway says so and goes on. Default 200 ms.
    #[serde(default, with = "humantime_serde")]
    pub confirm_within: Option<Duration>,
}

impl RedisSection {
    /// What it asks for; nothing when no replica is waited for.
    pub(super) fn confirmation(&self) -> Result<Option<Confirmation>, ConfigError> {
        let within = self.confirm_within.unwrap_or(DEFAULT_WITHIN);
        if within.is_zero() || within > LONGEST_WITHIN {
            let reason = "confirm_within must be more than 0 and at most 2s".to_owned();
            return Err(ConfigError::Redis { reason });
        }
        Ok((self.confirm_replicas > 0).then_some(Confirmation {
            replicas: self.confirm_replicas,
            within,
        }))
    }
}
