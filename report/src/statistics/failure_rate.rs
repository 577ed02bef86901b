//! Corrected failure rate (Chen et al., arXiv 2310.05746, paragraph "Corrected Errors in
//! Belief Tracking"), for failed bids and for belief errors.

/// `F / (C + F)`, between 0 and 1, of `failed` (F) and `correct` (C) actions. A failure
/// that is corrected counts in both: once as failed, and as correct in the end. `None`
/// when nothing was tried.
pub fn corrected_failure_rate(failed: u64, correct: u64) -> Option<f64> {
    // Added as floats, because two large counts may not fit together.
    let tried = failed as f64 + correct as f64;
    (tried > 0.0).then(|| failed as f64 / tried)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_a_share_of_everything_tried() {
        assert_eq!(corrected_failure_rate(1, 3), Some(0.25));
        assert_eq!(corrected_failure_rate(0, 9), Some(0.0));
        assert_eq!(corrected_failure_rate(4, 0), Some(1.0));
        assert_eq!(corrected_failure_rate(u64::MAX, u64::MAX), Some(0.5));
    }

    #[test]
    fn nothing_tried_has_no_rate() {
        assert_eq!(corrected_failure_rate(0, 0), None);
    }
}
