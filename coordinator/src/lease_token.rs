//! Tokens of leases: which session was granted to which worker, sealed so that nobody can make one up
//! and every coordinator of an installation can tell its own from others, whoever granted it. The
//! key is drawn once and kept beside the journal. Called by the workers' streams, and by the service
//! of the command line for names of results.

use bytes::Bytes;

use crate::queue::{LeaseId, SessionKey};

/// The blob of the key.
pub const SEAL_KEY: &str = "seal-key";

/// Bytes of the key.
pub const KEY: usize = 32;

/// Bytes of what is sealed: experiment and position (4 each), grid and grant (8 each).
const PLAIN: usize = 24;

/// Bytes of the seal.
const SEAL: usize = 16;

/// Seals and opens tokens.
#[derive(Clone)]
pub struct Sealer {
    key: [u8; KEY],
}

impl Sealer {
    /// With the installation's key.
    pub fn new(key: [u8; KEY]) -> Self {
        Self { key }
    }

    /// The installation's key, for its store alone.
    pub fn key(&self) -> Bytes {
        Bytes::copy_from_slice(&self.key)
    }

    /// The token of a lease that a worker is granted.
    pub fn seal(&self, worker: &str, session_id: &str, lease: LeaseId) -> Bytes {
        let mut token = Vec::with_capacity(PLAIN + SEAL);
        token.extend(lease.session.experiment.to_le_bytes());
        token.extend(lease.session.position.to_le_bytes());
        token.extend(lease.grid.to_le_bytes());
        token.extend(lease.grant.to_le_bytes());
        let seal = self.seal_of(worker, session_id, &token);
        token.extend(&seal.as_bytes()[..SEAL]);
        token.into()
    }

    /// The lease of a token; `None` when it was never granted to this worker for this session.
    pub fn open(&self, worker: &str, session_id: &str, token: &[u8]) -> Option<LeaseId> {
        let (plain, seal) = token.split_at_checked(PLAIN)?;
        let expected = self.seal_of(worker, session_id, plain);
        let mut whole = [0; blake3::OUT_LEN];
        whole.copy_from_slice(expected.as_bytes());
        let seal: [u8; SEAL] = seal.try_into().ok()?;
        whole[..SEAL].copy_from_slice(&seal);
        // Comparing hashes takes the same time wherever they differ.
        if blake3::Hash::from_bytes(whole) != expected {
            return None;
        }
        let (experiment, plain) = plain.split_first_chunk()?;
        let (position, plain) = plain.split_first_chunk()?;
        let (grid, plain) = plain.split_first_chunk()?;
        Some(LeaseId {
            session: SessionKey {
                experiment: u32::from_le_bytes(*experiment),
                position: u32::from_le_bytes(*position),
            },
            grid: u64::from_le_bytes(*grid),
            grant: u64::from_le_bytes(*plain.first_chunk()?),
        })
    }

    /// Names the results of an experiment's grid in this installation.
    pub fn results_id(&self, experiment: u32, grid: u64) -> Bytes {
        let mut plain = [0; 12];
        plain[..4].copy_from_slice(&experiment.to_le_bytes());
        plain[4..].copy_from_slice(&grid.to_le_bytes());
        let seal = self.seal_of("results", "", &plain);
        Bytes::copy_from_slice(&seal.as_bytes()[..SEAL])
    }

    fn seal_of(&self, worker: &str, session_id: &str, plain: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        // Lengths keep one part from being taken for the next.
        for part in [worker.as_bytes(), session_id.as_bytes(), plain] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_opens_for_its_worker_and_session_and_nobody_makes_one_up() {
        let sealer = Sealer::new([7; KEY]);
        let lease = LeaseId {
            session: SessionKey {
                experiment: 3,
                position: 1_000_000,
            },
            grid: 2,
            grant: u64::MAX - 5,
        };
        let token = sealer.seal("w1", "abc", lease);
        assert_eq!(sealer.open("w1", "abc", &token), Some(lease));
        assert_eq!(sealer.open("w2", "abc", &token), None);
        assert_eq!(sealer.open("w1", "abd", &token), None);
        assert_eq!(sealer.open("w1a", "bc", &token), None);
        assert_eq!(Sealer::new([8; KEY]).open("w1", "abc", &token), None);
        for changed in 0..token.len() {
            let mut other = token.to_vec();
            other[changed] ^= 1;
            assert_eq!(sealer.open("w1", "abc", &other), None, "byte {changed}");
            assert_eq!(sealer.open("w1", "abc", &token[..changed]), None);
        }
    }
}
