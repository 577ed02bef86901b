//! Recording what was paid for. While the ledger cannot take it (Redis away, a
//! full disk) it is kept and tried again for as long as the gateway runs,
//! because asking the provider a second time would be worse. What is lost in the
//! end is named in the log. Called by `deciding.rs`.

use std::time::Duration;

use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::tasks::with_causes;
use tokio_util::sync::CancellationToken;

use crate::complaint::Complaint;
use crate::decide_error::DecideError;
use crate::decision::{Decision, DecisionAddress};
use crate::ledger::Ledger;

/// A stopping gateway still waits this long for its ledger: a Redis that
/// restarts needs no more, and a full disk should not hold up the end.
const LAST_CHANCE: Duration = Duration::from_secs(2);

/// A store that is back has the answer this soon.
const LONGEST_DELAY: Duration = Duration::from_secs(1);

/// Between tries in that time.
const LAST_DELAY: Duration = Duration::from_millis(200);

/// Returns what stands under the address once it is recorded.
pub(super) async fn record(
    ledger: &dyn Ledger,
    address: &DecisionAddress,
    decision: &Decision,
    stopping: &CancellationToken,
    complaint: &Complaint,
) -> Result<Decision, DecideError> {
    let mut paid = Paid {
        address,
        recorded: false,
    };
    let mut delays = Delays::new(DelayPolicy {
        cap: LONGEST_DELAY,
        ..DelayPolicy::default()
    });
    let over = async {
        stopping.cancelled().await;
        tokio::time::sleep(LAST_CHANCE).await;
    };
    tokio::pin!(over);
    loop {
        let error = match ledger.record(address, decision.clone()).await {
            Ok(standing) => {
                paid.recorded = true;
                return Ok(standing);
            }
            Err(error) if error.may_pass() => error,
            Err(error) => return Err(error.into()),
        };
        if let Some(failures) = complaint.note() {
            let error = with_causes(&error);
            tracing::warn!(%address, error, failures, "paid answers not recorded yet, kept");
        }
        let stops = stopping.is_cancelled();
        let delay = if stops {
            LAST_DELAY
        } else {
            delays.next_delay().unwrap_or(LAST_DELAY)
        };
        tokio::select! {
            biased;
            () = &mut over => {
                let address = address.clone();
                return Err(DecideError::Unrecorded {
                    address,
                    source: Box::new(error),
                });
            }
            () = stopping.cancelled(), if !stops => {}
            () = tokio::time::sleep(delay) => {}
        }
    }
}

/// An answer that costs money. However it is let go, also when the gateway's
/// deadline cuts the work off, its loss is told.
struct Paid<'a> {
    address: &'a DecisionAddress,
    recorded: bool,
}

impl Drop for Paid<'_> {
    fn drop(&mut self) {
        if !self.recorded {
            let address = self.address;
            tracing::error!(%address, "a paid answer could not be recorded and is lost");
        }
    }
}
