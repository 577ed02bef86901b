//! Claims about sessions that follow each other: who is leased when, and what becomes of those behind
//! one that was set aside.

use super::*;
use crate::queue::{MOST_CRASHES, MOST_LOSSES_ALONE};

const LENGTH: u32 = 4;

/// A bench with one series, "x", and a worker, "w".
fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.submit("x", "red", &["cell"], 1, LENGTH);
    bench.worker("w", 99);
    bench
}

/// Queued, running, done, waiting, stopped.
fn counts(bench: &Bench, name: &str) -> (u32, u32, u32, u32, u32) {
    let told = bench.progress(name);
    let aside = (told.parked.len() + told.dead.len()) as u32;
    let counted = [
        told.queued,
        told.running,
        told.done,
        told.waiting,
        told.stopped,
    ];
    if !told.cancelled {
        assert_eq!(told.sessions, counted.iter().sum::<u32>() + aside);
    }
    let [queued, running, done, waiting, stopped] = counted;
    (queued, running, done, waiting, stopped)
}

/// The one lease of a worker, which is of this session.
fn only(bench: &mut Bench, position: u32) -> LeaseId {
    let lease = bench.one("w").lease;
    assert_eq!(lease.session.position, position);
    lease
}

fn complete(bench: &mut Bench, position: u32) {
    let lease = only(bench, position);
    assert_eq!(bench.finish("w", lease), Settled::Stored);
}

#[test]
fn session_is_leased_once_the_one_before_it_is_done() {
    let mut bench = bench();
    for done in 0..LENGTH {
        assert_eq!(counts(&bench, "x"), (0, 1, done, LENGTH - 1 - done, 0));
        assert!(!bench.progress("x").is_over());
        complete(&mut bench, done);
    }
    assert_eq!(counts(&bench, "x"), (0, 0, LENGTH, 0, 0));
    assert!(bench.progress("x").is_over());
}

#[test]
fn series_run_side_by_side_and_what_is_begun_goes_first() {
    let mut bench = Bench::new();
    bench.submit("x", "red", &["a", "b", "c"], 1, 2);
    bench.worker("w", 2);
    let begun = bench.granted("w");
    assert_eq!(positions(&begun), [0, 2]);
    bench.finish("w", begun[1].lease);
    assert_eq!(
        bench.positions("w"),
        [3],
        "before the series that was not begun"
    );
    bench.finish("w", begun[0].lease);
    assert_eq!(bench.positions("w"), [1]);
    assert_eq!(counts(&bench, "x"), (1, 2, 2, 1, 0));
}

#[test]
fn session_set_aside_stops_those_behind_it_until_it_is_retried() {
    let mut bench = bench();
    complete(&mut bench, 0);
    let second = only(&mut bench, 1);
    bench.fail("w", second, Failure::Parked, "nobody answers");
    assert_eq!(counts(&bench, "x"), (0, 0, 1, 0, 2));
    let told = bench.progress("x");
    assert!(told.is_over(), "a series that is stopped does not hang");
    assert_eq!(told.parked[0].position, 1);
    let listed = bench.queue.list();
    assert_eq!((listed[0].set_aside, listed[0].stopped), (1, 2));
    assert!(bench.granted("w").is_empty());
    // Handing it in again changes nothing about it; only a retry does.
    bench.submit("x", "red", &["cell"], 1, LENGTH);
    assert_eq!(counts(&bench, "x"), (0, 0, 1, 0, 2));
    assert_eq!(bench.retry("x", None), 1);
    assert_eq!(counts(&bench, "x"), (0, 1, 1, 2, 0));
    for position in 1..LENGTH {
        complete(&mut bench, position);
    }
    assert_eq!(counts(&bench, "x"), (0, 0, 4, 0, 0));
}

#[test]
fn session_that_dies_stops_those_behind_it_however_it_died() {
    for death in ["impossible", "crashes", "losses"] {
        let mut bench = Bench::new();
        bench.submit("x", "red", &["cell"], 1, 2);
        let tries = match death {
            "impossible" => 1,
            "crashes" => MOST_CRASHES,
            _ => MOST_LOSSES_ALONE,
        };
        for _ in 0..tries {
            bench.worker("w", 9);
            let lease = only(&mut bench, 0);
            match death {
                "impossible" => {
                    bench.fail("w", lease, Failure::Impossible, "no such game");
                }
                "crashes" => {
                    bench.fail("w", lease, Failure::Crashed, "ouch");
                    bench.granted("w");
                    bench.register("w", 0, 2, Capabilities::new(), &[]);
                }
                _ => bench.lose("w"),
            }
        }
        let told = bench.progress("x");
        assert_eq!((told.dead.len(), told.stopped), (1, 1), "{death}: {told:?}");
        assert!(told.is_over());
    }
}

#[test]
fn late_result_of_a_dead_session_goes_on_with_its_series() {
    let mut bench = Bench::new();
    bench.submit("x", "red", &["cell"], 1, LENGTH);
    let mut last = None;
    for _ in 0..MOST_LOSSES_ALONE {
        bench.worker("w", 9);
        last = Some(only(&mut bench, 0));
        bench.lose("w");
    }
    assert_eq!(counts(&bench, "x"), (0, 0, 0, 0, 3));
    assert_eq!(bench.finish("w", last.unwrap()), Settled::Stored);
    assert_eq!(counts(&bench, "x"), (1, 0, 1, 2, 0));
    bench.worker("w", 9);
    only(&mut bench, 1);
}

#[test]
fn session_given_back_or_lost_keeps_the_next_one_waiting() {
    let mut bench = bench();
    let first = only(&mut bench, 0);
    bench.release("w", &[first]);
    assert_eq!(counts(&bench, "x"), (0, 1, 0, 3, 0));
    let lost = only(&mut bench, 0);
    bench.lose("w");
    assert_eq!(counts(&bench, "x"), (1, 0, 0, 3, 0));
    bench.worker("w", 9);
    let again = only(&mut bench, 0);
    assert_eq!(bench.finish("w", again), Settled::Stored);
    let second = only(&mut bench, 1);
    // A second result does not queue the next one twice.
    assert_eq!(bench.finish("w", lost), Settled::Same);
    assert_eq!(counts(&bench, "x"), (0, 1, 1, 2, 0));
    assert_eq!(bench.finish("w", second), Settled::Stored);
}

#[test]
fn cancelled_series_goes_on_where_it_stopped_when_it_is_handed_in_again() {
    let mut bench = bench();
    complete(&mut bench, 0);
    let second = only(&mut bench, 1);
    bench.cancel("x");
    assert_eq!(counts(&bench, "x"), (0, 0, 1, 0, 0));
    assert!(bench.progress("x").is_over());
    assert_eq!(bench.revoked, [second]);
    assert_eq!(bench.finish("w", second), Settled::Fenced);
    bench.submit("x", "red", &["cell"], 1, LENGTH);
    assert_eq!(counts(&bench, "x"), (0, 1, 1, 2, 0));
    only(&mut bench, 1);
}

#[test]
fn longer_series_goes_on_after_what_is_done_and_a_shorter_one_forgets_the_rest() {
    let mut bench = Bench::new();
    let submit = |bench: &mut Bench, length| bench.submit("x", "red", &["cell"], 1, length);
    submit(&mut bench, 2);
    bench.worker("w", 9);
    complete(&mut bench, 0);
    complete(&mut bench, 1);
    submit(&mut bench, 4);
    assert_eq!(counts(&bench, "x"), (0, 1, 2, 1, 0));
    let third = only(&mut bench, 2);
    submit(&mut bench, 3);
    assert_eq!(counts(&bench, "x"), (0, 1, 2, 0, 0));
    assert_eq!(bench.finish("w", third), Settled::Stored);
    assert!(bench.granted("w").is_empty(), "the fourth has left");
    submit(&mut bench, 1);
    assert_eq!(counts(&bench, "x"), (0, 0, 1, 0, 0));
    submit(&mut bench, 4);
    assert_eq!(
        counts(&bench, "x"),
        (0, 1, 3, 0, 0),
        "what was done is done"
    );
    only(&mut bench, 3);
}

#[test]
fn series_handed_in_behind_a_dead_session_is_stopped() {
    let mut bench = Bench::new();
    bench.submit("x", "red", &["cell"], 1, 1);
    bench.worker("w", 9);
    let first = only(&mut bench, 0);
    bench.fail("w", first, Failure::Impossible, "no such game");
    bench.submit("x", "red", &["cell"], 1, LENGTH);
    assert_eq!(counts(&bench, "x"), (0, 0, 0, 0, 3));
    let reached = bench.retry("x", Some(&[2]));
    assert_eq!(
        reached, 0,
        "what was not reached cannot be tried again by itself"
    );
    assert_eq!(bench.retry("x", Some(&[0])), 1);
    assert_eq!(counts(&bench, "x"), (0, 1, 0, 3, 0));
}

#[test]
fn result_behind_a_session_that_is_to_be_played_again_is_fenced() {
    let mut bench = bench();
    let before = bench.journal.clone();
    complete(&mut bench, 0);
    let second = only(&mut bench, 1);
    // The journal loses its tail: nobody knows any more that the first one was done.
    bench.journal = before;
    let mut queue = bench.next_owner();
    replay(&mut queue, &bench.journal);
    let _ = queue.effects();
    bench.queue = queue;
    assert_eq!(bench.back("w", 0, &[second]), [second]);
    assert_eq!(bench.finish("w", second), Settled::Fenced);
    assert_eq!(counts(&bench, "x"), (1, 0, 0, 3, 0));
}

#[test]
fn session_whose_record_is_lost_is_played_again_before_those_that_follow_it() {
    let mut bench = bench();
    complete(&mut bench, 0);
    bench.queue.close_segment(1).unwrap();
    bench.carry_out();
    complete(&mut bench, 1);
    only(&mut bench, 2);
    bench.lose("w");
    assert_eq!(counts(&bench, "x"), (1, 0, 2, 1, 0));
    // The second segment: 2 waits for 1 again.
    assert_eq!(bench.queue.lose_segments(1, &[2].into()), 1);
    assert_eq!(counts(&bench, "x"), (1, 0, 1, 2, 0));
    // The first one: 1 waits for 0.
    assert_eq!(bench.queue.lose_segments(1, &[1].into()), 1);
    assert_eq!(counts(&bench, "x"), (1, 0, 0, 3, 0));
    bench.worker("w", 9);
    for position in 0..LENGTH {
        complete(&mut bench, position);
    }
    assert_eq!(counts(&bench, "x"), (0, 0, LENGTH, 0, 0));
}

#[test]
fn series_survives_a_crash() {
    let mut bench = bench();
    complete(&mut bench, 0);
    let second = only(&mut bench, 1);
    bench.restart();
    // The worker that holds it has outlived the coordinator.
    assert!(bench.back("w", 9, &[second]).is_empty());
    assert_eq!(counts(&bench, "x"), (0, 1, 1, 2, 0));
    assert_eq!(bench.finish("w", second), Settled::Stored);
    let third = only(&mut bench, 2);
    bench.fail("w", third, Failure::Parked, "nobody answers");
    bench.restart_from_snapshot();
    assert_eq!(counts(&bench, "x"), (0, 0, 2, 0, 1));
    assert_eq!(bench.retry("x", None), 1);
    bench.worker("w", 9);
    complete(&mut bench, 2);
    complete(&mut bench, 3);
    assert!(bench.progress("x").is_over());
}
