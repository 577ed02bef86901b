//! JSON values as actions: numbers may come as strings, seats by name or number, words in
//! any case. What a number is, `numerals.rs` knows. Called by readers of replies and by
//! rule players that are told what to say.

use std::borrow::Cow;

use serde_json::Value;

use super::{Action, Form, Foul, FoulKind};
use crate::cents::Cents;
use crate::numerals::{self, Sort};

impl Form {
    /// Reads a JSON value as an action of this form: numbers may come as
    /// strings ("42"), seats as `player_3` or 3, words in any case. Does not
    /// check the range.
    ///
    /// # Errors
    /// A [`FoulKind::WrongType`] foul when the value is of another kind.
    pub fn read(&self, value: &Value) -> Result<Action, Foul> {
        let wrong = || {
            Foul::new(
                FoulKind::WrongType,
                format!(
                    "{value} will not do: the answer must be {}",
                    self.describe()
                ),
            )
        };
        match self {
            Self::Integer { pass, .. } => {
                if let Some(pass) = pass
                    && is_pass(value, pass)
                {
                    return Ok(Action::Pass);
                }
                whole_number(value).map(Action::Integer).ok_or_else(wrong)
            }
            // What has more decimals than money has is left to the check, which says so.
            Self::Amount { .. } => {
                let amount = number(value).ok_or_else(wrong)?;
                let cents = Cents::of(amount);
                Ok(cents.map_or(Action::Number(amount), Action::from))
            }
            Self::Number { max, .. } => {
                let read = match *max <= 1.0 {
                    true => share(value),
                    false => number(value),
                };
                read.map(Action::Number).ok_or_else(wrong)
            }
            Self::Choice { options } => {
                let word = value.as_str().ok_or_else(wrong)?.trim().to_lowercase();
                Ok(match options.iter().find(|option| **option == word) {
                    Some(option) => Action::Choice(option.clone()),
                    None => Action::Choice(Cow::Owned(word)),
                })
            }
            Self::Target { pass, .. } => read_target(value, pass.as_deref()).ok_or_else(wrong),
            Self::Division { .. } => {
                let amounts = value.as_array().ok_or_else(wrong)?;
                let read: Option<Vec<i64>> = amounts.iter().map(whole_number).collect();
                read.map(Action::Division).ok_or_else(wrong)
            }
        }
    }
}

fn whole_number(value: &Value) -> Option<i64> {
    match value.as_i64() {
        Some(whole) => Some(whole),
        None => numerals::whole(number(value)?),
    }
}

/// A number by itself, or an amount of money.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64().filter(|number| number.is_finite()),
        Value::String(text) => {
            let numeral = numerals::only(text)?;
            let counts = matches!(numeral.sort, Sort::Plain | Sort::Money);
            counts.then_some(numeral.value)
        }
        _ => None,
    }
}

/// A share of the whole, which may be said as a percentage or as a ratio, too.
fn share(value: &Value) -> Option<f64> {
    let text = value.as_str();
    let numeral = text.and_then(numerals::only);
    match numeral {
        Some(numeral) => Some(match numeral.sort {
            Sort::Percent => numeral.value / 100.0,
            _ => numeral.value,
        }),
        None => number(value),
    }
}

/// A pass is its word, or null as records write it.
fn is_pass(value: &Value, pass: &str) -> bool {
    let word = value.as_str().map(str::trim);
    value.is_null() || word.is_some_and(|word| word.eq_ignore_ascii_case(pass))
}

fn read_target(value: &Value, pass: Option<&str>) -> Option<Action> {
    if let Some(seat) = value.as_u64() {
        return Some(Action::Target(usize::try_from(seat).ok()?));
    }
    if pass.is_some_and(|pass| is_pass(value, pass)) {
        return Some(Action::Pass);
    }
    let word = value.as_str()?.trim().to_lowercase();
    let digits = word.trim_start_matches("player").trim_matches(['_', ' ']);
    digits.parse().ok().map(Action::Target)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_shares_may_be_percentages_and_ratios() {
        let read = |max: f64, value: Value| Form::Number { min: 0.0, max }.read(&value).ok();
        assert_eq!(read(1.0, json!("60%")), Some(Action::Number(0.6)));
        assert_eq!(read(1.0, json!("1/2")), Some(Action::Number(0.5)));
        assert_eq!(read(1000.0, json!("$60")), Some(Action::Number(60.0)));
        for said in ["60%", "2/3", "53/100"] {
            assert_eq!(read(1000.0, json!(said)), None, "{said}");
        }
    }
}
