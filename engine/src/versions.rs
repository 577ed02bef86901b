//! Versions of rules, records and prompts, as this process has them: those of the program. A test
//! may start a process that takes itself for a later version, to see both side by side; nothing else
//! may, and nothing is played otherwise. Read by whoever plays, reads or announces versions.

use std::sync::OnceLock;

/// Newest version of the record's form. Readers accept this and every older one; a record is
/// written in the oldest that has everything in it, so that records stay the bytes they were.
pub const RECORD_VERSION: u32 = 6;

/// By how much versions are raised in this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Raised {
    /// Those of the rules of every game.
    pub rules: u32,
    /// That of records.
    pub record: u32,
    /// That of prompts, which is the agents' own.
    pub prompts: u32,
}

static RAISED: OnceLock<Raised> = OnceLock::new();

/// Raises versions, for tests.
///
/// # Panics
/// They were read or raised before: versions never change in a running process.
pub fn raise(raised: Raised) {
    assert!(
        RAISED.set(raised).is_ok(),
        "versions are raised first, and once"
    );
}

/// By how much they are raised: not at all, unless this is a process of a test.
pub fn raised() -> Raised {
    *RAISED.get_or_init(Raised::default)
}

/// The version of a game's rules, of which the game says this one.
pub fn rules(of_game: u32) -> u32 {
    of_game + raised().rules
}

/// The newest version of records that is read and may be written.
pub fn record() -> u32 {
    RECORD_VERSION + raised().record
}
