//! Claims about sessions with which a worker was lost.
//! One queue on the bench of `tests.rs`; no store, no stream, no clock.

use super::*;
use crate::queue::MOST_LOSSES_ALONE;

#[test]
fn company_of_a_session_that_takes_its_workers_along_is_played() {
    let mut bench = Bench::new();
    bench.sessions("x", 5);
    let hostile = 2;
    bench.worker("w0", 9);
    assert_eq!(bench.granted("w0").len(), 5);
    bench.lose("w0");
    let mut workers_lost = 1;
    for number in 1.. {
        let worker = format!("w{number}");
        bench.worker(&worker, 9);
        let mut granted = bench.granted(&worker);
        while let Some(suspect) = granted.pop() {
            assert!(granted.is_empty(), "suspects are leased alone");
            assert!(suspect.suspect);
            if suspect.lease.session.position == hostile {
                bench.lose(&worker);
                workers_lost += 1;
                break;
            }
            bench.finish(&worker, suspect.lease);
            granted = bench.granted(&worker);
        }
        if bench.progress("x").is_over() {
            break;
        }
    }
    let progress = bench.progress("x");
    assert_eq!((progress.done, progress.dead.len()), (4, 1));
    assert_eq!(progress.dead[0].position, hostile);
    assert_eq!(workers_lost, 1 + MOST_LOSSES_ALONE);
}

#[test]
fn suspect_is_leased_alone_and_keeps_nobody_else_waiting() {
    let mut bench = Bench::new();
    bench.sessions("x", 8);
    bench.worker("w0", 1);
    assert_eq!(bench.positions("w0"), [0]);
    bench.worker("w1", 2);
    bench.worker("w2", 2);
    let (first, second) = (bench.granted("w1"), bench.granted("w2"));
    assert_eq!(
        (positions(&first), positions(&second)),
        (vec![1, 2], vec![3, 4])
    );
    bench.lose("w0");
    // Both are busy: one of them is emptied, the other goes on.
    bench.finish("w1", first[0].lease);
    assert!(
        bench.granted("w1").is_empty(),
        "one worker is emptied for the suspect"
    );
    bench.finish("w2", second[0].lease);
    assert_eq!(bench.positions("w2"), [5], "the others go on");
    bench.finish("w1", first[1].lease);
    let suspect = bench.one("w1");
    assert_eq!((suspect.lease.session.position, suspect.suspect), (0, true));
    bench.finish("w2", second[1].lease);
    assert_eq!(bench.positions("w2"), [6]);
    bench.finish("w1", suspect.lease);
    assert_eq!(bench.positions("w1"), [7], "afterwards it plays as before");
}

#[test]
fn worker_that_connects_takes_a_suspect_first_and_nothing_beside_it() {
    let mut bench = Bench::new();
    bench.sessions("x", 4);
    bench.worker("w0", 2);
    bench.lose("w0");
    for (worker, suspect) in [("w1", 0), ("w2", 1)] {
        bench.worker(worker, 9);
        assert_eq!(bench.positions(worker), [suspect]);
    }
    bench.worker("w3", 9);
    assert_eq!(bench.positions("w3"), [2, 3]);
    assert!(bench.granted("w1").is_empty());
}

#[test]
fn emptied_worker_that_disappears_is_replaced() {
    let mut bench = Bench::new();
    bench.sessions("x", 9);
    bench.worker("w0", 1);
    bench.worker("w1", 2);
    bench.worker("w2", 2);
    let second = {
        bench.granted("w1");
        bench.granted("w2")
    };
    bench.lose("w0");
    bench.finish("w2", second[0].lease);
    // The first of the two is the one that gets nothing; it goes away for good.
    bench.leave("w1");
    bench.pass(LEASE + LEASE);
    bench.finish("w2", second[1].lease);
    let granted = bench.granted("w2");
    assert!(granted.iter().any(|granted| granted.suspect), "{granted:?}");
}

#[test]
fn suspects_of_a_paused_or_cancelled_experiment_are_in_nobodys_way() {
    let mut bench = Bench::new();
    let keys = [bench.sessions("x", 3), bench.sessions("y", 3)];
    bench.worker("w0", 4);
    bench.lose("w0");
    bench.worker("w", 9);
    let suspect = bench.one("w");
    let is_first = suspect.lease.session.experiment == keys[0];
    let (paused, other) = if is_first { ("x", "y") } else { ("y", "x") };
    bench.fail("w", suspect.lease, Failure::BudgetSpent, "spent");
    let others = bench.one("w");
    assert_ne!(
        others.lease.session.experiment,
        suspect.lease.session.experiment
    );
    assert!(others.suspect);
    bench.cancel(other);
    bench.worker("w3", 9);
    assert!(bench.granted("w").is_empty(), "{other} is cancelled");
    assert!(bench.granted("w3").is_empty(), "{paused} pauses");
    bench.resume(paused, None);
    for worker in ["w", "w3"] {
        assert!(bench.one(worker).suspect, "both suspects are back");
    }
    bench.worker("w4", 9);
    assert!(!bench.one("w4").suspect);
    bench.cancel(paused);
    assert_eq!(bench.counts(paused), (3, 0, 0, 0));
    assert_eq!(bench.revoked.len(), 4);
}

#[test]
fn suspect_that_no_worker_can_play_empties_nobody() {
    let mut bench = Bench::new();
    let of_game = |version| requirement("rules of game", version, true);
    let knows = |version: &str| {
        let versions = std::iter::once(version.to_owned()).collect();
        Capabilities::from([("rules of game".to_owned(), versions)])
    };
    let new = ExperimentSubmitted {
        requirements: vec![of_game("2")],
        ..experiment("new", "red", &["cell"], 1, 1)
    };
    bench.submit_as(new).unwrap();
    bench.register("w0", 1, 1, knows("2"), &[]);
    assert_eq!(bench.granted("w0").len(), 1);
    bench.lose("w0");
    bench.sessions("old", 3);
    bench.register("w1", 2, 1, knows("1"), &[]);
    assert_eq!(bench.granted("w1").len(), 2);
}
