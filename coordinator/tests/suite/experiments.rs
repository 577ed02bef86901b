//! The service of the command line, called in this process and over a socket, on both kinds of
//! journal. Workers are played by `worker.rs`: no session is really played.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_coordinator::archive::{Archive, Entry};
use agon_coordinator::{CoordinatorOptions, StoreChoice};
use agon_engine::record::StoredRecord;
use agon_proto::packed::{pack, unpack};
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{
    CancelExperimentRequest, DeleteExperimentRequest, FailureKind, FetchRecordsRequest,
    GetExperimentRequest, GetPromptBundleRequest, LeaseRef, ListExperimentsRequest,
    ResumeExperimentRequest, RetrySessionsRequest, Settlement, SubmitExperimentRequest,
    WatchExperimentRequest,
};
use agon_service_kit::server::{self, Listener};
use tonic::Code;

use crate::redis_server::RedisServer;
use crate::stand::{
    FILE, LONG, Stand, document, document_of, embedded, fetch, fetch_as, open, play_all, progress,
    submit,
};
use crate::worker::{Worker, commands, introduction, leases};

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
        ..FetchRecordsRequest::default()
    };
    let mut records = commands.fetch_records(fetching).await.unwrap().into_inner();
    let mut found = Vec::new();
    while let Some(record) = records.message().await.unwrap() {
        let line = unpack(&record.record).unwrap();
        let spec = StoredRecord::from_line(&line).unwrap().spec;
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
async fn failures_are_shown_to_watchers_and_retried_alone() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let id = submit(&mut commands).await.experiment_id;
    let mut worker = Worker::connect(&services, "w1", 6).await;
    let granted = worker.take(6).await;
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
    let granted = worker.take(2).await;
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
        ..ResumeExperimentRequest::default()
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
async fn what_is_handed_in_paused_begins_when_it_is_resumed_and_the_answer_says_so() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let mut worker = Worker::connect(&services, "w1", 2).await;
    let submit = |pause: &str| SubmitExperimentRequest {
        document: document().into(),
        pause: pause.to_owned(),
        ..SubmitExperimentRequest::default()
    };
    let why = format!("waiting for people{}", "!".repeat(300));
    let submitted = commands.submit_experiment(submit(&why)).await.unwrap();
    let submitted = submitted.into_inner();
    assert!(submitted.paused);
    let id = submitted.experiment_id;
    let told = progress(&mut commands, &id).await;
    assert!(told.paused_by_hand);
    assert_eq!(told.paused, why[..200]);
    assert_eq!((told.queued, told.running), (6, 0));
    let resume = |only_for: &str| ResumeExperimentRequest {
        experiment_id: id.clone(),
        only_if_paused_for: only_for.to_owned(),
        ..ResumeExperimentRequest::default()
    };
    let refused = commands.resume_experiment(resume("lunch")).await;
    assert_eq!(refused.unwrap_err().code(), Code::FailedPrecondition);
    assert_eq!(progress(&mut commands, &id).await.paused, why[..200]);
    commands.resume_experiment(resume(&why)).await.unwrap();
    // Everything that was granted before would have come first.
    assert_eq!(play_all(&mut worker, 6).await.len(), 6);
    let again = commands.submit_experiment(submit("why")).await.unwrap();
    assert!(!again.into_inner().paused, "all of it is finished");
    // Blanks are no reason.
    let other = SubmitExperimentRequest {
        document: document_of(&FILE.replace("repeats = 3", "repeats = 4")).into(),
        pause: " ".to_owned(),
        ..SubmitExperimentRequest::default()
    };
    let other = commands.submit_experiment(other).await.unwrap();
    assert!(!other.into_inner().paused);
}

#[tokio::test]
async fn stored_records_are_reported_to_the_hook() {
    let stored = Arc::new(Mutex::new(Vec::new()));
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let seen = stored.clone();
    let on_stored: agon_coordinator::OnStored = Arc::new(move |sessions| {
        seen.lock().unwrap().extend(sessions.to_vec());
        for _ in sessions {
            let _ = told.send(());
        }
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
    assert_eq!(worker.revoked().await, [lease]);
    let watch = WatchExperimentRequest { experiment_id: id };
    let mut watch = commands.watch_experiment(watch).await.unwrap().into_inner();
    assert!(watch.message().await.unwrap().unwrap().cancelled);
    assert!(watch.message().await.unwrap().is_none());
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
async fn records_are_fetched_from_where_a_reader_stopped_and_nothing_is_submitted_for_it() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let id = submit(&mut commands).await.experiment_id;
    play_all(&mut Worker::connect(&services, "w1", 6).await, 6).await;
    let all = fetch(&mut commands, &id, None).await;
    assert_eq!(all.len(), 6);
    assert_eq!(fetch(&mut commands, &id, Some(3)).await, all[4..]);
    assert!(fetch(&mut commands, &id, Some(5)).await.is_empty());
    let request = GetExperimentRequest { experiment_id: id };
    let found = commands.get_experiment(request).await.unwrap().into_inner();
    assert_eq!(found.document, document());
}

#[tokio::test]
async fn what_a_reader_has_is_not_sent_again_and_counts_for_those_results_only() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let id = submit(&mut commands).await.experiment_id;
    play_all(&mut Worker::connect(&services, "w1", 6).await, 6).await;
    let all = fetch(&mut commands, &id, None).await;
    let before = GetExperimentRequest {
        experiment_id: id.clone(),
    };
    let before = commands.get_experiment(before).await.unwrap().into_inner();
    let mut request = FetchRecordsRequest {
        experiment_id: id.clone(),
        have: vec![0b0001_1010].into(),
        results_id: before.results_id.clone(),
        ..FetchRecordsRequest::default()
    };
    let rest = fetch_as(&mut commands, request.clone()).await;
    let wanted = [&all[0], &all[2], &all[5]];
    assert_eq!(rest.iter().collect::<Vec<_>>(), wanted);
    // Another experiment's results, or none that were named, are no reason to leave any out.
    request.results_id = vec![7; 16].into();
    assert_eq!(fetch_as(&mut commands, request).await, all);
    let delete = DeleteExperimentRequest {
        experiment_id: id.clone(),
    };
    commands.delete_experiment(delete).await.unwrap();
    submit(&mut commands).await;
    let after = GetExperimentRequest { experiment_id: id };
    let after = commands.get_experiment(after).await.unwrap().into_inner();
    assert_eq!(after.grid, before.grid);
    assert_ne!(after.results_id, before.results_id);
}

#[tokio::test]
async fn fetch_ends_when_its_experiment_is_removed_and_handed_in_again() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    // More than are sent before anybody takes them.
    let submit = SubmitExperimentRequest {
        document: document_of(&FILE.replace("repeats = 3", "repeats = 200")).into(),
        ..SubmitExperimentRequest::default()
    };
    let submitted = commands.submit_experiment(submit.clone()).await.unwrap();
    let id = submitted.into_inner().experiment_id;
    play_all(&mut Worker::connect(&services, "w1", 400).await, 400).await;
    let fetching = FetchRecordsRequest {
        experiment_id: id.clone(),
        ..FetchRecordsRequest::default()
    };
    let mut records = commands.fetch_records(fetching).await.unwrap().into_inner();
    assert!(records.message().await.unwrap().is_some());
    let delete = DeleteExperimentRequest { experiment_id: id };
    commands.delete_experiment(delete).await.unwrap();
    commands.submit_experiment(submit).await.unwrap();
    let ended = loop {
        match records.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("what was removed was fetched to its end"),
            Err(status) => break status,
        }
    };
    assert_eq!(ended.code(), Code::Unavailable, "{ended}");
}

#[tokio::test]
async fn experiment_is_removed_when_it_is_over_and_not_before() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let id = submit(&mut commands).await.experiment_id;
    let delete = DeleteExperimentRequest {
        experiment_id: id.clone(),
    };
    let early = commands.delete_experiment(delete.clone()).await;
    assert_eq!(early.unwrap_err().code(), Code::FailedPrecondition);
    play_all(&mut Worker::connect(&services, "w1", 6).await, 6).await;
    commands.delete_experiment(delete.clone()).await.unwrap();
    let again = commands.delete_experiment(delete).await;
    assert_eq!(again.unwrap_err().code(), Code::NotFound);
    let anew = submit(&mut commands).await;
    assert_eq!((anew.sessions, anew.already_done), (6, 0));
}

#[tokio::test]
async fn records_of_a_lost_journal_stay_and_those_of_the_new_one_are_put_behind_them() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::folder(&folder.path().join("archive")).unwrap();
    let old = vec![Entry {
        position: 0,
        session: "of a lost journal".to_owned(),
        digest: 1,
        record: pack("{}"),
        telemetry: pack("{}"),
    }];
    archive.write("pairs", 3, old.clone()).await.unwrap();
    let choice = StoreChoice::Folder(folder.path().to_owned());
    let stand = open(Some(choice), CoordinatorOptions::default()).await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let id = submit(&mut commands).await.experiment_id;
    play_all(&mut Worker::connect(&services, "w1", 6).await, 6).await;
    let archived = async {
        while archive.list("pairs").await.unwrap() != [3, 4] {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG, archived).await.unwrap();
    assert_eq!(archive.read("pairs", 4).await.unwrap().iter().count(), 6);
    let kept = archive.read("pairs", 3).await.unwrap();
    assert_eq!(kept.iter().cloned().collect::<Vec<_>>(), old);
    assert_eq!(fetch(&mut commands, &id, None).await.len(), 6);
}

#[tokio::test]
async fn experiment_that_no_worker_can_play_waits_and_says_what_is_missing() {
    let stand = embedded().await;
    let services = stand.coordinator.services();
    let mut commands = commands(&services);
    let id = submit(&mut commands).await.experiment_id;
    let mut older = introduction("old", 6);
    older.capabilities[1].versions = vec!["0".to_owned()];
    let (_old, registered) = Worker::register(&services, older).await;
    assert!(registered.lost.is_empty());
    let seen = progress(&mut commands, &id).await;
    assert!(
        seen.unplayable.starts_with("rules of guess_two_thirds "),
        "{seen:?}"
    );
    assert_eq!((seen.queued, seen.running, seen.dead.len()), (6, 0, 0));
    let mut newer = Worker::connect(&services, "new", 6).await;
    assert_eq!(play_all(&mut newer, 6).await.len(), 6);
    assert_eq!(progress(&mut commands, &id).await.unplayable, "");
}
