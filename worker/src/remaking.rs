//! Makes the calls of a recorded session again, to show them: the record holds digests and
//! replies, and spec, templates and replies give the very messages. The same session and seat
//! actors run as in a live session. Called by `agon show --prompts`.

use std::sync::Arc;

use agon_agents::{Mind, Thought};
use agon_engine::extent::Bounds;
use agon_engine::record::StoredRecord;
use agon_engine::{RecordedDecision, Seat};
use agon_referee::Games;
use agon_service_kit::tasks::Tasks;
use tokio_util::sync::CancellationToken;

use crate::mind::{Journal, Kept, Recorded, RecordedMind};
use crate::session::{self, SessionPlan};
use crate::setup::Library;
use crate::verify::{self, OtherTemplates};

/// A recorded decision with the call that it answered.
#[derive(Debug, Clone)]
pub struct Remade {
    record: Arc<StoredRecord>,
    place: usize,
    /// The call; none when this program does not come to it.
    pub call: Option<Thought>,
    /// The call is the recorded one, by its digest.
    pub is_same: bool,
}

impl Remade {
    /// The decision.
    pub fn decision(&self) -> &RecordedDecision {
        &self.record.decisions[self.place]
    }
}

/// Every decision of a record, by seat and index. Where this program asks anything else than
/// what was recorded, the calls from there on are missing or not the same.
/// The play may produce only as much as `most`, what the record's line holds.
///
/// # Errors
/// The session was played with other templates.
pub async fn remake(
    tasks: &Tasks,
    stored: Arc<StoredRecord>,
    most: &Bounds,
    library: Library,
) -> Result<Vec<Remade>, OtherTemplates> {
    verify::check_templates(&stored, &library)?;
    // What it cannot say, nobody is asked after.
    let referee = verify::referee(&stored, &Games::default()).unwrap_or_default();
    let kept = Arc::new(Kept::of(Arc::clone(&stored)));
    let recorded = Arc::new(Recorded::Kept(Arc::clone(&kept)));
    let session_id: Arc<str> = stored.session.as_str().into();
    let minds = move |seat: Seat, journal: Arc<Journal>| -> Arc<dyn Mind> {
        let (id, recorded) = (Arc::clone(&session_id), Arc::clone(&recorded));
        Arc::new(RecordedMind::new(id, seat, recorded, journal))
    };
    let plan = SessionPlan {
        spec: stored.spec.clone(),
        carried: stored.carried.clone(),
        library,
        minds: Box::new(minds),
        referee,
        most: *most,
        given_up: CancellationToken::new(),
    };
    // How it ends is the business of verification.
    session::run(tasks.clone(), plan).await;
    let remade = kept.take().map(|(place, call)| {
        let is_same = call.as_ref().is_some_and(|(_, is_same)| *is_same);
        Remade {
            record: Arc::clone(&stored),
            place,
            call: call.map(|(call, _)| call),
            is_same,
        }
    });
    Ok(remade.collect())
}
