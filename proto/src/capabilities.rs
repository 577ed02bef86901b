//! The names under which workers say what they can play and coordinators say what an experiment
//! needs. A leaf: both must write them alike.

/// Versions of the record's form.
pub const RECORDS: &str = "records";

/// What stands before a game's name.
const RULES: &str = "rules of ";

/// The name for the versions of a game's rules.
pub fn rules_of(game: &str) -> String {
    format!("{RULES}{game}")
}

/// The game of such a name.
pub fn game_of(name: &str) -> Option<&str> {
    name.strip_prefix(RULES)
}
