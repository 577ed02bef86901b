//! What a form allows: checks of actions, and the legal answers in words and as JSON
//! Schema. Called by games and by everything that puts their asks.

use std::borrow::Cow;

use serde_json::json;

use super::{Action, Form, Foul, FoulKind};
use crate::cents::Cents;
use crate::names::Name;

impl Form {
    /// A whole number from `min` to `max`, both included.
    pub const fn integer(min: i64, max: i64) -> Self {
        Self::Integer {
            min: Some(min),
            max: Some(max),
            pass: None,
        }
    }

    /// Any whole number; used where recorded games are replayed leniently.
    pub const fn any_integer() -> Self {
        Self::Integer {
            min: None,
            max: None,
            pass: None,
        }
    }

    /// As [`Self::integer`], or any whole number where anything is accepted.
    pub const fn integer_unless(is_lenient: bool, min: i64, max: i64) -> Self {
        if is_lenient {
            Self::any_integer()
        } else {
            Self::integer(min, max)
        }
    }

    /// One of these words.
    pub const fn choice(options: &'static [Name]) -> Self {
        Self::Choice {
            options: Cow::Borrowed(options),
        }
    }

    /// One of these words, which no constant holds.
    pub fn one_of(options: &[&str]) -> Self {
        let options = options
            .iter()
            .map(|option| Name::Owned((*option).to_owned()));
        Self::Choice {
            options: options.collect(),
        }
    }

    /// Checks an action against the form.
    ///
    /// # Errors
    /// The foul, with a reason that says what would be legal.
    pub fn check(&self, action: &Action) -> Result<(), Foul> {
        match (self, action) {
            (Self::Integer { min, max, .. }, Action::Integer(number)) => {
                let low = min.is_none_or(|min| *number >= min);
                let high = max.is_none_or(|max| *number <= max);
                if low && high {
                    return Ok(());
                }
                Err(self.excludes(number))
            }
            (Self::Amount { min, max }, Action::Integer(_) | Action::Number(_)) => {
                self.check_amount(*min, *max, action)
            }
            (Self::Number { min, max }, Action::Number(number)) => {
                if number.is_finite() && number >= min && number <= max {
                    return Ok(());
                }
                Err(self.excludes(number))
            }
            (Self::Choice { options }, Action::Choice(word)) => {
                if options.iter().any(|option| option == word) {
                    return Ok(());
                }
                Err(Foul::new(
                    FoulKind::NotAnOption,
                    format!("\"{word}\" is not {}", self.describe()),
                ))
            }
            (Self::Target { seats, .. }, Action::Target(seat)) => {
                if seats.contains(seat) {
                    return Ok(());
                }
                Err(Foul::new(
                    FoulKind::NotAnOption,
                    format!("player_{seat} is not {}", self.describe()),
                ))
            }
            (Self::Division { parts, total }, Action::Division(amounts)) => {
                check_division(*parts, *total, amounts)
            }
            (
                Self::Integer { pass: Some(_), .. } | Self::Target { pass: Some(_), .. },
                Action::Pass,
            ) => Ok(()),
            _ => Err(Foul::new(
                FoulKind::WrongType,
                format!("the answer must be {}", self.describe()),
            )),
        }
    }

    /// The legal answers in words, to complete "the answer must be ...".
    pub fn describe(&self) -> String {
        match self {
            Self::Integer {
                min,
                max,
                pass: Some(pass),
            } if is_empty(*min, *max) => format!("\"{pass}\" and nothing else"),
            Self::Integer { min, max, pass } => {
                let range = match (min, max) {
                    (Some(min), Some(max)) => format!("a whole number from {min} to {max}"),
                    (Some(min), None) => format!("a whole number of at least {min}"),
                    (None, Some(max)) => format!("a whole number of at most {max}"),
                    (None, None) => "a whole number".to_owned(),
                };
                match pass {
                    Some(pass) => format!("{range}, or \"{pass}\""),
                    None => range,
                }
            }
            Self::Amount { min, max } => {
                let range = match max {
                    Some(max) => format!("an amount from {min} to {max}"),
                    None => format!("an amount of at least {min}"),
                };
                format!("{range}, with at most two decimals")
            }
            Self::Number { min, max } => format!("a number from {min} to {max}"),
            Self::Choice { options } => {
                let quoted: Vec<String> = options.iter().map(|o| format!("\"{o}\"")).collect();
                format!("one of {}", quoted.join(", "))
            }
            Self::Target { seats, pass } => {
                let named: Vec<String> = seats.iter().map(|s| format!("player_{s}")).collect();
                match pass {
                    Some(pass) => format!("one of {}, or \"{pass}\"", named.join(", ")),
                    None => format!("one of {}", named.join(", ")),
                }
            }
            Self::Division { parts, total } => {
                format!("a list of {parts} whole numbers, none negative, that add up to {total}")
            }
        }
    }

    /// JSON Schema of the answer's value, without the object around it.
    pub fn schema(&self) -> serde_json::Value {
        match self {
            Self::Integer {
                min,
                max,
                pass: Some(pass),
            } if is_empty(*min, *max) => json!({ "enum": [pass] }),
            Self::Integer { min, max, pass } => {
                let mut number = json!({ "type": "integer" });
                if let Some(min) = min {
                    number["minimum"] = json!(min);
                }
                if let Some(max) = max {
                    number["maximum"] = json!(max);
                }
                match pass {
                    Some(pass) => json!({ "anyOf": [number, { "enum": [pass] }] }),
                    None => number,
                }
            }
            Self::Amount { min, max } => {
                let mut amount = json!({ "type": "number", "minimum": min });
                if let Some(max) = max {
                    amount["maximum"] = json!(max);
                }
                amount
            }
            Self::Number { min, max } => {
                json!({ "type": "number", "minimum": min, "maximum": max })
            }
            Self::Choice { options } => json!({ "type": "string", "enum": options }),
            Self::Target { seats, pass } => {
                let mut names: Vec<String> =
                    seats.iter().map(|seat| format!("player_{seat}")).collect();
                names.extend(pass.as_deref().map(str::to_owned));
                json!({ "type": "string", "enum": names })
            }
            Self::Division { parts, total } => json!({
                "type": "array",
                "items": { "type": "integer", "minimum": 0, "maximum": total },
                "minItems": parts,
                "maxItems": parts,
                "description": format!("the numbers add up to {total}"),
            }),
        }
    }

    fn excludes(&self, number: impl std::fmt::Display) -> Foul {
        let reason = format!("{number} is not {}", self.describe());
        Foul::new(FoulKind::OutOfRange, reason)
    }

    fn check_amount(&self, min: i64, max: Option<i64>, action: &Action) -> Result<(), Foul> {
        let number = match action {
            Action::Integer(number) => *number as f64,
            Action::Number(number) => *number,
            _ => f64::NAN,
        };
        let amount = action.amount();
        let legal = amount.is_some_and(|amount| {
            amount >= Cents::dollars(min) && max.is_none_or(|max| amount <= Cents::dollars(max))
        });
        if legal && amount.is_some_and(|amount| Action::from(amount) == *action) {
            return Ok(());
        }
        let has_fraction = number.is_finite() && number.fract() != 0.0;
        if amount.is_some() || !has_fraction {
            return Err(self.excludes(number));
        }
        let reason =
            format!("{number} has more than two decimals: amounts go in dollars and cents");
        Err(Foul::new(FoulKind::OutOfRange, reason))
    }
}

/// Whether no whole number lies between these ends.
fn is_empty(min: Option<i64>, max: Option<i64>) -> bool {
    min.zip(max).is_some_and(|(min, max)| min > max)
}

fn check_division(parts: usize, total: i64, amounts: &[i64]) -> Result<(), Foul> {
    let wrong = |reason: String| Err(Foul::new(FoulKind::OutOfRange, reason));
    if amounts.len() != parts {
        let given = amounts.len();
        return wrong(format!(
            "{given} numbers were given, but {parts} are needed"
        ));
    }
    if let Some(negative) = amounts.iter().find(|amount| **amount < 0) {
        return wrong(format!("{negative} is negative"));
    }
    let sum: i128 = amounts.iter().map(|amount| i128::from(*amount)).sum();
    if sum != i128::from(total) {
        return wrong(format!(
            "the numbers add up to {sum}, but must add up to {total}"
        ));
    }
    Ok(())
}
