//! One call, from request to reply, as it is for every protocol: write, send,
//! read or judge, learn what the server does not take, and keep the key out of
//! what is told. What differs is behind the [`Protocol`] contract, one file per
//! provider. Refuses to wait or retry. Called by `deciding.rs` as a `Provider`.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use agon_service_kit::secrets;
use async_trait::async_trait;
use reqwest::header::HeaderMap;

use super::adding::added;
use super::capabilities::{Capabilities, Learnt};
use super::http::{Http, Incoming, Outgoing};
use super::reading::{give_up, is_cut_off_thinking};
use super::{Call, Provider, Refusal, Remedy, Reply, quota};
use crate::decision::{CUT_OFF_THINKING, TokenLogprob};
use crate::parameters::{Applied, Parameter};
use agon_proto::simulated::{REPLY_HEADER, SIMULATED_ENDPOINT, SIMULATED_HEADER};

/// A text as a JSON string that a header may hold.
fn in_ascii(text: &str) -> String {
    let mut said = String::with_capacity(text.len() + 2);
    for letter in serde_json::Value::from(text).to_string().chars() {
        // A header may hold every ASCII letter but control codes; JSON escapes all of these but one.
        match letter.is_ascii() && letter != '\u{7f}' {
            true => said.push(letter),
            false => {
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    said.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    said
}

/// What differs between providers. Nothing in here does I/O.
pub(super) trait Protocol: Send + Sync {
    /// The request on the wire; a refusal when it cannot be said at all.
    fn write(&self, call: Call<'_>, capabilities: Capabilities) -> Result<Outgoing, Refusal>;

    /// The reply in a body that came with success.
    fn read(&self, call: Call<'_>, incoming: &Incoming) -> Result<Reply, Refusal>;

    /// What an error means. A filtered prompt is reported as one and is an
    /// answer all the same. The body holds no key any more.
    fn judge(&self, incoming: &Incoming) -> Result<Reply, Refusal>;

    /// Routers report errors of the server behind them with status 200. Absent:
    /// there is none, the body is only unreadable.
    fn error_inside_success(&self, incoming: &Incoming) -> Option<Refusal>;

    /// Headers that prove for this one request who asks, where the key does not do so by itself.
    fn prove(
        &self,
        _call: Call<'_>,
        _outgoing: &Outgoing,
    ) -> impl Future<Output = Result<Option<HeaderMap>, Refusal>> + Send {
        std::future::ready(Ok(None))
    }

    /// The server did not believe the proof: whether the next one is made with new credentials.
    fn renews_proof(&self, _call: Call<'_>, _incoming: &Incoming) -> bool {
        false
    }
}

/// Calls a provider by its protocol.
pub(super) struct ProtocolCaller<P> {
    http: Http,
    protocol: P,
    learnt: Arc<Learnt>,
}

impl<P: Protocol> ProtocolCaller<P> {
    pub(super) fn new(http: Http, protocol: P, learnt: &Arc<Learnt>) -> Self {
        Self {
            http,
            protocol,
            learnt: Arc::clone(learnt),
        }
    }

    async fn exchange(&self, call: Call<'_>) -> Result<Reply, Refusal> {
        let capabilities = self
            .learnt
            .capabilities(call.model, call.request, Instant::now());
        let mut outgoing = self.protocol.write(call, capabilities)?;
        let mut applied = std::mem::take(&mut outgoing.applied);
        applied.omitted = call.request.omitted_in(&applied);
        self.refuse_without(call, &applied)?;
        if let Some(reply) = call.simulated_reply
            && call.model.provider.endpoint == SIMULATED_ENDPOINT
        {
            outgoing.headers.push((REPLY_HEADER, in_ascii(reply)));
        }
        outgoing.body = added(outgoing.body, call.model.additions.body())?;
        let mut incoming = self.send(call, outgoing).await?;
        let signals = quota::signals(&incoming.headers, &call.model.provider.base_url);
        // Some servers repeat the key: in a complaint about it, or in what they say as an answer.
        if let Cow::Owned(clean) = secrets::without_in_bytes(&incoming.body) {
            incoming.body = clean;
        }
        let outcome = if incoming.status.is_success() {
            self.protocol.read(call, &incoming).map_err(|unreadable| {
                without_what_looks_like_keys(&mut incoming.body);
                let inside = self.protocol.error_inside_success(&incoming);
                inside.unwrap_or(unreadable)
            })
        } else {
            without_what_looks_like_keys(&mut incoming.body);
            self.protocol.judge(&incoming).map_err(|refusal| {
                if refusal.remedy != Remedy::GiveUp {
                    return refusal;
                }
                let (model, request) = (call.model, call.request);
                let now = Instant::now();
                match self
                    .learnt
                    .learn(model, request, capabilities, &incoming, now)
                {
                    true => Refusal {
                        remedy: Remedy::AskWithLess,
                        ..refusal
                    },
                    false => with_a_hint(refusal, &applied),
                }
            })
        };
        match outcome {
            Ok(mut reply) => {
                without_secrets(&mut reply);
                if call.request.reply_format.is_none() {
                    cut_at_stop(&mut reply, &call.request.stop_sequences);
                }
                if is_cut_off_thinking(&reply) {
                    CUT_OFF_THINKING.clone_into(&mut reply.finish_reason);
                }
                let simulated = incoming.headers.get(SIMULATED_HEADER);
                reply.simulated = simulated.is_some_and(|value| value == "true");
                reply.applied = applied;
                Ok(Reply { signals, ..reply })
            }
            Err(refusal) => Err(Refusal {
                signals: Box::new(signals),
                ..refusal
            }),
        }
    }

    /// Sends with proof, where there is one; a second time when that was out of date.
    async fn send(&self, call: Call<'_>, outgoing: Outgoing) -> Result<Incoming, Refusal> {
        let Some(proof) = self.protocol.prove(call, &outgoing).await? else {
            return self.http.send(call, outgoing, HeaderMap::new()).await;
        };
        let incoming = self.http.send(call, outgoing.clone(), proof).await?;
        if !self.protocol.renews_proof(call, &incoming) {
            return Ok(incoming);
        }
        let proof = self.protocol.prove(call, &outgoing).await?;
        let proof = proof.unwrap_or_default();
        self.http.send(call, outgoing, proof).await
    }

    /// An answer without what the caller cannot do without is not asked for.
    fn refuse_without(&self, call: Call<'_>, applied: &Applied) -> Result<(), Refusal> {
        let missing = call
            .required
            .iter()
            .find(|required| applied.omitted.contains(required));
        let Some(missing) = missing else {
            return Ok(());
        };
        let (name, setting) = (missing.name(), missing.setting());
        let learnt = self.learnt.list(Instant::now());
        let model = &call.model.model;
        let said = learnt
            .iter()
            .find(|learnt| *learnt.model == **model && learnt.parameter == name);
        let why = match said {
            Some(learnt) => format!("its provider says: {}", learnt.said),
            None if *missing == Parameter::TopP && applied.temperature.is_some() => {
                "not beside a temperature".to_owned()
            }
            None => format!("as {setting} and reasoning are configured for it"),
        };
        Err(give_up(format!(
            "it takes no {name} ({why}), and {name} is required: a grid compares its values, or \
             the player is strict. Choose another model, take {name} out of the grid, or give the \
             player strict = false, and it plays without {name} and results say so"
        )))
    }
}

/// What the provider's words may be about, for people: only fields for programs are learnt from.
fn with_a_hint(refusal: Refusal, applied: &Applied) -> Refusal {
    let said = refusal.reason.to_lowercase();
    let sent = [
        (
            Parameter::Temperature,
            applied.temperature.is_some(),
            "temperature",
        ),
        (Parameter::TopP, applied.top_p.is_some(), "top_p"),
        (
            Parameter::SamplingSeed,
            applied.sampling_seed.is_some(),
            "seed",
        ),
        (
            Parameter::ReplyFormat,
            applied.reply_format.is_some(),
            "format",
        ),
        (
            Parameter::ReasoningEffort,
            applied.reasoning_effort.is_some(),
            "effort",
        ),
        (Parameter::StopSequences, applied.stop_sequences, "stop"),
        (Parameter::Logprobs, applied.logprobs.is_some(), "logprobs"),
    ];
    let named = sent
        .iter()
        .find(|(_, was_sent, word)| *was_sent && said.contains(word));
    let Some((parameter, ..)) = named else {
        return refusal;
    };
    let value = match parameter {
        Parameter::ReplyFormat => "\"none\"",
        _ => "false",
    };
    let setting = parameter.setting();
    Refusal {
        reason: format!(
            "{} (if the model does not take it, write {setting} = {value} into its section \
             under [models])",
            refusal.reason
        ),
        ..refusal
    }
}

#[async_trait]
impl<P: Protocol> Provider for ProtocolCaller<P> {
    async fn call(&self, call: Call<'_>) -> Result<Reply, Refusal> {
        self.exchange(call).await.map_err(|refused| Refusal {
            reason: secrets::without_what_looks_like_keys(&refused.reason),
            ..refused
        })
    }
}

/// Before a complaint is cut short, since half a key would not be recognised.
fn without_what_looks_like_keys(body: &mut Vec<u8>) {
    *body = secrets::without_what_looks_like_keys(&String::from_utf8_lossy(body)).into_bytes();
}

/// The body was cleaned before; here its parts are put together, which may complete a secret, and whoever
/// reads all parts could put them together again.
fn without_secrets(reply: &mut Reply) {
    let mut parts = [
        &mut reply.text,
        &mut reply.reasoning,
        &mut reply.answered_by,
        &mut reply.finish_reason,
    ];
    for text in &mut parts {
        if let Cow::Owned(clean) = secrets::without(text) {
            **text = clean;
        }
    }
    for (first, second) in (0..4).flat_map(|one| (0..4).map(move |other| (one, other))) {
        if first != second && secrets::is_split_over(parts[first], parts[second]) {
            for part in [first, second] {
                secrets::INSTEAD.clone_into(parts[part]);
            }
        }
    }
    if tokens_hold_a_secret(&reply.logprobs) {
        reply.logprobs.clear();
    }
}

/// Whether tokens complete a secret when they are read one after another, as the reply has them, or
/// the alternatives of one rank. Which token it begins in is nobody's business, so none is kept then.
fn tokens_hold_a_secret(tokens: &[TokenLogprob]) -> bool {
    let ranks = tokens.iter().map(|token| token.top.len()).max();
    let said = tokens.iter().map(|token| token.token.as_str()).collect();
    let alternatives = (0..ranks.unwrap_or(0)).map(|rank| {
        let of_rank = tokens.iter().filter_map(|token| token.top.get(rank));
        of_rank.map(|token| token.token.as_str()).collect()
    });
    // The alternatives of one token, one after another.
    let aside = tokens.iter().flat_map(|token| &token.top);
    let aside = aside.map(|token| token.token.as_str()).collect();
    let mut read = std::iter::once(said).chain(alternatives).chain([aside]);
    read.any(|text: String| matches!(secrets::without(&text), Cow::Owned(_)))
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
    fn secret_that_is_split_over_tokens_leaves_none_of_them() {
        let secret = "split-Kq81vTz7m-over-tokens";
        secrets::keep(secret);
        let token = |text: &str, top: Vec<&str>| TokenLogprob {
            token: text.to_owned(),
            logprob: -0.5,
            top: top.into_iter().map(token_of).collect(),
        };
        fn token_of(text: &str) -> TokenLogprob {
            let (token, top) = (text.to_owned(), Vec::new());
            TokenLogprob {
                token,
                logprob: -1.0,
                top,
            }
        }
        let base64 = "c3BsaXQtS3E4MXZUejdtLW92ZXItdG9rZW5z";
        let (first, second) = secret.split_at(9);
        let tables = [
            vec![token(first, vec![]), token(second, vec![])],
            secret
                .chars()
                .map(|letter| token(&letter.to_string(), vec![]))
                .collect(),
            vec![token(&base64[..7], vec![]), token(&base64[7..], vec![])],
            vec![token("4", vec!["4", first]), token("0", vec!["0", second])],
            vec![token("4", vec![first, second]), token("0", vec![])],
            vec![token("4", vec![first]), token("0", vec![second, "1"])],
        ];
        for tokens in tables {
            let shown = format!("{tokens:?}");
            let mut reply = Reply {
                logprobs: tokens,
                ..Reply::default()
            };
            without_secrets(&mut reply);
            assert!(reply.logprobs.is_empty(), "{shown}");
        }
        let harmless = vec![token("4", vec!["4", first]), token("0", vec!["0", "1"])];
        let mut reply = Reply {
            logprobs: harmless.clone(),
            ..Reply::default()
        };
        without_secrets(&mut reply);
        assert_eq!(reply.logprobs, harmless);
    }

    #[test]
    fn secret_that_is_split_over_parts_of_a_reply_leaves_none_of_both() {
        secrets::keep("halved-Zt71mQx4-in-parts");
        let (first, second) = ("40 halved-Zt71m", "Qx4-in-parts");
        for (from, to) in (0..4).flat_map(|one| (0..4).map(move |other| (one, other))) {
            let mut reply = Reply::default();
            let part = |reply: &mut Reply, part: usize, said: &str| match part {
                0 => said.clone_into(&mut reply.text),
                1 => said.clone_into(&mut reply.reasoning),
                2 => said.clone_into(&mut reply.answered_by),
                _ => said.clone_into(&mut reply.finish_reason),
            };
            part(&mut reply, from, first);
            part(&mut reply, to, second);
            without_secrets(&mut reply);
            let parts = [
                &reply.text,
                &reply.reasoning,
                &reply.answered_by,
                &reply.finish_reason,
            ];
            let kept = parts.iter().filter(|part| part.contains("Zt71m"));
            assert_eq!(kept.count(), 0, "{from} {to}: {reply:?}");
        }
    }

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
