//! Who comes in: whoever shows the token that was printed at the start gets a cookie, and whoever has
//! such a cookie is let in. Holds digests only, compared in constant time.

use std::collections::VecDeque;

use blake3::Hash;
use http::HeaderMap;
use http::header::{COOKIE, HOST, ORIGIN};
use parking_lot::Mutex;

use crate::refusal::Refusal;

/// How names of cookies begin; browsers do not tell servers of one machine apart, so each has its own.
const NAME: &str = "agon-view";

/// Digits of the token's digest in the name of the cookie.
const NAME_DIGITS: usize = 8;

/// Cookies that are known at once; the oldest goes first.
const MOST_COOKIES: usize = 1_000;

/// Bytes of randomness in tokens and cookies.
const RANDOM_BYTES: usize = 24;

/// See the module.
pub struct Entrance {
    token: Hash,
    cookies: Mutex<VecDeque<Hash>>,
}

impl Entrance {
    /// One with a new token, which is told once and kept as a digest.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn open() -> Result<(Self, String), getrandom::Error> {
        let token = random()?;
        let entrance = Self {
            token: blake3::hash(token.as_bytes()),
            cookies: Mutex::new(VecDeque::new()),
        };
        Ok((entrance, token))
    }

    /// The cookie for whoever shows the token, as a header's value.
    ///
    /// # Errors
    /// It is another token, or there is no randomness.
    pub fn enter(&self, token: &str) -> Result<String, Refusal> {
        // Digests of blake3 are compared in constant time.
        if blake3::hash(token.trim().as_bytes()) != self.token {
            return Err(Refusal::WrongToken);
        }
        let cookie = random().map_err(|error| Refusal::Unreadable(error.to_string()))?;
        let mut cookies = self.cookies.lock();
        if cookies.len() == MOST_COOKIES {
            cookies.pop_front();
        }
        cookies.push_back(blake3::hash(cookie.as_bytes()));
        let name = self.name();
        Ok(format!(
            "{name}={cookie}; Path=/; HttpOnly; SameSite=Strict"
        ))
    }

    /// The name of this server's cookie. It says nothing of the token: that is drawn from far too many.
    fn name(&self) -> String {
        format!("{NAME}-{}", &self.token.to_hex()[..NAME_DIGITS])
    }

    /// Lets a request in that has a cookie.
    ///
    /// # Errors
    /// It has none of ours.
    pub fn admit(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let own = self.name();
        let all = headers.get_all(COOKIE).iter();
        let all = all.filter_map(|value| value.to_str().ok());
        let mut shown = all.flat_map(|value| value.split(';')).filter_map(|one| {
            let (name, value) = one.trim().split_once('=')?;
            (name == own).then_some(value)
        });
        let cookies = self.cookies.lock();
        let is_known = shown.any(|value| {
            let shown = blake3::hash(value.as_bytes());
            cookies.iter().any(|known| *known == shown)
        });
        is_known.then_some(()).ok_or(Refusal::NotEntered)
    }
}

/// Refuses a request that reached this machine under a name that others may use, so that no page of
/// another site reads this one through it.
///
/// # Errors
/// The name is not one of this machine alone.
pub fn check_host(headers: &HeaderMap) -> Result<(), Refusal> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    host.is_some_and(is_this_machine)
        .then_some(())
        .ok_or(Refusal::OtherHost)
}

/// Refuses a change that another site asks for.
///
/// # Errors
/// A browser says that it does.
pub fn check_origin(headers: &HeaderMap) -> Result<(), Refusal> {
    let site = headers.get("sec-fetch-site");
    if site.is_some_and(|site| site != "same-origin" && site != "none") {
        return Err(Refusal::OtherSite);
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let origin = headers.get(ORIGIN).map(|origin| origin.to_str().ok());
    let is_same = origin.is_none_or(|origin| {
        let origin = origin.and_then(|origin| origin.split_once("://"));
        origin.is_some_and(|(_, origin)| Some(origin) == host)
    });
    is_same.then_some(()).ok_or(Refusal::OtherSite)
}

/// Whether a request was sent to this host.
pub fn is_called(headers: &HeaderMap, host: &str) -> bool {
    let called = headers.get(HOST).and_then(|host| host.to_str().ok());
    called.is_some_and(|called| called.eq_ignore_ascii_case(host))
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = name
        .parse()
        .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    is_loopback || name.eq_ignore_ascii_case("localhost")
}

fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests;
