//! What headers and words say about a key's quota: how long to stay away and
//! what is left of each limit. Whatever cannot be read, or cannot be true, is
//! as good as not said. Called by `caller.rs` and `judging.rs`.
//!
//! Sources: OpenAI "Rate limits" (headers), Anthropic "Rate limits" (response
//! headers), RFC 9110 (retry-after).

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::limits::{Room, Signals};

/// A server that asks for more is mistaken; by then somebody has looked.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3_600);

/// No account has a larger limit; what is above it is no count.
const LARGEST_LIMIT: u64 = 1_000_000_000_000;

/// A reset above this is no span of seconds but a time since 1970, and one
/// above the next such a time in milliseconds.
const EPOCH_SECONDS: f64 = 1e9;
const EPOCH_MILLISECONDS: f64 = 1e12;

/// How servers say in words how long to wait: OpenAI and Groq, Azure, Gemini.
const WAIT_WORDS: [&str; 3] = ["try again in ", "retry after ", "retry in "];

/// `retry-after-ms` is finer; `retry-after` is seconds or a date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = |text: &str| Duration::try_from_secs_f64(text.parse().ok()?).ok();
    let millis = text(headers, "retry-after-ms").and_then(seconds);
    let after = match (millis, text(headers, RETRY_AFTER.as_str())) {
        (Some(millis), _) => millis / 1_000,
        (None, None) => return None,
        (None, Some(after)) => seconds(after).or_else(|| {
            let date = httpdate::parse_http_date(after).ok()?;
            Some(date.duration_since(SystemTime::now()).unwrap_or_default())
        })?,
    };
    Some(after.min(LONGEST_WAIT))
}

/// "Please try again in 1m2.5s", "retry after 26 seconds".
pub(super) fn wait_in_words(said: &str) -> Option<Duration> {
    let said = said.to_lowercase();
    let after = WAIT_WORDS.iter().find_map(|words| {
        let at = said.find(words)? + words.len();
        said.get(at..)
    })?;
    let mut words = after.split_whitespace();
    let first = words.next()?.trim_end_matches(['.', ',', ')']);
    let unit = match words.next().map(|unit| unit.trim_end_matches(['.', ','])) {
        Some("milliseconds" | "ms") => Duration::from_millis(1),
        Some("minutes" | "minute") => Duration::from_secs(60),
        _ => Duration::from_secs(1),
    };
    let wait = match first.parse::<f64>() {
        Ok(number) => Duration::try_from_secs_f64(number * unit.as_secs_f64()).ok()?,
        Err(_) => span(first)?,
    };
    Some(wait.min(LONGEST_WAIT))
}

/// Whose limit of requests is one of the day, under the name that others give that of the minute
/// (Groq "Rate limits").
const COUNTS_REQUESTS_BY_DAY: &str = "://api.groq.com/";

/// What the headers say is left, in the words of OpenAI or of Anthropic.
pub(super) fn signals(headers: &HeaderMap, base_url: &str) -> Signals {
    let signals = signals_by_minute(headers);
    let address = format!("{base_url}/");
    match address.contains(COUNTS_REQUESTS_BY_DAY) || headers.contains_key("x-groq-region") {
        false => signals,
        true => Signals {
            requests: Room::default(),
            requests_today: signals.requests,
            ..signals
        },
    }
}

fn signals_by_minute(headers: &HeaderMap) -> Signals {
    let room = |openai: &str, anthropic: &str| {
        let value = |field: &str| {
            text(headers, &format!("anthropic-ratelimit-{anthropic}-{field}")).or_else(|| {
                // OpenAI does not count input and output apart.
                let name = format!("x-ratelimit-{field}-{openai}");
                text(headers, &name).filter(|_| !openai.is_empty())
            })
        };
        room(value("limit"), value("remaining"), value("reset"))
    };
    Signals {
        requests: room("requests", "requests"),
        tokens: room("tokens", "tokens"),
        input_tokens: room("", "input-tokens"),
        output_tokens: room("", "output-tokens"),
        requests_today: Room::default(),
    }
}

impl Signals {
    /// How long until every limit that is used up is whole again; absent when
    /// none is, or when the provider does not say.
    pub(super) fn until_whole(&self) -> Option<Duration> {
        [
            self.requests,
            self.tokens,
            self.input_tokens,
            self.output_tokens,
            self.requests_today,
        ]
        .iter()
        .filter(|room| room.remaining == Some(0))
        .filter_map(|room| room.reset)
        .max()
    }
}

fn room(limit: Option<&str>, remaining: Option<&str>, reset: Option<&str>) -> Room {
    let count = |text: &str| text.parse::<u64>().ok().filter(|n| *n <= LARGEST_LIMIT);
    let limit = limit.and_then(count);
    if limit == Some(0) {
        // A limit that lets nothing through has just let a call through.
        return Room::default();
    }
    // More left than there ever was is a lie.
    let possible = |left: &u64| limit.is_none_or(|limit| *left <= limit);
    Room {
        limit,
        remaining: remaining.and_then(count).filter(possible),
        reset: reset.and_then(until),
    }
}

/// A time to come: a span ("6m0s"), a number of seconds, or a point in time.
fn until(text: &str) -> Option<Duration> {
    let now = || {
        SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .ok()
    };
    let wait = match text.parse::<f64>() {
        Ok(number) if number < EPOCH_SECONDS => Duration::try_from_secs_f64(number).ok()?,
        Ok(number) => {
            let scale = if number < EPOCH_MILLISECONDS {
                1.0
            } else {
                1_000.0
            };
            let point = Duration::try_from_secs_f64(number / scale).ok()?;
            point.saturating_sub(now()?)
        }
        Err(_) => match span(text) {
            Some(span) => span,
            None => {
                let point: Timestamp = text.parse().ok()?;
                let seconds = u64::try_from(point.as_millisecond()).ok()?;
                Duration::from_millis(seconds).saturating_sub(now()?)
            }
        },
    };
    Some(wait.min(LONGEST_WAIT))
}

/// A span of time: "1h2m", "6m0s", "1.2s", "20ms", "1d".
pub(super) fn span(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut whole = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest
            .find(|letter: char| !letter.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let seconds = match &rest[..letters] {
            "us" | "µs" => 0.000_001,
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        rest = &rest[letters..];
        whole = whole.checked_add(Duration::try_from_secs_f64(number * seconds).ok()?)?;
    }
    (!text.is_empty()).then_some(whole)
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
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
        for garbage in ["-3", "soon", "NaN", "inf", "", "1e400"] {
            assert_eq!(retry_after(&headers(&[("retry-after", garbage)])), None);
        }
        let absurd = retry_after(&headers(&[("retry-after", "1e19")]));
        assert_eq!(absurd, Some(LONGEST_WAIT));
        let broken = headers(&[("retry-after-ms", "x"), ("retry-after", "3")]);
        assert_eq!(retry_after(&broken), Some(Duration::from_secs(3)));
    }

    #[test]
    fn wait_is_read_from_words() {
        for (said, millis) in [
            ("Please try again in 7m12s. Visit", Some(432_000)),
            ("try again in 20ms.", Some(20)),
            ("Please retry after 26 seconds.", Some(26_000)),
            ("Please retry in 37.82626638s.", Some(37_826)),
            ("Retry after 2 minutes", Some(120_000)),
            ("try again in a while", None),
            ("try again in ", None),
            ("later", None),
        ] {
            let wait = wait_in_words(said).map(|wait| wait.as_millis());
            assert_eq!(wait, millis, "{said}");
        }
    }

    #[test]
    fn reset_is_read_in_all_its_forms() {
        for (text, millis) in [
            ("6m0s", Some(360_000)),
            ("1.2s", Some(1_200)),
            ("20ms", Some(20)),
            ("1h0m0s", Some(3_600_000)),
            ("59.7", Some(59_700)),
            ("9d", Some(LONGEST_WAIT.as_millis())),
            ("2001-01-01T00:00:00Z", Some(0)),
            ("1000000001", Some(0)),
            ("1000000000001", Some(0)),
            ("", None),
            ("s", None),
            ("5 apples", None),
            ("-1", None),
            ("1.2.3s", None),
            ("2001-13-01T00:00:00Z", None),
            ("99999999999999999999s", None),
        ] {
            assert_eq!(until(text).map(|wait| wait.as_millis()), millis, "{text}");
        }
    }

    #[test]
    fn groqs_requests_are_those_of_a_day() {
        let told = headers(&[
            ("x-ratelimit-limit-requests", "14400"),
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "6h0m0s"),
            ("x-ratelimit-limit-tokens", "18000"),
            ("x-ratelimit-remaining-tokens", "17000"),
        ]);
        for (address, is_day) in [
            ("https://api.groq.com/openai/v1", true),
            ("https://api.openai.com/v1", false),
            ("https://api.groq.com.example.org/v1", false),
        ] {
            let signals = signals(&told, address);
            let of_day = (signals.requests_today.limit, signals.requests.limit);
            let expected = match is_day {
                true => (Some(14_400), None),
                false => (None, Some(14_400)),
            };
            assert_eq!(of_day, expected, "{address}");
            assert_eq!(signals.tokens.limit, Some(18_000));
            assert_eq!(signals.until_whole(), Some(Duration::from_secs(6 * 3_600)));
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_is_said_makes_it_panic(text in "\\PC{0,40}", number in "[-0-9.e+smhd:TZ ]{0,24}") {
            for said in [&text, &number] {
                let _ = (until(said), span(said), wait_in_words(&format!("try again in {said}")));
                let Ok(value) = reqwest::header::HeaderValue::from_str(said) else {
                    continue;
                };
                let mut headers = HeaderMap::new();
                for name in ["retry-after", "retry-after-ms", "x-ratelimit-limit-tokens",
                    "x-ratelimit-remaining-tokens", "anthropic-ratelimit-tokens-reset"] {
                    headers.insert(name, value.clone());
                }
                let wait = retry_after(&headers).into_iter().chain(signals(&headers, "").tokens.reset);
                for wait in wait {
                    proptest::prop_assert!(wait <= LONGEST_WAIT);
                }
            }
        }
    }
}
