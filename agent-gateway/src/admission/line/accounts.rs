//! Between keys and what the limiter knows: keys of one account are one candidate, since they
//! share its limits, and which of them makes a granted call is chosen here. Called by `asker.rs`,
//! `heads.rs` and `status/keys.rs`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use super::lane::LaneKey;
use crate::admission::{Candidate, Reservation};
use crate::keys::KeyId;

/// The candidates that these keys are.
pub(crate) fn candidates(keys: &[&LaneKey], now: Instant) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::with_capacity(keys.len());
    for key in keys {
        let counted_as = &key.key.counted_as;
        if candidates.iter().all(|known| known.key != *counted_as) {
            candidates.push(key.candidate(now));
        }
    }
    candidates
}

/// The candidates of which every key has been tried in vain.
pub(super) fn tried_in_vain(keys: &[&LaneKey], tried: &[KeyId]) -> Vec<KeyId> {
    if tried.is_empty() {
        return Vec::new();
    }
    let is_left = |counted_as: &KeyId| {
        let mut others = keys.iter().map(|key| &key.key);
        others.any(|other| other.counted_as == *counted_as && !tried.contains(&other.id))
    };
    let all = keys.iter().map(|key| &key.key.counted_as);
    all.filter(|counted_as| !is_left(counted_as))
        .cloned()
        .collect()
}

/// The keys that may make a granted call, in the order in which they should be tried. Calls begin
/// at different ones, so that keys of an account share its work.
pub(super) fn keys_of<'a>(
    keys: &[&'a LaneKey],
    granted: &Reservation,
    tried: &[KeyId],
) -> Vec<&'a LaneKey> {
    let counted = keys.iter().copied();
    let mut able: Vec<&LaneKey> = counted
        .filter(|key| key.key.counted_as == granted.key && !tried.contains(&key.key.id))
        .collect();
    if able.len() > 1 {
        let mut hasher = DefaultHasher::new();
        granted.attempt.hash(&mut hasher);
        let first = hasher.finish() % able.len() as u64;
        able.rotate_left(usize::try_from(first).unwrap_or_default());
    }
    able
}
