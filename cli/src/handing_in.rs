//! Hands an experiment to a coordinator, embedded or not. Follows nothing. Called by
//! `agon run` and `agon play`.

use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{
    ResumeExperimentRequest, RetrySessionsRequest, SubmitExperimentRequest,
    SubmitExperimentResponse,
};
use agon_service_kit::backoff::{Delays, Retry, retry};
use agon_service_kit::status::is_retryable;
use agon_service_kit::telemetry;
use agon_worker::Transport;
use tonic::Status;

use crate::experiment_arguments::CheckedExperiment;

/// How an experiment is handed in.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terms<'a> {
    /// Finished sessions are played anew that other versions of rules or prompts leave behind.
    pub accept_new: bool,
    /// Why nothing of it begins until somebody resumes it.
    pub pause: Option<&'a str>,
}

/// How often to try before saying that the coordinator does not answer. Connections break on busy
/// machines, and handing in twice changes nothing.
const TRIES: usize = 4;

/// Submits, and gives another chance to what an earlier run set aside or paused
/// at: a budget that is still spent pauses again without a call.
///
/// # Errors
/// The coordinator refuses, or does not answer several times in a row.
pub async fn hand_in(
    client: &mut ExperimentServiceClient<Transport>,
    checked: &CheckedExperiment,
    terms: Terms<'_>,
) -> Result<SubmitExperimentResponse, Status> {
    let request = SubmitExperimentRequest {
        document: checked.document.to_json().into(),
        templates: checked.templates.clone().into_iter().collect(),
        traceparent: telemetry::current_traceparent().unwrap_or_default(),
        models: checked.models.iter().cloned().collect(),
        accept_new: terms.accept_new,
        pause: terms.pause.unwrap_or_default().to_owned(),
    };
    let mut tries = 0;
    retry(Delays::default(), None, || {
        tries += 1;
        let (client, request, is_last) = (client.clone(), request.clone(), tries == TRIES);
        async move {
            let handed_in = hand_in_once(client, request).await;
            handed_in.map_err(|refusal| match is_retryable(&refusal) && !is_last {
                true => Retry::Again(refusal),
                false => Retry::Stop(refusal),
            })
        }
    })
    .await
}

async fn hand_in_once(
    mut client: ExperimentServiceClient<Transport>,
    request: SubmitExperimentRequest,
) -> Result<SubmitExperimentResponse, Status> {
    let is_paused = !request.pause.is_empty();
    let submitted = client.submit_experiment(request).await?.into_inner();
    let again = RetrySessionsRequest {
        experiment_id: submitted.experiment_id.clone(),
        session_ids: Vec::new(),
    };
    client.retry_sessions(again).await?;
    if is_paused {
        return Ok(submitted);
    }
    let resume = ResumeExperimentRequest {
        experiment_id: submitted.experiment_id.clone(),
        ..ResumeExperimentRequest::default()
    };
    client.resume_experiment(resume).await?;
    Ok(submitted)
}
