//! The law of one draw: what can come out, how likely it is, and how it is drawn from
//! a seed. The draws of records depend on every number here.

use std::collections::BTreeSet;

use super::Generator;
use crate::ask::Seat;
use crate::event::Value;

/// What a draw is made by.
pub(super) enum Law<'a> {
    /// A flag, set in so many of 100 cases.
    Percent(u32),
    /// One of these seats, each equally likely; there is at least one.
    Seat(&'a [Seat]),
    /// A whole number, both ends included.
    Integer(i64, i64),
    /// So many different numbers of a ladder.
    Distinct(usize, Ladder),
    /// So many numbers of a bell curve.
    Bell(usize, Bell),
}

impl Law<'_> {
    /// Whether this could come out.
    pub(super) fn could_give(&self, value: &Value) -> bool {
        match self {
            Self::Percent(percent) => value.flag().is_some_and(|happens| match happens {
                true => *percent > 0,
                false => *percent < 100,
            }),
            Self::Seat(seats) => {
                let seat = value.integer().and_then(|seat| usize::try_from(seat).ok());
                seat.is_some_and(|seat| seats.contains(&seat))
            }
            Self::Integer(low, high) => {
                let number = value.integer();
                number.is_some_and(|number| (*low..=*high).contains(&number))
            }
            Self::Distinct(count, ladder) => {
                let numbers = value.integers();
                numbers.is_some_and(|numbers| ladder.could_give(numbers, *count))
            }
            Self::Bell(count, bell) => value.integers().is_some_and(|numbers| {
                // Without deviation there is one number alone.
                let only = (bell.deviation == 0.0).then(|| bell.mean.trunc() as i64);
                let possible = |number: &i64| {
                    let is_only = only.is_none_or(|only| only == *number);
                    is_only && (1..=bell.most).contains(number)
                };
                numbers.len() == *count && numbers.iter().all(possible)
            }),
        }
    }

    /// What comes out of a generator.
    pub(super) fn draw(&self, generator: &mut Generator) -> Value {
        match self {
            Self::Percent(percent) => Value::Flag(generator.below(100) < u64::from(*percent)),
            Self::Seat(seats) => {
                let place = generator.below(seats.len() as u64);
                Value::Integer(seats[place as usize] as i64)
            }
            Self::Integer(low, high) => Value::Integer(generator.between(*low, *high)),
            Self::Distinct(count, ladder) => {
                let rungs = generator.sample(ladder.rungs, *count).into_iter();
                Value::Integers(rungs.map(|rung| ladder.number(rung)).collect())
            }
            Self::Bell(count, bell) => {
                Value::Integers((0..*count).map(|_| bell.draw(generator)).collect())
            }
        }
    }

    /// Everything that can come out, with its probability; `None` when that is more
    /// than `most`.
    pub(super) fn outcomes(&self, most: usize) -> Option<Vec<(Value, f64)>> {
        match self {
            Self::Percent(percent) => {
                let set = f64::from((*percent).min(100)) / 100.0;
                let both = [(Value::Flag(true), set), (Value::Flag(false), 1.0 - set)];
                Some(both.into_iter().filter(|(_, share)| *share > 0.0).collect())
            }
            Self::Seat(seats) => {
                let seats = seats.iter().map(|seat| Value::Integer(*seat as i64));
                equally_likely(seats.collect(), most)
            }
            Self::Integer(low, high) => {
                let width = usize::try_from(i128::from(*high) - i128::from(*low) + 1).ok()?;
                if width > most {
                    return None;
                }
                equally_likely((*low..=*high).map(Value::Integer).collect(), most)
            }
            Self::Distinct(count, ladder) => {
                let orders = (0..*count).map(|drawn| ladder.rungs - drawn);
                orders.into_iter().try_fold(1, |all: usize, left| {
                    all.checked_mul(left).filter(|all| *all <= most)
                })?;
                let mut drawn: Vec<Vec<i64>> = vec![Vec::new()];
                for _ in 0..*count {
                    let longer = |before: &Vec<i64>| {
                        let before = before.clone();
                        let numbers = (0..ladder.rungs).map(|rung| ladder.number(rung));
                        let fresh = numbers.filter(|number| !before.contains(number));
                        let fresh: Vec<i64> = fresh.collect();
                        fresh
                            .into_iter()
                            .map(move |number| [&before[..], &[number]].concat())
                    };
                    drawn = drawn.iter().flat_map(longer).collect();
                }
                equally_likely(drawn.into_iter().map(Value::Integers).collect(), most)
            }
            Self::Bell(count, bell) => bell.outcomes(*count, most),
        }
    }
}

fn equally_likely(values: Vec<Value>, most: usize) -> Option<Vec<(Value, f64)>> {
    let share = 1.0 / values.len() as f64;
    let fits = values.len() <= most;
    fits.then(|| values.into_iter().map(|value| (value, share)).collect())
}

/// Evenly spaced numbers.
#[derive(Debug, Clone, Copy)]
pub struct Ladder {
    /// The smallest number.
    pub low: i64,
    /// The distance between neighbours; not 0.
    pub step: i64,
    /// How many numbers there are.
    pub rungs: usize,
}

impl Ladder {
    fn number(&self, rung: usize) -> i64 {
        self.low + self.step * rung as i64
    }

    /// Whether these numbers could be `count` different ones of the ladder.
    fn could_give(&self, numbers: &[i64], count: usize) -> bool {
        let on_rung = |number: &i64| {
            let place = (i128::from(*number) - i128::from(self.low)) / i128::from(self.step);
            let rung = i128::from(self.low) + place * i128::from(self.step);
            (0..self.rungs as i128).contains(&place) && rung == i128::from(*number)
        };
        let different: BTreeSet<&i64> = numbers.iter().collect();
        numbers.len() == count && different.len() == count && numbers.iter().all(on_rung)
    }
}

/// Whole parts of normally distributed numbers, above 0.
#[derive(Debug, Clone, Copy)]
pub struct Bell {
    /// Mean, from 1 to `most`.
    pub mean: f64,
    /// Standard deviation, at most `most`; more would be drawn again too often.
    pub deviation: f64,
    /// The largest number.
    pub most: i64,
}

impl Bell {
    /// A number that fits; others are drawn again.
    fn draw(&self, generator: &mut Generator) -> i64 {
        loop {
            let number = (self.mean + self.deviation * generator.normal()).trunc() as i64;
            if (1..=self.most).contains(&number) {
                return number;
            }
        }
    }

    fn outcomes(&self, count: usize, most: usize) -> Option<Vec<(Value, f64)>> {
        let width = usize::try_from(self.most).ok()?;
        let single: Vec<(i64, f64)> = if self.deviation == 0.0 {
            vec![(self.mean.trunc() as i64, 1.0)]
        } else if width > most {
            return None;
        } else {
            let share = |number: i64| (number, self.below(number + 1) - self.below(number));
            let likely = (1..=self.most).map(share).filter(|(_, share)| *share > 0.0);
            likely.collect()
        };
        let whole: f64 = single.iter().map(|(_, share)| share).sum();
        let mut all = vec![(Vec::new(), 1.0)];
        for _ in 0..count {
            if all.len().checked_mul(single.len())? > most {
                return None;
            }
            let longer = |(before, chance): &(Vec<i64>, f64)| {
                let (before, chance) = (before.clone(), *chance);
                let further = single.iter();
                let further = further.map(move |(number, share)| {
                    ([&before[..], &[*number]].concat(), chance * share / whole)
                });
                further.collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        let values = all.into_iter();
        Some(
            values
                .map(|(numbers, chance)| (Value::Integers(numbers), chance))
                .collect(),
        )
    }

    /// The share of the whole curve below a number.
    fn below(&self, number: i64) -> f64 {
        let distance = (number as f64 - self.mean) / self.deviation;
        0.5 * (1.0 + libm::erf(distance / std::f64::consts::SQRT_2))
    }
}
