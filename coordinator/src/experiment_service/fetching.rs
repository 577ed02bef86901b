//! Sends finished sessions in the experiment's order: from the owner what is not in the archive yet,
//! the rest from there, a segment at a time. Sessions that were granted together lie together, so
//! few segments are read more than once.

use std::collections::VecDeque;

use agon_proto::v1::{FetchRecordsRequest, FetchRecordsResponse};
use agon_service_kit::status::{ErrorClass, to_status};
use agon_service_kit::tasks::with_causes;
use bytes::Bytes;
use tokio::sync::mpsc;
use tonic::Status;
use tracing::error;

use crate::archive::{Archive, Segment};
use crate::owner::{Located, Office, Whereabouts};

/// Sessions that are located at a time.
const PAGE: usize = 256;

/// Segments that are kept while others are read.
const RECENT: usize = 4;

/// What these may have together; the last one may have more.
const RECENT_BYTES: usize = 32 * 1024 * 1024;

/// A result of so many bytes waits until those before it have been taken: no two of them wait.
const LARGE: usize = 1024 * 1024;

/// Why a caller has to ask again.
const REPLACED: &str = "the experiment was removed and submitted again meanwhile; ask again";

type Outbox = mpsc::Sender<Result<FetchRecordsResponse, Status>>;

/// Sends everything behind a position that the caller does not have.
pub(super) async fn fetch(
    office: Office,
    archive: Archive,
    request: FetchRecordsRequest,
    outbox: Outbox,
) {
    let FetchRecordsRequest {
        experiment_id: experiment,
        mut after,
        have,
        results_id,
    } = request;
    let mut reader = Reader {
        archive,
        recent: VecDeque::new(),
    };
    let mut first: Option<u32> = None;
    loop {
        let found = office
            .handle
            .finished(experiment.clone(), after, PAGE)
            .await;
        let page = match found {
            Ok(found) => found,
            Err(status) => {
                // A caller that has gone does not hear it.
                let _ = outbox.send(Err(status)).await;
                return;
            }
        };
        // One that was removed and submitted again has the same name, and other results.
        if page.experiment != *first.get_or_insert(page.experiment) {
            let gone = to_status(ErrorClass::Unavailable, REPLACED);
            let _ = outbox.send(Err(gone)).await;
            return;
        }
        let Some(last) = page.sessions.last() else {
            return;
        };
        after = Some(last.position);
        let known = office.specs.get(page.experiment);
        let id = |position| {
            let session = known.as_ref().and_then(|known| known.session(position));
            session.map(|session| session.id).unwrap_or_default()
        };
        let is_of_these = office.sealer.results_id(page.experiment, page.grid) == results_id;
        let wanted = page.sessions.into_iter();
        let wanted = wanted.filter(|one| !(is_of_these && holds(&have, one.position)));
        for one in wanted {
            let position = one.position;
            let read = reader.read(&experiment, one).await;
            let told = FetchRecordsResponse {
                grid: page.grid,
                ..told(position, read, id)
            };
            if told.record.len() + told.telemetry.len() >= LARGE {
                // All places are free once nothing waits.
                let alone = outbox.reserve_many(outbox.max_capacity()).await;
                if alone.is_err() {
                    return;
                }
            }
            if outbox.send(Ok(told)).await.is_err() {
                return;
            }
        }
    }
}

/// Whether a position is among those that a caller has.
fn holds(have: &[u8], position: u32) -> bool {
    let byte = have.get(position as usize / 8);
    byte.is_some_and(|byte| byte & (1 << (position % 8)) != 0)
}

/// A session's id, its record and telemetry; or why they cannot be had.
type Read = Result<(String, Bytes, Bytes), String>;

struct Reader {
    archive: Archive,
    recent: VecDeque<(u32, Segment)>,
}

impl Reader {
    async fn read(&mut self, experiment: &str, located: Located) -> Read {
        let (segment, entry) = match located.whereabouts {
            Whereabouts::Here {
                session_id,
                record,
                telemetry,
            } => return Ok((session_id, record, telemetry)),
            Whereabouts::Archived { segment, entry } => (segment, entry),
        };
        let known = self
            .recent
            .iter()
            .position(|(number, _)| *number == segment);
        if known.is_none() {
            let read = self.archive.read(experiment, segment).await;
            let read = read.map_err(|error| with_causes(&error))?;
            self.recent.truncate(RECENT - 1);
            self.recent.push_front((segment, read));
            let bytes = |recent: &VecDeque<(u32, Segment)>| -> usize {
                recent.iter().map(|(_, segment)| segment.bytes()).sum()
            };
            while self.recent.len() > 1 && bytes(&self.recent) > RECENT_BYTES {
                self.recent.pop_back();
            }
        }
        let (_, found) = &self.recent[known.unwrap_or_default()];
        let stored = found
            .entry(entry)
            .ok_or_else(|| format!("segment {segment} of the archive has no record {entry}"))?;
        Ok((
            stored.session.clone(),
            stored.record.clone(),
            stored.telemetry.clone(),
        ))
    }
}

/// A stored result as it is told: one that cannot be read is told as that, and hides no other. What
/// it holds its reader finds out.
fn told(position: u32, read: Read, id: impl Fn(u32) -> String) -> FetchRecordsResponse {
    match read {
        Ok((session_id, record, telemetry)) => FetchRecordsResponse {
            session_id,
            record,
            telemetry,
            position,
            ..FetchRecordsResponse::default()
        },
        Err(fault) => {
            let session_id = id(position);
            error!(
                session_id,
                fault, "a stored result cannot be read; it is left out"
            );
            FetchRecordsResponse {
                session_id,
                fault,
                position,
                ..FetchRecordsResponse::default()
            }
        }
    }
}
