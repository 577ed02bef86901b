//! Claims about workers: connecting, coming back, silence, capabilities, a coordinator that slept.
//! One queue on the bench of `tests.rs`; no store, no stream, no clock.

use super::*;

fn knows(versions: &[&str]) -> Capabilities {
    let versions = versions
        .iter()
        .map(|version| (*version).to_owned())
        .collect();
    Capabilities::from([("rules of pirate".to_owned(), versions)])
}

fn requires(name: &str, version: &str) -> ExperimentSubmitted {
    let written = requirement("prompts of direct", "9", false);
    ExperimentSubmitted {
        requirements: vec![requirement("rules of pirate", version, true), written],
        ..experiment(name, "red", &["cell"], 2, 1)
    }
}

#[test]
fn what_was_granted_over_a_broken_stream_comes_back_at_once() {
    let mut bench = Bench::new();
    bench.sessions("x", 3);
    bench.worker("w", 3);
    let granted = bench.granted("w");
    bench.leave("w");
    assert_eq!(bench.counts("x"), (3, 0, 3, 0), "it may come back");
    // It heard of the first one only.
    bench.worker("v", 1);
    assert!(bench.back("w", 1, &[granted[0].lease]).is_empty());
    assert_eq!(bench.counts("x"), (3, 1, 2, 0));
    assert_eq!(bench.positions("v"), [1]);
    assert!(bench.granted("w").is_empty(), "its place is taken");
    assert_eq!(bench.finish("w", granted[0].lease), Settled::Stored);
    let again = bench.one("w");
    assert_eq!(
        (again.lease.session.position, again.attempt),
        (2, 1),
        "no try was used up"
    );
}

#[test]
fn worker_that_comes_back_keeps_what_it_holds() {
    let mut bench = Bench::new();
    bench.sessions("x", 2);
    bench.worker("w", 2);
    let held = leases(&bench.granted("w"));
    bench.leave("w");
    bench.pass(LEASE / 2);
    assert!(bench.back("w", 2, &held).is_empty());
    bench.pass(LEASE * 2);
    assert_eq!(bench.counts("x"), (2, 0, 2, 0));
    assert!(bench.granted("w").is_empty());
    for lease in held {
        assert_eq!(bench.finish("w", lease), Settled::Stored);
    }
}

#[test]
fn lost_lease_is_taken_up_again_while_nobody_else_has_it() {
    let mut bench = Bench::new();
    bench.sessions("x", 2);
    bench.worker("w", 2);
    let held = leases(&bench.granted("w"));
    bench.lose("w");
    bench.worker("v", 1);
    assert_eq!(bench.positions("v"), [0]);
    assert_eq!(bench.back("w", 2, &held), held[..1], "v has the first one");
    assert_eq!(bench.counts("x"), (2, 0, 2, 0));
    assert_eq!(bench.finish("w", held[1]), Settled::Stored);
}

#[test]
fn new_owner_takes_over_what_workers_say_they_hold() {
    let mut bench = Bench::new();
    bench.sessions("x", 4);
    bench.worker("w", 2);
    bench.worker("v", 1);
    let held = leases(&bench.granted("w"));
    let silent = bench.one("v").lease;
    bench.restart();
    assert_eq!(bench.counts("x"), (4, 4, 0, 0));
    bench
        .queue
        .keep_quiet_until(bench.now + Duration::from_secs(3));
    bench.worker("early", 9);
    assert!(
        bench.granted("early").is_empty(),
        "others have yet to say what they hold"
    );
    assert!(bench.back("w", 2, &held).is_empty());
    assert_eq!(bench.counts("x"), (4, 2, 2, 0));
    bench.pass(Duration::from_secs(3));
    let rest = bench.granted("early");
    assert_eq!(positions(&rest), [2, 3], "v did not say so in time");
    assert!(
        rest.iter()
            .all(|granted| granted.lease.grant != silent.grant)
    );
    assert_eq!(bench.back("v", 1, &[silent]), [silent]);
    // It played on meanwhile: the first result counts whoever has the session now.
    assert_eq!(bench.finish("v", silent), Settled::Stored);
    assert_eq!(bench.revoked, [rest[0].lease]);
}

#[test]
fn of_two_leases_of_one_session_only_one_is_taken_over() {
    let mut bench = Bench::new();
    bench.sessions("x", 1);
    bench.worker("w", 1);
    let old = bench.one("w").lease;
    bench.lose("w");
    bench.worker("w", 1);
    let new = bench.one("w").lease;
    bench.restart();
    assert_eq!(bench.back("w", 1, &[new, old]), [old]);
    assert_eq!(
        bench.finish("w", old),
        Settled::Stored,
        "its result counts all the same"
    );
    assert_eq!(bench.revoked, [new]);
}

#[test]
fn suspect_that_is_taken_over_is_still_played_alone() {
    let mut bench = Bench::new();
    bench.sessions("x", 3);
    bench.worker("w", 1);
    bench.lose("w");
    bench.worker("v", 9);
    let suspect = bench.one("v");
    assert!(suspect.suspect);
    bench.restart();
    assert!(bench.back("v", 9, &[suspect.lease]).is_empty());
    assert!(bench.granted("v").is_empty());
    bench.finish("v", suspect.lease);
    assert_eq!(bench.positions("v"), [1, 2]);
}

#[test]
fn second_incarnation_loses_what_the_first_held() {
    let mut bench = Bench::new();
    bench.sessions("x", 2);
    bench.worker("w", 2);
    let held = leases(&bench.granted("w"));
    let lost = bench.register("w", 2, 2, Capabilities::new(), &held[..1]);
    assert!(
        lost.is_empty(),
        "a lease of the first that it knows of is as good as any"
    );
    let running = bench.granted("w");
    assert!(
        running.is_empty(),
        "the other is a suspect, and it is busy with one"
    );
    let progress = bench.progress("x");
    assert_eq!((progress.queued, progress.running), (1, 1));
    assert_eq!(bench.queue.workers(), [("w".to_owned(), 1)]);
}

#[test]
fn silent_worker_is_lost_and_a_heard_one_is_not() {
    let mut bench = Bench::new();
    bench.sessions("x", 2);
    bench.worker("silent", 1);
    bench.worker("heard", 1);
    let held = bench.one("heard").lease;
    bench.lose("silent");
    let progress = bench.progress("x");
    assert_eq!((progress.queued, progress.running), (1, 1));
    assert_eq!(bench.finish("heard", held), Settled::Stored);
    assert!(bench.one("heard").suspect);
}

#[test]
fn result_is_a_sign_of_life() {
    let mut bench = Bench::new();
    bench.sessions("x", 20);
    bench.worker("w", 2);
    let held = bench.granted("w");
    let Some(worker) = bench.workers.remove("w") else {
        return;
    };
    let mut next = held[1].lease;
    for _ in 0..8 {
        // No heartbeat comes through, but it hands in what it has.
        bench.now += LEASE / 3;
        bench.tick();
        let outcome = Outcome::Finished(result("record"));
        bench.queue.settle(worker.stream, next, outcome, bench.now);
        bench.queue.grant(bench.now);
        for effect in bench.queue.effects() {
            if let Effect::Grant(_, granted) = effect {
                next = granted[0].lease;
            }
        }
    }
    assert_eq!(bench.progress("x").running, 2);
}

#[test]
fn coordinator_that_slept_loses_nobody() {
    let mut bench = Bench::new();
    bench.sessions("x", 2);
    bench.worker("w", 1);
    bench.worker("v", 1);
    let (of_w, of_v) = (bench.one("w").lease, bench.one("v").lease);
    bench.tick();
    bench.now += Duration::from_secs(3600);
    // What v had said meanwhile is read before the time is looked at.
    bench.heartbeat("v", &[]);
    bench.tick();
    assert_eq!(bench.counts("x"), (2, 0, 2, 0));
    bench.heartbeat("w", &[]);
    assert_eq!(bench.finish("w", of_w), Settled::Stored);
    // v dies now, and is noticed as soon as ever.
    bench.lose("v");
    assert_eq!(bench.progress("x").queued + bench.progress("x").running, 1);
    let again = bench.one("w");
    assert_eq!(again.lease.session, of_v.session);
}

#[test]
fn draining_worker_gets_nothing_and_leaves_when_it_has_nothing() {
    let mut bench = Bench::new();
    bench.sessions("x", 3);
    bench.worker("w", 2);
    let held = bench.granted("w");
    bench.queue.drain_worker(bench.stream("w"));
    bench.finish("w", held[0].lease);
    assert!(bench.granted("w").is_empty());
    bench.release("w", &[held[1].lease]);
    assert!(bench.granted("w").is_empty());
    bench.leave("w");
    assert!(bench.queue.workers().is_empty());
    assert_eq!(bench.counts("x"), (3, 2, 0, 1));
    bench.worker("w", 2);
    assert_eq!(bench.positions("w"), [1, 2], "it may come back");
}

#[test]
fn older_stream_of_a_worker_that_is_back_says_nothing() {
    let mut bench = Bench::new();
    bench.sessions("x", 2);
    bench.worker("w", 1);
    let lease = bench.one("w").lease;
    let old = bench.stream("w");
    bench.back("w", 1, &[lease]);
    bench.queue.release(old, &[lease]);
    bench.queue.drain_worker(old);
    bench.queue.leave(old);
    bench.queue.heartbeat(old, &[lease], bench.now);
    bench.carry_out();
    assert_eq!(bench.counts("x"), (2, 1, 1, 0));
    assert_eq!(bench.finish("w", lease), Settled::Stored);
    assert_eq!(bench.positions("w"), [1]);
}

#[test]
fn session_is_leased_to_workers_that_can_play_it_only() {
    let mut bench = Bench::new();
    let old = bench.submit_as(requires("old", "1")).unwrap();
    let new = bench.submit_as(requires("new", "2")).unwrap();
    assert_eq!(bench.progress("new").unplayable, "", "nobody is there");
    bench.register("w1", 9, 1, knows(&["1"]), &[]);
    let granted = bench.granted("w1");
    assert!(
        granted
            .iter()
            .all(|granted| granted.lease.session.experiment == old)
    );
    assert_eq!(granted.len(), 2);
    assert_eq!(bench.progress("new").unplayable, "rules of pirate 2");
    assert!(
        !bench.progress("new").is_over(),
        "it waits, and nothing is dead"
    );
    bench.register("w2", 1, 1, knows(&["1", "2"]), &[]);
    assert_eq!(bench.one("w2").lease.session.experiment, new);
    assert_eq!(bench.progress("new").unplayable, "");
    bench.leave("w2");
    assert_eq!(bench.progress("new").unplayable, "rules of pirate 2");
    // The worker is replaced by a newer one.
    bench.register("w1", 9, 2, knows(&["2"]), &[]);
    let granted = bench.granted("w1");
    assert!(
        granted
            .iter()
            .all(|granted| granted.lease.session.experiment == new)
    );
}

#[test]
fn worker_that_finds_other_prompts_is_granted_nothing_more_of_the_experiment_and_no_try_counts() {
    let mut bench = Bench::new();
    bench.sessions("x", 1);
    bench.sessions("y", 1);
    bench.worker("new", 1);
    let lease = bench.one("new").lease;
    let why = "planned with prompts 1";
    let noted = bench.fail("new", lease, Failure::Unplayable, why);
    assert_eq!(noted, Settled::Noted);
    assert_eq!(bench.progress("x").unplayable, why);
    assert_eq!(bench.counts("x"), (1, 1, 0, 0));
    let other = bench.one("new").lease;
    assert_ne!(other.session.experiment, lease.session.experiment);
    bench.worker("old", 1);
    let again = bench.one("old");
    assert_eq!(again.lease.session, lease.session);
    assert_eq!((again.attempt, again.suspect), (1, false));
    assert_eq!(bench.progress("x").unplayable, "");
}

#[test]
fn workers_that_are_connected_are_counted() {
    let mut bench = Bench::new();
    bench.sessions("x", 1);
    for worker in ["w1", "w2", "w1"] {
        bench.back(worker, 3, &[]);
    }
    assert_eq!(bench.progress("x").workers, 2);
    assert_eq!(bench.queue.load(), (2, 5, 1));
    bench.leave("w2");
    assert_eq!(bench.progress("x").workers, 1);
}
