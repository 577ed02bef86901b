//! What the limits are told later, when their store did not take it at once. Put
//! into the outbox by the line and by `deciding/`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::sync::Notify;

use super::{Charge, Limiter, Reservation};
use crate::limits::Signals;
use crate::outbox::OutboxMessage;
use crate::store_error::StoreError;

/// Every attempt has counted as lost by then.
const ATTEMPTS_LAST: Duration = Duration::from_secs(3_600);

/// An attempt is over.
pub(crate) struct Settlement {
    pub limiter: Arc<dyn Limiter>,
    pub reservation: Reservation,
    pub used: Charge,
    pub cost: u64,
    pub signals: Signals,
    /// Told when its place is free.
    pub freed: Arc<Notify>,
}

#[async_trait]
impl OutboxMessage for Settlement {
    fn kind(&self) -> &'static str {
        "attempt not settled"
    }

    fn key(&self) -> String {
        let Reservation { attempt, key, .. } = &self.reservation;
        format!("{attempt} {}", key.as_str())
    }

    fn lasts(&self) -> Duration {
        ATTEMPTS_LAST
    }

    async fn tell(&self) -> Result<(), StoreError> {
        let (reservation, used) = (&self.reservation, &self.used);
        let settled = self
            .limiter
            .settle(reservation, used, self.cost, &self.signals);
        settled.await?;
        self.freed.notify_one();
        Ok(())
    }
}

/// A key is to be left alone.
pub(crate) struct KeyHold {
    pub limiter: Arc<dyn Limiter>,
    /// The attempt that was refused.
    pub reservation: Reservation,
    pub until: Instant,
}

#[async_trait]
impl OutboxMessage for KeyHold {
    fn kind(&self) -> &'static str {
        "key not held"
    }

    fn key(&self) -> String {
        self.reservation.attempt.clone()
    }

    fn lasts(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    async fn tell(&self) -> Result<(), StoreError> {
        let Reservation {
            pool, lane, key, ..
        } = &self.reservation;
        self.limiter.hold(pool, lane, key, self.lasts()).await
    }
}
