//! The Lua scripts of the Redis journal and the keys that they are given. Each script is its own
//! file with keys, arguments and result in its header; a change that other versions would not
//! understand gets a new number, and new keys a new prefix. They begin with `#!lua`, so that Redis
//! refuses them as a whole where it could not write: on a replica, with a broken disk, without
//! memory.

use redis::{Pipeline, Script};

/// The epoch, its owner and where the journal ends. The hash tag keeps all keys in one slot of a
/// Redis cluster, since they change together.
pub const STATE: &str = "{agon}:journal:v1:state";
/// The batches.
pub const BATCHES: &str = "{agon}:journal:v1:batches";
/// The last snapshot.
pub const SNAPSHOT: &str = "{agon}:journal:v1:snapshot";
/// Begins the keys of snapshots that are being uploaded.
pub const UPLOADED: &str = "{agon}:journal:v1:uploaded:";
/// Names of all blobs, a sorted set with equal scores.
pub const BLOBS: &str = "{agon}:journal:v1:blobs";
/// Begins the key of a blob.
pub const BLOB: &str = "{agon}:journal:v1:blob:";

/// All scripts.
pub struct Scripts {
    /// `claim_v2.lua`
    pub claim: Script,
    /// `renew_v2.lua`
    pub renew: Script,
    /// `append_v1.lua`
    pub append: Script,
    /// `read_v1.lua`
    pub read: Script,
    /// `snapshot_v1.lua`
    pub snapshot: Script,
}

impl Scripts {
    /// Reads them.
    pub fn new() -> Self {
        Self {
            claim: Script::new(include_str!("scripts/claim_v2.lua")),
            renew: Script::new(include_str!("scripts/renew_v2.lua")),
            append: Script::new(include_str!("scripts/append_v1.lua")),
            read: Script::new(include_str!("scripts/read_v1.lua")),
            snapshot: Script::new(include_str!("scripts/snapshot_v1.lua")),
        }
    }

    /// What teaches them to a Redis. Done at the beginning of each connection: a script that is
    /// learned at its first use would be overtaken by the call behind it.
    pub fn loading() -> Pipeline {
        let mut pipe = redis::pipe();
        for script in [
            include_str!("scripts/claim_v2.lua"),
            include_str!("scripts/renew_v2.lua"),
            include_str!("scripts/append_v1.lua"),
            include_str!("scripts/read_v1.lua"),
            include_str!("scripts/snapshot_v1.lua"),
        ] {
            pipe.cmd("SCRIPT").arg("LOAD").arg(script);
        }
        pipe
    }
}
