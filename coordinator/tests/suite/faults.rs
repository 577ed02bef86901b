//! Coordinators whose journal or archive fails, hangs or loses something at a certain point: what was
//! taken in stays, and nobody is stopped by it who does not need it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agon_coordinator::archive::Archive;
use agon_coordinator::journal::Journal as _;
use agon_coordinator::{Coordinator, CoordinatorOptions};
use agon_proto::v1::work_sessions_request::Message as Say;
use agon_proto::v1::work_sessions_response::Message as Hear;
use agon_proto::v1::{
    CancelExperimentRequest, DeleteExperimentRequest, FailureKind, GetExperimentRequest, Heartbeat,
    ListExperimentsRequest, RetrySessionsRequest, Settlement, SubmitExperimentRequest,
};
use agon_service_kit::tasks::Tasks;
use tonic::{Code, Status};

use crate::faulty::{Act, Call, Faulty, Gate};
use crate::stand::{FILE, LONG, document, document_of, fetch, play_all, progress, submit};
use crate::worker::{Commands, Worker, commands};

/// A coordinator over such a journal, which also holds its archive.
struct Faulted {
    journal: Faulty,
    coordinator: Coordinator,
    tasks: Tasks,
}

impl Faulted {
    async fn open(journal: &Faulty) -> Self {
        let tasks = Tasks::new();
        let shared = Arc::new(journal.clone());
        let archive = Archive::in_journal(shared.clone());
        let options = CoordinatorOptions::default();
        let coordinator = Coordinator::over(shared, archive, options, &tasks).await;
        let mut in_charge = coordinator.in_charge();
        let came = in_charge.wait_for(|in_charge| *in_charge);
        tokio::time::timeout(LONG, came).await.unwrap().unwrap();
        Self {
            journal: journal.clone(),
            coordinator,
            tasks,
        }
    }

    fn commands(&self) -> Commands {
        commands(&self.coordinator.services())
    }

    /// The coordinator that comes after this one.
    async fn successor(self) -> Self {
        self.tasks.shutdown(LONG).await.unwrap();
        Self::open(&self.journal).await
    }
}

async fn names(commands: &mut Commands) -> Vec<String> {
    let listed = commands.list_experiments(ListExperimentsRequest {}).await;
    let listed = listed.unwrap().into_inner().experiments.into_iter();
    listed.map(|one| one.experiment_id).collect()
}

/// Submits an experiment like the usual one under another name.
async fn submit_as(stand: &Faulted, name: &str) {
    let text = FILE.replace("name = \"pairs\"", &format!("name = \"{name}\""));
    let request = SubmitExperimentRequest {
        document: document_of(&text).into(),
        ..SubmitExperimentRequest::default()
    };
    let submitted = stand.commands().submit_experiment(request).await;
    submitted.unwrap();
}

/// Loses the end of the journal once, when the gate is opened.
fn lose_end_once(journal: &Faulty, gate: &Arc<Gate>, refuse_first_mend: bool) {
    let (gate, lost) = (gate.clone(), AtomicBool::new(false));
    let refuse = AtomicBool::new(refuse_first_mend);
    journal.plan(move |call| match call {
        Call::Append if !lost.swap(true, Ordering::SeqCst) => Act::LoseEnd(gate.clone()),
        Call::PutSnapshot if refuse.swap(false, Ordering::SeqCst) => Act::Fail,
        _ => Act::Go,
    });
}

#[tokio::test]
async fn state_in_memory_stays_when_it_cannot_take_the_place_of_a_lost_end_at_once() {
    let stand = Faulted::open(&Faulty::new()).await;
    let gate = Gate::closed();
    gate.open();
    lose_end_once(&stand.journal, &gate, true);
    let id = submit(&mut stand.commands()).await.experiment_id;
    assert_eq!(names(&mut stand.commands()).await, [id.as_str()]);
    let next = stand.successor().await;
    assert_eq!(names(&mut next.commands()).await, [id]);
}

#[tokio::test]
async fn end_that_is_lost_while_a_coordinator_stops_is_mended() {
    let stand = Faulted::open(&Faulty::new()).await;
    let gate = Gate::closed();
    lose_end_once(&stand.journal, &gate, false);
    let mut commands = stand.commands();
    let submitted = tokio::spawn(async move { submit(&mut commands).await.experiment_id });
    gate.reached().await;
    let stopping = stand.tasks.shutdown_token();
    let tasks = stand.tasks.clone();
    let stopped = tokio::spawn(async move { tasks.shutdown(LONG).await });
    stopping.cancelled().await;
    // Everything runs on one thread: the owner has seen it afterwards.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    gate.open();
    stopped.await.unwrap().unwrap();
    let id = submitted.await.unwrap();
    let next = Faulted::open(&stand.journal).await;
    assert_eq!(names(&mut next.commands()).await, [id]);
}

/// Where the archive of these coordinators lies in the journal.
const ARCHIVE: &str = "archive/";

#[tokio::test]
async fn coordinator_stays_in_charge_while_it_loads_and_waits_for_no_archive() {
    let stand = Faulted::open(&Faulty::new()).await;
    submit_as(&stand, "one").await;
    submit_as(&stand, "two").await;
    stand.tasks.shutdown(LONG).await.unwrap();
    let (lists, renewals) = (Gate::closed(), Gate::closed());
    renewals.open();
    let (list, renewal) = (lists.clone(), renewals.clone());
    stand.journal.plan(move |call| match call {
        Call::Blobs(prefix) if prefix.starts_with(ARCHIVE) => Act::Wait(list.clone()),
        Call::Renew => Act::Wait(renewal.clone()),
        _ => Act::Go,
    });
    let journal = stand.journal.clone();
    let opening = tokio::spawn(async move { Faulted::open(&journal).await });
    // Both are asked for at the same time, and the claim is renewed although neither is answered.
    lists.reached().await;
    lists.reached().await;
    renewals.reached().await;
    let next = opening.await.unwrap();
    assert_eq!(names(&mut next.commands()).await, ["one", "two"]);
}

/// Plays all that is submitted of the usual experiment, as far as its worker is granted it.
async fn play(stand: &Faulted, id: &str) -> Worker {
    let mut worker = Worker::connect(&stand.coordinator.services(), "w1", 9).await;
    let sessions = progress(&mut stand.commands(), id).await.sessions;
    let played = play_all(&mut worker, sessions as usize).await;
    assert_eq!(played.len(), 6);
    worker
}

async fn delete(mut commands: Commands, id: &str) -> Result<(), Status> {
    let experiment_id = id.to_owned();
    let request = DeleteExperimentRequest { experiment_id };
    commands.delete_experiment(request).await.map(drop)
}

async fn files(stand: &Faulted) -> Vec<String> {
    stand.journal.blobs(ARCHIVE).await.unwrap()
}

#[tokio::test]
async fn nothing_is_submitted_under_a_name_while_a_segment_of_what_was_removed_is_written() {
    let stand = Faulted::open(&Faulty::new()).await;
    let id = submit(&mut stand.commands()).await.experiment_id;
    let gate = Gate::closed();
    let closed = gate.clone();
    stand.journal.plan(move |call| match call {
        Call::PutBlob(name) if name.ends_with("000001.index.json") => Act::Wait(closed.clone()),
        _ => Act::Go,
    });
    drop(play(&stand, &id).await);
    gate.reached().await;
    let (commands, experiment) = (stand.commands(), id.clone());
    let deleted = tokio::spawn(async move { delete(commands, &experiment).await });
    while !names(&mut stand.commands()).await.is_empty() {
        tokio::task::yield_now().await;
    }
    let request = SubmitExperimentRequest {
        document: document().into(),
        ..SubmitExperimentRequest::default()
    };
    let early = stand.commands().submit_experiment(request).await;
    let early = early.unwrap_err();
    assert_eq!(early.code(), Code::Unavailable);
    assert!(early.message().contains("try again in a moment"), "{early}");
    let twice = delete(stand.commands(), &id).await.unwrap_err();
    assert_eq!(twice.code(), Code::Unavailable);
    gate.open();
    deleted.await.unwrap().unwrap();
    assert!(files(&stand).await.is_empty());
    // The new experiment has the old numbers and records of its own.
    submit(&mut stand.commands()).await;
    drop(play(&stand, &id).await);
    archived(&stand).await;
    assert_eq!(fetch(&mut stand.commands(), &id, None).await.len(), 6);
}

#[tokio::test]
async fn removal_goes_on_when_whoever_asked_for_it_has_gone() {
    let stand = Faulted::open(&Faulty::new()).await;
    let id = submit(&mut stand.commands()).await.experiment_id;
    drop(play(&stand, &id).await);
    archived(&stand).await;
    let gate = Gate::closed();
    let closed = gate.clone();
    stand.journal.plan(move |call| match call {
        Call::Blobs(prefix) if prefix.starts_with(ARCHIVE) => Act::Wait(closed.clone()),
        _ => Act::Go,
    });
    let commands = stand.commands();
    let deleted = tokio::spawn(async move { delete(commands, &id).await });
    gate.reached().await;
    deleted.abort();
    assert!(deleted.await.unwrap_err().is_cancelled());
    gate.open();
    let gone = async {
        while !files(&stand).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, gone).await.unwrap();
}

#[tokio::test]
async fn removal_that_left_files_behind_can_be_repeated() {
    let stand = Faulted::open(&Faulty::new()).await;
    let id = submit(&mut stand.commands()).await.experiment_id;
    drop(play(&stand, &id).await);
    archived(&stand).await;
    stand.journal.plan(|call| match call {
        Call::DeleteBlob(name) if name.starts_with(ARCHIVE) => Act::Fail,
        _ => Act::Go,
    });
    let failed = delete(stand.commands(), &id).await.unwrap_err();
    assert!(failed.message().contains("remove it again"), "{failed}");
    stand.journal.heal();
    // Also by the next coordinator.
    let next = stand.successor().await;
    delete(next.commands(), &id).await.unwrap();
    assert!(files(&next).await.is_empty());
    let again = delete(next.commands(), &id).await.unwrap_err();
    assert_eq!(again.code(), Code::NotFound);
}

#[tokio::test]
async fn documents_and_templates_of_removed_experiments_go_and_those_of_others_stay() {
    let stand = Faulted::open(&Faulty::new()).await;
    for (name, text) in [("one", "say a number"), ("two", "say another number")] {
        let path = "guess/ask.j2";
        let digest = agon_engine::spec::bundle::digest([(path, text)].into_iter());
        let named = FILE.replace("name = \"pairs\"", &format!("name = \"{name}\""));
        let mut document: serde_json::Value = serde_json::from_slice(&document_of(&named)).unwrap();
        document["prompt_bundle"] = digest.into();
        let request = SubmitExperimentRequest {
            document: document.to_string().into_bytes().into(),
            templates: [(path.to_owned(), text.to_owned())].into(),
            ..SubmitExperimentRequest::default()
        };
        let submitted = stand.commands().submit_experiment(request).await;
        submitted.unwrap();
    }
    let blobs = async |stand: &Faulted| {
        let documents = stand.journal.blobs("document:").await.unwrap();
        let templates = stand.journal.blobs("templates:").await.unwrap();
        [documents, templates]
    };
    let before = blobs(&stand).await;
    assert_eq!([before[0].len(), before[1].len()], [2, 2]);
    let cancel = CancelExperimentRequest {
        experiment_id: "one".to_owned(),
    };
    stand.commands().cancel_experiment(cancel).await.unwrap();
    delete(stand.commands(), "one").await.unwrap();
    let next = stand.successor().await;
    let after = blobs(&next).await;
    assert_eq!([after[0].len(), after[1].len()], [1, 1]);
    let found = GetExperimentRequest {
        experiment_id: "two".to_owned(),
    };
    next.commands().get_experiment(found).await.unwrap();
}

/// A series whose second session waits to be tried again, and whose first is in the archive. Its worker
/// has a place for one.
async fn series_behind_its_archive(stand: &Faulted) -> (Worker, String) {
    let text = FILE.replace("repeats = 3", "repeats = 1\nseries = { length = 2 }");
    let text = text.replace("[0.5, 0.9]", "[0.5]");
    let request = SubmitExperimentRequest {
        document: document_of(&text).into(),
        ..SubmitExperimentRequest::default()
    };
    let submitted = stand.commands().submit_experiment(request).await;
    let id = submitted.unwrap().into_inner().experiment_id;
    let mut worker = Worker::connect(&stand.coordinator.services(), "w1", 1).await;
    let first = worker.take(1).await.remove(0);
    assert_eq!(worker.complete(&first).await, Settlement::Stored);
    let second = worker.take(1).await.remove(0);
    assert!(!second.carried.is_empty());
    let second = second.lease.unwrap();
    let parked = worker.fail(&second, FailureKind::Parked, "no answer").await;
    assert_eq!(parked, Settlement::Noted);
    // Nothing is left to play, so the segment is closed and written.
    archived(stand).await;
    (worker, id)
}

/// All records are in the archive.
async fn archived(stand: &Faulted) {
    while stand.coordinator.status().await.unwritten > 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn retry(stand: &Faulted, id: &str) {
    let request = RetrySessionsRequest {
        experiment_id: id.to_owned(),
        session_ids: Vec::new(),
    };
    let retried = stand.commands().retry_sessions(request).await;
    assert_eq!(retried.unwrap().into_inner().requeued, 1);
}

#[tokio::test]
async fn worker_is_heard_while_the_archive_does_not_say_what_its_session_takes_along() {
    let stand = Faulted::open(&Faulty::new()).await;
    let (mut worker, id) = series_behind_its_archive(&stand).await;
    let gate = Gate::closed();
    let closed = gate.clone();
    stand.journal.plan(move |call| match call {
        Call::Blob(name) if name.starts_with(ARCHIVE) => Act::Wait(closed.clone()),
        _ => Act::Go,
    });
    retry(&stand, &id).await;
    gate.reached().await;
    let beat = Heartbeat {
        number: 7,
        progressed: Vec::new(),
    };
    worker.say(Say::Heartbeat(beat)).await;
    match worker.hear().await.unwrap() {
        Some(Hear::Heard(heard)) => assert_eq!(heard.number, 7),
        other => panic!("expected to be heard, heard {other:?}"),
    }
    gate.open();
    let second = worker.take(1).await.remove(0);
    assert!(!second.carried.is_empty());
    assert_eq!(worker.complete(&second).await, Settlement::Stored);
}

#[tokio::test]
async fn session_waits_while_the_archive_fails_and_is_granted_once_it_answers() {
    let stand = Faulted::open(&Faulty::new()).await;
    let (mut worker, id) = series_behind_its_archive(&stand).await;
    let failed = AtomicBool::new(false);
    stand.journal.plan(move |call| match call {
        Call::Blob(name) if name.starts_with(ARCHIVE) && !failed.swap(true, Ordering::SeqCst) => {
            Act::Fail
        }
        _ => Act::Go,
    });
    retry(&stand, &id).await;
    let second = worker.take(1).await.remove(0);
    assert_eq!(second.attempt, 1);
    assert!(!second.carried.is_empty());
    assert!(progress(&mut stand.commands(), &id).await.dead.is_empty());
    assert_eq!(worker.complete(&second).await, Settlement::Stored);
}
