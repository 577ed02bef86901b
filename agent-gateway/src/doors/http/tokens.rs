//! Bearer tokens of teams: read like keys, kept only as hashes, so that nothing
//! can print one, and compared in constant time. They can be read again while
//! requests come in. Called by `http.rs` and whoever reloads the configuration.

use std::fmt;

use parking_lot::RwLock;
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::GatewayConfig;
use crate::keys::KeyError;

/// Separates these hashes from all others made of the same bytes.
const CONTEXT: &str = "agon agent-gateway team token 1";

/// Shorter ones can be guessed over a network; any generator makes longer ones.
const SHORTEST: usize = 16;

/// The tokens of all teams.
#[derive(Default)]
pub struct TeamTokens {
    /// Absent until somebody needs them.
    known: RwLock<Option<Vec<KnownToken>>>,
}

#[derive(PartialEq)]
struct KnownToken {
    hash: blake3::Hash,
    team: String,
}

/// Tokens that were read and are not in use yet.
pub(crate) struct Prepared(Option<Vec<KnownToken>>);

/// Why tokens cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// One of them cannot be read.
    #[error("a token of team {team} cannot be used")]
    Unreadable {
        /// Whose it is.
        team: String,
        /// Why not.
        #[source]
        source: KeyError,
    },
    /// One of them is too easy to guess.
    #[error(
        "the token of team {team} in {token_source} is shorter than {SHORTEST} characters, make \
         one with: openssl rand -hex 32"
    )]
    TooShort {
        /// Whose it is.
        team: String,
        /// Where it was found.
        token_source: String,
    },
    /// Two teams could not be told apart.
    #[error("team {team} and team {other} have the same token, in {token_source}")]
    Shared {
        /// One of them.
        team: String,
        /// The other.
        other: String,
        /// Where it was found.
        token_source: String,
    },
}

impl TeamTokens {
    /// Reads all tokens, since somebody needs them from now on.
    ///
    /// # Errors
    /// A token is missing, malformed, too short, or of two teams.
    pub fn read(&self, config: &GatewayConfig) -> Result<(), TokenError> {
        let known = read_all(config)?;
        *self.known.write() = Some(known);
        Ok(())
    }

    /// Reads the tokens of a changed configuration, for [`TeamTokens::put`].
    /// Before the first [`TeamTokens::read`] nobody needs them.
    ///
    /// # Errors
    /// As [`TeamTokens::read`].
    pub(crate) fn prepare(&self, config: &GatewayConfig) -> Result<Prepared, TokenError> {
        let in_use = self.known.read().is_some();
        let known = in_use.then(|| read_all(config)).transpose()?;
        Ok(Prepared(known))
    }

    /// Puts prepared tokens to use, and says whether they are others.
    pub(crate) fn put(&self, prepared: Prepared) -> Option<String> {
        let after = prepared.0?;
        let mut known = self.known.write();
        let same = known.as_ref() == Some(&after);
        *known = Some(after);
        (!same).then(|| "tokens of teams".to_owned())
    }

    /// Whether no team has any.
    pub fn is_empty(&self) -> bool {
        self.known.read().as_ref().is_none_or(Vec::is_empty)
    }

    /// Whose token this is.
    pub fn team_of(&self, token: &SecretString) -> Option<String> {
        let hash = hash(token);
        let known = self.known.read();
        let mut team = None;
        // To the end, whichever matches: comparing hashes takes constant time.
        for one in known.iter().flatten() {
            if one.hash == hash {
                team = Some(one.team.clone());
            }
        }
        team
    }
}

impl fmt::Debug for TeamTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.known.read().as_ref().map_or(0, Vec::len);
        write!(f, "TeamTokens({count})")
    }
}

fn read_all(config: &GatewayConfig) -> Result<Vec<KnownToken>, TokenError> {
    let mut known: Vec<KnownToken> = Vec::new();
    for team in config.teams() {
        for source in &team.tokens {
            let token = source.read().map_err(|source| TokenError::Unreadable {
                team: team.name.clone(),
                source,
            })?;
            if token.expose_secret().len() < SHORTEST {
                return Err(TokenError::TooShort {
                    team: team.name.clone(),
                    token_source: source.to_string(),
                });
            }
            let hash = hash(&token);
            let other = known
                .iter()
                .find(|one| one.hash == hash && one.team != team.name);
            if let Some(other) = other {
                return Err(TokenError::Shared {
                    team: team.name.clone(),
                    other: other.team.clone(),
                    token_source: source.to_string(),
                });
            }
            known.push(KnownToken {
                hash,
                team: team.name.clone(),
            });
        }
    }
    Ok(known)
}

fn hash(token: &SecretString) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(token.expose_secret().as_bytes());
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use agon_service_kit::tasks::with_causes;

    use super::*;

    fn config(folder: &tempfile::TempDir, teams: &[(&str, &str)]) -> GatewayConfig {
        let mut text = String::new();
        for (team, token) in teams {
            let path = folder.path().join(team);
            std::fs::write(&path, token).unwrap();
            let path = path.display();
            text.push_str(&format!(
                "[teams.{team}]\ntokens = [{{ file = '{path}' }}]\n"
            ));
        }
        GatewayConfig::parse("test.toml", &text).unwrap()
    }

    fn team_of(tokens: &TeamTokens, token: &str) -> Option<String> {
        tokens.team_of(&SecretString::from(token.to_owned()))
    }

    const RED: &str = "red-5ecret-token-0001";
    const BLUE: &str = "blue-5ecret-token-001";

    #[test]
    fn token_belongs_to_its_team_until_it_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = TeamTokens::default();
        tokens
            .read(&config(&folder, &[("red", RED), ("blue", BLUE)]))
            .unwrap();
        assert_eq!(team_of(&tokens, RED).as_deref(), Some("red"));
        assert_eq!(team_of(&tokens, BLUE).as_deref(), Some("blue"));
        assert_eq!(team_of(&tokens, "red"), None);
        assert_eq!(team_of(&tokens, ""), None);

        let changed = config(&folder, &[("red", "red-changed-token-0002")]);
        let prepared = tokens.prepare(&changed).unwrap();
        assert!(tokens.put(prepared).is_some());
        assert_eq!(team_of(&tokens, RED), None);
        assert!(team_of(&tokens, "red-changed-token-0002").is_some());

        let wrong = config(&folder, &[("red", "short")]);
        assert!(tokens.prepare(&wrong).is_err());
        assert!(team_of(&tokens, "red-changed-token-0002").is_some());
        assert!(!format!("{tokens:?}").contains("changed"));
    }

    #[test]
    fn wrong_tokens_are_named_by_where_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = TeamTokens::default();
        for (teams, reason) in [
            (&[("red", "short")][..], "shorter than 16"),
            (&[("red", "with white space")], "cannot be used"),
            (&[("red", RED), ("blue", RED)], "the same token"),
        ] {
            let error = tokens.read(&config(&folder, teams)).unwrap_err();
            let shown = format!("{} {error:?}", with_causes(&error));
            assert!(shown.contains(reason) && shown.contains("red"), "{shown}");
            assert!(!shown.contains("5ecret"), "{shown}");
        }
    }

    #[test]
    fn nothing_is_read_again_that_nobody_needed() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = TeamTokens::default();
        let prepared = tokens.prepare(&config(&folder, &[("red", RED)]));
        assert_eq!(tokens.put(prepared.unwrap()), None);
        assert!(tokens.is_empty());
    }
}
