//! What a request says in `x-agon-*` headers: what it is counted for, and where
//! its answer belongs. Puts the sessions that HTTP callers name into a space of
//! their team's own, so that no token reads or fills another's ledger or a
//! worker's, and their experiments likewise, so that none spends another's
//! budget. Called by `chat.rs`.

use std::str::FromStr;

use agon_service_kit::secrets::without_what_looks_like_keys;
use axum::http::HeaderMap;

use super::api_error::ApiError;
use super::auth::Client;
use crate::caller::Caller;
use crate::decision::DecisionAddress;

/// Long enough for a path of names, short enough for a key.
const LONGEST_NAME: usize = 200;

/// Names the models to ask when the first cannot answer.
pub(super) const FALLBACK: &str = "x-agon-fallback";

/// More fall-backs would hide that nothing works.
const MOST_FALLBACKS: usize = 8;

/// What the headers say.
#[derive(Debug)]
pub(super) struct AgonHeaders {
    /// Where the answer belongs.
    pub address: DecisionAddress,
    /// The address was made up for this request and nobody will ask it again.
    pub once: bool,
    /// Who asks, and how it is counted.
    pub caller: Caller,
    /// Models to ask when the first cannot answer.
    pub fallback_models: Vec<String>,
}

impl AgonHeaders {
    /// Reads the headers; `fresh` names a decision that has no address.
    pub(super) fn read(
        headers: &HeaderMap,
        client: &Client,
        fresh: &str,
    ) -> Result<Self, ApiError> {
        let team = client.team();
        let session = name(headers, "x-agon-session")?;
        let decision = name(headers, "x-agon-decision")?
            .map(|text| read_decision(&text))
            .transpose()?;
        let experiment = name(headers, "x-agon-experiment")?;
        let once = decision.is_none();
        let address = match decision {
            Some((session, seat, index)) => DecisionAddress {
                session_id: format!("http/{team}/{session}"),
                seat,
                index,
            },
            None => DecisionAddress {
                session_id: format!("http-once/{team}/{fresh}"),
                seat: 0,
                index: 0,
            },
        };
        let caller = Caller {
            simulated_reply: None,
            team: client.team().to_owned(),
            experiment_id: experiment
                .map(|experiment| format!("http/{team}/{experiment}"))
                .unwrap_or_default(),
            purpose: "http".to_owned(),
            priority: number(headers, "x-agon-priority")?.unwrap_or_default(),
            replicate: number(headers, "x-agon-replicate")?,
            session: session.map(|session| format!("http/{team}/{session}")),
            ..Caller::default()
        };
        Ok(Self {
            address,
            once,
            caller,
            fallback_models: fallbacks(headers)?,
        })
    }
}

/// `session/seat/index`; the session may hold slashes of its own.
fn read_decision(text: &str) -> Result<(String, u32, u32), ApiError> {
    let mut parts = text.rsplitn(3, '/');
    let index = parts.next().and_then(|part| part.parse().ok());
    let seat = parts.next().and_then(|part| part.parse().ok());
    match (parts.next(), seat, index) {
        (Some(session), Some(seat), Some(index)) if !session.is_empty() => {
            Ok((session.to_owned(), seat, index))
        }
        _ => Err(ApiError::invalid(
            "x-agon-decision",
            "the header x-agon-decision must be session/seat/index, such as \"run-7/0/12\"",
        )),
    }
}

fn fallbacks(headers: &HeaderMap) -> Result<Vec<String>, ApiError> {
    let Some(text) = text(headers, FALLBACK)? else {
        return Ok(Vec::new());
    };
    let models = text.split(',').map(str::trim).filter(|one| !one.is_empty());
    let models: Vec<String> = models.map(str::to_owned).collect();
    if models.len() > MOST_FALLBACKS {
        let message = format!("the header {FALLBACK} may name {MOST_FALLBACKS} models at most");
        return Err(ApiError::invalid(FALLBACK, message));
    }
    Ok(models)
}

fn number<T: FromStr>(headers: &HeaderMap, header: &'static str) -> Result<Option<T>, ApiError> {
    let Some(text) = text(headers, header)? else {
        return Ok(None);
    };
    let number = text.trim().parse();
    number.map(Some).map_err(|_| {
        ApiError::invalid(
            header,
            format!("the header {header} must be a whole number"),
        )
    })
}

fn name(headers: &HeaderMap, header: &'static str) -> Result<Option<String>, ApiError> {
    let Some(text) = text(headers, header)? else {
        return Ok(None);
    };
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    if text.is_empty() || text.len() > LONGEST_NAME || !plain {
        let message = format!(
            "the header {header} must be 1 to {LONGEST_NAME} letters, digits or signs without \
             white space"
        );
        return Err(ApiError::invalid(header, message));
    }
    Ok(Some(text.to_owned()))
}

fn text<'a>(headers: &'a HeaderMap, header: &'static str) -> Result<Option<&'a str>, ApiError> {
    let Some(value) = headers.get(header) else {
        return Ok(None);
    };
    let text = value.to_str().map_err(|_| {
        ApiError::invalid(
            header,
            format!("the header {header} holds characters that headers cannot carry"),
        )
    })?;
    // What our headers say is stored, and shown in costs and logs.
    match without_what_looks_like_keys(text) == text {
        true => Ok(Some(text)),
        false => Err(ApiError::invalid(
            header,
            format!(
                "the header {header} contains what looks like a key; send tokens in the header \
                 Authorization"
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use agon_identity::holder::Holder;
    use agon_identity::scope::Scope;
    use tokio_util::sync::CancellationToken;

    use super::*;

    fn read(team: &str, pairs: &[(&'static str, &str)]) -> Result<AgonHeaders, ApiError> {
        let headers = pairs.iter();
        let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let client = Client {
            holder: Holder::of_token("t", "1", Some(team), &[Scope::Submit]),
            ended: CancellationToken::new(),
        };
        AgonHeaders::read(&headers.collect(), &client, "fresh-1")
    }

    #[test]
    fn sessions_of_teams_never_meet() {
        let named = |team: &str, decision: &str| {
            let headers = read(team, &[("x-agon-decision", decision)]).unwrap();
            headers.address.to_string()
        };
        assert_eq!(named("red", "run/0/1"), "http/red/run/0/1");
        assert_eq!(named("red", "a/b/0/1"), "http/red/a/b/0/1");
        let fresh = read("red", &[]).unwrap();
        assert!(fresh.once);
        assert_eq!(fresh.address.session_id, "http-once/red/fresh-1");
    }

    #[test]
    fn headers_say_what_a_request_is_counted_for() {
        let headers = read(
            "red",
            &[
                ("x-agon-experiment", "exp"),
                ("x-agon-session", "s"),
                ("x-agon-priority", "-3"),
                ("x-agon-replicate", "7"),
                ("x-agon-fallback", "a, b/c,"),
            ],
        )
        .unwrap();
        assert_eq!(headers.fallback_models, ["a", "b/c"]);
        let caller = headers.caller;
        assert_eq!(caller.team, "red");
        assert_eq!(caller.experiment_id, "http/red/exp");
        assert_eq!((caller.priority, caller.replicate), (-3, Some(7)));
        assert_eq!(caller.session.as_deref(), Some("http/red/s"));
    }

    #[test]
    fn experiments_of_teams_never_meet() {
        let named = |team: &str, experiment: &str| {
            let headers = read(team, &[("x-agon-experiment", experiment)]).unwrap();
            headers.caller.experiment_id
        };
        assert_eq!(named("red", "spring"), "http/red/spring");
        assert_ne!(named("red", "spring"), named("blue", "spring"));
        assert_eq!(read("red", &[]).unwrap().caller.experiment_id, "");
    }

    #[test]
    fn malformed_headers_are_named() {
        for (header, value) in [
            ("x-agon-decision", "run/0"),
            ("x-agon-decision", "/0/1"),
            ("x-agon-decision", "run/-1/1"),
            ("x-agon-priority", "high"),
            ("x-agon-replicate", "-1"),
            ("x-agon-session", ""),
            ("x-agon-experiment", "two words"),
            (
                "x-agon-experiment",
                "agon_0123abcd_0123456789abcdef0123456789abcdef0123456789abcdef",
            ),
            ("x-agon-session", "sk-proj-Ab1Cd2Ef3Gh4Ij5"),
            ("x-agon-decision", "gsk_Ab1Cd2Ef3Gh4Ij5/0/1"),
            ("x-agon-fallback", "a,a,a,a,a,a,a,a,a"),
        ] {
            let fault = read("red", &[(header, value)]).unwrap_err();
            assert_eq!(fault.param.as_deref(), Some(header), "{value}");
            assert!(fault.message.contains(header), "{fault:?}");
            assert!(!fault.message.contains("Ab1Cd2"), "{fault:?}");
        }
    }
}
