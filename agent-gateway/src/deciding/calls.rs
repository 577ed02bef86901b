//! A call to a provider at its stages: admitted, ready to be made, answered. Passed along by
//! `asking.rs`, `hedging.rs` and `paying.rs`.

use std::sync::Arc;

use crate::admission::charging::Charges;
use crate::admission::line::Grant;
use crate::admission::line::lane::LaneKey;
use crate::admission::{Charge, Reservation};
use crate::budgets::quote::Payment;
use crate::catalogue::ChargeRule;
use crate::decision::Usage;
use crate::fairness::queue::Place;
use crate::health::Permit;
use crate::providers::Reply;
use crate::routes::Route;

/// An answer whose attempt is not settled yet.
pub(super) struct AnsweredCall {
    pub reply: Reply,
    /// What it used; our estimate when it does not say.
    pub usage: Usage,
    pub attempt: Box<AdmittedCall>,
    pub payment: Box<Payment>,
}

pub(super) struct AdmittedCall {
    pub reservation: Reservation,
    pub key: LaneKey,
    /// Its permit there, until the call is over.
    pub permit: Option<Permit>,
    pub place: Place,
    pub charge_rule: ChargeRule,
    /// What it takes by that rule; more may have been reserved.
    pub charge: Charge,
}

impl AdmittedCall {
    /// What a grant allows.
    pub(super) fn of(grant: Grant, place: Place, charge_rule: ChargeRule, charge: Charge) -> Self {
        Self {
            reservation: grant.reservation,
            key: grant.key,
            permit: Some(grant.turn),
            place,
            charge_rule,
            charge,
        }
    }
}

/// A call that may be made: quota and money are held for it.
pub(super) struct ReadyCall {
    pub attempt: Box<AdmittedCall>,
    pub payment: Box<Payment>,
    /// What it is expected to take.
    pub charges: Charges,
    /// The model with the settings for which all that was taken.
    pub route: Arc<Route>,
}
