//! `agon team`: the teams of a shared installation. Changes them in the store of its services, which
//! notice within a second. Started by `commands.rs`.

use agon_identity::audit::AuditEntry;
use agon_identity::document::{IdentityDocument, TeamRecord, TokenState};
use agon_identity::holder::Holder;
use agon_identity::store::{IdentityStore, IdentityStoreError, change};
use agon_service_kit::clock::unix_ms;
use agon_service_kit::status::ErrorClass;
use serde_json::json;

use crate::failure::Failure;
use crate::identities::identity_store;
use crate::output::{self, Columns};
use crate::role::{StoreArguments, runtime};

const EXAMPLES: &str = "Examples:
  agon team create red --sessions 200
  agon token create --team red --scope submit
  agon team list

Say with --redis or --data where the services keep their state.";

/// Arguments of `agon team`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Team {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Create a team
    Create {
        #[command(flatten)]
        terms: Terms,
        /// Take over the experiments of a team of this name that was removed
        #[arg(long)]
        adopt: bool,
    },
    /// Change what a team may have
    Set(Terms),
    /// List teams, with their tokens
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StoreArguments,
    },
    /// Remove a team; its experiments go on and stay, with their results, for admins
    Remove {
        /// The team
        #[arg(value_name = "NAME")]
        name: String,
        /// Revoke its tokens
        #[arg(long)]
        revoke_tokens: bool,
        #[command(flatten)]
        store: StoreArguments,
    },
}

impl What {
    fn store(&self) -> &StoreArguments {
        match self {
            Self::Create { terms, .. } | Self::Set(terms) => &terms.store,
            Self::List { store, .. } | Self::Remove { store, .. } => store,
        }
    }
}

#[derive(Debug, clap::Args)]
struct Terms {
    /// The team
    #[arg(value_name = "NAME")]
    name: String,
    /// Sessions that it may have at work at a time [default: as many as there are places]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sessions: Option<u32>,
    #[command(flatten)]
    store: StoreArguments,
}

impl Terms {
    fn record(&self) -> TeamRecord {
        TeamRecord {
            sessions: self.sessions,
            ..TeamRecord::default()
        }
    }
}

/// Does what was asked.
///
/// # Errors
/// Exit 2 when it makes no sense, 3 when the store cannot be used.
pub fn run(arguments: &Team) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let (place, option) = {
            let store = arguments.what.store();
            (store.shown(), store.option())
        };
        let store = identity_store(arguments.what.store())?;
        let store = store.as_ref();
        match &arguments.what {
            What::Create { terms, adopt } => {
                let create = |document: &mut IdentityDocument| {
                    document.create_team(&terms.name, terms.record(), *adopt)
                };
                done(change(store, create).await)?;
                note(store, "team create", &terms.name).await;
                output::tell(&format!(
                    "created team {name} in {place}; make a token for it: agon token create --team \
                     {name} --scope submit{option}",
                    name = terms.name
                ));
            }
            What::Set(terms) => {
                let set = |document: &mut IdentityDocument| {
                    document.set_team(&terms.name, terms.record())
                };
                done(change(store, set).await)?;
                note(store, "team set", &terms.name).await;
                output::tell(&format!(
                    "team {}: sessions at a time: {}",
                    terms.name,
                    sessions(terms.sessions)
                ));
            }
            What::List { json, .. } => list(store, *json).await?,
            What::Remove {
                name,
                revoke_tokens,
                ..
            } => {
                let remove = |document: &mut IdentityDocument| {
                    document.remove_team(name, *revoke_tokens, unix_ms())
                };
                done(change(store, remove).await)?;
                note(store, "team remove", name).await;
                let tokens = if *revoke_tokens {
                    " and revoked its tokens"
                } else {
                    ""
                };
                output::tell(&format!(
                    "removed team {name}{tokens}; its experiments go on and stay, for admins"
                ));
            }
        }
        Ok(())
    })
}

async fn list(store: &dyn IdentityStore, json: bool) -> Result<(), Failure> {
    let document = done(store.read(None).await)?.unwrap_or_default().1;
    let valid = |name: &str| {
        let own = document.tokens.iter().filter(|token| {
            token.team.as_deref() == Some(name) && token.state(unix_ms()) == TokenState::Valid
        });
        own.count()
    };
    if json {
        let teams = document.present_teams().map(|(name, team)| {
            json!({ "team": name, "sessions": team.sessions, "tokens": valid(name) })
        });
        let teams: Vec<_> = teams.collect();
        output::print_json(&json!(teams).to_string());
        return Ok(());
    }
    if document.present_teams().next().is_none() {
        output::tell("there are no teams: agon team create NAME");
        return Ok(());
    }
    let mut columns = Columns::new(["team", "sessions at a time", "tokens"]);
    for (name, team) in document.present_teams() {
        columns.row([
            name.clone(),
            sessions(team.sessions),
            valid(name).to_string(),
        ]);
    }
    output::print(&columns.to_string());
    Ok(())
}

/// How many sessions at a time a team may have.
fn sessions(most: Option<u32>) -> String {
    most.map_or("any".to_owned(), |most| most.to_string())
}

/// The failure that a store's error is.
pub fn done<T>(result: Result<T, IdentityStoreError>) -> Result<T, Failure> {
    result.map_err(|error| match error.class() {
        ErrorClass::Invalid => Failure::input(error),
        _ => Failure::surroundings(error),
    })
}

/// Writes down what was changed here. A store that took the change and not this is told of.
pub async fn note(store: &dyn IdentityStore, call: &str, subject: &str) {
    let holder = Holder::command_line(&std::env::var("USER").unwrap_or_default());
    let entry = AuditEntry::new("command line", call, &holder, subject, "ok");
    if let Err(error) = store.append_audit(&[entry]).await {
        let error = agon_service_kit::tasks::with_causes(&error);
        output::tell(&format!(
            "this could not be written into the audit log: {error}"
        ));
    }
}
