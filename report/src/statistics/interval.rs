//! Two numbers between which a true one is expected to lie: what statistics with an interval hand
//! to tables and figures.

/// The ends of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The interval of numbers that are all the same: nothing is known of how far off it is.
    pub fn point(number: f64) -> Self {
        Self {
            low: number,
            high: number,
        }
    }

    /// The interval of what nothing is known of.
    pub fn unknown() -> Self {
        Self {
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        }
    }

    /// Whether all numbers behind it were the same.
    pub fn is_point(&self) -> bool {
        self.low == self.high
    }

    /// What lies of it in the range of what it is of. A mean cannot be outside, so that it covers as often
    /// as before.
    #[must_use]
    pub fn within(&self, (from, to): (f64, f64)) -> Self {
        Self {
            low: self.low.clamp(from, to),
            high: self.high.clamp(from, to),
        }
    }

    /// The interval of `scale * x + offset`.
    #[must_use]
    pub fn moved(&self, offset: f64, scale: f64) -> Self {
        let ends = [self.low, self.high].map(|end| scale * end + offset);
        Self {
            low: ends[0].min(ends[1]),
            high: ends[0].max(ends[1]),
        }
    }
}
