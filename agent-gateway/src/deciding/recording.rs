//! Recording what was paid for. While the ledger cannot take it (Redis away, a full disk) it is kept
//! and tried again for as long as the gateway runs, because asking the provider a second time would
//! be worse; and nobody is asked anything new meanwhile, because that answer would have to be kept,
//! too. What is lost in the end is counted with its cost. Called by `deciding.rs`.

use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::complaint::Complaint;
use agon_service_kit::tasks::with_causes;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::decide_error::DecideError;
use crate::decision::{Decision, DecisionAddress};
use crate::ledger::Ledger;
use crate::money::NanoDollars;

/// A store that is back has the answer this soon.
const LONGEST_DELAY: Duration = Duration::from_secs(1);

/// Between tries in that time.
const LAST_DELAY: Duration = Duration::from_millis(200);

/// Puts answers into the ledger, and knows which are not in it yet.
pub struct Recorder {
    ledger: Arc<dyn Ledger>,
    /// Cancelled when the gateway stops.
    stopping: CancellationToken,
    complaint: Complaint,
    /// Answers that are kept in memory because the ledger did not take them.
    kept: watch::Sender<u64>,
    lost: Mutex<LostAnswers>,
}

/// Answers that were paid for and could not be recorded before the gateway stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostAnswers {
    /// How many.
    pub answers: u64,
    /// What those cost whose price is known.
    pub cost: NanoDollars,
}

impl Recorder {
    /// Nothing waits to be recorded yet.
    pub fn new(ledger: Arc<dyn Ledger>, stopping: CancellationToken) -> Self {
        Self {
            ledger,
            stopping,
            complaint: Complaint::default(),
            kept: watch::Sender::new(0),
            lost: Mutex::default(),
        }
    }

    /// Whether an answer waits that the ledger did not take: no time to ask for another one.
    pub(super) fn is_behind(&self) -> bool {
        *self.kept.borrow() > 0
    }

    /// Waits until the ledger has everything.
    pub(super) async fn caught_up(&self) {
        // The sender lives as long as this.
        let _ = self.kept.subscribe().wait_for(|kept| *kept == 0).await;
    }

    pub fn lost(&self) -> LostAnswers {
        *self.lost.lock()
    }

    /// Returns what stands under the address once it is recorded.
    pub(super) async fn record(
        &self,
        address: &DecisionAddress,
        decision: &Decision,
    ) -> Result<Decision, DecideError> {
        let mut paid = PaidAnswer {
            recorder: self,
            address,
            cost: decision.cost,
            is_kept: false,
            is_recorded: false,
        };
        let mut delays = Delays::new(DelayPolicy {
            cap: LONGEST_DELAY,
            ..DelayPolicy::default()
        });
        // Once the gateway stops: until when the ledger may fail.
        let mut last_chance: Option<Instant> = None;
        loop {
            let error = match self.ledger.record(address, decision.clone()).await {
                Ok(standing) => {
                    paid.is_recorded = true;
                    return Ok(standing);
                }
                Err(error) if error.may_pass() => error,
                Err(error) => return Err(error.into()),
            };
            paid.keep();
            if let Some(failures) = self.complaint.note() {
                let error = with_causes(&error);
                tracing::warn!(
                    %address, error, failures,
                    "paid answers not recorded yet and kept in memory; no model is asked meanwhile"
                );
            }
            let stops = self.stopping.is_cancelled();
            if stops {
                let now = Instant::now();
                if now >= *last_chance.get_or_insert(now + error.last_chance()) {
                    let address = address.clone();
                    return Err(DecideError::Unrecorded {
                        address,
                        source: Box::new(error),
                    });
                }
            }
            let delay = if stops {
                LAST_DELAY
            } else {
                delays.next_delay().unwrap_or(LAST_DELAY)
            };
            tokio::select! {
                () = self.stopping.cancelled(), if !stops => {}
                () = tokio::time::sleep(delay) => {}
            }
        }
    }
}

/// An answer that costs money. However it is let go, also when the gateway's
/// deadline cuts the work off, its loss is told.
struct PaidAnswer<'a> {
    recorder: &'a Recorder,
    address: &'a DecisionAddress,
    cost: Option<NanoDollars>,
    is_kept: bool,
    is_recorded: bool,
}

impl PaidAnswer<'_> {
    fn keep(&mut self) {
        if !self.is_kept {
            self.is_kept = true;
            self.recorder.kept.send_modify(|kept| *kept += 1);
        }
    }
}

impl Drop for PaidAnswer<'_> {
    fn drop(&mut self) {
        if self.is_kept {
            self.recorder.kept.send_modify(|kept| *kept -= 1);
        }
        if !self.is_recorded {
            let mut lost = self.recorder.lost.lock();
            lost.answers += 1;
            let cost = self.cost.map_or(0, |cost| cost.0);
            lost.cost = NanoDollars(lost.cost.0.saturating_add(cost));
            let address = self.address;
            tracing::error!(%address, "a paid answer could not be recorded and is lost");
        }
    }
}
