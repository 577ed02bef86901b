//! Teams and tokens in a file, for installations that are described by files: tokens stand elsewhere,
//! in environment variables or in files such as mounted secrets, and the file says where. Read again
//! when any of them changes. Accepted beside the tokens of the store.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use agon_outlets::line;
use agon_service_kit::config::{self, ConfigError};
use agon_service_kit::secret_source::{SecretSource, SecretSourceError};
use agon_service_kit::team_name::{NoTeamName, TeamName};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use url::Url;

use crate::document::{IdentityDocument, TeamRecord, TokenRecord};
use crate::scope::{self, NoScope, Scope, ScopeError};
use crate::sign_in::{Person, SignIn};
use crate::token::{SHORTEST, TokenDigest};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSection {
    #[serde(default)]
    teams: BTreeMap<String, TeamSection>,
    #[serde(default)]
    tokens: BTreeMap<String, TokenSection>,
    sign_in: Option<SignInSection>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignInSection {
    issuer: Url,
    name: Option<String>,
    client_id: String,
    client_secret: Option<SecretSource>,
    #[serde(default)]
    ask_for: Vec<String>,
    #[serde(default = "eight_hours", with = "humantime_serde")]
    lasts: Duration,
    people: Vec<PersonSection>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PersonSection {
    claim: String,
    is: String,
    /// Absent: the installation's.
    team: Option<String>,
    scopes: Vec<String>,
}

/// A working day.
fn eight_hours() -> Duration {
    Duration::from_secs(8 * 60 * 60)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TeamSection {
    /// Sessions at a time.
    sessions: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenSection {
    /// Absent: the installation's.
    team: Option<String>,
    scopes: Vec<String>,
    env: Option<String>,
    file: Option<std::path::PathBuf>,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IdentityFileError {
    /// It is not as it should be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A team.
    #[error("{}: teams.{}", line(.file), line(.team))]
    Team {
        /// The file.
        file: String,
        /// As it is named there.
        team: String,
        /// What is wrong.
        #[source]
        source: NoTeamName,
    },
    /// Where people sign in.
    #[error("{}: sign_in", line(.file))]
    SignIn {
        /// The file.
        file: String,
        /// What is wrong.
        #[source]
        source: SignInFault,
    },
    /// A token.
    #[error("{}: tokens.{}", line(.file), line(.token))]
    Token {
        /// The file.
        file: String,
        /// As it is named there.
        token: String,
        /// What is wrong.
        #[source]
        source: TokenFault,
    },
}

/// What is wrong with where people sign in.
#[derive(Debug, thiserror::Error)]
pub enum SignInFault {
    /// What a provider says over it could have been changed on the way.
    #[error("issuer must begin with https://")]
    Unencrypted,
    /// What is in the place of the secret may be the secret itself.
    #[error("client_secret: {0}; say where it is, with env = \"NAME\" or file = \"PATH\"")]
    NoSource(&'static str),
    /// It cannot be read.
    #[error("client_secret")]
    Unreadable(#[from] SecretSourceError),
    /// See there.
    #[error("people[{0}].scopes[{1}] {2}")]
    Scope(usize, usize, NoScope),
    /// See there.
    #[error("people[{0}]: {1}")]
    Scopes(usize, ScopeError),
    /// See there.
    #[error("people[{0}].team {1}")]
    Team(usize, NoTeamName),
}

/// What is wrong with a token of a file.
#[derive(Debug, thiserror::Error)]
pub enum TokenFault {
    /// See there.
    #[error("scopes[{0}] {1}")]
    Scope(usize, NoScope),
    /// See there.
    #[error(transparent)]
    Scopes(#[from] ScopeError),
    /// It belongs to nobody.
    #[error("its team is not among [teams.NAME]")]
    NoTeam,
    /// Where is it?
    #[error("say where the token is, with env = \"NAME\" or file = \"PATH\"")]
    Source,
    /// It may be the token itself.
    #[error("{0}; say where the token is, with env = \"NAME\" or file = \"PATH\"")]
    NoSource(&'static str),
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] SecretSourceError),
    /// It is too easy to guess.
    #[error(
        "the token is shorter than {SHORTEST} characters: make one with `openssl rand -hex 32`"
    )]
    TooShort,
    /// Two holders could not be told apart.
    #[error("it is the token of tokens.{}, too", line(.0))]
    Shared(String),
}

/// Reads a file and every token that it names.
///
/// # Errors
/// Anything in it makes no sense, or a token cannot be read.
pub fn read(path: &Path) -> Result<IdentityDocument, IdentityFileError> {
    // Tokens in the place of their names are a common fault.
    let section: FileSection = config::load(path).map_err(ConfigError::without_values)?;
    let file = path.to_string_lossy().into_owned();
    for team in section.teams.keys() {
        TeamName::read(team.clone()).map_err(|source| IdentityFileError::Team {
            file: file.clone(),
            team: team.clone(),
            source,
        })?;
    }
    let mut document = IdentityDocument {
        teams: section
            .teams
            .into_iter()
            .map(|(name, TeamSection { sessions })| {
                let record = TeamRecord {
                    sessions,
                    ..TeamRecord::default()
                };
                (name, record)
            })
            .collect(),
        tokens: Vec::new(),
        sign_in: None,
    };
    let sign_in = section.sign_in.map(sign_in).transpose();
    document.sign_in = sign_in.map_err(|source| IdentityFileError::SignIn {
        file: file.clone(),
        source,
    })?;
    for (name, section) in section.tokens {
        let token = token(&name, section, &document);
        let token = token.map_err(|source| IdentityFileError::Token {
            file: file.clone(),
            token: name,
            source,
        })?;
        document.tokens.push(token);
    }
    Ok(document)
}

fn sign_in(section: SignInSection) -> Result<SignIn, SignInFault> {
    let issuer = section.issuer;
    if issuer.scheme() != "https" {
        return Err(SignInFault::Unencrypted);
    }
    if let Some(secret) = &section.client_secret {
        secret
            .fault()
            .map_or(Ok(()), |fault| Err(SignInFault::NoSource(fault)))?;
        let _ = secret.read()?;
    }
    let people = section.people.into_iter().enumerate();
    let people = people.map(|(at, person)| read_person(at, person));
    Ok(SignIn {
        name: section
            .name
            .or_else(|| issuer.host_str().map(str::to_owned))
            .unwrap_or_default(),
        issuer,
        client_id: section.client_id,
        client_secret: section.client_secret,
        ask_for: section.ask_for,
        lasts: section.lasts,
        people: people.collect::<Result<_, _>>()?,
    })
}

fn read_person(at: usize, section: PersonSection) -> Result<Person, SignInFault> {
    let scopes = section.scopes.iter().enumerate();
    let scopes = scopes.map(|(number, text)| {
        text.parse()
            .map_err(|fault| SignInFault::Scope(at, number, fault))
    });
    let scopes: Vec<Scope> = scopes.collect::<Result<_, _>>()?;
    if let Some(team) = &section.team {
        // It may be one of the store, too, which is looked at when somebody signs in.
        TeamName::read(team.clone()).map_err(|fault| SignInFault::Team(at, fault))?;
    }
    scope::check(&scopes, section.team.as_deref())
        .map_err(|fault| SignInFault::Scopes(at, fault))?;
    Ok(Person {
        claim: section.claim,
        is: section.is,
        team: section.team,
        scopes,
    })
}

fn token(
    name: &str,
    section: TokenSection,
    before: &IdentityDocument,
) -> Result<TokenRecord, TokenFault> {
    let scopes = section.scopes.iter().enumerate();
    let scopes =
        scopes.map(|(at, text)| text.parse().map_err(|fault| TokenFault::Scope(at, fault)));
    let scopes: Vec<Scope> = scopes.collect::<Result<_, _>>()?;
    scope::check(&scopes, section.team.as_deref())?;
    let team = section.team.as_ref();
    if team.is_some_and(|team| !before.teams.contains_key(team)) {
        return Err(TokenFault::NoTeam);
    }
    let source = match (section.env, section.file) {
        (Some(name), None) => SecretSource::Env(name),
        (None, Some(path)) => SecretSource::File(path),
        _ => return Err(TokenFault::Source),
    };
    if let Some(fault) = source.fault() {
        return Err(TokenFault::NoSource(fault));
    }
    let text = source.read()?;
    let text = text.expose_secret();
    let digest = TokenDigest::of(text).filter(|_| text.len() >= SHORTEST);
    let digest = digest.ok_or(TokenFault::TooShort)?;
    if let Some(other) = before.tokens.iter().find(|other| other.digest == digest) {
        return Err(TokenFault::Shared(other.name.clone()));
    }
    Ok(TokenRecord {
        // Beside the ids of tokens in the store, which are hexadecimal.
        id: format!("file:{name}"),
        name: name.to_owned(),
        team: section.team,
        scopes,
        digest,
        created_ms: 0,
        expires_ms: None,
        revoked_ms: None,
    })
}

#[cfg(test)]
mod tests {
    use agon_service_kit::tasks::with_causes;

    use super::*;

    const TOKEN: &str = "a-token-of-24-characters";

    fn read_text(text: &str) -> Result<IdentityDocument, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("one"), TOKEN).unwrap();
        std::fs::write(folder.path().join("short"), "short").unwrap();
        let text = text.replace("DIR", &folder.path().to_string_lossy());
        let path = folder.path().join("identity.toml");
        std::fs::write(&path, text).unwrap();
        read(&path).map_err(|error| with_causes(&error))
    }

    #[test]
    fn teams_and_tokens_are_read_and_only_digests_kept() {
        let document = read_text(
            "[teams.red]\nsessions = 9\n[tokens.ci]\nteam = 'red'\nscopes = ['submit']\n\
             file = 'DIR/one'",
        )
        .unwrap();
        assert_eq!(document.teams["red"].sessions, Some(9));
        let token = &document.tokens[0];
        assert_eq!(
            (&*token.id, token.team.as_deref()),
            ("file:ci", Some("red"))
        );
        assert_eq!(Some(token.digest), TokenDigest::of(TOKEN));
        assert!(!format!("{document:?}").contains(TOKEN));
    }

    #[test]
    fn faults_say_which_entry_and_what_to_do() {
        for (text, says) in [
            (
                "[tokens.a]\nscopes = ['worker']",
                "tokens.a: say where the token is",
            ),
            (
                "[tokens.a]\nscopes = ['work']\nfile = 'DIR/one'",
                "tokens.a: scopes[0] must be read",
            ),
            (
                "[tokens.a]\nscopes = ['read']\nfile = 'DIR/one'",
                "name the team",
            ),
            (
                "[tokens.a]\nteam = 'red'\nscopes = ['read']\nfile = 'DIR/one'",
                "[teams.NAME]",
            ),
            (
                "[tokens.a]\nscopes = ['worker']\nfile = 'DIR/short'",
                "openssl rand",
            ),
            (
                "[tokens.a]\nscopes = ['worker']\nfile = 'DIR/none'",
                "cannot be read",
            ),
            (
                "[tokens.a]\nscopes = ['worker']\nfile = 'DIR/one'\n\
                 [tokens.b]\nscopes = ['admin']\nfile = 'DIR/one'",
                "token of tokens.a",
            ),
            ("[teams.'a b']", "teams.a b: the name of a team"),
            // What somebody called it forges no line of the log.
            (
                "[tokens.\"a\\nb\"]\nscopes = ['worker']",
                "tokens.a\\nb: say where the token is",
            ),
            ("[teams.\"a\\nb\"]", "teams.a\\nb: the name of a team"),
            ("[team.red]", "unknown field"),
            ("[sign_in]\nissuer = 'x'", "issuer"),
            (
                "[sign_in]\nissuer = 'http://x.org'\nclient_id = 'a'\npeople = []",
                "sign_in: issuer must begin with https://",
            ),
            (
                "[sign_in]\nissuer = 'https://x.org'\nclient_id = 'a'\npeople = []\n\
                 client_secret = { file = 'DIR/none' }",
                "sign_in: client_secret: file",
            ),
            (
                "[sign_in]\nissuer = 'https://x.org'\nclient_id = 'a'\n[[sign_in.people]]\n\
                 claim = 'email'\nis = 'a@x.org'\nscopes = ['submit']",
                "sign_in: people[0]: the scope submit belongs to a team",
            ),
            (
                "[sign_in]\nissuer = 'https://x.org'\nclient_id = 'a'\n[[sign_in.people]]\n\
                 claim = 'email'\nis = 'a@x.org'\nscopes = ['all']",
                "sign_in: people[0].scopes[0] must be read",
            ),
            (
                "[sign_in]\nissuer = 'https://x.org'\nclient_id = 'a'\n[[sign_in.people]]\n\
                 claim = 'email'\nis = 'a@x.org'\nteam = 'a b'\nscopes = ['submit']",
                "sign_in: people[0].team",
            ),
            (
                "[sign_in]\nissuer = 'https://x.org'\nclient_id = 'a'\npeople = []\nlasts = 'long'",
                "lasts",
            ),
        ] {
            let fault = read_text(text).unwrap_err();
            assert!(fault.contains(says) && !fault.contains(TOKEN), "{fault}");
        }
    }

    #[test]
    fn no_fault_repeats_what_may_be_a_token() {
        let ours = "agon_0123abcd_0123456789abcdef0123456789abcdef0123456789abcdef";
        for secret in [TOKEN, "Hunter2", ours] {
            for (text, says) in [
                ("tokens = ['SECRET']", "tokens: invalid type: sequence"),
                (
                    "tokens = 'SECRET'",
                    "tokens: invalid type: string, expected a table",
                ),
                ("[tokens.ci]\nvalue = 'SECRET'", "unknown field `value`"),
                (
                    "[sign_in]\nissuer = 'https://x.org'\nclient_id = 'a'\npeople = []\n\
                     client_secret = 'SECRET'",
                    "client_secret",
                ),
                ("[tokens.ci]\ntoken = 'SECRET", "identity.toml:2:"),
                ("[tokens]\nci = 'SECRET'", "tokens.ci: invalid type: string"),
                ("[teams.red]\ntoken = 'SECRET'", "unknown field `token`"),
                (
                    "[teams.red]\nsessions = 'SECRET'",
                    "sessions: invalid type: string",
                ),
                ("[teams]\nred = 'SECRET'", "teams.red: invalid type: string"),
                (
                    "[tokens.ci]\nscopes = ['SECRET']\nenv = 'A'",
                    "tokens.ci: scopes[0] must be",
                ),
                (
                    "[tokens.ci]\nscopes = 'SECRET'",
                    "scopes: invalid type: string",
                ),
                (
                    "[tokens.ci]\nscopes = ['read']\nteam = 'SECRET'\nenv = 'A'",
                    "tokens.ci: its team is not among",
                ),
            ] {
                let fault = read_text(&text.replace("SECRET", secret)).unwrap_err();
                assert!(fault.contains(says), "{says}: {fault}");
                assert!(!fault.contains(secret), "{fault}");
            }
        }
        for (text, says) in [
            (
                "env = 'a-token-of-24-characters'",
                "env is not the name of a variable",
            ),
            ("env = 'OURS'", "env is not the name of a variable"),
            ("file = 'OURS'", "file is not a path"),
        ] {
            let text = format!(
                "[tokens.ci]\nscopes = ['worker']\n{}",
                text.replace("OURS", ours)
            );
            let fault = read_text(&text).unwrap_err();
            assert!(fault.contains(says), "{fault}");
            assert!(!fault.contains(TOKEN) && !fault.contains(ours), "{fault}");
        }
    }
}
