//! The contract of a store about sessions that follow each other, on both back ends: who is leased
//! when, what a session is handed, and what becomes of those behind one that was set aside.

use agon_coordinator::store::{
    Completion, Failure, Granted, LeaseKey, MOST_CRASHES, MOST_LOSSES_ALONE, Progress,
    SessionResult, Store,
};

use crate::benches::{Bench, LONG, contract, experiment, series};

contract! {
    session_is_leased_once_the_one_before_it_is_done_and_handed_its_record,
    series_run_side_by_side,
    session_set_aside_stops_those_behind_it_until_it_is_retried,
    session_that_dies_stops_those_behind_it_however_it_died,
    late_result_of_a_dead_session_goes_on_with_its_series,
    session_given_back_or_lost_keeps_the_next_one_waiting,
    cancelled_series_goes_on_where_it_stopped_when_it_is_handed_in_again,
    longer_series_goes_on_after_what_is_done_and_a_shorter_one_forgets_the_rest,
    series_handed_in_behind_a_dead_session_is_stopped,
    series_survives_a_crash,
}

const SERIES: [&str; 4] = ["s0", "s1", "s2", "s3"];

async fn lease(store: &dyn Store) -> Vec<Granted> {
    store.lease("w", 99, LONG).await.unwrap()
}

fn names(granted: &[Granted]) -> Vec<&str> {
    let names = granted.iter();
    names.map(|granted| granted.key.session.as_str()).collect()
}

/// Leases what there is, which is this one session.
async fn only(store: &dyn Store, session: &str) -> Granted {
    let granted = lease(store).await;
    assert_eq!(names(&granted), [session]);
    granted.into_iter().next().unwrap()
}

fn record(session: &str) -> SessionResult {
    SessionResult {
        record: format!("record of {session}").into_bytes(),
        telemetry: b"{}".to_vec(),
    }
}

async fn complete(store: &dyn Store, key: &LeaseKey) {
    let completion = store.complete(key, record(&key.session)).await.unwrap();
    assert_eq!(completion, Completion::First, "{key:?}");
}

async fn progress(store: &dyn Store) -> Progress {
    store.progress("x").await.unwrap().unwrap()
}

/// Queued, running, done, waiting, stopped.
async fn counts(store: &dyn Store) -> (u64, u64, u64, u64, u64) {
    let told = progress(store).await;
    let aside = (told.parked.len() + told.dead.len()) as u64;
    let counted = [
        told.queued,
        told.running,
        told.done,
        told.waiting,
        told.stopped,
    ];
    if !told.cancelled {
        assert_eq!(told.sessions, counted.iter().sum::<u64>() + aside);
    }
    let [queued, running, done, waiting, stopped] = counted;
    (queued, running, done, waiting, stopped)
}

async fn session_is_leased_once_the_one_before_it_is_done_and_handed_its_record(bench: Bench) {
    let store = bench.store();
    store.submit(series("red", "x", &SERIES)).await.unwrap();
    assert_eq!(counts(store).await, (1, 0, 0, 3, 0));
    let mut before = None;
    for (done, session) in (0..).zip(SERIES) {
        let granted = only(store, session).await;
        assert_eq!(granted.before, before, "{session}");
        assert_eq!(counts(store).await, (0, 1, done, 3 - done, 0));
        assert!(!progress(store).await.is_over());
        complete(store, &granted.key).await;
        before = Some(record(session).record);
    }
    assert_eq!(counts(store).await, (0, 0, 4, 0, 0));
    assert!(progress(store).await.is_over());
    let results = store.results("x", None, 9).await.unwrap();
    assert!(results.iter().map(|one| one.session.as_str()).eq(SERIES));
}

async fn series_run_side_by_side(bench: Bench) {
    let store = bench.store();
    let mut two = series("red", "x", &["a0", "a1"]);
    let second = series("red", "x", &["b0", "b1"]).sessions;
    let single = experiment("red", "x", &["c"]).sessions;
    two.sessions = two
        .sessions
        .iter()
        .chain(second.iter())
        .chain(single.iter())
        .collect();
    store.submit(two).await.unwrap();
    let first = lease(store).await;
    assert_eq!(names(&first), ["a0", "b0", "c"]);
    let mut queued = store.queued();
    queued.borrow_and_update();
    complete(store, &first[1].key).await;
    // Whoever waits for something to lease must hear of it.
    let heard = tokio::time::timeout(LONG / 60, queued.changed()).await;
    heard.expect("the next of a series is announced").unwrap();
    let second = only(store, "b1").await;
    assert_eq!(second.before, Some(record("b0").record));
    complete(store, &first[0].key).await;
    assert_eq!(only(store, "a1").await.before, Some(record("a0").record));
}

async fn session_set_aside_stops_those_behind_it_until_it_is_retried(bench: Bench) {
    let store = bench.store();
    store.submit(series("red", "x", &SERIES)).await.unwrap();
    let first = only(store, "s0").await;
    complete(store, &first.key).await;
    let second = only(store, "s1").await;
    store
        .fail(&second.key, Failure::Parked, "nobody answers")
        .await
        .unwrap();
    assert_eq!(counts(store).await, (0, 0, 1, 0, 2));
    let told = progress(store).await;
    assert!(told.is_over(), "a series that is stopped does not hang");
    assert_eq!(told.parked[0].session, "s1");
    let listed = store.list().await.unwrap();
    assert_eq!((listed[0].set_aside, listed[0].stopped), (1, 2));
    assert!(lease(store).await.is_empty());
    // Handing it in again changes nothing about it; only a retry does.
    store.submit(series("red", "x", &SERIES)).await.unwrap();
    assert_eq!(counts(store).await, (0, 0, 1, 0, 2));
    assert_eq!(store.retry("x", &[]).await.unwrap(), Some(1));
    assert_eq!(counts(store).await, (1, 0, 1, 2, 0));
    for session in &SERIES[1..] {
        let granted = only(store, session).await;
        complete(store, &granted.key).await;
    }
    assert_eq!(counts(store).await, (0, 0, 4, 0, 0));
}

async fn session_that_dies_stops_those_behind_it_however_it_died(bench: Bench) {
    let all = [
        ("x", ["x0", "x1"]),
        ("y", ["y0", "y1"]),
        ("z", ["z0", "z1"]),
    ];
    let store = bench.store();
    for (id, sessions) in all {
        store.submit(series("red", id, &sessions)).await.unwrap();
    }
    let granted = lease(store).await;
    assert_eq!(names(&granted), ["x0", "y0", "z0"]);
    store
        .fail(&granted[0].key, Failure::Impossible, "no such game")
        .await
        .unwrap();
    let mut crashing = granted[1].key.clone();
    for _ in 0..MOST_CRASHES - 1 {
        assert!(
            store
                .fail(&crashing, Failure::Crashed, "ouch")
                .await
                .unwrap()
        );
        crashing = only(store, "y0").await.key;
    }
    assert!(
        store
            .fail(&crashing, Failure::Crashed, "ouch")
            .await
            .unwrap()
    );
    store.release(&[granted[2].key.clone()]).await.unwrap();
    for _ in 0..MOST_LOSSES_ALONE {
        let lost = store.lease("w", 9, bench.short()).await.unwrap();
        assert_eq!(names(&lost), ["z0"]);
        bench.lose(1).await;
    }
    for (id, _) in all {
        let told = store.progress(id).await.unwrap().unwrap();
        assert_eq!((told.dead.len(), told.stopped), (1, 1), "{id}: {told:?}");
        assert!(told.is_over());
    }
}

async fn late_result_of_a_dead_session_goes_on_with_its_series(bench: Bench) {
    let store = bench.store();
    store.submit(series("red", "x", &SERIES)).await.unwrap();
    let mut last = None;
    for _ in 0..MOST_LOSSES_ALONE {
        last = store.lease("w", 9, bench.short()).await.unwrap().pop();
        bench.lose(1).await;
    }
    assert_eq!(counts(store).await, (0, 0, 0, 0, 3));
    // Nobody else has had the session since.
    complete(store, &last.unwrap().key).await;
    assert_eq!(counts(store).await, (1, 0, 1, 2, 0));
    assert_eq!(only(store, "s1").await.before, Some(record("s0").record));
}

async fn session_given_back_or_lost_keeps_the_next_one_waiting(bench: Bench) {
    let store = bench.store();
    store.submit(series("red", "x", &SERIES)).await.unwrap();
    let first = only(store, "s0").await;
    store.release(&[first.key]).await.unwrap();
    assert_eq!(counts(store).await, (1, 0, 0, 3, 0));
    let lost = store.lease("w", 9, bench.short()).await.unwrap();
    assert_eq!(names(&lost), ["s0"]);
    bench.lose(1).await;
    assert_eq!(counts(store).await, (1, 0, 0, 3, 0));
    let again = only(store, "s0").await;
    // The worker that was taken for dead comes too late: it moves nothing on.
    let late = store.complete(&lost[0].key, record("s0")).await.unwrap();
    assert_eq!(late, Completion::Fenced);
    assert_eq!(counts(store).await, (0, 1, 0, 3, 0));
    complete(store, &again.key).await;
    // Nor does a second result queue the next one twice.
    let second = only(store, "s1").await;
    let same = store.complete(&again.key, record("s0")).await.unwrap();
    assert_eq!(same, Completion::Same);
    assert_eq!(counts(store).await, (0, 1, 1, 2, 0));
    complete(store, &second.key).await;
}

async fn cancelled_series_goes_on_where_it_stopped_when_it_is_handed_in_again(bench: Bench) {
    let store = bench.store();
    store.submit(series("red", "x", &SERIES)).await.unwrap();
    let first = only(store, "s0").await;
    complete(store, &first.key).await;
    let second = only(store, "s1").await;
    assert!(store.cancel("x").await.unwrap());
    assert_eq!(counts(store).await, (0, 0, 1, 0, 0));
    assert!(progress(store).await.is_over());
    let late = store.complete(&second.key, record("s1")).await.unwrap();
    assert_eq!(late, Completion::Fenced);
    assert!(lease(store).await.is_empty());
    store.submit(series("red", "x", &SERIES)).await.unwrap();
    assert_eq!(counts(store).await, (1, 0, 1, 2, 0));
    assert_eq!(only(store, "s1").await.before, Some(record("s0").record));
}

async fn longer_series_goes_on_after_what_is_done_and_a_shorter_one_forgets_the_rest(bench: Bench) {
    let store = bench.store();
    let submit = |length: usize| store.submit(series("red", "x", &SERIES[..length]));
    submit(2).await.unwrap();
    for session in &SERIES[..2] {
        let granted = only(store, session).await;
        complete(store, &granted.key).await;
    }
    assert_eq!(submit(4).await.unwrap().already_done, 2);
    assert_eq!(counts(store).await, (1, 0, 2, 1, 0));
    let third = only(store, "s2").await;
    assert_eq!(third.before, Some(record("s1").record));
    submit(3).await.unwrap();
    assert_eq!(counts(store).await, (0, 1, 2, 0, 0));
    complete(store, &third.key).await;
    assert!(lease(store).await.is_empty(), "the fourth has left");
    submit(4).await.unwrap();
    assert_eq!(only(store, "s3").await.before, Some(record("s2").record));
}

async fn series_handed_in_behind_a_dead_session_is_stopped(bench: Bench) {
    let store = bench.store();
    store
        .submit(series("red", "x", &SERIES[..1]))
        .await
        .unwrap();
    let first = only(store, "s0").await;
    store
        .fail(&first.key, Failure::Impossible, "no such game")
        .await
        .unwrap();
    store.submit(series("red", "x", &SERIES)).await.unwrap();
    assert_eq!(counts(store).await, (0, 0, 0, 0, 3));
    assert_eq!(
        store.retry("x", &["s2".to_owned()]).await.unwrap(),
        Some(0),
        "what was not reached cannot be tried again by itself"
    );
    assert_eq!(store.retry("x", &["s0".to_owned()]).await.unwrap(), Some(1));
    assert_eq!(counts(store).await, (1, 0, 0, 3, 0));
}

async fn series_survives_a_crash(bench: Bench) {
    let store = bench.store();
    store.submit(series("red", "x", &SERIES)).await.unwrap();
    let first = only(store, "s0").await;
    complete(store, &first.key).await;
    let second = only(store, "s1").await;
    let bench = bench.crash().await;
    let store = bench.store();
    assert_eq!(counts(store).await, (0, 1, 1, 2, 0));
    // The worker that holds it has outlived the store.
    complete(store, &second.key).await;
    let third = only(store, "s2").await;
    assert_eq!(third.before, Some(record("s1").record));
    store
        .fail(&third.key, Failure::Parked, "nobody answers")
        .await
        .unwrap();
    let bench = bench.crash().await;
    let store = bench.store();
    assert_eq!(counts(store).await, (0, 0, 2, 0, 1));
    assert_eq!(store.retry("x", &[]).await.unwrap(), Some(1));
    for session in &SERIES[2..] {
        let granted = only(store, session).await;
        complete(store, &granted.key).await;
    }
    assert!(progress(store).await.is_over());
}
