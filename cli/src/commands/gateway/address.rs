//! The running gateways that commands speak to: one, for what all replicas of a store know, or each
//! replica in turn, for what only it has noted. Used by all commands of `agon gateway`.

use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_worker::Transport;
use tonic::Status;

use crate::connecting::transport_to;
use crate::failure::Failure;
use crate::output;
use crate::results::refused;

/// A client of one gateway.
pub type Client = AgentGatewayServiceClient<Transport>;

/// Where one listens.
#[derive(Debug, clap::Args)]
pub struct Address {
    /// Where the gateway listens
    #[arg(
        long,
        env = "AGON_GATEWAY",
        hide_env_values = true,
        default_value = "http://127.0.0.1:7710",
        value_name = "URL"
    )]
    pub gateway: String,
}

impl Address {
    /// A client of it.
    ///
    /// # Errors
    /// The address makes no sense.
    pub fn client(&self) -> Result<Client, Failure> {
        client(&self.gateway)
    }

    /// What a refusal of it says to people.
    pub fn refused(&self, refusal: &Status) -> Failure {
        refused_by(&self.gateway, refusal)
    }
}

/// Where all replicas listen.
#[derive(Debug, clap::Args)]
pub struct Replicas {
    /// Where the gateway listens; name every replica, each has notes of its own
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

impl Replicas {
    /// Asks each and prints what it answers, line by line, or that there was nothing to do.
    ///
    /// # Errors
    /// One of them cannot be reached.
    pub async fn ask(
        &self,
        nothing: &str,
        ask: impl AsyncFn(&mut Client) -> Result<Vec<String>, Status>,
    ) -> Result<(), Failure> {
        for url in &self.gateway {
            let answered = ask(&mut client(url)?).await;
            let mut lines = answered.map_err(|refusal| refused_by(url, &refusal))?;
            if lines.is_empty() {
                lines.push(nothing.to_owned());
            }
            for line in lines {
                output::print(&format!("{url}: {line}"));
            }
        }
        Ok(())
    }
}

fn client(url: &str) -> Result<Client, Failure> {
    Ok(Client::new(transport_to(url)?))
}

fn refused_by(url: &str, refusal: &Status) -> Failure {
    refused(&format!("the gateway at {url}"), refusal)
}
