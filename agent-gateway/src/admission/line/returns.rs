//! What was granted to callers that had gone, or perhaps was: the answer of a
//! store can be lost. Kept until the limiter has taken it back as unused, so that
//! no place stays taken for nobody. Called by `admission/line.rs`.

use agon_service_kit::tasks::with_causes;
use parking_lot::Mutex;

use super::Waiter;
use crate::admission::{Ask, Charge, Limiter, Reservation};
use crate::complaint::Complaint;
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
            self.doubtful.lock().push(Ask::of(&waiter.want, place));
        }
    }

    /// Nobody knows whether these were granted, and nobody wants them.
    pub fn note_lost(&self, asks: Vec<Ask>) {
        self.doubtful.lock().extend(asks);
    }

    /// Gives back as much as the limiter takes now.
    pub async fn settle(&self, lane: &Lane, limiter: &dyn Limiter) {
        self.spell_out(lane);
        loop {
            let Some(reservation) = self.granted.lock().pop() else {
                return;
            };
            let settled = limiter
                .settle(&reservation, &Charge::default(), 0, &Signals::default())
                .await;
            if let Err(error) = settled {
                if let Some(failures) = self.store_away.note() {
                    let error = with_causes(&error);
                    tracing::warn!(error, failures, "unused attempts not settled yet");
                }
                self.granted.lock().push(reservation);
                return;
            }
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
