//! The order of the queue, served one by one as a line would: shares of teams,
//! priorities, experiments and sessions.

use super::*;

fn place(team: &str, weight: f64, priority: i32, experiment: &str, session: &str) -> Place {
    Place {
        team: team.into(),
        weight,
        priority,
        experiment: experiment.into(),
        session: session.into(),
    }
}

fn team(name: &str, weight: f64) -> Place {
    place(name, weight, 0, "e", "s")
}

/// Serves so many calls and counts them by what `of` says.
fn serve<T>(
    queue: &mut FairQueue<T>,
    calls: usize,
    of: impl Fn(&Entry<T>) -> String,
) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for _ in 0..calls {
        for entry in queue.take(1) {
            *counts.entry(of(&entry)).or_default() += 1;
        }
    }
    counts
}

fn by_team<T>(entry: &Entry<T>) -> String {
    entry.place.team.to_string()
}

#[test]
fn teams_are_served_by_weight_and_tokens() {
    let mut queue = FairQueue::default();
    for _ in 0..1_000 {
        queue.push(team("heavy", 3.0), 10, ());
        queue.push(team("light", 1.0), 10, ());
    }
    let served = serve(&mut queue, 400, by_team);
    assert!((298..=302).contains(&served["heavy"]), "{served:?}");

    // A team of equal weight whose calls are ten times as large gets a tenth of them.
    let mut queue = FairQueue::default();
    for _ in 0..1_000 {
        queue.push(team("large", 1.0), 100, ());
        queue.push(team("small", 1.0), 10, ());
    }
    let served = serve(&mut queue, 440, by_team);
    assert!((39..=41).contains(&served["large"]), "{served:?}");
}

#[test]
fn lone_team_gets_everything_and_newcomer_its_turn_at_once() {
    let mut queue = FairQueue::default();
    for _ in 0..5_000 {
        queue.push(team("old", 1.0), 10, ());
    }
    assert_eq!(serve(&mut queue, 2_000, by_team)["old"], 2_000);
    queue.push(team("new", 1.0), 10, ());
    assert!(serve(&mut queue, 2, by_team).contains_key("new"));
}

#[test]
fn idle_team_gathers_no_credit() {
    let mut queue = FairQueue::default();
    for _ in 0..10_000 {
        queue.push(team("busy", 1.0), 10, ());
    }
    queue.push(team("seldom", 1.0), 10, ());
    serve(&mut queue, 2_000, by_team);
    for _ in 0..1_000 {
        queue.push(team("seldom", 1.0), 10, ());
    }
    let served = serve(&mut queue, 200, by_team);
    assert!((99..=101).contains(&served["seldom"]), "{served:?}");
}

#[test]
fn emptying_for_a_moment_wins_nothing() {
    let mut queue = FairQueue::default();
    let mut served = BTreeMap::<String, usize>::new();
    for _ in 0..1_000 {
        queue.push(team("steady", 1.0), 10, ());
    }
    for _ in 0..200 {
        // Never more than one waits.
        if queue.teams().all(|(name, ..)| &**name != "flicker") {
            queue.push(team("flicker", 1.0), 10, ());
        }
        for entry in queue.take(1) {
            *served.entry(by_team(&entry)).or_default() += 1;
        }
    }
    assert!((99..=101).contains(&served["flicker"]), "{served:?}");
}

#[test]
fn higher_priority_goes_first_within_its_team_only() {
    let mut queue = FairQueue::default();
    for _ in 0..10 {
        queue.push(place("a", 1.0, 0, "usual", "s"), 1, ());
        queue.push(place("b", 1.0, 0, "other", "s"), 1, ());
    }
    for _ in 0..5 {
        queue.push(place("a", 1.0, 7, "urgent", "s"), 1, ());
    }
    let first = serve(&mut queue, 10, |entry| entry.place.experiment.to_string());
    assert_eq!(first.get("urgent"), Some(&5));
    assert_eq!(first.get("other"), Some(&5));
    assert_eq!(first.get("usual"), None);
}

#[test]
fn experiments_then_sessions_share_and_sessions_keep_their_order() {
    let mut queue = FairQueue::default();
    for number in 0..100 {
        queue.push(place("t", 1.0, 0, "one", "only"), 1, number);
        for session in ["x", "y", "z"] {
            queue.push(place("t", 1.0, 0, "two", session), 1, number);
        }
    }
    let order: Vec<_> = queue.take(120).into_iter().collect();
    let of = |experiment: &str, session: &str| -> Vec<i32> {
        let own = order.iter().filter(|entry| {
            &*entry.place.experiment == experiment && &*entry.place.session == session
        });
        own.map(|entry| entry.call).collect()
    };
    assert_eq!(of("one", "only").len(), 60);
    assert_eq!(of("two", "y"), (0..20).collect::<Vec<_>>());
}

#[test]
fn put_back_restores_order_and_shares() {
    let mut queue = FairQueue::default();
    for number in 0..6 {
        queue.push(team(["a", "b"][number % 2], 1.0), 10, number);
    }
    let order = |entries: &[Entry<usize>]| entries.iter().map(|e| e.call).collect::<Vec<_>>();
    let taken = queue.take(4);
    let first = order(&taken);
    queue.put_back(taken);
    assert_eq!((queue.len(), queue.teams().count()), (6, 2));
    assert_eq!(order(&queue.take(4)), first);
    assert_eq!(queue.len(), 2);
}

#[test]
fn removed_call_is_gone_and_its_place_with_it() {
    let mut queue = FairQueue::default();
    let here = team("a", 1.0);
    let first = queue.push(here.clone(), 1, "first");
    queue.push(here.clone(), 1, "second");
    assert_eq!(queue.remove(&here, first), Some("first"));
    assert_eq!(queue.remove(&here, first), None);
    assert_eq!(queue.take(5).len(), 1);
    assert!(queue.is_empty());
    assert_eq!(queue.teams().count(), 0);
}

#[test]
fn correction_counts_what_was_really_used() {
    let mut queue = FairQueue::default();
    for _ in 0..200 {
        queue.push(team("a", 1.0), 10, ());
        queue.push(team("b", 1.0), 10, ());
    }
    let mut served = BTreeMap::<String, usize>::new();
    for _ in 0..90 {
        for entry in queue.take(1) {
            let really = if &*entry.place.team == "a" { 20 } else { 10 };
            queue.correct(&entry.place, entry.cost, really);
            *served.entry(by_team(&entry)).or_default() += 1;
        }
    }
    assert!((29..=31).contains(&served["a"]), "{served:?}");
}

#[test]
fn thousands_of_sessions_leave_nothing_behind() {
    let mut queue = FairQueue::default();
    for number in 0..5_000 {
        queue.push(place("t", 1.0, 0, "e", &number.to_string()), 1, ());
    }
    assert_eq!(queue.take(5_000).len(), 5_000);
    queue.push(place("t", 1.0, 0, "e", "last"), 1, ());
    queue.take(1);
    assert!(queue.teams.children.len() <= 1);
    let sessions = queue
        .teams
        .children
        .values()
        .map(|team| team.content.priorities.len());
    assert_eq!(sessions.sum::<usize>(), 0);
}

#[test]
fn every_waiting_team_can_have_a_head_taken() {
    let mut queue = FairQueue::default();
    for number in 0..100 {
        queue.push(team("first", 1.0), 1, number);
    }
    queue.push(team("costly", 1.0), 1_000_000, 0);
    queue.push(team("costly", 1.0), 1_000_000, 1);
    // Served once, the costly team comes after a hundred calls of the other.
    let served = queue.take(2);
    assert!(served.iter().any(|entry| &*entry.place.team == "costly"));
    let mut taken = queue.take(64);
    assert!(taken.iter().all(|entry| &*entry.place.team == "first"));
    queue.take_of_other_teams(&mut taken, 10);
    assert_eq!((taken.len(), taken[64].call), (65, 1));
    queue.put_back(taken);
    assert_eq!(queue.len(), 100);
}

/// A stream of sessions with one call each, of which always so many wait, beside sessions that ask
/// again as soon as they are served. Returns how often each of these is served in so many turns.
fn beside_newcomers(newcomers: usize, staying: usize, turns: usize) -> Vec<usize> {
    let mut queue = FairQueue::default();
    let mut number = 0;
    let mut come = |queue: &mut FairQueue<()>| {
        number += 1;
        queue.push(place("t", 1.0, 0, "e", &format!("once-{number}")), 10, ());
    };
    for _ in 0..newcomers {
        come(&mut queue);
    }
    let own = |staying: usize| place("t", 1.0, 0, "e", &format!("session-{staying}"));
    for session in 0..staying {
        queue.push(own(session), 10, ());
    }
    let mut served = vec![0; staying];
    for _ in 0..turns {
        for entry in queue.take(1) {
            let session = entry.place.session.strip_prefix("session-");
            match session.map(|number| number.parse::<usize>().unwrap()) {
                Some(session) => {
                    served[session] += 1;
                    queue.push(own(session), 10, ());
                }
                None => come(&mut queue),
            }
        }
    }
    served
}

#[test]
fn a_stream_of_newcomers_keeps_nobody_waiting() {
    for served in beside_newcomers(24, 2, 2_600) {
        assert!((80..=120).contains(&served), "{served}");
    }
    for served in beside_newcomers(1, 1, 100) {
        assert!((40..=60).contains(&served), "{served}");
    }
}

#[test]
fn newcomers_among_themselves_are_served_in_order_of_arrival() {
    let mut queue = FairQueue::default();
    let mut waiting = VecDeque::new();
    for number in 0..30 {
        queue.push(
            place("t", 1.0, 0, "e", &format!("once-{number}")),
            10,
            number,
        );
        waiting.push_back(number);
    }
    for number in 30..2_000 {
        let served = queue.take(1).pop().unwrap();
        assert_eq!(Some(served.call), waiting.pop_front());
        queue.push(
            place("t", 1.0, 0, "e", &format!("once-{number}")),
            10,
            number,
        );
        waiting.push_back(number);
    }
}

#[test]
fn calls_that_are_taken_and_put_back_while_others_come_keep_nobody_waiting() {
    let mut queue = FairQueue::default();
    let once = |number: usize| place("t", 1.0, 0, "e", &format!("once-{number}"));
    let stays = || place("t", 1.0, 0, "e", "stays");
    for number in 0..20 {
        queue.push(once(number), 10, false);
    }
    queue.push(stays(), 10, true);
    let mut served = 0;
    for turn in 0..4_000 {
        let mut taken = queue.take(8);
        // One of four turns serves the first of them; who is served is followed by another.
        if turn % 4 == 0 {
            let first = taken.remove(0);
            served += usize::from(first.call);
            let next = if first.call { stays() } else { once(20 + turn) };
            queue.push(next, 10, first.call);
        }
        queue.put_back(taken);
    }
    assert!((24..=96).contains(&served), "{served}");
}
