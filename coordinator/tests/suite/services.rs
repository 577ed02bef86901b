//! The two services, called in-process and over a socket, on both stores.
//! Workers are played by `worker.rs`: no session is really played.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_coordinator::experiment::ExperimentFile;
use agon_coordinator::store::{Completion, LeaseKey, RedisStore, SessionResult, Store as _};
use agon_coordinator::{Coordinator, CoordinatorOptions, StoreChoice};
use agon_engine::record::StoredRecord;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::work_sessions_request::Message as Say;
use agon_proto::v1::work_sessions_response::Message as Hear;
use agon_proto::v1::{
    CancelExperimentRequest, FailureKind, FetchRecordsRequest, GetPromptBundleRequest, Lease,
    LeaseRef, ListExperimentsRequest, ReleaseLeases, ResumeExperimentRequest, RetrySessionsRequest,
    Settlement, SubmitExperimentRequest, SubmitExperimentResponse, WatchExperimentRequest,
    WorkSessionsRequest, WorkerHello,
};
use agon_service_kit::server::{self, Listener};
use agon_service_kit::tasks::Tasks;
use futures_util::FutureExt as _;
use tonic::Code;

use crate::redis_server::RedisServer;
use crate::worker::{Commands, Worker, commands, leases, places, record};

const FILE: &str = r#"
name = "pairs"
repeats = 3
[players.subject]
kind = "rule"
strategy = "random"
[[games]]
game = "guess_two_thirds"
params = { rounds = 1 }
seats = ["subject", "subject"]
grid = { "params.ratio" = [0.5, 0.9] }
"#;

/// A coordinator with what it stands on.
struct Stand {
    coordinator: Coordinator,
    tasks: Tasks,
    _folder: tempfile::TempDir,
}

async fn open(choice: Option<StoreChoice>, options: CoordinatorOptions) -> Stand {
    let folder = tempfile::tempdir().unwrap();
    let tasks = Tasks::new();
    let choice = choice.unwrap_or_else(|| StoreChoice::Embedded(folder.path().to_owned()));
    let coordinator = Coordinator::open(choice, options, &tasks).await.unwrap();
    Stand {
        coordinator,
        tasks,
        _folder: folder,
    }
}

async fn embedded() -> Stand {
    open(None, CoordinatorOptions::default()).await
}

fn document() -> Vec<u8> {
    document_of(FILE)
}

fn document_of(text: &str) -> Vec<u8> {
    ExperimentFile::parse("x.toml", text)
        .unwrap()
        .check()
        .unwrap()
        .to_json()
}

async fn submit(commands: &mut Commands) -> SubmitExperimentResponse {
    let request = SubmitExperimentRequest {
        document: document().into(),
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned(),
        ..SubmitExperimentRequest::default()
    };
    commands
        .submit_experiment(request)
        .await
        .unwrap()
        .into_inner()
}

/// Takes all sessions of the experiment and finishes them; answers their ids.
async fn play_all(worker: &mut Worker, sessions: usize) -> Vec<String> {
    let mut played = Vec::new();
    while played.len() < sessions {
        for lease in worker.granted().await {
            assert_eq!(worker.complete(&lease).await, Settlement::Stored);
            played.push(lease.lease.unwrap().session_id);
        }
        worker.say(Say::FreePlaces(places(2))).await;
    }
    played
}

async fn whole_line(stand: Stand) {
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    // The worker waits before there is anything to do.
    let mut worker = Worker::connect(&services, "w1", 2).await;
    let submitted = submit(&mut commands).await;
    assert_eq!((submitted.sessions, submitted.already_done), (6, 0));
    let id = submitted.experiment_id;
    let watching = WatchExperimentRequest {
        experiment_id: id.clone(),
    };
    let mut watch = commands
        .watch_experiment(watching.clone())
        .await
        .unwrap()
        .into_inner();
    let first = watch.message().await.unwrap().unwrap();
    assert_eq!(
        (first.sessions, first.queued + first.running + first.done),
        (6, 6)
    );
    play_all(&mut worker, 6).await;
    let mut last = first;
    while let Some(message) = watch.message().await.unwrap() {
        last = message;
    }
    assert_eq!(
        (last.done, last.queued, last.running, last.workers),
        (6, 0, 0, 1)
    );
    let fetching = FetchRecordsRequest {
        experiment_id: id.clone(),
    };
    let mut records = commands.fetch_records(fetching).await.unwrap().into_inner();
    let mut found = Vec::new();
    while let Some(record) = records.message().await.unwrap() {
        let line = std::str::from_utf8(&record.record).unwrap();
        let spec = StoredRecord::from_line(line).unwrap().spec;
        assert_eq!(spec.id().as_str(), record.session_id);
        found.push((spec.params["ratio"].as_f64().unwrap(), spec.luck.repeat));
    }
    assert_eq!(
        found,
        [(0.5, 0), (0.5, 1), (0.5, 2), (0.9, 0), (0.9, 1), (0.9, 2)]
    );
    let again = submit(&mut commands).await;
    assert_eq!((again.sessions, again.already_done), (6, 6));
    let list = commands
        .list_experiments(ListExperimentsRequest {})
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        (
            list.experiments[0].experiment_id.as_str(),
            list.experiments[0].done
        ),
        ("pairs", 6)
    );
    stand.tasks.shutdown(Duration::from_secs(20)).await.unwrap();
}

#[tokio::test]
async fn experiment_is_played_and_fetched_embedded() {
    whole_line(embedded().await).await;
}

#[tokio::test]
async fn experiment_is_played_and_fetched_on_redis() {
    let server = RedisServer::start().await;
    let choice = StoreChoice::Redis(server.url());
    whole_line(open(Some(choice), CoordinatorOptions::default()).await).await;
}

#[tokio::test]
async fn replicas_on_one_redis_share_the_queue() {
    let server = RedisServer::start().await;
    let choice = StoreChoice::Redis(server.url());
    let one = open(Some(choice.clone()), CoordinatorOptions::default()).await;
    let two = open(Some(choice), CoordinatorOptions::default()).await;
    let mut worker = Worker::connect(&two.coordinator.services(), "w2", 6).await;
    submit(&mut commands(&one.coordinator.services())).await;
    assert_eq!(play_all(&mut worker, 6).await.len(), 6);
}

#[tokio::test]
async fn document_that_cannot_be_expanded_is_refused_with_all_causes() {
    let stand = embedded().await;
    let mut commands = commands(&stand.coordinator.services());
    let mut refuse = async |document: &str| {
        let document = document.as_bytes().to_vec().into();
        let request = SubmitExperimentRequest {
            document,
            ..Default::default()
        };
        let status = commands.submit_experiment(request).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        status.message().to_owned()
    };
    assert!(refuse("{").await.contains("no JSON"));
    let text = String::from_utf8(document()).unwrap();
    let wrong = text.replace("random", "randum").replace(
        "guess_two_thirds\"",
        "guess_two_thirds\",\"colour\":1,\"label\":\"\"",
    );
    let message = refuse(&wrong).await;
    assert!(
        message.contains("colour") && message.contains("label"),
        "{message}"
    );
}

#[tokio::test]
async fn lost_lease_goes_to_another_worker_and_the_first_is_fenced_off() {
    let options = CoordinatorOptions {
        lease_ttl: Duration::from_millis(300),
        ..Default::default()
    };
    let stand = open(None, options).await;
    let services = stand.coordinator.services();
    submit(&mut commands(&services)).await;
    let mut silent = Worker::connect(&services, "w1", 1).await;
    let lost = silent.granted().await.remove(0);
    assert_eq!((lost.ttl_ms, lost.attempt), (300, 1));
    assert!(lost.traceparent.starts_with("00-0af7"));
    let mut other = Worker::connect(&services, "w2", 16).await;
    let mut again = None;
    while again.is_none() {
        let granted = other.granted().await;
        again = granted.into_iter().find(|lease| {
            lease.lease.as_ref().unwrap().session_id == lost.lease.as_ref().unwrap().session_id
        });
    }
    let new = again.unwrap();
    assert_eq!(new.attempt, 2);
    assert!(!silent.renew(lost.lease.as_ref().unwrap()).await);
    assert_eq!(silent.complete(&lost).await, Settlement::Fenced);
    assert_eq!(other.complete(&new).await, Settlement::Stored);
    // It is late and was really given: it is compared.
    assert_eq!(silent.complete(&lost).await, Settlement::Same);
}

#[tokio::test]
async fn batches_that_a_broken_stream_did_not_send_are_queued_at_once() {
    // More sessions than the transport takes from a worker that does not listen: 64 answers of
    // 16, and one more that waits for room.
    const SENT: u64 = 65 * 16;
    let options = CoordinatorOptions {
        lease_ttl: Duration::from_secs(600),
        ..Default::default()
    };
    let stand = open(None, options).await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let request = SubmitExperimentRequest {
        document: document_of(&FILE.replace("repeats = 3", "repeats = 600")).into(),
        ..Default::default()
    };
    let submitted = commands.submit_experiment(request).await.unwrap();
    let experiment_id = submitted.into_inner().experiment_id;
    let deaf = Worker::connect(&services, "w1", 1_200).await;
    let watching = WatchExperimentRequest { experiment_id };
    let mut watch = commands.watch_experiment(watching).await.unwrap();
    let watch = watch.get_mut();
    let mut seen = watch.message().await.unwrap().unwrap();
    while seen.running < 1_200 {
        seen = watch.message().await.unwrap().unwrap();
    }
    drop(deaf);
    while seen.queued < 1_200 - SENT {
        seen = watch.message().await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn worker_goes_on_over_a_new_stream() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    submit(&mut commands(&services)).await;
    let mut worker = Worker::connect(&services, "w1", 1).await;
    let lease = worker.granted().await.remove(0);
    drop(worker);
    let mut worker = Worker::connect(&services, "w1", 0).await;
    let reference = lease.lease.clone().unwrap();
    assert!(worker.renew(&reference).await);
    assert_eq!(worker.complete(&lease).await, Settlement::Stored);
    assert_eq!(worker.complete(&lease).await, Settlement::Same);
    let mut other = record(&lease);
    other["outcome"]["payoffs"] = serde_json::json!([1.0, 0.0]);
    assert_eq!(
        worker.hand_in(&reference, other.to_string(), "{}").await,
        Settlement::Different
    );
}

#[tokio::test]
async fn failures_are_shown_to_watchers_and_retried_alone() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let id = submit(&mut commands).await.experiment_id;
    let mut worker = Worker::connect(&services, "w1", 6).await;
    let granted = worker.granted().await;
    assert_eq!(granted.len(), 6);
    let references: Vec<LeaseRef> = granted
        .iter()
        .map(|lease| lease.lease.clone().unwrap())
        .collect();
    let noted = worker
        .fail(&references[0], FailureKind::Parked, "no answer")
        .await;
    assert_eq!(noted, Settlement::Noted);
    worker
        .fail(&references[1], FailureKind::Impossible, "no such game")
        .await;
    assert_eq!(
        worker
            .fail(&references[1], FailureKind::Crashed, "late")
            .await,
        Settlement::Fenced
    );
    for lease in &granted[2..] {
        worker.complete(lease).await;
    }
    let watching = WatchExperimentRequest {
        experiment_id: id.clone(),
    };
    let mut watch = commands
        .watch_experiment(watching)
        .await
        .unwrap()
        .into_inner();
    let end = watch.message().await.unwrap().unwrap();
    assert!(
        watch.message().await.unwrap().is_none(),
        "nothing is left to run"
    );
    assert_eq!(
        (end.parked[0].reason.as_str(), end.dead[0].reason.as_str()),
        ("no answer", "no such game")
    );
    let retry = RetrySessionsRequest {
        experiment_id: id,
        session_ids: Vec::new(),
    };
    assert_eq!(
        commands
            .retry_sessions(retry)
            .await
            .unwrap()
            .into_inner()
            .requeued,
        2
    );
    worker.say(Say::FreePlaces(places(6))).await;
    assert_eq!(worker.granted().await.len(), 2);
}

#[tokio::test]
async fn spent_budget_pauses_and_a_raised_one_goes_on_with_it() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let terms = "repeats = 3\nbudget_dollars = \"0.05\"\npriority = 4\ncontent_cache = true";
    let document = document_of(&FILE.replace("repeats = 3", terms));
    let submit = SubmitExperimentRequest {
        document: document.into(),
        ..SubmitExperimentRequest::default()
    };
    let id = commands.submit_experiment(submit).await.unwrap();
    let id = id.into_inner().experiment_id;
    let mut worker = Worker::connect(&services, "w1", 2).await;
    let granted = worker.granted().await;
    for lease in &granted {
        assert_eq!((lease.priority, lease.content_cache), (4, true));
        assert_eq!(lease.experiment_budget_nanodollars, Some(50_000_000));
    }
    for lease in &granted {
        let reference = lease.lease.clone().unwrap();
        let kind = FailureKind::BudgetSpent;
        let settled = worker.fail(&reference, kind, "$0.05 of $0.05").await;
        assert_eq!(settled, Settlement::Noted);
    }
    worker.say(Say::FreePlaces(places(2))).await;
    let watching = WatchExperimentRequest {
        experiment_id: id.clone(),
    };
    let mut watch = commands.watch_experiment(watching).await.unwrap();
    let told = watch.get_mut().message().await.unwrap().unwrap();
    assert_eq!(told.paused, "$0.05 of $0.05");
    assert_eq!((told.queued, told.running), (6, 0));
    let listed = commands.list_experiments(ListExperimentsRequest {}).await;
    let listed = listed.unwrap().into_inner().experiments.remove(0);
    assert_eq!(
        (listed.paused, listed.set_aside, listed.cancelled),
        (told.paused, 0, false)
    );
    let resume = |id: &str| ResumeExperimentRequest {
        experiment_id: id.to_owned(),
        budget_nanodollars: Some(60_000_000),
    };
    commands.resume_experiment(resume(&id)).await.unwrap();
    let again = worker.granted().await;
    assert_eq!(again.len(), 2);
    assert_eq!(again[0].attempt, 1);
    assert_eq!(again[0].experiment_budget_nanodollars, Some(60_000_000));
    let unknown = commands.resume_experiment(resume("nobody's")).await;
    assert_eq!(unknown.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn draining_coordinator_leases_nothing_and_ends_its_streams() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut worker = Worker::connect(&services, "w1", 0).await;
    submit(&mut commands(&services)).await;
    worker.say(Say::FreePlaces(places(1))).await;
    let lease = worker.granted().await.remove(0);
    stand.coordinator.drain();
    assert!(matches!(
        worker.hear().await.unwrap(),
        Some(Hear::Stopping(_))
    ));
    worker.say(Say::FreePlaces(places(6))).await;
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
async fn stored_records_are_reported_to_the_hook() {
    let stored = Arc::new(Mutex::new(Vec::new()));
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let seen = stored.clone();
    let on_stored: agon_coordinator::session_lease_service::OnStored = Arc::new(move |session| {
        seen.lock().unwrap().push(session.to_string());
        let _ = told.send(());
        async {}.boxed()
    });
    let options = CoordinatorOptions {
        on_stored: Some(on_stored),
        ..Default::default()
    };
    let stand = open(None, options).await;
    let services = stand.coordinator.services();
    submit(&mut commands(&services)).await;
    let mut worker = Worker::connect(&services, "w1", 2).await;
    let mut played = play_all(&mut worker, 6).await;
    for _ in 0..6 {
        heard.recv().await.unwrap();
    }
    let mut stored = stored.lock().unwrap().clone();
    stored.sort();
    played.sort();
    assert_eq!(stored, played);
}

#[tokio::test]
async fn strangers_and_unknown_names_are_told_so() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut rude = Worker::silent(&services, Say::FreePlaces(places(1))).await;
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
async fn templates_travel_from_submission_to_worker() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let mut document: serde_json::Value = serde_json::from_slice(&document()).unwrap();
    let templates = [("guess/ask.j2".to_owned(), "say a number".to_owned())];
    let mut request = SubmitExperimentRequest {
        document: document.to_string().into_bytes().into(),
        templates: templates.clone().into(),
        ..Default::default()
    };
    let refused = commands
        .submit_experiment(request.clone())
        .await
        .unwrap_err();
    assert_eq!(
        refused.code(),
        Code::InvalidArgument,
        "their digest is missing"
    );
    let digest = digest_of(&templates);
    document["prompt_bundle"] = digest.clone().into();
    request.document = document.to_string().into_bytes().into();
    commands.submit_experiment(request).await.unwrap();
    let bundle = GetPromptBundleRequest { digest };
    let found = leases(&services)
        .get_prompt_bundle(bundle)
        .await
        .unwrap()
        .into_inner();
    assert_eq!(found.templates, templates.into());
}

#[tokio::test]
async fn nobody_can_put_other_templates_under_a_digest() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let path = "guess/ask.j2".to_owned();
    let red = [(path.clone(), "say a number".to_owned())];
    let blue = [(path, "say nothing".to_owned())];
    let digest = digest_of(&red);
    let mut document: serde_json::Value = serde_json::from_slice(&document()).unwrap();
    document["prompt_bundle"] = digest.clone().into();
    document["team"] = "blue".into();
    let mut request = SubmitExperimentRequest {
        document: document.to_string().into_bytes().into(),
        templates: blue.clone().into(),
        ..Default::default()
    };
    let refused = commands.submit_experiment(request.clone()).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().contains(&digest_of(&blue)), "{refused}");
    // Nothing of it is kept, and the right ones still find their place.
    let bundle = GetPromptBundleRequest { digest };
    let missing = leases(&services).get_prompt_bundle(bundle.clone()).await;
    assert_eq!(missing.unwrap_err().code(), Code::NotFound);
    document["team"] = "red".into();
    request.document = document.to_string().into_bytes().into();
    request.templates = red.clone().into();
    commands.submit_experiment(request).await.unwrap();
    let found = leases(&services).get_prompt_bundle(bundle).await.unwrap();
    assert_eq!(found.into_inner().templates, red.into());
}

fn digest_of(templates: &[(String, String)]) -> String {
    let texts = templates.iter().map(|(path, text)| (&**path, &**text));
    agon_engine::spec::bundle::digest(texts)
}

#[tokio::test]
async fn cancelled_experiment_is_over_at_once() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let id = submit(&mut commands).await.experiment_id;
    let mut worker = Worker::connect(&services, "w1", 1).await;
    let lease = worker.granted().await.remove(0).lease.unwrap();
    let cancel = CancelExperimentRequest {
        experiment_id: id.clone(),
    };
    commands.cancel_experiment(cancel).await.unwrap();
    assert!(!worker.renew(&lease).await);
    let watch = WatchExperimentRequest { experiment_id: id };
    let mut watch = commands.watch_experiment(watch).await.unwrap().into_inner();
    assert!(watch.message().await.unwrap().unwrap().cancelled);
    assert!(watch.message().await.unwrap().is_none());
}

#[tokio::test]
async fn services_answer_over_a_socket_and_shut_down_in_time() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let listener = Listener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", listener.local_addr());
    let routes = tonic::service::Routes::new(services.experiments.clone())
        .add_service(services.session_leases.clone());
    server::serve(&stand.tasks, "coordinator", listener, routes);
    let mut client = ExperimentServiceClient::new(server::channel(&uri).unwrap());
    let request = SubmitExperimentRequest {
        document: document().into(),
        ..Default::default()
    };
    assert_eq!(
        client
            .submit_experiment(request)
            .await
            .unwrap()
            .into_inner()
            .sessions,
        6
    );
    stand.tasks.shutdown(Duration::from_secs(20)).await.unwrap();
    stand.coordinator.close();
}

#[tokio::test]
async fn run_interrupted_by_a_kill_goes_on_at_once_in_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let choice = StoreChoice::Embedded(folder.path().to_owned());
    let stand = open(Some(choice.clone()), CoordinatorOptions::default()).await;
    let services = stand.coordinator.services();
    submit(&mut commands(&services)).await;
    let mut worker = Worker::connect(&services, "w1", 6).await;
    assert_eq!(worker.granted().await.len(), 6);
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
    let granted = worker.granted().await;
    assert!(granted.len() == 6 && granted.iter().all(|lease| lease.attempt == 1));
}

/// What a worker may hand in that is no result of its session: bytes of record and telemetry.
fn forgeries(lease: &Lease, other: &Lease) -> Vec<(Vec<u8>, &'static str)> {
    let honest = record(lease);
    let mut forged = Vec::new();
    for text in ["", "garbage", "{}", "[]", "null"] {
        forged.push(text.as_bytes().to_vec());
    }
    forged.push(vec![0xff, 0xfe, 0x00]);
    forged.push("[".repeat(100_000).into_bytes());
    let line = honest.to_string();
    forged.push(line.as_bytes()[..line.len() / 2].to_vec());
    forged.push(line.replacen('{', "{\n", 1).into_bytes());
    forged.push(record(other).to_string().into_bytes());
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
        forged.push(changed.to_string().into_bytes());
    }
    let mut forged: Vec<_> = forged.into_iter().map(|record| (record, "{}")).collect();
    for telemetry in ["", "garbage", "{\n}", "[]"] {
        forged.push((line.clone().into_bytes(), telemetry));
    }
    forged
}

/// Ids of all sessions that can be fetched, and of those that cannot be read.
async fn fetch(commands: &mut Commands, experiment_id: &str) -> (Vec<String>, Vec<String>) {
    let request = FetchRecordsRequest {
        experiment_id: experiment_id.to_owned(),
    };
    let mut records = commands.fetch_records(request).await.unwrap().into_inner();
    let (mut read, mut unreadable) = (Vec::new(), Vec::new());
    while let Some(result) = records.message().await.unwrap() {
        if result.fault.is_empty() {
            read.push(result.session_id);
        } else {
            assert!(result.record.is_empty(), "{result:?}");
            unreadable.push(result.session_id);
        }
    }
    (read, unreadable)
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
    let mut held = worker.granted().await;
    held.extend(worker.granted().await);
    let mut tried = 0;
    for (at, lease) in held.iter().enumerate() {
        let reference = lease.lease.as_ref().unwrap();
        let other = &held[(at + 1) % held.len()];
        match forgeries(lease, other).into_iter().nth(at) {
            Some((record, telemetry)) => {
                let shown = String::from_utf8_lossy(&record[..record.len().min(200)]).into_owned();
                let settlement = worker.hand_in(reference, record, telemetry).await;
                assert_eq!(
                    settlement,
                    Settlement::Refused,
                    "{shown} beside {telemetry}"
                );
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
        honest.say(Say::FreePlaces(places(1))).await;
    }
    let (read, unreadable) = fetch(&mut commands, &id).await;
    assert_eq!((read.len(), unreadable.len()), (32, 0));
}

#[tokio::test]
async fn stream_that_does_not_hold_a_lease_changes_nothing() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let id = submit(&mut commands).await.experiment_id;
    let mut holder = Worker::connect(&services, "w1", 5).await;
    let held = holder.granted().await;
    assert_eq!(holder.complete(&held[0]).await, Settlement::Stored);
    // One intruder knows the fences, the other the holder's name.
    for (name, knows_fences) in [("w2", true), ("w1", false)] {
        let mut intruder = Worker::connect(&services, name, 0).await;
        for lease in &held {
            let mut lease = lease.clone();
            let reference = lease.lease.as_mut().unwrap();
            let right = reference.fence;
            let guesses = [right, 0, 1, right ^ 1];
            let known = usize::from(!knows_fences);
            for fence in guesses.into_iter().skip(known) {
                reference.fence = fence;
                let reference = reference.clone();
                let garbage = intruder.hand_in(&reference, "garbage", "{}").await;
                assert_eq!(garbage, Settlement::Fenced);
                let forged = intruder
                    .fail(&reference, FailureKind::Impossible, "no")
                    .await;
                assert_eq!(forged, Settlement::Fenced);
                assert!(!intruder.renew(&reference).await);
                let leases = vec![reference];
                intruder.say(Say::Release(ReleaseLeases { leases })).await;
            }
            assert_eq!(intruder.complete(&lease).await, Settlement::Fenced);
        }
    }
    let watching = WatchExperimentRequest {
        experiment_id: id.clone(),
    };
    let mut watch = commands.watch_experiment(watching).await.unwrap();
    let seen = watch.get_mut().message().await.unwrap().unwrap();
    assert_eq!((seen.queued, seen.running, seen.done), (1, 4, 1));
    assert!(seen.determinism_faults.is_empty() && seen.dead.is_empty());
    for lease in &held[1..] {
        assert_eq!(holder.complete(lease).await, Settlement::Stored);
    }
    assert_eq!(fetch(&mut commands, &id).await.0.len(), 5);
}

#[tokio::test]
async fn stored_result_that_is_no_record_is_told_and_hides_no_other() {
    let server = RedisServer::start().await;
    let choice = StoreChoice::Redis(server.url());
    let stand = open(Some(choice), CoordinatorOptions::default()).await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let id = submit(&mut commands).await.experiment_id;
    let mut worker = Worker::connect(&services, "w1", 6).await;
    let held = worker.granted().await;
    // Straight into the store, as a careless hand or an older coordinator would.
    let store = RedisStore::connect(&server.url()).await.unwrap();
    let spoiled = held[2].lease.clone().unwrap();
    let key = LeaseKey {
        session: spoiled.session_id.clone(),
        worker: "w1".to_owned(),
        fence: spoiled.fence,
    };
    let garbage = SessionResult {
        record: b"garbage".to_vec(),
        telemetry: b"{}".to_vec(),
    };
    assert_eq!(
        store.complete(&key, garbage).await.unwrap(),
        Completion::First
    );
    for lease in held
        .iter()
        .filter(|lease| lease.lease != Some(spoiled.clone()))
    {
        assert_eq!(worker.complete(lease).await, Settlement::Stored);
    }
    let (read, unreadable) = fetch(&mut commands, &id).await;
    assert_eq!((read.len(), unreadable), (5, vec![spoiled.session_id]));
}

#[tokio::test(start_paused = true)]
async fn stream_that_never_says_hello_is_ended() {
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
    let hello = Say::Hello(WorkerHello {
        worker_id: "w".repeat(257),
        version: String::new(),
    });
    let mut long = Worker::silent(&services, hello).await;
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
