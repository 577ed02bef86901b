//! What the lease actor decides, without a store and without time.
//! The state is told events and its effects are read; moments are arguments.

use std::time::{Duration, Instant};

use super::messages::StreamId;
use super::state::{Answer, Effect, LeaseState};

fn state() -> LeaseState {
    LeaseState::new(Duration::from_secs(5))
}

fn enter(state: &mut LeaseState, worker: &str) -> StreamId {
    state.on_entered(worker.to_owned()).0
}

/// The stream and the number of the only lease among effects.
fn leased(effects: &[Effect]) -> Option<(StreamId, usize)> {
    let mut leases = effects.iter().filter_map(|effect| match effect {
        Effect::Lease { stream, most, .. } => Some((*stream, *most)),
        _ => None,
    });
    let first = leases.next();
    assert!(leases.next().is_none(), "one request at a time");
    first
}

#[test]
fn worker_with_free_places_is_served_until_the_store_is_dry() {
    let mut state = state();
    let stream = enter(&mut state, "w");
    assert_eq!(
        leased(&state.on_free_places(stream, 40, None)),
        Some((stream, 16))
    );
    assert_eq!(
        leased(&state.on_leased(stream, 16, Answer::Sent(16))),
        Some((stream, 16))
    );
    assert_eq!(
        leased(&state.on_leased(stream, 16, Answer::Sent(3))),
        None,
        "dry"
    );
    assert_eq!(
        leased(&state.on_free_places(stream, 21, None)),
        None,
        "still dry"
    );
    assert_eq!(leased(&state.on_queued()), Some((stream, 16)));
}

#[test]
fn worker_that_gets_nothing_does_not_keep_others_from_their_sessions() {
    let mut state = state();
    let (one, two) = (enter(&mut state, "w1"), enter(&mut state, "w2"));
    state.on_free_places(one, 4, None);
    state.on_free_places(two, 4, None);
    assert_eq!(
        leased(&state.on_leased(one, 4, Answer::Sent(0))),
        Some((two, 4))
    );
    assert_eq!(leased(&state.on_leased(two, 4, Answer::Sent(0))), None);
    assert_eq!(leased(&state.on_queued()), Some((one, 4)));
}

#[test]
fn workers_take_turns() {
    let mut state = state();
    let (one, two) = (enter(&mut state, "w1"), enter(&mut state, "w2"));
    assert_eq!(
        leased(&state.on_free_places(one, 100, None)),
        Some((one, 16))
    );
    assert_eq!(
        leased(&state.on_free_places(two, 100, None)),
        None,
        "a request is under way"
    );
    assert_eq!(
        leased(&state.on_leased(one, 16, Answer::Sent(16))),
        Some((two, 16))
    );
    assert_eq!(
        leased(&state.on_leased(two, 16, Answer::Sent(16))),
        Some((one, 16))
    );
}

#[test]
fn places_counted_before_a_batch_arrived_are_not_filled_twice() {
    let mut state = state();
    let stream = enter(&mut state, "w");
    assert_eq!(
        leased(&state.on_free_places(stream, 4, Some(0))),
        Some((stream, 4))
    );
    assert_eq!(leased(&state.on_leased(stream, 4, Answer::Sent(4))), None);
    // A session of an earlier stream ended before the four arrived, another one after it.
    assert_eq!(
        leased(&state.on_free_places(stream, 5, Some(0))),
        Some((stream, 1))
    );
    assert_eq!(leased(&state.on_leased(stream, 1, Answer::Sent(1))), None);
    assert_eq!(
        leased(&state.on_free_places(stream, 2, Some(4))),
        Some((stream, 1))
    );
}

#[test]
fn places_said_while_a_batch_is_fetched_are_filled_once() {
    let mut state = state();
    let stream = enter(&mut state, "w");
    state.on_free_places(stream, 4, Some(0));
    assert!(state.on_free_places(stream, 5, Some(0)).is_empty());
    assert_eq!(
        leased(&state.on_leased(stream, 4, Answer::Sent(4))),
        Some((stream, 1))
    );
}

#[test]
fn stream_that_could_not_take_its_batch_waits_until_it_speaks_and_owes_nothing() {
    let mut state = state();
    let (one, two) = (enter(&mut state, "w1"), enter(&mut state, "w2"));
    state.on_free_places(one, 4, Some(0));
    state.on_free_places(two, 2, Some(0));
    assert_eq!(
        leased(&state.on_leased(one, 4, Answer::GivenBack)),
        Some((two, 2))
    );
    assert_eq!(leased(&state.on_leased(two, 2, Answer::Sent(2))), None);
    assert_eq!(
        leased(&state.on_free_places(one, 4, Some(0))),
        Some((one, 4))
    );
}

#[test]
fn what_is_queued_during_a_request_is_asked_for_afterwards() {
    let mut state = state();
    let stream = enter(&mut state, "w");
    state.on_free_places(stream, 4, None);
    assert!(state.on_queued().is_empty());
    assert_eq!(
        leased(&state.on_leased(stream, 4, Answer::Sent(0))),
        Some((stream, 4))
    );
    assert_eq!(leased(&state.on_leased(stream, 4, Answer::Sent(0))), None);
}

#[test]
fn store_that_failed_is_asked_again_at_the_next_sweep_only() {
    let mut state = state();
    let stream = enter(&mut state, "w");
    state.on_free_places(stream, 4, None);
    assert_eq!(leased(&state.on_leased(stream, 4, Answer::Failed)), None);
    let effects = state.on_sweep_due(Instant::now());
    assert_eq!(effects[0], Effect::Sweep);
    assert_eq!(leased(&effects), Some((stream, 4)));
}

#[test]
fn nothing_is_leased_to_those_who_left_or_while_draining() {
    let mut state = state();
    let (one, two) = (enter(&mut state, "w1"), enter(&mut state, "w2"));
    state.on_free_places(one, 4, None);
    state.on_left(two);
    assert!(state.on_free_places(two, 4, None).is_empty());
    state.on_drain();
    assert_eq!(leased(&state.on_leased(one, 4, Answer::Sent(4))), None);
    assert_eq!(leased(&state.on_free_places(one, 4, None)), None);
    assert!(state.status().draining);
}

#[test]
fn workers_are_greeted_at_once_and_then_now_and_again() {
    let mut state = state();
    let (_, effects) = state.on_entered("w".to_owned());
    assert_eq!(effects, [Effect::Greet(vec!["w".to_owned()])]);
    let start = Instant::now();
    let greets = |effects: Vec<Effect>| {
        effects
            .iter()
            .any(|effect| matches!(effect, Effect::Greet(_)))
    };
    assert!(greets(state.on_sweep_due(start)));
    assert!(!greets(state.on_sweep_due(start + Duration::from_secs(4))));
    assert!(greets(state.on_sweep_due(start + Duration::from_secs(5))));
}
