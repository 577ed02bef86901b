//! One call, from request to reply, as it is for every protocol: write, send,
//! read or judge, learn what the server does not take, and keep the key out of
//! what is told. What differs is behind the [`Protocol`] contract, one file per
//! provider. Refuses to wait or retry. Called by `deciding.rs` as a `Provider`.

use async_trait::async_trait;

use super::abilities::{Abilities, Ability};
use super::http::{Http, Incoming, Outgoing};
use super::{Call, Provider, Refusal, Remedy, Reply, quota};
use crate::redact;

/// A simulated server says so with this header, and only it does.
const SIMULATED_HEADER: &str = "x-agon-simulated";

/// What differs between providers. Nothing in here does I/O.
pub(super) trait Protocol: Send + Sync {
    /// The request on the wire; a refusal when it cannot be said at all.
    fn write(&self, call: Call<'_>, ability: Ability) -> Result<Outgoing, Refusal>;

    /// The reply in a body that came with success.
    fn read(&self, call: Call<'_>, incoming: &Incoming) -> Result<Reply, Refusal>;

    /// What an error means. A filtered prompt is reported as one and is an
    /// answer all the same. The body holds no key any more.
    fn judge(&self, incoming: &Incoming) -> Result<Reply, Refusal>;

    /// Routers report errors of the server behind them with status 200. Absent:
    /// there is none, the body is only unreadable.
    fn error_inside_success(&self, incoming: &Incoming) -> Option<Refusal>;
}

/// Calls a provider by its protocol.
pub(super) struct Caller<P> {
    http: Http,
    protocol: P,
    abilities: Abilities,
}

impl<P: Protocol> Caller<P> {
    pub(super) fn new(http: Http, protocol: P) -> Self {
        Self {
            http,
            protocol,
            abilities: Abilities::default(),
        }
    }

    async fn exchange(&self, call: Call<'_>) -> Result<Reply, Refusal> {
        let ability = self.abilities.of(call.model);
        let outgoing = self.protocol.write(call, ability)?;
        let mut incoming = self.http.send(call, outgoing).await?;
        let signals = quota::signals(&incoming.headers);
        let outcome = if incoming.status.is_success() {
            self.protocol.read(call, &incoming).map_err(|unreadable| {
                incoming.body = redact::body_without_keys(&incoming.body, call.key);
                let inside = self.protocol.error_inside_success(&incoming);
                inside.unwrap_or(unreadable)
            })
        } else {
            // Some servers repeat the key in their complaint about it.
            incoming.body = redact::body_without_keys(&incoming.body, call.key);
            self.protocol.judge(&incoming).map_err(|refusal| {
                let fewer = refusal.remedy == Remedy::GiveUp
                    && self
                        .abilities
                        .learn(call.model, call.request, ability, &incoming);
                match fewer {
                    true => Refusal {
                        remedy: Remedy::AskWithLess,
                        ..refusal
                    },
                    false => refusal,
                }
            })
        };
        match outcome {
            Ok(mut reply) => {
                if call.request.reply_format.is_none() {
                    cut_at_stop(&mut reply, &call.request.stop_sequences);
                }
                let simulated = incoming.headers.get(SIMULATED_HEADER);
                reply.simulated = simulated.is_some_and(|value| value == "true");
                Ok(Reply { signals, ..reply })
            }
            Err(refusal) => Err(Refusal {
                signals: Box::new(signals),
                ..refusal
            }),
        }
    }
}

#[async_trait]
impl<P: Protocol> Provider for Caller<P> {
    async fn call(&self, call: Call<'_>) -> Result<Reply, Refusal> {
        // The body was cleaned before; now it is read, and no escapes are left.
        self.exchange(call).await.map_err(|refused| Refusal {
            reason: redact::without_keys(&refused.reason, call.key),
            ..refused
        })
    }
}

/// Ends a reply where it was to end, should its server not have known how. JSON
/// is left whole.
fn cut_at_stop(reply: &mut Reply, stops: &[String]) {
    let first = stops
        .iter()
        .filter(|stop| !stop.is_empty())
        .filter_map(|stop| reply.text.find(stop.as_str()))
        .min();
    if let Some(first) = first {
        reply.text.truncate(first);
        "stop".clone_into(&mut reply.finish_reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reply_is_cut_where_its_server_would_have_stopped() {
        let mut reply = Reply {
            text: "one END two STOP".to_owned(),
            finish_reason: "length".to_owned(),
            ..Reply::default()
        };
        cut_at_stop(&mut reply, &["".into(), "nowhere".into()]);
        assert_eq!(
            (reply.text.len(), reply.finish_reason.as_str()),
            (16, "length")
        );
        cut_at_stop(&mut reply, &["STOP".into(), "END".into()]);
        assert_eq!(
            (reply.text.as_str(), reply.finish_reason.as_str()),
            ("one ", "stop")
        );
    }
}
