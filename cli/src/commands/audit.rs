//! `agon audit`: who did what in a shared installation: calls that changed something, and changes of
//! teams and tokens. Reads the store of its services. Started by `commands.rs`.

use serde_json::json;

use super::team::done;
use super::token::moment;
use crate::failure::Failure;
use crate::identities::identity_store;
use crate::output::{self, Columns};
use crate::role::{StoreArguments, runtime};

/// Arguments of `agon audit`.
#[derive(Debug, clap::Args)]
pub struct Audit {
    /// The latest of them, at most
    #[arg(long, value_name = "N", default_value_t = 100)]
    last: usize,
    /// Only what this team did
    #[arg(long, value_name = "NAME")]
    team: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArguments,
}

/// Prints them, oldest first.
///
/// # Errors
/// Exit 3 when the store cannot be used.
pub fn run(arguments: &Audit) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let store = identity_store(&arguments.store)?;
        let mut entries = match &arguments.team {
            None => done(store.audit(arguments.last).await)?,
            Some(team) => {
                let mut entries = done(store.audit(usize::MAX >> 1).await)?;
                entries.retain(|entry| entry.team == *team);
                entries
            }
        };
        let too_many = entries.len().saturating_sub(arguments.last);
        entries.drain(..too_many);
        if arguments.json {
            output::print_json(&json!(entries).to_string());
            return Ok(());
        }
        if entries.is_empty() {
            output::tell(&format!(
                "the audit log {} is empty; services write to that of their own store: give the --redis \
                 or --data that they were started with",
                arguments.store.state().in_words()
            ));
            return Ok(());
        }
        let mut columns = Columns::new([
            "when", "who", "team", "token", "where", "what", "of", "outcome",
        ]);
        for entry in entries {
            let or_dash = |text: String| {
                if text.is_empty() {
                    "-".to_owned()
                } else {
                    text
                }
            };
            columns.row([
                moment(entry.at_ms),
                entry.holder,
                or_dash(entry.team),
                or_dash(entry.token_id),
                entry.door,
                entry.call,
                or_dash(entry.subject),
                entry.outcome,
            ]);
        }
        output::print(&columns.to_string());
        Ok(())
    })
}
