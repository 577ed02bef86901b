//! The seeded source of every case: the same seed, target and case number give the same input on
//! every machine. Called by the mutations.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// A stream of numbers.
pub struct Draw(ChaCha8Rng);

impl Draw {
    /// That of one case.
    pub fn of(seed: u64, target: &str, case: u64) -> Self {
        let key = blake3::hash(format!("{seed} {target} {case}").as_bytes());
        Self(ChaCha8Rng::from_seed(*key.as_bytes()))
    }

    /// A number below `end`; 0 when there is none.
    pub fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end.max(1) as u64) as usize
    }

    /// Whether one of `of` equal chances came true.
    pub fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.0.next_u64() as u8
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0.next_u64() >> self.below(64)
    }

    /// One of a list that is not empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
