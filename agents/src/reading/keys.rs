//! The names of fields as models write them, in one form, so that they can be compared.
//! Used by the readers of answers and by agents that read more from a reply.

/// A key as names are written here: lower case, `_` between words.
pub fn plain(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    let mut was_small = false;
    for letter in key.trim().chars() {
        // "chosenNumber"
        if letter.is_uppercase() && was_small {
            name.push('_');
        }
        was_small = letter.is_lowercase();
        match letter {
            ' ' | '-' | '.' => name.push('_'),
            letter => name.extend(letter.to_lowercase()),
        }
    }
    name
}

/// Whether a key means a name: the same but for case, blanks and marks around and between its
/// words.
pub fn same(name: &str, key: &str) -> bool {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|letter| letter.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    plain(name) == plain(key)
}

/// A key in lower case, with `_` between its words.
pub fn snake(key: &str) -> String {
    key.trim().to_lowercase().replace([' ', '-'], "_")
}
