//! The text of a token, which only its holder has, and its digest, which is all that is kept. A token
//! is 192 random bits behind an id that may be shown, so one fast hash keeps it as well as a slow one
//! would.

use std::fmt;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

/// What our tokens begin with, so that people and scanners of repositories know them.
const PREFIX: &str = "agon";

/// Separates these digests from all others made of the same bytes.
const CONTEXT: &str = "agon identity token 1";

/// Shorter ones can be guessed over a network; ours have 62 characters.
pub const SHORTEST: usize = 16;

/// Longer ones are no tokens; nobody makes us hash megabytes.
const LONGEST: usize = 4096;

const ID_BYTES: usize = 4;
const SECRET_BYTES: usize = 24;

/// What is kept of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenDigest(blake3::Hash);

impl TokenDigest {
    /// The digest of a token; `None` for what is too long to be one.
    ///
    /// Digests are looked up, which takes a time that depends on them; nobody learns a token by it,
    /// because nobody can choose the digest of a guess.
    pub fn of(token: &str) -> Option<Self> {
        (token.len() <= LONGEST).then(|| Self::hash(token))
    }

    fn hash(token: &str) -> Self {
        Self(blake3::Hash::from(blake3::derive_key(
            CONTEXT,
            token.as_bytes(),
        )))
    }
}

impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenDigest")
    }
}

impl Serialize for TokenDigest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.to_hex())
    }
}

impl<'de> Deserialize<'de> for TokenDigest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let hash = blake3::Hash::from_hex(text).map_err(serde::de::Error::custom)?;
        Ok(Self(hash))
    }
}

/// A token that was just made: its text is shown once and kept nowhere.
#[derive(Debug)]
pub struct NewToken {
    /// Names it; may be shown.
    pub id: String,
    /// What its holder sends.
    pub text: SecretString,
}

impl NewToken {
    /// Draws one.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let mut drawn = [0; ID_BYTES + SECRET_BYTES];
        getrandom::fill(&mut drawn)?;
        let (id, secret) = drawn.split_at(ID_BYTES);
        let id = hex(id);
        let text = SecretString::from(format!("{PREFIX}_{id}_{}", hex(secret)));
        Ok(Self { id, text })
    }

    /// Its digest.
    pub fn digest(&self) -> TokenDigest {
        TokenDigest::hash(self.text.expose_secret())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_known_by_its_digest_and_shown_by_nothing() {
        let (one, other) = (NewToken::draw().unwrap(), NewToken::draw().unwrap());
        let text = one.text.expose_secret();
        assert_eq!(text.len(), 62);
        assert!(text.starts_with(&format!("agon_{}_", one.id)));
        assert_eq!(TokenDigest::of(text), Some(one.digest()));
        assert_ne!(one.digest(), other.digest());
        let secret = text.rsplit('_').next().unwrap();
        assert!(!format!("{one:?} {:?}", one.digest()).contains(secret));
        let kept = serde_json::to_string(&one.digest()).unwrap();
        assert_eq!(
            serde_json::from_str::<TokenDigest>(&kept).unwrap(),
            one.digest()
        );
        assert_eq!(TokenDigest::of(&"x".repeat(LONGEST + 1)), None);
    }
}
