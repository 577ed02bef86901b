//! The one way to a decision, for every face of the gateway: joins the work on an address or starts
//! it, and returns what came of it. A caller may drop the future; what is paid for goes on. Called
//! by `service.rs` and by the HTTP door.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use agon_service_kit::tasks::{TaskKind, with_causes};
use futures_util::FutureExt as _;
use futures_util::future::Either;
use tracing::{Instrument as _, Span};

use super::{Answer, ClaimState, Decider, Outcome, Question};
use crate::budgets::quote::DecisionCost;
use crate::caller::Caller;
use crate::decide_error::DecideError;
use crate::decision::{DecisionAddress, Request};
use crate::single_flight::SingleFlightError;

/// Nobody asks again under an address made up for one request; it stays only so
/// long that somebody can look at what just happened.
const ONCE_GRACE: Duration = Duration::from_secs(60);

impl Decider {
    /// Decides, or answers with what was decided. The span stands for the
    /// decision in traces. An address that is `once` is in a session of its own that nobody
    /// will ask again: it is recorded as any other and forgotten soon after.
    /// Joins before the future is polled, so that it is small.
    ///
    /// # Errors
    /// As the README's table has it.
    pub(crate) fn decide(
        self: &Arc<Self>,
        address: DecisionAddress,
        caller: Caller,
        request: Request,
        span: Span,
        once: bool,
    ) -> impl Future<Output = Outcome> + Send + use<> {
        let digest = request.digest();
        let stopping = self.stopping.clone();
        if stopping.is_cancelled() {
            let stopping = Err(Arc::new(DecideError::Stopping));
            return Either::Left(std::future::ready(stopping));
        }
        let (question_address, question_digest) = (address.clone(), digest.clone());
        let decider = Arc::clone(self);
        let work = move |waiters| {
            let tally = decider.tallies.tally(&caller.experiment_id, &caller.team);
            let question = Box::new(Question {
                claim: Arc::new(ClaimState::new(decider.unique_name())),
                address: question_address,
                caller,
                request,
                digest: question_digest,
                tally,
                paid: DecisionCost::default(),
                hedged: AtomicBool::new(false),
                waiters: Some(waiters),
            });
            async move {
                let session_id = once.then(|| question.address.session_id.clone());
                let outcome = decider.answer(question).await;
                decider.forget_later(session_id, &outcome);
                outcome
            }
            .instrument(span)
        };
        let joined = self
            .single_flight
            .join(address.clone(), digest.clone(), work);
        Either::Right(joined.map(move |joined| {
            let error = match joined {
                Ok(outcome) => return outcome,
                Err(SingleFlightError::Conflict(other)) => {
                    let error = DecideError::conflict(&address, other, digest);
                    tracing::error!(%error, "one decision address was asked two questions");
                    error
                }
                Err(SingleFlightError::Lost) if stopping.is_cancelled() => DecideError::Stopping,
                Err(SingleFlightError::Lost) => DecideError::Lost { address },
            };
            Err(Arc::new(error))
        }))
    }

    /// Beside the answer, which does not wait for it.
    fn forget_later(&self, session_id: Option<String>, outcome: &Result<Answer, Arc<DecideError>>) {
        let Some(session_id) = session_id.filter(|_| outcome.is_ok()) else {
            return;
        };
        let ledger = Arc::clone(&self.ledger);
        self.tasks
            .spawn(TaskKind::WORK, "forget a decision", async move {
                if let Err(error) = ledger.forget(&[session_id], ONCE_GRACE).await {
                    tracing::warn!(error = %with_causes(&error), "decision not forgotten");
                }
            });
    }
}
