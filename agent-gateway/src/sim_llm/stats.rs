//! What the simulated provider counts, for people (`GET /stats`) and for tests that must know
//! whether any request was asked twice. Keys appear by their last characters only.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use tokio::time::Instant;

use super::SimOptions;
use super::draw::Digest;
use super::limits::{Headroom, KeyLimits, Refusal};

/// Counts since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SimStats {
    /// Chat requests that arrived, whatever became of them.
    pub requests: u64,
    /// Answered with a completion, malformed ones included.
    pub answered: u64,
    /// Answered although the same body had been answered before.
    pub answered_again: u64,
    /// Of the answered, those that were nonsense on purpose.
    pub malformed: u64,
    /// Refused with 429.
    pub refused: u64,
    /// Failed with 500 on purpose.
    pub failed: u64,
    /// Left without an answer on purpose.
    pub hung: u64,
    /// Turned away with 401.
    pub unauthorized: u64,
    /// Not understood (400).
    pub invalid: u64,
    /// Gone before their answer was ready: the client closed the connection.
    pub abandoned: u64,
    /// Different bodies among the admitted requests.
    pub distinct_bodies: u64,
    /// Running now.
    pub in_flight: u64,
    /// Most that ever ran at once.
    pub in_flight_max: u64,
    /// Tokens of the admitted requests.
    pub prompt_tokens: u64,
    /// Tokens of their answers.
    pub completion_tokens: u64,
    /// Admitted requests by key, each key shown by its last four characters.
    pub per_key: BTreeMap<String, u64>,
}

/// The state behind the counts. One lock around it; nothing here waits.
#[derive(Debug, Default)]
pub(super) struct Books {
    pub(super) counts: SimStats,
    keys: HashMap<Box<str>, KeyBook>,
    bodies: HashMap<Digest, BodyBook>,
}

#[derive(Debug)]
struct KeyBook {
    admitted: u64,
    limits: KeyLimits,
}

#[derive(Debug, Default)]
struct BodyBook {
    tries: u32,
    answered: bool,
}

/// The state of a key's two buckets, for the headers.
pub(super) type Room = [(&'static str, Option<Headroom>); 2];

impl Books {
    /// Admits one try of a request under its key, or refuses it. Returns how many times this body
    /// was admitted before: faults are decided by body and try, so that they too are the same
    /// whatever else arrives.
    pub(super) fn enter(
        &mut self,
        options: &SimOptions,
        key: &str,
        digest: Digest,
        tokens: (u32, u32),
    ) -> (Result<u32, Refusal>, Room) {
        let now = Instant::now();
        if !self.keys.contains_key(key) {
            let book = KeyBook {
                admitted: 0,
                limits: KeyLimits::new(options, now),
            };
            self.keys.insert(key.into(), book);
        }
        let Some(book) = self.keys.get_mut(key) else {
            unreachable!("the key was just entered")
        };
        let entered = book.limits.enter(tokens.0.saturating_add(tokens.1), now);
        let room = book.limits.headroom();
        if let Err(refusal) = entered {
            self.counts.refused += 1;
            return (Err(refusal), room);
        }
        book.admitted += 1;
        self.counts.prompt_tokens += u64::from(tokens.0);
        self.counts.completion_tokens += u64::from(tokens.1);
        self.counts.in_flight += 1;
        self.counts.in_flight_max = self.counts.in_flight_max.max(self.counts.in_flight);
        let body = self.bodies.entry(digest).or_default();
        body.tries += 1;
        (Ok(body.tries - 1), room)
    }

    /// An admitted request has its answer.
    pub(super) fn answered(&mut self, digest: Digest, malformed: bool) {
        self.counts.answered += 1;
        self.counts.malformed += u64::from(malformed);
        if let Some(body) = self.bodies.get_mut(&digest) {
            self.counts.answered_again += u64::from(body.answered);
            body.answered = true;
        }
    }

    /// An admitted request is over, however it ended.
    pub(super) fn leave(&mut self, key: &str) {
        self.counts.in_flight -= 1;
        if let Some(book) = self.keys.get_mut(key) {
            book.limits.leave();
        }
    }

    pub(super) fn stats(&self) -> SimStats {
        let mut stats = self.counts.clone();
        stats.distinct_bodies = self.bodies.len() as u64;
        // Keys with the same ending share a line only in looks: each further one gets a number.
        let mut keys: Vec<_> = self.keys.iter().collect();
        keys.sort_by_key(|(key, _)| *key);
        for (key, book) in keys {
            let mut label = label(key);
            let mut twin = 2;
            while stats.per_key.contains_key(&label) {
                label = format!("{} ({twin})", self::label(key));
                twin += 1;
            }
            stats.per_key.insert(label, book.admitted);
        }
        stats
    }
}

fn label(key: &str) -> String {
    if key.is_empty() {
        return "none".to_owned();
    }
    let count = key.chars().count();
    // Of a short key less is shown, never most of it.
    let shown: String = key.chars().skip(count - 4.min(count / 2)).collect();
    format!("...{shown}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart_but_not_shown() {
        let (options, digest) = (SimOptions::default(), Digest::of(0, b"body"));
        let mut books = Books::default();
        for key in ["sk-first-abcd", "sk-second-abcd", "sk-second-abcd", ""] {
            books.enter(&options, key, digest, (1, 1)).0.unwrap();
        }
        let per_key = books.stats().per_key;
        let expected = [("...abcd", 1), ("...abcd (2)", 2), ("none", 1)];
        let expected = expected.map(|(key, count)| (key.to_owned(), count));
        assert_eq!(per_key, BTreeMap::from(expected));
    }

    #[test]
    fn repeated_bodies_are_noticed() {
        let (options, digest) = (SimOptions::default(), Digest::of(0, b"body"));
        let mut books = Books::default();
        assert_eq!(books.enter(&options, "k", digest, (1, 1)).0, Ok(0));
        books.answered(digest, false);
        books.leave("k");
        assert_eq!(books.enter(&options, "k", digest, (1, 1)).0, Ok(1));
        books.answered(digest, true);
        let stats = books.stats();
        assert_eq!(
            (stats.distinct_bodies, stats.answered_again, stats.malformed),
            (1, 1, 1)
        );
        assert_eq!((stats.in_flight, stats.in_flight_max), (1, 1));
    }
}
