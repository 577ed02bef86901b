//! Who is let in: the team whose bearer token a request shows, or, on a gateway
//! without tokens that only its own machine reaches, everybody. Checked before
//! a body is read. Called by every handler that is not public.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::request::Parts;
use secrecy::SecretString;

use super::Door;
use super::api_error::ApiError;

/// The team of those who need no token.
const DEFAULT_TEAM: &str = "default";

/// Somebody who was let in.
pub(super) struct Client {
    /// Who pays.
    pub team: String,
    /// There are no tokens, so there is nobody to keep apart.
    pub anybody: bool,
}

impl Client {
    /// Whose asks at doors this client may see and answer; absent: everybody's.
    pub(super) fn only_team(&self) -> Option<&str> {
        (!self.anybody).then_some(self.team.as_str())
    }
}

impl FromRequestParts<Arc<Door>> for Client {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, door: &Arc<Door>) -> Result<Self, ApiError> {
        let tokens = &door.team_tokens;
        if tokens.is_empty() && door.loopback {
            return open_to_this_machine(parts);
        }
        let shown = parts.headers.get(AUTHORIZATION);
        let shown = shown.ok_or_else(|| {
            ApiError::unauthorized(
                "this gateway wants the bearer token of a team: send the header \
                 \"authorization: Bearer TOKEN\"",
            )
        })?;
        let token = shown.to_str().ok().and_then(bearer);
        let team = token.and_then(|token| tokens.team_of(&token));
        match team {
            Some(team) => Ok(Self {
                team,
                anybody: false,
            }),
            None => Err(ApiError::unauthorized(
                "no team of this gateway has this bearer token: ask whoever runs it for yours",
            )),
        }
    }
}

fn bearer(header: &str) -> Option<SecretString> {
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim();
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| SecretString::from(token.to_owned()))
}

/// A page in a browser of this machine must not get in under a name of its own
/// that leads here.
fn open_to_this_machine(parts: &Parts) -> Result<Client, ApiError> {
    let header = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = header.or(parts.uri.authority().map(|authority| authority.as_str()));
    if host.is_some_and(|host| !is_this_machine(host)) {
        return Err(ApiError::unauthorized(
            "a gateway without tokens is only for its own machine: call it localhost or \
             127.0.0.1, or give teams tokens",
        ));
    }
    Ok(Client {
        team: DEFAULT_TEAM.to_owned(),
        anybody: true,
    })
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

    #[test]
    fn token_is_what_follows_bearer() {
        assert!(bearer("Bearer x").is_some() && bearer("bearer  x ").is_some());
        assert!(bearer("Basic x").is_none() && bearer("x").is_none());
    }
}
