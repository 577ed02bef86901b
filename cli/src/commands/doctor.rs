//! `agon doctor`: checks an installation from where it is started and says in one line each what it
//! found and what to do. It changes nothing, prints no secret, and leaves out what nobody named.
//! One file for each group of checks below. Started by `commands.rs`.

mod configuration;
mod coordinators;
mod findings;
mod gateways;
mod machine;
mod redis;
mod services;
mod tokens;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::TcpStream;

use crate::connecting::wants_tls;
use crate::failure::Failure;
use crate::output::{self, counted};
use crate::role::{StoreArguments, TlsArguments, runtime};

use findings::Findings;

/// Where a coordinator and a gateway of this machine listen unless they are told otherwise.
const COORDINATOR_PORT: u16 = 7700;
const GATEWAY_PORT: u16 = 7710;

/// Whoever listens on this machine takes a connection at once.
const CONNECTS_WITHIN: Duration = Duration::from_millis(500);

/// What is used when nothing is named, if it is there.
const DATA: &str = "agon-data";
const CONFIGURATION: &str = "agon.toml";

const EXAMPLES: &str = "Examples:
  agon doctor
  agon doctor --redis redis://redis:6379 --config agon.toml
  agon doctor --coordinator http://c0:7700,http://c1:7700

Each line begins with ok, warn or fail; what to do follows the last semicolon. Give the flags and \
variables of your services. Coordinator and gateway are checked at their usual places, too, if \
something answers there. Exit code 1 when a check fails.";

/// Arguments of `agon doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Doctor {
    /// Where coordinators listen, separated by commas
    #[arg(
        long,
        env = "AGON_COORDINATOR",
        hide_env_values = true,
        value_name = "URL,..."
    )]
    coordinator: Option<String>,
    /// Where gateways listen, separated by commas
    #[arg(
        long,
        env = "AGON_GATEWAY",
        hide_env_values = true,
        value_name = "URL,..."
    )]
    gateway: Option<String>,
    /// The Redis of the services
    #[arg(long, env = "AGON_REDIS", hide_env_values = true, value_name = "URL")]
    redis: Option<String>,
    /// The data folder of the services [default: agon-data if there is one and no --redis]
    #[arg(long, env = "AGON_DATA", hide_env_values = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The gateway's configuration [default: agon.toml if there is one]
    #[arg(long, env = "AGON_CONFIG", hide_env_values = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The file with teams and tokens
    #[arg(
        long,
        env = "AGON_IDENTITY",
        hide_env_values = true,
        value_name = "FILE"
    )]
    identity: Option<PathBuf>,
    /// Where finished records go: a folder, or s3://BUCKET/PREFIX
    #[arg(
        long,
        env = "AGON_ARCHIVE",
        hide_env_values = true,
        value_name = "PLACE"
    )]
    archive: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tls: TlsArguments,
}

/// Checks what there is and prints what was found.
///
/// # Errors
/// A check failed, or an address makes no sense.
pub fn run(arguments: &Doctor) -> Result<(), Failure> {
    let mut findings = Findings::default();
    let version = concat!("agon ", env!("CARGO_PKG_VERSION"));
    findings.ok("version", format!("{version}, of this command"));
    runtime()?.block_on(async {
        services(arguments, &mut findings).await?;
        stores(arguments, &mut findings).await
    })?;
    files(arguments, &mut findings);
    match arguments.json {
        true => output::print_json(&findings.json().to_string()),
        false => output::print(&findings.text()),
    }
    match findings.failed() as u64 {
        0 => Ok(()),
        failed => Err(Failure::BadNews(format!(
            "{} failed",
            counted(failed, "check")
        ))),
    }
}

async fn services(arguments: &Doctor, findings: &mut Findings) -> Result<(), Failure> {
    let is_installation =
        arguments.redis.is_some() || arguments.data.is_some() || arguments.identity.is_some();
    let is_over_tls = arguments.tls.files().is_some() || wants_tls();
    match named_or_there(
        arguments.coordinator.as_deref(),
        COORDINATOR_PORT,
        is_over_tls,
    )
    .await
    {
        Some(addresses) => coordinators::check(&addresses, is_installation, findings).await?,
        None => nobody_there(arguments, "coordinator", COORDINATOR_PORT, findings),
    }
    match named_or_there(arguments.gateway.as_deref(), GATEWAY_PORT, is_over_tls).await {
        Some(addresses) => gateways::check(&addresses, is_installation, findings).await?,
        None => nobody_there(arguments, "gateway", GATEWAY_PORT, findings),
    }
    Ok(())
}

/// Says that nothing answers at the usual place: a warning where an installation is meant, by its Redis.
fn nobody_there(arguments: &Doctor, role: &str, port: u16, findings: &mut Findings) {
    let (what, option) = (format!("{role}s"), format!("--{role}"));
    match arguments.redis.is_some() {
        true => findings.warn(
            what,
            format!(
                "none is named, and nothing listens at {}:{port}",
                Ipv4Addr::LOCALHOST
            ),
            format!("start it, or say with {option} where it is"),
        ),
        false => findings.leave_out(format!("{what} ({option})")),
    }
}

/// The addresses that were named; else the usual one, if somebody listens there.
async fn named_or_there(named: Option<&str>, port: u16, is_over_tls: bool) -> Option<String> {
    if let Some(named) = named {
        return Some(named.to_owned());
    }
    let connecting = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
    let connected = tokio::time::timeout(CONNECTS_WITHIN, connecting).await;
    let is_there = matches!(connected, Ok(Ok(_)));
    is_there.then(|| match is_over_tls {
        true => format!("https://localhost:{port}"),
        false => format!("http://{}:{port}", Ipv4Addr::LOCALHOST),
    })
}

async fn stores(arguments: &Doctor, findings: &mut Findings) -> Result<(), Failure> {
    match &arguments.redis {
        Some(url) => redis::check(url, findings).await,
        None => findings.leave_out("redis (--redis)"),
    }
    let data = data(arguments);
    let is_named = arguments.redis.is_some() || arguments.data.is_some();
    if data.is_none() && arguments.redis.is_none() {
        findings.leave_out("data folder (--data)");
    }
    // A folder that `agon run` left here need not be that of the services.
    let store = is_named.then(|| StoreArguments {
        redis: arguments.redis.clone(),
        data: data.unwrap_or_default(),
    });
    if store.is_none() {
        findings.leave_out("tokens (--redis or --data of the services)");
    }
    if arguments.identity.is_none() {
        findings.leave_out("identity file (--identity)");
    }
    tokens::check(arguments.identity.as_deref(), store.as_ref(), findings).await
}

/// The folder that was named; else the usual one, if it is there and used.
fn data(arguments: &Doctor) -> Option<PathBuf> {
    let usual = Path::new(DATA);
    let is_used = arguments.redis.is_none() && usual.is_dir();
    let by_default = is_used.then(|| usual.to_owned());
    arguments.data.clone().or(by_default)
}

fn files(arguments: &Doctor, findings: &mut Findings) {
    let by_default = || {
        let usual = Path::new(CONFIGURATION);
        usual.is_file().then(|| usual.to_owned())
    };
    match arguments.config.clone().or_else(by_default) {
        Some(file) => configuration::check(&file, findings),
        None => findings.leave_out("configuration (--config)"),
    }
    if let Some(folder) = data(arguments) {
        machine::room("data folder", &folder, findings);
    }
    match &arguments.archive {
        Some(place) => machine::archive(place, findings),
        None => findings.leave_out("archive (--archive)"),
    }
    machine::files(findings);
    match arguments.tls.files() {
        Some(files) => machine::certificates(&files, findings),
        None => findings.leave_out("certificate (--tls-cert)"),
    }
}
