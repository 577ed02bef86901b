//! What charts of samples need to know of their numbers: quartiles, whiskers, kernel densities and
//! common bins. Pure arithmetic on finite numbers.

use crate::number;

/// The five numbers of a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FiveNumbers {
    pub(crate) low: f64,
    pub(crate) first: f64,
    pub(crate) median: f64,
    pub(crate) third: f64,
    pub(crate) high: f64,
}

/// Quartiles by linear interpolation, and the last points within 1.5 times their distance.
pub(crate) fn five_numbers(values: &[f64]) -> Option<FiveNumbers> {
    let sorted = sorted(values);
    let (first, median, third) = (
        quantile(&sorted, 0.25)?,
        quantile(&sorted, 0.5)?,
        quantile(&sorted, 0.75)?,
    );
    let reach = 1.5 * (third - first);
    let within = |value: &&f64| **value >= first - reach && **value <= third + reach;
    Some(FiveNumbers {
        low: *sorted.iter().find(within)?,
        first,
        median,
        third,
        high: *sorted.iter().rev().find(within)?,
    })
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let at = share * sorted.len().checked_sub(1)? as f64;
    let (before, rest) = (at.floor() as usize, at.fract());
    let low = *sorted.get(before)?;
    let high = sorted.get(before + 1).copied().unwrap_or(low);
    Some(low + (high - low) * rest)
}

/// Points of a Gaussian kernel density with Silverman's bandwidth. None if the values are all the
/// same, when there is no density.
pub(crate) fn density(values: &[f64], steps: usize) -> Option<Vec<(f64, f64)>> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    let numbers = five_numbers(values)?;
    let quartiles = (numbers.third - numbers.first) / 1.34;
    let spread = if quartiles > 0.0 {
        deviation.min(quartiles)
    } else {
        deviation
    };
    let width = 0.9 * spread * count.powf(-0.2);
    // Too close together to be told apart from each other.
    if !width.is_normal() || width <= mean.abs() * 1e-12 {
        return None;
    }
    let sorted = sorted(values);
    let (from, to) = (sorted.first()? - 3.0 * width, sorted.last()? + 3.0 * width);
    let scale = 1.0 / (count * width * (2.0 * std::f64::consts::PI).sqrt());
    let at = |step: usize| {
        let x = from + (to - from) * step as f64 / steps as f64;
        let kernels = values
            .iter()
            .map(|value| (-((x - value) / width).powi(2) / 2.0).exp());
        (x, kernels.sum::<f64>() * scale)
    };
    Some((0..=steps).map(at).collect())
}

/// Edges of common bins with round ends: as many as wanted, else by Freedman and Diaconis' rule.
/// Few whole numbers have a bin each.
pub(crate) fn bin_edges(values: &[f64], wanted: Option<usize>) -> Vec<f64> {
    let sorted = sorted(values);
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else {
        return Vec::new();
    };
    let are_whole = sorted.iter().all(|value| value.fract() == 0.0);
    if wanted.is_none() && are_whole && high - low <= 40.0 && low.abs() < 1e9 {
        let count = (high - low) as usize + 1;
        return (0..=count).map(|index| low + index as f64 - 0.5).collect();
    }
    let quartiles = quantile(&sorted, 0.75).zip(quantile(&sorted, 0.25));
    let distance = quartiles.map_or(0.0, |(third, first)| third - first);
    let rule = 2.0 * distance / (sorted.len() as f64).cbrt();
    let usual = if rule > 0.0 {
        ((high - low) / rule * 1.4).ceil()
    } else {
        10.0
    };
    let count = wanted.unwrap_or(usual.clamp(5.0, 60.0) as usize);
    let step = number::step(low, high, count);
    if step <= high.abs().max(low.abs()) * 1e-12 {
        let half = if low == 0.0 { 0.5 } else { low.abs() * 0.05 };
        return vec![low - half, low + half];
    }
    let first = (low / step).floor();
    let last = (high / step).floor() + 1.0;
    let count = (last - first).clamp(1.0, 1000.0) as usize;
    (0..=count)
        .map(|index| (first + index as f64) * step)
        .collect()
}

/// How many values lie in each bin.
pub(crate) fn counts(values: &[f64], edges: &[f64]) -> Vec<usize> {
    let mut counts = vec![0; edges.len().saturating_sub(1)];
    for value in values {
        let bin = edges
            .partition_point(|edge| edge <= value)
            .saturating_sub(1);
        if let Some(last) = counts.len().checked_sub(1) {
            counts[bin.min(last)] += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn box_has_interpolated_quartiles_and_leaves_an_outlier_outside_its_whiskers() {
        let numbers = five_numbers(&[1.0, 2.0, 3.0, 4.0, 100.0]).unwrap();
        assert_eq!(
            (numbers.first, numbers.median, numbers.third),
            (2.0, 3.0, 4.0)
        );
        assert_eq!((numbers.low, numbers.high), (1.0, 4.0));
        assert_eq!(five_numbers(&[]), None);
        assert_eq!(five_numbers(&[7.0]).unwrap().high, 7.0);
    }

    #[test]
    fn density_holds_all_mass_and_equal_values_have_none() {
        let values = [1.0, 2.0, 2.5, 4.0, 9.0];
        let points = density(&values, 400).unwrap();
        let step = points[1].0 - points[0].0;
        let mass: f64 = points.iter().map(|(_, height)| height * step).sum();
        assert!((mass - 1.0).abs() < 0.01, "{mass}");
        assert_eq!(density(&[3.0, 3.0, 3.0], 10), None);
        assert_eq!(density(&[3.0], 10), None);
    }

    #[test]
    fn every_value_lies_in_one_bin() {
        let samples: [&[f64]; 4] = [&[0.0, 1.0, 5.0], &[0.1, 0.25, 0.9], &[4.2], &[-3e8, 7e8]];
        for values in samples {
            let edges = bin_edges(values, None);
            assert_eq!(counts(values, &edges).iter().sum::<usize>(), values.len());
            assert!(edges[0] <= values[0] && *edges.last().unwrap() >= values[values.len() - 1]);
        }
        assert_eq!(bin_edges(&[], None), Vec::<f64>::new());
    }
}
