//! Claims about what is counted, for whom, and since when.
//! Time is handed in, so that minutes pass at once.

use super::super::options::{SimCharge, SimLimits};
use std::time::Duration;

use super::*;

fn books(options: SimOptions, now: Instant) -> (Books, Arc<SimOptions>) {
    let options = Arc::new(options);
    (Books::new(options.clone(), now), options)
}

fn visit<'a>(options: &Arc<SimOptions>, key: &'a str, model: &'a str, body: &[u8]) -> Visit<'a> {
    let usage = Usage {
        input: 10,
        cached: 4,
        output: 20,
        reasoning: 5,
    };
    Visit {
        key,
        model,
        options: options.clone(),
        digest: Digest::of(0, body),
        usage,
        charge: Charge::new(options.charge, usage, Some(50), || 40),
    }
}

/// Whether it got in; answered and gone at once if so.
fn call(books: &mut Books, visit: &Visit<'_>, now: Instant) -> Result<u32, Closed> {
    books.arrived(visit, now);
    let tries_before = books.enter(visit, now).0?;
    books.answered(visit, false, now);
    books.leave(visit);
    Ok(tries_before)
}

#[test]
fn keys_are_told_apart_but_not_shown() {
    let now = Instant::now();
    let (mut books, options) = books(SimOptions::default(), now);
    for key in ["sk-first-abcd", "sk-second-abcd", "sk-second-abcd", ""] {
        call(&mut books, &visit(&options, key, "m", b"body"), now).unwrap();
    }
    let stats = books.stats(now);
    let expected = [("...abcd", 1), ("...abcd (2)", 2), ("none", 1)];
    let expected = expected.map(|(key, count)| (key.to_owned(), count));
    assert_eq!(stats.per_key, BTreeMap::from(expected));
    assert_eq!(stats.models["...abcd (2)"]["m"].since_start.requests, 2);
    assert!(!serde_json::to_string(&stats).unwrap().contains("second"));
}

#[test]
fn repeated_bodies_are_noticed() {
    let now = Instant::now();
    let (mut books, options) = books(SimOptions::default(), now);
    let visit = visit(&options, "k", "m", b"body");
    assert_eq!(call(&mut books, &visit, now), Ok(0));
    assert_eq!(call(&mut books, &visit, now), Ok(1));
    let stats = books.stats(now);
    assert_eq!((stats.distinct_bodies, stats.answered_again), (1, 1));
    assert_eq!((stats.in_flight, stats.in_flight_max), (0, 1));
}

#[test]
fn limits_of_key_and_model_hold_at_once_and_count_their_own_refusals() {
    let now = Instant::now();
    let (mut books, options) = books(
        SimOptions {
            requests_per_minute: Some(5),
            model_limits: SimLimits {
                requests_per_minute: Some(3),
                ..SimLimits::default()
            },
            ..SimOptions::default()
        },
        now,
    );
    let mut let_in = |model: &'static str| {
        let visit = visit(&options, "a-key", model, b"body");
        (0..4)
            .filter(|_| call(&mut books, &visit, now).is_ok())
            .count()
    };
    assert_eq!((let_in("one"), let_in("two")), (3, 2));
    let stats = books.stats(now);
    let refused = |used: &SimUse| used.limits["requests_per_minute"].since_start.refused;
    assert_eq!(refused(&stats.keys["...ey"]), 2);
    assert_eq!(refused(&stats.models["...ey"]["one"]), 1);
    assert_eq!(refused(&stats.models["...ey"]["two"]), 0);
    assert_eq!(stats.refused, 3);
    assert_eq!(stats.keys["...ey"].since_start.refused, 3);
    assert_eq!(stats.calls_by_model["two"], 4);
    let (_, room) = books.enter(&visit(&options, "a-key", "one", b"x"), now);
    assert_eq!((room[0].limit, room[0].remaining), (5, 0));
}

#[test]
fn output_is_charged_when_it_is_done_though_nobody_waits_and_not_when_it_failed() {
    let now = Instant::now();
    let (mut books, options) = books(
        SimOptions {
            charge: SimCharge::Anthropic,
            input_tokens_per_minute: Some(100),
            output_tokens_per_minute: Some(100),
            ..SimOptions::default()
        },
        now,
    );
    let visit = visit(&options, "key", "m", b"body");
    books.arrived(&visit, now);
    books.enter(&visit, now).0.unwrap();
    let charged = |books: &Books| {
        let limits = &books.stats(now).keys["...y"].limits;
        ["input_tokens_per_minute", "output_tokens_per_minute"]
            .map(|name| limits[name].since_start.charged)
    };
    assert_eq!(charged(&books), [6, 0]);
    books.leave(&visit);
    assert_eq!(charged(&books), [6, 0], "it failed");
    call(&mut books, &visit, now).unwrap();
    assert_eq!(charged(&books), [12, 20]);
    books.enter(&visit, now).0.unwrap();
    books.abandoned(&visit, now);
    books.leave(&visit);
    assert_eq!(charged(&books), [18, 40]);
    let stats = books.stats(now);
    assert_eq!((stats.used.answers, stats.abandoned_used.answers), (1, 1));
    assert_eq!(stats.abandoned_used.output_tokens, 20);
}

#[test]
fn dead_key_stays_dead_and_others_live() {
    let now = Instant::now();
    let (mut books, options) = books(
        SimOptions {
            dead_after: Some(2),
            dead_keys: vec!["mortal".into()],
            ..SimOptions::default()
        },
        now,
    );
    let mut outcomes = |key: &'static str| {
        [0, 1, 2, 3].map(|_| call(&mut books, &visit(&options, key, "m", b"b"), now).is_ok())
    };
    assert_eq!(outcomes("mortal"), [true, true, false, false]);
    assert_eq!(outcomes("eternal"), [true; 4]);
    let stats = books.stats(now);
    assert_eq!((stats.dead, stats.refused), (2, 0));
    assert_eq!(stats.keys["...tal"].since_start.dead, 2);
}

#[test]
fn mark_divides_counts_and_the_largest_windows() {
    let start = Instant::now();
    let (mut books, options) = books(
        SimOptions {
            tokens_per_minute: Some(60),
            ..SimOptions::default()
        },
        start,
    );
    let visit = visit(&options, "key", "m", b"body");
    assert!(call(&mut books, &visit, start).is_ok());
    assert!(call(&mut books, &visit, start).is_ok());
    assert!(call(&mut books, &visit, start).is_err());
    books.mark(start + Duration::from_secs(90));
    let later = start + Duration::from_secs(100);
    assert!(call(&mut books, &visit, later).is_ok());
    let stats = books.stats(later);
    let used = &stats.keys["...y"];
    let limit = used.limits["tokens_per_minute"];
    assert_eq!((limit.limit, limit.available), (60, 60.0));
    let (all, since) = (limit.since_start, limit.since_mark);
    assert_eq!((all.charged, all.refused, all.largest_60s), (90, 1, 60));
    assert_eq!((all.share_60s, all.share_5s), (1.0, 12.0));
    assert_eq!(
        (since.charged, since.refused, since.largest_60s),
        (30, 0, 30)
    );
    assert_eq!((since.share_60s, since.share_5s), (0.5, 6.0));
    assert_eq!(used.since_start.requests, 4);
    assert_eq!(used.since_mark.requests, 1);
    assert_eq!((used.first_request_ms, used.last_request_ms), (0, 100_000));
    assert_eq!((stats.uptime_ms, stats.marked_ms), (100_000, Some(90_000)));
    assert_eq!(stats.used.output_tokens, 60);
    let since = stats.used_since_mark;
    assert_eq!((since.answers, since.input_tokens), (1, 10));
    assert_eq!((since.cached_tokens, since.reasoning_tokens), (4, 5));
}
