//! The answers that a form allows, one by one, where there are not too many: for whoever
//! tries them all.

use super::{Action, Form, Seat};
use crate::cents::Cents;

impl Form {
    /// Every answer that the form allows; `None` when there are more than `most`.
    pub fn answers(&self, most: usize) -> Option<Vec<Action>> {
        let all = match self {
            Self::Integer { min, max, pass } => {
                let mut all = numbers((*min)?, (*max)?, most)?;
                all.extend(pass.is_some().then_some(Action::Pass));
                all
            }
            Self::Amount { min, max } => amounts(*min, (*max)?, most)?,
            Self::Number { min, max } if min == max => vec![Action::Number(*min)],
            Self::Number { .. } => return None,
            Self::Choice { options } => options.iter().cloned().map(Action::Choice).collect(),
            Self::Target { seats, pass } => {
                let seats = seats.iter().map(|seat: &Seat| Action::Target(*seat));
                seats
                    .chain(pass.is_some().then_some(Action::Pass))
                    .collect()
            }
            Self::Division { parts, total } => divisions(*parts, *total, most)?,
        };
        (all.len() <= most).then_some(all)
    }
}

fn numbers(min: i64, max: i64, most: usize) -> Option<Vec<Action>> {
    let width = i128::from(max) - i128::from(min) + 1;
    (width <= most as i128).then(|| (min..=max).map(Action::Integer).collect())
}

/// All cents between two whole amounts.
fn amounts(min: i64, max: i64, most: usize) -> Option<Vec<Action>> {
    let (mut amount, max) = (Cents::dollars(min), Cents::dollars(max));
    let mut all = Vec::new();
    while amount <= max {
        if all.len() == most {
            return None;
        }
        all.push(Action::from(amount));
        amount += Cents::ONE;
    }
    Some(all)
}

fn divisions(parts: usize, total: i64, most: usize) -> Option<Vec<Action>> {
    let mut begun: Vec<(Vec<i64>, i64)> = vec![(Vec::new(), total)];
    for part in 1..=parts {
        let mut longer = Vec::new();
        for (amounts, left) in begun {
            let least = if part == parts { left } else { 0 };
            for amount in least..=left {
                // Every beginning has at least one end.
                if longer.len() == most {
                    return None;
                }
                longer.push(([&amounts[..], &[amount]].concat(), left - amount));
            }
        }
        begun = longer;
    }
    let whole = begun.into_iter();
    Some(
        whole
            .map(|(amounts, _)| Action::Division(amounts))
            .collect(),
    )
}

#[cfg(test)]
mod tests;
