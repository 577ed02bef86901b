//! Claims about sessions that fail: tries, what is set aside, retries.
//! One queue on the bench of `tests.rs`; no store, no stream, no clock.

use super::*;
use crate::queue::{MOST_CRASHES, MOST_LOSSES_ALONE};

#[test]
fn third_crash_sets_aside_and_retry_begins_anew() {
    let mut bench = Bench::new();
    bench.sessions("x", 1);
    bench.worker("w1", 1);
    for crash in 1..=MOST_CRASHES {
        let granted = bench.one("w1");
        assert_eq!(granted.attempt, crash);
        let noted = bench.fail("w1", granted.lease, Failure::Crashed, "overflow");
        assert_eq!(noted, Settled::Noted);
    }
    assert!(bench.granted("w1").is_empty());
    let progress = bench.progress("x");
    assert!(progress.is_over());
    let dead = &progress.dead[0];
    assert_eq!((dead.position, &*dead.reason), (0, "overflow"));
    assert_eq!(dead.attempts, MOST_CRASHES);
    assert_eq!(bench.retry("x", Some(&[1])), 0);
    assert_eq!(bench.retry("x", None), 1);
    assert_eq!(bench.retry("x", None), 0);
    assert_eq!(bench.one("w1").attempt, 1);
}

#[test]
fn parked_and_impossible_sessions_are_set_aside_at_once() {
    let mut bench = Bench::new();
    bench.sessions("x", 3);
    bench.worker("w1", 3);
    let granted = bench.granted("w1");
    bench.fail("w1", granted[1].lease, Failure::Parked, "no answer");
    bench.fail("w1", granted[0].lease, Failure::Parked, "no answer");
    bench.fail("w1", granted[2].lease, Failure::Impossible, "no such game");
    let progress = bench.progress("x");
    let parked: Vec<u32> = progress.parked.iter().map(|aside| aside.position).collect();
    assert_eq!(parked, [0, 1]);
    assert_eq!(progress.dead[0].reason, "no such game");
    bench.sessions("x", 3);
    assert!(
        bench.granted("w1").is_empty(),
        "only retry brings them back"
    );
    assert_eq!(bench.retry("x", Some(&[1])), 1);
    assert_eq!(bench.positions("w1"), [1]);
}

#[test]
fn late_result_of_a_session_that_was_set_aside_counts() {
    for failure in [Failure::Parked, Failure::Impossible] {
        let mut bench = Bench::new();
        bench.sessions("x", 1);
        bench.worker("w1", 1);
        let old = bench.one("w1").lease;
        bench.lose("w1");
        bench.worker("w2", 1);
        let new = bench.one("w2").lease;
        bench.fail("w2", new, failure, "no answer");
        assert_eq!(bench.finish("w1", old), Settled::Stored);
        let progress = bench.progress("x");
        assert_eq!(
            (progress.done, progress.parked.len(), progress.dead.len()),
            (1, 0, 0)
        );
    }
}

#[test]
fn crashed_sessions_go_last_in_the_order_of_their_crashes() {
    let mut bench = Bench::new();
    bench.sessions("x", 4);
    bench.worker("w1", 3);
    let granted = bench.granted("w1");
    bench.leave("w1");
    for crashed in [2, 0, 1] {
        bench.fail("w1", granted[crashed].lease, Failure::Crashed, "overflow");
    }
    bench.worker("w2", 1);
    assert_eq!(bench.positions("w2"), [3]);
    bench.worker("w3", 9);
    let again = bench.granted("w3");
    assert_eq!(positions(&again), [2, 0, 1]);
    assert!(again.iter().all(|granted| granted.attempt == 2));
    // Whoever crashes again stands behind those that have not.
    bench.fail("w3", again[2].lease, Failure::Crashed, "overflow");
    bench.leave("w3");
    assert!(bench.granted("w2").is_empty());
}

#[test]
fn order_of_crashed_sessions_is_journaled() {
    let mut bench = Bench::new();
    bench.sessions("x", 2);
    bench.worker("w1", 2);
    let granted = bench.granted("w1");
    bench.leave("w1");
    let crash = |bench: &mut Bench, lease| {
        let noted = bench.fail("w1", lease, Failure::Crashed, "overflow");
        assert_eq!(noted, Settled::Noted);
    };
    crash(&mut bench, granted[0].lease);
    crash(&mut bench, granted[1].lease);
    bench.worker("w2", 1);
    let first = bench.one("w2");
    assert_eq!(first.lease.session.position, 0);
    bench.queue.drain_worker(bench.stream("w2"));
    crash(&mut bench, first.lease);
    bench.restart();
    bench.worker("w3", 9);
    assert_eq!(bench.positions("w3"), [1, 0]);
}

#[test]
fn session_that_loses_every_worker_is_set_aside() {
    let mut bench = Bench::new();
    bench.sessions("x", 1);
    for loss in 1..=MOST_LOSSES_ALONE {
        bench.worker("w", 1);
        assert_eq!(bench.one("w").attempt, loss);
        bench.lose("w");
    }
    bench.worker("w", 1);
    assert!(bench.granted("w").is_empty());
    let progress = bench.progress("x");
    assert!(
        progress.dead[0].reason.starts_with("3 workers were lost"),
        "{progress:?}"
    );
}

#[test]
fn losses_are_forgotten_once_a_session_has_come_further() {
    let mut bench = Bench::new();
    bench.sessions("x", 1);
    for _ in 0..3 * MOST_LOSSES_ALONE {
        bench.worker("w", 1);
        let lease = bench.one("w").lease;
        bench.heartbeat("w", &[lease]);
        bench.lose("w");
    }
    assert_eq!(bench.counts("x"), (1, 1, 0, 0));
    bench.worker("w", 1);
    assert!(bench.one("w").suspect, "the last loss counts");
}

#[test]
fn crash_of_a_session_that_lost_a_worker_is_played_alone_again() {
    let mut bench = Bench::new();
    bench.sessions("x", 1);
    bench.worker("w1", 1);
    bench.lose("w1");
    bench.worker("w2", 9);
    let suspect = bench.one("w2");
    bench.fail("w2", suspect.lease, Failure::Crashed, "overflow");
    let again = bench.one("w2");
    assert_eq!((again.suspect, again.attempt), (true, 3));
}
