//! Fences of new leases: random, so that nobody can name a lease that was not granted to him. Called
//! by both back ends before they lease.

use super::{StoreError, StoreResult};

/// So many new fences. None is 0, which stands for "never leased".
pub fn fences(most: usize) -> StoreResult<Vec<u64>> {
    let drawn = (0..most).map(|_| getrandom::u64().map(|fence| fence.max(1)));
    drawn
        .collect::<Result<_, _>>()
        .map_err(StoreError::Randomness)
}
