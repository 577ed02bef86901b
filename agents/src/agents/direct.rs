//! The direct agent: tells the model the rules and what happened, asks once, and
//! takes its answer.
//!
//! Source: the vanilla players of gamma-Bench, arXiv 2403.11807, section 4.

use crate::info::AgentInfo;
use crate::turn::Asker;

/// What there is to know of it.
pub const INFO: AgentInfo = AgentInfo {
    reasons: false,
    ..AgentInfo::conversing(
        "direct",
        "asks the model once and takes its answer",
        |seating| Asker::build(&seating, |dialogue, _| dialogue.thinking()),
    )
};
