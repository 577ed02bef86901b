//! Claims about what a supervisor decides.
//! Messages and ends of sessions are told to the state; no stream, no session.

use std::time::Duration;

use agon_proto::v1::work_sessions_request::Message as ToCoordinator;
use agon_proto::v1::work_sessions_response::Message as FromCoordinator;
use agon_proto::v1::{
    FailureKind, GrantedLeases, Lease, LeaseRef, RenewedLeases, SettledSession, Settlement,
};

use super::state::{Effect, Outcome, SupervisorState};

fn lease(session: &str, fence: u64) -> LeaseRef {
    LeaseRef {
        session_id: session.to_owned(),
        fence,
    }
}

fn granted(leases: &[LeaseRef]) -> FromCoordinator {
    let leases = leases.iter().map(|lease| Lease {
        lease: Some(lease.clone()),
        ttl_ms: 10_000,
        ..Lease::default()
    });
    FromCoordinator::Granted(GrantedLeases {
        leases: leases.collect(),
    })
}

fn finished() -> Outcome {
    Outcome::Finished {
        record: b"{}".to_vec(),
        telemetry: b"{}".to_vec(),
    }
}

fn worker() -> SupervisorState {
    let mut state = SupervisorState::new("w".to_owned(), "0", 4);
    state.on_connected();
    state
}

fn places(effects: &[Effect]) -> Option<u32> {
    effects.iter().find_map(|effect| match effect {
        Effect::Send(ToCoordinator::FreePlaces(free)) => Some(free.places),
        _ => None,
    })
}

fn completions(effects: &[Effect]) -> usize {
    let completes = |effect: &&Effect| matches!(effect, Effect::Send(ToCoordinator::Complete(_)));
    effects.iter().filter(completes).count()
}

#[test]
fn free_places_are_what_is_not_being_played() {
    let mut state = worker();
    state.on_message(granted(&[lease("a", 1), lease("b", 1), lease("c", 1)]));
    let effects = state.on_session_ended(&lease("b", 1), finished());
    assert_eq!(places(&effects), Some(2));
}

#[test]
fn places_are_said_with_the_leases_that_came_over_this_stream() {
    let received = |effects: &[Effect]| {
        effects.iter().find_map(|effect| match effect {
            Effect::Send(ToCoordinator::FreePlaces(free)) => free.received,
            _ => None,
        })
    };
    let mut state = worker();
    state.on_message(granted(&[lease("a", 1), lease("b", 1)]));
    state.on_message(granted(&[lease("c", 1)]));
    let effects = state.on_session_ended(&lease("b", 1), finished());
    assert_eq!(received(&effects), Some(3));
    state.on_disconnected();
    assert_eq!(received(&state.on_connected()), Some(0));
}

#[test]
fn a_result_is_said_again_on_every_stream_until_it_is_settled() {
    let mut state = worker();
    state.on_message(granted(&[lease("a", 1)]));
    assert_eq!(
        completions(&state.on_session_ended(&lease("a", 1), finished())),
        1
    );
    state.on_disconnected();
    assert_eq!(completions(&state.on_connected()), 1);
    state.on_disconnected();
    assert_eq!(completions(&state.on_connected()), 1);
    state.on_message(FromCoordinator::Settled(SettledSession {
        lease: Some(lease("a", 1)),
        settlement: Settlement::Stored.into(),
        reason: String::new(),
    }));
    assert!(state.is_idle());
    state.on_disconnected();
    assert_eq!(completions(&state.on_connected()), 0);
}

#[test]
fn a_lost_lease_stops_its_own_try_only() {
    let mut state = worker();
    state.on_message(granted(&[lease("a", 1)]));
    // The session came back under a new fence while the old try still runs.
    state.on_message(granted(&[lease("a", 2)]));
    let lost = vec![lease("a", 1), lease("unknown", 1)];
    let renewed = RenewedLeases {
        renewed: vec![lease("a", 2)],
        lost,
    };
    let effects = state.on_message(FromCoordinator::Renewed(renewed));
    let stop = Effect::Stop {
        lease: lease("a", 1),
        lost: true,
    };
    assert_eq!(effects, [stop]);
    state.on_session_ended(&lease("a", 1), Outcome::GivenUp);
    assert_eq!(state.status().playing, ["a"]);
}

#[test]
fn a_new_stream_renews_what_is_being_played() {
    let mut state = worker();
    state.on_message(granted(&[lease("a", 7)]));
    state.on_disconnected();
    let effects = state.on_connected();
    let renews = effects.iter().any(|effect| {
        matches!(effect, Effect::Send(ToCoordinator::Renew(renew)) if renew.leases == [lease("a", 7)])
    });
    assert!(renews, "{effects:?}");
}

#[test]
fn draining_gives_back_what_is_held_and_what_still_comes() {
    let mut state = worker();
    state.on_message(granted(&[lease("a", 1), lease("b", 1)]));
    let effects = state.on_drain();
    assert_eq!(places(&effects), Some(0));
    let stop = Effect::Stop {
        lease: lease("a", 1),
        lost: false,
    };
    assert!(effects.contains(&stop));
    let late = state.on_message(granted(&[lease("c", 1)]));
    assert!(
        matches!(&late[..], [Effect::Send(ToCoordinator::Release(release))] if release.leases == [lease("c", 1)])
    );
}

#[test]
fn a_failure_is_told_with_its_kind() {
    let mut state = worker();
    state.on_message(granted(&[lease("a", 1)]));
    let failed = Outcome::Failed {
        kind: FailureKind::Parked,
        reason: "no answer".to_owned(),
    };
    let effects = state.on_session_ended(&lease("a", 1), failed);
    let told = effects.iter().any(|effect| {
        matches!(effect, Effect::Send(ToCoordinator::Fail(fail))
            if fail.kind() == FailureKind::Parked && fail.reason == "no answer")
    });
    assert!(told, "{effects:?}");
}

#[test]
fn more_leases_than_places_are_given_back_at_once() {
    let mut state = worker();
    let five: Vec<LeaseRef> = (0..5)
        .map(|number| lease(&format!("s{number}"), 1))
        .collect();
    let effects = state.on_message(granted(&five));
    let started = effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Start(_)))
        .count();
    assert_eq!(started, 4);
    let released = effects.iter().any(|effect| {
        matches!(effect, Effect::Send(ToCoordinator::Release(release)) if release.leases == [lease("s4", 1)])
    });
    assert!(released, "{effects:?}");
}

#[test]
fn leases_are_renewed_three_times_in_their_time() {
    let mut state = worker();
    assert_eq!(state.renew_every(), Duration::from_secs(3));
    let short = Lease {
        lease: Some(lease("a", 1)),
        ttl_ms: 1500,
        ..Lease::default()
    };
    let granted = GrantedLeases {
        leases: vec![short],
    };
    state.on_message(FromCoordinator::Granted(granted));
    assert_eq!(state.renew_every(), Duration::from_millis(500));
}
