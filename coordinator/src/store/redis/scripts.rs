//! The Lua scripts of the Redis store: every question of order and fencing is decided in one of
//! them, by Redis's clock. Each is its own file with keys, arguments and result in its header; a
//! change that older replicas would not understand gets a new version and a new prefix.

use redis::Script;

/// Prefix of every key. The hash tag keeps them in one slot of a Redis cluster; another slot per
/// session would save nothing, since a session's state and its queue must change together.
pub const PREFIX: &str = "{agon}:coordinator:v1:";

/// All scripts.
pub struct Scripts {
    /// `begin_v2.lua`
    pub begin: Script,
    /// `place_v3.lua`
    pub place: Script,
    /// `drop_v3.lua`
    pub drop: Script,
    /// `lease_v4.lua`
    pub lease: Script,
    /// `renew_v2.lua`
    pub renew: Script,
    /// `complete_v3.lua`
    pub complete: Script,
    /// `fail_v4.lua`
    pub fail: Script,
    /// `release_v2.lua`
    pub release: Script,
    /// `expire_v3.lua`
    pub expire: Script,
    /// `cancel_v4.lua`
    pub cancel: Script,
    /// `retry_v3.lua`
    pub retry: Script,
    /// `resume_v1.lua`
    pub resume: Script,
    /// `progress_v3.lua`
    pub progress: Script,
    /// `greet_v1.lua`
    pub greet: Script,
}

macro_rules! script {
    ($file:literal) => {
        Script::new(concat!(
            include_str!("scripts/shared_v4.lua"),
            include_str!(concat!("scripts/", $file))
        ))
    };
}

impl Scripts {
    /// Reads them; Redis learns each at its first use.
    pub fn new() -> Self {
        Self {
            begin: script!("begin_v2.lua"),
            place: script!("place_v3.lua"),
            drop: script!("drop_v3.lua"),
            lease: script!("lease_v4.lua"),
            renew: script!("renew_v2.lua"),
            complete: script!("complete_v3.lua"),
            fail: script!("fail_v4.lua"),
            release: script!("release_v2.lua"),
            expire: script!("expire_v3.lua"),
            cancel: script!("cancel_v4.lua"),
            retry: script!("retry_v3.lua"),
            resume: script!("resume_v1.lua"),
            progress: script!("progress_v3.lua"),
            greet: script!("greet_v1.lua"),
        }
    }
}
