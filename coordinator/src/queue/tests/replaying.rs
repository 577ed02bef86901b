//! Claims about the journal: what comes of it is what was there, at any point, by replay or snapshot.
//! One queue on the bench of `tests.rs`; no store, no stream, no clock.

use super::*;

/// Things of all kinds happen, in so many steps; a bench after each.
fn history(steps: usize) -> Bench {
    let mut bench = Bench::new();
    for step in 0..steps {
        take_step(&mut bench, step);
    }
    bench
}

const STEPS: usize = 22;

fn take_step(bench: &mut Bench, step: usize) {
    let first = |bench: &Bench, name: &str| {
        // The first lease of an experiment, which may be anybody's.
        let key = bench.queue.number(name).ok()?;
        let (grant, session) = bench.queue.workers.leases_of(key).into_iter().next()?;
        let grid = bench.queue.experiments[&key].grid;
        Some(LeaseId {
            session,
            grid,
            grant,
        })
    };
    let budget = |budget| ExperimentSubmitted {
        budget_nanodollars: Some(budget),
        ..experiment("b", "blue", &["p", "q"], 3, 1)
    };
    let lease = |bench: &Bench, name| first(bench, name).expect("something is leased");
    match step {
        0 => drop(bench.submit("a", "red", &["x", "y"], 2, 3)),
        1 => bench.worker("w1", 4),
        2 => drop(bench.submit_as(budget(5))),
        3 => bench.worker("w2", 3),
        4 => drop(bench.finish("w1", lease(bench, "a"))),
        5 => drop(bench.fail("w1", lease(bench, "a"), Failure::Crashed, "overflow")),
        6 => drop(bench.fail("w1", lease(bench, "a"), Failure::Parked, "no answer")),
        7 => drop(bench.fail("w2", lease(bench, "b"), Failure::BudgetSpent, "spent")),
        8 => bench.lose("w2"),
        9 => bench.resume("b", Some(9)),
        10 => bench.worker("w3", 2),
        11 => bench.heartbeat("w3", &[lease(bench, "b")]),
        12 => drop(bench.submit("a", "red", &["z", "x"], 2, 2)),
        13 => {
            let session = lease(bench, "a");
            bench.finish_with("w1", session, "one");
            bench.finish_with("w1", session, "two");
        }
        14 => drop(bench.retry("a", None)),
        15 => drop(bench.queue.close_segment(1)),
        16 => bench.cancel("b"),
        17 => drop(bench.submit_as(budget(20))),
        18 => drop(bench.submit("c", "blue", &["e"], 1, 1)),
        19 => bench.cancel("c"),
        20 => drop(bench.queue.delete("c").unwrap()),
        _ => drop(bench.submit("a", "red", &["x", "y"], 2, 3)),
    }
    bench.carry_out();
}

#[test]
fn what_is_replayed_equals_what_was_live_at_every_point() {
    for steps in 1..=STEPS {
        let mut bench = history(steps);
        let told: Vec<Progress> = listed(&bench);
        // Compares what follows from the journal.
        bench.restart();
        for (before, after) in told.iter().zip(listed(&bench)) {
            // Leases are promises in memory: sessions that were held wait.
            assert_eq!(before.queued + before.running, after.queued + after.running);
            let gone = Progress {
                queued: after.queued,
                running: after.running,
                workers: after.workers,
                unplayable: after.unplayable.clone(),
                ..before.clone()
            };
            assert_eq!(gone, after, "after {steps} steps");
        }
    }
}

fn listed(bench: &Bench) -> Vec<Progress> {
    let list = bench.queue.list().into_iter();
    list.map(|entry| bench.progress(&entry.name)).collect()
}

#[test]
fn snapshot_at_any_point_and_the_journal_behind_it_make_the_same_queue() {
    for taken in 1..STEPS {
        let mut bench = history(taken);
        let snapshot = bench.queue.snapshot().encode_to_vec();
        let upto = bench.journal.len();
        for step in taken..STEPS {
            take_step(&mut bench, step);
        }
        let mut queue = bench.next_owner();
        assert!(queue.restore(QueueSnapshot::decode(&snapshot[..]).unwrap()));
        replay(&mut queue, &bench.journal[upto..]);
        assert_eq!(
            image(&queue),
            image(&bench.queue),
            "snapshot after {taken} steps"
        );
        check(&queue);
    }
}

#[test]
fn grants_after_a_snapshot_come_in_the_order_of_before() {
    for taken in 1..=STEPS {
        let mut bench = history(taken);
        // Leases are given back, so that both queues have the same to offer.
        let workers: Vec<String> = bench.workers.keys().cloned().collect();
        for worker in workers {
            bench.queue.drain_worker(bench.stream(&worker));
            bench.back(&worker, 0, &[]);
        }
        let order = |bench: &mut Bench| {
            bench.worker("last", 99);
            let mut order = BTreeMap::<u32, Vec<u32>>::new();
            for granted in bench.granted("last") {
                let SessionKey {
                    experiment,
                    position,
                } = granted.lease.session;
                order.entry(experiment).or_default().push(position);
            }
            order
        };
        let snapshot = bench.queue.snapshot();
        let live = order(&mut bench);
        let mut queue = bench.next_owner();
        assert!(queue.restore(snapshot));
        bench.queue = queue;
        bench.workers.clear();
        assert_eq!(order(&mut bench), live, "after {taken} steps");
    }
}

#[test]
fn replaying_a_batch_twice_changes_nothing() {
    // An owner that is not sure whether a batch arrived sends it again.
    let mut bench = Bench::new();
    bench.sessions("x", 3);
    bench.worker("w", 2);
    let upto = bench.journal.len();
    for granted in bench.granted("w") {
        bench.finish("w", granted.lease);
    }
    let done = bench.journal[upto..].to_vec();
    replay(&mut bench.queue, &done);
    let _ = bench.queue.effects();
    check(&bench.queue);
    bench.restart();
    assert_eq!(bench.counts("x"), (3, 1, 0, 2));
}

#[test]
fn nonsense_in_the_journal_is_passed_over() {
    let mut bench = history(STEPS);
    let before = image(&bench.queue);
    for (experiment, position) in [(1, 1_000), (99, 0)] {
        let session = Some(agon_proto::v1::SessionPlace {
            experiment,
            position,
        });
        let changes = [
            Change::Crashed(agon_proto::v1::SessionCrashed { session }),
            Change::Lost(agon_proto::v1::SessionLost {
                session,
                alone: true,
            }),
            Change::Progressed(agon_proto::v1::SessionProgressed { session }),
            Change::Fault(agon_proto::v1::DeterminismFault { session: None }),
            Change::Done(agon_proto::v1::SessionDone {
                session,
                ..Default::default()
            }),
            Change::Cancelled(agon_proto::v1::ExperimentCancelled { experiment: 99 }),
            Change::Retried(agon_proto::v1::SessionsRetried {
                experiment: 1,
                positions: vec![position + 1_000],
            }),
        ];
        for change in &changes {
            bench.queue.replay(change);
        }
    }
    check(&bench.queue);
    assert_eq!(image(&bench.queue), before);
}

#[test]
fn snapshot_that_is_none_is_refused() {
    let bench = history(STEPS);
    let snapshot = bench.queue.snapshot();
    let spoiled: [fn(&mut agon_proto::v1::ExperimentSnapshot); 5] = [
        |one| one.submitted = None,
        |one| one.states = vec![0; 3].into(),
        |one| one.states = vec![0xff; one.states.len()].into(),
        |one| one.finished = Default::default(),
        |one| one.last_in_line.push(1_000_000),
    ];
    for (number, spoil) in spoiled.into_iter().enumerate() {
        let mut snapshot = snapshot.clone();
        spoil(&mut snapshot.experiments[0]);
        assert!(!Queue::new(9, LEASE).restore(snapshot), "{number}");
    }
    assert!(Queue::new(9, LEASE).restore(snapshot));
}

#[test]
fn changes_come_before_what_is_told_of_them() {
    let mut bench = Bench::new();
    let now = bench.now;
    bench.worker("w", 1);
    bench
        .queue
        .submit(experiment("x", "red", &["cell"], 1, 1), false, None, now)
        .unwrap();
    let effects = bench.queue.effects();
    assert!(matches!(
        &effects[..],
        [Effect::Append(Change::Submitted(_)), Effect::Grant(..)]
    ));
}
