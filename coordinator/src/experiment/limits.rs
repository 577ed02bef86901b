//! How large an experiment may be: its document, the spec of a session, and what its grid comes to.
//! Beyond them a small file takes the memory of the machine, when it is checked or when its sessions
//! are queued. Read by whatever takes documents in, and by the expansion.

use agon_engine::extent::Bounds;
use serde_json::{Map, Value};

/// A document, as a file or as it is handed in. Bytes are those of all texts in it, personas and
/// records to be judged included; parsed, the largest takes less than half a gigabyte.
pub const DOCUMENT: Bounds = Bounds {
    bytes: 16 * 1024 * 1024,
    values: 600_000,
    tables: 100_000,
};

/// Words, signs, gaps and line ends of a TOML file: a parser lists them all before it starts.
pub const MOST_TOKENS: u64 = 4_000_000;

/// A file with a document: the same values may be written with more blanks than these bounds count.
pub const MOST_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Most sessions of one experiment: the queue keeps some 20 bytes of each.
pub const MOST_SESSIONS: u64 = 10_000_000;

/// Most repeats of one setting; sessions altogether are limited apart from this.
pub const MOST_REPEATS: u32 = 10_000_000;

/// Largest seed: numbers of TOML end there.
pub const MOST_SEED: u64 = i64::MAX as u64;

/// Most settings of one experiment: each is put together and checked, which takes some 50 us.
pub const MOST_CELLS: u64 = 200_000;

/// The spec of one session as JSON. A lease of it must fit into a message with others.
pub const MOST_SPEC_BYTES: u64 = 1024 * 1024;

/// What is put together to check all cells of the grids: parameters, players, their settings.
pub const MOST_CELL_BYTES: u64 = 512 * 1024 * 1024;

/// Axes of a grid, and paths that its rows set: with two values each they would make more cells
/// than there are numbers.
pub const MOST_AXES: usize = 64;

/// A number of bytes in words.
pub fn in_words(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.iter().find(|(size, _)| bytes >= *size);
    unit.map_or_else(
        || format!("{bytes} bytes"),
        |(size, unit)| format!("{:.1} {unit}", bytes as f64 / *size as f64),
    )
}

/// About as many bytes as a value has as JSON.
pub fn bytes_of(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(number) => match number.as_i64() {
            Some(whole) => u64::from(whole.unsigned_abs().checked_ilog10().unwrap_or(0)) + 1,
            None => 16,
        },
        Value::String(text) => text.len() as u64 + 2,
        Value::Array(list) => list.iter().map(|value| bytes_of(value) + 1).sum::<u64>() + 1,
        Value::Object(table) => bytes_of_table(table),
    }
}

/// The same of a table.
pub fn bytes_of_table(table: &Map<String, Value>) -> u64 {
    bytes_of_entries(table.iter())
}

/// The same of the entries of a table.
pub fn bytes_of_entries<'a>(entries: impl Iterator<Item = (&'a String, &'a Value)>) -> u64 {
    let bytes = entries.map(|(key, value)| key.len() as u64 + 4 + bytes_of(value));
    bytes.sum::<u64>() + 1
}
