//! What all repeats of some settings will come to, from the few that were played (stratified sampling
//! from a finite number of repeats; Cochran 1977, "Sampling techniques", 5.4).

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Interval;
use crate::accumulator::Accumulator;

/// The total over all settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// What it is expected to be: played repeats as they were, the others as their mean.
    pub total: f64,
    /// Its 95 % interval; `None` where repeats of no setting can be told apart, of a single setting
    /// played once.
    pub interval: Option<Interval>,
}

/// The total of `repeats` of each setting, from some of them; `None` where a setting has none.
///
/// With `m` of `N` repeats played and their variance `s^2`, those left add `s^2 (N - m) N / m` to the
/// variance of the total; t has Satterthwaite's degrees of freedom. Where settings were played once,
/// the variance between them stands for the one within, which is too large rather than too small.
pub fn predicted_total(settings: &[Accumulator], repeats: u64) -> Option<Prediction> {
    let all = repeats as f64;
    let mut between = Accumulator::default();
    let mut total = 0.0;
    for setting in settings {
        let mean = setting.mean()?;
        between.add(mean);
        total += all * mean;
    }
    if settings.is_empty() {
        return None;
    }
    let (mut variance, mut below) = (0.0, 0.0);
    for setting in settings {
        let played = setting.count() as f64;
        let own = setting
            .standard_deviation()
            .map(|spread| (spread, played - 1.0));
        let common = between
            .standard_deviation()
            .map(|spread| (spread, between.count() as f64 - 1.0));
        let Some((spread, freedom)) = own.or(common) else {
            return Some(Prediction {
                total,
                interval: None,
            });
        };
        let share = spread * spread * (all - played).max(0.0) * all / played;
        variance += share;
        below += share * share / freedom;
    }
    let interval = match variance > 0.0 {
        false => Some(Interval::point(total)),
        true => {
            let freedom = (variance * variance / below).min(1e6);
            let t = StudentsT::new(0.0, 1.0, freedom).ok();
            t.map(|t| {
                let half = t.inverse_cdf(0.975) * variance.sqrt();
                Interval {
                    low: (total - half).max(0.0),
                    high: total + half,
                }
            })
        }
    };
    Some(Prediction { total, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[f64]) -> Accumulator {
        let mut all = Accumulator::default();
        numbers.iter().for_each(|number| all.add(*number));
        all
    }

    #[test]
    fn what_was_played_counts_as_it_was() {
        let whole = predicted_total(&[of(&[1.0, 2.0, 6.0])], 3).unwrap();
        assert_eq!(whole.total, 9.0);
        assert_eq!(whole.interval, Some(Interval::point(9.0)));
        // s^2 = 2, so 2 * 8 * 10 / 2 = 80; t(1) = 12.706.
        let some = predicted_total(&[of(&[100.0, 102.0])], 10).unwrap();
        assert_eq!(some.total, 1_010.0);
        let half = some.interval.unwrap().high - some.total;
        assert!((half - 12.706_2 * 80.0f64.sqrt()).abs() < 1e-2, "{half}");
    }

    #[test]
    fn settings_played_once_borrow_the_spread_between_them() {
        let once = [of(&[4.0]), of(&[6.0]), of(&[8.0])];
        let prediction = predicted_total(&once, 5).unwrap();
        assert_eq!(prediction.total, 90.0);
        // s^2 = 4 of three, so 3 * 4 * 4 * 5 = 240 at 3 * 2 degrees of freedom; t(6) = 2.4469.
        let half = prediction.interval.unwrap().high - 90.0;
        assert!((half - 2.446_9 * 240.0f64.sqrt()).abs() < 1e-2, "{half}");
        assert_eq!(predicted_total(&[of(&[4.0])], 5).unwrap().interval, None);
        assert_eq!(predicted_total(&[of(&[4.0]), of(&[])], 5), None);
        assert_eq!(predicted_total(&[], 5), None);
    }
}
