//! `agon token`: makes, lists and revokes the tokens of a shared installation, in the store of its
//! services, which notice within a second. Started by `commands.rs`.

use std::time::Duration;

use agon_identity::document::{IdentityDocument, TokenRecord, TokenState};
use agon_identity::scope::Scope;
use agon_identity::store::{IdentityStore, change};
use agon_identity::token::NewToken;
use agon_service_kit::clock::{millis, unix_ms};
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::team::{done, note};
use crate::failure::Failure;
use crate::identities::identity_store;
use crate::output::{self, Columns};
use crate::role::{StoreArguments, runtime};

const EXAMPLES: &str = "Examples:
  agon token create --team red --scope submit --name nightly
  agon token create --scope worker --expires never > worker-token
  agon token list
  agon token revoke 4f2a91c0

Scopes of a team: read (experiments, results, costs), submit (hand in, cancel, ask models; includes \
read), play (answer at doors). Scopes of the installation: worker, coordinator (towards the gateway), \
admin (sees and stops everything, pays for nothing).

A token is printed once and kept as a digest only. Whoever uses it sets AGON_TOKEN or --token-file. \
Say with --redis or --data where the services keep their state.";

/// Arguments of `agon token`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Token {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Make a token and print it
    #[command(after_help = EXAMPLES)]
    Create(Create),
    /// List tokens, without what makes them work
    List {
        /// Only those of this team
        #[arg(long, value_name = "NAME")]
        team: Option<String>,
        /// Include expired and revoked tokens
        #[arg(long)]
        all: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StoreArguments,
    },
    /// Revoke tokens: within a second no service accepts them, and streams that they opened end
    Revoke {
        /// Their ids, as `agon token list` shows them
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        #[command(flatten)]
        store: StoreArguments,
    },
}

impl What {
    fn store(&self) -> &StoreArguments {
        match self {
            Self::Create(create) => &create.store,
            Self::List { store, .. } | Self::Revoke { store, .. } => store,
        }
    }
}

#[derive(Debug, clap::Args)]
struct Create {
    /// The team that it belongs to; without it, it is the installation's
    #[arg(long, value_name = "NAME")]
    team: Option<String>,
    /// What it may do; several separated by commas: read, submit, play of a team; worker,
    /// coordinator, admin of the installation
    #[arg(
        long = "scope",
        value_name = "SCOPE",
        value_delimiter = ',',
        required = true
    )]
    scopes: Vec<Scope>,
    /// What it is for [default: its scopes]
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// How long it is accepted: 12h, 90d, or never
    #[arg(long, value_name = "TIME", default_value = "90d", value_parser = lifetime)]
    expires: Lifetime,
    #[command(flatten)]
    store: StoreArguments,
}

#[derive(Debug, Clone, Copy)]
enum Lifetime {
    Never,
    For(Duration),
}

fn lifetime(text: &str) -> Result<Lifetime, String> {
    if text == "never" {
        return Ok(Lifetime::Never);
    }
    let time = humantime::parse_duration(text);
    time.map(Lifetime::For)
        .map_err(|error| format!("{error}; write 12h, 90d or never"))
}

/// Does what was asked.
///
/// # Errors
/// Exit 2 when it makes no sense, 3 when the store cannot be used.
pub fn run(arguments: &Token) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let place = arguments.what.store().shown();
        let store = identity_store(arguments.what.store())?;
        match &arguments.what {
            What::Create(create) => self::create(store.as_ref(), &place, create).await,
            What::List {
                team, all, json, ..
            } => {
                let team = team.as_deref();
                list(store.as_ref(), team, *all, *json).await
            }
            What::Revoke { ids, .. } => {
                // One that is misspelled keeps none of the others valid.
                let mut failed = Ok(());
                for id in ids {
                    let revoke =
                        |document: &mut IdentityDocument| document.revoke_token(id, unix_ms());
                    match done(change(store.as_ref(), revoke).await) {
                        Ok(()) => {
                            note(store.as_ref(), "token revoke", id).await;
                            output::tell(&format!("revoked token {id}"));
                        }
                        Err(failure) => failed = Err(failure),
                    }
                }
                failed
            }
        }
    })
}

async fn create(store: &dyn IdentityStore, place: &str, create: &Create) -> Result<(), Failure> {
    let token = NewToken::draw().map_err(Failure::surroundings)?;
    let scopes: Vec<&str> = create.scopes.iter().map(|scope| scope.as_str()).collect();
    let created_ms = unix_ms();
    let record = TokenRecord {
        id: token.id.clone(),
        name: create.name.clone().unwrap_or_else(|| scopes.join(", ")),
        team: create.team.clone(),
        scopes: create.scopes.clone(),
        digest: token.digest(),
        created_ms,
        expires_ms: match create.expires {
            Lifetime::Never => None,
            Lifetime::For(time) => Some(created_ms.saturating_add(millis(time))),
        },
        revoked_ms: None,
    };
    let until = record
        .expires_ms
        .map_or("it never expires".to_owned(), |at| {
            format!("it expires {}", moment(at))
        });
    let add = |document: &mut IdentityDocument| document.create_token(record.clone());
    done(change(store, add).await)?;
    note(store, "token create", &token.id).await;
    output::print(token.text.expose_secret());
    output::tell(&format!(
        "token {}, for the services whose state is in {place}: it is shown this once; {until}. Use it as \
         AGON_TOKEN, or from a file with --token-file",
        token.id
    ));
    Ok(())
}

async fn list(
    store: &dyn IdentityStore,
    team: Option<&str>,
    all: bool,
    json: bool,
) -> Result<(), Failure> {
    let document = done(store.read(None).await)?.unwrap_or_default().1;
    let now = unix_ms();
    let listed = document.tokens.iter().filter(|token| {
        let is_of_team = team.is_none() || token.team.as_deref() == team;
        is_of_team && (all || token.state(now) == TokenState::Valid)
    });
    let listed: Vec<&TokenRecord> = listed.collect();
    if json {
        let tokens = listed.iter().map(|token| {
            json!({
                "id": token.id, "name": token.name, "team": token.team, "scopes": token.scopes,
                "created": moment(token.created_ms), "expires": token.expires_ms.map(moment),
                "state": state(token, now),
            })
        });
        let tokens: Vec<_> = tokens.collect();
        output::print_json(&json!(tokens).to_string());
        return Ok(());
    }
    if listed.is_empty() {
        output::tell("there are no such tokens: agon token create --help");
        return Ok(());
    }
    let mut columns = Columns::new([
        "id", "name", "team", "scopes", "created", "expires", "state",
    ]);
    for token in listed {
        let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.as_str()).collect();
        columns.row([
            token.id.clone(),
            token.name.clone(),
            token.team.clone().unwrap_or_else(|| "-".to_owned()),
            scopes.join(","),
            moment(token.created_ms),
            token.expires_ms.map_or("never".to_owned(), moment),
            state(token, now).to_owned(),
        ]);
    }
    output::print(&columns.to_string());
    Ok(())
}

fn state(token: &TokenRecord, now_ms: u64) -> &'static str {
    match token.state(now_ms) {
        TokenState::Valid => "valid",
        TokenState::Expired => "expired",
        TokenState::Revoked => "revoked",
    }
}

/// A time to the minute, in UTC.
pub fn moment(at_ms: u64) -> String {
    let at = i64::try_from(at_ms)
        .ok()
        .and_then(|at| Timestamp::from_millisecond(at).ok());
    let shown = at.map(|at| at.strftime("%Y-%m-%d %H:%M UTC").to_string());
    shown.unwrap_or_else(|| "far away".to_owned())
}
