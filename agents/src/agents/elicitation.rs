//! The agent that states its understanding and its beliefs beside its answer: it asks
//! for one JSON object whose fields lead to the answer, other ones from the second
//! round on. What the fields say is noted beside what is true, so that misunderstandings
//! can be counted.
//!
//! Source: EconArena (Guo et al. 2024), appendix B; the wording is ours.

use crate::forms::Thinking;
use crate::info::AgentInfo;
use crate::turn::Asker;

/// What there is to know of it.
pub const INFO: AgentInfo = AgentInfo::conversing(
    "elicitation",
    "has the model state its understanding, beliefs and reasons around its answer, in one call",
    |seating| {
        Asker::build(&seating, |dialogue, ask| {
            Thinking::Stated(dialogue.fields(ask))
        })
    },
);
