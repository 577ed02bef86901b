//! `agon gateway status`: what a running gateway is doing, once or every second,
//! as tables that fit 80 columns or as JSON. Only asks and shows. Called by
//! `commands/gateway.rs`.

mod json;
mod tables;

use std::io::IsTerminal as _;
use std::time::Duration;

use agon_proto::v1::GetGatewayStatusRequest;
use tonic::Response;

use super::address::Address;
use crate::failure::Failure;
use crate::output;

/// Between two looks of `--watch`.
const WATCH_EVERY: Duration = Duration::from_secs(1);

/// Clears a terminal and goes to its corner.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Arguments of `agon gateway status`.
#[derive(Debug, clap::Args)]
pub struct Status {
    #[command(flatten)]
    address: Address,
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
    let address = &arguments.address;
    let mut client = address.client()?;
    loop {
        let asked = client.get_gateway_status(GetGatewayStatusRequest::default());
        let asked = asked.await.map_err(|refusal| address.refused(&refusal));
        let shown = match asked.map(Response::into_inner) {
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
