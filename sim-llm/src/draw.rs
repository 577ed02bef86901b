//! Random-looking numbers that depend on nothing but a hash: the same request always draws the
//! same. Used for answers, faults and jitter, each from a hash of its own purpose.

/// Golden-ratio step of the SplitMix64 generator, which mixes well enough for naive choices.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of draws.
#[derive(Debug, Clone)]
pub(super) struct Draw(u64);

/// The content of one request under one server seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Digest(u128);

impl Digest {
    /// What a body alone comes to.
    #[cfg(test)]
    pub(super) fn of(seed: u64, body: &[u8]) -> Self {
        Self::with_path(seed, "", body)
    }

    /// Hashes the whole body, the caller's own `seed` field included, and the model that stands
    /// in the path where a protocol names it there; empty where not.
    pub(super) fn with_path(seed: u64, model: &str, body: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes());
        hasher.update(model.as_bytes());
        hasher.update(body);
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        Self(u128::from_le_bytes(bytes))
    }

    /// The draws for one purpose; `salt` tells apart repeated uses of it.
    pub(super) fn draw(self, purpose: Purpose, salt: u64) -> Draw {
        let (high, low) = ((self.0 >> 64) as u64, self.0 as u64);
        let mut draw = Draw(low ^ (purpose as u64).wrapping_mul(STEP) ^ salt.rotate_left(32));
        draw.0 = draw.next() ^ high;
        draw
    }

    /// A name for the answer, 24 hexadecimal digits.
    pub(super) fn id(self) -> String {
        format!("{:024x}", self.0 >> 32)
    }
}

/// What numbers are drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Answer = 1,
    Malformed,
    Failure,
    Hanging,
    Latency,
    Storm,
    Slow,
    Length,
    Reasoning,
    Logprobs,
}

impl Draw {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to but not including `bound`; 0 when there is nothing to choose from.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.between(0, bound as i64 - 1) as usize
    }

    /// From `low` to `high`, both included; `low` when they cross.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        if low >= high {
            return low;
        }
        let width = (i128::from(high) - i128::from(low) + 1) as u128;
        // Multiply and shift: the bias is below width / 2^64.
        let offset = ((u128::from(self.next()) * width) >> 64) as i128;
        (i128::from(low) + offset) as i64
    }

    /// From 0 up to but not including 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with this probability.
    pub(super) fn happens(&mut self, rate: f64) -> bool {
        rate > 0.0 && self.unit() < rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_in_range_at_the_ends_of_the_integers() {
        let mut draw = Digest::of(1, b"x").draw(Purpose::Answer, 0);
        for _ in 0..1000 {
            draw.between(i64::MIN, i64::MAX);
            assert!((3..=5).contains(&draw.between(3, 5)));
            assert!((0.0..1.0).contains(&draw.unit()));
        }
        assert_eq!(draw.between(7, 2), 7);
        assert_eq!(draw.below(0), 0);
    }

    #[test]
    fn draws_depend_on_seed_body_purpose_and_salt_only() {
        let first =
            |seed, body: &[u8], purpose, salt| Digest::of(seed, body).draw(purpose, salt).next();
        let base = first(1, b"body", Purpose::Answer, 0);
        assert_eq!(base, first(1, b"body", Purpose::Answer, 0));
        assert_ne!(base, first(2, b"body", Purpose::Answer, 0));
        assert_ne!(base, first(1, b"bodY", Purpose::Answer, 0));
        assert_ne!(base, first(1, b"body", Purpose::Failure, 0));
        assert_ne!(base, first(1, b"body", Purpose::Answer, 1));
    }

    #[test]
    fn rates_come_out_about_right() {
        let body = |i: u32| i.to_le_bytes();
        let hits = (0..10_000)
            .filter(|i| {
                Digest::of(0, &body(*i))
                    .draw(Purpose::Failure, 0)
                    .happens(0.2)
            })
            .count();
        assert!((1_800..2_200).contains(&hits), "{hits}");
        assert!(!Digest::of(0, b"").draw(Purpose::Failure, 0).happens(0.0));
    }
}
