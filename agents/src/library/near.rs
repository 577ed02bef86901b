//! Finds the names that somebody who mistyped one may have meant. Used for the
//! error messages of templates and settings.

/// How many names are offered.
const OFFERED: usize = 3;

/// The names nearest to `wanted` by edits, nearest first.
pub fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut ranked: Vec<(usize, &str)> = known.map(|name| (edits(wanted, name), name)).collect();
    ranked.sort_unstable();
    ranked
        .into_iter()
        .take(OFFERED)
        .map(|(_, name)| name)
        .collect()
}

/// Levenshtein distance: insertions, deletions and changes of single letters.
fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in right.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_finds_its_like() {
        let known = [
            "pirate/v1/ask.j2",
            "pirate/v1/system.j2",
            "diners_dilemma/v1/ask.j2",
        ];
        let found = nearest("pirates/v1/ask.j2", known.into_iter());
        assert_eq!(found[0], "pirate/v1/ask.j2");
    }
}
