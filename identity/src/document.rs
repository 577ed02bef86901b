//! Teams and tokens as they are kept: one small document, changed as a whole. Only digests of tokens
//! are in it. Tokens that are over stay listed, so that what they did can still be told. Changed by
//! `agon team` and `agon token`, through `store.rs`.

use std::collections::BTreeMap;

use agon_outlets::line;
use agon_service_kit::config::discreet::LONGEST_VALUE;
use agon_service_kit::team_name::{NoTeamName, TeamName};
use serde::{Deserialize, Serialize};

use crate::scope::{self, Scope, ScopeError};
use crate::sign_in::SignIn;
use crate::token::TokenDigest;

/// Longest name of a token.
const LONGEST_NAME: usize = 100;

/// More would make each look at the document slow.
const MOST_TOKENS: usize = 10_000;

/// All teams and tokens. What a later version adds to it is passed over, so that services of two
/// versions may look at it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct IdentityDocument {
    /// Teams by name.
    #[serde(default)]
    pub teams: BTreeMap<String, TeamRecord>,
    /// Tokens in the order in which they were made.
    #[serde(default)]
    pub tokens: Vec<TokenRecord>,
    /// Where people sign in; only a file says that.
    #[serde(skip)]
    pub sign_in: Option<SignIn>,
}

/// A team.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TeamRecord {
    /// Sessions that it may have at work at a time; absent: as many as there are places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u32>,
    /// It was removed. Its experiments may still be there, so its name is not given to others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

/// A token without its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// Names it.
    pub id: String,
    /// What it is for, for people.
    pub name: String,
    /// The team that it belongs to; absent: the installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// What is kept of its text.
    pub digest: TokenDigest,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// When it expires; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
    /// When it was revoked; absent: it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_ms: Option<u64>,
}

/// Whether a token is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenState {
    /// It is.
    Valid,
    /// Its time is over.
    Expired,
    /// Somebody took it back.
    Revoked,
}

impl TokenRecord {
    /// Whether it is accepted at a time, in milliseconds since 1970.
    pub fn state(&self, now_ms: u64) -> TokenState {
        if self.revoked_ms.is_some() {
            TokenState::Revoked
        } else if self.expires_ms.is_some_and(|expires| expires <= now_ms) {
            TokenState::Expired
        } else {
            TokenState::Valid
        }
    }
}

/// Why a change cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// See there.
    #[error(transparent)]
    TeamName(#[from] NoTeamName),
    /// It is there already.
    #[error("there is a team {0} already")]
    TeamExists(String),
    /// Its experiments may still be there.
    #[error(
        "there was a team {0}, whose experiments this one would see: choose another name, or add \
         --adopt to take them over"
    )]
    TeamRemoved(String),
    /// It is not there.
    #[error("there is no team {0}: create it with `agon team create {0}`, or see `agon team list`")]
    NoTeam(String),
    /// It would leave tokens behind that belong to nobody.
    #[error(
        "team {team} has tokens that are accepted ({tokens}): revoke them first, or add --revoke-tokens"
    )]
    HasTokens {
        /// The team.
        team: String,
        /// How many.
        tokens: usize,
    },
    /// See there.
    #[error(transparent)]
    Scopes(#[from] ScopeError),
    /// It is shown in tables.
    #[error("the name of a token must be 1 to {LONGEST_NAME} printable characters")]
    TokenName,
    /// It would be expired at once.
    #[error("the token would expire before it could be used")]
    ExpiresInThePast,
    /// It is not there.
    #[error("there is no token {}: see `agon token list`", shown_id(.0))]
    NoToken(String),
    /// See [`MOST_TOKENS`].
    #[error("there are {MOST_TOKENS} tokens already")]
    Full,
}

impl IdentityDocument {
    /// Adds a team; under the name of one that was removed only if it is to `adopt` what that left.
    ///
    /// # Errors
    /// The name is invalid or taken.
    pub fn create_team(
        &mut self,
        name: &str,
        record: TeamRecord,
        adopt: bool,
    ) -> Result<(), ChangeError> {
        let name = TeamName::read(name.to_owned())?.into_string();
        match self.teams.get(&name) {
            Some(team) if !team.removed => return Err(ChangeError::TeamExists(name)),
            Some(_) if !adopt => return Err(ChangeError::TeamRemoved(name)),
            _ => {}
        }
        self.teams.insert(name, record);
        Ok(())
    }

    /// Teams that were not removed.
    pub fn present_teams(&self) -> impl Iterator<Item = (&String, &TeamRecord)> {
        self.teams.iter().filter(|(_, team)| !team.removed)
    }

    fn has_team(&self, name: &str) -> bool {
        self.teams.get(name).is_some_and(|team| !team.removed)
    }

    /// Changes what a team may have.
    ///
    /// # Errors
    /// There is no such team.
    pub fn set_team(&mut self, name: &str, record: TeamRecord) -> Result<(), ChangeError> {
        let team = self.teams.get_mut(name).filter(|team| !team.removed);
        *team.ok_or_else(|| ChangeError::NoTeam(name.to_owned()))? = record;
        Ok(())
    }

    /// Removes a team. Its experiments go on under its limit, and stay with their results, for the
    /// installation's admins.
    ///
    /// # Errors
    /// There is no such team, or it has tokens and these are not to be revoked.
    pub fn remove_team(
        &mut self,
        name: &str,
        revoke_tokens: bool,
        now_ms: u64,
    ) -> Result<(), ChangeError> {
        if !self.has_team(name) {
            return Err(ChangeError::NoTeam(name.to_owned()));
        }
        let own = self.tokens.iter_mut().filter(|token| {
            token.team.as_deref() == Some(name) && token.state(now_ms) == TokenState::Valid
        });
        let own: Vec<&mut TokenRecord> = own.collect();
        if !own.is_empty() && !revoke_tokens {
            return Err(ChangeError::HasTokens {
                team: name.to_owned(),
                tokens: own.len(),
            });
        }
        for token in own {
            token.revoked_ms = Some(now_ms);
        }
        if let Some(team) = self.teams.get_mut(name) {
            team.removed = true;
        }
        Ok(())
    }

    /// Adds a token.
    ///
    /// # Errors
    /// Its team is unknown, its scopes do not fit, or it could not be used.
    pub fn create_token(&mut self, token: TokenRecord) -> Result<(), ChangeError> {
        let printable = |c: char| !c.is_control();
        let is_name = (1..=LONGEST_NAME).contains(&token.name.len());
        if !is_name || !token.name.chars().all(printable) {
            return Err(ChangeError::TokenName);
        }
        scope::check(&token.scopes, token.team.as_deref())?;
        if let Some(team) = token.team.as_ref().filter(|team| !self.has_team(team)) {
            return Err(ChangeError::NoTeam(team.clone()));
        }
        if token.state(token.created_ms) != TokenState::Valid {
            return Err(ChangeError::ExpiresInThePast);
        }
        if self.tokens.len() >= MOST_TOKENS {
            return Err(ChangeError::Full);
        }
        self.tokens.push(token);
        Ok(())
    }

    /// Revokes a token; one that is revoked already stays as it is.
    ///
    /// # Errors
    /// There is no such token.
    pub fn revoke_token(&mut self, id: &str, now_ms: u64) -> Result<(), ChangeError> {
        let token = self.tokens.iter_mut().find(|token| token.id == id);
        let token = token.ok_or_else(|| ChangeError::NoToken(id.to_owned()))?;
        token.revoked_ms.get_or_insert(now_ms);
        Ok(())
    }

    /// Nothing was ever configured.
    pub fn is_empty(&self) -> bool {
        self.teams.is_empty() && self.tokens.is_empty()
    }
}

/// An id or a name as it may be told again: whoever has a token at hand pastes that.
fn shown_id(id: &str) -> String {
    match id.chars().count() > LONGEST_VALUE {
        true => "of this name or id".to_owned(),
        false => line(id).to_string(),
    }
}

#[cfg(test)]
mod tests;
