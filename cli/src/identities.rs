//! Teams and tokens of this installation, for the roles that open doors and for the commands that
//! change them: in the Redis or the data folder of the services, and in a file.

use std::path::PathBuf;
use std::sync::Arc;

use agon_identity::gate::{Gate, Rules};
use agon_identity::store::{FileIdentityStore, IdentityStore, RedisIdentityStore};
use agon_identity::view::Identities;
use agon_service_kit::server::Listener;
use agon_service_kit::tasks::Tasks;

use crate::failure::Failure;
use crate::role::StoreArguments;

/// Their folder in the data folder.
const FOLDER: &str = "identity";

/// Which tokens a role accepts.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Who may come in")]
pub struct IdentityArguments {
    /// Accept the teams and tokens of this file beside those of `agon token`; see
    /// docs/identity.md. Without any token everybody on this machine may come in, and nobody from
    /// others
    #[arg(
        long,
        env = "AGON_IDENTITY",
        hide_env_values = true,
        value_name = "FILE"
    )]
    identity: Option<PathBuf>,
}

impl IdentityArguments {
    /// Reads them and keeps reading.
    ///
    /// # Errors
    /// The file or the store cannot be used.
    pub async fn open(&self, store: &StoreArguments, tasks: &Tasks) -> Result<Identities, Failure> {
        let store = identity_store(store)?;
        let opened = Identities::open(Some(store), self.identity.clone(), tasks).await;
        opened.map_err(Failure::input)
    }
}

/// Where `agon token` keeps teams and tokens, and what was done.
///
/// # Errors
/// It cannot be used.
pub fn identity_store(arguments: &StoreArguments) -> Result<Arc<dyn IdentityStore>, Failure> {
    Ok(match &arguments.redis {
        Some(url) => Arc::new(RedisIdentityStore::at(url).map_err(Failure::input)?),
        None => {
            let folder = arguments.data.join(FOLDER);
            Arc::new(FileIdentityStore::at(&folder).map_err(Failure::surroundings)?)
        }
    })
}

/// The same without making anything: nothing where no token was ever made in the data folder.
///
/// # Errors
/// It cannot be used.
pub fn existing_identity_store(
    arguments: &StoreArguments,
) -> Result<Option<Arc<dyn IdentityStore>>, Failure> {
    let is_there = arguments.redis.is_some() || arguments.data.join(FOLDER).is_dir();
    is_there.then(|| identity_store(arguments)).transpose()
}

/// The gate of a door, which says in the log whom it lets in.
pub fn gate(
    identities: &Identities,
    door: &'static str,
    rules: Rules,
    listener: &Listener,
) -> Gate {
    let address = listener.local_addr();
    let gate = Gate::new(identities.clone(), door, rules, address);
    if gate.is_open() {
        tracing::info!(door, %address, "there are no tokens: everybody on this machine may come in");
    } else if !address.ip().is_loopback() && !identities.has_tokens() {
        tracing::warn!(
            door,
            %address,
            "nobody can come in: make tokens with `agon token create`, or name them with --identity"
        );
    }
    gate
}
