//! `agon gateway revive`: puts keys to use again that a gateway took out of use, for whoever has
//! topped up the account or corrected the key's rights. Only asks and shows. Called by
//! `commands/gateway.rs`.

use agon_proto::v1::ReviveKeysRequest;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_service_kit::server::channel;

use crate::failure::Failure;
use crate::output;
use crate::results::refused;

/// Arguments of `agon gateway revive`.
#[derive(Debug, clap::Args)]
pub struct Revive {
    /// Where the gateways listen: each replica has its own list of dead keys
    #[arg(
        long,
        env = "AGON_GATEWAY",
        hide_env_values = true,
        default_value = "http://127.0.0.1:7710",
        value_delimiter = ',',
        value_name = "URL,..."
    )]
    gateway: Vec<String>,
    /// Only keys of this provider
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Only the key from here, as `agon gateway status` shows it: "env OPENAI_API_KEY"
    #[arg(long, value_name = "SOURCE")]
    key: Option<String>,
}

/// Revives and says what was revived.
///
/// # Errors
/// A gateway cannot be reached.
pub async fn run(arguments: &Revive) -> Result<(), Failure> {
    for url in &arguments.gateway {
        let mut client = AgentGatewayServiceClient::new(channel(url).map_err(Failure::input)?);
        let asked = client.revive_keys(ReviveKeysRequest {
            provider: arguments.provider.clone().unwrap_or_default(),
            source: arguments.key.clone().unwrap_or_default(),
        });
        let refusal = |refusal| refused(&format!("the gateway at {url}"), &refusal);
        let revived = asked.await.map_err(refusal)?.into_inner().revived;
        if revived.is_empty() {
            output::print(&format!("{url}: no such key is out of use"));
        }
        for key in revived {
            let (provider, source) = (key.provider, key.source);
            output::print(&format!(
                "{url}: {provider}: the key from {source} is in use again"
            ));
        }
    }
    Ok(())
}
