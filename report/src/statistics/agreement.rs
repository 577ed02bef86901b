//! How far judges agree beyond chance: Krippendorff's alpha (Krippendorff 2019, "Content analysis", 4th
//! edition, chapter 12), 1 where they always agree, 0 where they agree as often as marks that are dealt
//! out at random, below 0 where they agree less. Any number of judges per record, and any record may
//! have been marked by fewer than others.

use super::Interval;
use super::bootstrap::{DRAWS, draw_again, percentile_interval};

/// What of marks is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Their order alone: from 1 to 2 may be another step than from 4 to 5.
    Ordinal,
    /// Their differences.
    Interval,
}

/// Marks as counts: the different marks in order, and of each record how often each was given. Records
/// with fewer than two marks say nothing of agreement and are left out.
struct Counted {
    marks: Vec<f64>,
    records: Vec<Vec<f64>>,
}

impl Counted {
    fn of<'a>(records: impl Iterator<Item = &'a [f64]>) -> Self {
        let records: Vec<&[f64]> = records.filter(|marks| marks.len() > 1).collect();
        let mut marks: Vec<f64> = records.iter().flat_map(|marks| *marks).copied().collect();
        marks.sort_by(f64::total_cmp);
        marks.dedup();
        let counts = records.iter().map(|given| {
            let mut counts = vec![0.0; marks.len()];
            for mark in *given {
                let place = marks.partition_point(|known| known < mark);
                counts[place] += 1.0;
            }
            counts
        });
        let records = counts.collect();
        Self { marks, records }
    }

    /// Alpha of the records at these places; `None` where all marks are the same.
    fn alpha(&self, places: impl Iterator<Item = usize> + Clone, scale: Scale) -> Option<f64> {
        let mut totals = vec![0.0; self.marks.len()];
        for place in places.clone() {
            for (total, count) in totals.iter_mut().zip(&self.records[place]) {
                *total += count;
            }
        }
        let all: f64 = totals.iter().sum();
        let apart = self.apart(&totals, scale);
        let pairs = |counts: &[f64]| -> f64 {
            let mut sum = 0.0;
            for (high, row) in apart.iter().enumerate() {
                for (low, apart) in row.iter().enumerate() {
                    sum += 2.0 * counts[high] * counts[low] * apart;
                }
            }
            sum
        };
        let observed: f64 = places
            .map(|place| {
                let counts = &self.records[place];
                pairs(counts) / (counts.iter().sum::<f64>() - 1.0)
            })
            .sum();
        let expected = pairs(&totals) / (all - 1.0);
        (expected > 0.0).then(|| 1.0 - observed / expected)
    }

    /// Squared differences of each mark from every lower one.
    fn apart(&self, totals: &[f64], scale: Scale) -> Vec<Vec<f64>> {
        let apart = |low: usize, high: usize| -> f64 {
            let far = match scale {
                Scale::Interval => self.marks[high] - self.marks[low],
                Scale::Ordinal => {
                    let between: f64 = totals[low..=high].iter().sum();
                    between - (totals[low] + totals[high]) / 2.0
                }
            };
            far * far
        };
        let rows = (0..self.marks.len()).map(|high| {
            let row = (0..high).map(|low| apart(low, high));
            row.collect()
        });
        rows.collect()
    }
}

/// Krippendorff's alpha of marks, a list for each record. `None` for fewer than two records that have
/// two marks, and where all marks are the same: nobody can tell agreement from habit then.
pub fn alpha<'a>(records: impl Iterator<Item = &'a [f64]>, scale: Scale) -> Option<f64> {
    let counted = Counted::of(records);
    let records = counted.records.len();
    (records > 1).then(|| counted.alpha(0..records, scale))?
}

/// Fewer records drawn again are the same few over and over.
const FEWEST: usize = 5;

/// Where alpha lies in 95 of 100 sets of records that are drawn again; `None` for fewer than five
/// records that have two marks, and without an alpha.
pub fn alpha_interval<'a>(
    records: impl Iterator<Item = &'a [f64]>,
    scale: Scale,
) -> Option<Interval> {
    let counted = Counted::of(records);
    let records = counted.records.len();
    if records < FEWEST {
        return None;
    }
    let mut drawn = Vec::with_capacity(DRAWS);
    draw_again(&[records], DRAWS, |places| {
        let places = places.iter().flatten().copied();
        drawn.extend(counted.alpha(places, scale));
    });
    percentile_interval(&mut drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(records: &[&[f64]], scale: Scale) -> Option<f64> {
        alpha(records.iter().copied(), scale)
    }

    #[test]
    fn judges_who_agree_have_one_and_judges_who_oppose_less_than_nothing() {
        let agree: [&[f64]; 3] = [&[1.0, 1.0, 1.0], &[4.0, 4.0], &[5.0, 5.0]];
        let oppose: [&[f64]; 2] = [&[1.0, 5.0], &[5.0, 1.0]];
        for scale in [Scale::Ordinal, Scale::Interval] {
            assert_eq!(of(&agree, scale), Some(1.0));
            // Both pairs differ, two of three of all pairs do: 1 - 1 / (2 / 3).
            assert_eq!(of(&oppose, scale), Some(-0.5));
        }
    }

    #[test]
    fn nothing_is_said_of_one_record_or_of_marks_that_are_all_the_same() {
        for records in [
            &[][..],
            &[&[1.0, 2.0][..]],
            &[&[1.0], &[2.0], &[1.0, 2.0]],
            &[&[3.0, 3.0], &[3.0, 3.0]],
        ] {
            assert_eq!(of(records, Scale::Ordinal), None, "{records:?}");
        }
        let same = [&[3.0, 3.0][..]; 9];
        assert_eq!(alpha_interval(same.into_iter(), Scale::Ordinal), None);
        let few = [&[3.0, 2.0][..]; 4];
        assert_eq!(alpha_interval(few.into_iter(), Scale::Ordinal), None);
    }

    #[test]
    fn interval_holds_alpha_and_narrows_with_records() {
        let records = |repeats: usize| -> Vec<&[f64]> {
            let set: [&[f64]; 4] = [&[1.0, 2.0], &[2.0, 2.0], &[4.0, 5.0], &[5.0, 4.0, 4.0]];
            set.repeat(repeats)
        };
        let width = |repeats: usize| {
            let records = records(repeats);
            let alpha = alpha(records.iter().copied(), Scale::Ordinal).unwrap();
            let interval = alpha_interval(records.into_iter(), Scale::Ordinal).unwrap();
            assert!(
                (interval.low..=interval.high).contains(&alpha),
                "{interval:?}"
            );
            interval.high - interval.low
        };
        assert!(width(20) < width(3) / 2.0);
    }
}
