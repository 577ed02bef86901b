//! Checks of the gateway's configuration file: that it is right, that the keys it names can be read
//! here and by nobody else, and that models have prices where budgets stand. Keys are read by those
//! who read them for the gateway, and never shown. Called by `commands/doctor.rs`.

use std::collections::BTreeSet;
use std::path::Path;

use agon_agent_gateway::catalogue::ProviderConfig;
use agon_agent_gateway::keys::KeyEntry;
use agon_agent_gateway::money::Day;
use agon_agent_gateway::{ConfigError, GatewayConfig};
use agon_outlets::InLine as _;
use agon_service_kit::secret_source::SecretSource;
use agon_service_kit::tasks::with_causes;

use super::findings::Findings;
use crate::output::counted;

/// Checks a file.
pub fn check(file: &Path, findings: &mut Findings) {
    let config = match GatewayConfig::load(file) {
        Ok(config) => config,
        Err(fault) => {
            let advice = "correct it (docs/gateway.md says what may stand there)";
            findings.fail("configuration", with_causes(&fault), advice);
            return;
        }
    };
    findings.ok("configuration", format!("{} can be used", file.in_line()));
    let providers = configured(&config);
    let entries = providers.iter().flat_map(|name| {
        let provider = config.provider(name);
        let keys = provider.into_iter().flat_map(|provider| &provider.keys);
        keys.map(move |entry| (name.as_str(), entry))
    });
    let entries: Vec<_> = entries.collect();
    keys(&entries, findings);
    permissions(&entries, findings);
    headers(&config, findings);
    prices(&config, findings);
}

/// Providers that the file says something of, or that its models are asked at. The others are built
/// in, and their keys are wanted by nobody.
fn configured(config: &GatewayConfig) -> BTreeSet<String> {
    let built_in = GatewayConfig::default();
    let is_changed = |name: &&str| {
        let of = |config: &GatewayConfig| -> Option<ProviderConfig> {
            config.provider(name).map(|provider| (**provider).clone())
        };
        of(config) != of(&built_in)
    };
    let changed = config.provider_names().filter(is_changed);
    let mut configured: BTreeSet<String> = changed.map(str::to_owned).collect();
    let models = config.model_names();
    let resolved = models.filter_map(|model| config.resolve_without_keys(model).ok());
    configured.extend(resolved.map(|model| model.provider.name.clone()));
    configured
}

fn keys(entries: &[(&str, &KeyEntry)], findings: &mut Findings) {
    let mut read = 0;
    for (provider, entry) in entries {
        match entry.read() {
            Ok(_) => read += 1,
            Err(fault) => findings.fail(
                format!("key of {provider}"),
                with_causes(&fault),
                "put it there, or take it out of the configuration",
            ),
        }
    }
    if read == entries.len() {
        let found = match read {
            0 => "none is named".to_owned(),
            read => format!("{} can be read", counted(read as u64, "key")),
        };
        findings.ok("keys", found);
    }
}

fn permissions(entries: &[(&str, &KeyEntry)], findings: &mut Findings) {
    let files = entries.iter().filter_map(|(_, entry)| match &entry.source {
        SecretSource::File(path) => Some(path.as_path()),
        SecretSource::Env(_) => None,
    });
    let files: BTreeSet<&Path> = files.collect();
    let mut open = 0;
    for file in files.iter().filter(|file| is_open_to_others(file)) {
        open += 1;
        let name = file.in_line();
        findings.warn(
            "key file",
            format!("everybody on this machine can read or change {name}"),
            format!("chmod o-rwx {name}"),
        );
    }
    if open == 0 && !files.is_empty() {
        findings.ok("key files", "closed to other users");
    }
}

/// Its group may be a service's own, as with secrets that Kubernetes mounts.
#[cfg(unix)]
fn is_open_to_others(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(file).map(|found| found.permissions().mode());
    mode.is_ok_and(|mode| mode & 0o006 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_file: &Path) -> bool {
    false
}

/// Headers that are added to requests may hold secrets, too.
fn headers(config: &GatewayConfig, findings: &mut Findings) {
    for model in config.model_names() {
        match config.resolve(model) {
            // Keys were told of above.
            Ok(_) | Err(ConfigError::MissingKey { .. }) => {}
            Err(fault) => findings.fail(
                format!("model {model}"),
                with_causes(&fault),
                "put it there, or take it out of the configuration",
            ),
        }
    }
}

fn prices(config: &GatewayConfig, findings: &mut Findings) {
    let teams = config.teams().filter(|team| team.budget.is_some());
    let teams: Vec<&str> = teams.map(|team| team.name.as_str()).collect();
    if teams.is_empty() {
        return;
    }
    let today = Day::today();
    let has_no_price = |model: &&str| {
        let resolved = config.resolve_without_keys(model);
        resolved.is_ok_and(|model| model.prices.on(today).is_none())
    };
    let unpriced: Vec<&str> = config.model_names().filter(has_no_price).collect();
    match unpriced.is_empty() {
        true => findings.ok("prices", "known for every configured model"),
        false => findings.fail(
            "prices",
            format!(
                "none for {}, so that teams with a budget are refused: {}",
                unpriced.join(", "),
                teams.join(", ")
            ),
            "add `price` to these models, or a file of prices",
        ),
    }
}
