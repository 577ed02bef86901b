//! Breaker and window together, as admission asks them: how many more calls may
//! begin, and what becomes of a turn that nobody ends.

use super::*;

fn health(adaptive: bool) -> Arc<KeyHealth> {
    Arc::new(KeyHealth::new(adaptive))
}

fn end_all(health: &Arc<KeyHealth>, times: u32, outcome: CallOutcome, now: Instant) {
    for _ in 0..times {
        health.begin(now).ended(outcome, now);
    }
}

#[test]
fn room_is_what_both_parts_leave() {
    let (plain, adaptive, now) = (health(false), health(true), Instant::now());
    assert_eq!((plain.room(now), adaptive.room(now)), (None, Some(8)));
    let turn = adaptive.begin(now);
    assert_eq!(adaptive.room(now), Some(7));
    end_all(&plain, 5, CallOutcome::Failed, now);
    end_all(&adaptive, 5, CallOutcome::Failed, now);
    assert_eq!((plain.room(now), adaptive.room(now)), (Some(0), Some(0)));
    let probe_at = plain.next_look(now).unwrap();
    assert_eq!(plain.room(probe_at), Some(1));
    assert_eq!(adaptive.room(probe_at), Some(1));
    assert_eq!(plain.next_look(probe_at), None);
    drop(turn);
}

#[test]
fn refusals_for_lack_of_quota_open_no_circuit_but_shrink_the_window() {
    let (health, now) = (health(true), Instant::now());
    let turns: Vec<Permit> = (0..8).map(|_| health.begin(now)).collect();
    for turn in turns {
        turn.ended(CallOutcome::TooMany, now + Duration::from_secs(1));
    }
    let outlook = health.outlook(now);
    assert_eq!(outlook.circuit, Circuit::Closed);
    // Eight refusals of one round trip are one decrease.
    assert_eq!(outlook.adaptive_places, Some(5));
}

#[test]
fn faults_of_the_caller_are_no_failures_of_the_server() {
    let (health, now) = (health(true), Instant::now());
    end_all(&health, 100, CallOutcome::Refused, now);
    let outlook = health.outlook(now);
    assert_eq!(outlook.circuit, Circuit::Closed);
    assert_eq!(outlook.adaptive_places, Some(8));
}

#[test]
fn dropped_turn_gives_back_its_place_and_the_probe() {
    let (health, began) = (health(true), Instant::now());
    end_all(&health, 5, CallOutcome::Failed, began);
    let now = health.next_look(began).unwrap();
    let probe = health.begin(now);
    assert_eq!(health.room(now), Some(0));
    assert_eq!(health.outlook(now).in_flight, 1);
    drop(probe);
    assert_eq!(health.room(now), Some(1));
    assert_eq!(health.outlook(now).in_flight, 0);
    end_all(&health, 1, CallOutcome::Answered { output_tokens: 1 }, now);
    assert_eq!(health.outlook(now).circuit, Circuit::Closed);
}

#[test]
fn probe_refused_for_lack_of_quota_decides_nothing() {
    let (health, began) = (health(false), Instant::now());
    end_all(&health, 5, CallOutcome::Overloaded, began);
    let now = health.next_look(began).unwrap();
    end_all(&health, 1, CallOutcome::TooMany, now);
    assert_eq!(health.room(now), Some(1));
}
