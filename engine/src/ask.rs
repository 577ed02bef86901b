//! What a seat is asked, what it may answer, and what makes an answer a foul.
//!
//! An [`Ask`] carries its legal range as a [`Form`]; the same form checks an
//! answer, becomes the JSON Schema a model is shown, and reads JSON back into an
//! [`Action`]. Games add checks of their own in [`crate::State::check`].

use std::borrow::Cow;

use serde::Serialize;
use serde_json::json;

/// A place in a game, counted from 0.
pub type Seat = usize;

/// One question to one seat. At most one is open per seat at a time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ask {
    /// Who is asked.
    pub seat: Seat,
    /// What is asked ("guess", "bid", "vote"); also the name of the answer in
    /// structured replies and of the prompt template.
    pub kind: &'static str,
    /// What may be answered.
    pub form: Form,
    /// How many fouls are forgiven by asking again; one more forfeits the ask.
    pub foul_allowance: u32,
}

/// The legal answers of an ask.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "form", rename_all = "snake_case")]
pub enum Form {
    /// A whole number, both ends included; `None` is open on that side. With
    /// `min` above `max` there is no legal number, and passing is all that is left.
    Integer {
        /// Smallest legal number.
        min: Option<i64>,
        /// Largest legal number.
        max: Option<i64>,
        /// A word that may be said instead of a number ("withdraw"), if any.
        pass: Option<&'static str>,
    },
    /// A real number, both ends included.
    Number {
        /// Smallest legal number.
        min: f64,
        /// Largest legal number.
        max: f64,
    },
    /// One of several words. Case and surrounding blanks do not matter.
    Choice {
        /// The legal words, lower case.
        options: Cow<'static, [&'static str]>,
    },
    /// One of several seats, or a deliberate pass.
    Target {
        /// The legal seats, in order.
        seats: Vec<Seat>,
        /// The word for choosing nobody ("miss"), if that is legal.
        pass: Option<&'static str>,
    },
    /// Whole numbers, one per part, none negative, that add up to a total.
    Division {
        /// How many numbers.
        parts: usize,
        /// Their sum.
        total: i64,
    },
}

/// A seat's answer in the game's own terms.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Action {
    /// For [`Form::Integer`].
    Integer(i64),
    /// For [`Form::Number`].
    Number(f64),
    /// For [`Form::Choice`].
    Choice(Cow<'static, str>),
    /// For [`Form::Division`].
    Division(Vec<i64>),
    /// For [`Form::Target`]: the seat.
    Target(Seat),
    /// The pass word of the form was said. Serialised as `null`.
    Pass,
}

/// What a game is handed for an ask.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A checked action.
    Given(Action),
    /// The seat fouled more often than the ask allows; the game's own rules say
    /// what that means.
    Forfeited,
}

impl Answer {
    /// The action, unless the ask was forfeited.
    pub fn action(&self) -> Option<&Action> {
        match self {
            Self::Given(action) => Some(action),
            Self::Forfeited => None,
        }
    }

    /// The whole number answered, if that is what was answered.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Given(Action::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// The number answered, whole or real, if that is what was answered.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Given(Action::Integer(number)) => Some(*number as f64),
            Self::Given(Action::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The word chosen, if that is what was answered.
    pub fn choice(&self) -> Option<&str> {
        match self {
            Self::Given(Action::Choice(word)) => Some(word),
            _ => None,
        }
    }
}

/// Why an answer is not legal. A foul changes nothing in the game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Foul {
    /// The class that is counted.
    pub kind: FoulKind,
    /// One sentence to the player: what was wrong and what would be right.
    pub reason: String,
}

/// Classes of fouls, counted apart in records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoulKind {
    /// No answer could be read from the reply.
    Unreadable,
    /// An answer of the wrong type (a word where a number was asked).
    WrongType,
    /// A number outside the legal range, or amounts that do not add up.
    OutOfRange,
    /// Not one of the legal options.
    NotAnOption,
    /// The reply was cut off, refused or filtered before an answer came.
    NoReply,
}

impl Foul {
    /// A foul of a class with its sentence.
    pub fn new(kind: FoulKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
        }
    }
}

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

    /// One of these words.
    pub const fn choice(options: &'static [&'static str]) -> Self {
        Self::Choice {
            options: Cow::Borrowed(options),
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
                Err(Foul::new(
                    FoulKind::OutOfRange,
                    format!("{number} is not {}", self.describe()),
                ))
            }
            (Self::Number { min, max }, Action::Number(number)) => {
                if number.is_finite() && number >= min && number <= max {
                    return Ok(());
                }
                Err(Foul::new(
                    FoulKind::OutOfRange,
                    format!("{number} is not {}", self.describe()),
                ))
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
            Self::Number { min, max } => {
                json!({ "type": "number", "minimum": min, "maximum": max })
            }
            Self::Choice { options } => json!({ "type": "string", "enum": options }),
            Self::Target { seats, pass } => {
                let mut names: Vec<String> =
                    seats.iter().map(|seat| format!("player_{seat}")).collect();
                names.extend(pass.map(str::to_owned));
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

    /// Reads a JSON value as an action of this form: numbers may come as
    /// strings ("42"), seats as `player_3` or 3, words in any case. Does not
    /// check the range.
    ///
    /// # Errors
    /// A [`FoulKind::WrongType`] foul when the value is of another kind.
    pub fn read(&self, value: &serde_json::Value) -> Result<Action, Foul> {
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
                read_integer(value).map(Action::Integer).ok_or_else(wrong)
            }
            Self::Number { .. } => read_number(value).map(Action::Number).ok_or_else(wrong),
            Self::Choice { options } => {
                let word = value.as_str().ok_or_else(wrong)?.trim().to_lowercase();
                Ok(match options.iter().find(|option| **option == word) {
                    Some(option) => Action::Choice(Cow::Borrowed(option)),
                    None => Action::Choice(Cow::Owned(word)),
                })
            }
            Self::Target { pass, .. } => read_target(value, *pass).ok_or_else(wrong),
            Self::Division { .. } => {
                let amounts = value.as_array().ok_or_else(wrong)?;
                let read: Option<Vec<i64>> = amounts.iter().map(read_integer).collect();
                read.map(Action::Division).ok_or_else(wrong)
            }
        }
    }
}

/// Whether no whole number lies between these ends.
pub(crate) fn is_empty(min: Option<i64>, max: Option<i64>) -> bool {
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

/// Largest magnitude at which every whole f64 is exact (2^53).
const EXACT_WHOLE: f64 = 9_007_199_254_740_992.0;

fn read_integer(value: &serde_json::Value) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return Some(number);
    }
    let number = read_number(value)?;
    (number.fract() == 0.0 && number.abs() <= EXACT_WHOLE).then_some(number as i64)
}

fn read_number(value: &serde_json::Value) -> Option<f64> {
    let number = match value {
        serde_json::Value::Number(number) => number.as_f64()?,
        serde_json::Value::String(text) => {
            let bare = text.trim().trim_start_matches('$').replace(',', "");
            bare.parse().ok()?
        }
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// A pass is its word, or null as records write it.
fn is_pass(value: &serde_json::Value, pass: &str) -> bool {
    let word = value.as_str().map(str::trim);
    value.is_null() || word.is_some_and(|word| word.eq_ignore_ascii_case(pass))
}

fn read_target(value: &serde_json::Value, pass: Option<&str>) -> Option<Action> {
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
