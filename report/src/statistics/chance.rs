//! Chance of statistics that draw: with its seed fixed, the same numbers always have the same
//! result. Called by the sampled permutation test and the bootstrap.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// What every statistic that draws starts from.
const SEED: u64 = 0x41_67_6f_6e;

/// A source of chance with a fixed seed.
pub(super) fn seeded() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(SEED)
}

/// A number from 0 to `count - 1`, each as likely as another to one part in 2^32 (Lemire 2019, "Fast
/// random integer generation in an interval", without rejection).
pub(super) fn below(chance: &mut ChaCha8Rng, count: usize) -> usize {
    ((u64::from(chance.next_u32()) * count as u64) >> 32) as usize
}
