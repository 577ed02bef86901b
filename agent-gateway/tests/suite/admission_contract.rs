//! The contract of a limiter, kept by both back ends on a real clock. Limits
//! are chosen so that what must be there is there at once, and what must not
//! is seconds away.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_agent_gateway::admission::{
    Ask, Candidate, EmbeddedLimiter, KeyLimits, Limiter, RedisLimiter, Reservation, Verdict,
};
use agon_agent_gateway::keys::KeyId;

use crate::redis_server::RedisServer;
use crate::support::until;

macro_rules! contract {
    ($($claim:ident),* $(,)?) => {
        mod embedded {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(&super::EmbeddedLimiter::default()).await;
            })*
        }
        mod redis {
            $(#[tokio::test]
            async fn $claim() {
                let server = super::RedisServer::start().await;
                super::$claim(&super::RedisLimiter::new(server.connection().await)).await;
            })*
        }
    };
}

contract!(
    key_without_limits_carries_everything,
    requests_come_in_a_burst_of_one_second_and_then_wait,
    limits_are_taken_together_or_not_at_all,
    tokens_not_used_are_given_back_once,
    tokens_used_beyond_the_estimate_are_charged,
    places_are_given_back_when_settled,
    lost_attempt_frees_its_place_and_stays_charged,
    key_with_most_headroom_is_chosen,
    held_key_is_passed_over_and_holds_never_shorten,
    sustained_rate_stays_below_the_limit,
);

const POOL: &str = "pool";

fn candidate(key: &str, requests: u64, tokens: u64, places: u64) -> Candidate {
    let limit = |value: u64| (value > 0).then_some(value);
    let limits = KeyLimits {
        requests_per_minute: limit(requests),
        tokens_per_minute: limit(tokens),
        concurrency: limit(places),
        ..KeyLimits::default()
    };
    Candidate {
        key: KeyId::from(key),
        limits,
    }
}

async fn ask_lasting(
    limiter: &dyn Limiter,
    candidates: &[Candidate],
    tokens: u64,
    lasts: Duration,
) -> Verdict {
    static ATTEMPTS: AtomicU64 = AtomicU64::new(0);
    let attempt = ATTEMPTS.fetch_add(1, Ordering::Relaxed).to_string();
    let ask = Ask {
        attempt: &attempt,
        pool: POOL,
        candidates,
        tokens,
        lasts,
    };
    limiter.reserve(&ask).await.unwrap()
}

async fn ask(limiter: &dyn Limiter, candidates: &[Candidate], tokens: u64) -> Verdict {
    ask_lasting(limiter, candidates, tokens, Duration::from_secs(60)).await
}

async fn granted(limiter: &dyn Limiter, candidates: &[Candidate], tokens: u64) -> Reservation {
    match ask(limiter, candidates, tokens).await {
        Verdict::Granted(reservation) => reservation,
        Verdict::Wait(wait) => panic!("has to wait {wait:?}"),
    }
}

async fn wait(limiter: &dyn Limiter, candidates: &[Candidate], tokens: u64) -> Duration {
    match ask(limiter, candidates, tokens).await {
        Verdict::Wait(wait) => wait,
        Verdict::Granted(reservation) => panic!("was granted {reservation:?}"),
    }
}

async fn key_without_limits_carries_everything(limiter: &dyn Limiter) {
    let keys = [candidate("a", 0, 0, 0)];
    for _ in 0..200 {
        let reservation = granted(limiter, &keys, 1_000_000).await;
        assert_eq!(
            (reservation.pool.as_str(), reservation.tokens),
            (POOL, 1_000_000)
        );
    }
    let ids = [KeyId::from("a"), KeyId::from("never used")];
    let outlook = limiter.outlook(POOL, &ids).await.unwrap();
    assert_eq!((outlook[0].in_flight, outlook[1].in_flight), (200, 0));
}

async fn requests_come_in_a_burst_of_one_second_and_then_wait(limiter: &dyn Limiter) {
    let keys = [candidate("a", 6, 0, 0)];
    granted(limiter, &keys, 1).await;
    // One request per 12 s: (6 - 1) a minute.
    let told = wait(limiter, &keys, 1).await;
    assert!((10.0..=12.1).contains(&told.as_secs_f64()), "{told:?}");

    let keys = [candidate("b", 600, 0, 0)];
    let began = Instant::now();
    for _ in 0..10 {
        granted(limiter, &keys, 1).await;
    }
    // A slow machine may have refilled a little meanwhile; not the whole limit.
    while let Verdict::Granted(_) = ask(limiter, &keys, 1).await {
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}

async fn limits_are_taken_together_or_not_at_all(limiter: &dyn Limiter) {
    // Tokens for one call only, requests for two.
    let both = [candidate("a", 120, 6_000, 0)];
    granted(limiter, &both, 3_000).await;
    let told = wait(limiter, &both, 3_000).await;
    assert!(told > Duration::from_secs(20), "{told:?}");
    // The refused ask took no request: the second one is still there.
    let requests_only = [candidate("a", 120, 0, 0)];
    granted(limiter, &requests_only, 3_000).await;
    wait(limiter, &requests_only, 3_000).await;
}

async fn tokens_not_used_are_given_back_once(limiter: &dyn Limiter) {
    let keys = [candidate("a", 0, 6_000, 0)];
    let first = granted(limiter, &keys, 3_000).await;
    wait(limiter, &keys, 3_000).await;
    limiter.settle(&first, 0).await.unwrap();
    granted(limiter, &keys, 3_000).await;
    limiter.settle(&first, 0).await.unwrap();
    wait(limiter, &keys, 3_000).await;
}

async fn tokens_used_beyond_the_estimate_are_charged(limiter: &dyn Limiter) {
    let keys = [candidate("a", 0, 6_000, 0)];
    let first = granted(limiter, &keys, 10).await;
    limiter.settle(&first, 3_010).await.unwrap();
    let told = wait(limiter, &keys, 10).await;
    assert!(told > Duration::from_secs(20), "{told:?}");
}

async fn places_are_given_back_when_settled(limiter: &dyn Limiter) {
    let keys = [candidate("a", 0, 0, 2)];
    let first = granted(limiter, &keys, 1).await;
    granted(limiter, &keys, 1).await;
    let told = wait(limiter, &keys, 1).await;
    assert!(told <= Duration::from_secs(1), "{told:?}");
    limiter.settle(&first, 1).await.unwrap();
    granted(limiter, &keys, 1).await;
    limiter.settle(&first, 1).await.unwrap();
    wait(limiter, &keys, 1).await;
}

async fn lost_attempt_frees_its_place_and_stays_charged(limiter: &dyn Limiter) {
    let (one_place, tokens_too) = ([candidate("a", 0, 0, 1)], [candidate("a", 0, 6_000, 1)]);
    let lasts = Duration::from_millis(100);
    let lost = match ask_lasting(limiter, &tokens_too, 3_000, lasts).await {
        Verdict::Granted(reservation) => reservation,
        Verdict::Wait(wait) => panic!("has to wait {wait:?}"),
    };
    wait(limiter, &one_place, 1).await;
    until("the place is free", async || {
        matches!(ask(limiter, &one_place, 1).await, Verdict::Granted(_))
    })
    .await;
    // Its settlement comes too late.
    limiter.settle(&lost, 0).await.unwrap();
    let without_places = [candidate("a", 0, 6_000, 0)];
    let told = wait(limiter, &without_places, 3_000).await;
    assert!(told > Duration::from_secs(20), "{told:?}");
}

async fn key_with_most_headroom_is_chosen(limiter: &dyn Limiter) {
    let keys = [candidate("small", 0, 0, 2), candidate("large", 0, 0, 8)];
    let mut chosen = Vec::new();
    for _ in 0..10 {
        chosen.push(granted(limiter, &keys, 1).await.key.as_str().to_owned());
    }
    wait(limiter, &keys, 1).await;
    assert_eq!(chosen.iter().filter(|key| *key == "small").count(), 2);
    // Both fill up evenly instead of one after the other.
    assert!(chosen[..6].contains(&"small".to_owned()), "{chosen:?}");

    // Without limits the one that carries less.
    let free = [candidate("x", 0, 0, 0), candidate("y", 0, 0, 0)];
    let first = granted(limiter, &free, 1).await.key;
    let second = granted(limiter, &free, 1).await.key;
    assert_ne!(first, second);
}

async fn held_key_is_passed_over_and_holds_never_shorten(limiter: &dyn Limiter) {
    let keys = [candidate("a", 0, 0, 0), candidate("b", 0, 0, 0)];
    let (a, b) = (&keys[0].key, &keys[1].key);
    limiter
        .hold(POOL, a, Duration::from_secs(60))
        .await
        .unwrap();
    limiter.hold(POOL, a, Duration::from_secs(1)).await.unwrap();
    for _ in 0..3 {
        assert_eq!(granted(limiter, &keys, 1).await.key, *b);
    }
    limiter
        .hold(POOL, b, Duration::from_millis(200))
        .await
        .unwrap();
    let told = wait(limiter, &keys, 1).await;
    assert!(told <= Duration::from_millis(201), "{told:?}");
    let outlook = limiter
        .outlook(POOL, std::slice::from_ref(a))
        .await
        .unwrap();
    assert!(outlook[0].held_for > Duration::from_secs(50), "{outlook:?}");
    until("the shorter hold is over", async || {
        matches!(ask(limiter, &keys, 1).await, Verdict::Granted(_))
    })
    .await;
}

async fn sustained_rate_stays_below_the_limit(limiter: &dyn Limiter) {
    let keys = [candidate("a", 3_000, 0, 0)];
    let (began, mut count) = (Instant::now(), 0_u32);
    while began.elapsed() < Duration::from_millis(1_500) {
        match ask(limiter, &keys, 1).await {
            Verdict::Granted(reservation) => {
                count += 1;
                limiter.settle(&reservation, 1).await.unwrap();
            }
            Verdict::Wait(wait) => tokio::time::sleep(wait).await,
        }
    }
    // A second's worth at once, then (3000 - 50) a minute.
    let most = 50.0 + began.elapsed().as_secs_f64() * 2_950.0 / 60.0 + 1.0;
    assert!(f64::from(count) <= most, "{count} of {most}");
    assert!(count >= 80, "{count}");
}
