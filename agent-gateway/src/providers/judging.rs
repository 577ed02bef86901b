//! From an error to a remedy. Each provider has one table of rules, read from
//! the top; what no rule names is tried again from status 500 on and given up
//! below. Refuses to read the error itself; `error_body.rs` does. Called by the
//! providers.

use std::time::Duration;

use super::error_body::ErrorBody;
use super::http::Incoming;
use super::quota;
use super::reading::unreadable;
use super::{Arrived, Refusal, Remedy, Reply};

/// A gateway on the way lost patience; the server behind it may have answered.
const MAYBE_USED: [u16; 2] = [504, 524];

/// Statuses of a server that has too much to do.
const OVERLOADED: [u16; 4] = [503, 504, 524, 529];

/// What an error inside a success is when it does not say.
const BAD_GATEWAY: u16 = 502;

/// One row of a table: errors of this status that say this mean that.
pub(super) struct Rule {
    /// 0 stands for every status.
    status: u16,
    says: Says,
    means: Meaning,
}

/// What an error has to say for a rule to apply.
#[derive(Clone, Copy)]
pub(super) enum Says {
    /// Anything, or nothing.
    Anything,
    /// Exactly this, where codes stand.
    Code(&'static str),
    /// These words (lower case) in its text.
    Words(&'static str),
}

/// What an error means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The key is wrong, forbidden, or out of money.
    DeadKey,
    /// The key may not do this, another one may.
    OtherKey,
    /// The key has no quota now.
    NoQuotaNow,
    /// It will be over soon.
    Passing,
    /// The prompt or the reply was filtered: an answer like any other, and the
    /// same next time.
    Filtered,
    /// It will be refused always.
    Final,
}

/// A row. A function keeps the tables in columns.
pub(super) const fn rule(status: u16, says: Says, means: Meaning) -> Rule {
    Rule {
        status,
        says,
        means,
    }
}

/// What the first fitting rule says of an error.
pub(super) fn meaning(rules: &[Rule], status: u16, said: &ErrorBody) -> Meaning {
    let text = said.text.as_written().to_lowercase();
    for rule in rules {
        let says = match rule.says {
            Says::Anything => true,
            Says::Code(code) => said.codes.iter().any(|said| said == code),
            Says::Words(words) => text.contains(words),
        };
        if says && (rule.status == 0 || rule.status == status) {
            return rule.means;
        }
    }
    if status >= 500 {
        Meaning::Passing
    } else {
        Meaning::Final
    }
}

/// Judges an answer with an error status by a table. Where the table says to
/// wait, the headers say how long, or else the text, or else nobody.
pub(super) fn judge(
    rules: &[Rule],
    incoming: &Incoming,
    said: &ErrorBody,
) -> Result<Reply, Refusal> {
    let status = incoming.status.as_u16();
    act(
        meaning(rules, status, said),
        incoming,
        said,
        asked_wait(incoming, said),
    )
}

/// As [`judge`], once the meaning and the time to wait are known.
pub(super) fn act(
    meaning: Meaning,
    incoming: &Incoming,
    said: &ErrorBody,
    after: Option<Duration>,
) -> Result<Reply, Refusal> {
    if meaning == Meaning::Filtered {
        return Ok(Reply {
            finish_reason: "content_filter".to_owned(),
            ..Reply::default()
        });
    }
    let status = incoming.status;
    let reason = match said.text.is_empty() {
        true => format!("{status}"),
        false => format!("{status}: {}", said.text),
    };
    Err(Refusal {
        arrived: match MAYBE_USED.contains(&status.as_u16()) {
            true => Arrived::PerhapsDone,
            false => Arrived::Refused,
        },
        overloaded: OVERLOADED.contains(&status.as_u16()),
        ..Refusal::new(remedy(meaning, after), reason)
    })
}

/// The remedy for a meaning. A wait of no time at all would be a storm of
/// calls, so that our own back-off decides then.
pub(super) fn remedy(meaning: Meaning, after: Option<Duration>) -> Remedy {
    let after = after.filter(|after| !after.is_zero());
    match meaning {
        Meaning::DeadKey => Remedy::QuarantineKey,
        Meaning::OtherKey => Remedy::RetryOtherKey,
        Meaning::NoQuotaNow => Remedy::HoldKey(after),
        Meaning::Passing => Remedy::Retry(after),
        Meaning::Filtered | Meaning::Final => Remedy::GiveUp,
    }
}

/// How long to stay away: as `retry-after` has it, as the text has it, or
/// until the limits that are used up are whole again.
pub(super) fn asked_wait(incoming: &Incoming, said: &ErrorBody) -> Option<Duration> {
    quota::retry_after(&incoming.headers)
        .or_else(|| quota::wait_in_words(said.text.as_written()))
        .or_else(|| quota::signals(&incoming.headers, "").until_whole())
}

/// Judges an error that came with success, as routers report those of the
/// server behind them: by the status that stands inside, or else as that of a
/// gateway whose server failed. Absent: it says nothing.
pub(super) fn inside_success(
    rules: &[Rule],
    incoming: &Incoming,
    said: ErrorBody,
) -> Option<Refusal> {
    if said.text.is_empty() {
        return None;
    }
    if said.codes.is_empty() {
        // Words alone may come from anything that answers at the address.
        let reason = format!("the reply holds no answer, it says: {}", said.text);
        return Some(unreadable(reason));
    }
    let status = said.codes.iter().find_map(|code| code.parse().ok());
    let status = status.unwrap_or(BAD_GATEWAY);
    let meaning = meaning(rules, status, &said);
    let after = quota::retry_after(&incoming.headers);
    Some(Refusal {
        arrived: Arrived::PerhapsDone,
        overloaded: OVERLOADED.contains(&status),
        ..Refusal::new(remedy(meaning, after), said.text.to_string())
    })
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;

    use super::Meaning::{DeadKey, Final, NoQuotaNow, OtherKey, Passing};
    use super::*;

    #[test]
    fn first_fitting_rule_decides() {
        let rules = [
            rule(403, Says::Words("no access"), OtherKey),
            rule(0, Says::Code("dead"), DeadKey),
            rule(503, Says::Anything, Final),
        ];
        let said = |text: &str, code: &str| ErrorBody {
            text: text.into(),
            codes: vec![code.to_owned()],
        };
        assert_eq!(meaning(&rules, 403, &said("No access", "dead")), OtherKey);
        assert_eq!(meaning(&rules, 200, &said("", "dead")), DeadKey);
        assert_eq!(meaning(&rules, 503, &said("", "")), Final);
        assert_eq!(meaning(&rules, 500, &said("", "deadly")), Passing);
        assert_eq!(meaning(&rules, 404, &said("", "")), Final);
    }

    #[test]
    fn wait_of_no_time_is_left_to_our_own_delay() {
        let after = Some(Duration::ZERO);
        assert_eq!(remedy(NoQuotaNow, after), Remedy::HoldKey(None));
    }

    #[test]
    fn error_inside_a_success_is_judged_by_its_own_code() {
        let rules = [rule(429, Says::Anything, NoQuotaNow)];
        let inside = |body: &[u8]| {
            let incoming = Incoming {
                status: StatusCode::OK,
                headers: Default::default(),
                body: body.to_vec(),
            };
            inside_success(&rules, &incoming, ErrorBody::read(body))
        };
        let refusal = inside(br#"{"error":{"code":429,"message":"upstream busy"}}"#).unwrap();
        assert_eq!(refusal.remedy, Remedy::HoldKey(None));
        assert_eq!(refusal.reason, "upstream busy (429)");
        let unknown = inside(br#"{"error":{"code":"x","message":"m"}}"#).unwrap();
        assert_eq!(unknown.remedy, Remedy::Retry(None));
        let welcome = inside(br#"{"message":"welcome"}"#).unwrap();
        assert_eq!(welcome.remedy, Remedy::RetryUnreadable);
        assert!(inside(b"{}").is_none());
    }
}
