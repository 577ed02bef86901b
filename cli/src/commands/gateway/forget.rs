//! `agon gateway forget`: a gateway leaves out what a model's server has refused, for an hour; this
//! asks with it again at once, for whoever has updated the server. Only asks and shows. Called by
//! `commands/gateway.rs`.

use agon_proto::v1::ForgetLearntRequest;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_service_kit::server::channel;

use crate::failure::Failure;
use crate::output;
use crate::results::refused;

/// Arguments of `agon gateway forget`.
#[derive(Debug, clap::Args)]
pub struct Forget {
    /// The model, as `agon gateway status` shows it: PROVIDER/MODEL [default: all models]
    #[arg(value_name = "MODEL")]
    model: Option<String>,
    /// Where the gateways listen: each replica learns for itself
    #[arg(
        long,
        env = "AGON_GATEWAY",
        hide_env_values = true,
        default_value = "http://127.0.0.1:7710",
        value_delimiter = ',',
        value_name = "URL,..."
    )]
    gateway: Vec<String>,
}

/// Forgets and says what.
///
/// # Errors
/// A gateway cannot be reached.
pub async fn run(arguments: &Forget) -> Result<(), Failure> {
    for url in &arguments.gateway {
        let mut client = AgentGatewayServiceClient::new(channel(url).map_err(Failure::input)?);
        let model = arguments.model.clone().unwrap_or_default();
        let asked = client.forget_learnt(ForgetLearntRequest { model });
        let refusal = |refusal| refused(&format!("the gateway at {url}"), &refusal);
        let forgotten = asked.await.map_err(refusal)?.into_inner().forgotten;
        if forgotten.is_empty() {
            output::print(&format!("{url}: nothing is left out of such calls"));
        }
        for learnt in forgotten {
            let (provider, model) = (learnt.provider, learnt.provider_model);
            let parameter = learnt.parameter;
            output::print(&format!(
                "{url}: {provider}/{model} is asked with {parameter} again"
            ));
        }
    }
    Ok(())
}
