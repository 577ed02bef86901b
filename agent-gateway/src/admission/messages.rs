//! What the limits are told later, when their store did not take it at once. Put
//! into the outbox by the line and by `deciding/`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::{Charge, Limiter, Reservation};
use crate::limits::Signals;
use crate::outbox::OutboxMessage;

/// Every attempt has counted as lost by then.
const ATTEMPTS_LAST: Duration = Duration::from_secs(3_600);

/// An attempt is over; `freed` is told when its place is free. The store is told with the next question
/// about the provider's keys, or after this time.
pub(crate) fn settlement(
    limiter: Arc<Limiter>,
    within: Duration,
    reservation: Reservation,
    used: Charge,
    cost: u64,
    signals: Signals,
    freed: Arc<Notify>,
) -> OutboxMessage {
    let key = format!("{} {}", reservation.attempt, reservation.key.as_str());
    OutboxMessage::new(
        "attempt not settled",
        key,
        ATTEMPTS_LAST,
        (limiter, reservation, freed),
        move |(limiter, reservation, freed)| async move {
            let settled = limiter.settle_within(within, &reservation, &used, cost, &signals);
            settled.await?;
            freed.notify_one();
            Ok(())
        },
    )
}

/// A key is to be left alone since this attempt was refused.
pub(crate) fn key_hold(
    limiter: Arc<Limiter>,
    reservation: Reservation,
    hold: Duration,
) -> OutboxMessage {
    let until = Instant::now() + hold;
    let key = reservation.attempt.clone();
    let holds = (limiter, reservation);
    OutboxMessage::new(
        "key not held",
        key,
        hold,
        holds,
        move |(limiter, refused)| async move {
            let left = until.saturating_duration_since(Instant::now());
            limiter
                .hold(&refused.pool, &refused.lane, &refused.key, left)
                .await
        },
    )
}
