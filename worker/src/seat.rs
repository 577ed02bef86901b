//! The actor of one model seat: holds the seat's agent and its mind, works on one
//! piece at a time and tells its session what came out. Started by a session,
//! ends with it.

mod actor;
mod handle;
mod messages;

pub use handle::SeatHandle;
pub use messages::{Reported, SeatReport};

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use agon_agents::{Agent, Mind};
use agon_engine::Seat;
use agon_service_kit::tasks::{TaskKind, Tasks, panic_message};
use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tracing::Instrument as _;

/// One piece of work at a time comes from the session, for which its sender has room.
const MAILBOX: usize = 0;

/// Starts the actor of a seat under the current span.
pub fn start(
    tasks: &Tasks,
    seat: Seat,
    agent: Box<dyn Agent>,
    mind: Arc<dyn Mind>,
    session: mpsc::Sender<Reported>,
) -> SeatHandle {
    let (sender, inbox) = futures_channel::mpsc::channel(MAILBOX);
    let actor = actor::SeatActor::new(seat, agent, mind, session.clone(), inbox);
    let watched = async move {
        // An agent's panic must end its session, not leave it waiting.
        let ended = AssertUnwindSafe(actor.run()).catch_unwind().await;
        if let Err(panic) = ended {
            let reason = panic_message(&*panic);
            let report = SeatReport::Crashed(reason);
            // The receiver is dropped only when the session has ended.
            let _ = session.send(Reported { seat, report }).await;
        }
    };
    // It ends with its session, which drops the handle or cancels the mind; a
    // shutdown that cut it short would look like a crash of the session.
    tasks.spawn(TaskKind::WORK, "seat", watched.in_current_span());
    SeatHandle::new(sender)
}
