//! The contract of the limiter in memory, in a file and in Redis, on a real clock, and what several
//! processes keep together. Limits are chosen so that what must be there is there at once, and what must not
//! is seconds away.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_agent_gateway::admission::{
    Ask, Batch, Candidate, Charge, KeyLimits, Limiter, Reservation, Share, Verdict,
};
use agon_agent_gateway::keys::KeyId;
use agon_agent_gateway::limits::{Room, Signals};
use agon_agent_gateway::peers::Peers;
use agon_service_kit::folder::Folder;

use crate::redis_server::RedisServer;
use crate::support::until;

macro_rules! contract {
    ($($claim:ident),* $(,)?) => {
        mod in_memory {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(&super::Limiter::default()).await;
            })*
        }
        mod in_file {
            $(#[tokio::test]
            async fn $claim() {
                let folder = tempfile::tempdir().unwrap();
                super::$claim(&super::process(folder.path(), "only")).await;
            })*
        }
        mod in_redis {
            $(#[tokio::test]
            async fn $claim() {
                let server = super::RedisServer::start().await;
                super::$claim(&super::replica(&server, "only").await).await;
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
    heads_are_granted_in_order_and_nobody_passes,
    key_tried_in_vain_is_not_chosen_again,
    no_more_is_given_to_a_key_than_its_room,
    input_and_output_have_limits_of_their_own,
    limit_of_a_model_leaves_other_models_alone,
    limit_over_all_models_is_shared_by_them,
    requests_of_a_day_are_counted,
    call_that_was_not_made_gives_back_everything,
    call_that_was_made_keeps_its_request,
    hold_of_one_model_leaves_the_others_alone,
    what_the_provider_shows_lowers_and_never_raises,
    lost_attempt_is_charged_with_the_most,
    call_above_a_limit_takes_one_minute_of_it_at_most,
    call_above_a_limit_gathers_no_more_than_a_burst,
    use_is_shown,
    teams_keep_their_shares_over_several_askers,
    large_charge_is_not_starved_by_small_ones,
    ask_whose_answer_was_lost_takes_nothing_twice,
    places_of_a_model_are_counted_before_they_are_limited,
);

/// The limiter of one of several processes on one folder.
fn process(folder: &Path, name: &str) -> Limiter {
    let peers = Peers::enter(&Folder::create(folder).unwrap(), name).unwrap();
    Limiter::in_file(&folder.join("limits.sqlite"), Arc::new(peers)).unwrap()
}

/// The limiter of one of several replicas on one Redis.
async fn replica(server: &RedisServer, name: &str) -> Limiter {
    Limiter::in_redis(server.connection().await, name)
}

#[tokio::test]
async fn processes_keep_the_limits_of_a_key_together() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (process(folder.path(), "one"), process(folder.path(), "two"));
    let keys = [candidate("a", 600, 0, 0)];
    // Ten in a burst, whoever takes them, and then ten a second.
    let (began, mut taken, mut refused_in_a_row) = (Instant::now(), 0_u64, 0);
    for limiter in [&two, &one, &one].into_iter().cycle() {
        match ask(limiter, &keys, 1).await {
            Ok(_) => (taken, refused_in_a_row) = (taken + 1, 0),
            Err(_) => refused_in_a_row += 1,
        }
        if refused_in_a_row == 3 {
            break;
        }
    }
    let most = 11.0 + began.elapsed().as_secs_f64() * 10.0;
    assert!(taken >= 10 && taken as f64 <= most, "{taken} of {most}");
    let seen = two.outlook(POOL, LANE, &keys).await.unwrap();
    assert_eq!(seen[0].in_flight, taken);
    assert_use(seen[0].key_wide[0].used, taken, began);
}

#[tokio::test]
async fn place_that_one_process_gives_back_is_taken_by_another_soon() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (process(folder.path(), "one"), process(folder.path(), "two"));
    let keys = [candidate("a", 0, 0, 1)];
    let held = ask_one(&one, &keys, call(1)).await.unwrap();
    let denied = ask_one(&two, &keys, call(1)).await.unwrap_err();
    assert!(denied <= Duration::from_millis(50), "{denied:?}");
    settle(&one, &held, 1).await;
    ask_one(&two, &keys, call(1)).await.unwrap();
}

#[tokio::test]
async fn places_of_a_dead_process_are_free_and_its_calls_charged_with_the_most() {
    let folder = tempfile::tempdir().unwrap();
    let (dead, alive) = (
        process(folder.path(), "dead"),
        process(folder.path(), "alive"),
    );
    // A burst of 100 tokens, and one place.
    let keys = [candidate("a", 0, 6_000, 1)];
    let began = Instant::now();
    let ask = Ask {
        most: charge(3_000),
        ..call(10)
    };
    let _lost = ask_one(&dead, &keys, ask).await.unwrap();
    wait(&alive, &keys, 1).await;
    drop(dead);
    let after = alive.outlook(POOL, LANE, &keys).await.unwrap();
    assert_eq!(after[0].in_flight, 0);
    assert_use(after[0].key_wide[1].used, 3_000, began);
}

#[tokio::test]
async fn replicas_that_ask_at_once_take_a_limit_once() {
    let server = RedisServer::start().await;
    let replicas = [
        Arc::new(replica(&server, "one").await),
        Arc::new(replica(&server, "two").await),
        Arc::new(replica(&server, "three").await),
    ];
    // A burst of a second: 100 requests of 6,000 a minute, and some more while it is asked for.
    let keys = Arc::new([candidate("a", 6_000, 0, 0)]);
    let began = Instant::now();
    let asks = (0..600).map(|index| {
        let (limiter, keys) = (Arc::clone(&replicas[index % 3]), Arc::clone(&keys));
        tokio::spawn(async move {
            let held = ask(&limiter, &keys[..], 1).await.ok()?;
            Some((limiter, held))
        })
    });
    let held = futures_util::future::join_all(asks).await;
    let held: Vec<_> = held.into_iter().filter_map(Result::unwrap).collect();
    let most = 100.0 + began.elapsed().as_secs_f64() * 100.0 + 1.0;
    assert!(
        held.len() >= 100 && held.len() as f64 <= most,
        "{} of {most}",
        held.len()
    );
    let seen = replicas[0].outlook(POOL, LANE, &keys[..]).await.unwrap();
    let all = held.len() as u64;
    assert_eq!(seen[0].in_flight, all);
    assert_use(seen[0].key_wide[0].used, all, began);
    // Those that settle at once share their trips to the store.
    let settled = held.iter().map(|(limiter, held)| settle(limiter, held, 0));
    futures_util::future::join_all(settled).await;
    let seen = replicas[0].outlook(POOL, LANE, &keys[..]).await.unwrap();
    assert_eq!((seen[0].in_flight, seen[0].key_wide[1].used), (0, 0));
}

#[tokio::test]
async fn calls_of_a_dead_replica_are_charged_with_the_most_when_they_must_be_over() {
    let server = RedisServer::start().await;
    let (dead, alive) = (
        replica(&server, "dead").await,
        replica(&server, "alive").await,
    );
    let keys = [candidate("a", 0, 6_000, 1)];
    let ask = Ask {
        most: charge(3_000),
        lasts: Duration::from_millis(300),
        ..call(10)
    };
    let _lost = ask_one(&dead, &keys, ask).await.unwrap();
    wait(&alive, &keys, 1).await;
    drop(dead);
    until("the place is free and the most is charged", async || {
        let seen = alive.outlook(POOL, LANE, &keys).await.unwrap();
        (seen[0].in_flight, seen[0].key_wide[1].used) == (0, 3_000)
    })
    .await;
}

#[tokio::test]
async fn requests_of_the_day_outlive_their_process() {
    let folder = tempfile::tempdir().unwrap();
    let limits = KeyLimits {
        requests_per_day: Some(2),
        ..KeyLimits::default()
    };
    let keys = [with_limits("a", limits, KeyLimits::default())];
    for name in ["first", "second"] {
        let limiter = process(folder.path(), name);
        let held = ask_one(&limiter, &keys, call(1)).await.unwrap();
        settle(&limiter, &held, 1).await;
    }
    wait(&process(folder.path(), "third"), &keys, 1).await;
}

const POOL: &str = "pool";
const LANE: &str = "model";

fn candidate(key: &str, requests: u64, tokens: u64, places: u64) -> Candidate {
    let limit = |value: u64| (value > 0).then_some(value);
    let limits = KeyLimits {
        requests_per_minute: limit(requests),
        tokens_per_minute: limit(tokens),
        concurrency: limit(places),
        ..KeyLimits::default()
    };
    with_limits(key, limits, KeyLimits::default())
}

fn with_limits(key: &str, limits: KeyLimits, lane_limits: KeyLimits) -> Candidate {
    Candidate {
        key: KeyId::from(key),
        limits,
        lane_limits,
        room: None,
    }
}

fn charge(tokens: u64) -> Charge {
    Charge {
        requests: 1,
        tokens,
        ..Charge::default()
    }
}

fn call(tokens: u64) -> Ask {
    static ATTEMPTS: AtomicU64 = AtomicU64::new(0);
    Ask {
        attempt: ATTEMPTS.fetch_add(1, Ordering::Relaxed).to_string(),
        charge: charge(tokens),
        most: charge(tokens),
        lasts: Duration::from_secs(60),
        share: Share {
            team: "team".to_owned(),
            weight: 1.0,
            cost: tokens,
        },
        except: Vec::new(),
    }
}

/// Asks as one asker in one lane.
async fn submit(
    limiter: &Limiter,
    (lane, asker): (&str, &str),
    candidates: &[Candidate],
    asks: &[Ask],
) -> Verdict {
    let mut waiting: Vec<(String, f64)> = asks
        .iter()
        .map(|ask| (ask.share.team.clone(), ask.share.weight))
        .collect();
    waiting.dedup();
    let batch = Batch {
        pool: POOL,
        lane,
        asker,
        burst: Duration::from_secs(1),
        candidates,
        asks,
        waiting: &waiting,
    };
    limiter.reserve(&batch).await.unwrap()
}

async fn settle(limiter: &Limiter, reservation: &Reservation, tokens: u64) {
    limiter
        .settle(reservation, &charge(tokens), tokens, &Signals::default())
        .await
        .unwrap();
}

/// One ask: what was granted, or how long to wait.
async fn ask_one(
    limiter: &Limiter,
    candidates: &[Candidate],
    ask: Ask,
) -> Result<Reservation, Duration> {
    let verdict = submit(limiter, (LANE, "asker"), candidates, &[ask]).await;
    verdict
        .granted
        .into_iter()
        .next()
        .flatten()
        .ok_or(verdict.wait)
}

async fn ask(
    limiter: &Limiter,
    candidates: &[Candidate],
    tokens: u64,
) -> Result<Reservation, Duration> {
    ask_one(limiter, candidates, call(tokens)).await
}

async fn granted(limiter: &Limiter, candidates: &[Candidate], tokens: u64) -> Reservation {
    match ask(limiter, candidates, tokens).await {
        Ok(reservation) => reservation,
        Err(wait) => panic!("has to wait {wait:?}"),
    }
}

async fn wait(limiter: &Limiter, candidates: &[Candidate], tokens: u64) -> Duration {
    match ask(limiter, candidates, tokens).await {
        Err(wait) => wait,
        Ok(reservation) => panic!("was granted {reservation:?}"),
    }
}

/// Asserts what is shown as used in the last minute, where everything was taken since `began`: once the
/// clock begins another minute, what was taken before fades evenly.
#[track_caller]
fn assert_use(shown: u64, taken: u64, began: Instant) {
    let passed = began.elapsed().as_secs_f64() / 60.0;
    let least = (taken as f64 * (1.0 - passed)).round() as u64;
    assert!((least..=taken).contains(&shown), "{shown} of {taken}");
}

async fn key_without_limits_carries_everything(limiter: &Limiter) {
    let keys = [candidate("a", 0, 0, 0)];
    for _ in 0..200 {
        let reservation = granted(limiter, &keys, 1_000_000).await;
        assert_eq!(
            (reservation.pool.as_str(), reservation.charge.tokens),
            (POOL, 1_000_000)
        );
    }
    let both = [keys[0].clone(), candidate("never used", 0, 0, 0)];
    let outlook = limiter.outlook(POOL, LANE, &both).await.unwrap();
    assert_eq!((outlook[0].in_flight, outlook[1].in_flight), (200, 0));
}

async fn requests_come_in_a_burst_of_one_second_and_then_wait(limiter: &Limiter) {
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
    while ask(limiter, &keys, 1).await.is_ok() {
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}

async fn limits_are_taken_together_or_not_at_all(limiter: &Limiter) {
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

async fn tokens_not_used_are_given_back_once(limiter: &Limiter) {
    let keys = [candidate("a", 0, 6_000, 0)];
    let first = granted(limiter, &keys, 3_000).await;
    wait(limiter, &keys, 3_000).await;
    settle(limiter, &first, 0).await;
    granted(limiter, &keys, 3_000).await;
    settle(limiter, &first, 0).await;
    wait(limiter, &keys, 3_000).await;
}

async fn tokens_used_beyond_the_estimate_are_charged(limiter: &Limiter) {
    let keys = [candidate("a", 0, 6_000, 0)];
    let first = granted(limiter, &keys, 10).await;
    settle(limiter, &first, 3_010).await;
    let told = wait(limiter, &keys, 10).await;
    assert!(told > Duration::from_secs(20), "{told:?}");
}

async fn places_are_given_back_when_settled(limiter: &Limiter) {
    let keys = [candidate("a", 0, 0, 2)];
    let first = granted(limiter, &keys, 1).await;
    granted(limiter, &keys, 1).await;
    let told = wait(limiter, &keys, 1).await;
    assert!(told <= Duration::from_secs(1), "{told:?}");
    settle(limiter, &first, 1).await;
    granted(limiter, &keys, 1).await;
    settle(limiter, &first, 1).await;
    wait(limiter, &keys, 1).await;
}

async fn lost_attempt_frees_its_place_and_stays_charged(limiter: &Limiter) {
    let (one_place, tokens_too) = ([candidate("a", 0, 0, 1)], [candidate("a", 0, 6_000, 1)]);
    let lasts = Duration::from_secs(1);
    let short = Ask {
        lasts,
        ..call(3_000)
    };
    let lost = ask_one(limiter, &tokens_too, short).await.unwrap();
    wait(limiter, &one_place, 1).await;
    until("the place is free", async || {
        ask(limiter, &one_place, 1).await.is_ok()
    })
    .await;
    // Its settlement comes too late.
    settle(limiter, &lost, 0).await;
    let without_places = [candidate("a", 0, 6_000, 0)];
    let told = wait(limiter, &without_places, 3_000).await;
    assert!(told > Duration::from_secs(20), "{told:?}");
}

async fn key_with_most_headroom_is_chosen(limiter: &Limiter) {
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

async fn held_key_is_passed_over_and_holds_never_shorten(limiter: &Limiter) {
    let keys = [candidate("a", 0, 0, 0), candidate("b", 0, 0, 0)];
    let (a, b) = (&keys[0].key, &keys[1].key);
    limiter
        .hold(POOL, LANE, a, Duration::from_secs(60))
        .await
        .unwrap();
    limiter
        .hold(POOL, LANE, a, Duration::from_secs(1))
        .await
        .unwrap();
    for _ in 0..3 {
        assert_eq!(granted(limiter, &keys, 1).await.key, *b);
    }
    limiter
        .hold(POOL, LANE, b, Duration::from_millis(1_500))
        .await
        .unwrap();
    let told = wait(limiter, &keys, 1).await;
    assert!(told <= Duration::from_millis(1_501), "{told:?}");
    let outlook = limiter.outlook(POOL, LANE, &keys[..1]).await.unwrap();
    assert!(outlook[0].held_for > Duration::from_secs(50), "{outlook:?}");
    until("the shorter hold is over", async || {
        ask(limiter, &keys, 1).await.is_ok()
    })
    .await;
}

async fn sustained_rate_stays_below_the_limit(limiter: &Limiter) {
    let keys = [candidate("a", 600, 0, 0)];
    let (began, mut count) = (Instant::now(), 0_u32);
    while began.elapsed() < Duration::from_millis(1_500) {
        match ask(limiter, &keys, 1).await {
            Ok(reservation) => {
                count += 1;
                settle(limiter, &reservation, 1).await;
            }
            Err(wait) => tokio::time::sleep(wait).await,
        }
    }
    // A second's worth at once, then (600 - 10) a minute.
    let most = 10.0 + began.elapsed().as_secs_f64() * 590.0 / 60.0 + 1.0;
    assert!(f64::from(count) <= most, "{count} of {most}");
    assert!(count >= 20, "{count}");
}

/// Which asks of a batch were granted.
fn served(verdict: &Verdict) -> Vec<bool> {
    verdict.granted.iter().map(Option::is_some).collect()
}

async fn heads_are_granted_in_order_and_nobody_passes(limiter: &Limiter) {
    let keys = [candidate("a", 0, 60_000, 0)];
    // A second's worth is 1000 tokens: the third does not fit, the fourth would.
    let asks = [call(400), call(400), call(400), call(10)];
    let verdict = submit(limiter, (LANE, "asker"), &keys, &asks).await;
    assert_eq!(served(&verdict), [true, true, false, false]);
    assert!(verdict.wait > Duration::ZERO && verdict.wait < Duration::from_secs(1));
}

async fn key_tried_in_vain_is_not_chosen_again(limiter: &Limiter) {
    let keys = [candidate("a", 0, 0, 1), candidate("b", 0, 0, 9)];
    let not_b = Ask {
        except: vec![KeyId::from("b")],
        ..call(1)
    };
    assert_eq!(
        ask_one(limiter, &keys, not_b.clone()).await.unwrap().key,
        keys[0].key
    );
    // Who may not use the free key does not hold up who may.
    let again = Ask {
        attempt: "again".to_owned(),
        ..not_b
    };
    let verdict = submit(limiter, (LANE, "asker"), &keys, &[again, call(1)]).await;
    assert_eq!(served(&verdict), [false, true]);
}

async fn no_more_is_given_to_a_key_than_its_room(limiter: &Limiter) {
    let keys = [Candidate {
        room: Some(2),
        ..candidate("a", 0, 0, 0)
    }];
    let asks = [call(1), call(1), call(1)];
    let verdict = submit(limiter, (LANE, "asker"), &keys, &asks).await;
    assert_eq!(served(&verdict), [true, true, false]);
}

async fn input_and_output_have_limits_of_their_own(limiter: &Limiter) {
    let limits = KeyLimits {
        input_tokens_per_minute: Some(600_000),
        output_tokens_per_minute: Some(6_000),
        ..KeyLimits::default()
    };
    let keys = [with_limits("a", KeyLimits::default(), limits)];
    let talkative = |input, output| Ask {
        charge: Charge {
            requests: 1,
            tokens: input + output,
            input_tokens: input,
            output_tokens: output,
        },
        ..call(0)
    };
    let first = ask_one(limiter, &keys, talkative(100, 3_000))
        .await
        .unwrap();
    let wait = ask_one(limiter, &keys, talkative(100, 3_000))
        .await
        .unwrap_err();
    assert!(wait > Duration::from_secs(20), "{wait:?}");
    let used = Charge {
        requests: 1,
        tokens: 110,
        input_tokens: 100,
        output_tokens: 10,
    };
    limiter
        .settle(&first, &used, 110, &Signals::default())
        .await
        .unwrap();
    ask_one(limiter, &keys, talkative(100, 2_900))
        .await
        .unwrap();
}

fn requests_per_minute(limit: u64) -> KeyLimits {
    KeyLimits {
        requests_per_minute: Some(limit),
        ..KeyLimits::default()
    }
}

async fn limit_of_a_model_leaves_other_models_alone(limiter: &Limiter) {
    let keys = [with_limits(
        "a",
        KeyLimits::default(),
        requests_per_minute(6),
    )];
    for (lane, granted) in [("m", true), ("m", false), ("n", true), ("n", false)] {
        let verdict = submit(limiter, (lane, "asker"), &keys, &[call(1)]).await;
        assert_eq!(served(&verdict), [granted], "{lane}");
    }
}

async fn limit_over_all_models_is_shared_by_them(limiter: &Limiter) {
    let keys = [with_limits(
        "a",
        requests_per_minute(6),
        KeyLimits::default(),
    )];
    let first = submit(limiter, ("m", "one"), &keys, &[call(1)]).await;
    let second = submit(limiter, ("n", "two"), &keys, &[call(1)]).await;
    assert_eq!((served(&first), served(&second)), (vec![true], vec![false]));
}

async fn requests_of_a_day_are_counted(limiter: &Limiter) {
    let limits = KeyLimits {
        requests_per_day: Some(3),
        ..KeyLimits::default()
    };
    let keys = [with_limits("a", KeyLimits::default(), limits)];
    for _ in 0..3 {
        granted(limiter, &keys, 1).await;
    }
    let told = wait(limiter, &keys, 1).await;
    assert!(told > Duration::from_secs(23 * 3_600), "{told:?}");
    let outlook = limiter.outlook(POOL, LANE, &keys).await.unwrap();
    assert_eq!(outlook[0].requests_of_day[1], 3);
}

async fn call_that_was_not_made_gives_back_everything(limiter: &Limiter) {
    let limits = KeyLimits {
        requests_per_day: Some(1),
        concurrency: Some(1),
        tokens_per_minute: Some(60),
        ..requests_per_minute(6)
    };
    let keys = [with_limits("a", limits, limits)];
    for _ in 0..3 {
        let unused = granted(limiter, &keys, 1).await;
        limiter
            .settle(&unused, &Charge::default(), 0, &Signals::default())
            .await
            .unwrap();
        let outlook = limiter.outlook(POOL, LANE, &keys).await.unwrap();
        assert_eq!(outlook[0].requests_of_day, [0, 0]);
        assert_eq!(outlook[0].key_wide[0].used, 0);
    }
}

async fn call_that_was_made_keeps_its_request(limiter: &Limiter) {
    let keys = [with_limits(
        "a",
        requests_per_minute(6),
        requests_per_minute(6),
    )];
    let made = granted(limiter, &keys, 5).await;
    limiter
        .settle(&made, &charge(0), 0, &Signals::default())
        .await
        .unwrap();
    let told = wait(limiter, &keys, 5).await;
    assert!(told > Duration::from_secs(5), "{told:?}");
    let outlook = limiter.outlook(POOL, LANE, &keys).await.unwrap();
    assert_eq!(outlook[0].requests_of_day, [1, 1]);
}

async fn hold_of_one_model_leaves_the_others_alone(limiter: &Limiter) {
    let keys = [candidate("a", 600, 0, 0)];
    let minute = Duration::from_secs(60);
    limiter
        .hold(POOL, "stormy", &keys[0].key, minute)
        .await
        .unwrap();
    let verdict = submit(limiter, ("stormy", "asker"), &keys, &[call(1)]).await;
    assert_eq!(served(&verdict), [false]);
    assert!(verdict.wait > Duration::from_secs(50), "{:?}", verdict.wait);
    let verdict = submit(limiter, ("calm", "asker"), &keys, &[call(1)]).await;
    assert_eq!(served(&verdict), [true]);
}

fn shown(limit: u64, remaining: u64) -> Signals {
    Signals {
        requests: Room {
            limit: Some(limit),
            remaining: Some(remaining),
            reset: None,
        },
        ..Signals::default()
    }
}

async fn what_the_provider_shows_lowers_and_never_raises(limiter: &Limiter) {
    let keys = [with_limits(
        "a",
        KeyLimits::default(),
        requests_per_minute(6_000),
    )];
    let first = granted(limiter, &keys, 1).await;
    let used = charge(1);
    limiter
        .settle(&first, &used, 1, &shown(60_000, 50_000))
        .await
        .unwrap();
    let outlook = limiter.outlook(POOL, LANE, &keys).await.unwrap();
    assert_eq!(outlook[0].in_lane[0].limit, Some(6_000));
    let second = granted(limiter, &keys, 1).await;
    limiter
        .settle(&second, &used, 1, &shown(6, 0))
        .await
        .unwrap();
    let outlook = limiter.outlook(POOL, LANE, &keys).await.unwrap();
    assert_eq!(
        (outlook[0].in_lane[0].limit, outlook[0].in_lane[0].lowered),
        (Some(6), true)
    );
    let told = wait(limiter, &keys, 1).await;
    assert!(told > Duration::from_secs(5), "{told:?}");

    // Where nothing was configured the headers are all there is.
    let free = [candidate("b", 0, 0, 0)];
    let first = granted(limiter, &free, 1).await;
    limiter
        .settle(&first, &used, 1, &shown(6, 0))
        .await
        .unwrap();
    wait(limiter, &free, 1).await;
}

async fn lost_attempt_is_charged_with_the_most(limiter: &Limiter) {
    let keys = [candidate("a", 0, 6_000, 1)];
    let short = Ask {
        most: charge(3_000),
        lasts: Duration::from_millis(100),
        ..call(10)
    };
    ask_one(limiter, &keys, short).await.unwrap();
    until("the attempt is found lost", async || {
        wait(limiter, &keys, 10).await > Duration::from_secs(20)
    })
    .await;
}

async fn call_above_a_limit_takes_one_minute_of_it_at_most(limiter: &Limiter) {
    const HUGE: u64 = 100_000_000;
    let of_model = KeyLimits {
        tokens_per_minute: Some(3_000),
        ..KeyLimits::default()
    };
    let limits = KeyLimits {
        tokens_per_minute: Some(6_000),
        ..KeyLimits::default()
    };
    let keys = [with_limits("a", limits, of_model)];
    let began = Instant::now();
    let huge = granted(limiter, &keys, HUGE).await;
    let told = wait(limiter, &keys, 10).await;
    assert!(told < Duration::from_secs(65), "{told:?}");
    let outlook = limiter.outlook(POOL, LANE, &keys).await.unwrap();
    assert_use(outlook[0].key_wide[1].used, 6_000, began);
    assert_use(outlook[0].in_lane[1].used, 3_000, began);
    // It was answered, or perhaps.
    settle(limiter, &huge, HUGE).await;
    let told = wait(limiter, &keys, 10).await;
    assert!(told < Duration::from_secs(65), "{told:?}");

    let other = [with_limits("b", limits, of_model)];
    let refused = granted(limiter, &other, HUGE).await;
    settle(limiter, &refused, 10).await;
    granted(limiter, &other, 1_000).await;
    wait(limiter, &other, 1_400).await;
}

async fn call_above_a_limit_gathers_no_more_than_a_burst(limiter: &Limiter) {
    let keys = [candidate("a", 0, 6_000, 0)];
    granted(limiter, &keys, 3_000).await;
    let told = wait(limiter, &keys, 100_000_000).await;
    assert!(told < Duration::from_secs(3), "{told:?}");
}

async fn use_is_shown(limiter: &Limiter) {
    let keys = [with_limits(
        "a",
        requests_per_minute(6_000),
        KeyLimits::default(),
    )];
    let began = Instant::now();
    let first = granted(limiter, &keys, 50).await;
    granted(limiter, &keys, 50).await;
    settle(limiter, &first, 20).await;
    let outlook = limiter.outlook(POOL, LANE, &keys).await.unwrap();
    assert_eq!(outlook[0].in_flight, 1);
    // Where a limit stands, or none does: what was taken is known.
    for (limit, taken) in outlook[0].key_wide.iter().zip([2, 70, 0, 0]) {
        assert_use(limit.used, taken, began);
    }
    assert_eq!(outlook[0].key_wide[0].limit, Some(6_000));
}

async fn teams_keep_their_shares_over_several_askers(limiter: &Limiter) {
    let keys = [candidate("a", 3_000, 0, 0)];
    let ask_of = |team: &str, weight: f64| Ask {
        share: Share {
            team: team.to_owned(),
            weight,
            cost: 10,
        },
        ..call(10)
    };
    // The first hundred include the burst, for which nobody waits.
    let (mut all, mut counts) = (0_u32, [0_u32; 2]);
    // The light team asks first each time and would take everything.
    while all < 300 {
        for (index, (team, weight)) in [("light", 1.0), ("heavy", 3.0)].into_iter().enumerate() {
            let asks: Vec<_> = (0..20).map(|_| ask_of(team, weight)).collect();
            let verdict = submit(limiter, (LANE, team), &keys, &asks).await;
            let granted: Vec<_> = verdict.granted.iter().flatten().collect();
            for _ in &granted {
                all += 1;
                counts[index] += u32::from(all > 100);
            }
            let settled = granted.iter().map(|held| settle(limiter, held, 10));
            futures_util::future::join_all(settled).await;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let share = f64::from(counts[1]) / f64::from(counts[0] + counts[1]);
    assert!((0.70..=0.80).contains(&share), "{counts:?}");
}

async fn large_charge_is_not_starved_by_small_ones(limiter: &Limiter) {
    let keys = [candidate("a", 0, 60_000, 0)];
    let began = Instant::now();
    let mut large_served = false;
    while !large_served {
        // Small ones of the same team, from another asker, whenever they fit.
        submit(limiter, (LANE, "small"), &keys, &[call(200)]).await;
        let verdict = submit(limiter, (LANE, "large"), &keys, &[call(2_500)]).await;
        large_served = served(&verdict)[0];
        assert!(began.elapsed() < Duration::from_secs(15), "starved");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn ask_whose_answer_was_lost_takes_nothing_twice(limiter: &Limiter) {
    let keys = [candidate("a", 0, 6_000, 1), candidate("b", 0, 0, 1)];
    let first = Ask {
        except: vec![KeyId::from("b")],
        ..call(3_000)
    };
    let granted_first = ask_one(limiter, &keys, first.clone()).await.unwrap();
    assert_eq!(
        ask_one(limiter, &keys, first).await,
        Ok(granted_first.clone())
    );
    settle(limiter, &granted_first, 0).await;
    // The place and the tokens were taken once, hence they are free again.
    let other = Ask {
        except: vec![KeyId::from("b")],
        ..call(3_000)
    };
    ask_one(limiter, &keys, other).await.unwrap();
}

async fn places_of_a_model_are_counted_before_they_are_limited(limiter: &Limiter) {
    let free = [candidate("a", 0, 0, 0)];
    granted(limiter, &free, 1).await;
    let one_place = KeyLimits {
        concurrency: Some(1),
        requests_per_day: Some(9),
        ..KeyLimits::default()
    };
    let limited = [with_limits("a", KeyLimits::default(), one_place)];
    wait(limiter, &limited, 1).await;
    let outlook = limiter.outlook(POOL, LANE, &limited).await.unwrap();
    assert_eq!(outlook[0].requests_of_day, [1, 1]);
}
