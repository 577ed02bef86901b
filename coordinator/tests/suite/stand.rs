//! What the tests of the services stand on: a coordinator in this process, an experiment to hand in.
//! Called by the tests of both services.

use std::time::Duration;

use agon_coordinator::experiment::ExperimentFile;
use agon_coordinator::{Coordinator, CoordinatorOptions, StoreChoice};
use agon_proto::v1::{
    FetchRecordsRequest, Settlement, SubmitExperimentRequest, SubmitExperimentResponse,
    WatchExperimentRequest, WatchExperimentResponse,
};
use agon_service_kit::tasks::Tasks;

use crate::worker::{Commands, Worker};

pub const FILE: &str = r#"
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
pub struct Stand {
    pub coordinator: Coordinator,
    pub tasks: Tasks,
    _folder: tempfile::TempDir,
}

pub async fn open(choice: Option<StoreChoice>, options: CoordinatorOptions) -> Stand {
    let folder = tempfile::tempdir().unwrap();
    let tasks = Tasks::new();
    let choice = choice.unwrap_or_else(|| StoreChoice::Folder(folder.path().to_owned()));
    let coordinator = Coordinator::open(choice, options, &tasks).await.unwrap();
    Stand {
        coordinator,
        tasks,
        _folder: folder,
    }
}

pub async fn embedded() -> Stand {
    open(None, CoordinatorOptions::default()).await
}

pub fn document() -> Vec<u8> {
    document_of(FILE)
}

pub fn document_of(text: &str) -> Vec<u8> {
    ExperimentFile::parse("x.toml", text)
        .unwrap()
        .check()
        .unwrap()
        .to_json()
}

pub async fn submit(commands: &mut Commands) -> SubmitExperimentResponse {
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
pub async fn play_all(worker: &mut Worker, sessions: usize) -> Vec<String> {
    let mut played = Vec::new();
    while played.len() < sessions {
        for lease in worker.granted().await {
            assert_eq!(worker.complete(&lease).await, Settlement::Stored);
            played.push(lease.lease.unwrap().session_id);
        }
    }
    played
}

/// How far an experiment is.
pub async fn progress(commands: &mut Commands, experiment_id: &str) -> WatchExperimentResponse {
    let watching = WatchExperimentRequest {
        experiment_id: experiment_id.to_owned(),
    };
    let mut watch = commands.watch_experiment(watching).await.unwrap();
    watch.get_mut().message().await.unwrap().unwrap()
}

/// Ids of all sessions that can be fetched behind a position.
pub async fn fetch(commands: &mut Commands, id: &str, after: Option<u32>) -> Vec<String> {
    let request = FetchRecordsRequest {
        experiment_id: id.to_owned(),
        after,
        ..FetchRecordsRequest::default()
    };
    fetch_as(commands, request).await
}

/// Sessions that are sent for a request.
pub async fn fetch_as(commands: &mut Commands, request: FetchRecordsRequest) -> Vec<String> {
    let mut records = commands.fetch_records(request).await.unwrap().into_inner();
    let mut read = Vec::new();
    while let Some(result) = records.message().await.unwrap() {
        assert_eq!(result.fault, "", "{result:?}");
        read.push(result.session_id);
    }
    read
}

/// Longer than anything takes.
pub const LONG: Duration = Duration::from_secs(30);
