//! What a reply gives each of several names: a priority per item, a weight per persona, a
//! prediction per rival. Used by the readers of auction agents.

use crate::mind::{CUT_OFF_THINKING, Reply};
use crate::reading::json::Json;
use crate::reading::{CUT_OFF_IN_THOUGHT, in_quotes, is_cut_off, said, same};

/// Names as a reply writes them, with what it gives each.
pub type Rows = Vec<(String, Json)>;

/// Whether a key is one of these names.
pub fn is_among(names: &[&str], key: &str) -> bool {
    names.iter().any(|name| same(name, key))
}

/// A row such as `{"item": "Widget A", "priority": 3}`, by the words for a name and a value.
pub fn named(row: &Json, names: &[&str], values: &[&str]) -> Option<(String, Json)> {
    let map = row.as_object()?;
    let name = map.field(names)?.as_str()?;
    Some((name.to_owned(), map.field(values)?.clone()))
}

/// What a reply gives a name.
pub fn given<'a>(
    rows: impl IntoIterator<Item = &'a (String, Json)>,
    name: &str,
) -> impl Iterator<Item = &'a Json> {
    let given = rows.into_iter().filter(move |(key, _)| same(name, key));
    given.map(|(_, value)| value)
}

/// Why a reply has nothing for these names: `what` says what each should have, `brief` what
/// helps a reply that was cut off.
pub fn nothing_for(names: &[&str], what: &str, brief: &str, reply: &Reply) -> String {
    let keys = in_quotes(names);
    if reply.finish_reason == CUT_OFF_THINKING {
        format!("{CUT_OFF_IN_THOUGHT}; {brief} {keys}")
    } else if said(reply).is_empty() {
        format!("the reply was empty; give a JSON object with {what}")
    } else if is_cut_off(reply) {
        format!("the reply was cut off before its JSON was complete; {brief} {keys}")
    } else {
        format!("no JSON object with {what} was found; its keys are {keys}")
    }
}
