//! Claims about pauses: a spent budget begins one, a resumption or a higher budget ends it; one that
//! somebody began ends with a resumption only.
//! One queue on the bench of `tests.rs`; no store, no stream, no clock.

use super::*;

fn with_budget(repeats: u32, budget: Option<u64>) -> ExperimentSubmitted {
    ExperimentSubmitted {
        budget_nanodollars: budget,
        ..experiment("x", "red", &["cell"], repeats, 1)
    }
}

fn spend(bench: &mut Bench, worker: &str, granted: &Granted, reason: &str) {
    let noted = bench.fail(worker, granted.lease, Failure::BudgetSpent, reason);
    assert_eq!(noted, Settled::Noted);
}

fn paused(bench: &Bench) -> String {
    bench.progress("x").paused
}

#[test]
fn spent_budget_pauses_the_experiment_and_uses_up_no_try() {
    let mut bench = Bench::new();
    bench.submit_as(with_budget(3, Some(7))).unwrap();
    bench.worker("w", 2);
    let granted = bench.granted("w");
    assert_eq!(granted[0].budget, Some(7));
    spend(&mut bench, "w", &granted[0], "$7 are spent");
    assert_eq!(bench.counts("x"), (3, 2, 1, 0));
    assert!(bench.granted("w").is_empty(), "it pauses");
    let y = bench.sessions("y", 1);
    assert_eq!(bench.one("w").lease.session.experiment, y, "others go on");
    spend(&mut bench, "w", &granted[1], "later reason");
    let progress = bench.progress("x");
    assert_eq!(progress.paused, "$7 are spent", "the first reason stays");
    assert!(!progress.is_over() && progress.parked.is_empty() && progress.dead.is_empty());
    let list = bench.queue.list();
    assert_eq!((&*list[0].paused, &*list[1].paused), ("$7 are spent", ""));

    bench.restart();
    bench.worker("v", 9);
    let granted = bench.granted("v");
    assert!(
        granted.iter().all(|one| one.lease.session.experiment == y),
        "a crash ends no pause"
    );
    bench.resume("x", Some(8));
    assert_eq!(paused(&bench), "");
    let again = bench.granted("v");
    assert_eq!(positions(&again), [0, 1, 2], "they kept their places");
    for granted in again {
        assert_eq!(
            (granted.attempt, granted.budget),
            (1, Some(8)),
            "no try was used up"
        );
    }
    assert_eq!(
        bench.queue.resume("none", None, None, bench.now),
        Err(Refusal::Unknown("none".into()))
    );
}

#[test]
fn lease_from_before_a_resumption_cannot_pause_again() {
    let mut bench = Bench::new();
    bench.submit_as(with_budget(3, Some(5))).unwrap();
    bench.worker("w", 3);
    let granted = bench.granted("w");
    spend(&mut bench, "w", &granted[0], "spent");
    bench.resume("x", Some(9));
    spend(&mut bench, "w", &granted[1], "spent under the old budget");
    assert_eq!(paused(&bench), "");
    assert_eq!(bench.positions("w"), [0, 1]);
    // A raise that comes before the news of the old budget counts as well.
    bench.submit_as(with_budget(3, Some(20))).unwrap();
    spend(&mut bench, "w", &granted[2], "spent under the old budget");
    assert_eq!(paused(&bench), "");
    let last = bench.one("w");
    assert_eq!(last.budget, Some(20));
    spend(&mut bench, "w", &last, "spent again");
    assert_eq!(paused(&bench), "spent again");
}

#[test]
fn lease_of_the_owner_before_cannot_pause_and_the_next_one_can() {
    for by_snapshot in [false, true] {
        let mut bench = Bench::new();
        bench.submit_as(with_budget(1, Some(5))).unwrap();
        bench.resume("x", Some(6));
        bench.worker("w", 1);
        let old = bench.one("w");
        // Whatever the epochs are, the order of their leases decides nothing.
        for _ in 0..50 {
            match by_snapshot {
                true => bench.restart_from_snapshot(),
                false => bench.restart(),
            }
            assert!(bench.back("w", 1, &[old.lease]).is_empty());
            spend(&mut bench, "w", &old, "spent under another owner");
            assert_eq!(paused(&bench), "");
            let new = bench.one("w");
            spend(&mut bench, "w", &new, "spent");
            assert_eq!(paused(&bench), "spent");
            bench.resume("x", None);
        }
    }
}

#[test]
fn higher_budget_in_the_file_resumes_and_a_resumption_outlasts_an_unchanged_file() {
    let mut bench = Bench::new();
    let submit = |bench: &mut Bench, budget| {
        bench.submit_as(with_budget(1, budget)).unwrap();
    };
    submit(&mut bench, Some(9));
    bench.worker("w", 1);
    let granted = bench.one("w");
    spend(&mut bench, "w", &granted, "spent");
    submit(&mut bench, Some(9));
    submit(&mut bench, Some(8));
    assert_eq!(paused(&bench), "spent", "no more than before");
    submit(&mut bench, Some(10));
    assert_eq!(paused(&bench), "");
    let granted = bench.one("w");
    assert_eq!(granted.budget, Some(10));
    spend(&mut bench, "w", &granted, "spent");
    bench.resume("x", Some(30));
    submit(&mut bench, Some(10));
    let granted = bench.one("w");
    assert_eq!(granted.budget, Some(30), "the file did not change");
    spend(&mut bench, "w", &granted, "spent");
    submit(&mut bench, None);
    assert_eq!(bench.one("w").budget, None, "no budget any more");
}

#[test]
fn cancellation_ends_a_pause() {
    let mut bench = Bench::new();
    bench.submit_as(with_budget(2, Some(5))).unwrap();
    bench.worker("w", 1);
    let granted = bench.one("w");
    spend(&mut bench, "w", &granted, "spent");
    bench.cancel("x");
    let progress = bench.progress("x");
    assert!(progress.is_over() && progress.cancelled && progress.paused.is_empty());
    assert!(bench.queue.list()[0].cancelled);
    bench.submit_as(with_budget(2, Some(5))).unwrap();
    assert_eq!(bench.positions("w"), [0]);
}

#[test]
fn pause_without_a_reason_has_one() {
    let mut bench = Bench::new();
    bench.submit_as(with_budget(1, Some(5))).unwrap();
    bench.worker("w", 1);
    let granted = bench.one("w");
    spend(&mut bench, "w", &granted, "");
    assert_eq!(paused(&bench), "a budget is spent");
}

#[test]
fn what_somebody_pauses_is_played_to_its_end_and_begins_again_when_it_is_resumed() {
    let mut bench = Bench::new();
    bench.submit_as(with_budget(3, Some(7))).unwrap();
    bench.worker("w", 1);
    let running = bench.one("w");
    bench
        .pause_by_hand("x", "the model changes at noon")
        .unwrap();
    assert_eq!(bench.finish("w", running.lease), Settled::Stored);
    assert_eq!(bench.counts("x"), (3, 2, 0, 1));
    assert!(bench.granted("w").is_empty(), "nothing more begins");
    // A higher budget is no reason to go on, nor is another owner.
    bench.submit_as(with_budget(3, Some(70))).unwrap();
    bench.restart();
    bench.restart_from_snapshot();
    bench.worker("v", 9);
    assert!(bench.granted("v").is_empty());
    let progress = bench.progress("x");
    assert_eq!(progress.paused, "the model changes at noon");
    assert!(progress.paused_by_hand && bench.queue.list()[0].paused_by_hand);
    bench.resume("x", None);
    assert_eq!(bench.granted("v").len(), 2);
    let progress = bench.progress("x");
    assert_eq!((&*progress.paused, progress.paused_by_hand), ("", false));
}

#[test]
fn pause_of_what_is_over_or_cancelled_is_refused_and_cancelling_ends_a_pause() {
    let mut bench = Bench::new();
    bench.submit_as(with_budget(2, None)).unwrap();
    let unknown = Err(Refusal::Unknown("y".to_owned()));
    assert_eq!(bench.pause_by_hand("y", "why"), unknown);
    bench.pause_by_hand("x", "why").unwrap();
    bench.cancel("x");
    let progress = bench.progress("x");
    assert_eq!((&*progress.paused, progress.paused_by_hand), ("", false));
    let nothing = Err(Refusal::NothingLeft("x".to_owned()));
    assert_eq!(bench.pause_by_hand("x", "why"), nothing);
}

#[test]
fn what_is_over_cannot_be_cancelled_and_what_is_cancelled_cannot_be_resumed() {
    let mut bench = Bench::new();
    bench.worker("w", 1);
    bench.submit_as(with_budget(1, None)).unwrap();
    let running = bench.one("w");
    bench.finish("w", running.lease);
    let nothing = Err(Refusal::NothingLeft("x".to_owned()));
    assert_eq!(bench.queue.cancel("x", bench.now), nothing);
    assert!(!bench.progress("x").cancelled);
    bench.submit_as(with_budget(2, None)).unwrap();
    assert_eq!(bench.positions("w"), [1]);
    bench.cancel("x");
    // Who did not hear the answer asks again.
    bench.cancel("x");
    let cancelled = Err(Refusal::Cancelled("x".to_owned()));
    assert_eq!(bench.queue.resume("x", Some(9), None, bench.now), cancelled);
    bench.submit_as(with_budget(2, None)).unwrap();
    bench.resume("x", None);
    assert_eq!(bench.positions("w"), [1]);
}

#[test]
fn what_is_submitted_paused_is_granted_to_nobody_until_it_is_resumed() {
    let mut bench = Bench::new();
    bench.worker("w", 2);
    bench.submit_paused(with_budget(3, None), "waiting for people");
    assert!(bench.granted("w").is_empty());
    bench.restart();
    bench.worker("w", 2);
    let progress = bench.progress("x");
    assert_eq!(progress.paused, "waiting for people");
    assert!(progress.paused_by_hand && bench.granted("w").is_empty());
    bench.resume("x", None);
    let running = bench.granted("w");
    assert_eq!(running.len(), 2);
    // Submitted so again while it is played: what runs goes on, and nothing more begins.
    bench.submit_paused(with_budget(3, None), "waiting for people");
    for granted in &running {
        assert_eq!(bench.finish("w", granted.lease), Settled::Stored);
    }
    assert!(bench.granted("w").is_empty());
    assert_eq!(paused(&bench), "waiting for people");
}

#[test]
fn what_is_submitted_paused_pauses_unless_all_of_it_is_finished() {
    let mut bench = Bench::new();
    bench.worker("w", 1);
    bench.submit_as(with_budget(1, None)).unwrap();
    let running = bench.one("w");
    bench.submit_paused(with_budget(1, None), "why");
    assert_eq!(paused(&bench), "why", "it is not finished yet");
    bench.resume("x", None);
    bench.finish("w", running.lease);
    bench.submit_paused(with_budget(1, None), "why");
    assert_eq!(paused(&bench), "");
    // More of it, and what was cancelled, is something to pause.
    bench.submit_paused(with_budget(2, None), "why");
    assert_eq!(paused(&bench), "why");
    bench.cancel("x");
    bench.submit_paused(with_budget(2, None), "why");
    assert_eq!(paused(&bench), "why");
    assert!(bench.granted("w").is_empty());
}

#[test]
fn pause_for_another_reason_outlives_who_resumes_one_reason_alone_and_who_submits_paused() {
    let mut bench = Bench::new();
    bench.worker("w", 2);
    bench.submit_paused(with_budget(3, None), "waiting for people");
    bench.pause_by_hand("x", "lunch").unwrap();
    let resume = |bench: &mut Bench, reason| {
        let resumed = bench.queue.resume("x", None, Some(reason), bench.now);
        bench.carry_out();
        resumed
    };
    let refused = resume(&mut bench, "waiting for people").unwrap_err();
    let told = "experiment \"x\" is not paused for the reason \"waiting for people\"";
    assert_eq!(refused.to_string(), told);
    bench.submit_paused(with_budget(3, None), "waiting for people");
    assert_eq!(paused(&bench), "lunch");
    assert!(bench.granted("w").is_empty());
    resume(&mut bench, "lunch").unwrap();
    assert_eq!(bench.granted("w").len(), 2);
    assert!(resume(&mut bench, "lunch").is_err(), "it goes on already");
}

#[test]
fn pause_of_a_budget_is_nobodys_and_a_submission_that_pauses_replaces_it() {
    let mut bench = Bench::new();
    bench.submit_as(with_budget(2, Some(5))).unwrap();
    bench.worker("w", 1);
    let granted = bench.one("w");
    spend(&mut bench, "w", &granted, "lunch");
    let now = bench.now;
    let resumed = bench.queue.resume("x", None, Some("lunch"), now);
    assert!(resumed.is_err(), "nobody paused it by hand");
    bench.submit_paused(with_budget(2, Some(5)), "waiting for people");
    assert_eq!(paused(&bench), "waiting for people");
}
