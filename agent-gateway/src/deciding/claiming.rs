//! The claim of a decision address: taking it, before quota is waited for or at
//! the same time, keeping it while the question is being answered, and being sure
//! of it before a provider is called, also after the store was away. Owns what is
//! known of the claim between two renewals. Called by `deciding.rs` and, before a
//! call is paid, by `paying.rs`.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::tasks::{TaskKind, with_causes};
use parking_lot::Mutex;

use super::ahead::{self, Claimed, Fetch, Found};
use super::asking::Attempt;
use super::{Answer, Decider, Outcome, Question};
use crate::decide_error::DecideError;
use crate::decision::DecisionAddress;
use crate::flights::Passengers;
use crate::lanes::Lane;
use crate::ledger::{Claim, LedgerError};

/// Looks at an address that another replica is asking about.
const ELSEWHERE_DELAYS: DelayPolicy = DelayPolicy {
    initial: Duration::from_millis(20),
    factor: 1.5,
    cap: Duration::from_millis(500),
    jitter: 0.2,
    give_up_after: None,
};

/// Between tries at a renewal that failed: a claim must be renewed before
/// another replica looks, once the store is back.
const RENEW_AGAIN: Duration = Duration::from_millis(200);

/// A claim that was taken ahead is claimed once more after this, for longer and with
/// its request; most questions are answered by then.
const CLAIMED_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// What is known of a question's claim.
pub struct Holding {
    holder: String,
    /// Nobody else can ask for the address: it is ours without a claim.
    is_own: bool,
    /// It is ours until then without asking; absent: ask.
    sure_until: Mutex<Option<Instant>>,
    /// It has been ours.
    claimed: AtomicBool,
    /// It was asked for and the answer was lost: it may be ours.
    doubtful: AtomicBool,
    /// It was taken ahead, and the ledger does not know the request yet.
    is_ahead: AtomicBool,
}

impl Holding {
    /// Nothing is claimed yet; the holder's name is unique among all questions.
    /// An address that was made up for one question needs no claim.
    fn new(holder: String, is_made_up: bool) -> Self {
        Self {
            holder,
            is_own: is_made_up,
            sure_until: Mutex::default(),
            claimed: AtomicBool::new(is_made_up),
            doubtful: AtomicBool::new(false),
            is_ahead: AtomicBool::new(false),
        }
    }

    /// The claim is there before the question, or perhaps is.
    fn of(claimed: Claimed) -> Self {
        let is_sure = claimed.sure_until.is_some();
        Self {
            sure_until: Mutex::new(claimed.sure_until),
            claimed: AtomicBool::new(is_sure),
            doubtful: AtomicBool::new(!is_sure),
            is_ahead: AtomicBool::new(is_sure),
            ..Self::new(claimed.holder, false)
        }
    }

    /// The address is ours without asking.
    fn is_sure(&self) -> bool {
        let sure_until = *self.sure_until.lock();
        self.is_own || sure_until.is_some_and(|until| Instant::now() < until)
    }

    /// Nobody else can ask for the address.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// The address was claimed for the question at some time.
    pub fn is_claimed(&self) -> bool {
        self.claimed.load(Ordering::Relaxed)
    }
}

impl Decider {
    /// What is known of the claim of an address that is asked for now; claims of
    /// those that its seat will ask next are fetched meanwhile.
    pub fn holding(&self, address: &DecisionAddress, is_made_up: bool) -> Holding {
        if is_made_up || self.ledger.renew_every().is_none() {
            return Holding::new(self.unique_name(), is_made_up);
        }
        let name = || self.unique_name();
        let Found { claimed, fetch } = self.ahead.find(address, Instant::now(), name);
        if let Some(fetch) = fetch {
            self.claim_ahead(address, fetch);
        }
        claimed.map_or_else(|| Holding::new(self.unique_name(), false), Holding::of)
    }

    /// Claims ahead in the background; what fails is claimed when it is asked for.
    fn claim_ahead(&self, address: &DecisionAddress, fetch: Fetch) {
        let Some(decider) = self.me.upgrade() else {
            return;
        };
        let first = DecisionAddress {
            session_id: address.session_id.clone(),
            index: fetch.from,
            ..*address
        };
        let claim = async move {
            let Decider { ledger, ground, .. } = decider.as_ref();
            let claimed = if ground.is_new(&first.session_id) {
                ledger
                    .claim_ahead(&first, ahead::AT_ONCE, &fetch.holder, ahead::LASTS)
                    .await
                    .ok()
            } else {
                Some(0)
            };
            let (session_id, seat) = (&first.session_id, first.seat);
            decider.ahead.fetched(session_id, seat, &fetch, claimed);
        };
        self.tasks.spawn(TaskKind::UPKEEP, "claims ahead", claim);
    }

    /// Waits until the address is ours; returns what is recorded there instead. A
    /// question that ends here leaves no claim behind.
    pub(super) async fn claim(
        &self,
        question: &Question,
        passengers: &Passengers<Outcome>,
    ) -> Result<Option<Answer>, DecideError> {
        let claimed = self.claim_or_answer(question, passengers).await;
        let holding = &question.holding;
        // Not sooner: whoever claims again must not be robbed of it.
        if claimed.is_err() && holding.doubtful.load(Ordering::Relaxed) {
            self.releases.owe(&question.address, &holding.holder);
        }
        claimed
    }

    async fn claim_or_answer(
        &self,
        question: &Question,
        passengers: &Passengers<Outcome>,
    ) -> Result<Option<Answer>, DecideError> {
        let Question {
            address, digest, ..
        } = question;
        if question.holding.is_sure() {
            return Ok(None);
        }
        let mut delays = Delays::new(ELSEWHERE_DELAYS);
        loop {
            match self.claim_once(question).await? {
                Claim::Granted => return Ok(None),
                Claim::Recorded(decision) => {
                    return Ok(Some(Answer {
                        decision: decision.into(),
                        from_ledger: true,
                    }));
                }
                Claim::Conflict(other) => {
                    return Err(DecideError::conflict(address, other, digest.clone()));
                }
                Claim::HeldElsewhere => {
                    let delay = delays.next_delay().unwrap_or(ELSEWHERE_DELAYS.cap);
                    self.unpaid(passengers, tokio::time::sleep(delay)).await?;
                }
            }
        }
    }

    /// Whether to wait for quota before the claim is known: the address is free, or
    /// likely to be, and a provider will be asked.
    pub(super) fn may_claim_beside(&self, question: &Question) -> bool {
        let (caller, request) = (&question.caller, &question.request);
        let asks = || {
            self.routes
                .door(&request.model)
                .is_ok_and(|door| door.is_none())
        };
        let is_new = || self.ground.is_new(&question.address.session_id);
        !question.holding.is_claimed() && is_new() && caller.replicate.is_none() && asks()
    }

    /// Waits for quota and, unless the address is ours already, takes the claim
    /// meanwhile. Quota is not kept for an address that is not ours.
    ///
    /// # Errors
    /// As the admission; the address is not ours, or nobody knows.
    pub(super) async fn claim_beside(
        &self,
        question: &Question,
        lane: &Lane,
        mut admission: Pin<&mut impl Future<Output = Result<Box<Attempt>, DecideError>>>,
    ) -> Result<Box<Attempt>, DecideError> {
        if !question.holding.is_claimed() {
            // Boxed, because the wait that is left needs no room for it.
            let claimed = Box::pin(self.claim_during(question, lane, admission.as_mut()));
            if let Some(admitted) = claimed.await? {
                return Ok(admitted);
            }
        }
        admission.await
    }

    /// Takes the claim; what was admitted meanwhile.
    async fn claim_during(
        &self,
        question: &Question,
        lane: &Lane,
        mut admission: Pin<&mut impl Future<Output = Result<Box<Attempt>, DecideError>>>,
    ) -> Result<Option<Box<Attempt>>, DecideError> {
        let mut claim = pin!(self.claim_once(question));
        let admitted = tokio::select! {
            biased;
            claimed = &mut claim => return granted(question, claimed).map(|()| None),
            admitted = &mut admission => admitted,
        };
        match (granted(question, claim.await), admitted) {
            (Ok(()), admitted) => admitted.map(Some),
            (Err(error), Ok(admitted)) => {
                self.give_back(lane, &admitted).await;
                Err(error)
            }
            (Err(error), Err(_)) => Err(error),
        }
    }

    /// Renews the claim until dropped.
    pub(super) async fn keep_claim(&self, question: &Question) -> Infallible {
        let every = self.ledger.renew_every();
        let Some(every) = every.filter(|_| !question.holding.is_own) else {
            return std::future::pending().await;
        };
        let mut pause = every;
        if question.holding.is_ahead.load(Ordering::Relaxed) {
            pause = pause.min(CLAIMED_AGAIN_AFTER);
        }
        loop {
            tokio::time::sleep(pause).await;
            pause = every;
            // Boxed, so that the pause, in which thousands are, needs little room.
            if let Err(error) = Box::pin(self.renew_claim(question)).await {
                pause = every.min(RENEW_AGAIN);
                if let Some(failures) = self.unrenewed.note() {
                    let (address, error) = (&question.address, with_causes(&error));
                    tracing::warn!(%address, error, failures, "claims not renewed");
                }
            }
        }
    }

    /// Looks whether the address is still ours, if there is any doubt: a renewal
    /// failed or is overdue.
    pub(super) async fn check_claim(&self, question: &Question) -> Result<(), DecideError> {
        let sure = question.holding.is_sure();
        if sure || self.ledger.renew_every().is_none() || self.renew_claim(question).await? {
            return Ok(());
        }
        Err(DecideError::ClaimLost {
            address: question.address.clone(),
        })
    }

    /// Gives the claim back; later, when that fails now.
    pub(super) async fn release_claim(&self, question: &Question) {
        if question.holding.is_own {
            return;
        }
        let (address, holder) = (&question.address, &question.holding.holder);
        if self.ledger.release(address, holder).await.is_err() {
            self.releases.owe(address, holder);
        }
    }

    /// Renews the claim, or takes it again if it is gone and nobody else has it.
    /// Says whether it is ours now.
    async fn renew_claim(&self, question: &Question) -> Result<bool, LedgerError> {
        let holding = &question.holding;
        if holding.is_ahead.load(Ordering::Relaxed) {
            let claim = self.claim_once(question).await;
            if !matches!(claim, Ok(Claim::Granted)) {
                *holding.sure_until.lock() = None;
            }
            return Ok(matches!(claim?, Claim::Granted));
        }
        let began = Instant::now();
        // Whatever comes of it: until it is known, nobody may be sure.
        let renewed = self.ledger.renew(&question.address, &holding.holder).await;
        if let Ok(true) = renewed {
            self.be_sure(question, began);
            return Ok(true);
        }
        *holding.sure_until.lock() = None;
        renewed?;
        Ok(matches!(self.claim_once(question).await?, Claim::Granted))
    }

    async fn claim_once(&self, question: &Question) -> Result<Claim, LedgerError> {
        let Question {
            address, digest, ..
        } = question;
        let holder = &question.holding.holder;
        let began = Instant::now();
        let claim = self.ledger.claim(address, digest, holder).await;
        if let Ok(claim) = &claim {
            let granted = matches!(claim, Claim::Granted);
            self.ground.note(&address.session_id, granted);
        }
        match &claim {
            Ok(Claim::Granted) => self.be_sure(question, began),
            Err(error) if error.may_be_done() => {
                question.holding.doubtful.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
        claim
    }

    /// A claim lasts three renewals; one that is late by a whole one is in doubt.
    fn be_sure(&self, question: &Question, since: Instant) {
        let every = self.ledger.renew_every().unwrap_or_default();
        *question.holding.sure_until.lock() = Some(since + every * 2);
        question.holding.claimed.store(true, Ordering::Relaxed);
        question.holding.is_ahead.store(false, Ordering::Relaxed);
    }
}

fn granted(question: &Question, claim: Result<Claim, LedgerError>) -> Result<(), DecideError> {
    match claim? {
        Claim::Granted => Ok(()),
        Claim::Recorded(_) | Claim::Conflict(_) | Claim::HeldElsewhere => {
            Err(DecideError::ClaimLost {
                address: question.address.clone(),
            })
        }
    }
}
