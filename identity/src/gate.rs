//! What every request passes before anything of it is looked at: which token it shows, whether that is
//! accepted, and whether its scopes allow the call. A call without a rule is refused. On loopback,
//! where nobody has ever made a token, everybody is let in; beyond it nobody is without one.

use std::net::SocketAddr;

use agon_service_kit::status::{ErrorClass, to_status};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use tokio_util::sync::CancellationToken;
use tonic::Status;

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
        "the store of tokens (redis or the data folder) does not answer, come again until it does"
    )]
    StoreAway,
}

impl Refusal {
    /// The row of the error table.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::NoToken | Self::UnknownToken | Self::Expired | Self::Revoked => {
                ErrorClass::Unauthenticated
            }
            Self::Scope { .. } | Self::NoRule { .. } => ErrorClass::Forbidden,
            Self::StoreAway => ErrorClass::Unavailable,
        }
    }

    /// The same as a gRPC status.
    pub fn to_status(&self) -> Status {
        to_status(self.class(), self.to_string())
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
    pub fn admit(&self, call: &str, headers: &HeaderMap) -> Result<Admitted, Refusal> {
        let rule = self.rules.iter().find(|(path, _)| *path == call);
        let rule = rule.map(|(_, rule)| *rule);
        if self.is_open() {
            return Ok(Admitted {
                holder: Holder::anybody(),
                rule,
                ended: CancellationToken::new(),
            });
        }
        let KnownHolder { holder, ended } = self.holder(headers)?;
        let rule = rule.ok_or_else(|| Refusal::NoRule {
            call: short(call).to_owned(),
        })?;
        if !holder.has_any(rule.scopes) {
            let needed: Vec<&str> = rule.scopes.iter().map(|scope| scope.as_str()).collect();
            return Err(Refusal::Scope {
                call: short(call).to_owned(),
                needed: needed.join(" or "),
            });
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
    pub async fn admit_soon(&self, call: &str, headers: &HeaderMap) -> Result<Admitted, Refusal> {
        let admitted = match self.admit(call, headers) {
            Err(Refusal::UnknownToken | Refusal::StoreAway) => {
                self.identities.next_look().await;
                self.admit(call, headers)
            }
            known => known,
        };
        admitted.inspect_err(|refusal| self.count(refusal))
    }

    /// Counts a request that was not let in.
    pub(crate) fn count(&self, refusal: &Refusal) {
        metrics::count_refused(self.door, refusal);
    }

    fn holder(&self, headers: &HeaderMap) -> Result<KnownHolder, Refusal> {
        let Some(shown) = headers.get(AUTHORIZATION) else {
            // Whether one is needed is not known before the store has answered.
            let may_be_open = self.is_loopback && self.identities.is_waiting_for_store();
            return Err(if may_be_open {
                Refusal::StoreAway
            } else {
                Refusal::NoToken
            });
        };
        let token = shown.to_str().ok().and_then(bearer);
        self.identities.holder_of(token.ok_or(Refusal::NoToken)?)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_what_follows_bearer() {
        assert_eq!(bearer("Bearer x"), Some("x"));
        assert_eq!(bearer("bearer  x "), Some("x"));
        assert!(bearer("Basic x").is_none() && bearer("x").is_none());
    }
}
