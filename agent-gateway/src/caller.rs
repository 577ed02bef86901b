//! Who asks for a decision, what for and on which terms; never part of the digest. Filled in by
//! `wire.rs` and by the HTTP door.

use crate::catalogue::Origin;
use crate::door_store::StandIn;
use crate::money::NanoDollars;
use crate::parameters::Parameter;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Who pays.
    pub team: String,
    /// For counting and for spans.
    pub experiment_id: String,
    pub purpose: String,
    /// Higher goes first within the team.
    pub priority: i32,
    /// The replicate under which the content cache may answer.
    pub replicate: Option<u64>,
    /// The most that the experiment may cost.
    pub experiment_budget: Option<NanoDollars>,
    /// The session that it takes turns with others as; absent: that of the
    /// address.
    pub session: Option<String>,
    /// Who answers when nobody behind a door has in time.
    pub stand_in: Option<Box<StandIn>>,
    /// What the asked seat has seen, for whoever is behind a door.
    pub seen: Option<Box<str>>,
    /// What the simulated provider of this process answers; told to no other.
    pub simulated_reply: Option<Box<str>>,
    /// Parameters without which an answer is not wanted.
    pub required: Box<[Parameter]>,
    /// Where answers have to come from, model by model.
    pub expected_origins: Box<[(String, Origin)]>,
}
