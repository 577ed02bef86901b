//! A stream of random numbers: how its bits become numbers of every kind. Which stream it is,
//! `chance.rs` says.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// A stream of random numbers. The methods are our own, because the bytes of a
/// record depend on them and libraries change theirs between versions.
#[derive(Debug, Clone)]
pub struct Generator {
    key: [u8; 32],
    stream: u64,
    /// Set up by the first number: most rule players never ask for one.
    cipher: Option<Box<ChaCha8Rng>>,
}

impl Generator {
    /// The stream of this number under a key, at its start.
    pub(super) fn new(key: [u8; 32], stream: u64) -> Self {
        Self {
            key,
            stream,
            cipher: None,
        }
    }

    fn next(&mut self) -> u64 {
        let (key, stream) = (self.key, self.stream);
        let cipher = self.cipher.get_or_insert_with(|| {
            let mut cipher = Box::new(ChaCha8Rng::from_seed(key));
            cipher.set_stream(stream);
            cipher
        });
        cipher.next_u64()
    }

    /// A number from 0 to `bound - 1`, without bias (Lemire 2019, "Fast random
    /// integer generation in an interval"). `bound` must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.next()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.next()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// A number between `low` and `high`, both included; `low <= high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = high.wrapping_sub(low) as u64;
        if width == u64::MAX {
            return self.next() as i64;
        }
        low.wrapping_add(self.below(width + 1) as i64)
    }

    /// A real number in [0, 1), with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A normally distributed number of mean 0 and standard deviation 1 (Marsaglia and
    /// Bray 1964, the polar method). The logarithm is a library's, because those of
    /// platforms differ in their last digits.
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * libm::log(square) / square).sqrt();
            }
        }
    }

    /// `count` different places of `0..size`, in random order (the first steps
    /// of a Fisher-Yates shuffle). `count <= size`.
    pub fn sample(&mut self, size: usize, count: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..size).collect();
        for position in 0..count {
            let other = position + self.below((size - position) as u64) as usize;
            places.swap(position, other);
        }
        places.truncate(count);
        places
    }
}
