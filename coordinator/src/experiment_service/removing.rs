//! Removes an experiment and everything that the archive has of it. May be repeated: what a removal left
//! behind that could not be finished, the next one of that name takes. Called by the service.

use agon_service_kit::status::{ErrorClass, to_status};
use agon_service_kit::tasks::with_causes;
use tonic::{Code, Status};
use tracing::info;

use crate::archive::{Archive, ArchiveError};
use crate::owner::OwnerHandle;

/// Removes it.
///
/// # Errors
/// There is nothing of it, it is not over, or something of it is left.
pub(super) async fn remove(
    handle: OwnerHandle,
    archive: Archive,
    experiment: String,
) -> Result<(), Status> {
    let left_behind = |error: ArchiveError| {
        let error = with_causes(&error);
        let message = format!(
            "experiment \"{experiment}\" is no longer in the queue, but the archive may still have \
             something of it ({error}); remove it again"
        );
        to_status(ErrorClass::Unavailable, message)
    };
    // Whoever submits it again would fill segments that are still being written or deleted.
    let _held = handle.hold_name(experiment.clone()).await?;
    match handle.delete(experiment.clone()).await {
        Ok(key) => handle.await_writes(key).await?,
        Err(unknown) if unknown.code() == Code::NotFound => {
            if !archive.holds(&experiment).await.map_err(left_behind)? {
                return Err(unknown);
            }
        }
        Err(refused) => return Err(refused),
    }
    archive.delete(&experiment).await.map_err(left_behind)?;
    info!(experiment_id = %experiment, "experiment removed");
    Ok(())
}
