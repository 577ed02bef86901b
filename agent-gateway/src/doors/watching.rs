//! The stream of what waits at a door, for the gRPC service: one message at
//! once and one whenever something has changed. Ends when the gateway stops or
//! the store fails, never by itself. Called by `service.rs`.

use agon_identity::holder::OF_TEAM;
use agon_proto::v1::WatchDoorResponse;
use agon_service_kit::status::{ErrorClass, to_status};
use agon_service_kit::tasks::{TaskKind, with_causes};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tonic::codegen::BoxStream;

use crate::deciding::Decider;
use crate::door_store::{DoorStore, Listing, WaitingAsk};
use crate::store_error::StoreError;
use crate::wire;

/// One message waits for a slow watcher; what comes after is read fresh.
const MAILBOX: usize = 1;

type ShownListing = Result<WatchDoorResponse, Status>;

/// Watches a door; an empty session means all. A team sees its own asks only.
pub(crate) fn watch(
    decider: &Decider,
    door: String,
    session_id: String,
    team: Option<String>,
) -> BoxStream<WatchDoorResponse> {
    let (messages, stream) = mpsc::channel(MAILBOX);
    let doors = decider.doors.clone();
    let stopping = decider.stopping.clone();
    decider
        .tasks
        .spawn(TaskKind::WORK, "door watch", async move {
            let last = tokio::select! {
                failed = send_changes(doors.as_ref(), &door, (&session_id, team.as_deref()), &messages) => failed,
                () = messages.closed() => None,
                () = stopping.cancelled() => {
                    Some(to_status(ErrorClass::Unavailable, "the gateway is stopping"))
                }
            };
            if let Some(status) = last {
                // A watcher that is gone needs no reason.
                let _ = messages.try_send(Err(status));
            }
        });
    Box::pin(ReceiverStream::new(stream))
}

async fn send_changes(
    doors: &dyn DoorStore,
    door: &str,
    (session_id, team): (&str, Option<&str>),
    messages: &mpsc::Sender<ShownListing>,
) -> Option<Status> {
    let mut shown: Option<Vec<_>> = None;
    loop {
        let mut listing = match doors.list(door).await {
            Ok(listing) => listing,
            Err(error) => return Some(failed(&error)),
        };
        let version = listing.version;
        only_own(&mut listing, session_id, team);
        let names = |listing: &Listing| -> Vec<_> {
            let asks = listing.asks.iter();
            asks.map(|waiting| (waiting.ask.address.clone(), waiting.ask.digest.clone()))
                .collect()
        };
        // Other doors and other sessions change the version too.
        let seen = Some(names(&listing));
        if seen != shown {
            shown = seen;
            let message = wire::write_listing(listing);
            messages.send(Ok(message)).await.ok()?;
        }
        if let Err(error) = doors.changed(door, version).await {
            return Some(failed(&error));
        }
    }
}

/// Leaves out what other teams ask, and other sessions if one is named. A team is told its own names.
pub(crate) fn only_own(listing: &mut Listing, session_id: &str, team: Option<&str>) {
    listing.asks.retain(|waiting| {
        let ask = &waiting.ask;
        let id = &ask.address.session_id;
        // A session of a team is known here by both names.
        let own = id
            .strip_prefix(&ask.team)
            .and_then(|rest| rest.strip_prefix('/'));
        let is_asked = session_id.is_empty() || id == session_id || own == Some(session_id);
        is_asked && team.is_none_or(|team| ask.team == team)
    });
    if let Some(team) = team {
        for WaitingAsk { ask, .. } in &mut listing.asks {
            let kept = ask.experiment_id.strip_suffix(team);
            if let Some(own) = kept.and_then(|name| name.strip_suffix(OF_TEAM)) {
                ask.experiment_id = own.to_owned();
            }
        }
    }
}

fn failed(error: &StoreError) -> Status {
    to_status(ErrorClass::Unavailable, with_causes(error))
}
