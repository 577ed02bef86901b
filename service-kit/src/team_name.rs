//! Names of teams: who pays. They come from experiments, requests and configuration, and stay in
//! metrics, stores and status tables for as long as a service runs; so they are short and plain
//! wherever they come in. Called by the gateway and by the coordinator.

/// Longest name of a team.
pub const LONGEST: usize = 64;

const FORM: &str = "the name of a team must be 1 to 64 letters (a to z), digits, - _ and .";

/// The name of a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamName(String);

impl TeamName {
    /// Reads a name: 1 to 64 ASCII letters, digits, `-`, `_` and `.`.
    ///
    /// # Errors
    /// It is none; says what a name is, and not what was given, which may be a megabyte.
    pub fn read(name: String) -> Result<Self, NoTeamName> {
        let legal = |c: char| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c);
        if !(1..=LONGEST).contains(&name.len()) {
            return Err(NoTeamName::Length(name.len()));
        }
        match name.chars().find(|c| !legal(*c)) {
            Some(other) => Err(NoTeamName::Letter(other)),
            None => Ok(Self(name)),
        }
    }

    /// The name as text.
    pub fn into_string(self) -> String {
        self.0
    }
}

/// A text that is no name of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoTeamName {
    /// It is empty or too long.
    #[error("{FORM}, and this has {0} bytes")]
    Length(usize),
    /// It has a letter that no name has.
    #[error("{FORM}, and this has {0:?}")]
    Letter(char),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_teams_are_short_and_plain() {
        let longest = "x".repeat(LONGEST);
        for name in ["red", "a", "Team-1_b.c", &longest] {
            let read = TeamName::read(name.to_owned()).map(TeamName::into_string);
            assert_eq!(read.as_deref(), Ok(name));
        }
        let (long, longer) = ("x".repeat(LONGEST + 1), "x".repeat(1_000_000));
        for name in ["", "a b", "a/b", "é", "a\u{1b}[2J", "a\n", &long, &longer] {
            let error = TeamName::read(name.to_owned()).unwrap_err().to_string();
            assert!(error.contains("1 to 64 letters"), "{error}");
            assert!(error.len() < 200, "{error}");
        }
        let error = TeamName::read("a b".to_owned()).unwrap_err().to_string();
        assert!(error.ends_with("this has ' '"), "{error}");
    }
}
