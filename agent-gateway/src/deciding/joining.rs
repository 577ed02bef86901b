//! The one way to a decision, for every face of the gateway: joins the work on an address or starts
//! it, and returns what came of it. A caller may drop the future; what is paid for goes on. Called
//! by `service.rs` and by the HTTP door.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use futures_util::FutureExt as _;
use futures_util::future::Either;
use tracing::{Instrument as _, Span};

use super::{Answer, ClaimState, Decider, Outcome, Question};
use crate::budgets::quote::DecisionCost;
use crate::caller::Caller;
use crate::decide_error::DecideError;
use crate::decision::{DecisionAddress, Request};
use crate::single_flight::{Shared, SingleFlightError};

impl Decider {
    /// Decides, or answers with what was decided. The span stands for the
    /// decision in traces. An address that is `once` is in a session of its own that nobody
    /// will ask again: it is neither claimed nor recorded.
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
                claim: (!once).then(|| Arc::new(ClaimState::new(decider.unique_name()))),
                address: question_address,
                caller,
                request,
                digest: question_digest,
                tally,
                paid: DecisionCost::default(),
                hedged: AtomicBool::new(false),
                waiters: Some(waiters),
            });
            async move { decider.answer(question).await }.instrument(span)
        };
        let joined = self
            .single_flight
            .join(address.clone(), digest.clone(), work);
        Either::Right(joined.map(move |joined| {
            let error = match joined {
                Ok(Shared { result, joined }) => {
                    return result.map(|answer| Answer { joined, ..answer });
                }
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
}
