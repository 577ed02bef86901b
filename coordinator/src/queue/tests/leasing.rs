//! Claims about who gets what: order, turns of teams, priorities, first results.
//! One queue on the bench of `tests.rs`; no store, no stream, no clock.

use super::*;

#[test]
fn sessions_are_leased_in_order_under_grants_of_their_own() {
    let mut bench = Bench::new();
    bench.sessions("x", 4);
    bench.worker("w1", 2);
    let granted = bench.granted("w1");
    assert_eq!(positions(&granted), [0, 1]);
    assert_eq!((granted[0].attempt, granted[0].suspect), (1, false));
    assert_ne!(granted[0].lease.grant, granted[1].lease.grant);
    assert_eq!(bench.counts("x"), (4, 2, 2, 0));
    bench.worker("w2", 9);
    assert_eq!(bench.positions("w2"), [2, 3]);
    bench.worker("w3", 9);
    assert!(bench.granted("w3").is_empty());
}

#[test]
fn teams_take_turns_then_experiments() {
    let mut bench = Bench::new();
    let a = bench.sessions("a", 3);
    let b = bench.sessions("b", 2);
    let c = bench.submit("c", "blue", &["cell"], 4, 1);
    bench.worker("w1", 9);
    let granted = bench.granted("w1");
    let blue = |granted: &Granted| granted.lease.session.experiment == c;
    let teams: Vec<bool> = granted.iter().map(blue).collect();
    assert!(
        teams.chunks(2).take(4).all(|pair| pair[0] != pair[1]),
        "{teams:?}"
    );
    let red = granted.iter().filter(|granted| !blue(granted));
    let red: Vec<(u32, u32)> = red
        .map(|granted| {
            (
                granted.lease.session.experiment,
                granted.lease.session.position,
            )
        })
        .collect();
    assert_eq!(red, [(a, 0), (b, 0), (a, 1), (b, 1), (a, 2)]);
}

#[test]
fn workers_take_turns_and_none_takes_a_short_queue_whole() {
    let mut bench = Bench::new();
    bench.worker("w1", 1000);
    bench.worker("w2", 1000);
    bench.sessions("x", 100);
    let (first, second) = (bench.granted("w1").len(), bench.granted("w2").len());
    assert_eq!(first + second, 100);
    assert!(first.min(second) >= 36, "{first} and {second}");
}

#[test]
fn no_session_is_leased_twice() {
    let mut bench = Bench::new();
    bench.sessions("x", 200);
    let workers = ["w0", "w1", "w2", "w3"];
    for worker in workers {
        bench.worker(worker, 7);
    }
    let mut seen = Vec::new();
    loop {
        let before = seen.len();
        for worker in workers {
            for granted in bench.granted(worker) {
                assert_eq!(bench.finish(worker, granted.lease), Settled::Stored);
                seen.push(granted.lease.session);
            }
        }
        if seen.len() == before {
            break;
        }
    }
    assert_eq!(seen.len(), 200);
    let different: std::collections::BTreeSet<_> = seen.into_iter().collect();
    assert_eq!(different.len(), 200);
    assert_eq!(bench.counts("x"), (200, 0, 0, 200));
    assert!(bench.progress("x").is_over());
}

#[test]
fn first_result_wins_and_later_ones_are_compared() {
    let mut bench = Bench::new();
    let key = bench.sessions("x", 1);
    bench.worker("w1", 1);
    let lease = bench.one("w1").lease;
    assert_eq!(bench.finish_with("w1", lease, "one"), Settled::Stored);
    let stored = bench.queue.finished_at(key, 0);
    assert_eq!(bench.finish_with("w1", lease, "one"), Settled::Same);
    assert!(bench.progress("x").determinism_faults.is_empty());
    for _ in 0..2 {
        assert_eq!(bench.finish_with("w1", lease, "two"), Settled::Different);
        assert_eq!(bench.progress("x").determinism_faults, [0]);
    }
    assert!(bench.progress("x").is_over());
    assert_eq!(
        bench.queue.finished_at(key, 0),
        stored,
        "the first one stays"
    );
    assert_eq!(
        bench.fail("w1", lease, Failure::Crashed, "late"),
        Settled::Fenced
    );
    assert_eq!(bench.counts("x"), (1, 0, 0, 1));
}

#[test]
fn late_first_result_under_an_older_lease_is_taken_and_whoever_plays_it_now_is_revoked() {
    let mut bench = Bench::new();
    bench.sessions("x", 1);
    bench.worker("w1", 1);
    let old = bench.one("w1").lease;
    bench.lose("w1");
    bench.worker("w2", 1);
    let new = bench.one("w2");
    assert_eq!((new.attempt, new.suspect), (2, true));
    assert_ne!(new.lease.grant, old.grant);
    assert_eq!(bench.finish("w1", old), Settled::Stored);
    assert_eq!(bench.revoked, [new.lease]);
    assert_eq!(bench.counts("x"), (1, 0, 0, 1));
    assert_eq!(bench.finish("w2", new.lease), Settled::Same);
    assert_eq!(
        bench.fail("w2", new.lease, Failure::Crashed, "late"),
        Settled::Fenced
    );
}

#[test]
fn failure_or_release_under_an_older_lease_changes_nothing() {
    let mut bench = Bench::new();
    bench.sessions("x", 1);
    bench.worker("w1", 1);
    let old = bench.one("w1").lease;
    bench.lose("w1");
    bench.worker("w2", 1);
    let new = bench.one("w2").lease;
    for failure in [
        Failure::Impossible,
        Failure::BudgetSpent,
        Failure::Crashed,
        Failure::Parked,
    ] {
        assert_eq!(bench.fail("w1", old, failure, "late"), Settled::Fenced);
    }
    bench.worker("w1", 0);
    bench.release("w1", &[old, new]);
    assert_eq!(bench.counts("x"), (1, 0, 1, 0));
    assert_eq!(bench.finish("w2", new), Settled::Stored);
}

#[test]
fn result_after_its_lease_counts_while_nobody_has_the_session() {
    let mut bench = Bench::new();
    bench.sessions("x", 1);
    bench.worker("w1", 1);
    let lease = bench.one("w1").lease;
    bench.lose("w1");
    assert_eq!(bench.counts("x"), (1, 1, 0, 0));
    assert_eq!(bench.finish("w1", lease), Settled::Stored);
    bench.worker("w2", 1);
    assert!(bench.granted("w2").is_empty(), "it has left the queue");
    assert_eq!(bench.counts("x"), (1, 0, 0, 1));
}

#[test]
fn lease_of_a_lost_submission_says_nothing_of_the_one_that_got_its_number() {
    let mut lost = Bench::new();
    let key = lost.submit("lost", "red", &["a"], 1, 1);
    lost.worker("w", 1);
    let lease = lost.one("w").lease;
    // Its journal has lost its end, and another experiment gets the number.
    let mut bench = Bench::new();
    assert_eq!(bench.submit("other", "red", &["b"], 1, 1), key);
    bench.worker("w", 0);
    assert_eq!(bench.finish("w", lease), Settled::Fenced);
    assert_eq!(bench.counts("other"), (1, 1, 0, 0));
    // The same sessions under the same number are what the worker played.
    let mut bench = Bench::new();
    assert_eq!(bench.submit("lost", "red", &["a"], 1, 1), key);
    bench.worker("w", 0);
    assert_eq!(bench.finish("w", lease), Settled::Stored);
}

#[test]
fn invented_lease_is_fenced() {
    let mut bench = Bench::new();
    let key = bench.sessions("x", 1);
    bench.worker("w1", 0);
    let real = LeaseId {
        session: SessionKey {
            experiment: key,
            position: 0,
        },
        grid: bench.queue.experiments[&key].grid,
        grant: 7,
    };
    let mut invented = [real; 3];
    invented[0].session.experiment += 1;
    invented[1].session.position += 1;
    invented[2].grid += 1;
    for lease in invented {
        assert_eq!(bench.finish("w1", lease), Settled::Fenced);
        assert_eq!(
            bench.fail("w1", lease, Failure::Impossible, ""),
            Settled::Fenced
        );
        bench.heartbeat("w1", &[lease]);
        bench.release("w1", &[lease]);
    }
    assert_eq!(bench.counts("x"), (1, 1, 0, 0));
}

#[test]
fn released_session_goes_first_and_uses_up_no_try() {
    let mut bench = Bench::new();
    bench.sessions("x", 4);
    bench.worker("w1", 2);
    let granted = bench.granted("w1");
    bench.worker("w2", 1);
    assert_eq!(bench.positions("w2"), [2]);
    bench.queue.drain_worker(bench.stream("w1"));
    bench.release("w1", &leases(&granted[1..]));
    bench.worker("w3", 9);
    let again = bench.granted("w3");
    assert_eq!(positions(&again), [1, 3]);
    assert_eq!(again[0].attempt, 1);
}

#[test]
fn nobody_but_its_holder_releases_or_moves_on_a_session() {
    let mut bench = Bench::new();
    bench.sessions("x", 2);
    bench.worker("w1", 1);
    bench.worker("w2", 1);
    let (first, second) = (bench.one("w1").lease, bench.one("w2").lease);
    bench.release("w2", &[first]);
    bench.release("nobody", &[first, second]);
    bench.heartbeat("w2", &[first]);
    bench.heartbeat("nobody", &[first]);
    assert_eq!(bench.counts("x"), (2, 0, 2, 0));
    assert!(bench.granted("w1").is_empty() && bench.granted("w2").is_empty());
}

#[test]
fn higher_priority_is_leased_first_within_its_team() {
    let mut bench = Bench::new();
    let mut keys = BTreeMap::new();
    for (name, team, repeats, priority) in [
        ("low", "red", 2, -100),
        ("usual", "red", 2, 0),
        ("high", "red", 2, 100),
        ("other", "blue", 3, 0),
    ] {
        let submitted = experiment(name, team, &["cell"], repeats, 1);
        let submitted = ExperimentSubmitted {
            priority,
            ..submitted
        };
        keys.insert(bench.submit_as(submitted).unwrap(), name);
    }
    let named = |granted: Vec<Granted>| -> Vec<&str> {
        let names = granted
            .iter()
            .map(|granted| keys[&granted.lease.session.experiment]);
        names.collect()
    };
    bench.worker("w1", 4);
    let first = named(bench.granted("w1"));
    let red: Vec<&&str> = first.iter().filter(|name| **name != "other").collect();
    assert_eq!(
        red,
        [&"high", &"high"],
        "teams take turns whatever the priority"
    );
    // Another priority counts from now on, also for what waits.
    let low = experiment("low", "red", &["cell"], 2, 1);
    bench
        .submit_as(ExperimentSubmitted {
            priority: 50,
            ..low
        })
        .unwrap();
    bench.worker("w2", 9);
    let rest = named(bench.granted("w2"));
    let red: Vec<&&str> = rest.iter().filter(|name| **name != "other").collect();
    assert_eq!(red, [&"low", &"low", &"usual", &"usual"]);
}

#[test]
fn nothing_is_granted_while_quiet_or_draining() {
    let mut bench = Bench::new();
    bench.sessions("x", 3);
    bench
        .queue
        .keep_quiet_until(bench.now + Duration::from_secs(3));
    // A shorter one does not end it early.
    bench
        .queue
        .keep_quiet_until(bench.now + Duration::from_secs(1));
    bench.worker("w1", 1);
    bench.pass(Duration::from_secs(2));
    assert!(bench.granted("w1").is_empty());
    bench.pass(Duration::from_secs(1));
    let lease = bench.one("w1").lease;
    bench.queue.drain();
    assert_eq!(
        bench.finish("w1", lease),
        Settled::Stored,
        "results are taken in"
    );
    bench.pass(Duration::from_secs(1));
    assert!(bench.granted("w1").is_empty());
}

#[test]
fn records_fill_segments_in_order() {
    let mut bench = Bench::new();
    let key = bench.sessions("x", 4);
    bench.worker("w1", 4);
    let granted = bench.granted("w1");
    assert_eq!(bench.queue.close_segment(key), None, "nothing is in it");
    let mut places = Vec::new();
    for (number, granted) in granted.iter().rev().enumerate() {
        bench.finish("w1", granted.lease);
        let finished = bench
            .queue
            .finished_at(key, granted.lease.session.position)
            .unwrap();
        places.push((finished.segment, finished.entry));
        if number == 1 {
            assert_eq!(bench.queue.close_segment(key), Some(1));
            bench.queue.segment_written(key, 1);
            bench.restart();
        }
    }
    assert_eq!(places, [(1, 0), (1, 1), (2, 0), (2, 1)]);
    let listed = bench.queue.finished("x", Some(0), 2).unwrap();
    let listed: Vec<u32> = listed.into_iter().map(|(position, _)| position).collect();
    assert_eq!(listed, [1, 2], "in the experiment's order, page by page");
}

#[test]
fn team_has_no_more_at_work_than_it_may_and_takes_nothing_from_others() {
    let mut bench = Bench::new();
    let a = bench.sessions("a", 5);
    bench.sessions("b", 5);
    let c = bench.submit("c", "blue", &["cell"], 8, 1);
    bench.queue.limit_teams([("red".to_owned(), 2)].into());
    bench.worker("w1", 6);
    let of_blue = |granted: &[Granted]| {
        let blue = granted
            .iter()
            .filter(|one| one.lease.session.experiment == c);
        blue.count()
    };
    let granted = bench.granted("w1");
    assert_eq!((granted.len(), of_blue(&granted)), (6, 4));

    // Room comes by what ends, and by a new limit.
    let red = granted.iter().find(|one| one.lease.session.experiment == a);
    bench.finish("w1", red.unwrap().lease);
    let next = bench.granted("w1");
    assert_eq!((next.len(), of_blue(&next)), (1, 0));
    bench.worker("w2", 20);
    let granted = bench.granted("w2");
    assert_eq!((granted.len(), of_blue(&granted)), (4, 4));
    bench.queue.limit_teams([("red".to_owned(), 3)].into());
    bench.tick();
    assert_eq!(bench.granted("w2").len(), 1);
    bench.queue.limit_teams(BTreeMap::new());
    bench.tick();
    assert_eq!(bench.granted("w2").len(), 6);
}

#[test]
fn team_of_one_session_waits_for_none_of_a_thousand_of_another() {
    let mut bench = Bench::new();
    bench.sessions("thousand", 1_000);
    bench.worker("w1", 10);
    assert_eq!(bench.granted("w1").len(), 10);
    let small = bench.submit("small", "blue", &["cell"], 1, 1);
    bench.worker("w2", 1);
    let granted = bench.granted("w2");
    assert_eq!(granted[0].lease.session.experiment, small);
}

#[test]
fn nothing_is_granted_of_what_is_held_back_until_that_is_over() {
    let mut bench = Bench::new();
    let held_back = bench.sessions("x", 1);
    bench.worker("w1", 1);
    let lease = bench.one("w1").lease;
    bench.sessions("y", 1);
    let until = bench.now + Duration::from_secs(3);
    bench.queue.hold_back(held_back, until);
    bench.release("w1", &[lease]);
    let other = bench.one("w1").lease;
    assert_ne!(other.session.experiment, held_back);
    assert_eq!(bench.finish("w1", other), Settled::Stored);
    bench.pass(Duration::from_secs(2));
    assert!(bench.granted("w1").is_empty());
    bench.pass(Duration::from_secs(1));
    let again = bench.one("w1");
    assert_eq!(again.lease.session, lease.session);
    assert_eq!(again.attempt, 1);
}
