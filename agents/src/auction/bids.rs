//! Reads a bid or a withdrawal from a reply: the JSON that was asked for, JSON in
//! text, or words ("I bid $1,200!", "I'm out!"). What names two different bids is
//! a foul. Ranges are checked by the game.

use std::borrow::Cow;

use agon_engine::{Action, Ask, Foul, FoulKind};
use serde_json::{Map, Value, json};

use crate::mind::Reply;
use crate::reading::prose::{self, Stated};
use crate::reading::{self, embedded, said};

use super::amounts::{amount_of, in_digits, only_amount};
use super::spoken::spoken;

/// A reply to a bid's ask.
#[derive(Debug, Clone, PartialEq)]
pub struct BidReading {
    /// What was said, as it stood in the reply: an amount, a text, or none.
    pub said: Value,
    /// What it was read as, or the foul that reading ended in.
    pub read: Result<Action, Foul>,
}

impl BidReading {
    /// The body of a note `bid`: one per reply, refused ones too. `item` and
    /// `round` are the place in the order of sale and the bid round, from 1; `problem`
    /// is what the game said of a bid that does not count.
    pub fn note(&self, item: usize, round: u32, problem: Option<&str>) -> Value {
        let read = match &self.read {
            Ok(Action::Integer(amount)) => Value::from(*amount),
            Ok(Action::Pass) => Value::from("withdraw"),
            _ => Value::Null,
        };
        json!({ "item": item, "round": round, "said": self.said, "read": read, "problem": problem })
    }
}

/// Keys that hold a bid, besides the ask's own name.
const AMOUNT_KEYS: &[&str] = &["amount", "bid_amount", "price", "offer", "value", "my_bid"];

/// Keys that hold a decision in a word, or a bid.
const DECISION_KEYS: &[&str] = &[
    "decision",
    "final_decision",
    "action",
    "answer",
    "final_answer",
    "choice",
    "response",
    "final_bid",
    "your_bid",
];

/// Words for leaving an item to the others.
const WITHDRAWALS: &[&str] = &[
    "withdraw",
    "withdrawn",
    "withdrawal",
    "withdrew",
    "withdrawing",
    "out",
    "i'm out",
    "i am out",
    "im out",
    "pass",
    "fold",
    "drop out",
    "no bid",
    "not bidding",
    "quit",
];

/// Sentences for leaving that no general reader knows.
const SAYINGS: &[&str] = &[
    "i'm out",
    "i am out",
    "im out",
    "count me out",
    "i'll pass",
    "i will pass",
    "i pass",
    "i fold",
    "i'll fold",
    "i drop out",
    "i'm dropping out",
    "i'll drop out",
    "i'll sit this one out",
    "i will sit this one out",
    "i won't bid",
    "i will not bid",
    "i do not bid",
    "i'm not going to bid",
    "i am not going to bid",
    "i have decided to pass",
    "i've decided to pass",
    "i choose to pass",
    "i'm going to pass",
    "i'm passing",
    "i don't bid",
];

/// Words that may follow such a sentence and leave it what it is.
const FOLLOWING: &[&str] = &[
    "on", "for", "this", "here", "now", "again", "further", "anymore", "any", "because", "and",
    "since", "as", "at", "in",
];

/// What a field of a reply says.
#[derive(Debug, Clone, PartialEq)]
enum Said {
    Bid(i64),
    Withdrawal,
    /// It holds a bid that cannot be read.
    Unclear,
}

/// A field of a reply that speaks of the bid.
struct Field {
    said: Said,
    raw: Value,
    /// Whether it is the field that was asked for, or a decision.
    own: bool,
}

/// Reads a reply to the ask of a bid.
pub fn read_bid(ask: &Ask, reply: &Reply) -> BidReading {
    let text = said(reply);
    for value in embedded::values(text).iter().rev() {
        if let Some(reading) = in_json(ask, value) {
            return reading;
        }
    }
    if text.is_empty() {
        return BidReading {
            said: Value::Null,
            read: Err(reading::no_reply(ask, &reply.finish_reason)),
        };
    }
    let cut = matches!(
        &*reply.finish_reason,
        "length" | "content_filter" | "refusal"
    );
    let read = if cut {
        Err(reading::no_reply(ask, &reply.finish_reason))
    } else {
        in_words(ask, &outside(text))
    };
    let said = match &read {
        Ok(Action::Integer(amount)) => Value::from(*amount),
        Ok(Action::Pass) => Value::from("withdraw"),
        _ => Value::Null,
    };
    BidReading { said, read }
}

/// The decision in words: said outright, or else as prose is read.
fn in_words(ask: &Ask, text: &str) -> Result<Action, Foul> {
    let bare = text
        .trim()
        .trim_matches(['.', '!', '*', '"'])
        .to_lowercase();
    if WITHDRAWALS.contains(&&*bare) {
        return Ok(Action::Pass);
    }
    let plain = with_plain_sayings(&in_digits(text));
    match spoken(&plain, &["i", "withdraw"]) {
        Stated::One(action) => Ok(action),
        Stated::Several => Err(more_than_one(ask)),
        Stated::None => prose::read(ask, &plain),
    }
}

fn more_than_one(ask: &Ask) -> Foul {
    let range = ask.form.describe();
    let reason = format!("the reply names more than one bid: say a single one, {range}");
    Foul::new(FoulKind::Unreadable, reason)
}

/// A text without the objects in it: a number in an object that names no bid is
/// none (an estimate, a priority).
fn outside(text: &str) -> Cow<'_, str> {
    let whole = embedded::values(text).iter().any(Value::is_object);
    match (text.find('{'), text.rfind('}')) {
        (Some(start), Some(end)) if whole && start < end => {
            Cow::Owned(format!("{}\n{}", &text[..start], &text[end + 1..]))
        }
        _ => Cow::Borrowed(text),
    }
}

/// What a value says, when it holds a field for a bid.
fn in_json(ask: &Ask, value: &Value) -> Option<BidReading> {
    let mut found = Vec::new();
    collect(ask, value, &mut found);
    // Beside the bid itself, an "amount" or a "price" is something else.
    if found.iter().any(|field| field.own) {
        found.retain(|field| field.own);
    }
    let found: Vec<(Said, Value)> = found.into_iter().map(|f| (f.said, f.raw)).collect();
    let (first, raw) = found.first()?.clone();
    let clear: Vec<&Said> = found
        .iter()
        .map(|(said, _)| said)
        .filter(|said| **said != Said::Unclear)
        .collect();
    let read = match &*clear {
        [] => Err(unclear(ask, &raw)),
        [only, rest @ ..] if rest.iter().all(|other| other == only) => Ok(match only {
            Said::Bid(amount) => Action::Integer(*amount),
            _ => Action::Pass,
        }),
        _ => Err(more_than_one(ask)),
    };
    let said = match (&first, clear.first()) {
        (Said::Withdrawal, _) | (Said::Unclear, Some(Said::Withdrawal)) => Value::from("withdraw"),
        (Said::Unclear, Some(Said::Bid(amount))) => Value::from(*amount),
        _ => raw,
    };
    Some(BidReading { said, read })
}

/// Everything in a value that speaks of the bid, in the order of its keys.
fn collect(ask: &Ask, value: &Value, found: &mut Vec<Field>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let key = plain(key);
                if let Some(said) = field(ask, map, &key, inner) {
                    found.push(Field {
                        said,
                        raw: inner.clone(),
                        own: !AMOUNT_KEYS.contains(&&*key),
                    });
                } else if inner.is_object() || inner.is_array() {
                    collect(ask, inner, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(ask, item, found)),
        _ => {}
    }
}

fn field(ask: &Ask, map: &Map<String, Value>, key: &str, value: &Value) -> Option<Said> {
    if key == "withdraw" || key == "withdrawn" {
        return (value.as_bool() == Some(true)).then_some(Said::Withdrawal);
    }
    let own = key == ask.kind;
    let decision = DECISION_KEYS.contains(&key);
    if !own && !decision && !AMOUNT_KEYS.contains(&key) {
        return None;
    }
    let said = word(ask, value);
    match (&said, value) {
        // {"bid": {"amount": 1200}} is read further in.
        (Said::Unclear, Value::Object(_)) => None,
        // {"action": "bid", "amount": 1200}: the word says nothing of its own,
        // and {"action": "withdraw", "amount": 0} has no amount.
        (Said::Unclear, Value::String(_) | Value::Bool(_)) if decision => None,
        (Said::Bid(0), _) | (Said::Unclear, Value::Null) if says_withdraw(ask, map) => None,
        // A null alone is how records write a withdrawal.
        (Said::Unclear, Value::Null) if own => Some(Said::Withdrawal),
        (Said::Unclear, Value::Null) => None,
        _ => Some(said),
    }
}

/// Whether another field of the object withdraws.
fn says_withdraw(ask: &Ask, map: &Map<String, Value>) -> bool {
    map.iter().any(|(key, value)| {
        DECISION_KEYS.contains(&&*plain(key)) && word(ask, value) == Said::Withdrawal
            || (plain(key) == "withdraw" && value.as_bool() == Some(true))
    })
}

/// What a field's value says.
fn word(ask: &Ask, value: &Value) -> Said {
    let Value::String(text) = value else {
        return amount_of(value).map_or(Said::Unclear, Said::Bid);
    };
    let bare = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    let bare = bare.replace('\u{2019}', "'");
    if WITHDRAWALS.contains(&&*bare) {
        return Said::Withdrawal;
    }
    if let Some(amount) = only_amount(text) {
        return Said::Bid(amount);
    }
    match in_words(ask, text) {
        Ok(Action::Integer(amount)) => Said::Bid(amount),
        Ok(Action::Pass) => Said::Withdrawal,
        _ => Said::Unclear,
    }
}

/// A text in which sayings for leaving are written as "i withdraw".
fn with_plain_sayings(text: &str) -> String {
    let mut text = text.to_owned();
    for saying in SAYINGS {
        if text.contains(saying) {
            text = without_saying(&text, saying);
        }
    }
    text
}

fn without_saying(text: &str, saying: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(saying) {
        let (before, behind) = (&rest[..at], &rest[at + saying.len()..]);
        out.push_str(before);
        let starts = !out.ends_with(char::is_alphanumeric);
        out.push_str(if starts && ends_a_saying(behind) {
            "i withdraw"
        } else {
            saying
        });
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Whether what follows leaves a saying what it is: "I'm out of money" and "I
/// won't bid more than 900" say something else.
fn ends_a_saying(behind: &str) -> bool {
    let Some(first) = behind.chars().next() else {
        return true;
    };
    if first.is_alphanumeric() || first == '\'' {
        return false;
    }
    let next = behind.trim_start_matches([' ', '*', '"']);
    let word: String = next.chars().take_while(|c| c.is_alphanumeric()).collect();
    word.is_empty() || first != ' ' || FOLLOWING.contains(&&*word)
}

fn unclear(ask: &Ask, raw: &Value) -> Foul {
    let range = ask.form.describe();
    Foul::new(
        FoulKind::WrongType,
        format!("{raw} will not do: the answer must be {range}"),
    )
}

fn plain(key: &str) -> String {
    key.trim().to_lowercase().replace([' ', '-'], "_")
}
