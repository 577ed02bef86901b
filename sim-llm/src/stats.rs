//! What the simulated provider counts, for people (`GET /stats`) and for tests and benchmarks that
//! must know what was asked twice, refused, or taken beyond a limit. Keys appear by their last
//! characters only. Plain data; `books.rs` counts.

use std::collections::BTreeMap;

use serde::Serialize;

/// Counts since the start, except where a name says otherwise. As JSON (`GET /stats`), with the
/// same names as here and below; a `USE` is a [`SimUse`], `models` are ordered by key, then model:
///
/// ```json
/// {"requests": 9, "answered": 8, "refused": 1, "storms": 0, "dead": 0, "...": 0,
///  "used": {"answers": 8, "input_tokens": 80, "cached_tokens": 0, "output_tokens": 64,
///           "reasoning_tokens": 0},
///  "calls_by_model": {"gpt": 9},
///  "uptime_ms": 65000, "marked_ms": 5000,
///  "models": {"...abcd": {"gpt": "USE"}},
///  "keys": {"...abcd": {
///    "since_start": {"requests": 9, "admitted": 8, "answered": 8, "refused": 1, "storms": 0,
///                    "dead": 0, "used": {"answers": 8, "...": 0}},
///    "since_mark": {"...": 0},
///    "in_flight": 0, "in_flight_max": 3, "in_flight_max_since_mark": 1,
///    "first_request_ms": 100, "last_request_ms": 64000,
///    "limits": {"tokens_per_minute": {"limit": 1000, "available": 1000.0,
///      "since_start": {"charged": 144, "refused": 1, "largest_60s": 144, "share_60s": 0.144,
///                      "largest_5s": 50, "share_5s": 0.6},
///      "since_mark": {"...": 0}}}}}}
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SimStats {
    /// Requests for an answer that arrived, whatever became of them.
    pub requests: u64,
    /// Answered with a completion, malformed ones included.
    pub answered: u64,
    /// Answered although the same body had been answered before.
    pub answered_again: u64,
    /// Of the answered, those that were nonsense on purpose.
    pub malformed: u64,
    /// Of the admitted, those that took longer on purpose.
    pub slow: u64,
    /// Refused with 429 because of a limit. Storms and dead keys are counted apart.
    pub refused: u64,
    /// Refused with 429 for no limit's sake.
    pub storms: u64,
    /// Refused because the key had no money left.
    pub dead: u64,
    /// Failed with 500 or the like on purpose.
    pub failed: u64,
    /// Left without an answer on purpose.
    pub hung: u64,
    /// Turned away with 401 (Gemini: 400).
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
    /// Tokens of the answered requests, which is what a bill would say.
    pub used: SimTokens,
    /// The same since the last `POST /stats/mark`.
    pub used_since_mark: SimTokens,
    /// Tokens of the abandoned requests, hung ones included: they are billed too, though nobody
    /// saw them.
    pub abandoned_used: SimTokens,
    /// Admitted requests by key, each key shown by its last four characters.
    pub per_key: BTreeMap<String, u64>,
    /// Understood requests by model, whatever became of them.
    pub calls_by_model: BTreeMap<String, u64>,
    /// Everything about each key, by the same names as in `per_key`.
    pub keys: BTreeMap<String, SimUse>,
    /// Everything about each key and model: key, then model.
    pub models: BTreeMap<String, BTreeMap<String, SimUse>>,
    /// Milliseconds since the server started.
    pub uptime_ms: u64,
    /// When the last mark was set, in milliseconds since the server started.
    pub marked_ms: Option<u64>,
}

/// Tokens as answers reported them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SimTokens {
    /// Answers that reported them.
    pub answers: u64,
    /// Input, cached tokens included.
    pub input_tokens: u64,
    /// Of the input, read from the cache.
    pub cached_tokens: u64,
    /// Output, thoughts included.
    pub output_tokens: u64,
    /// Of the output, thoughts.
    pub reasoning_tokens: u64,
}

/// What one key, or one key with one model, did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SimUse {
    /// Since its first request.
    pub since_start: SimCounts,
    /// Since the last `POST /stats/mark`; the same as `since_start` when there was none.
    pub since_mark: SimCounts,
    /// Running now.
    pub in_flight: u32,
    /// Most that ever ran at once.
    pub in_flight_max: u32,
    /// Most that ran at once since the mark.
    pub in_flight_max_since_mark: u32,
    /// Its first request, in milliseconds since the server started.
    pub first_request_ms: u64,
    /// Its newest request, likewise.
    pub last_request_ms: u64,
    /// By the name of the option that sets the limit. Limits of a key are found with the key,
    /// those of a model with the model; what has no limit is not there.
    pub limits: BTreeMap<&'static str, SimLimit>,
}

/// Counts of one key, or one key with one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SimCounts {
    /// Understood requests, whatever became of them.
    pub requests: u64,
    /// Let in.
    pub admitted: u64,
    /// Answered.
    pub answered: u64,
    /// Refused by a limit, of the key or of the model.
    pub refused: u64,
    /// Refused by a storm.
    pub storms: u64,
    /// Refused because the key had no money left.
    pub dead: u64,
    /// Tokens of the answered.
    pub used: SimTokens,
}

/// One limit and what came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct SimLimit {
    /// The limit, per minute or as its name says.
    pub limit: u64,
    /// What somebody else's use leaves of it.
    pub available: f64,
    /// Since the first request.
    pub since_start: SimTaken,
    /// Since the mark.
    pub since_mark: SimTaken,
}

/// What a limit gave and refused. Of `concurrency` only `refused` counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct SimTaken {
    /// Taken from it in all, by the rule of charge.
    pub charged: u64,
    /// Requests it refused; of several limits the one with the longest wait is counted.
    pub refused: u64,
    /// The most taken within any 60 s. After a mark, windows that end after it.
    pub largest_60s: u64,
    /// That as a share of the limit: above 1 more was taken than one minute allows.
    pub share_60s: f64,
    /// The most taken within any 5 s.
    pub largest_5s: u64,
    /// That as a share of a twelfth of the limit.
    pub share_5s: f64,
}
