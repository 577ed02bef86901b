//! Checks of teams and tokens: the file that names them, and those that `agon token` made. Reads only
//! when and for whom they are accepted. Called by `commands/doctor.rs`.

use std::path::Path;

use agon_identity::document::{IdentityDocument, TokenRecord, TokenState};
use agon_identity::identity_file;
use agon_identity::scope::Scope;
use agon_outlets::InLine as _;
use agon_service_kit::clock::{millis, unix_ms};
use agon_service_kit::tasks::with_causes;

use super::findings::{Findings, SOON};
use crate::commands::token::moment;
use crate::failure::Failure;
use crate::identities::existing_identity_store;
use crate::output::counted;
use crate::role::StoreArguments;

/// More are counted and not named.
const MOST_NAMED: usize = 5;

/// Checks the file, if one is named, and the store, if there is one.
///
/// # Errors
/// The address of the store makes no sense.
pub async fn check(
    file: Option<&Path>,
    store: Option<&StoreArguments>,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let mut all = Vec::new();
    let mut is_whole = true;
    if let Some(file) = file {
        match identity_file::read(file) {
            Ok(document) => {
                findings.ok("identity file", named(file, &document));
                all.extend(document.tokens);
            }
            Err(fault) => {
                is_whole = false;
                let advice = "correct it (docs/identity.md says what may stand there)";
                findings.fail("identity file", with_causes(&fault), advice);
            }
        }
    }
    if let Some(store) = store {
        match stored(store).await? {
            Ok(document) => {
                lifetimes(&document.tokens, unix_ms(), findings);
                all.extend(document.tokens);
            }
            Err(why) => {
                is_whole = false;
                findings.fail("tokens", why, "bring their store back, or correct --redis");
            }
        }
    }
    if is_whole && (file.is_some() || store.is_some()) {
        admins(&all, unix_ms(), findings);
    }
    Ok(())
}

fn named(file: &Path, document: &IdentityDocument) -> String {
    let teams = counted(document.teams.len() as u64, "team");
    let tokens = counted(document.tokens.len() as u64, "token");
    format!("{}: {teams} and {tokens}", file.in_line())
}

async fn stored(store: &StoreArguments) -> Result<Result<IdentityDocument, String>, Failure> {
    let store = match existing_identity_store(store) {
        Ok(Some(store)) => store,
        Ok(None) => return Ok(Ok(IdentityDocument::default())),
        Err(wrong @ Failure::BadInput(_)) => return Err(wrong),
        Err(fault) => return Ok(Err(fault.to_string())),
    };
    let read = store.read(None).await;
    let document = read.map(|read| read.unwrap_or_default().1);
    Ok(document.map_err(|error| with_causes(&error)))
}

fn lifetimes(tokens: &[TokenRecord], now_ms: u64, findings: &mut Findings) {
    let expired = tokens.iter();
    let expired = expired.filter(|token| token.state(now_ms) == TokenState::Expired);
    let expired: Vec<&TokenRecord> = expired.collect();
    if !expired.is_empty() {
        findings.warn(
            "expired tokens",
            list(&expired),
            "make others with `agon token create` where they are still used, then `agon token revoke` \
             these",
        );
    }
    let soon_ms = now_ms.saturating_add(millis(SOON));
    let ending = tokens.iter().filter(|token| {
        token.state(now_ms) == TokenState::Valid && token.state(soon_ms) == TokenState::Expired
    });
    let ending: Vec<&TokenRecord> = ending.collect();
    if !ending.is_empty() {
        findings.warn(
            "tokens that expire soon",
            list(&ending),
            "make others with `agon token create` and hand them out",
        );
    }
    if expired.is_empty() && ending.is_empty() {
        let days = SOON.as_secs() / (24 * 3_600);
        let found = format!("none expires within {days} days");
        findings.ok("lifetimes of tokens", found);
    }
}

fn list(tokens: &[&TokenRecord]) -> String {
    let named = tokens.iter().take(MOST_NAMED).map(|token| {
        let until = token.expires_ms.map(moment).unwrap_or_default();
        format!("{} ({}, {until})", token.name, token.id)
    });
    let mut list = named.collect::<Vec<String>>().join(", ");
    if tokens.len() > MOST_NAMED {
        list = format!("{list} and {} more", tokens.len() - MOST_NAMED);
    }
    list
}

fn admins(tokens: &[TokenRecord], now_ms: u64, findings: &mut Findings) {
    let valid = tokens.iter();
    let valid = valid.filter(|token| token.state(now_ms) == TokenState::Valid);
    let valid: Vec<&TokenRecord> = valid.collect();
    if valid
        .iter()
        .any(|token| token.scopes.contains(&Scope::Admin))
    {
        findings.ok("admin token", "there is one");
    } else if tokens.is_empty() {
        findings.ok(
            "admin token",
            "there are no tokens: everybody on this machine may come in, and nobody from others",
        );
    } else {
        findings.warn(
            "admin token",
            "there is none, so nobody sees and stops everything",
            "`agon token create --scope admin`",
        );
    }
}
