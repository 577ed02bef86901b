//! Claims about commands: submitting again with another grid or other versions, cancelling, retrying,
//! deleting.

use super::*;

fn with_prompts(version: &str, cells: &[&str]) -> ExperimentSubmitted {
    ExperimentSubmitted {
        requirements: vec![requirement("prompts of direct", version, false)],
        ..experiment("x", "red", cells, 2, 1)
    }
}

#[test]
fn resubmission_keeps_what_is_done_and_drops_what_is_gone() {
    let mut bench = Bench::new();
    let key = bench.submit("x", "red", &["a", "b", "c", "d"], 1, 1);
    bench.worker("w", 3);
    let granted = bench.granted("w");
    bench.finish_with("w", granted[0].lease, "a");
    bench.finish_with("w", granted[1].lease, "b");
    let first = bench.queue.finished_at(key, 0);
    // a (done), c (running) and d (running) leave, e comes.
    assert_eq!(bench.submit("x", "red", &["e", "b"], 1, 1), key);
    assert_eq!(bench.counts("x"), (2, 0, 1, 1));
    let revoked: Vec<u64> = bench.revoked.iter().map(|lease| lease.grant).collect();
    let running = bench.granted("w");
    assert!(revoked.contains(&granted[2].lease.grant));
    assert_eq!(
        bench.finish("w", granted[2].lease),
        Settled::Fenced,
        "c is no more"
    );
    let e = running.last().unwrap();
    assert_eq!(e.lease.session.position, 0);
    assert_ne!(e.lease.grid, granted[0].lease.grid);
    bench.submit("x", "red", &["c", "a", "b"], 1, 1);
    assert_eq!(bench.counts("x"), (3, 0, 1, 2));
    assert_eq!(
        bench.queue.finished_at(key, 1),
        first,
        "the record of a was kept"
    );
    let listed = bench.queue.finished("x", None, 9).unwrap();
    assert_eq!(listed.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1, 2]);
    let new = bench.one("w");
    assert_eq!(new.lease.session.position, 0);
    assert_ne!(new.lease.grid, e.lease.grid);
}

#[test]
fn changed_grid_moves_states_tries_faults_and_leases() {
    let mut bench = Bench::new();
    let key = bench.submit(
        "x",
        "red",
        &["done", "held", "parked", "crashed", "fresh"],
        1,
        1,
    );
    bench.worker("w", 4);
    let granted = bench.granted("w");
    bench.leave("w");
    bench.finish_with("w", granted[0].lease, "one");
    bench.finish_with("w", granted[0].lease, "two");
    bench.fail("w", granted[2].lease, Failure::Parked, "no answer");
    bench.fail("w", granted[3].lease, Failure::Crashed, "overflow");
    let held = granted[1].lease;
    bench.submit(
        "x",
        "red",
        &["fresh", "crashed", "parked", "held", "done"],
        1,
        1,
    );
    let progress = bench.progress("x");
    assert_eq!(
        (progress.queued, progress.running, progress.done),
        (2, 1, 1)
    );
    assert_eq!(progress.determinism_faults, [4]);
    let parked = &progress.parked[0];
    assert_eq!((parked.position, &*parked.reason), (2, "no answer"));
    // Its worker knows it under the old place, and comes back with it.
    assert!(bench.back("w", 9, &[held]).is_empty());
    let rest = bench.granted("w");
    assert_eq!(positions(&rest), [0, 1]);
    assert_eq!(rest[1].attempt, 2);
    assert_eq!(bench.finish("w", held), Settled::Stored);
    assert!(bench.queue.finished_at(key, 3).is_some());
    assert!(bench.revoked.is_empty());
}

#[test]
fn session_of_an_older_grid_that_nobody_knows_any_more_is_played_again() {
    let mut bench = Bench::new();
    bench.submit("x", "red", &["a", "b"], 1, 1);
    bench.worker("w", 1);
    let old = bench.one("w").lease;
    bench.submit("x", "red", &["b", "a"], 1, 1);
    bench.restart();
    // Position 0 is another session now: nothing of it is taken for the old one.
    assert_eq!(bench.back("w", 0, &[old]), [old]);
    assert_eq!(bench.finish("w", old), Settled::Fenced);
    assert_eq!(bench.counts("x"), (2, 2, 0, 0));
}

#[test]
fn order_of_crashed_sessions_outlasts_another_grid() {
    let mut bench = Bench::new();
    bench.submit("x", "red", &["a", "b", "c"], 1, 1);
    bench.worker("w", 3);
    let granted = bench.granted("w");
    bench.leave("w");
    for crashed in [1, 2, 0] {
        bench.fail("w", granted[crashed].lease, Failure::Crashed, "overflow");
    }
    bench.submit("x", "red", &["new", "c", "b", "a"], 1, 1);
    bench.worker("v", 9);
    assert_eq!(bench.positions("v"), [0, 2, 1, 3]);
}

#[test]
fn experiment_can_lose_all_its_sessions_and_get_them_back() {
    let mut bench = Bench::new();
    bench.submit("x", "red", &["a"], 2, 1);
    bench.worker("w", 2);
    let granted = bench.granted("w");
    bench.finish("w", granted[1].lease);
    bench.submit("x", "red", &[], 2, 1);
    let progress = bench.progress("x");
    assert!(progress.is_over() && progress.sessions == 0);
    assert_eq!(bench.revoked.len(), 1);
    bench.submit("x", "red", &["a"], 1, 1);
    assert_eq!(bench.counts("x"), (1, 0, 1, 0));
    bench.submit("x", "red", &["a"], 2, 1);
    assert_eq!(
        bench.counts("x"),
        (2, 0, 1, 1),
        "the second repeat was done"
    );
    bench.restart();
    bench.submit("x", "red", &["a"], 1, 1);
    bench.restart_from_snapshot();
    bench.submit("x", "red", &["a"], 2, 1);
    assert_eq!(
        bench.counts("x"),
        (2, 1, 0, 1),
        "a snapshot keeps what has left"
    );
}

#[test]
fn cancelled_sessions_are_lost_to_their_workers() {
    let mut bench = Bench::new();
    bench.sessions("x", 3);
    bench.worker("w", 2);
    let granted = bench.granted("w");
    bench.finish("w", granted[0].lease);
    let running = [granted[1].lease, bench.one("w").lease];
    bench.cancel("x");
    bench.cancel("x");
    let progress = bench.progress("x");
    assert!(progress.cancelled && progress.is_over());
    assert_eq!((progress.sessions, progress.done), (3, 1));
    assert_eq!(bench.revoked, running);
    assert_eq!(bench.finish("w", running[0]), Settled::Fenced);
    assert_eq!(bench.back("w", 2, &running), running, "it lost them");
    assert!(bench.granted("w").is_empty());
    bench.restart();
    assert_eq!(bench.back("w", 2, &running), running);
    bench.sessions("x", 3);
    assert_eq!(bench.positions("w"), [1, 2]);
    assert!(!bench.progress("x").cancelled);
}

#[test]
fn suspect_that_was_cancelled_begins_anew() {
    let mut bench = Bench::new();
    bench.sessions("x", 1);
    bench.worker("v", 1);
    bench.lose("v");
    bench.cancel("x");
    bench.sessions("x", 1);
    bench.worker("w", 1);
    let granted = bench.one("w");
    assert_eq!((granted.attempt, granted.suspect), (1, false));
    bench.restart_from_snapshot();
    bench.restart();
}

#[test]
fn what_was_set_aside_in_a_cancelled_experiment_is_tried_again_only_with_the_rest_of_it() {
    let mut bench = Bench::new();
    bench.sessions("x", 3);
    bench.worker("w", 1);
    let lease = bench.one("w").lease;
    bench.fail("w", lease, Failure::Parked, "no answer");
    bench.granted("w");
    bench.cancel("x");
    let now = bench.now;
    let refused = bench.queue.retry("x", None, now);
    assert_eq!(refused, Err(Refusal::Cancelled("x".to_owned())));
    assert!(bench.progress("x").cancelled);
}

#[test]
fn experiment_of_another_team_is_refused() {
    let mut bench = Bench::new();
    bench.sessions("x", 1);
    let refused = bench.submit_as(experiment("x", "blue", &["cell"], 1, 1));
    let expected = Refusal::OtherTeam {
        experiment: "x".to_owned(),
        team: "red".to_owned(),
    };
    assert_eq!(refused, Err(expected));
    assert_eq!(bench.counts("x"), (1, 1, 0, 0));
}

#[test]
fn unknown_names_are_answered() {
    let mut bench = Bench::new();
    let unknown = Refusal::Unknown("none".to_owned());
    let now = bench.now;
    assert_eq!(bench.queue.progress("none"), Err(unknown.clone()));
    assert_eq!(bench.queue.cancel("none", now), Err(unknown.clone()));
    assert_eq!(bench.queue.retry("none", None, now), Err(unknown.clone()));
    assert_eq!(
        bench.queue.resume("none", None, None, now),
        Err(unknown.clone())
    );
    assert_eq!(bench.queue.delete("none"), Err(unknown.clone()));
    assert_eq!(bench.queue.finished("none", None, 9), Err(unknown.clone()));
    assert_eq!(bench.queue.number("none"), Err(unknown));
    assert_eq!(bench.queue.version("none"), None);
    assert!(bench.queue.list().is_empty() && bench.queue.numbers().is_empty());
    assert!(bench.queue.effects().is_empty(), "nothing was journaled");
}

#[test]
fn other_versions_are_refused_while_finished_sessions_would_leave() {
    let mut bench = Bench::new();
    bench.submit_as(with_prompts("1", &["a", "b"])).unwrap();
    // Nothing is done: nothing is lost.
    bench.submit_as(with_prompts("2", &["c", "d"])).unwrap();
    bench.worker("w", 3);
    for granted in bench.granted("w") {
        bench.finish("w", granted.lease);
    }
    let refused = bench.submit_as(with_prompts("3", &["e", "d"])).unwrap_err();
    let expected = Refusal::OtherVersions {
        experiment: "x".to_owned(),
        leaving: 2,
        staying: 1,
        what: "prompts of direct 2, now 3".to_owned(),
    };
    assert_eq!(refused, expected);
    assert_eq!(bench.progress("x").done, 3, "nothing was changed");
    let now = bench.now;
    bench
        .queue
        .submit(with_prompts("3", &["e", "d"]), true, None, now)
        .unwrap();
    bench.carry_out();
    assert_eq!(bench.progress("x").done, 1);
    // Who goes back to what was played has it back.
    bench
        .queue
        .submit(with_prompts("2", &["c", "d"]), true, None, now)
        .unwrap();
    bench.carry_out();
    assert_eq!(bench.progress("x").done, 3);
}

#[test]
fn other_grid_of_the_same_versions_and_new_requirements_are_not_refused() {
    let mut bench = Bench::new();
    bench.submit_as(with_prompts("1", &["a"])).unwrap();
    bench.worker("w", 1);
    let lease = bench.one("w").lease;
    bench.finish("w", lease);
    bench.submit_as(with_prompts("1", &["b"])).unwrap();
    let mut more = with_prompts("1", &["c"]);
    more.requirements
        .push(requirement("rules of pirate", "2", false));
    bench.submit_as(more).unwrap();
    // Other versions that make the same sessions leave nothing behind.
    bench.submit_as(with_prompts("1", &["a"])).unwrap();
    bench.submit_as(with_prompts("2", &["a", "b"])).unwrap();
    assert_eq!(bench.progress("x").done, 1);
}

#[test]
fn only_an_experiment_that_is_over_or_cancelled_is_deleted() {
    let mut bench = Bench::new();
    let key = bench.sessions("x", 1);
    bench.sessions("y", 1);
    bench.worker("w", 1);
    let not_over = Err(Refusal::NotOver("x".to_owned()));
    assert_eq!(bench.queue.delete("x"), not_over);
    let lease = bench.one("w").lease;
    assert_eq!(bench.queue.delete("x"), not_over);
    bench.finish("w", lease);
    assert_eq!(bench.queue.delete("x"), Ok(key));
    bench.cancel("y");
    bench.queue.delete("y").unwrap();
    bench.carry_out();
    assert!(bench.queue.list().is_empty());
    assert_eq!(bench.finish("w", lease), Settled::Fenced);
    bench.restart();
    // Its number is never used again: segments and leases of the old one do not meet the new one.
    assert!(bench.sessions("x", 1) > key + 1);
}

#[test]
fn numbers_are_not_given_again_after_a_snapshot() {
    let mut bench = Bench::new();
    let key = bench.submit("x", "red", &[], 1, 1);
    bench.queue.delete("x").unwrap();
    bench.carry_out();
    bench.restart_from_snapshot();
    assert_eq!(bench.sessions("x", 1), key + 1);
}

#[test]
fn outdated_experiments_are_not_granted_until_submitted_again() {
    let mut bench = Bench::new();
    let key = bench.sessions("x", 1);
    bench.restart();
    bench
        .queue
        .set_outdated(key, "other rules".to_owned(), bench.now);
    bench.worker("w", 1);
    assert!(bench.granted("w").is_empty());
    let progress = bench.progress("x");
    assert_eq!((progress.queued, &*progress.unplayable), (1, "other rules"));
    assert!(!progress.is_over(), "it waits");
    bench.sessions("x", 1);
    assert_eq!(bench.granted("w").len(), 1);
    assert_eq!(bench.progress("x").unplayable, "");
}

#[test]
fn every_change_is_seen_by_its_version() {
    let mut bench = Bench::new();
    bench.sessions("x", 2);
    let mut version = bench.queue.version("x").unwrap();
    let mut changed = |bench: &Bench, what: &str| {
        let now = bench.queue.version("x").unwrap();
        assert!(now > version, "{what}");
        version = now;
    };
    bench.worker("w", 1);
    changed(&bench, "a grant");
    let lease = bench.one("w").lease;
    bench.fail("w", lease, Failure::BudgetSpent, "spent");
    changed(&bench, "a pause");
    bench.resume("x", None);
    changed(&bench, "a resumption");
    for granted in bench.granted("w") {
        bench.fail("w", granted.lease, Failure::Parked, "no answer");
    }
    changed(&bench, "a session set aside");
    bench.retry("x", None);
    changed(&bench, "a retry");
    bench.cancel("x");
    changed(&bench, "a cancellation");
    let unseen = bench.queue.version("x");
    bench.sessions("y", 1);
    bench.cancel("y");
    assert_eq!(bench.queue.version("x"), unseen, "others are not disturbed");
}
