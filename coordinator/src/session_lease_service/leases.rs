//! The leases of one stream as its worker names them, by their grants. Tokens are opened here and
//! nowhere else.

use std::collections::{BTreeMap, BTreeSet};

use agon_proto::v1::work_sessions_response::Message as ToWorker;
use agon_proto::v1::{
    GrantedLeases, LeaseRef, RevokedLeases, SettledSession, SettledSessions, Settlement,
};

use super::granting::{Granted, Told};
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
    /// Granted, and the worker has not been told yet.
    expected: BTreeSet<u64>,
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
            expected: BTreeSet::new(),
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

    /// The worker is to be told of these.
    pub(super) fn expect(&mut self, leases: impl IntoIterator<Item = LeaseId>) {
        let grants = leases.into_iter().map(|lease| lease.grant);
        self.expected.extend(grants);
    }

    /// What is left of grants: those that were revoked before the worker was told of them are none.
    pub(super) fn still_expected(&mut self, granted: Granted) -> Granted {
        let Granted {
            mut batches,
            mut untold,
        } = granted;
        for batch in &mut batches {
            batch.retain(|(lease, ..)| self.expected.remove(&lease.grant));
        }
        batches.retain(|batch| !batch.is_empty());
        untold.retain(|untold| self.expected.remove(&untold.lease().grant));
        Granted { batches, untold }
    }

    /// What the worker is told of a batch that is granted.
    pub(super) fn granted(&mut self, batch: Vec<Told>) -> ToWorker {
        let leases = batch.into_iter().map(|(lease, id, mut told)| {
            told.lease = Some(self.seal(&id, lease));
            told
        });
        ToWorker::Granted(GrantedLeases {
            leases: leases.collect(),
        })
    }

    /// What the worker is told of leases that are revoked; nothing if it knows none of them.
    pub(super) fn revoked(&mut self, leases: &[LeaseId]) -> Option<ToWorker> {
        for lease in leases {
            self.expected.remove(&lease.grant);
        }
        let leases = leases.iter().filter_map(|lease| self.end(lease.grant));
        let leases: Vec<_> = leases.collect();
        (!leases.is_empty()).then_some(ToWorker::Revoked(RevokedLeases { leases }))
    }

    /// What the worker is told of what became of outcomes.
    pub(super) fn settled(&mut self, list: Vec<(LeaseId, Settled)>) -> ToWorker {
        let sessions = list.into_iter().filter_map(|(lease, how)| {
            let reference = self.handed_in.remove(&lease.grant)?;
            let refused = self.refused.remove(&lease.grant);
            Some(match (how, refused) {
                (Settled::Noted, Some(why)) => settled(reference, Settlement::Refused, &why),
                (Settled::Fenced, _) => settled(reference, Settlement::Fenced, wire::NOT_HELD),
                (how, _) => settled(reference, wire::settlement(how), ""),
            })
        });
        ToWorker::Settled(SettledSessions {
            sessions: sessions.collect(),
        })
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
    use agon_proto::v1::Lease;

    use super::super::granting::Untold;
    use super::*;
    use crate::lease_token::KEY;
    use crate::queue::SessionKey;

    fn lease(grant: u64) -> LeaseId {
        LeaseId {
            session: SessionKey {
                experiment: 1,
                position: 2,
            },
            grid: 1,
            grant,
        }
    }

    #[test]
    fn nothing_is_told_of_a_grant_that_was_revoked_while_it_was_made() {
        let mut leases = Leases::new(Sealer::new([7; KEY]), "w");
        let each = [1, 2, 3, 4].map(lease);
        leases.expect(each);
        assert_eq!(leases.revoked(&[each[0], each[2]]), None);
        let told = |lease: LeaseId| (lease, "abc".to_owned(), Lease::default());
        let granted = Granted {
            batches: vec![vec![told(each[0])], vec![told(each[1])]],
            untold: vec![Untold::Unread(each[2]), Untold::Unread(each[3])],
        };
        let Granted { batches, untold } = leases.still_expected(granted);
        let left = batches.iter().flatten().map(|(lease, ..)| *lease);
        assert_eq!(left.collect::<Vec<_>>(), [each[1]]);
        assert_eq!(batches.len(), 1);
        assert_eq!(untold, [Untold::Unread(each[3])]);
    }

    #[test]
    fn what_was_handed_in_is_settled_although_it_was_revoked_meanwhile() {
        let mut leases = Leases::new(Sealer::new([7; KEY]), "w");
        let lease = lease(9);
        let reference = leases.seal("abc", lease);
        let outcome = Outcome::Failed(Failure::Crashed, String::new());
        let checked = vec![Checked {
            reference: reference.clone(),
            lease: leases.lease(&reference),
            verdict: Verdict::Good(outcome),
        }];
        let (outcomes, fenced) = leases.note(checked);
        assert!(outcomes.len() == 1 && fenced.is_none());
        assert_eq!(leases.revoked(&[lease]), None);
        let told = leases.settled(vec![(lease, Settled::Fenced)]);
        let ToWorker::Settled(told) = told else {
            panic!("expected a settlement, found {told:?}");
        };
        let [session] = &told.sessions[..] else {
            panic!("expected one session, found {told:?}");
        };
        assert_eq!(session.lease, Some(reference));
        assert_eq!(session.settlement(), Settlement::Fenced);
    }
}
