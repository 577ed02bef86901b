//! The state behind the statistics and limits: who asked what, how often, and what it took. One
//! lock around it; nothing here waits, and time is handed in. Called by `http.rs`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use agon_service_kit::clock::millis;
use tokio::time::Instant;

use super::charge::{Charge, Usage};
use super::draw::Digest;
use super::limits::{Headroom, Limits, Marked, Meter, Refusal, headrooms};
use super::options::SimOptions;
use super::stats::{SimCounts, SimLimit, SimStats, SimTaken, SimTokens, SimUse};

/// One request for an answer, understood.
#[derive(Debug, Clone)]
pub(super) struct Visit<'a> {
    pub(super) key: &'a str,
    pub(super) model: &'a str,
    /// How the model behaves.
    pub(super) options: Arc<SimOptions>,
    pub(super) digest: Digest,
    pub(super) usage: Usage,
    pub(super) charge: Charge,
}

/// Why a request does not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    Limit(Refusal),
    /// The key has no money left.
    Dead,
}

#[derive(Debug)]
pub(super) struct Books {
    pub(super) counts: SimStats,
    base: Arc<SimOptions>,
    started: Instant,
    marked: Option<Instant>,
    used_at_mark: SimTokens,
    keys: HashMap<Box<str>, KeyBook>,
    bodies: HashMap<Digest, BodyBook>,
}

#[derive(Debug)]
struct KeyBook {
    whole: Account,
    models: HashMap<Box<str>, Account>,
}

/// Of a key, or of a key and model.
#[derive(Debug)]
struct Account {
    limits: Limits,
    counts: SimCounts,
    at_mark: SimCounts,
    first: Instant,
    last: Instant,
}

#[derive(Debug, Default)]
struct BodyBook {
    tries: u32,
    storms: u32,
    answered: bool,
}

impl Books {
    pub(super) fn new(base: Arc<SimOptions>, now: Instant) -> Self {
        Self {
            counts: SimStats::default(),
            base,
            started: now,
            marked: None,
            used_at_mark: SimTokens::default(),
            keys: HashMap::new(),
            bodies: HashMap::new(),
        }
    }

    /// Notes that a request is there, before anything is decided. Returns how many storms its
    /// body has met, by which the next one is drawn.
    pub(super) fn arrived(&mut self, visit: &Visit<'_>, now: Instant) -> u32 {
        if !self.keys.contains_key(visit.key) {
            let limits = Limits::new(self.base.key_limits(), &self.base, now);
            let book = KeyBook {
                whole: Account::new(limits, now),
                models: HashMap::new(),
            };
            self.keys.insert(visit.key.into(), book);
        }
        if let Some(book) = self.keys.get_mut(visit.key)
            && !book.models.contains_key(visit.model)
        {
            let limits = Limits::new(visit.options.model_limits, &visit.options, now);
            let account = Account::new(limits, now);
            book.models.insert(visit.model.into(), account);
        }
        self.each(visit, |account| {
            account.counts.requests += 1;
            account.last = now;
        });
        self.bodies.get(&visit.digest).map_or(0, |body| body.storms)
    }

    /// A storm refuses it.
    pub(super) fn storm(&mut self, visit: &Visit<'_>) {
        self.counts.storms += 1;
        self.bodies.entry(visit.digest).or_default().storms += 1;
        self.each(visit, |account| account.counts.storms += 1);
    }

    /// Admits one try of a request, or refuses it. Returns how many times this body was admitted
    /// before: faults are decided by body and try, so that they too are the same whatever else
    /// arrives; and what is left of the limits.
    pub(super) fn enter(
        &mut self,
        visit: &Visit<'_>,
        now: Instant,
    ) -> (Result<u32, Closed>, Vec<Headroom>) {
        let Some(book) = self.keys.get_mut(visit.key) else {
            return (Ok(0), Vec::new());
        };
        let Some(model) = book.models.get_mut(visit.model) else {
            return (Ok(0), Vec::new());
        };
        let key = &mut book.whole;
        let options = &visit.options;
        let mortal = || {
            options.dead_keys.is_empty() || options.dead_keys.iter().any(|dead| dead == visit.key)
        };
        if options
            .dead_after
            .is_some_and(|calls| key.counts.admitted >= calls)
            && mortal()
        {
            self.counts.dead += 1;
            self.each(visit, |account| account.counts.dead += 1);
            return (Err(Closed::Dead), Vec::new());
        }
        let of_key = key.limits.check(&visit.charge, now);
        let checked = of_key.and_then(|()| model.limits.check(&visit.charge, now));
        if checked.is_ok() {
            for account in [&mut *key, &mut *model] {
                account.limits.enter(&visit.charge, now);
                account.counts.admitted += 1;
            }
        }
        let room = headrooms([&key.limits, &model.limits].into_iter());
        if let Err(refusal) = checked {
            self.counts.refused += 1;
            self.each(visit, |account| account.counts.refused += 1);
            return (Err(Closed::Limit(refusal)), room);
        }
        let counts = &mut self.counts;
        counts.prompt_tokens += u64::from(visit.usage.input);
        counts.completion_tokens += u64::from(visit.usage.output);
        counts.in_flight += 1;
        counts.in_flight_max = counts.in_flight_max.max(counts.in_flight);
        let body = self.bodies.entry(visit.digest).or_default();
        counts.distinct_bodies += u64::from(body.tries == 0);
        body.tries += 1;
        (Ok(body.tries - 1), room)
    }

    /// An admitted request has its answer.
    pub(super) fn answered(&mut self, visit: &Visit<'_>, malformed: bool, now: Instant) {
        self.counts.answered += 1;
        self.counts.malformed += u64::from(malformed);
        add_usage(&mut self.counts.used, visit.usage);
        if let Some(body) = self.bodies.get_mut(&visit.digest) {
            self.counts.answered_again += u64::from(body.answered);
            body.answered = true;
        }
        self.each(visit, |account| {
            account.counts.answered += 1;
            add_usage(&mut account.counts.used, visit.usage);
            account.limits.done(&visit.charge, now);
        });
    }

    /// The client of an admitted request went away before the answer was there. Nobody tells the
    /// model to stop, so the answer is charged and billed all the same.
    pub(super) fn abandoned(&mut self, visit: &Visit<'_>, now: Instant) {
        self.counts.abandoned += 1;
        add_usage(&mut self.counts.abandoned_used, visit.usage);
        self.each(visit, |account| account.limits.done(&visit.charge, now));
    }

    /// An admitted request is over, however it ended.
    pub(super) fn leave(&mut self, visit: &Visit<'_>) {
        self.counts.in_flight -= 1;
        self.each(visit, |account| account.limits.leave());
    }

    /// Counts since the mark begin anew. The limits do not notice.
    pub(super) fn mark(&mut self, now: Instant) {
        self.marked = Some(now);
        self.used_at_mark = self.counts.used;
        let books = self.keys.values_mut();
        for account in
            books.flat_map(|book| std::iter::once(&mut book.whole).chain(book.models.values_mut()))
        {
            account.at_mark = account.counts;
            account.limits.mark();
        }
    }

    pub(super) fn stats(&self, now: Instant) -> SimStats {
        let mut stats = self.counts.clone();
        stats.uptime_ms = millis(now - self.started);
        stats.marked_ms = self.marked.map(|marked| millis(marked - self.started));
        stats.used_since_mark = tokens_since(stats.used, self.used_at_mark);
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
            let mut models = BTreeMap::new();
            for (model, account) in &book.models {
                let requests = stats.calls_by_model.entry(model.to_string()).or_default();
                *requests += account.counts.requests;
                models.insert(model.to_string(), account.shown(self.started));
            }
            let whole = book.whole.shown(self.started);
            stats
                .per_key
                .insert(label.clone(), whole.since_start.admitted);
            stats.keys.insert(label.clone(), whole);
            stats.models.insert(label, models);
        }
        stats
    }

    fn each(&mut self, visit: &Visit<'_>, mut change: impl FnMut(&mut Account)) {
        let Some(book) = self.keys.get_mut(visit.key) else {
            return;
        };
        change(&mut book.whole);
        if let Some(account) = book.models.get_mut(visit.model) {
            change(account);
        }
    }
}

impl Account {
    fn new(limits: Limits, now: Instant) -> Self {
        Self {
            limits,
            counts: SimCounts::default(),
            at_mark: SimCounts::default(),
            first: now,
            last: now,
        }
    }

    fn shown(&self, started: Instant) -> SimUse {
        let running = &self.limits.running;
        let meters = self.limits.meters.iter();
        let mut limits: BTreeMap<_, _> = meters
            .map(|meter| (meter.kind.name(), shown_meter(meter)))
            .collect();
        if let Some(limit) = running.limit {
            let refused = |refused| SimTaken {
                refused,
                ..SimTaken::default()
            };
            let shown = SimLimit {
                limit: u64::from(limit),
                available: f64::from(limit),
                since_start: refused(running.refused.all),
                since_mark: refused(running.refused.since_mark()),
            };
            limits.insert(super::limits::Kind::Concurrency.name(), shown);
        }
        SimUse {
            since_start: self.counts,
            since_mark: counts_since(self.counts, self.at_mark),
            in_flight: running.now,
            in_flight_max: running.largest,
            in_flight_max_since_mark: running.largest_since_mark,
            first_request_ms: millis(self.first - started),
            last_request_ms: millis(self.last - started),
            limits,
        }
    }
}

fn shown_meter(meter: &Meter) -> SimLimit {
    let limit = u64::from(meter.bucket.limit);
    let (start, mark) = meter.windows.largest();
    let share = |taken: u64, limit: f64| {
        if limit > 0.0 {
            taken as f64 / limit
        } else {
            0.0
        }
    };
    let per_minute = meter.bucket.per_minute;
    let taken = |charged, refused, largest: [u64; 2]| SimTaken {
        charged,
        refused,
        largest_60s: largest[0],
        share_60s: share(largest[0], per_minute),
        largest_5s: largest[1],
        share_5s: share(largest[1] * 12, per_minute),
    };
    let (charged, refused): (Marked, Marked) = (meter.charged, meter.refused);
    SimLimit {
        limit,
        available: limit as f64 * meter.bucket.available_share(),
        since_start: taken(charged.all, refused.all, start),
        since_mark: taken(charged.since_mark(), refused.since_mark(), mark),
    }
}

fn add_usage(used: &mut SimTokens, usage: Usage) {
    used.answers += 1;
    used.input_tokens += u64::from(usage.input);
    used.cached_tokens += u64::from(usage.cached);
    used.output_tokens += u64::from(usage.output);
    used.reasoning_tokens += u64::from(usage.reasoning);
}

fn tokens_since(now: SimTokens, then: SimTokens) -> SimTokens {
    SimTokens {
        answers: now.answers - then.answers,
        input_tokens: now.input_tokens - then.input_tokens,
        cached_tokens: now.cached_tokens - then.cached_tokens,
        output_tokens: now.output_tokens - then.output_tokens,
        reasoning_tokens: now.reasoning_tokens - then.reasoning_tokens,
    }
}

fn counts_since(now: SimCounts, then: SimCounts) -> SimCounts {
    SimCounts {
        requests: now.requests - then.requests,
        admitted: now.admitted - then.admitted,
        answered: now.answered - then.answered,
        refused: now.refused - then.refused,
        storms: now.storms - then.storms,
        dead: now.dead - then.dead,
        used: tokens_since(now.used, then.used),
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
mod tests;
