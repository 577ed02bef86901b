//! Limits as plain types: what one key may carry, and what a provider says about the quota of a
//! key. A leaf: the configuration and the providers fill them in, admission keeps to them.

use std::time::Duration;

/// What one key may carry. Absent: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyLimits {
    /// Requests per minute.
    pub requests_per_minute: Option<u64>,
    /// Input and output tokens per minute.
    pub tokens_per_minute: Option<u64>,
    /// Input tokens per minute, where they are counted apart.
    pub input_tokens_per_minute: Option<u64>,
    /// Output tokens per minute, where they are counted apart.
    pub output_tokens_per_minute: Option<u64>,
    /// Requests in any 24 hours.
    pub requests_per_day: Option<u64>,
    /// Calls in flight.
    pub concurrency: Option<u64>,
    /// Calls in flight as many as the server takes well, found out by trying.
    pub adaptive: bool,
}

impl KeyLimits {
    /// A limit of zero would let nothing through, ever.
    pub fn any_is_zero(&self) -> bool {
        self.per_minute().contains(&Some(0))
            || [self.requests_per_day, self.concurrency].contains(&Some(0))
    }

    /// There is a limit at all; one that is found out by trying is none.
    pub fn limit_anything(&self) -> bool {
        let unlimited = Self {
            adaptive: self.adaptive,
            ..Self::default()
        };
        *self != unlimited
    }

    /// The limits per minute, in the order of `Charge::amounts`.
    pub fn per_minute(&self) -> [Option<u64>; QUANTITIES] {
        [
            self.requests_per_minute,
            self.tokens_per_minute,
            self.input_tokens_per_minute,
            self.output_tokens_per_minute,
        ]
    }
}

/// Requests, tokens, input tokens, output tokens: what is limited per minute.
pub const QUANTITIES: usize = 4;

/// What a provider says about the quota of the key that was used. Absent: it
/// says nothing. Admission uses it to lower what it believes, never to raise it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signals {
    /// Requests.
    pub requests: Room,
    /// Input and output tokens together.
    pub tokens: Room,
    /// Input tokens, where they are counted apart.
    pub input_tokens: Room,
    /// Output tokens, where they are counted apart.
    pub output_tokens: Room,
    /// Requests of a day. Nothing is lowered by them; a refusal for lack of them holds the key until
    /// they are back.
    pub requests_today: Room,
}

/// What is left of one limit, as the provider's headers have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// The limit itself, per minute as far as one can tell.
    pub limit: Option<u64>,
    /// What is left of it.
    pub remaining: Option<u64>,
    /// When it is whole again.
    pub reset: Option<Duration>,
}
