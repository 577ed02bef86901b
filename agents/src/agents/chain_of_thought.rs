//! The chain-of-thought agent: has the model reason first and answer last, in one
//! call. Only the answer is remembered, so conversations stay short.
//!
//! Source: Kojima et al. 2022, as used in gamma-Bench, arXiv 2403.11807, 5.2; the five wordings
//! follow those that its authors tried (`prompt_template` of their published code), in our words.

use crate::forms::{Thinking, WORDING, wording};
use crate::info::AgentInfo;
use crate::turn::Asker;

/// What there is to know of it.
pub const INFO: AgentInfo = AgentInfo {
    settings: &[WORDING],
    check: |own| wording(own).map(|_| ()),
    ..AgentInfo::conversing(
        "chain_of_thought",
        "has the model think step by step before it answers, in one call",
        |seating| Asker::build(&seating, |_, _| Thinking::StepByStep),
    )
};
