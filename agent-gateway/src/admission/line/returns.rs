//! What was granted to callers that had gone, or perhaps was: the answer of a
//! store can be lost. Kept until the limiter has taken it back as unused, so that
//! no place stays taken for nobody. Called by `admission/line.rs`.

use agon_service_kit::complaint::Complaint;
use agon_service_kit::tasks::with_causes;
use futures_util::future::join_all;
use parking_lot::Mutex;

use super::Waiter;
use crate::admission::{Ask, Charge, Limiter, Reservation};
use crate::fairness::queue::Place;
use crate::lanes::Lane;
use crate::providers::Signals;

/// Everything that has to be settled as unused.
#[derive(Default)]
pub(super) struct Returns {
    granted: Mutex<Vec<Reservation>>,
    doubtful: Mutex<Vec<Ask>>,
    store_away: Complaint,
}

impl Returns {
    /// Takes over what nobody wants any more.
    pub fn add(&self, reservation: Reservation) {
        self.granted.lock().push(reservation);
    }

    /// A caller leaves of whom nobody knows whether it was granted something.
    pub fn note_doubtful(&self, waiter: &Waiter, place: &Place) {
        if waiter.doubtful {
            self.doubtful.lock().push(waiter.ask(place));
        }
    }

    /// Nothing has to be given back.
    pub fn is_empty(&self) -> bool {
        self.granted.lock().is_empty() && self.doubtful.lock().is_empty()
    }

    /// Gives back as much as the limiter takes now, all at once.
    pub async fn settle(&self, lane: &Lane, limiter: &dyn Limiter) {
        self.spell_out(lane);
        let granted = std::mem::take(&mut *self.granted.lock());
        let settled = granted.into_iter().map(|reservation| async move {
            let (unused, signals) = (Charge::default(), Signals::default());
            let settled = limiter.settle(&reservation, &unused, 0, &signals).await;
            settled.map_err(|error| (reservation, error))
        });
        for (reservation, error) in join_all(settled).await.into_iter().filter_map(Result::err) {
            if let Some(failures) = self.store_away.note() {
                let error = with_causes(&error);
                tracing::warn!(error, failures, "unused attempts not settled yet");
            }
            self.granted.lock().push(reservation);
        }
    }

    /// A doubtful attempt may have been granted on any key; settling where it was
    /// not does nothing.
    fn spell_out(&self, lane: &Lane) {
        let doubtful = std::mem::take(&mut *self.doubtful.lock());
        if doubtful.is_empty() {
            return;
        }
        let terms = lane.terms();
        let shared = terms.keys.iter().any(|key| key.limits.limit_anything());
        for ask in doubtful {
            let on_each_key = terms.keys.iter().map(|key| Reservation {
                attempt: ask.attempt.clone(),
                pool: lane.pool.clone(),
                lane: lane.name.clone(),
                key: key.key.id.clone(),
                charge: ask.charge,
                most: ask.most,
                share: ask.share.clone(),
                burst: terms.burst,
                lane_limits: key.lane_limits,
                shared,
            });
            self.granted.lock().extend(on_each_key);
        }
    }
}
