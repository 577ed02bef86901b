//! What a token may do. Scopes of teams and scopes of the installation are never in one token: a team
//! pays for what it does, and the installation's own parts act for all teams.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One thing that a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Look at a team's experiments, results and costs.
    Read,
    /// Hand in, cancel, resume and remove a team's experiments, and ask models at its expense;
    /// includes [`Scope::Read`].
    Submit,
    /// Answer at a team's doors.
    Play,
    /// Play sessions of all teams.
    Worker,
    /// Be the coordinator towards the gateway.
    Coordinator,
    /// See and stop everything; pays for nothing.
    Admin,
}

impl Scope {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 6] = [
        Self::Read,
        Self::Submit,
        Self::Play,
        Self::Worker,
        Self::Coordinator,
        Self::Admin,
    ];

    /// Whether it belongs to a team, which pays; the others belong to the installation.
    pub fn is_of_team(self) -> bool {
        matches!(self, Self::Read | Self::Submit | Self::Play)
    }

    /// Whether a token with this scope may do what takes the other.
    pub fn includes(self, other: Self) -> bool {
        self == other || (self, other) == (Self::Submit, Self::Read)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Submit => "submit",
            Self::Play => "play",
            Self::Worker => "worker",
            Self::Coordinator => "coordinator",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be read, submit or play, which belong to a team, or worker, coordinator or admin")]
pub struct NoScope;

impl FromStr for Scope {
    type Err = NoScope;

    fn from_str(text: &str) -> Result<Self, NoScope> {
        let found = Self::ALL.into_iter().find(|scope| scope.as_str() == text);
        found.ok_or(NoScope)
    }
}

/// Why a team and scopes do not go together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// A token without any could do nothing.
    #[error("a token needs at least one scope")]
    None,
    /// Who would pay?
    #[error("the scope {0} belongs to a team: name the team")]
    WithoutTeam(Scope),
    /// A team acts for itself only.
    #[error("the scope {0} belongs to the installation and not to a team: name no team")]
    OfInstallation(Scope),
}

/// Checks that scopes belong to a team, or to the installation when none is named.
///
/// # Errors
/// There are none, or one belongs to the other kind.
pub fn check(scopes: &[Scope], team: Option<&str>) -> Result<(), ScopeError> {
    if scopes.is_empty() {
        return Err(ScopeError::None);
    }
    match scopes
        .iter()
        .find(|scope| scope.is_of_team() != team.is_some())
    {
        None => Ok(()),
        Some(scope) if team.is_none() => Err(ScopeError::WithoutTeam(*scope)),
        Some(scope) => Err(ScopeError::OfInstallation(*scope)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_of_teams_and_of_the_installation_do_not_mix() {
        assert_eq!(check(&[Scope::Read, Scope::Play], Some("red")), Ok(()));
        assert_eq!(check(&[Scope::Worker], None), Ok(()));
        assert_eq!(check(&[], None), Err(ScopeError::None));
        let without = check(&[Scope::Submit], None);
        assert_eq!(without, Err(ScopeError::WithoutTeam(Scope::Submit)));
        let mixed = check(&[Scope::Read, Scope::Admin], Some("red"));
        assert_eq!(mixed, Err(ScopeError::OfInstallation(Scope::Admin)));
    }

    #[test]
    fn every_scope_is_read_by_its_name() {
        for scope in Scope::ALL {
            assert_eq!(scope.to_string().parse(), Ok(scope));
        }
        assert_eq!("Read".parse::<Scope>(), Err(NoScope));
    }
}
