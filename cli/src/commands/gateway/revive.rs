//! `agon gateway revive`: puts keys to use again that a gateway took out of use, for whoever has
//! topped up the account or corrected the key's rights. Only asks and shows. Called by
//! `commands/gateway.rs`.

use agon_proto::v1::ReviveKeysRequest;

use super::address::{Client, Replicas};
use crate::failure::Failure;

/// Arguments of `agon gateway revive`.
#[derive(Debug, clap::Args)]
pub struct Revive {
    /// Only keys of this provider
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Only the key from here, as `agon gateway status` shows it: "env OPENAI_API_KEY"
    #[arg(long, value_name = "SOURCE")]
    key: Option<String>,
    #[command(flatten)]
    replicas: Replicas,
}

/// Revives and says what was revived.
///
/// # Errors
/// A gateway cannot be reached.
pub async fn run(arguments: &Revive) -> Result<(), Failure> {
    let request = ReviveKeysRequest {
        provider: arguments.provider.clone().unwrap_or_default(),
        source: arguments.key.clone().unwrap_or_default(),
    };
    let revive = async |client: &mut Client| {
        let revived = client
            .revive_keys(request.clone())
            .await?
            .into_inner()
            .revived;
        let revived = revived.into_iter().map(|key| {
            let (provider, source) = (key.provider, key.source);
            format!("{provider}: the key from {source} is in use again")
        });
        Ok(revived.collect())
    };
    let nothing = "no matching key is out of use";
    arguments.replicas.ask(nothing, revive).await
}
