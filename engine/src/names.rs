//! Names: what they are, and which known ones are near a mistyped one. Owns what counts as near;
//! what is said with it is left to the error messages of every room.

use std::borrow::Cow;

/// A name in a record or a contract: a constant of the program, or read from elsewhere.
pub type Name = Cow<'static, str>;

/// Longest name in a contract.
pub const LONGEST_IDENTIFIER: usize = 100;

/// Whether it can be the name of a template, a column and a field alike: lower case letters, digits
/// and `_`, a letter first.
pub fn is_identifier(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.len() <= LONGEST_IDENTIFIER
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(legal)
}

/// How many names are offered.
const OFFERED: usize = 3;

/// Names are short; a value of a megabyte in place of a name must not cost a minute.
const LONGEST: usize = 64;

/// A name that was broken off has at least so many letters.
const SHORTEST_BEGINNING: usize = 4;

/// The known names nearest to `wanted` by edits of single letters and swaps of two, nearest first.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let known = known.into_iter();
    let mut ranked: Vec<_> = known.map(|name| (distance(wanted, name), name)).collect();
    ranked.sort_unstable();
    ranked.truncate(OFFERED);
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// The known name that was meant, if one is so near that this is likely: a third of its letters
/// may be wrong, more is another word; or the only one that begins so.
pub fn meant<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let near = *nearest(wanted, known.iter().copied()).first()?;
    if distance(wanted, near) <= near.chars().count() / 3 {
        return Some(near);
    }
    let mut longer = known.into_iter().filter(|name| name.starts_with(wanted));
    let is_a_beginning = wanted.chars().count() >= SHORTEST_BEGINNING;
    longer
        .next()
        .filter(|_| is_a_beginning && longer.next().is_none())
}

/// "; did you mean X?" when a known name is near, and then all that would do.
pub fn among<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let list = known.join(", ");
    match meant(wanted, known) {
        _ if list.is_empty() => "; none are defined".to_owned(),
        Some(near) => format!("; did you mean \"{near}\"? Expected one of: {list}"),
        None => format!("; expected one of: {list}"),
    }
}

fn distance(one: &str, other: &str) -> usize {
    let start = |name: &str| name.chars().take(LONGEST).collect::<String>();
    strsim::osa_distance(&start(one), &start(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_name_is_offered_and_a_far_one_is_not() {
        let known = ["repeats", "seed"];
        let near = "; did you mean \"repeats\"? Expected one of: repeats, seed";
        assert_eq!(among("repeat", known), near);
        assert_eq!(among("colour", known), "; expected one of: repeats, seed");
        assert_eq!(among("colour", []), "; none are defined");
        assert_eq!(
            meant("beauty", ["beauty_contest", "pirate"]),
            Some("beauty_contest")
        );
        assert_eq!(
            meant("beauty", ["beauty_a_la_carte", "beauty_and_the_beast"]),
            None
        );
    }

    #[test]
    fn nearest_comes_first() {
        let known = [
            "diners_dilemma/v1/ask.j2",
            "pirate/v1/system.j2",
            "pirate/v1/ask.j2",
        ];
        assert_eq!(nearest("pirates/v1/ask.j2", known)[0], "pirate/v1/ask.j2");
    }
}
