//! P-values adjusted for how many there are (Holm 1979, "A simple sequentially rejective multiple
//! test procedure"): the chance of any false finding among all of them stays below the level.

/// The adjusted values, in the order of the given ones. The i-th smallest of m is multiplied by
/// `m - i + 1`, is at least as large as those before it, and at most 1.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (place, number) in order.iter().enumerate() {
        let factor = (p_values.len() - place) as f64;
        largest = largest.max((p_values[*number] * factor).min(1.0));
        adjusted[*number] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_adjusted_as_statsmodels_does() {
        // multipletests([.01, .04, .03, .005], method="holm") of statsmodels 0.15.0.
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        for (ours, theirs) in adjusted.iter().zip(expected) {
            assert!((ours - theirs).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.7, 0.9]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
