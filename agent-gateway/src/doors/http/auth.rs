//! Who is let in: the holder of a team's bearer token, or, on a gateway without tokens that only its
//! own machine reaches, everybody. Checked before a body is read. Called by every handler that is
//! not public.

use std::net::IpAddr;
use std::sync::Arc;

use agon_identity::holder::Holder;
use axum::extract::{FromRequestParts, MatchedPath};
use axum::http::header::HOST;
use axum::http::request::Parts;

use super::Door;
use super::api_error::ApiError;

/// The team of those who need no token.
const DEFAULT_TEAM: &str = "default";

/// Somebody who was let in.
pub(super) struct Client(pub Holder);

impl Client {
    /// Who pays.
    pub(super) fn team(&self) -> &str {
        self.0.team().unwrap_or(DEFAULT_TEAM)
    }

    /// Whose asks at doors this client may see and answer; absent: everybody's.
    pub(super) fn only_team(&self) -> Option<&str> {
        self.0.team()
    }
}

impl FromRequestParts<Arc<Door>> for Client {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, door: &Arc<Door>) -> Result<Self, ApiError> {
        let route = parts.extensions.get::<MatchedPath>();
        let route = route.map_or("", MatchedPath::as_str);
        let admitted = door.gate.admit_soon(route, &parts.headers).await;
        let holder = admitted
            .map_err(|refusal| ApiError::refused(&refusal))?
            .holder;
        if holder.is_anybody() {
            only_this_machine(parts)?;
        }
        Ok(Self(holder))
    }
}

/// A page in a browser of this machine must not get in under a name of its own
/// that leads here.
fn only_this_machine(parts: &Parts) -> Result<(), ApiError> {
    let header = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = header.or(parts.uri.authority().map(|authority| authority.as_str()));
    if host.is_some_and(|host| !is_this_machine(host)) {
        return Err(ApiError::unauthorized(
            "a gateway without tokens is only for its own machine: call it localhost or \
             127.0.0.1, or make tokens with `agon token create`",
        ));
    }
    Ok(())
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    let ip = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || ip.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_this_machine() {
        for ours in [
            "localhost:7711",
            "LocalHost",
            "127.0.0.1:1",
            "[::1]:7711",
            "127.0.0.9",
        ] {
            assert!(is_this_machine(ours), "{ours}");
        }
        for other in [
            "evil.example:7711",
            "localhost.evil.example",
            "10.0.0.1:1",
            "",
        ] {
            assert!(!is_this_machine(other), "{other}");
        }
    }
}
