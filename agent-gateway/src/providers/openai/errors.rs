//! What an error of a chat completions server means: one table from status and
//! error code to a remedy. Called by `openai.rs` for everything that is not a
//! reply.

use std::time::{Duration, SystemTime};

use agon_service_kit::tasks::with_causes;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use super::super::{Refusal, Remedy, Signals};

/// Enough of a server's complaint to understand it, not a whole HTML page.
const REASON_CHARS: usize = 300;

/// A server that asks for more is mistaken; by then somebody has looked.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(24 * 3_600);

/// Error codes and types that mean the account behind the key has no money or
/// quota left, whatever the status; waiting does not help.
const DEAD_QUOTA: [&str; 4] = [
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "account_deactivated",
];

/// The table. Statuses that are not in it: 5xx are tried again, others given up.
const TABLE: [(u16, Meaning); 9] = [
    (401, Meaning::DeadKey),
    (402, Meaning::DeadKey),
    (403, Meaning::DeadKey),
    (408, Meaning::Passing),
    (409, Meaning::Passing),
    (425, Meaning::Passing),
    (429, Meaning::NoQuotaNow),
    (498, Meaning::NoQuotaNow), // Groq: capacity of the flexible tier
    (501, Meaning::Final),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    DeadKey,
    NoQuotaNow,
    Passing,
    Final,
}

/// The server answered with an error status.
pub(super) fn of_status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Refusal {
    let said = Said::read(body);
    let reason = match said.text.as_str() {
        "" => format!("{status}"),
        text => format!("{status}: {text}"),
    };
    let remedy = remedy(status.as_u16(), &said, retry_after(headers));
    Refusal {
        remedy,
        reason,
        maybe_used: false,
        signals: Signals::default(),
    }
}

/// The server said success and put an error inside.
pub(super) fn inside_success(headers: &HeaderMap, body: &[u8]) -> Option<Refusal> {
    let said = Said::read(body);
    if said.text.is_empty() {
        return None;
    }
    if said.codes.is_empty() {
        // Words alone may come from anything that answers at the address.
        return Some(Refusal {
            remedy: Remedy::RetryUnreadable,
            reason: format!("the reply holds no answer, it says: {}", said.text),
            maybe_used: true,
            signals: Signals::default(),
        });
    }
    let status = said
        .codes
        .iter()
        .find_map(|code| code.parse().ok())
        .unwrap_or(502);
    Some(Refusal {
        remedy: remedy(status, &said, retry_after(headers)),
        reason: said.text,
        maybe_used: true,
        signals: Signals::default(),
    })
}

/// No answer came at all, or broke off.
pub(super) fn of_transport(error: &reqwest::Error) -> Refusal {
    Refusal {
        remedy: Remedy::Retry(None),
        reason: shortened(&with_causes(error)),
        maybe_used: !error.is_connect(),
        signals: Signals::default(),
    }
}

fn remedy(status: u16, said: &Said, after: Option<Duration>) -> Remedy {
    if said
        .codes
        .iter()
        .any(|code| DEAD_QUOTA.contains(&code.as_str()))
    {
        return Remedy::QuarantineKey;
    }
    // OpenRouter forbids single prompts that its moderation flags; the key is well.
    if status == 403 && said.text.contains("flagged") {
        return Remedy::GiveUp;
    }
    let listed = TABLE
        .iter()
        .find(|(listed, _)| *listed == status)
        .map(|(_, meaning)| *meaning);
    let unlisted = if status >= 500 {
        Meaning::Passing
    } else {
        Meaning::Final
    };
    match listed.unwrap_or(unlisted) {
        Meaning::DeadKey => Remedy::QuarantineKey,
        Meaning::NoQuotaNow => Remedy::HoldKey(after),
        Meaning::Passing => Remedy::Retry(after),
        Meaning::Final => Remedy::GiveUp,
    }
}

/// What the body says, in any of the shapes servers use.
struct Said {
    text: String,
    codes: Vec<String>,
}

impl Said {
    fn read(body: &[u8]) -> Self {
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            let text = shortened(&String::from_utf8_lossy(body));
            return Self {
                text,
                codes: Vec::new(),
            };
        };
        let error = value.get("error").unwrap_or(&value);
        let codes: Vec<String> = ["code", "type"]
            .iter()
            .filter_map(|field| match error.get(field)? {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            })
            .collect();
        let message = ["message", "detail", "msg"]
            .iter()
            .find_map(|field| error.get(field)?.as_str())
            .or(error.as_str())
            .unwrap_or_default();
        let text = match codes.first() {
            Some(code) if !message.is_empty() => format!("{message} ({code})"),
            Some(code) => code.clone(),
            None => message.to_owned(),
        };
        Self {
            text: shortened(&text),
            codes,
        }
    }
}

/// `retry-after-ms` is finer; `retry-after` is seconds or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok();
    let after = match (
        text("retry-after-ms").and_then(number),
        text(RETRY_AFTER.as_str()),
    ) {
        (Some(millis), _) => Duration::try_from_secs_f64(millis / 1_000.0).ok()?,
        (None, None) => return None,
        (None, Some(after)) => match number(after) {
            Some(seconds) => Duration::try_from_secs_f64(seconds).ok()?,
            None => {
                let date = httpdate::parse_http_date(after).ok()?;
                date.duration_since(SystemTime::now()).unwrap_or_default()
            }
        },
    };
    Some(after.min(LONGEST_RETRY_AFTER))
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(REASON_CHARS) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect()
    }

    fn judged(status: u16, head: &[(&'static str, &str)], body: &str) -> Remedy {
        let status = StatusCode::from_u16(status).unwrap();
        of_status(status, &headers(head), body.as_bytes()).remedy
    }

    #[test]
    fn every_golden_error_has_its_remedy() {
        let second = Some(Duration::from_secs(1));
        let quota = r#"{"error":{"message":"You exceeded","type":"insufficient_quota","code":"insufficient_quota"}}"#;
        let rate =
            r#"{"error":{"message":"Rate limit","type":"requests","code":"rate_limit_exceeded"}}"#;
        assert_eq!(judged(429, &[], quota), Remedy::QuarantineKey);
        assert_eq!(
            judged(429, &[("retry-after", "1")], rate),
            Remedy::HoldKey(second)
        );
        assert_eq!(judged(429, &[], "slow down"), Remedy::HoldKey(None));
        assert_eq!(judged(401, &[], "{}"), Remedy::QuarantineKey);
        assert_eq!(judged(402, &[], "{}"), Remedy::QuarantineKey);
        assert_eq!(judged(403, &[], ""), Remedy::QuarantineKey);
        let flagged = r#"{"error":{"code":403,"message":"Your input was flagged"}}"#;
        assert_eq!(judged(403, &[], flagged), Remedy::GiveUp);
        assert_eq!(judged(500, &[], "<html>"), Remedy::Retry(None));
        assert_eq!(
            judged(503, &[("retry-after-ms", "1000")], ""),
            Remedy::Retry(second)
        );
        assert_eq!(judged(529, &[], ""), Remedy::Retry(None));
        assert_eq!(judged(408, &[], ""), Remedy::Retry(None));
        for status in [400, 404, 413, 422, 501, 301] {
            assert_eq!(judged(status, &[], ""), Remedy::GiveUp, "{status}");
        }
    }

    #[test]
    fn retry_after_is_read_in_all_its_forms() {
        assert_eq!(
            retry_after(&headers(&[("retry-after", "2.5")])),
            Some(Duration::from_millis(2_500))
        );
        let both = headers(&[("retry-after", "2"), ("retry-after-ms", "150")]);
        assert_eq!(retry_after(&both), Some(Duration::from_millis(150)));
        let past = headers(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")]);
        assert_eq!(retry_after(&past), Some(Duration::ZERO));
        assert_eq!(retry_after(&headers(&[("retry-after", "-3")])), None);
        assert_eq!(retry_after(&headers(&[("retry-after", "soon")])), None);
        let absurd = retry_after(&headers(&[("retry-after", "1e19")]));
        assert_eq!(absurd, Some(LONGEST_RETRY_AFTER));
    }

    #[test]
    fn error_inside_a_success_is_judged_by_its_own_code() {
        let body = br#"{"error":{"code":429,"message":"upstream busy"}}"#;
        let refusal = inside_success(&HeaderMap::new(), body).unwrap();
        assert_eq!(refusal.remedy, Remedy::HoldKey(None));
        assert_eq!(refusal.reason, "upstream busy (429)");
        assert!(inside_success(&HeaderMap::new(), b"{}").is_none());
    }

    #[test]
    fn reason_is_one_short_line() {
        let page = format!("<html>\n{}</html>", "x ".repeat(4_000));
        let refusal = of_status(StatusCode::BAD_GATEWAY, &HeaderMap::new(), page.as_bytes());
        assert!(refusal.reason.len() < 400 && !refusal.reason.contains('\n'));
    }
}
