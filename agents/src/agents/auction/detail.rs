//! How much a bidder tells its model of what it knows: everything where there is room, and
//! step by step less where a call would be longer than the player's memory allows. Rules,
//! items, standings and the question itself are told in any case.

use crate::quotation::ending;

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// Bid rounds of an item at most: the last ones.
    pub rounds: usize,
    /// Letters at most of each text that the bidder, or its model, wrote for itself: a
    /// plan, a lesson, a reason, an expectation. The end is kept.
    pub letters: usize,
}

impl Detail {
    /// As much as is ever told.
    pub const FULL: Self = Self::new(40, usize::MAX);

    /// From everything to the least.
    pub const STEPS: [Self; 7] = [
        Self::FULL,
        Self::new(12, usize::MAX),
        Self::new(4, usize::MAX),
        Self::new(1, usize::MAX),
        Self::new(1, 1_000),
        Self::new(1, 200),
        Self::new(1, 40),
    ];

    const fn new(rounds: usize, letters: usize) -> Self {
        Self { rounds, letters }
    }

    /// What is told of a text.
    pub fn of(self, text: &str) -> &str {
        ending(text, self.letters)
    }
}
