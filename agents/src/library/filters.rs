//! How values look in prompts: numbers without noise, players by name, lists as people write
//! them; and those of minijinja's filters and tests that cannot make much of little. Installed
//! into every template environment; nothing else is.

use agon_engine::game::player_name;
use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, Output, State, Value, filters, tests as checks};

use super::budget::{self, charge, charge_digits};
use crate::quotation;

/// Largest denominator that is shown as a fraction.
const LARGEST_DENOMINATOR: u32 = 12;

/// Largest denominator of a share of the players, of whom a game has at most so many.
const MOST_PLAYERS: u32 = 1_000;

/// Numbers are short if they are a whole number of parts of this size: four decimals, or two of
/// a percentage.
const SHORT_PARTS: f64 = 10_000.0;

/// Numbers closer than this are the same number.
const SAME: f64 = 1e-9;

/// Digits behind the point of numbers that no filter formats; more are the noise
/// of binary arithmetic.
const MOST_DIGITS: usize = 6;

/// Longest list that `range` makes.
const MOST_RANGE: usize = 1_000;

/// Adds filters, tests, `range` and the number format.
pub fn add_to(environment: &mut Environment<'_>) {
    macro_rules! add_filters {
        ($module:tt: $($name:ident)*) => {
            $(budget::add_filter(
                environment,
                stringify!($name),
                Value::from_function($module::$name),
            );)*
        };
    }
    macro_rules! add_tests {
        ($($name:literal $check:ident)*) => {
            $(environment.add_test($name, checks::$check);)*
        };
    }
    budget::add_to(environment);
    add_filters! {
        self: two fraction factor percent share times counted player players named quoted fenced
        replace join comma_list and_list or_list
    }
    // Those of minijinja whose result is no larger than what they are given.
    add_filters! {
        filters: abs capitalize default first float int items last length lines lower max min
        reverse round sort title trim unique upper
    }
    add_tests! {
        "defined" is_defined "undefined" is_undefined "none" is_none "true" is_true
        "false" is_false "number" is_number "integer" is_integer "string" is_string
        "sequence" is_sequence "mapping" is_mapping "odd" is_odd "even" is_even
        "divisibleby" is_divisibleby "startingwith" is_startingwith "endingwith" is_endingwith
    }
    environment.add_function("range", range);
    environment.set_formatter(write_value);
}

/// `range(3)` as 0, 1, 2, with an optional start before and an optional step behind.
fn range(
    state: &mut State<'_, '_>,
    first: i64,
    second: Option<i64>,
    step: Option<i64>,
) -> Result<Vec<i64>, Error> {
    let (start, end) = second.map_or((0, first), |second| (first, second));
    let step = step.unwrap_or(1);
    let all = std::iter::successors(Some(start), |number| number.checked_add(step));
    let inside = all.take_while(|number| {
        if step < 0 {
            *number > end
        } else {
            *number < end
        }
    });
    // One more than there may be: a step of 0 never ends.
    let numbers: Vec<i64> = inside.take(MOST_RANGE + 1).collect();
    if numbers.len() > MOST_RANGE {
        let message = format!("a range has more than {MOST_RANGE} numbers");
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    charge(state, numbers.len() * size_of::<Value>())?;
    Ok(numbers)
}

/// Real numbers as [`plain`], everything else as usual.
fn write_value(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    match real(value) {
        Some(number) => {
            charge_digits(state, number)?;
            Ok(out.write_str(&plain(number))?)
        }
        None => minijinja::escape_formatter(out, state, value),
    }
}

fn real(value: &Value) -> Option<f64> {
    if value.kind() != ValueKind::Number || value.is_integer() {
        return None;
    }
    f64::try_from(value.clone()).ok()
}

/// A number without superfluous digits: 20, 0.5, 33.333333.
pub fn plain(number: f64) -> String {
    let digits = format!("{number:.MOST_DIGITS$}");
    let short = digits.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" {
        "0".to_owned()
    } else {
        short.to_owned()
    }
}

fn number(value: &Value) -> Result<f64, Error> {
    f64::try_from(value.clone()).map_err(|_| wrong(value, "a number"))
}

fn wrong(value: &Value, wanted: &str) -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        format!("{value} is not {wanted}"),
    )
}

/// `43.1` as `43.10`: means and amounts with exactly two digits.
fn two(value: Value) -> Result<String, Error> {
    let text = format!("{:.2}", number(&value)?);
    Ok(if text == "-0.00" {
        "0.00".to_owned()
    } else {
        text
    })
}

/// `0.6666..` as `2/3`; numbers that are no short fraction stay decimal.
fn fraction(value: Value) -> Result<String, Error> {
    let number = number(&value)?;
    let short = (1..=LARGEST_DENOMINATOR).find_map(|denominator| {
        let numerator = number * f64::from(denominator);
        let whole = (numerator - numerator.round()).abs() < SAME;
        whole.then(|| (numerator.round(), denominator))
    });
    Ok(match short {
        Some((numerator, 1)) => plain(numerator),
        Some((numerator, denominator)) => format!("{numerator}/{denominator}"),
        None => plain(number),
    })
}

/// `0.8` as it is, `0.6666..` as `2/3`.
fn factor(value: Value) -> Result<String, Error> {
    let number = number(&value)?;
    match is_short(number) {
        true => Ok(plain(number)),
        false => fraction(value),
    }
}

/// `0.6` as `60%`, `0.3333..` as `1/3`: a rounded percentage would be another share.
fn share(value: Value) -> Result<String, Error> {
    let number = number(&value)?;
    if is_short(number) {
        return percent(value);
    }
    let exact = (1..=MOST_PLAYERS).find_map(|denominator| {
        let numerator = (number * f64::from(denominator)).round();
        (numerator / f64::from(denominator) == number).then_some((numerator, denominator))
    });
    Ok(match exact {
        Some((numerator, denominator)) => format!("{numerator}/{denominator}"),
        None => format!("{}%", plain(number * 100.0)),
    })
}

fn is_short(number: f64) -> bool {
    (number * SHORT_PARTS).round() / SHORT_PARTS == number
}

/// `0.6` as `60%`.
fn percent(value: Value) -> Result<String, Error> {
    let hundredths = number(&value)? * 100.0;
    // Two digits at most: shares of players are seldom round.
    Ok(format!("{}%", plain((hundredths * 100.0).round() / 100.0)))
}

/// Seat 3 as `player_3`.
fn player(value: Value) -> Result<String, Error> {
    let seat = usize::try_from(value.clone()).map_err(|_| wrong(&value, "a seat"))?;
    Ok(player_name(seat))
}

/// Seats as a list of names.
fn players(seats: Vec<Value>) -> Result<Vec<String>, Error> {
    seats.into_iter().map(player).collect()
}

/// Seats as a list of the names that a game gave them, one per seat.
fn named(
    state: &mut State<'_, '_>,
    seats: Vec<Value>,
    names: Vec<String>,
) -> Result<Vec<String>, Error> {
    let mut found = Vec::with_capacity(seats.len());
    for seat in seats {
        let place = usize::try_from(seat.clone()).ok();
        let name = place.and_then(|place| names.get(place));
        let name = name.ok_or_else(|| wrong(&seat, "a seat with a name"))?;
        charge(state, name.len())?;
        found.push(name.clone());
    }
    Ok(found)
}

/// A number so many times.
fn times(value: Value, factor: f64) -> Result<Value, Error> {
    let product = number(&value)? * factor;
    // Whole numbers stay whole as long as they are exact.
    let exact = product.fract() == 0.0 && product.abs() < f64::from(i32::MAX);
    #[expect(clippy::cast_possible_truncation, reason = "whole and small")]
    Ok(if exact {
        Value::from(product as i64)
    } else {
        Value::from(product)
    })
}

/// 1 and `round` as `1 round`, 2 as `2 rounds`; a plural that is not made with an s is given.
fn counted(
    state: &mut State<'_, '_>,
    value: Value,
    one: String,
    several: Option<String>,
) -> Result<String, Error> {
    let is_one = number(&value)? == 1.0;
    let shown = real(&value).map_or_else(|| value.to_string(), plain);
    charge(state, shown.len() + one.len())?;
    Ok(match several {
        _ if is_one => format!("{shown} {one}"),
        Some(several) => format!("{shown} {several}"),
        None => format!("{shown} {one}s"),
    })
}

/// A text with one part in the place of another, wherever that stands.
fn replace(
    state: &mut State<'_, '_>,
    text: String,
    old: String,
    new: String,
) -> Result<String, Error> {
    let places = text.matches(&old).count();
    charge(state, places.saturating_mul(new.len()))?;
    Ok(text.replace(&old, &new))
}

/// Values one behind the other, with a text between them.
fn join(
    state: &mut State<'_, '_>,
    values: Vec<Value>,
    between: Option<String>,
) -> Result<String, Error> {
    let between = between.unwrap_or_default();
    charge(state, values.len().saturating_mul(between.len()))?;
    Ok(shown(&values).join(&between))
}

/// Words as a list of words in quotation marks.
fn quoted(words: Vec<Value>) -> Vec<String> {
    words
        .into_iter()
        .map(|word| format!("\"{word}\""))
        .collect()
}

/// A text of others with a mark before every line: whatever it says, it cannot end its
/// own quotation.
fn fenced(text: String) -> String {
    quotation::quoted(&text, "| ")
}

fn shown(values: &[Value]) -> Vec<String> {
    let show = |value: &Value| real(value).map_or_else(|| value.to_string(), plain);
    values.iter().map(show).collect()
}

/// `a, b, c`.
fn comma_list(values: Vec<Value>) -> String {
    shown(&values).join(", ")
}

/// `a, b and c`.
fn and_list(values: Vec<Value>) -> String {
    in_a_row(&values, "and")
}

/// `a, b or c`.
fn or_list(values: Vec<Value>) -> String {
    in_a_row(&values, "or")
}

fn in_a_row(values: &[Value], last_word: &str) -> String {
    match shown(values).split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, before)) => format!("{} {last_word} {last}", before.join(", ")),
    }
}

#[cfg(test)]
mod tests;
