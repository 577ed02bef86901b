//! Claims about what a supervisor decides.
//! Messages, time and ends of sessions are told to the state; no stream, no session, no clock.

use std::time::Duration;

use agon_proto::v1::session_outcome::Outcome as Told;
use agon_proto::v1::work_sessions_request::Message as ToCoordinator;
use agon_proto::v1::work_sessions_response::Message as FromCoordinator;
use agon_proto::v1::{
    Capability, CoordinatorStopping, DrainWorker, FailureKind, GrantedLeases, HandIn, Heartbeat,
    HeartbeatHeard, Lease, LeaseRef, RegisterWorker, RegisteredWorker, ReleaseLeases,
    RevokedLeases, SessionOutcome, SettledSession, SettledSessions, Settlement,
};
use bytes::Bytes;

use super::state::{Effect, Outcome, SupervisorState};

const LEASE: Duration = Duration::from_secs(10);

const SECOND: Duration = Duration::from_secs(1);

/// The largest message that a service takes in.
const LARGEST_MESSAGE: usize = agon_service_kit::server::LARGEST_RESULT_BYTES;

fn lease(session: &str, token: u8) -> LeaseRef {
    LeaseRef {
        session_id: session.to_owned(),
        token: vec![token].into(),
    }
}

fn granted(leases: &[LeaseRef]) -> FromCoordinator {
    let leases = leases.iter().map(|lease| Lease {
        lease: Some(lease.clone()),
        ..Lease::default()
    });
    FromCoordinator::Granted(GrantedLeases {
        leases: leases.collect(),
    })
}

fn registered(lost: &[LeaseRef]) -> FromCoordinator {
    FromCoordinator::Registered(RegisteredWorker {
        lease_ms: LEASE.as_millis() as u64,
        lost: lost.to_vec(),
    })
}

fn settled(leases: &[LeaseRef], settlement: Settlement) -> FromCoordinator {
    let sessions = leases.iter().map(|lease| SettledSession {
        lease: Some(lease.clone()),
        settlement: settlement.into(),
        reason: String::new(),
    });
    FromCoordinator::Settled(SettledSessions {
        sessions: sessions.collect(),
    })
}

fn heard(number: u64) -> FromCoordinator {
    FromCoordinator::Heard(HeartbeatHeard { number })
}

fn finished() -> Outcome {
    finished_with(2)
}

fn finished_with(bytes: usize) -> Outcome {
    Outcome::Finished {
        record: vec![b'x'; bytes].into(),
        telemetry: Bytes::new(),
    }
}

fn parked() -> Outcome {
    Outcome::Failed {
        kind: FailureKind::Parked,
        reason: "no answer".to_owned(),
    }
}

fn stop(lease: LeaseRef) -> Effect {
    Effect::Stop { lease, lost: true }
}

fn released(leases: &[LeaseRef]) -> Effect {
    Effect::Send(ToCoordinator::Release(ReleaseLeases {
        leases: leases.to_vec(),
    }))
}

/// A worker that has not connected yet.
fn stranger() -> SupervisorState {
    let capabilities = vec![Capability {
        name: "records".to_owned(),
        versions: vec!["1".to_owned()],
    }];
    SupervisorState::new("w".to_owned(), 7, "0", 4, capabilities)
}

/// One that was registered at time zero.
fn worker() -> SupervisorState {
    let mut state = stranger();
    state.on_connected(Duration::ZERO);
    state.on_message(registered(&[]));
    state
}

/// A new stream, on which it is registered.
fn again(state: &mut SupervisorState) -> Vec<Effect> {
    state.on_disconnected();
    state.on_connected(Duration::ZERO);
    state.on_message(registered(&[]))
}

fn end(state: &mut SupervisorState, lease: &LeaseRef, outcome: Outcome) -> Vec<Effect> {
    state.on_session_ended(lease, outcome);
    state.hand_in()
}

fn introduction(effects: &[Effect]) -> &RegisterWorker {
    match effects {
        [Effect::Send(ToCoordinator::Register(register))] => register,
        other => panic!("a stream begins with register alone, not {other:?}"),
    }
}

/// The outcomes of each message in which some are handed in, and nothing else is done.
fn messages(effects: &[Effect]) -> Vec<&[SessionOutcome]> {
    let messages = effects.iter().map(|effect| match effect {
        Effect::Send(ToCoordinator::HandIn(HandIn { outcomes })) => &outcomes[..],
        other => panic!("expected results, found {other:?}"),
    });
    messages.collect()
}

/// The leases of all outcomes that are handed in.
fn handed_in(effects: &[Effect]) -> Vec<LeaseRef> {
    let outcomes = messages(effects).into_iter().flatten();
    outcomes
        .filter_map(|outcome| outcome.lease.clone())
        .collect()
}

fn beat(state: &mut SupervisorState, now: Duration, progressed: &[LeaseRef]) -> Heartbeat {
    let effects = state.on_heartbeat_due(now, |lease| progressed.contains(lease));
    match &effects[..] {
        [Effect::Send(ToCoordinator::Heartbeat(heartbeat))] => heartbeat.clone(),
        other => panic!("expected a heartbeat, found {other:?}"),
    }
}

#[test]
fn a_stream_begins_with_who_it_is_and_what_it_holds_and_owes() {
    let mut state = stranger();
    let first = state.on_connected(Duration::ZERO);
    let first = introduction(&first);
    assert_eq!(
        (&*first.worker_id, first.incarnation, first.places),
        ("w", 7, 4)
    );
    assert_eq!(first.capabilities[0].name, "records");
    assert!(first.held.is_empty());
    state.on_message(registered(&[]));
    let (playing, owed) = (lease("a", 1), lease("b", 2));
    state.on_message(granted(&[playing.clone(), owed.clone(), lease("c", 3)]));
    end(&mut state, &owed, finished());
    end(&mut state, &lease("c", 3), finished());
    state.on_message(settled(&[lease("c", 3)], Settlement::Stored));
    state.on_disconnected();
    let second = state.on_connected(SECOND);
    let second = introduction(&second);
    assert_eq!(second.held, [playing, owed]);
    assert_eq!((second.incarnation, second.places), (7, 4));
}

#[test]
fn nothing_but_register_is_said_before_the_answer_to_it() {
    let mut state = stranger();
    state.on_connected(Duration::ZERO);
    assert!(!state.is_connected());
    assert_eq!(state.on_heartbeat_due(SECOND, |_| true), []);
    state.on_message(registered(&[]));
    state.on_message(granted(&[lease("a", 1)]));
    state.on_disconnected();
    state.on_connected(SECOND);
    assert_eq!(end(&mut state, &lease("a", 1), finished()), []);
    let effects = state.on_message(registered(&[]));
    assert_eq!(handed_in(&effects), [lease("a", 1)]);
}

#[test]
fn a_result_is_said_again_on_every_stream_until_it_is_settled() {
    let mut state = worker();
    let (first, second) = (lease("a", 1), lease("b", 1));
    state.on_message(granted(&[first.clone(), second.clone()]));
    let told = handed_in(&end(&mut state, &first, finished()));
    assert_eq!(told, std::slice::from_ref(&first));
    assert_eq!(
        state.hand_in(),
        [],
        "over one stream everything is said once"
    );
    let told = handed_in(&end(&mut state, &second, parked()));
    assert_eq!(told, std::slice::from_ref(&second));
    for _ in 0..2 {
        let effects = again(&mut state);
        assert_eq!(handed_in(&effects), [first.clone(), second.clone()]);
    }
    state.on_message(settled(&[first], Settlement::Stored));
    assert!(!state.is_idle());
    let told = handed_in(&again(&mut state));
    assert_eq!(told, std::slice::from_ref(&second));
    state.on_message(settled(&[second], Settlement::Fenced));
    assert!(state.is_idle());
    assert_eq!(again(&mut state), []);
}

#[test]
fn what_ends_together_is_handed_in_together() {
    let mut state = worker();
    let all = [lease("a", 1), lease("b", 1), lease("c", 1)];
    state.on_message(granted(&all));
    state.on_session_ended(&all[0], finished_with(3));
    state.on_session_ended(&all[1], parked());
    state.on_session_ended(&all[2], Outcome::GivenUp);
    let effects = state.hand_in();
    let [outcomes] = messages(&effects)[..] else {
        panic!("one message: {effects:?}");
    };
    let [one, other] = outcomes else {
        panic!("what was given up is no outcome: {outcomes:?}");
    };
    assert!(matches!(&one.outcome, Some(Told::Finished(it)) if &it.record[..] == b"xxx"));
    let told = |it: &agon_proto::v1::FailedSession| (it.kind(), it.reason.clone());
    assert!(matches!(&other.outcome, Some(Told::Failed(it))
            if told(it) == (FailureKind::Parked, "no answer".to_owned())));
    assert_eq!(state.playing(), 0);
}

/// How many outcomes are in each message, when so many sessions of this size end at once.
fn spread(sessions: usize, bytes: usize) -> Vec<usize> {
    let mut state = worker();
    let leases: Vec<LeaseRef> = (0..sessions)
        .map(|number| lease(&format!("{number:05}"), 1))
        .collect();
    state.on_message(granted(&leases));
    for lease in &leases {
        state.on_session_ended(lease, finished_with(bytes));
    }
    let effects = state.hand_in();
    assert_eq!(handed_in(&effects), leases, "each once, in their order");
    messages(&effects).into_iter().map(<[_]>::len).collect()
}

#[test]
fn no_message_has_too_many_results_or_bytes() {
    assert_eq!(spread(2_500, 2), [1_000, 1_000, 500]);
    // Two of three million bytes, never three: that would be more than eight mebibytes.
    assert_eq!(spread(5, 3_000_000), [2, 2, 1]);
    let large = 9 * 1024 * 1024;
    assert!(large < LARGEST_MESSAGE);
    assert_eq!(spread(3, large), [1, 1, 1], "each has to be said somehow");
}

#[test]
fn a_lost_lease_stops_its_own_try_only() {
    let mut state = worker();
    // The session came back under a new token while the old try still runs.
    state.on_message(granted(&[lease("a", 1)]));
    state.on_message(granted(&[lease("a", 2), lease("b", 1)]));
    state.on_disconnected();
    state.on_connected(Duration::ZERO);
    let lost = [lease("a", 1), lease("unknown", 1)];
    let effects = state.on_message(registered(&lost));
    assert_eq!(effects, [stop(lease("a", 1))]);
    state.on_session_ended(&lease("a", 1), Outcome::GivenUp);
    assert_eq!(state.held(), [lease("a", 2), lease("b", 1)]);
}

#[test]
fn a_revoked_lease_stops_its_own_try_only() {
    let mut state = worker();
    state.on_message(granted(&[lease("a", 1), lease("a", 2), lease("b", 1)]));
    let revoked = FromCoordinator::Revoked(RevokedLeases {
        leases: vec![lease("a", 2), lease("unknown", 1), lease("b", 9)],
    });
    assert_eq!(state.on_message(revoked), [stop(lease("a", 2))]);
    assert_eq!(state.held(), [lease("a", 1), lease("b", 1)]);
    // Its failure is nobody's business any more; its result is the session's if it is the first.
    assert_eq!(end(&mut state, &lease("a", 2), parked()), []);
    assert_eq!(
        handed_in(&end(&mut state, &lease("a", 2), finished())),
        [lease("a", 2)]
    );
}

#[test]
fn a_result_outlives_the_loss_of_its_lease() {
    let mut state = worker();
    state.on_message(granted(&[lease("a", 1)]));
    end(&mut state, &lease("a", 1), finished());
    state.on_disconnected();
    state.on_connected(Duration::ZERO);
    let effects = state.on_message(registered(&[lease("a", 1)]));
    assert_eq!(handed_in(&effects), [lease("a", 1)]);
}

#[test]
fn what_is_played_is_given_up_when_nothing_is_heard_for_the_time_of_a_lease() {
    let mut state = worker();
    let both = [lease("a", 1), lease("b", 1)];
    state.on_message(granted(&both));
    state.on_disconnected();
    let just_before = LEASE - Duration::from_millis(1);
    assert_eq!(state.on_time(just_before), []);
    let stops = both.map(stop);
    assert_eq!(state.on_time(LEASE), stops);
    assert_eq!(state.on_time(LEASE + SECOND), [], "once");
    let effects = state.on_connected(LEASE + SECOND);
    assert!(introduction(&effects).held.is_empty());
}

#[test]
fn a_coordinator_that_is_not_heard_is_told_what_was_given_up() {
    let mut state = worker();
    let both = [lease("a", 1), lease("b", 1)];
    state.on_message(granted(&both));
    beat(&mut state, 3 * SECOND, &[]);
    let effects = state.on_time(LEASE);
    let [a, b] = both.clone().map(stop);
    assert_eq!(effects, [a, b, released(&both)]);
}

#[test]
fn heartbeats_that_are_heard_keep_what_is_played() {
    let mut state = worker();
    state.on_message(granted(&[lease("a", 1)]));
    let mut now = Duration::ZERO;
    for number in 1..=20 {
        now += state.heartbeat_every();
        assert_eq!(beat(&mut state, now, &[]).number, number);
        state.on_message(heard(number));
        assert_eq!(state.on_time(now), [], "at {now:?}");
    }
    assert!(now > 3 * LEASE);
    // What counts is when the last one was sent that was heard, not when its answer came.
    let sent = now + SECOND;
    beat(&mut state, sent, &[]);
    beat(&mut state, sent + 2 * SECOND, &[]);
    state.on_message(heard(21));
    assert_eq!(state.on_time(sent + LEASE - SECOND), []);
    assert!(state.on_time(sent + LEASE).contains(&stop(lease("a", 1))));
}

#[test]
fn an_answer_counts_for_the_stream_that_it_came_over() {
    let mut state = worker();
    state.on_message(granted(&[lease("a", 1)]));
    assert_eq!(beat(&mut state, SECOND, &[]).number, 1);
    assert_eq!(beat(&mut state, 9 * SECOND, &[]).number, 2);
    state.on_disconnected();
    state.on_connected(9 * SECOND);
    state.on_message(heard(2));
    assert!(
        state.on_time(LEASE).contains(&stop(lease("a", 1))),
        "nobody has answered over this stream"
    );
    let mut state = worker();
    state.on_message(granted(&[lease("a", 1)]));
    state.on_disconnected();
    state.on_connected(9 * SECOND);
    state.on_message(registered(&[]));
    assert_eq!(state.on_time(9 * SECOND + LEASE - SECOND), []);
    assert_eq!(
        beat(&mut state, 10 * SECOND, &[]).number,
        1,
        "counted anew on every stream"
    );
}

#[test]
fn draining_gives_back_what_is_held_and_what_still_comes() {
    let mut state = worker();
    state.on_message(granted(&[lease("a", 1), lease("b", 1), lease("c", 1)]));
    end(&mut state, &lease("c", 1), finished());
    let effects = state.on_drain();
    let given_back = |lease| Effect::Stop { lease, lost: false };
    let expected = [
        Effect::Send(ToCoordinator::Drain(DrainWorker {})),
        given_back(lease("a", 1)),
        given_back(lease("b", 1)),
        released(&[lease("a", 1), lease("b", 1)]),
    ];
    assert_eq!(effects, expected);
    let late = state.on_message(granted(&[lease("d", 1)]));
    assert_eq!(late, [released(&[lease("d", 1)])]);
    // Given up for that reason, nothing is told of them; the result is waited for.
    assert_eq!(end(&mut state, &lease("a", 1), Outcome::GivenUp), []);
    assert!(!state.is_idle());
    state.on_message(settled(&[lease("c", 1)], Settlement::Stored));
    assert!(state.is_idle());
}

#[test]
fn a_draining_worker_says_so_again_on_a_new_stream() {
    let mut state = worker();
    assert_eq!(
        state.on_drain(),
        [Effect::Send(ToCoordinator::Drain(DrainWorker {}))]
    );
    let effects = again(&mut state);
    assert_eq!(
        effects,
        [Effect::Send(ToCoordinator::Drain(DrainWorker {}))]
    );
}

#[test]
fn a_suspect_that_progressed_is_told_once() {
    let mut state = worker();
    let (suspect, other) = (lease("a", 1), lease("b", 1));
    let leases = [&suspect, &other].map(|lease| Lease {
        lease: Some(lease.clone()),
        suspect: *lease == suspect,
        ..Lease::default()
    });
    let granted = GrantedLeases {
        leases: leases.into(),
    };
    state.on_message(FromCoordinator::Granted(granted));
    let both = [suspect.clone(), other];
    assert!(beat(&mut state, SECOND, &[]).progressed.is_empty());
    assert_eq!(beat(&mut state, 2 * SECOND, &both).progressed, [suspect]);
    assert!(beat(&mut state, 3 * SECOND, &both).progressed.is_empty());
}

#[test]
fn progress_of_a_suspect_is_told_again_unless_its_heartbeat_was_heard() {
    let mut state = worker();
    let suspect = lease("a", 1);
    let only = std::slice::from_ref(&suspect);
    let granted = GrantedLeases {
        leases: vec![Lease {
            lease: Some(suspect.clone()),
            suspect: true,
            ..Lease::default()
        }],
    };
    state.on_message(FromCoordinator::Granted(granted));
    let told = beat(&mut state, SECOND, only);
    assert_eq!(told.progressed, only);
    again(&mut state);
    let told = beat(&mut state, SECOND, only);
    assert_eq!(told.progressed, only);
    let number = told.number;
    state.on_message(FromCoordinator::Heard(HeartbeatHeard { number }));
    again(&mut state);
    let told = beat(&mut state, SECOND, only);
    assert!(told.progressed.is_empty());
}

#[test]
fn every_lease_that_is_granted_is_played() {
    let mut state = worker();
    let both = [lease("a", 1), lease("b", 1)];
    let effects = state.on_message(granted(&both));
    let started = effects.iter().map(|effect| match effect {
        Effect::Start(started) => started.lease.clone(),
        _ => None,
    });
    assert!(started.eq(both.clone().map(Some)), "{effects:?}");
    assert_eq!((state.playing(), state.held()), (2, both.to_vec()));
    let stopping = FromCoordinator::Stopping(CoordinatorStopping {});
    assert_eq!(state.on_message(stopping), []);
    assert_eq!(state.playing(), 2, "another coordinator takes over");
}

#[test]
fn heartbeats_come_three_times_in_the_time_of_a_lease() {
    let mut state = stranger();
    assert_eq!(state.heartbeat_every(), LEASE / 3);
    let mut told = |lease_ms| {
        state.on_connected(Duration::ZERO);
        state.on_message(FromCoordinator::Registered(RegisteredWorker {
            lease_ms,
            lost: Vec::new(),
        }));
        state.heartbeat_every()
    };
    assert_eq!(told(1_500), Duration::from_millis(500));
    assert_eq!(
        told(30),
        Duration::from_millis(100),
        "no coordinator is flooded"
    );
}

#[test]
fn what_is_given_up_before_the_answer_to_register_is_released_once_it_comes() {
    let mut state = worker();
    let (playing, owed) = (lease("a", 1), lease("b", 1));
    state.on_message(granted(&[playing.clone(), owed.clone(), lease("c", 1)]));
    end(&mut state, &owed, finished());
    state.on_disconnected();
    // The new stream says that it has all three; then time is up, and only then comes the answer.
    assert_eq!(introduction(&state.on_connected(LEASE)).held.len(), 3);
    let given_up = state.on_time(LEASE + SECOND);
    assert_eq!(given_up, [stop(playing.clone()), stop(lease("c", 1))]);
    let effects = state.on_message(registered(&[lease("c", 1)]));
    assert!(effects.contains(&released(&[playing])), "{effects:?}");
    assert_eq!(
        again(&mut state)
            .iter()
            .filter(|one| **one == released(&[]))
            .count(),
        0
    );
}
