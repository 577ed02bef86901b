//! The waiting line of one provider in one replica. Callers wait in the order
//! they came; only the first of them asks the limiter, sleeps as long as it is
//! told or until something is settled, and so nobody polls. Weighted queues
//! will take the place of the plain order here. Called by `deciding.rs`.

use std::future::Future;
use std::time::Duration;

use tokio::sync::{Notify, Semaphore};

use super::{AdmissionError, Ask, Limiter, Reservation, Verdict};
use crate::keys::KeyPool;

/// A hold or a change of another replica's making is noticed this soon even
/// when the limiter promised a longer wait.
const LONGEST_SLEEP: Duration = Duration::from_secs(5);

/// Who is first may ask; the rest wait. The semaphore has one permit and hands
/// it on in order of arrival: it is the line.
pub struct Line {
    turn: Semaphore,
    freed: Notify,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            turn: Semaphore::new(1),
            freed: Notify::new(),
        }
    }
}

impl Line {
    /// Waits until one of the pool's keys can carry the attempt. `Ok(None)`
    /// when no key of the pool may be used at all. May be dropped at any time:
    /// an attempt that is granted but never returned counts as lost.
    pub async fn admit(
        &self,
        limiter: &dyn Limiter,
        pool: &KeyPool,
        attempt: &str,
        tokens: u64,
        lasts: Duration,
    ) -> Result<Option<Reservation>, AdmissionError> {
        // The semaphore is never closed; were it, asking out of turn is harmless.
        let _turn = self.turn.acquire().await.ok();
        loop {
            let candidates = pool.candidates();
            if candidates.is_empty() {
                return Ok(None);
            }
            let pool = pool.provider.as_str();
            let ask = Ask {
                attempt,
                pool,
                candidates: &candidates,
                tokens,
                lasts,
            };
            match limiter.reserve(&ask).await? {
                Verdict::Granted(reservation) => return Ok(Some(reservation)),
                Verdict::Wait(wait) => self.sleep(wait.min(LONGEST_SLEEP)).await,
            }
        }
    }

    /// Runs something that may make room (a settlement, a hold, a quarantine)
    /// and lets the first in line look again.
    pub async fn change<F: Future>(&self, change: F) -> F::Output {
        let outcome = change.await;
        self.freed.notify_one();
        outcome
    }

    async fn sleep(&self, wait: Duration) {
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = self.freed.notified() => {}
        }
    }
}
