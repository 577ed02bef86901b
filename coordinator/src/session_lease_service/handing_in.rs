//! Checks what workers hand in, off the threads that serve: a record is unpacked and read. What is no
//! record of its session counts as a crash, and its worker is told why.

use agon_proto::v1::session_outcome::Outcome as Said;
use agon_proto::v1::{HandIn, LeaseRef, SessionOutcome};
use agon_service_kit::compute;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tracing::warn;

use super::leases::{Checked, Leases, Verdict};
use crate::metrics;
use crate::queue::Outcome;
use crate::result;
use crate::specs::{KnownSpec, Specs};
use crate::wire;

/// Checks the outcomes of a message. Those of leases that are none of this worker's are not looked
/// at.
pub(super) fn check(
    said: HandIn,
    leases: &Leases,
    specs: Specs,
) -> BoxFuture<'static, Vec<Checked>> {
    let outcomes = said
        .outcomes
        .into_iter()
        .filter_map(|SessionOutcome { lease, outcome }| {
            let reference = lease?;
            let lease = leases.lease(&reference);
            Some((reference, lease, outcome))
        });
    let outcomes: Vec<_> = outcomes.collect();
    let named = outcomes.iter();
    let named: Vec<_> = named
        .map(|(reference, lease, _)| (reference.clone(), *lease))
        .collect();
    async move {
        let checked = compute::SHORT.run(move || {
            let checked = outcomes.into_iter().map(|(reference, lease, outcome)| {
                let leased = lease.and_then(|lease| specs.spec(lease));
                let outcome = outcome.filter(|_| lease.is_some());
                let verdict = verdict(&reference, leased.as_ref(), outcome);
                Checked {
                    reference,
                    lease,
                    verdict,
                }
            });
            checked.collect()
        });
        checked.await.unwrap_or_else(|panicked| {
            let refused = |(reference, lease)| Checked {
                reference,
                lease,
                verdict: Verdict::Refused(format!("its record could not be checked: {panicked}")),
            };
            named.into_iter().map(refused).collect()
        })
    }
    .boxed()
}

fn verdict(lease: &LeaseRef, leased: Option<&KnownSpec>, outcome: Option<Said>) -> Verdict {
    match outcome {
        Some(Said::Failed(failed)) => {
            let (failure, reason) = wire::failed(failed);
            if failure == crate::queue::Failure::BudgetSpent {
                // Every session that runs says so once; the pause is the news.
                tracing::debug!(session_id = lease.session_id, %reason, "a session met a spent budget");
            } else {
                warn!(session_id = lease.session_id, ?failure, %reason, "a session failed");
            }
            Verdict::Good(Outcome::Failed(failure, reason))
        }
        Some(Said::Finished(finished)) => {
            let (record, telemetry) = (finished.record, finished.telemetry);
            match result::check(&lease.session_id, leased, record, telemetry) {
                Ok(result) => Verdict::Good(Outcome::Finished(result)),
                Err(fault) => {
                    let reason = format!("its worker handed in no record of it: {fault}");
                    warn!(session_id = lease.session_id, %reason, "a result is refused");
                    metrics::count_refused();
                    Verdict::Refused(wire::shortened(reason))
                }
            }
        }
        None => Verdict::Refused("its worker handed in nothing".to_owned()),
    }
}
