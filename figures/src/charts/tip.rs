//! What a tooltip says about a mark: its names, its value with interval and n, its note. Called by
//! every chart; the writer of SVG escapes it.

use crate::figure::Axis;
use crate::mark::Mark;
use crate::number;

/// The tooltip of a mark under some names; empty names are left out.
pub(crate) fn tip(names: &[&str], measure: &Axis, mark: &Mark) -> String {
    let named: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !name.is_empty())
        .collect();
    let mut text = named.join(", ");
    if !text.is_empty() {
        text.push_str(": ");
    }
    if !measure.title.is_empty() {
        text.push_str(&measure.title);
        text.push(' ');
    }
    text.push_str(&number::short(mark.value));
    if let Some(unit) = measure.unit.as_deref().filter(|unit| !unit.is_empty()) {
        text.push(' ');
        text.push_str(unit);
    }
    if let (Some(low), Some(high)) = (mark.low, mark.high) {
        let (low, high) = (number::short(low), number::short(high));
        text.push_str(&format!(" [{low}, {high}]"));
    }
    if let Some(n) = mark.n {
        text.push_str(&format!(", n = {n}"));
    }
    if let Some(note) = mark.note.as_deref().filter(|note| !note.is_empty()) {
        text.push_str("; ");
        text.push_str(note);
    }
    text
}
