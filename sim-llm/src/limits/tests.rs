//! Claims about the buckets, each with its own clock.
//! What must hold for every mix of limits is tried over many calls.

use super::*;

fn limits(requests: u32, tokens: u32, concurrency: u32, now: Instant) -> Limits {
    let limits = SimLimits {
        requests_per_minute: Some(requests),
        tokens_per_minute: Some(tokens),
        concurrency: Some(concurrency),
        ..SimLimits::default()
    };
    Limits::new(limits, &SimOptions::default(), now)
}

fn tokens(tokens: u64) -> Charge {
    Charge {
        on_arrival: Amounts {
            tokens,
            input: tokens,
            output: 0,
        },
        when_done: Amounts::default(),
    }
}

fn call(limits: &mut Limits, charge: Charge, now: Instant) -> Result<(), Refusal> {
    limits.check(&charge, now)?;
    limits.enter(&charge, now);
    Ok(())
}

fn remaining(limits: &Limits, kind: Kind) -> u32 {
    let headrooms = headrooms([limits].into_iter());
    headrooms
        .iter()
        .find(|headroom| headroom.kind == kind)
        .unwrap()
        .remaining
}

#[test]
fn waiting_as_told_is_always_enough() {
    let mut now = Instant::now();
    let mut key = limits(7, 1_000, 1_000, now);
    let mut at_once = 0;
    for _ in 0..200 {
        match call(&mut key, tokens(90), now) {
            Ok(()) => at_once += 1,
            Err(refusal) => {
                now += refusal.retry_after;
                call(&mut key, tokens(90), now).expect("the wait that was asked for was kept");
            }
        }
    }
    assert_eq!(
        at_once, 7,
        "one minute's worth at once, then only by waiting"
    );
}

#[test]
fn refused_request_takes_nothing() {
    let now = Instant::now();
    let mut key = limits(10, 100, 10, now);
    let refusal = call(&mut key, tokens(101), now).unwrap_err();
    assert_eq!((refusal.kind, refusal.limit), (Kind::Tokens, 100));
    assert_eq!(remaining(&key, Kind::Requests), 10);
    assert_eq!(call(&mut key, tokens(100), now), Ok(()));
    let refusal = call(&mut key, tokens(50), now).unwrap_err();
    assert!((refusal.retry_after.as_secs_f64() - 30.0).abs() < 0.001);
    let refused: Vec<u64> = key.meters.iter().map(|meter| meter.refused.all).collect();
    assert_eq!(refused, [0, 2]);
}

#[test]
fn concurrency_counts_what_runs_now() {
    let now = Instant::now();
    let mut key = limits(10, 1_000, 2, now);
    assert_eq!(call(&mut key, tokens(1), now), Ok(()));
    assert_eq!(call(&mut key, tokens(1), now), Ok(()));
    let refusal = call(&mut key, tokens(1), now).unwrap_err();
    assert_eq!(refusal.kind, Kind::Concurrency);
    key.leave();
    assert_eq!(call(&mut key, tokens(1), now), Ok(()));
    assert_eq!((key.running.largest, key.running.refused.all), (2, 1));
}

#[test]
fn limit_of_zero_refuses_without_a_fault() {
    let now = Instant::now();
    let mut key = limits(0, 0, 1, now);
    let refusal = call(&mut key, tokens(1), now).unwrap_err();
    assert_eq!(refusal.retry_after, Duration::from_secs(60));
    assert_eq!(remaining(&key, Kind::Requests), 0);
}

#[test]
fn short_bucket_holds_seconds_and_still_gives_the_whole_minute() {
    let start = Instant::now();
    let options = SimOptions {
        bucket: Duration::from_secs(5),
        ..SimOptions::default()
    };
    let only = SimLimits {
        requests_per_minute: Some(600),
        ..SimLimits::default()
    };
    let mut key = Limits::new(only, &options, start);
    let at_once = (0..600).filter(|_| call(&mut key, tokens(1), start).is_ok());
    assert_eq!(at_once.count(), 50);
    // One every 100 ms from then on, for a minute.
    let then = (1..=600).map(|step| start + Duration::from_millis(step * 100 + 1));
    let then: Vec<Instant> = then.collect();
    assert!(
        then.into_iter()
            .all(|now| call(&mut key, tokens(1), now).is_ok())
    );
    assert_eq!(key.meters[0].windows.largest().0, [649, 99]);
}

#[test]
fn request_larger_than_the_bucket_waits_for_a_full_one_and_leaves_a_debt() {
    let start = Instant::now();
    let options = SimOptions {
        bucket: Duration::from_secs(5),
        ..SimOptions::default()
    };
    let only = SimLimits {
        tokens_per_minute: Some(1_200),
        ..SimLimits::default()
    };
    let mut key = Limits::new(only, &options, start);
    assert_eq!(call(&mut key, tokens(400), start), Ok(()));
    let wait = call(&mut key, tokens(400), start).unwrap_err().retry_after;
    assert!((wait.as_secs_f64() - 20.0).abs() < 0.001, "{wait:?}");
    assert_eq!(call(&mut key, tokens(400), start + wait), Ok(()));
    let never = call(&mut key, tokens(1_201), start + wait).unwrap_err();
    assert_eq!(never.retry_after, NEVER_WAIT);
}

#[test]
fn somebody_elses_use_slows_the_refill_and_shows() {
    let start = Instant::now();
    let options = SimOptions {
        foreign_use: 0.3,
        ..SimOptions::default()
    };
    let only = SimLimits {
        requests_per_minute: Some(60),
        ..SimLimits::default()
    };
    let mut key = Limits::new(only, &options, start);
    while call(&mut key, tokens(1), start).is_ok() {}
    let later = start + Duration::from_secs(10);
    assert_eq!(call(&mut key, tokens(1), later), Ok(()));
    assert_eq!(
        remaining(&key, Kind::Requests),
        6,
        "7 came back, one was taken"
    );
}

#[test]
fn output_in_debt_refuses_until_it_is_paid_off() {
    let start = Instant::now();
    let only = SimLimits {
        output_tokens_per_minute: Some(60),
        ..SimLimits::default()
    };
    let mut key = Limits::new(only, &SimOptions::default(), start);
    let charge = Charge {
        on_arrival: Amounts::default(),
        when_done: Amounts {
            tokens: 100,
            input: 0,
            output: 100,
        },
    };
    assert_eq!(call(&mut key, charge, start), Ok(()));
    assert_eq!(call(&mut key, charge, start), Ok(()), "nothing is produced");
    key.done(&charge, start);
    assert_eq!(remaining(&key, Kind::OutputTokens), 0);
    let wait = key.check(&charge, start).unwrap_err().retry_after;
    assert!((wait.as_secs_f64() - 41.0).abs() < 0.001, "{wait:?}");
    assert_eq!(key.check(&charge, start + wait), Ok(()));
}

#[test]
fn daily_limit_fills_over_the_day() {
    let start = Instant::now();
    let only = SimLimits {
        requests_per_day: Some(2),
        ..SimLimits::default()
    };
    let mut key = Limits::new(only, &SimOptions::default(), start);
    assert_eq!(call(&mut key, tokens(1), start), Ok(()));
    assert_eq!(call(&mut key, tokens(1), start), Ok(()));
    let refusal = call(&mut key, tokens(1), start).unwrap_err();
    assert_eq!(refusal.kind, Kind::RequestsPerDay);
    assert_eq!(refusal.retry_after.as_secs(), 43_200);
}

#[test]
fn mark_begins_the_counts_anew_and_keeps_the_old_ones() {
    let now = Instant::now();
    let mut key = limits(2, 100, 10, now);
    for _ in 0..3 {
        let _ = call(&mut key, tokens(10), now);
    }
    key.mark();
    let meter = &key.meters[0];
    assert_eq!((meter.charged.all, meter.charged.since_mark()), (2, 0));
    assert_eq!((meter.refused.all, meter.refused.since_mark()), (1, 0));
    assert_eq!(meter.windows.largest(), ([2, 2], [0, 0]));
}
