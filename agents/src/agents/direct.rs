//! The direct agent: tells the model the rules and what happened, asks once, and
//! takes its answer.
//!
//! Source: the vanilla players of gamma-Bench, arXiv 2403.11807, section 4.

use async_trait::async_trait;

use crate::dialogue::Dialogue;
use crate::info::AgentInfo;
use crate::turn::Converses;

/// What there is to know of it.
pub const INFO: AgentInfo = AgentInfo {
    reasons: false,
    ..AgentInfo::conversing(
        "direct",
        "asks the model once and takes its answer",
        |seating| Ok(Box::new(Direct(seating.dialogue()))),
    )
};

/// An agent that asks once and takes the answer.
#[derive(Debug)]
struct Direct(Dialogue);

#[async_trait]
impl Converses for Direct {
    fn dialogue(&mut self) -> &mut Dialogue {
        &mut self.0
    }
}
