//! How delays grow and when the retry loop ends.
//! The clock is paused: no test really waits.

use super::*;

fn exact() -> Delays {
    Delays::new(DelayPolicy {
        initial: Duration::from_millis(100),
        factor: 2.0,
        cap: Duration::from_millis(350),
        jitter: 0.0,
        give_up_after: None,
    })
}

fn millis(delays: &mut Delays) -> u128 {
    delays.next_delay().unwrap().as_millis()
}

#[test]
fn delays_double_up_to_the_cap_and_start_again_after_reset() {
    let mut delays = exact();
    let drawn: Vec<u128> = (0..4).map(|_| millis(&mut delays)).collect();
    assert_eq!(drawn, [100, 200, 350, 350]);
    delays.reset();
    assert_eq!(millis(&mut delays), 100);
}

#[test]
fn jitter_stays_in_its_band_and_under_the_cap() {
    let policy = DelayPolicy {
        jitter: 0.5,
        cap: Duration::from_millis(120),
        ..policy_100ms()
    };
    let mut delays = Delays::new(policy);
    let first = millis(&mut delays);
    assert!((50..=120).contains(&first), "{first}");
    for _ in 0..100 {
        assert!(millis(&mut delays) <= 120);
    }
}

#[test]
fn patience_ends() {
    let policy = DelayPolicy {
        give_up_after: Some(Duration::ZERO),
        ..policy_100ms()
    };
    assert_eq!(Delays::new(policy).next_delay(), None);
}

fn policy_100ms() -> DelayPolicy {
    DelayPolicy {
        initial: Duration::from_millis(100),
        ..DelayPolicy::default()
    }
}

#[tokio::test(start_paused = true)]
async fn retry_goes_on_until_success_and_honours_the_longer_wait() {
    let start = Instant::now();
    let mut tries = 0;
    let outcome = retry(exact(), None, || {
        tries += 1;
        let result = match tries {
            1 => Err(Retry::Again("first")),
            2 => Err(Retry::After("second", Duration::from_secs(7))),
            _ => Ok(tries),
        };
        async move { result }
    })
    .await;
    assert_eq!(outcome, Ok(3));
    assert_eq!(start.elapsed(), Duration::from_millis(7_100));
}

#[tokio::test(start_paused = true)]
async fn retry_stops_at_once_when_told() {
    let mut tries = 0;
    let outcome: Result<(), _> = retry(exact(), None, || {
        tries += 1;
        async { Err(Retry::Stop("no")) }
    })
    .await;
    assert_eq!((outcome, tries), (Err("no"), 1));
}

#[tokio::test(start_paused = true)]
async fn retry_never_waits_past_the_deadline() {
    let start = Instant::now();
    let deadline = start + Duration::from_secs(1);
    let outcome: Result<(), _> = retry(exact(), Some(deadline), || async {
        Err(Retry::Again("busy"))
    })
    .await;
    assert_eq!(outcome, Err("busy"));
    assert!(start.elapsed() <= Duration::from_secs(1));
    let forever: Result<(), _> = retry(exact(), None, || async {
        Err(Retry::After("never", Duration::MAX))
    })
    .await;
    assert_eq!(forever, Err("never"));
}
