//! How much one rendering may write, keep under names, and hand to filters. The steps that
//! minijinja counts cost the same whether a text has ten letters or ten million; here bytes
//! are counted. A budget that is used up ends the rendering with an error.

use std::io;

use minijinja::value::{Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, Value};

/// Longest text that a rendering may write, in bytes.
pub const MOST_WRITTEN: usize = 1024 * 1024;

/// Bytes of the values that the template itself makes and keeps under names.
const MOST_KEPT: usize = 128 * 1024;

/// Bytes of the values that filters and functions take in, or make beyond that.
const MOST_FILTERED: usize = 2 * 1024 * 1024;

/// Bytes of the values that operators compare, cut and join, once for each operator of a block.
/// Enough for each of 1000 players to be looked for twice among all of them.
const MOST_WEIGHED: usize = 64 * 1024 * 1024;

/// Lists inside lists; deeper ones could overflow the stack when they are shown.
const MOST_NESTED: usize = 16;

/// What a value takes beside its letters.
const VALUE_BYTES: usize = 24;

/// A real number from here on is written with all its digits, up to 309: as much work as so many
/// bytes.
const MANY_DIGITS: f64 = 1e16;
const DIGITS_BYTES: usize = 8 * 1024;

/// The filter that the library puts behind the operands of operators, with the number of those.
pub const WEIGHED: &str = "_weighed";

/// The filter that the library puts behind what something is looked up in by its place.
pub const INDEXED: &str = "_indexed";

/// The filter that the library puts behind expressions whose values are kept.
pub const KEPT: &str = "_kept";

/// Bytes left of one rendering's budgets.
struct Left {
    kept: usize,
    filtered: usize,
    weighed: usize,
}

impl Left {
    fn of<'a>(state: &'a mut State<'_, '_>) -> &'a mut Self {
        state.get_or_insert_extension(Self {
            kept: MOST_KEPT,
            filtered: MOST_FILTERED,
            weighed: MOST_WEIGHED,
        })
    }
}

/// Adds the filters that count what is kept, and what operators work on.
pub fn add_to(environment: &mut Environment<'_>) {
    environment.add_filter(KEPT, |state: &mut State<'_, '_>, value: Value| {
        let left = &mut Left::of(state).kept;
        let used = size(&value, *left, MOST_NESTED);
        *left = used
            .and_then(|used| left.checked_sub(used))
            .ok_or_else(|| used_up("the values that the template keeps", MOST_KEPT))?;
        Ok::<Value, Error>(value)
    });
    environment.add_filter(
        WEIGHED,
        |state: &mut State<'_, '_>, value: &Value, times: usize| {
            weigh(state, value, times)?;
            Ok::<Value, Error>(value.clone())
        },
    );
    environment.add_filter(INDEXED, |state: &mut State<'_, '_>, value: &Value| {
        if is_counted_through(value) {
            weigh(state, value, 1)?;
        }
        Ok::<Value, Error>(value.clone())
    });
}

/// Whether a place in a value is found by going through all before it.
fn is_counted_through(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::String | ValueKind::Iterable)
}

/// Adds a filter whose arguments are counted.
pub fn add_filter(environment: &mut Environment<'_>, name: &'static str, filter: Value) {
    environment.add_filter(
        name,
        move |state: &mut State<'_, '_>, value: &Value, others: Rest<Value>| {
            let mut arguments = vec![value.clone()];
            arguments.extend(others.0);
            for argument in &arguments {
                let most = Left::of(state).filtered;
                let used = size(argument, most, MOST_NESTED);
                charge(state, used.unwrap_or(usize::MAX))?;
            }
            filter.call(state, &arguments)
        },
    );
}

/// Counts a value that is worked on so many times.
fn weigh(state: &mut State<'_, '_>, value: &Value, times: usize) -> Result<(), Error> {
    let left = &mut Left::of(state).weighed;
    let used = size(value, *left, MOST_NESTED);
    *left = used
        .and_then(|used| left.checked_sub(used.saturating_mul(times)))
        .ok_or_else(|| used_up("the values that operators work on", MOST_WEIGHED))?;
    Ok(())
}

/// Counts a number that is about to be written.
pub fn charge_digits(state: &mut State<'_, '_>, number: f64) -> Result<(), Error> {
    match digits(number) {
        0 => Ok(()),
        _ => weigh(state, &Value::from(number), 1),
    }
}

/// What writing a number takes beyond that of a short one.
fn digits(number: f64) -> usize {
    match number.is_finite() && number.abs() >= MANY_DIGITS {
        true => DIGITS_BYTES,
        false => 0,
    }
}

/// Counts bytes that a filter is about to make.
pub fn charge(state: &mut State<'_, '_>, bytes: usize) -> Result<(), Error> {
    let left = &mut Left::of(state).filtered;
    *left = left
        .checked_sub(bytes)
        .ok_or_else(|| used_up("the values that filters are given and make", MOST_FILTERED))?;
    Ok(())
}

fn used_up(what: &str, most: usize) -> Error {
    let message = format!("{what} take more than {most} bytes, or are nested too deeply");
    Error::new(ErrorKind::InvalidOperation, message)
}

/// Bytes of a value with all that it holds; none where that is more than `most`. What stands in
/// it twice counts twice.
fn size(value: &Value, most: usize, nested: usize) -> Option<usize> {
    let kind = value.kind();
    let own = match kind {
        ValueKind::Number if !value.is_integer() => f64::try_from(value.clone()).map_or(0, digits),
        _ => value.as_str().map_or(0, str::len),
    };
    let mut left = most.checked_sub(VALUE_BYTES + own)?;
    if matches!(kind, ValueKind::Seq | ValueKind::Iterable | ValueKind::Map) {
        let nested = nested.checked_sub(1)?;
        for part in value.try_iter().ok()? {
            left = left.checked_sub(size(&part, left, nested)?)?;
            if kind == ValueKind::Map {
                let held = value.get_item(&part).ok()?;
                left = left.checked_sub(size(&held, left, nested)?)?;
            }
        }
    }
    Some(most - left)
}

/// Bytes that are about as much work as one step of a template.
const BYTES_PER_STEP: usize = 16;

/// What a rendering took: its steps, and the bytes that it kept, filtered, worked on and wrote.
pub fn work(state: &State<'_, '_>, written: &Written) -> u64 {
    let steps = state.fuel_levels().map_or(0, |(taken, _)| taken);
    let used = state.get_extension().map_or(0, |left: &Left| {
        (MOST_KEPT - left.kept) + (MOST_FILTERED - left.filtered) + (MOST_WEIGHED - left.weighed)
    });
    steps + ((used + written.bytes.len()) / BYTES_PER_STEP) as u64
}

/// Takes in what a template writes, up to [`MOST_WRITTEN`] bytes.
#[derive(Default)]
pub struct Written {
    bytes: Vec<u8>,
}

impl Written {
    /// The text; templates write nothing that is none.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).trim().to_owned()
    }
}

impl io::Write for Written {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(part.len()) > MOST_WRITTEN {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
