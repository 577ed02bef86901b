//! Makes the calls of a recorded session again, to show them: the record holds digests and
//! replies, and spec, templates and replies give the very messages. The same session and seat
//! actors run as in a live session. Called by `agon show --prompts`.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_agents::{Mind, Thought};
use agon_engine::extent::Bounds;
use agon_engine::record::StoredRecord;
use agon_engine::{RecordedDecision, Seat};
use agon_referee::Games;
use agon_service_kit::tasks::Tasks;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::mind::{Journal, RecordedMind, Witness};
use crate::session::{self, SessionPlan};
use crate::setup::Library;
use crate::verify;

/// A recorded decision with the call that it answered.
#[derive(Debug, Clone)]
pub struct Remade {
    /// The decision.
    pub decision: RecordedDecision,
    /// The call; none when this program does not come to it.
    pub call: Option<Thought>,
    /// The call is the recorded one, by its digest.
    pub is_same: bool,
}

/// Every decision of a record, by seat and index. Where this program asks anything else than
/// what was recorded, the calls from there on are missing or not the same.
/// The play may produce only as much as `most`, what the record's line holds.
pub async fn remake(
    tasks: &Tasks,
    stored: StoredRecord,
    most: &Bounds,
    library: Library,
) -> Vec<Remade> {
    // What it cannot say, nobody is asked after.
    let referee = verify::referee(&stored, &Games::default()).unwrap_or_default();
    let keyed = stored.decisions.into_iter();
    let decisions: BTreeMap<(Seat, u32), RecordedDecision> = keyed
        .map(|decision| ((decision.seat, decision.index), decision))
        .collect();
    let decisions = Arc::new(decisions);
    let witness: Witness = Arc::new(Mutex::new(BTreeMap::new()));
    let session_id: Arc<str> = stored.session.as_str().into();
    let minds = {
        let (decisions, witness) = (Arc::clone(&decisions), Arc::clone(&witness));
        move |seat: Seat, journal: Arc<Journal>| -> Arc<dyn Mind> {
            let (id, decisions) = (Arc::clone(&session_id), Arc::clone(&decisions));
            let mind = RecordedMind::new(id, seat, decisions, journal);
            Arc::new(mind.with_witness(Arc::clone(&witness)))
        }
    };
    let plan = SessionPlan {
        spec: stored.spec,
        carried: stored.carried,
        library,
        minds: Box::new(minds),
        referee,
        most: *most,
        given_up: CancellationToken::new(),
    };
    // How it ends is the business of verification.
    session::run(tasks.clone(), plan).await;
    let mut calls = std::mem::take(&mut *witness.lock());
    let remade = decisions.iter().map(|(address, decision)| {
        let (call, is_same) = match calls.remove(address) {
            Some((call, is_same)) => (Some(call), is_same),
            None => (None, false),
        };
        Remade {
            decision: decision.clone(),
            call,
            is_same,
        }
    });
    remade.collect()
}
