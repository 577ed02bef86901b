//! The contract of a store: every claim here holds for both back ends.
//! Each claim becomes two tests, on a file with a clock of the test's and on a real Redis.

use std::collections::BTreeSet;

use agon_coordinator::store::{
    Completion, Failure, Granted, LeaseKey, MOST_CRASHES, MOST_LOSSES_ALONE, NewExperiment,
    SessionResult, Store, StoreError, StoreResult, Submitted, Terms,
};
use futures_util::future::BoxFuture;

use crate::benches::{Bench, LONG, contract, experiment};

contract! {
    sessions_are_leased_in_order_under_fences_of_their_own,
    teams_take_turns_then_experiments,
    no_session_is_leased_twice_by_callers_at_once,
    first_result_wins_and_later_ones_are_compared,
    older_fence_is_refused_once_the_session_was_leased_again,
    lost_lease_may_be_taken_up_again_while_nobody_else_has_it,
    result_after_its_lease_counts_while_nobody_else_has_the_session,
    third_crash_sets_aside_and_retry_begins_anew,
    parked_and_impossible_sessions_are_set_aside_at_once,
    crashed_session_goes_last_and_released_one_first,
    session_that_loses_every_worker_is_set_aside,
    company_of_a_session_that_takes_its_workers_along_is_played,
    suspect_is_leased_alone_and_keeps_nobody_else_waiting,
    suspects_of_a_paused_or_cancelled_experiment_are_in_nobodys_way,
    nobody_but_its_holder_settles_renews_or_releases_a_session,
    late_result_of_a_lost_lease_is_compared_and_that_of_a_released_one_is_not,
    result_that_cannot_be_unpacked_hides_no_other,
    resubmission_keeps_what_is_done_and_drops_what_is_gone,
    submission_cut_off_half_way_is_not_over_until_it_is_made_again,
    later_submission_and_cancellation_overtake_one_under_way,
    cancelled_sessions_are_lost_to_their_workers,
    results_come_in_the_experiments_order_page_by_page,
    experiment_of_another_team_is_refused,
    unknown_names_are_answered_not_failed,
    templates_workers_and_lists_are_kept,
    spent_budget_pauses_the_experiment_and_uses_up_no_try,
    lease_from_before_a_resumption_cannot_pause_again,
    higher_budget_in_the_file_resumes_and_a_resumption_outlasts_an_unchanged_file,
    higher_priority_is_leased_first_within_its_team,
    cancellation_ends_a_pause,
    queueing_is_announced,
    acknowledged_changes_survive_a_crash,
}

async fn lease(store: &dyn Store, most: usize) -> Vec<Granted> {
    store.lease("w", most, LONG).await.unwrap()
}

/// Leases exactly one session.
async fn one(store: &dyn Store) -> Granted {
    lease(store, 1).await.pop().expect("a session is queued")
}

fn names(granted: &[Granted]) -> Vec<&str> {
    granted
        .iter()
        .map(|granted| granted.key.session.as_str())
        .collect()
}

fn result(text: &str) -> SessionResult {
    SessionResult {
        record: text.as_bytes().to_vec(),
        telemetry: b"{\"ms\":1}".to_vec(),
    }
}

async fn counts(store: &dyn Store, experiment: &str) -> (u64, u64, u64, u64) {
    let progress = store
        .progress(experiment)
        .await
        .unwrap()
        .expect("the experiment is there");
    (
        progress.sessions,
        progress.queued,
        progress.running,
        progress.done,
    )
}

async fn sessions_are_leased_in_order_under_fences_of_their_own(bench: Bench) {
    let store = bench.store();
    let submitted = store
        .submit(experiment("red", "x", &["s3", "s1", "s2"]))
        .await
        .unwrap();
    assert_eq!(
        submitted,
        Submitted {
            sessions: 3,
            already_done: 0
        }
    );
    let granted = lease(store, 2).await;
    assert_eq!(names(&granted), ["s3", "s1"]);
    let first = &granted[0];
    assert_eq!((first.spec.as_str(), first.attempt), ("spec of s3", 1));
    assert_eq!(
        (first.experiment.as_str(), first.team.as_str()),
        ("x", "red")
    );
    assert_eq!(first.traceparent, "00-trace");
    assert_ne!(granted[0].key.fence, granted[1].key.fence);
    assert_eq!(counts(store, "x").await, (3, 1, 2, 0));
    assert_eq!(names(&lease(store, 9).await), ["s2"]);
    assert!(lease(store, 9).await.is_empty());
}

async fn teams_take_turns_then_experiments(bench: Bench) {
    let store = bench.store();
    store
        .submit(experiment("red", "a", &["a1", "a2", "a3"]))
        .await
        .unwrap();
    store
        .submit(experiment("red", "b", &["b1", "b2"]))
        .await
        .unwrap();
    store
        .submit(experiment("blue", "c", &["c1", "c2", "c3", "c4"]))
        .await
        .unwrap();
    let granted = lease(store, 9).await;
    let teams: Vec<&str> = granted
        .iter()
        .map(|granted| granted.team.as_str())
        .collect();
    assert!(
        teams.chunks(2).take(4).all(|pair| pair[0] != pair[1]),
        "{teams:?}"
    );
    let red: Vec<&str> = names(&granted)
        .into_iter()
        .filter(|session| !session.starts_with('c'))
        .collect();
    assert_eq!(red, ["a1", "b1", "a2", "b2", "a3"]);
}

async fn no_session_is_leased_twice_by_callers_at_once(bench: Bench) {
    let names: Vec<String> = (0..200).map(|number| format!("s{number:03}")).collect();
    let sessions: Vec<&str> = names.iter().map(String::as_str).collect();
    let store = bench.shared();
    store
        .submit(experiment("red", "x", &sessions))
        .await
        .unwrap();
    let worker = |name: String| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut all = Vec::new();
            loop {
                let granted = store.lease(&name, 7, LONG).await.unwrap();
                if granted.is_empty() {
                    return all;
                }
                for granted in granted {
                    let done = store
                        .complete(&granted.key, result(&granted.spec))
                        .await
                        .unwrap();
                    assert_eq!(done, Completion::First);
                    all.push(granted.key.session);
                }
            }
        })
    };
    let workers: Vec<_> = (0..4).map(|number| worker(format!("w{number}"))).collect();
    let mut seen = Vec::new();
    for worker in workers {
        seen.extend(worker.await.unwrap());
    }
    assert_eq!(seen.len(), 200);
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>().len(), 200);
    assert_eq!(counts(&*store, "x").await, (200, 0, 0, 200));
}

async fn first_result_wins_and_later_ones_are_compared(bench: Bench) {
    let store = bench.store();
    store.submit(experiment("red", "x", &["s"])).await.unwrap();
    let key = one(store).await.key;
    assert_eq!(
        store.complete(&key, result("one")).await.unwrap(),
        Completion::First
    );
    assert_eq!(
        store.complete(&key, result("one")).await.unwrap(),
        Completion::Same
    );
    assert!(
        store
            .progress("x")
            .await
            .unwrap()
            .unwrap()
            .determinism_faults
            .is_empty()
    );
    assert_eq!(
        store.complete(&key, result("two")).await.unwrap(),
        Completion::Different
    );
    let progress = store.progress("x").await.unwrap().unwrap();
    assert_eq!(progress.determinism_faults, ["s"]);
    assert!(progress.is_over());
    let results = store.results("x", None, 9).await.unwrap();
    assert_eq!(results[0].result, Ok(result("one")), "the first one stays");
    assert!(!store.fail(&key, Failure::Crashed, "late").await.unwrap());
}

async fn older_fence_is_refused_once_the_session_was_leased_again(bench: Bench) {
    let store = bench.store();
    store.submit(experiment("red", "x", &["s"])).await.unwrap();
    let old = store
        .lease("w1", 1, bench.short())
        .await
        .unwrap()
        .remove(0)
        .key;
    bench.lose(1).await;
    let new = store.lease("w2", 1, LONG).await.unwrap().remove(0);
    assert_eq!(new.attempt, 2);
    assert_ne!(new.key.fence, old.fence);
    assert_eq!(
        store.renew(std::slice::from_ref(&old), LONG).await.unwrap(),
        [false]
    );
    assert_eq!(
        store.complete(&old, result("one")).await.unwrap(),
        Completion::Fenced
    );
    assert!(!store.fail(&old, Failure::Impossible, "late").await.unwrap());
    store.release(&[old]).await.unwrap();
    assert_eq!(counts(store, "x").await, (1, 0, 1, 0));
    assert_eq!(
        store.complete(&new.key, result("one")).await.unwrap(),
        Completion::First
    );
    let invented = LeaseKey {
        session: "none".to_owned(),
        worker: "w2".to_owned(),
        fence: 1,
    };
    assert_eq!(
        store.complete(&invented, result("one")).await.unwrap(),
        Completion::Fenced
    );
}

async fn lost_lease_may_be_taken_up_again_while_nobody_else_has_it(bench: Bench) {
    let store = bench.store();
    store.submit(experiment("red", "x", &["s"])).await.unwrap();
    let key = store
        .lease("w1", 1, bench.short())
        .await
        .unwrap()
        .remove(0)
        .key;
    bench.lose(1).await;
    assert_eq!(counts(store, "x").await, (1, 1, 0, 0));
    let keys = [key];
    let stolen = [LeaseKey {
        worker: "w2".to_owned(),
        ..keys[0].clone()
    }];
    assert_eq!(
        store.renew(&stolen, LONG).await.unwrap(),
        [false],
        "it was not w2's"
    );
    assert_eq!(store.renew(&keys, LONG).await.unwrap(), [true]);
    assert_eq!(counts(store, "x").await, (1, 0, 1, 0));
    assert!(lease(store, 1).await.is_empty());
}

async fn result_after_its_lease_counts_while_nobody_else_has_the_session(bench: Bench) {
    let store = bench.store();
    store.submit(experiment("red", "x", &["s"])).await.unwrap();
    let key = store
        .lease("w1", 1, bench.short())
        .await
        .unwrap()
        .remove(0)
        .key;
    bench.lose(1).await;
    assert_eq!(
        store.complete(&key, result("one")).await.unwrap(),
        Completion::First
    );
    assert!(lease(store, 1).await.is_empty(), "it has left the queue");
    assert_eq!(counts(store, "x").await, (1, 0, 0, 1));
}

async fn third_crash_sets_aside_and_retry_begins_anew(bench: Bench) {
    let store = bench.store();
    store.submit(experiment("red", "x", &["s"])).await.unwrap();
    for crash in 1..=MOST_CRASHES {
        let granted = one(store).await;
        assert_eq!(granted.attempt, crash);
        assert!(
            store
                .fail(&granted.key, Failure::Crashed, "overflow")
                .await
                .unwrap()
        );
    }
    assert!(lease(store, 1).await.is_empty());
    let progress = store.progress("x").await.unwrap().unwrap();
    assert!(progress.is_over());
    let dead = &progress.dead[0];
    assert_eq!(
        (dead.session.as_str(), dead.reason.as_str()),
        ("s", "overflow")
    );
    assert_eq!(dead.attempts, MOST_CRASHES);
    assert_eq!(
        store.retry("x", &["other".to_owned()]).await.unwrap(),
        Some(0)
    );
    assert_eq!(store.retry("x", &[]).await.unwrap(), Some(1));
    assert_eq!(store.retry("x", &[]).await.unwrap(), Some(0));
    assert_eq!(one(store).await.attempt, 1);
}

async fn parked_and_impossible_sessions_are_set_aside_at_once(bench: Bench) {
    let store = bench.store();
    store
        .submit(experiment("red", "x", &["s1", "s2", "s3"]))
        .await
        .unwrap();
    let granted = lease(store, 3).await;
    assert!(
        store
            .fail(&granted[1].key, Failure::Parked, "no answer")
            .await
            .unwrap()
    );
    assert!(
        store
            .fail(&granted[0].key, Failure::Parked, "no answer")
            .await
            .unwrap()
    );
    assert!(
        store
            .fail(&granted[2].key, Failure::Impossible, "no such game")
            .await
            .unwrap()
    );
    let progress = store.progress("x").await.unwrap().unwrap();
    let parked: Vec<&str> = progress
        .parked
        .iter()
        .map(|aside| aside.session.as_str())
        .collect();
    assert_eq!(parked, ["s1", "s2"]);
    assert_eq!(progress.dead[0].reason, "no such game");
    store
        .submit(experiment("red", "x", &["s1", "s2", "s3"]))
        .await
        .unwrap();
    assert!(
        lease(store, 1).await.is_empty(),
        "only retry brings them back"
    );
    assert_eq!(store.retry("x", &["s2".to_owned()]).await.unwrap(), Some(1));
    assert_eq!(names(&lease(store, 9).await), ["s2"]);
}

async fn crashed_session_goes_last_and_released_one_first(bench: Bench) {
    let store = bench.store();
    store
        .submit(experiment("red", "x", &["s1", "s2", "s3"]))
        .await
        .unwrap();
    let granted = lease(store, 2).await;
    store
        .fail(&granted[0].key, Failure::Crashed, "overflow")
        .await
        .unwrap();
    store.release(&[granted[1].key.clone()]).await.unwrap();
    let again = lease(store, 9).await;
    assert_eq!(names(&again), ["s2", "s3", "s1"]);
    let attempts: Vec<u32> = again.iter().map(|granted| granted.attempt).collect();
    assert_eq!(attempts, [1, 1, 2], "giving back is no try");
}

async fn session_that_loses_every_worker_is_set_aside(bench: Bench) {
    let store = bench.store();
    store.submit(experiment("red", "x", &["s"])).await.unwrap();
    for loss in 1..=MOST_LOSSES_ALONE {
        let granted = store.lease("w", 1, bench.short()).await.unwrap();
        assert_eq!(granted[0].attempt, loss);
        bench.lose(1).await;
    }
    assert!(lease(store, 1).await.is_empty());
    let progress = store.progress("x").await.unwrap().unwrap();
    assert!(
        progress.dead[0].reason.starts_with("3 workers were lost"),
        "{progress:?}"
    );
}

/// Leases to this worker and lets the leases run out.
async fn lose_all(bench: &Bench, worker: &str, most: usize) -> Vec<Granted> {
    let store = bench.store();
    let granted = store.lease(worker, most, bench.short()).await.unwrap();
    bench.lose(granted.len() as u64).await;
    granted
}

async fn company_of_a_session_that_takes_its_workers_along_is_played(bench: Bench) {
    let store = bench.store();
    let sessions = ["s1", "s2", "hostile", "s3", "s4"];
    store
        .submit(experiment("red", "x", &sessions))
        .await
        .unwrap();
    assert_eq!(lose_all(&bench, "w0", 9).await.len(), 5);
    let mut workers_lost = 1;
    for number in 1.. {
        let worker = format!("w{number}");
        let granted = store.lease(&worker, 9, bench.short()).await.unwrap();
        let Some(suspect) = granted.first() else {
            break;
        };
        assert_eq!(granted.len(), 1, "suspects are leased alone");
        if suspect.key.session == "hostile" {
            bench.lose(1).await;
            workers_lost += 1;
        } else {
            store.complete(&suspect.key, result("{}")).await.unwrap();
        }
    }
    let progress = store.progress("x").await.unwrap().unwrap();
    assert_eq!((progress.done, progress.dead.len()), (4, 1));
    assert_eq!(progress.dead[0].session, "hostile");
    assert_eq!(workers_lost, 1 + MOST_LOSSES_ALONE);
}

async fn suspect_is_leased_alone_and_keeps_nobody_else_waiting(bench: Bench) {
    let store = bench.store();
    let sessions = ["s1", "s2", "s3", "s4", "s5", "s6", "s7"];
    store
        .submit(experiment("red", "x", &sessions))
        .await
        .unwrap();
    assert_eq!(names(&lose_all(&bench, "w0", 2).await), ["s1", "s2"]);
    // Nobody was busy when they were lost; from here on w1 and w2 are.
    let first = store.lease("w9", 9, LONG).await.unwrap();
    assert_eq!(names(&first), ["s1"], "to a worker that is idle, alone");
    assert!(
        store.lease("w9", 9, LONG).await.unwrap().is_empty(),
        "and nothing beside it"
    );
    let second = store.lease("w8", 9, LONG).await.unwrap();
    assert_eq!(names(&second), ["s2"]);
    let busy = store.lease("w1", 1, LONG).await.unwrap();
    let other = store.lease("w2", 1, LONG).await.unwrap();
    assert_eq!((names(&busy), names(&other)), (vec!["s3"], vec!["s4"]));
    store.release(&[second[0].key.clone()]).await.unwrap();
    assert!(
        store.lease("w1", 9, LONG).await.unwrap().is_empty(),
        "one worker is emptied for the suspect"
    );
    let more = store.lease("w2", 1, LONG).await.unwrap();
    assert_eq!(names(&more), ["s5"], "the others go on");
    let mut queued = store.queued();
    queued.mark_unchanged();
    store.complete(&busy[0].key, result("{}")).await.unwrap();
    queued.changed().await.unwrap();
    assert_eq!(names(&store.lease("w1", 9, LONG).await.unwrap()), ["s2"]);
    queued.mark_unchanged();
    store.complete(&first[0].key, result("{}")).await.unwrap();
    queued.changed().await.unwrap();
    let rest = store.lease("w9", 9, LONG).await.unwrap();
    assert_eq!(names(&rest), ["s6", "s7"]);
}

async fn suspects_of_a_paused_or_cancelled_experiment_are_in_nobodys_way(bench: Bench) {
    let store = bench.store();
    for (name, sessions) in [("x", ["x1", "x2", "x3"]), ("y", ["y1", "y2", "y3"])] {
        let submitted = store.submit(experiment("red", name, &sessions)).await;
        submitted.unwrap();
    }
    assert_eq!(lose_all(&bench, "w0", 4).await.len(), 4);
    let suspect = one(store).await;
    let failed = store
        .fail(&suspect.key, Failure::BudgetSpent, "spent")
        .await;
    assert!(failed.unwrap());
    let paused = suspect.experiment;
    let other = if paused == "x" { "y" } else { "x" };
    for worker in ["w1", "w2"] {
        let granted = store.lease(worker, 9, LONG).await.unwrap().remove(0);
        assert_eq!(granted.experiment, other);
    }
    assert!(store.cancel(other).await.unwrap());
    assert!(
        store.lease("w3", 9, LONG).await.unwrap().is_empty(),
        "{paused} pauses, {other} is cancelled"
    );
    assert!(store.resume(&paused, None).await.unwrap());
    for worker in ["w1", "w2"] {
        let granted = store.lease(worker, 9, LONG).await.unwrap();
        assert_eq!(granted.len(), 1, "both suspects are back");
    }
    assert_eq!(store.lease("w3", 9, LONG).await.unwrap().len(), 1);
    assert!(store.cancel(&paused).await.unwrap());
    assert_eq!(counts(store, &paused).await, (3, 0, 0, 0));
}

async fn nobody_but_its_holder_settles_renews_or_releases_a_session(bench: Bench) {
    let store = bench.store();
    store
        .submit(experiment("red", "x", &["done", "held", "lost", "queued"]))
        .await
        .unwrap();
    let done = store.lease("w1", 1, LONG).await.unwrap().remove(0).key;
    store.complete(&done, result("one")).await.unwrap();
    let held = store.lease("w1", 1, LONG).await.unwrap().remove(0).key;
    let lost = lose_all(&bench, "w1", 1).await.remove(0).key;
    let state = async || (counts(store, "x").await, store.progress("x").await.unwrap());
    let before = state().await;
    let sessions = ["done", "held", "lost", "queued", "none"];
    let fences = [0, 1, 2, held.fence ^ 1, u64::MAX];
    let guesses = sessions.iter().flat_map(|session| {
        let guess = fences.iter().map(|fence| ("w1", *fence));
        // Whoever knows a fence that is another worker's, or another session's.
        let known = [&done, &held, &lost].into_iter().flat_map(|key| {
            let own = (key.session != *session).then_some(("w1", key.fence));
            own.into_iter().chain([("w2", key.fence), ("", key.fence)])
        });
        guess.chain(known).map(|(worker, fence)| LeaseKey {
            session: (*session).to_owned(),
            worker: worker.to_owned(),
            fence,
        })
    });
    for key in guesses {
        let completed = store.complete(&key, result("garbage")).await.unwrap();
        assert_eq!(completed, Completion::Fenced, "{key:?}");
        for failure in [Failure::Impossible, Failure::BudgetSpent, Failure::Crashed] {
            assert!(!store.fail(&key, failure, "no").await.unwrap(), "{key:?}");
        }
        store.release(std::slice::from_ref(&key)).await.unwrap();
        let renewed = store.renew(std::slice::from_ref(&key), LONG).await.unwrap();
        assert_eq!(renewed, [false], "{key:?}");
        assert_eq!(state().await, before, "{key:?}");
    }
    let results = store.results("x", None, 9).await.unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].result, Ok(result("one")));
    let finished = store.complete(&held, result("two")).await.unwrap();
    assert_eq!(finished, Completion::First, "the holder is not disturbed");
}

async fn late_result_of_a_lost_lease_is_compared_and_that_of_a_released_one_is_not(bench: Bench) {
    let store = bench.store();
    store.submit(experiment("red", "x", &["s"])).await.unwrap();
    let released = store.lease("w0", 1, LONG).await.unwrap().remove(0).key;
    store
        .release(std::slice::from_ref(&released))
        .await
        .unwrap();
    let first = lose_all(&bench, "w1", 1).await.remove(0).key;
    let second = lose_all(&bench, "w2", 1).await.remove(0).key;
    let third = store.lease("w3", 1, LONG).await.unwrap().remove(0).key;
    for late in [&released, &first, &second] {
        let early = store.complete(late, result("one")).await.unwrap();
        assert_eq!(early, Completion::Fenced, "the session is played by w3");
    }
    store.complete(&third, result("one")).await.unwrap();
    for late in [&first, &second, &third] {
        let same = store.complete(late, result("one")).await.unwrap();
        assert_eq!(same, Completion::Same);
    }
    let given_back = store.complete(&released, result("two")).await.unwrap();
    assert_eq!(given_back, Completion::Fenced);
    let progress = store.progress("x").await.unwrap().unwrap();
    assert!(progress.determinism_faults.is_empty());
    let differs = store.complete(&first, result("two")).await.unwrap();
    assert_eq!(differs, Completion::Different, "it was really given");
    let progress = store.progress("x").await.unwrap().unwrap();
    assert_eq!(progress.determinism_faults, ["s"]);
}

async fn result_that_cannot_be_unpacked_hides_no_other(bench: Bench) {
    let store = bench.store();
    let sessions = ["s1", "s2", "s3"];
    store
        .submit(experiment("red", "x", &sessions))
        .await
        .unwrap();
    for granted in lease(store, 9).await {
        store.complete(&granted.key, result("one")).await.unwrap();
    }
    // A file of zeros of more than a result may have, then what is no such file at all.
    let zeros = vec![0; 65 * 1024 * 1024];
    let mut bomb = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut bomb, &zeros).unwrap();
    for spoiled in [bomb.finish().unwrap(), vec![0xff; 9]] {
        bench.spoil("s2", &spoiled).await;
        let results = store.results("x", None, 9).await.unwrap();
        let read: Vec<bool> = results.iter().map(|one| one.result.is_ok()).collect();
        assert_eq!(read, [true, false, true]);
        let fault = results[1].result.as_ref().unwrap_err();
        assert_eq!(
            fault,
            "what is stored as the record of session s2 cannot be read"
        );
    }
}

async fn resubmission_keeps_what_is_done_and_drops_what_is_gone(bench: Bench) {
    let store = bench.store();
    store
        .submit(experiment("red", "x", &["s1", "s2", "s3", "s4"]))
        .await
        .unwrap();
    let granted = lease(store, 3).await;
    for granted in &granted[..2] {
        store
            .complete(&granted.key, result(&granted.spec))
            .await
            .unwrap();
    }
    // s1 (done), s3 (running) and s4 (queued) leave, s5 comes.
    let submitted = store
        .submit(experiment("red", "x", &["s5", "s2"]))
        .await
        .unwrap();
    assert_eq!(
        submitted,
        Submitted {
            sessions: 2,
            already_done: 1
        }
    );
    assert_eq!(counts(store, "x").await, (2, 1, 0, 1));
    assert_eq!(
        store.renew(&[granted[2].key.clone()], LONG).await.unwrap(),
        [false]
    );
    assert_eq!(names(&lease(store, 9).await), ["s5"]);
    let submitted = store
        .submit(experiment("red", "x", &["s3", "s1", "s2"]))
        .await
        .unwrap();
    assert_eq!(
        submitted,
        Submitted {
            sessions: 3,
            already_done: 2
        }
    );
    let results = store.results("x", None, 9).await.unwrap();
    let kept: Vec<&str> = results
        .iter()
        .map(|result| result.session.as_str())
        .collect();
    assert_eq!(kept, ["s1", "s2"], "the record of s1 was kept");
    let new = one(store).await;
    assert_eq!(new.key.session, "s3");
    assert_ne!(
        new.key.fence, granted[2].key.fence,
        "the old worker stays fenced off"
    );
}

/// A submission under way of which something is queued already, into an experiment in which
/// nothing was; `None` when it is done.
async fn half_submitted<'a>(
    store: &'a dyn Store,
    sessions: &[&str],
) -> Option<BoxFuture<'a, StoreResult<Submitted>>> {
    let mut submission = store.submit(experiment("red", "x", sessions));
    loop {
        tokio::select! {
            biased;
            progress = store.progress("x") => {
                if progress.unwrap().is_some_and(|progress| progress.queued > 0) {
                    return Some(submission);
                }
            }
            submitted = &mut submission => {
                submitted.unwrap();
                return None;
            }
        }
    }
}

/// Enough sessions for many steps.
fn many_names() -> Vec<String> {
    (0..2_000).map(|number| format!("s{number:04}")).collect()
}

async fn submission_cut_off_half_way_is_not_over_until_it_is_made_again(bench: Bench) {
    let names = many_names();
    let sessions: Vec<&str> = names.iter().map(String::as_str).collect();
    let store = bench.store();
    // What a coordinator that dies here leaves.
    drop(half_submitted(store, &sessions).await);
    assert_eq!(counts(store, "x").await.0, 2_000);
    let mut played = play_what_is_queued(store).await;
    let progress = store.progress("x").await.unwrap().unwrap();
    assert_eq!(progress.is_over(), played == 2_000, "{played} were played");
    assert_eq!(store.list().await.unwrap()[0].sessions, 2_000);
    let again = store.submit(experiment("red", "x", &sessions)).await;
    assert_eq!(again.unwrap().already_done, played);
    played += play_what_is_queued(store).await;
    assert_eq!(played, 2_000);
    assert!(store.progress("x").await.unwrap().unwrap().is_over());
    // An experiment can lose all its sessions, and is then over as well.
    store.submit(experiment("red", "x", &[])).await.unwrap();
    let progress = store.progress("x").await.unwrap().unwrap();
    assert!(progress.is_over() && progress.sessions == 0);
}

async fn later_submission_and_cancellation_overtake_one_under_way(bench: Bench) {
    /// A submission that was done before it could be overtaken is as good.
    async fn is_overtaken(submission: Option<BoxFuture<'_, StoreResult<Submitted>>>) {
        if let Some(submission) = submission {
            let answer = submission.await;
            assert!(matches!(answer, Ok(_) | Err(StoreError::Overtaken { .. })));
        }
    }
    let names = many_names();
    let sessions: Vec<&str> = names.iter().map(String::as_str).collect();
    let store = bench.store();
    let first = half_submitted(store, &sessions).await;
    store.submit(experiment("red", "x", &[])).await.unwrap();
    is_overtaken(first).await;
    assert_eq!(counts(store, "x").await, (0, 0, 0, 0));
    let again = half_submitted(store, &sessions).await;
    assert!(store.cancel("x").await.unwrap());
    is_overtaken(again).await;
    let progress = store.progress("x").await.unwrap().unwrap();
    assert!(progress.is_over() && progress.cancelled);
}

async fn play_what_is_queued(store: &dyn Store) -> u64 {
    let mut played = 0;
    loop {
        let granted = lease(store, 500).await;
        if granted.is_empty() {
            return played;
        }
        for granted in granted {
            store.complete(&granted.key, result("r")).await.unwrap();
            played += 1;
        }
    }
}

async fn cancelled_sessions_are_lost_to_their_workers(bench: Bench) {
    let store = bench.store();
    store
        .submit(experiment("red", "x", &["s1", "s2", "s3"]))
        .await
        .unwrap();
    let granted = lease(store, 2).await;
    store
        .complete(&granted[0].key, result("one"))
        .await
        .unwrap();
    assert!(store.cancel("x").await.unwrap());
    assert!(store.cancel("x").await.unwrap());
    let progress = store.progress("x").await.unwrap().unwrap();
    assert!(progress.cancelled && progress.is_over());
    assert_eq!((progress.sessions, progress.done), (3, 1));
    assert!(lease(store, 9).await.is_empty());
    let key = granted[1].key.clone();
    assert_eq!(
        store.renew(std::slice::from_ref(&key), LONG).await.unwrap(),
        [false]
    );
    assert_eq!(
        store.complete(&key, result("two")).await.unwrap(),
        Completion::Fenced
    );
    store
        .submit(experiment("red", "x", &["s1", "s2", "s3"]))
        .await
        .unwrap();
    assert_eq!(names(&lease(store, 9).await), ["s2", "s3"]);
    assert!(!store.progress("x").await.unwrap().unwrap().cancelled);
}

async fn results_come_in_the_experiments_order_page_by_page(bench: Bench) {
    let store = bench.store();
    let names: Vec<String> = (0..30)
        .map(|number| format!("s{}", (number * 7) % 30))
        .collect();
    let sessions: Vec<&str> = names.iter().map(String::as_str).collect();
    store
        .submit(experiment("red", "x", &sessions))
        .await
        .unwrap();
    let mut granted = lease(store, 30).await;
    granted.reverse();
    let left_out = granted.swap_remove(11).key.session;
    let long = |spec: &str| result(&format!("{spec} {}", "0123456789é".repeat(20_000)));
    for granted in &granted {
        store
            .complete(&granted.key, long(&granted.spec))
            .await
            .unwrap();
    }
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = store.results("x", after, 4).await.unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 4);
        after = Some(last.position);
        for found in page {
            assert_eq!(
                found.result,
                Ok(long(&format!("spec of {}", found.session)))
            );
            seen.push(found.session);
        }
    }
    let expected: Vec<String> = names.into_iter().filter(|name| *name != left_out).collect();
    assert_eq!(seen, expected);
}

async fn experiment_of_another_team_is_refused(bench: Bench) {
    let store = bench.store();
    store.submit(experiment("red", "x", &["s"])).await.unwrap();
    let error = store
        .submit(experiment("blue", "x", &["t"]))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, StoreError::OtherTeam { team, .. } if team == "red"),
        "{error}"
    );
    assert_eq!(counts(store, "x").await, (1, 1, 0, 0));
}

async fn unknown_names_are_answered_not_failed(bench: Bench) {
    let store = bench.store();
    assert_eq!(store.progress("none").await.unwrap(), None);
    assert!(!store.cancel("none").await.unwrap());
    assert_eq!(store.retry("none", &[]).await.unwrap(), None);
    assert!(store.results("none", None, 9).await.unwrap().is_empty());
    assert!(store.list().await.unwrap().is_empty());
    assert_eq!(store.bundle("none").await.unwrap(), None);
    assert!(store.renew(&[], LONG).await.unwrap().is_empty());
    store.release(&[]).await.unwrap();
    assert_eq!(store.expire().await.unwrap(), 0);
}

async fn templates_workers_and_lists_are_kept(bench: Bench) {
    let store = bench.store();
    let templates = [(
        "guess/system.j2".to_owned(),
        "say {{ a }} \"ü\"\n".to_owned(),
    )];
    let templates = std::collections::BTreeMap::from(templates);
    let mut new = experiment("red", "x", &["s1", "s2"]);
    new.bundle = Some(("d1".to_owned(), templates.clone()));
    store.submit(new).await.unwrap();
    store
        .submit(experiment("blue", "a", &["t1"]))
        .await
        .unwrap();
    assert_eq!(store.bundle("d1").await.unwrap(), Some(templates));
    let granted = one(store).await;
    store.complete(&granted.key, result("one")).await.unwrap();
    let done = granted.experiment;
    let list = store.list().await.unwrap();
    let shown: Vec<(&str, &str, u64, bool)> = list
        .iter()
        .map(|entry| {
            (
                entry.id.as_str(),
                entry.team.as_str(),
                entry.sessions,
                entry.done == 1,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [("a", "blue", 1, done == "a"), ("x", "red", 2, done == "x")]
    );
    for worker in ["w1", "w2", "w1"] {
        store.greet(worker, LONG).await.unwrap();
    }
    assert_eq!(store.progress("x").await.unwrap().unwrap().workers, 2);
}

/// An experiment that may cost so much.
fn with_budget(sessions: &[&str], budget: Option<u64>) -> NewExperiment {
    let terms = Terms {
        budget,
        ..Terms::default()
    };
    NewExperiment {
        terms,
        ..experiment("red", "x", sessions)
    }
}

async fn paused(store: &dyn Store) -> String {
    store.progress("x").await.unwrap().unwrap().paused
}

async fn spend(store: &dyn Store, lease: &Granted, reason: &str) {
    let noted = store.fail(&lease.key, Failure::BudgetSpent, reason).await;
    assert!(noted.unwrap());
}

async fn spent_budget_pauses_the_experiment_and_uses_up_no_try(bench: Bench) {
    let store = bench.store();
    let sessions = ["s1", "s2", "s3"];
    let new = with_budget(&sessions, Some(7_000_000_000));
    store.submit(new).await.unwrap();
    let granted = lease(store, 2).await;
    assert_eq!(granted[0].terms.budget, Some(7_000_000_000));
    spend(store, &granted[0], "$7 are spent").await;
    assert_eq!(counts(store, "x").await, (3, 2, 1, 0));
    assert!(lease(store, 9).await.is_empty(), "it pauses");
    store.submit(experiment("red", "y", &["t"])).await.unwrap();
    assert_eq!(names(&lease(store, 9).await), ["t"], "others go on");
    spend(store, &granted[1], "later reason").await;
    let progress = store.progress("x").await.unwrap().unwrap();
    assert_eq!(progress.paused, "$7 are spent", "the first reason stays");
    assert!(!progress.is_over() && progress.parked.is_empty() && progress.dead.is_empty());
    let list = store.list().await.unwrap();
    assert_eq!(list[0].paused, "$7 are spent");
    assert_eq!(list[1].paused, "");

    let bench = bench.crash().await;
    let store = bench.store();
    assert!(lease(store, 9).await.is_empty(), "a crash ends no pause");
    assert!(store.resume("x", Some(8_000_000_000)).await.unwrap());
    assert_eq!(paused(store).await, "");
    let again = lease(store, 9).await;
    assert_eq!(names(&again), sessions, "they kept their places");
    for granted in again {
        assert_eq!(granted.attempt, 1, "no try was used up");
        assert_eq!(granted.terms.budget, Some(8_000_000_000));
    }
    assert!(!store.resume("none", None).await.unwrap());
}

async fn lease_from_before_a_resumption_cannot_pause_again(bench: Bench) {
    let store = bench.store();
    store
        .submit(with_budget(&["s1", "s2", "s3"], Some(5)))
        .await
        .unwrap();
    let granted = lease(store, 3).await;
    spend(store, &granted[0], "spent").await;
    assert!(store.resume("x", Some(9)).await.unwrap());
    spend(store, &granted[1], "spent under the old budget").await;
    assert_eq!(paused(store).await, "");
    let again = lease(store, 9).await;
    assert_eq!(names(&again), ["s1", "s2"]);
    // A raise that comes before the news of the old budget counts as well.
    store
        .submit(with_budget(&["s1", "s2", "s3"], Some(20)))
        .await
        .unwrap();
    spend(store, &granted[2], "spent under the old budget").await;
    assert_eq!(paused(store).await, "");
    let last = one(store).await;
    assert_eq!(last.terms.budget, Some(20));
    spend(store, &last, "spent again").await;
    assert_eq!(paused(store).await, "spent again");
}

async fn higher_budget_in_the_file_resumes_and_a_resumption_outlasts_an_unchanged_file(
    bench: Bench,
) {
    let store = bench.store();
    let submit = async |budget| {
        let new = with_budget(&["s1", "s2"], budget);
        store.submit(new).await.unwrap();
    };
    submit(Some(9)).await;
    spend(store, &one(store).await, "spent").await;
    submit(Some(9)).await;
    submit(Some(8)).await;
    assert_eq!(paused(store).await, "spent", "no more than before");
    submit(Some(10)).await;
    assert_eq!(paused(store).await, "");
    let granted = one(store).await;
    assert_eq!(granted.terms.budget, Some(10));
    spend(store, &granted, "spent").await;
    store.resume("x", Some(30)).await.unwrap();
    submit(Some(10)).await;
    let granted = one(store).await;
    assert_eq!(granted.terms.budget, Some(30), "the file did not change");
    spend(store, &granted, "spent").await;
    submit(None).await;
    assert_eq!(one(store).await.terms.budget, None, "no budget any more");
}

async fn higher_priority_is_leased_first_within_its_team(bench: Bench) {
    let store = bench.store();
    let submit = async |team, id, sessions: &[&str], priority| {
        let terms = Terms {
            priority,
            content_cache: priority == 100,
            ..Terms::default()
        };
        let new = experiment(team, id, sessions);
        store.submit(NewExperiment { terms, ..new }).await.unwrap();
    };
    submit("red", "low", &["l1", "l2"], -100).await;
    submit("red", "usual", &["u1", "u2"], 0).await;
    submit("red", "high", &["h1", "h2"], 100).await;
    submit("blue", "other", &["b1", "b2", "b3"], 0).await;
    let granted = lease(store, 4).await;
    let red: Vec<&Granted> = granted.iter().filter(|one| one.team == "red").collect();
    assert_eq!(red.len(), 2, "teams take turns whatever the priority");
    assert_eq!(red[0].key.session, "h1");
    assert_eq!(
        (red[0].terms.priority, red[0].terms.content_cache),
        (100, true)
    );
    // Another priority counts from now on, also for what waits.
    submit("red", "low", &["l1", "l2"], 50).await;
    let rest = lease(store, 9).await;
    let red: Vec<&str> = names(&rest)
        .into_iter()
        .filter(|one| !one.starts_with('b'))
        .collect();
    assert_eq!(red, ["l1", "l2", "u1", "u2"]);
}

async fn cancellation_ends_a_pause(bench: Bench) {
    let store = bench.store();
    store
        .submit(with_budget(&["s1", "s2"], Some(5)))
        .await
        .unwrap();
    spend(store, &one(store).await, "spent").await;
    assert!(store.cancel("x").await.unwrap());
    let progress = store.progress("x").await.unwrap().unwrap();
    assert!(progress.is_over() && progress.cancelled && progress.paused.is_empty());
    assert!(store.list().await.unwrap()[0].cancelled);
    store
        .submit(with_budget(&["s1", "s2"], Some(5)))
        .await
        .unwrap();
    assert_eq!(names(&lease(store, 9).await), ["s1", "s2"]);
}

async fn queueing_is_announced(bench: Bench) {
    let store = bench.store();
    let mut queued = store.queued();
    let patience = std::time::Duration::from_secs(10);
    store.submit(experiment("red", "x", &["s"])).await.unwrap();
    tokio::time::timeout(patience, queued.changed())
        .await
        .unwrap()
        .unwrap();
    let key = one(store).await.key;
    // Wait for a quiet channel: Redis also announces that it listens.
    queued.mark_unchanged();
    store.release(&[key]).await.unwrap();
    tokio::time::timeout(patience, queued.changed())
        .await
        .unwrap()
        .unwrap();
}

async fn acknowledged_changes_survive_a_crash(bench: Bench) {
    let keys = {
        let store = bench.store();
        store
            .submit(experiment("red", "x", &["s1", "s2", "s3", "s4"]))
            .await
            .unwrap();
        let granted = lease(store, 3).await;
        store
            .complete(&granted[0].key, result("one"))
            .await
            .unwrap();
        store
            .fail(&granted[1].key, Failure::Parked, "no answer")
            .await
            .unwrap();
        granted
            .into_iter()
            .map(|granted| granted.key)
            .collect::<Vec<_>>()
    };
    let bench = bench.crash().await;
    let store = bench.store();
    assert_eq!(counts(store, "x").await, (4, 1, 1, 1));
    assert_eq!(
        store.complete(&keys[0], result("one")).await.unwrap(),
        Completion::Same
    );
    assert_eq!(store.renew(&keys[2..], LONG).await.unwrap(), [true]);
    assert_eq!(
        store.results("x", None, 9).await.unwrap()[0].result,
        Ok(result("one"))
    );
    let next = one(store).await;
    assert_eq!(next.key.session, "s4");
    assert_ne!(next.key.fence, keys[2].fence);
}

#[tokio::test]
async fn second_process_on_the_same_folder_is_refused() {
    use agon_coordinator::store::EmbeddedStore;
    let folder = tempfile::tempdir().unwrap();
    let first = EmbeddedStore::open(folder.path()).unwrap();
    let error = EmbeddedStore::open(folder.path()).err().unwrap();
    assert!(
        error.to_string().ends_with("is in use by another process"),
        "{error}"
    );
    first.close();
    assert!(matches!(first.expire().await, Err(StoreError::Stopped)));
    EmbeddedStore::open(folder.path()).unwrap();
}

#[tokio::test]
async fn unreachable_redis_is_one_clear_line_without_the_password() {
    use agon_coordinator::store::RedisStore;
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let error = RedisStore::connect(&format!("redis://:secret@127.0.0.1:{port}"))
        .await
        .err();
    let text = error.unwrap().to_string();
    assert!(
        text.starts_with(&format!("cannot reach redis at redis://127.0.0.1:{port};")),
        "{text}"
    );
    assert!(!text.contains("secret"));
}
