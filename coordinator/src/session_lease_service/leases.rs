//! The leases of one stream as its worker names them, by their grants. Tokens are opened here and
//! nowhere else.

use std::collections::BTreeMap;

use agon_proto::v1::work_sessions_response::Message as ToWorker;
use agon_proto::v1::{
    GrantedLeases, HeartbeatHeard, LeaseRef, RevokedLeases, SettledSession, SettledSessions,
    Settlement,
};

use super::granting::Answer;
use crate::lease_token::Sealer;
use crate::queue::{Failure, LeaseId, Outcome, Settled};
use crate::wire;

/// What was found of an outcome.
pub(super) enum Verdict {
    Good(Outcome),
    /// It is no record of the session: why.
    Refused(String),
}

/// An outcome with what was found of it; without a lease it is none of this worker's.
pub(super) struct Checked {
    pub(super) reference: LeaseRef,
    pub(super) lease: Option<LeaseId>,
    pub(super) verdict: Verdict,
}

/// See the module.
pub(super) struct Leases {
    sealer: Sealer,
    worker: String,
    refs: BTreeMap<u64, LeaseRef>,
    /// Handed in and not settled yet. Revoked meanwhile, they are settled all the same: the worker
    /// says them again until they are.
    handed_in: BTreeMap<u64, LeaseRef>,
    /// Why records were refused, until the failure that this counts as is settled.
    refused: BTreeMap<u64, String>,
}

impl Leases {
    pub(super) fn new(sealer: Sealer, worker: &str) -> Self {
        Self {
            sealer,
            worker: worker.to_owned(),
            refs: BTreeMap::new(),
            handed_in: BTreeMap::new(),
            refused: BTreeMap::new(),
        }
    }

    /// The token of a lease; it is known from now on.
    pub(super) fn seal(&mut self, session_id: &str, lease: LeaseId) -> LeaseRef {
        let reference = LeaseRef {
            session_id: session_id.to_owned(),
            token: self.sealer.seal(&self.worker, session_id, lease),
        };
        self.refs.insert(lease.grant, reference.clone());
        reference
    }

    /// The lease that a worker names; `None` when it was never granted to it.
    pub(super) fn lease(&self, reference: &LeaseRef) -> Option<LeaseId> {
        self.sealer
            .open(&self.worker, &reference.session_id, &reference.token)
    }

    /// Leases that a worker names, and those that were never granted to it.
    pub(super) fn open(&self, references: Vec<LeaseRef>) -> (Vec<LeaseId>, Vec<LeaseRef>) {
        let (mut known, mut strange) = (Vec::new(), Vec::new());
        for reference in references {
            match self.lease(&reference) {
                Some(lease) => known.push(lease),
                None => strange.push(reference),
            }
        }
        (known, strange)
    }

    /// The same; they are known from now on.
    pub(super) fn take_in(&mut self, references: Vec<LeaseRef>) -> (Vec<LeaseId>, Vec<LeaseRef>) {
        for reference in &references {
            if let Some(lease) = self.lease(reference) {
                self.refs.insert(lease.grant, reference.clone());
            }
        }
        self.open(references)
    }

    /// A lease has ended.
    pub(super) fn end(&mut self, grant: u64) -> Option<LeaseRef> {
        self.refs.remove(&grant)
    }

    /// Notes outcomes that were checked; what is none of this worker's is answered at once.
    pub(super) fn note(
        &mut self,
        checked: Vec<Checked>,
    ) -> (Vec<(LeaseId, Outcome)>, Option<ToWorker>) {
        let (mut outcomes, mut fenced) = (Vec::new(), Vec::new());
        for one in checked {
            let (reference, verdict) = (one.reference, one.verdict);
            let Some(lease) = one.lease else {
                fenced.push(settled(reference, Settlement::Fenced, wire::NOT_HELD));
                continue;
            };
            self.refs.remove(&lease.grant);
            self.handed_in.insert(lease.grant, reference);
            outcomes.push((
                lease,
                match verdict {
                    Verdict::Good(outcome) => outcome,
                    Verdict::Refused(reason) => {
                        self.refused.insert(lease.grant, reason.clone());
                        Outcome::Failed(Failure::Crashed, reason)
                    }
                },
            ));
        }
        let fenced =
            (!fenced.is_empty()).then_some(ToWorker::Settled(SettledSessions { sessions: fenced }));
        (outcomes, fenced)
    }

    /// What the worker is told.
    pub(super) fn answer(&mut self, answer: Answer) -> Vec<ToWorker> {
        match answer {
            Answer::Granted(batches, _) => {
                let batches = batches.into_iter().map(|batch| {
                    let leases = batch.into_iter().map(|(lease, id, mut told)| {
                        told.lease = Some(self.seal(&id, lease));
                        told
                    });
                    ToWorker::Granted(GrantedLeases {
                        leases: leases.collect(),
                    })
                });
                batches.collect()
            }
            Answer::Revoked(leases) => {
                let leases = leases.iter().filter_map(|lease| self.end(lease.grant));
                let leases: Vec<_> = leases.collect();
                match leases.is_empty() {
                    true => Vec::new(),
                    false => vec![ToWorker::Revoked(RevokedLeases { leases })],
                }
            }
            Answer::Settled(list) => {
                let sessions = list.into_iter().filter_map(|(lease, how)| {
                    let reference = self.handed_in.remove(&lease.grant)?;
                    let refused = self.refused.remove(&lease.grant);
                    Some(match (how, refused) {
                        (Settled::Noted, Some(why)) => {
                            settled(reference, Settlement::Refused, &why)
                        }
                        (Settled::Fenced, _) => {
                            settled(reference, Settlement::Fenced, wire::NOT_HELD)
                        }
                        (how, _) => settled(reference, wire::settlement(how), ""),
                    })
                });
                let sessions = sessions.collect();
                vec![ToWorker::Settled(SettledSessions { sessions })]
            }
            Answer::Heard(number) => vec![ToWorker::Heard(HeartbeatHeard { number })],
        }
    }
}

fn settled(lease: LeaseRef, settlement: Settlement, reason: &str) -> SettledSession {
    SettledSession {
        lease: Some(lease),
        settlement: settlement.into(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease_token::KEY;
    use crate::queue::SessionKey;

    #[test]
    fn what_was_handed_in_is_settled_although_it_was_revoked_meanwhile() {
        let mut leases = Leases::new(Sealer::new([7; KEY]), "w");
        let lease = LeaseId {
            session: SessionKey {
                experiment: 1,
                position: 2,
            },
            grid: 1,
            grant: 9,
        };
        let reference = leases.seal("abc", lease);
        let outcome = Outcome::Failed(Failure::Crashed, String::new());
        let checked = vec![Checked {
            reference: reference.clone(),
            lease: leases.lease(&reference),
            verdict: Verdict::Good(outcome),
        }];
        let (outcomes, fenced) = leases.note(checked);
        assert!(outcomes.len() == 1 && fenced.is_none());
        assert!(leases.answer(Answer::Revoked(vec![lease])).is_empty());
        let told = leases.answer(Answer::Settled(vec![(lease, Settled::Fenced)]));
        let [ToWorker::Settled(told)] = &told[..] else {
            panic!("expected a settlement, found {told:?}");
        };
        let [session] = &told.sessions[..] else {
            panic!("expected one session, found {told:?}");
        };
        assert_eq!(session.lease, Some(reference));
        assert_eq!(session.settlement(), Settlement::Fenced);
    }
}
