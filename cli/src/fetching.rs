//! Fetches the finished sessions of an experiment from a coordinator into a file of the run's entry,
//! and goes on where it stopped: after a broken connection, in a later process, or when more sessions
//! are finished. Submits nothing. Called when a run in a cluster ends, and by `agon results pull`.

use std::time::Duration;

use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{FetchRecordsRequest, GetExperimentRequest};
use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::status::{self, ErrorClass};
use agon_worker::Transport;
use tonic::Status;

use crate::failure::Failure;
use crate::progress::CountProgress;
use crate::run_folder::Entry;

mod store;

pub use store::{FETCHED, Fetched, InOrder};

/// How long a coordinator may be away before it is given up: what was fetched is kept.
const COORDINATOR_MAY_BE_AWAY: Duration = Duration::from_secs(600);

/// Why fetching ended early.
pub enum FetchError {
    /// The coordinator refused, or was away for too long.
    Refused(Status),
    /// The file could not be read or written.
    File(Failure),
}

impl From<Status> for FetchError {
    fn from(refusal: Status) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Failure> for FetchError {
    fn from(failure: Failure) -> Self {
        Self::File(failure)
    }
}

/// Fetches what is finished and not in the entry yet; what is in it is kept whatever happens.
///
/// # Errors
/// See [`FetchError`].
pub async fn fetch(
    client: &mut ExperimentServiceClient<Transport>,
    experiment: &str,
    entry: &Entry,
    progress: &mut CountProgress,
) -> Result<Fetched, FetchError> {
    let mut delays = Delays::new(DelayPolicy {
        give_up_after: Some(COORDINATOR_MAY_BE_AWAY),
        ..DelayPolicy::default()
    });
    loop {
        let refusal = match pass(client, experiment, entry, progress, &mut delays).await {
            Err(FetchError::Refused(refusal)) => refusal,
            Ok(Some(fetched)) => return Ok(fetched),
            // Submitted again meanwhile, with another grid, or after it was removed.
            Ok(None) => continue,
            Err(error) => return Err(error),
        };
        match delays.next_delay() {
            Some(delay) if status::is_retryable(&refusal) => tokio::time::sleep(delay).await,
            _ => return Err(refusal.into()),
        }
    }
}

/// One stream to its end; `None` when what it sends is of other results than those that were asked for.
async fn pass(
    client: &mut ExperimentServiceClient<Transport>,
    experiment: &str,
    entry: &Entry,
    progress: &mut CountProgress,
    delays: &mut Delays,
) -> Result<Option<Fetched>, FetchError> {
    let which = GetExperimentRequest {
        experiment_id: experiment.to_owned(),
    };
    let of = client.get_experiment(which.clone()).await?.into_inner();
    let mut fetched = Fetched::open(entry, &of.results_id)?;
    let request = FetchRecordsRequest {
        experiment_id: experiment.to_owned(),
        have: fetched.positions().into(),
        results_id: of.results_id.clone(),
        ..FetchRecordsRequest::default()
    };
    let mut results = client.fetch_records(request).await?.into_inner();
    progress.show(fetched.sessions());
    while let Some(result) = results.message().await? {
        delays.reset();
        if result.grid != of.grid {
            return Ok(None);
        }
        fetched.add(result)?;
        progress.show(fetched.sessions());
    }
    fetched.flush()?;
    let is_same = match client.get_experiment(which).await {
        Ok(now) => now.into_inner().results_id == of.results_id,
        // It was removed after the last of its results had come.
        Err(refusal) => ErrorClass::of(&refusal) == ErrorClass::NotFound,
    };
    Ok(is_same.then_some(fetched))
}
