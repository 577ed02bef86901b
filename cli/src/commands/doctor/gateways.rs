//! Checks of gateways: which are reached and serve, whether this process's token is accepted, whether
//! they use the configuration that is on disk, and how their keys stand. Only asks. Called by
//! `commands/doctor.rs`.

use std::collections::BTreeMap;

use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::{GetGatewayStatusRequest, GetGatewayStatusResponse, KeyStatus};
use agon_service_kit::secrets::shown_address;

use super::findings::Findings;
use super::services::{accepted, ask, open_to_all, reach, refused};
use crate::connecting::{channel_to, shows_a_token, transport_to};
use crate::coordinators::SEPARATOR;
use crate::failure::Failure;
use crate::output::counted;

/// Checks those at these addresses.
///
/// # Errors
/// One of them is no address.
pub async fn check(
    addresses: &str,
    is_installation: bool,
    findings: &mut Findings,
) -> Result<(), Failure> {
    for url in addresses.split(SEPARATOR).map(str::trim) {
        let name = format!("gateway {}", shown_address(url));
        match reach(url).await? {
            Ok(true) => findings.ok(&name, "serves"),
            Ok(false) => findings.fail(
                &name,
                "answers, but does not serve: its store is away, or it is stopping",
                "see whether its Redis answers, and its log",
            ),
            Err(unreached) => {
                let why = format!("does not answer: {}", unreached.why);
                findings.fail(&name, why, unreached.advice);
                continue;
            }
        }
        let mut client = AgentGatewayServiceClient::new(transport_to(url)?);
        let status = ask(client.get_gateway_status(GetGatewayStatusRequest::default())).await;
        match status {
            Ok(status) => {
                if shows_a_token() && lets_in_whoever_comes(url).await? {
                    open_to_all("gateway door", is_installation, findings);
                } else {
                    accepted("gateway token", "", findings);
                }
                configuration(&status, findings);
                keys(&status.keys, findings);
                circuits(&status.keys, findings);
            }
            Err(refusal) => {
                refused("gateway token", &refusal, findings);
                findings.leave_out(format!("configuration and keys of the {name}"));
            }
        }
    }
    Ok(())
}

/// Whether it answers a call that shows no token.
async fn lets_in_whoever_comes(url: &str) -> Result<bool, Failure> {
    let mut nobody = AgentGatewayServiceClient::new(channel_to(url)?);
    let status = ask(nobody.get_gateway_status(GetGatewayStatusRequest::default())).await;
    Ok(status.is_ok())
}

fn configuration(status: &GetGatewayStatusResponse, findings: &mut Findings) {
    match status.configuration_fault.as_str() {
        "" => findings.ok("gateway configuration", "the one on disk is in use"),
        fault => findings.fail(
            "gateway configuration",
            format!("the one on disk is not in use: {fault}"),
            "correct the file (it is read again within seconds)",
        ),
    }
}

/// Keys out of use; a provider with no other fails.
fn keys(keys: &[KeyStatus], findings: &mut Findings) {
    let mut by_provider: BTreeMap<&str, Vec<&KeyStatus>> = BTreeMap::new();
    for key in keys.iter().filter(|key| key.model.is_empty()) {
        by_provider.entry(&key.provider).or_default().push(key);
    }
    let known: usize = by_provider.values().map(Vec::len).sum();
    let mut out_of_use = 0;
    for (provider, keys) in by_provider {
        let is_in_use = |key: &KeyStatus| key.quarantine_reason.is_empty();
        let is_replaced = keys.iter().any(|key| is_in_use(key));
        for key in keys.iter().filter(|key| !is_in_use(key)) {
            out_of_use += 1;
            let check = format!("gateway key {provider} {}", key.source);
            let found = format!("out of use: {}", key.quarantine_reason);
            let advice = "replace it or top up the account, then `agon gateway revive`";
            match is_replaced {
                true => findings.warn(check.trim_end(), found, advice),
                false => {
                    let found = format!("{found}; {provider} has no other");
                    findings.fail(check.trim_end(), found, advice);
                }
            }
        }
    }
    if out_of_use == 0 {
        let found = match known {
            0 => "none was used yet".to_owned(),
            known => format!("{} in use", counted(known as u64, "key")),
        };
        findings.ok("gateway keys", found);
    }
}

fn circuits(keys: &[KeyStatus], findings: &mut Findings) {
    let broken: Vec<_> = keys.iter().filter(|key| !key.circuit.is_empty()).collect();
    for key in &broken {
        let said = match key.last_error.as_str() {
            "" => String::new(),
            error => format!(": {error}"),
        };
        findings.warn(
            format!("gateway circuit {}/{}", key.provider, key.model),
            format!("{}{said}", key.circuit),
            "see the provider's status page (the gateway tries it again by itself)",
        );
    }
    if broken.is_empty() {
        findings.ok("gateway circuits", "all closed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_out_of_use_fails_where_its_provider_has_no_other() {
        let key = |provider: &str, source: &str, reason: &str| KeyStatus {
            provider: provider.to_owned(),
            source: source.to_owned(),
            quarantine_reason: reason.to_owned(),
            ..KeyStatus::default()
        };
        let said_of = |all: &[KeyStatus]| {
            let mut findings = Findings::default();
            keys(all, &mut findings);
            findings.text()
        };
        let (one, two) = (key("a", "env A", "401"), key("a", "env B", ""));
        let said = said_of(&[one.clone(), two.clone()]);
        assert!(
            said.starts_with("warn  gateway key a env A: out of use: 401; "),
            "{said}"
        );
        let said = said_of(&[one, key("b", "env C", "")]);
        assert!(said.starts_with("fail  gateway key a env A: "), "{said}");
        assert!(said.contains("; a has no other; replace it"), "{said}");
        assert_eq!(said_of(&[two]), "ok    gateway keys: 1 key in use");
    }
}
