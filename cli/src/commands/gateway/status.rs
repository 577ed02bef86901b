//! `agon gateway status`: what a running gateway is doing, once or every second,
//! as tables that fit 80 columns or as JSON. Only asks and shows. Called by
//! `commands/gateway.rs`.

mod json;
mod tables;

use std::io::IsTerminal as _;
use std::time::Duration;

use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::{GetGatewayStatusRequest, GetGatewayStatusResponse};
use agon_service_kit::server::channel;
use tonic::transport::Channel;

use crate::failure::Failure;
use crate::output;
use crate::results::refused;

/// Between two looks of `--watch`.
const WATCH_EVERY: Duration = Duration::from_secs(1);

/// Clears a terminal and goes to its corner.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Arguments of `agon gateway status`.
#[derive(Debug, clap::Args)]
pub struct Status {
    /// Where the gateway listens
    #[arg(
        long,
        env = "AGON_GATEWAY",
        hide_env_values = true,
        default_value = "http://127.0.0.1:7710",
        value_name = "URL"
    )]
    gateway: String,
    /// Print JSON, one object per look
    #[arg(long)]
    json: bool,
    /// Look again every second, until interrupted
    #[arg(long)]
    watch: bool,
}

/// Shows the status.
///
/// # Errors
/// The gateway cannot be reached.
pub async fn run(arguments: &Status) -> Result<(), Failure> {
    let url = &arguments.gateway;
    let mut client = AgentGatewayServiceClient::new(channel(url).map_err(Failure::input)?);
    loop {
        let shown = match ask(&mut client, url).await {
            Ok(status) if arguments.json => json::of(&status).to_string(),
            Ok(status) => tables::of(&status),
            // Who watches wants to see the gateway come back.
            Err(failure) if arguments.watch => failure.to_string(),
            Err(failure) => return Err(failure),
        };
        if arguments.watch && !arguments.json && std::io::stdout().is_terminal() {
            output::write(CLEAR.as_bytes());
        }
        match arguments.json {
            true => output::print_json(shown.trim_end()),
            false => output::print(shown.trim_end()),
        }
        if !arguments.watch || output::lost() {
            return Ok(());
        }
        tokio::time::sleep(WATCH_EVERY).await;
    }
}

async fn ask(
    client: &mut AgentGatewayServiceClient<Channel>,
    url: &str,
) -> Result<GetGatewayStatusResponse, Failure> {
    let asked = client
        .get_gateway_status(GetGatewayStatusRequest::default())
        .await;
    let status = asked.map_err(|refusal| refused(&format!("the gateway at {url}"), &refusal))?;
    Ok(status.into_inner())
}
