//! What every request passes before anything of it is looked at: which token it shows, whether that is
//! accepted, and whether its scopes allow the call. A call without a rule is refused. On loopback,
//! where nobody has ever made a token, everybody is let in; beyond it nobody is without one.

use std::net::{IpAddr, SocketAddr};

use agon_service_kit::status::{ErrorClass, to_status};
use http::header::{AUTHORIZATION, HOST};
use http::uri::Authority;
use http::{HeaderMap, Uri};
use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::audit::AuditEntry;
use crate::holder::Holder;
use crate::metrics;
use crate::scope::Scope;
use crate::view::{Identities, KnownHolder};

/// Who may make a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Any of these is enough.
    pub scopes: &'static [Scope],
    /// It goes on for as long as both sides like, so it is ended when the token is.
    pub streams: bool,
    /// It changes something, so it is written down who made it.
    pub audited: bool,
}

impl Rule {
    /// A call that only looks.
    pub const fn of(scopes: &'static [Scope]) -> Self {
        Self {
            scopes,
            streams: false,
            audited: false,
        }
    }

    /// One that streams.
    #[must_use]
    pub const fn streaming(self) -> Self {
        Self {
            streams: true,
            ..self
        }
    }

    /// One that changes something.
    #[must_use]
    pub const fn audited(self) -> Self {
        Self {
            audited: true,
            ..self
        }
    }
}

/// What signing in is called in the log of who did what.
const SIGN_IN: &str = "SignIn";

/// The rules of a door: path of a call, and who may make it.
pub type Rules = &'static [(&'static str, Rule)];

/// Why a request is not let in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It shows none.
    #[error(
        "this door wants a token: set AGON_TOKEN, or send the header \"authorization: Bearer TOKEN\""
    )]
    NoToken,
    /// Nobody issued it here.
    #[error("this token is not known here: ask whoever runs this installation for one")]
    UnknownToken,
    /// It was accepted and is not any more, while something that it opened was going on.
    #[error("this token has expired, was revoked or was changed since this call began")]
    Ended,
    /// There are no tokens, and somebody reaches this door under a name that others may use.
    #[error(
        "a door without tokens is only for its own machine: call it localhost or 127.0.0.1, or make \
         tokens with `agon token create`"
    )]
    NotThisMachine,
    /// Its time is over.
    #[error("this token has expired: ask whoever runs this installation for another")]
    Expired,
    /// Somebody took it back.
    #[error("this token was revoked: ask whoever runs this installation for another")]
    Revoked,
    /// It may do other things.
    #[error("this token does not allow {call}: that takes the scope {needed}")]
    Scope {
        /// The call.
        call: String,
        /// The scopes that allow it.
        needed: String,
    },
    /// No rule, no entry.
    #[error("there is no call {call} here")]
    NoRule {
        /// The call.
        call: String,
    },
    /// It cannot be told.
    #[error(
        "the store of tokens (redis or the data folder) does not answer, try again in a moment"
    )]
    StoreAway,
}

impl Refusal {
    /// The row of the error table.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::NoToken
            | Self::UnknownToken
            | Self::Ended
            | Self::NotThisMachine
            | Self::Expired
            | Self::Revoked => ErrorClass::Unauthenticated,
            Self::Scope { .. } | Self::NoRule { .. } => ErrorClass::Forbidden,
            Self::StoreAway => ErrorClass::Unavailable,
        }
    }

    /// The same as a gRPC status.
    pub fn to_status(&self) -> Status {
        to_status(self.class(), self.to_string())
    }
}

/// What a request shows of who sends it, and where it was sent to.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    headers: &'a HeaderMap,
    uri: &'a Uri,
}

impl<'a> Shown<'a> {
    /// Of the head of a request.
    pub fn of(headers: &'a HeaderMap, uri: &'a Uri) -> Self {
        Self { headers, uri }
    }

    /// Whether the name that it was sent to is one of this machine. A page in a browser, or a proxy for
    /// others, comes under a name of its own.
    fn is_for_this_machine(self) -> bool {
        let header = self.headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = header.or(self.uri.authority().map(Authority::as_str));
        host.is_none_or(is_this_machine)
    }

    fn token(self) -> Option<&'a str> {
        bearer(self.headers.get(AUTHORIZATION)?.to_str().ok()?)
    }
}

/// The gate of one door. Cheap to clone.
#[derive(Clone)]
pub struct Gate {
    identities: Identities,
    /// For the log of who did what.
    door: &'static str,
    rules: Rules,
    is_loopback: bool,
}

/// A request that was let in.
#[derive(Debug)]
pub struct Admitted {
    /// Who sends it.
    pub holder: Holder,
    /// The rule that allows it; absent where there are no tokens and no such call.
    pub rule: Option<Rule>,
    /// Cancelled once its token is not accepted any more.
    pub ended: CancellationToken,
}

impl Gate {
    /// The gate of a door that listens at an address.
    pub fn new(
        identities: Identities,
        door: &'static str,
        rules: Rules,
        address: SocketAddr,
    ) -> Self {
        Self {
            identities,
            door,
            rules,
            is_loopback: address.ip().is_loopback(),
        }
    }

    /// The door, for the log of who did what.
    pub fn door(&self) -> &'static str {
        self.door
    }

    /// Teams and tokens behind it.
    pub fn identities(&self) -> &Identities {
        &self.identities
    }

    /// Whether everybody who reaches it is let in.
    pub fn is_open(&self) -> bool {
        self.is_loopback && self.identities.is_open()
    }

    /// Lets a request in, or says why not.
    ///
    /// # Errors
    /// It shows no token that is accepted, or one that does not allow the call.
    pub fn admit(&self, call: &str, shown: Shown<'_>) -> Result<Admitted, Refusal> {
        let rule = self.rule(call);
        if self.is_open() {
            if !shown.is_for_this_machine() {
                return Err(Refusal::NotThisMachine);
            }
            return Ok(Admitted {
                holder: Holder::anybody(),
                rule,
                ended: CancellationToken::new(),
            });
        }
        self.allow(call, rule, self.holder(shown)?)
    }

    /// Lets a request of this process in that is made for somebody who signed in at another door.
    ///
    /// # Errors
    /// Their token is not accepted any more, or does not allow the call.
    pub fn admit_known(&self, call: &str, known: KnownHolder) -> Result<Admitted, Refusal> {
        if known.ended.is_cancelled() {
            return Err(Refusal::Ended);
        }
        if known.is_stored && self.identities.is_waiting_for_store() {
            return Err(Refusal::StoreAway);
        }
        if known.holder.is_anybody() && !self.is_open() {
            return Err(Refusal::NoToken);
        }
        self.allow(call, self.rule(call), known)
    }

    /// Whose token somebody shows who signs in at this door, to have calls made for them at others
    /// ([`Gate::admit_known`]). A token may be younger than the last look at the store, so it is waited
    /// for the next.
    ///
    /// # Errors
    /// It is not accepted, or has none of these scopes.
    pub async fn sign_in(&self, token: &str, scopes: &[Scope]) -> Result<KnownHolder, Refusal> {
        let known = match self.identities.holder_of(token) {
            Err(Refusal::UnknownToken | Refusal::StoreAway) => {
                self.identities.next_look().await;
                self.identities.holder_of(token)
            }
            known => known,
        };
        let known = known.inspect_err(|refusal| self.count(refusal))?;
        match self.may_sign_in(&known.holder, scopes) {
            true => Ok(known),
            false => Err(refused(SIGN_IN, scopes)),
        }
    }

    /// The same for somebody for whom a provider vouches, if anybody has let them in; whoever lets them in
    /// ends it.
    pub fn let_in(&self, holder: Option<Holder>, scopes: &[Scope]) -> Option<KnownHolder> {
        let holder = holder.filter(|holder| self.may_sign_in(holder, scopes))?;
        let ended = CancellationToken::new();
        Some(KnownHolder::in_this_process(holder, ended))
    }

    fn may_sign_in(&self, holder: &Holder, scopes: &[Scope]) -> bool {
        let is_allowed = holder.has_any(scopes);
        let outcome = if is_allowed { "ok" } else { "PermissionDenied" };
        self.note(SIGN_IN, holder, "", outcome);
        is_allowed
    }

    fn rule(&self, call: &str) -> Option<Rule> {
        let rule = self.rules.iter().find(|(path, _)| *path == call);
        rule.map(|(_, rule)| *rule)
    }

    fn allow(
        &self,
        call: &str,
        rule: Option<Rule>,
        known: KnownHolder,
    ) -> Result<Admitted, Refusal> {
        let KnownHolder { holder, ended, .. } = known;
        let rule = rule.ok_or_else(|| Refusal::NoRule {
            call: short(call).to_owned(),
        })?;
        if !holder.has_any(rule.scopes) {
            if rule.audited {
                self.note(call, &holder, "", "PermissionDenied");
            }
            return Err(refused(call, rule.scopes));
        }
        Ok(Admitted {
            holder,
            rule: Some(rule),
            ended,
        })
    }

    /// The same, but a token that is not known yet, or a store that is just coming back, is waited for
    /// until the next look.
    ///
    /// # Errors
    /// As [`Gate::admit`].
    pub async fn admit_soon(&self, call: &str, shown: Shown<'_>) -> Result<Admitted, Refusal> {
        let admitted = match self.admit(call, shown) {
            Err(Refusal::UnknownToken | Refusal::StoreAway) => {
                self.identities.next_look().await;
                self.admit(call, shown)
            }
            known => known,
        };
        admitted.inspect_err(|refusal| self.count(refusal))
    }

    /// Counts a request that was not let in.
    pub(crate) fn count(&self, refusal: &Refusal) {
        metrics::count_refused(self.door, refusal);
    }

    /// Writes down who made a call.
    pub(crate) fn note(&self, call: &str, holder: &Holder, subject: &str, outcome: &str) {
        let entry = AuditEntry::new(self.door, short(call), holder, subject, outcome);
        self.identities.auditor().note(entry);
    }

    fn holder(&self, shown: Shown<'_>) -> Result<KnownHolder, Refusal> {
        let Some(token) = shown.token() else {
            // Whether one is needed is not known before the store has answered.
            let may_be_open = self.is_loopback && self.identities.is_waiting_for_store();
            return Err(if may_be_open {
                Refusal::StoreAway
            } else {
                Refusal::NoToken
            });
        };
        self.identities.holder_of(token)
    }
}

/// The refusal of a call that takes one of these scopes.
fn refused(call: &str, scopes: &[Scope]) -> Refusal {
    let needed: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
    Refusal::Scope {
        call: short(call).to_owned(),
        needed: needed.join(" or "),
    }
}

/// A call as people are told of it: without the package of ours.
pub(crate) fn short(call: &str) -> &str {
    call.strip_prefix("/agon.v1.").unwrap_or(call)
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
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
        assert_eq!(bearer("Bearer x"), Some("x"));
        assert_eq!(bearer("bearer  x "), Some("x"));
        assert!(bearer("Basic x").is_none() && bearer("x").is_none());
    }
}
