//! What an error of Gemini means. The status alone says little (a wrong key is
//! a 400); the details of `google.rpc.Status` say which quota is used up and for
//! how long. Called by `gemini.rs`.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::super::error_body::{ErrorBody, error_in};
use super::super::http::Incoming;
use super::super::judging::{self, Meaning, Rule, Says, rule};
use super::super::quota;
use super::super::{Refusal, Reply};

use Meaning::{DeadKey, Final, NoQuotaNow, OtherKey, Passing};
use Says::{Anything, Code, Words};

/// Quotas of a day begin anew at midnight in California, which is 7:00 or 8:00
/// UTC; at the later one they have in any case.
const NEW_DAY_UTC: Duration = Duration::from_secs(8 * 3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

#[rustfmt::skip] // A table reads better in columns.
const RULES: [Rule; 22] = [
    // Reasons of google.rpc.ErrorInfo: the key, its project or its bill.
    rule(0, Code("API_KEY_INVALID"), DeadKey),
    rule(0, Code("API_KEY_SERVICE_BLOCKED"), DeadKey),
    rule(0, Code("API_KEY_IP_ADDRESS_BLOCKED"), DeadKey),
    rule(0, Code("API_KEY_HTTP_REFERRER_BLOCKED"), DeadKey),
    rule(0, Code("SERVICE_DISABLED"), DeadKey),
    rule(0, Code("CONSUMER_SUSPENDED"), DeadKey),
    rule(0, Code("CONSUMER_INVALID"), DeadKey),
    rule(0, Code("BILLING_DISABLED"), DeadKey),
    rule(400, Words("api key not valid"), DeadKey),
    rule(400, Words("api key expired"), DeadKey),
    rule(403, Words("reported as leaked"), DeadKey),
    rule(429, Words("spending cap"), DeadKey),
    rule(429, Words("credits are depleted"), DeadKey),
    // Where the free tier is not to be had, a paid project still is.
    rule(400, Code("FAILED_PRECONDITION"), OtherKey),
    rule(401, Anything, DeadKey),
    rule(403, Anything, OtherKey),
    rule(404, Code("NOT_FOUND"), OtherKey),
    rule(408, Anything, Passing),
    rule(409, Anything, Passing),
    rule(429, Anything, NoQuotaNow),
    rule(499, Anything, Passing),
    rule(501, Anything, Final),
];

/// The server answered with an error status.
pub(in super::super) fn judge(incoming: &Incoming) -> Result<Reply, Refusal> {
    let body = serde_json::from_slice(&incoming.body).unwrap_or(Value::Null);
    let details = Details::read(error_in(&body));
    let mut said = ErrorBody::read(&incoming.body);
    said.codes.extend(details.reasons);
    let mut meaning = judging::meaning(&RULES, incoming.status.as_u16(), &said);
    let mut after = details
        .retry_after
        .or_else(|| judging::asked_wait(incoming, &said));
    if meaning == NoQuotaNow && details.no_quota_at_all {
        // The project has none of this model; waiting will not bring any.
        meaning = OtherKey;
    } else if meaning == NoQuotaNow && details.of_the_day {
        // What RetryInfo says is of the minute, and the day is used up.
        after = Some(until_new_day(SystemTime::now()));
    }
    judging::act(meaning, incoming, &said, after)
}

/// The server, or a router before it, said success and put an error inside.
pub(in super::super) fn inside_success(incoming: &Incoming) -> Option<Refusal> {
    judging::inside_success(&RULES, incoming, ErrorBody::read(&incoming.body))
}

#[derive(Default)]
struct Details {
    reasons: Vec<String>,
    retry_after: Option<Duration>,
    of_the_day: bool,
    no_quota_at_all: bool,
}

impl Details {
    fn read(error: &Value) -> Self {
        let mut read = Self::default();
        for detail in error["details"].as_array().into_iter().flatten() {
            // A few servers on the way drop "@type".
            let reason = detail["reason"].as_str();
            read.reasons.extend(reason.map(str::to_owned));
            let delay = detail["retryDelay"].as_str();
            read.retry_after = read.retry_after.or(delay.and_then(quota::span));
            for violation in detail["violations"].as_array().into_iter().flatten() {
                let id = violation["quotaId"].as_str().unwrap_or_default();
                read.of_the_day |= id.contains("PerDay");
                read.no_quota_at_all |= violation["quotaValue"] == "0";
            }
        }
        read
    }
}

fn until_new_day(now: SystemTime) -> Duration {
    let since = now
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let today = Duration::from_secs(since.as_secs() % DAY.as_secs());
    match NEW_DAY_UTC.checked_sub(today) {
        Some(left) if !left.is_zero() => left,
        _ => NEW_DAY_UTC + DAY - today,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_of_the_day_is_back_in_the_morning() {
        let hours = |hours: u64| Duration::from_secs(hours * 3_600);
        let at = |hour: u64| SystemTime::UNIX_EPOCH + hours(24 * 20_000 + hour);
        assert_eq!(until_new_day(at(0)), hours(8));
        assert_eq!(until_new_day(at(7)), hours(1));
        assert_eq!(until_new_day(at(8)), hours(24));
        assert_eq!(until_new_day(at(23)), hours(9));
    }
}
