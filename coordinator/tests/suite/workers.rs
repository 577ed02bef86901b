//! The service of workers, called in this process: what they say in any order, and what is none of
//! theirs. Workers are played by `worker.rs`: no session is really played.

use std::time::Duration;

use agon_coordinator::{CoordinatorOptions, StoreChoice};
use agon_proto::v1::session_outcome::Outcome;
use agon_proto::v1::work_sessions_request::Message as Say;
use agon_proto::v1::work_sessions_response::Message as Hear;
use agon_proto::v1::{
    CancelExperimentRequest, DrainWorker, FailureKind, FetchRecordsRequest, FinishedSession,
    GetPromptBundleRequest, HandIn, Heartbeat, Lease, RegisterWorker, ReleaseLeases,
    SessionOutcome, Settlement, SubmitExperimentRequest, WatchExperimentRequest,
    WorkSessionsRequest,
};
use agon_service_kit::compute;
use tonic::Code;

use crate::redis_server::RedisServer;
use crate::stand::{FILE, LONG, document_of, embedded, fetch, open, play_all, progress, submit};
use crate::worker::{Worker, commands, introduction, leases, line as line_of, packed, record};

#[tokio::test]
async fn worker_goes_on_over_a_new_stream() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    submit(&mut commands(&services)).await;
    let mut worker = Worker::connect(&services, "w1", 1).await;
    let lease = worker.granted().await.remove(0);
    drop(worker);
    let reference = lease.lease.clone().unwrap();
    let again = RegisterWorker {
        held: vec![reference.clone()],
        ..introduction("w1", 1)
    };
    let (mut worker, registered) = Worker::register(&services, again).await;
    assert!(registered.lost.is_empty(), "{registered:?}");
    assert_eq!(worker.complete(&lease).await, Settlement::Stored);
    assert_eq!(worker.complete(&lease).await, Settlement::Same);
    let mut other = record(&lease);
    other["outcome"]["payoffs"] = serde_json::json!([1.0, 0.0]);
    assert_eq!(
        worker
            .hand_in(&reference, packed(other.to_string()), packed("{}"))
            .await,
        Settlement::Different
    );
}

#[tokio::test]
async fn draining_coordinator_leases_nothing_and_ends_its_streams() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut worker = Worker::connect(&services, "w1", 1).await;
    submit(&mut commands(&services)).await;
    let lease = worker.granted().await.remove(0);
    stand.coordinator.drain().await;
    assert!(matches!(
        worker.hear().await.unwrap(),
        Some(Hear::Stopping(_))
    ));
    assert_eq!(
        worker.complete(&lease).await,
        Settlement::Stored,
        "results are still taken"
    );
    assert_eq!(
        worker.hear().await.unwrap(),
        None,
        "nothing more is leased, the stream ends"
    );
    stand.tasks.shutdown(Duration::from_secs(20)).await.unwrap();
}

#[tokio::test]
async fn result_that_is_still_checked_when_the_goodbye_is_over_is_taken() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut worker = Worker::connect(&services, "w1", 1).await;
    let id = submit(&mut commands(&services)).await.experiment_id;
    let lease = worker.granted().await.remove(0);
    // All threads that check are busy.
    let threads = std::thread::available_parallelism().unwrap().get();
    let (begun, mut beginnings) = tokio::sync::mpsc::unbounded_channel();
    let mut ends = Vec::new();
    for _ in 0..threads {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let begun = begun.clone();
        let busy = move || {
            begun.send(()).unwrap();
            let _ = ended.recv();
        };
        tokio::spawn(compute::SHORT.run(busy));
        ends.push(end);
    }
    for _ in 0..threads {
        beginnings.recv().await.unwrap();
    }
    let finished = FinishedSession {
        record: packed(line_of(&record(&lease))).into(),
        telemetry: packed("{}").into(),
    };
    let outcomes = vec![SessionOutcome {
        lease: lease.lease,
        outcome: Some(Outcome::Finished(finished)),
    }];
    worker.say(Say::HandIn(HandIn { outcomes })).await;
    stand.coordinator.drain().await;
    // Longer than a worker gets for its last words.
    tokio::time::sleep(Duration::from_secs(4)).await;
    drop(ends);
    while let Ok(Some(_)) = worker.hear().await {}
    assert_eq!(progress(&mut commands(&services), &id).await.done, 1);
}

#[tokio::test]
async fn strangers_and_unknown_names_are_told_so() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut rude = Worker::silent(&services, Say::Heartbeat(Heartbeat::default())).await;
    assert_eq!(rude.hear().await.unwrap_err().code(), Code::InvalidArgument);
    let mut commands = commands(&services);
    let experiment_id = "none".to_owned();
    let watch = WatchExperimentRequest {
        experiment_id: experiment_id.clone(),
    };
    assert_eq!(
        commands.watch_experiment(watch).await.err().unwrap().code(),
        Code::NotFound
    );
    let fetch = FetchRecordsRequest {
        experiment_id: experiment_id.clone(),
        ..Default::default()
    };
    assert_eq!(
        commands.fetch_records(fetch).await.err().unwrap().code(),
        Code::NotFound
    );
    let cancel = CancelExperimentRequest { experiment_id };
    assert_eq!(
        commands.cancel_experiment(cancel).await.unwrap_err().code(),
        Code::NotFound
    );
    let bundle = GetPromptBundleRequest {
        digest: "none".to_owned(),
    };
    let missing = leases(&services)
        .get_prompt_bundle(bundle)
        .await
        .unwrap_err();
    assert_eq!(missing.code(), Code::NotFound);
}

#[tokio::test]
async fn run_interrupted_by_a_kill_goes_on_at_once_in_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let choice = StoreChoice::Folder(folder.path().to_owned());
    let stand = open(Some(choice.clone()), CoordinatorOptions::default()).await;
    let services = stand.coordinator.services();
    submit(&mut commands(&services)).await;
    let mut worker = Worker::connect(&services, "w1", 6).await;
    assert_eq!(worker.take(6).await.len(), 6);
    stand.coordinator.close();
    let options = CoordinatorOptions {
        own_workers_only: true,
        ..Default::default()
    };
    let stand = open(Some(choice), options).await;
    let services = stand.coordinator.services();
    let again = submit(&mut commands(&services)).await;
    assert_eq!(again.sessions, 6);
    let mut worker = Worker::connect(&services, "w2", 6).await;
    let granted = worker.take(6).await;
    assert!(granted.len() == 6 && granted.iter().all(|lease| lease.attempt == 1));
}

fn forgeries(lease: &Lease, other: &Lease) -> Vec<(Vec<u8>, Vec<u8>)> {
    let honest = record(lease);
    let mut forged = Vec::new();
    for text in ["", "garbage", "{}", "[]", "null"] {
        forged.push(text.as_bytes().to_vec());
    }
    forged.push(vec![0xff, 0xfe, 0x00]);
    forged.push("[".repeat(100_000).into_bytes());
    let line = line_of(&honest);
    forged.push(line.as_bytes()[..line.len() / 2].to_vec());
    forged.push(line.replacen('{', "{\n", 1).into_bytes());
    forged.push(line_of(&record(other)).into_bytes());
    let changes: [(&str, serde_json::Value); 7] = [
        ("/session", serde_json::json!("short")),
        ("/agon_record", serde_json::json!(1_000_000)),
        ("/spec/luck/repeat", serde_json::json!(99)),
        ("/spec/seats", record(lease)["spec"]["seats"][0].clone()),
        ("/outcome/payoffs", serde_json::json!([1.0])),
        ("/outcome/forfeits", serde_json::json!([])),
        (
            "/moves",
            serde_json::json!([{ "turn": 1, "seat": 7, "ask": "guess" }]),
        ),
    ];
    for (place, value) in changes {
        let mut changed = honest.clone();
        *changed.pointer_mut(place).expect(place) = value;
        forged.push(line_of(&changed).into_bytes());
    }
    let honest = packed(&line);
    let pack = |record: Vec<u8>| (packed(record), packed("{}"));
    let mut forged: Vec<_> = forged.into_iter().map(pack).collect();
    for telemetry in ["", "garbage", "{\n}", "[]"] {
        forged.push((honest.clone(), packed(telemetry)));
    }
    // What is packed otherwise: not at all, cut off, twice, with more behind it.
    let twice = [honest.clone(), honest.clone()].concat();
    let unpacked = line.into_bytes();
    for record in [
        unpacked,
        honest[..honest.len() / 2].to_vec(),
        twice,
        [&honest[..], b"x"].concat(),
    ] {
        forged.push((record, packed("{}")));
    }
    forged
}

#[tokio::test]
async fn what_is_no_record_of_its_session_is_refused_and_hides_no_other() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let request = SubmitExperimentRequest {
        document: document_of(&FILE.replace("repeats = 3", "repeats = 16")).into(),
        ..Default::default()
    };
    let submitted = commands.submit_experiment(request).await.unwrap();
    let id = submitted.into_inner().experiment_id;
    let mut worker = Worker::connect(&services, "w1", 32).await;
    let held = worker.take(32).await;
    // What it crashes is for somebody else.
    worker.say(Say::Drain(DrainWorker {})).await;
    let mut tried = 0;
    for (at, lease) in held.iter().enumerate() {
        let reference = lease.lease.as_ref().unwrap();
        let other = &held[(at + 1) % held.len()];
        match forgeries(lease, other).into_iter().nth(at) {
            Some((record, telemetry)) => {
                let settlement = worker.hand_in(reference, record, telemetry).await;
                assert_eq!(settlement, Settlement::Refused, "forgery {at}");
                tried += 1;
            }
            None => assert_eq!(worker.complete(lease).await, Settlement::Stored),
        }
    }
    assert_eq!(tried, forgeries(&held[0], &held[1]).len());
    // Each counts as a crash of its try: the sessions are played by somebody who can.
    let mut honest = Worker::connect(&services, "w2", 1).await;
    let mut left = tried;
    while left > 0 {
        for lease in honest.granted().await {
            assert_eq!(lease.attempt, 2);
            assert_eq!(honest.complete(&lease).await, Settlement::Stored);
            left -= 1;
        }
    }
    assert_eq!(fetch(&mut commands, &id, None).await.len(), 32);
}

#[tokio::test(start_paused = true)]
async fn stream_that_never_registers_is_ended() {
    let stand = embedded().await;
    let mut leases = leases(&stand.coordinator.services());
    let silence = tokio_stream::pending::<WorkSessionsRequest>();
    let answer = leases.work_sessions(silence).await.unwrap();
    let ended = answer.into_inner().message().await.unwrap_err();
    assert_eq!(ended.code(), Code::DeadlineExceeded);
}

#[tokio::test]
async fn messages_beyond_their_bounds_end_the_stream_or_are_shortened() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let id = submit(&mut commands).await.experiment_id;
    let long = Say::Register(introduction(&"w".repeat(257), 1));
    let mut long = Worker::silent(&services, long).await;
    assert_eq!(long.hear().await.unwrap_err().code(), Code::InvalidArgument);
    let mut worker = Worker::connect(&services, "w1", 1).await;
    let lease = worker.granted().await.remove(0).lease.unwrap();
    let reason = "\u{1F600}".repeat(1_000_000);
    let noted = worker.fail(&lease, FailureKind::Impossible, &reason).await;
    assert_eq!(noted, Settlement::Noted);
    let watching = WatchExperimentRequest { experiment_id: id };
    let mut watch = commands.watch_experiment(watching).await.unwrap();
    let seen = watch.get_mut().message().await.unwrap().unwrap();
    assert!(
        seen.dead[0].reason.len() < 5_000,
        "{}",
        seen.dead[0].reason.len()
    );
    let leases = vec![lease; 100_001];
    worker.say(Say::Release(ReleaseLeases { leases })).await;
    let mut answers = Vec::new();
    let ended = loop {
        match worker.hear().await {
            Ok(Some(answer)) => answers.push(answer),
            Ok(None) => panic!("the stream ended without a reason after {answers:?}"),
            Err(status) => break status,
        }
    };
    assert_eq!(ended.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn worker_that_was_silent_for_too_long_is_sent_away_and_served_when_it_registers_again() {
    let options = CoordinatorOptions {
        lease_time: Duration::from_millis(300),
        ..Default::default()
    };
    let stand = open(None, options).await;
    let services = stand.coordinator.services();
    let mut silent = Worker::connect(&services, "w1", 1).await;
    let lost = async {
        while !stand.coordinator.status().await.workers.is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG, lost).await.unwrap();
    silent.say(Say::Heartbeat(Heartbeat::default())).await;
    let sent_away = silent.hear().await.unwrap_err();
    assert_eq!(sent_away.code(), Code::Unavailable, "{sent_away:?}");
    submit(&mut commands(&services)).await;
    let mut again = Worker::connect(&services, "w1", 1).await;
    assert_eq!(again.take(1).await.len(), 1);
}

#[tokio::test]
async fn session_of_a_lost_worker_goes_to_another_and_its_late_result_counts_while_it_is_the_first()
{
    let options = CoordinatorOptions {
        lease_time: Duration::from_millis(300),
        ..Default::default()
    };
    let stand = open(None, options).await;
    let services = stand.coordinator.services();
    submit(&mut commands(&services)).await;
    let mut silent = Worker::connect(&services, "w1", 2).await;
    let held = silent.take(2).await;
    assert!(held[0].traceparent.starts_with("00-0af7"));
    let mut other = Worker::connect(&services, "w2", 16).await;
    other.beat_every(Duration::from_millis(50));
    let name = |lease: &Lease| lease.lease.as_ref().unwrap().session_id.clone();
    // The silent one's sessions are suspects, which a worker gets once it is idle.
    let mut again = Vec::new();
    while again.len() < 2 {
        for lease in other.granted().await {
            let lost = held.iter().any(|lost| name(lost) == name(&lease));
            assert_eq!(lease.suspect, lost);
            if again.is_empty() || !lost {
                assert_eq!(other.complete(&lease).await, Settlement::Stored);
            }
            if lost {
                assert_eq!(lease.attempt, 2);
                again.push(lease);
            }
        }
    }
    let late = |lease: &Lease| {
        held.iter()
            .find(|lost| name(lost) == name(lease))
            .cloned()
            .unwrap()
    };
    // It is late and was really given: it is compared.
    assert_eq!(silent.complete(&late(&again[0])).await, Settlement::Same);
    // The other is still played, and the first result wins whoever hands it in.
    assert_eq!(silent.complete(&late(&again[1])).await, Settlement::Stored);
    assert_eq!(other.revoked().await, [again[1].lease.clone().unwrap()]);
    assert_eq!(other.complete(&again[1]).await, Settlement::Same);
}

#[tokio::test]
async fn stream_that_was_not_granted_a_lease_changes_nothing() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let id = submit(&mut commands).await.experiment_id;
    let mut holder = Worker::connect(&services, "w1", 5).await;
    let held = holder.take(5).await;
    assert_eq!(holder.complete(&held[0]).await, Settlement::Stored);
    let sixth = holder.take(1).await.remove(0);
    // The intruder knows the tokens, but was granted none of them.
    let mut intruder = Worker::connect(&services, "w2", 0).await;
    for lease in &held {
        let right = lease.lease.clone().unwrap();
        let mut guesses = vec![right.clone()];
        for byte in [0, 10, 30] {
            let mut token = right.token.to_vec();
            token[byte] ^= 1;
            guesses.push(agon_proto::v1::LeaseRef {
                token: token.into(),
                ..right.clone()
            });
        }
        for guess in guesses {
            let garbage = intruder
                .hand_in(&guess, packed("garbage"), packed("{}"))
                .await;
            assert_eq!(garbage, Settlement::Fenced);
            let forged = intruder.fail(&guess, FailureKind::Impossible, "no").await;
            assert_eq!(forged, Settlement::Fenced);
            let again = RegisterWorker {
                held: vec![guess.clone()],
                ..introduction("w3", 0)
            };
            let (_, registered) = Worker::register(&services, again).await;
            assert_eq!(registered.lost, std::slice::from_ref(&guess));
            let leases = vec![guess];
            intruder.say(Say::Release(ReleaseLeases { leases })).await;
        }
        assert_eq!(intruder.complete(lease).await, Settlement::Fenced);
    }
    let seen = progress(&mut commands, &id).await;
    assert_eq!((seen.queued, seen.running, seen.done), (0, 5, 1));
    assert!(seen.determinism_faults.is_empty() && seen.dead.is_empty());
    for lease in held[1..].iter().chain([&sixth]) {
        assert_eq!(holder.complete(lease).await, Settlement::Stored);
    }
    assert_eq!(fetch(&mut commands, &id, None).await.len(), 6);
}

#[tokio::test]
async fn standby_says_who_is_in_charge_and_goes_on_when_that_one_is_gone() {
    let server = RedisServer::start().await;
    let choice = StoreChoice::Redis(server.url());
    let named = |address: &str| CoordinatorOptions {
        address: address.to_owned(),
        ownership_time: Duration::from_secs(1),
        ..Default::default()
    };
    let one = open(Some(choice.clone()), named("http://one:7700")).await;
    let two = open(Some(choice), named("http://two:7700")).await;
    let mut first = commands(&one.coordinator.services());
    let id = submit(&mut first).await.experiment_id;
    let mut worker = Worker::connect(&one.coordinator.services(), "w1", 2).await;
    let held = worker.take(2).await;
    assert_eq!(worker.complete(&held[0]).await, Settlement::Stored);
    let services = two.coordinator.services();
    let mut second = commands(&services);
    let list = agon_proto::v1::ListExperimentsRequest {};
    let refused = second.list_experiments(list).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable);
    assert!(refused.message().contains("http://one:7700"), "{refused}");
    let mut in_charge = two.coordinator.in_charge();
    assert!(!*in_charge.borrow_and_update());
    drop(worker);
    one.tasks.shutdown(LONG).await.unwrap();
    let taken_over = in_charge.wait_for(|in_charge| *in_charge);
    tokio::time::timeout(LONG, taken_over)
        .await
        .unwrap()
        .unwrap();
    // What the worker holds it keeps, and what was done stays done.
    let again = RegisterWorker {
        held: vec![held[1].lease.clone().unwrap()],
        ..introduction("w1", 2)
    };
    let (mut worker, registered) = Worker::register(&services, again).await;
    assert!(registered.lost.is_empty());
    assert_eq!(worker.complete(&held[1]).await, Settlement::Stored);
    assert_eq!(play_all(&mut worker, 4).await.len(), 4);
    assert_eq!(fetch(&mut second, &id, None).await.len(), 6);
}
