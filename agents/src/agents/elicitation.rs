//! The agent that states its understanding and its beliefs beside its answer: it asks
//! for one JSON object whose fields lead to the answer, other ones from the second
//! round on, or for thoughts in words and then an object. What the fields say is noted beside
//! what is true, so that misunderstandings can be counted.
//!
//! Source: EconArena (Guo et al. 2024), appendix B; the wording is ours.

use agon_engine::Ask;

use crate::dialogue::Dialogue;
use crate::forms::Thinking;
use crate::forms::fields::Fields;
use crate::info::{AgentInfo, OwnSettings};
use crate::settings::read_one;
use crate::turn::Asker;

/// The setting that has the model think in words before the object (appendix B.3 and B.7).
const STEP_BY_STEP: &str = "step_by_step";

/// What there is to know of it.
pub const INFO: AgentInfo = AgentInfo {
    settings: &[STEP_BY_STEP],
    rehearsals: &["{}", r#"{ "step_by_step": true }"#],
    check: |own| step_by_step(own).map(|_| ()),
    ..AgentInfo::conversing(
        "elicitation",
        "has the model state its understanding, beliefs and reasons around its answer, in one call",
        |seating| {
            let thinks = step_by_step(&seating.settings.own)?;
            Asker::build(&seating, if thinks { worked_out } else { stated })
        },
    )
};

fn stated(dialogue: &Dialogue, ask: &Ask) -> Thinking {
    Thinking::Stated(dialogue.fields(ask))
}

fn worked_out(_: &Dialogue, _: &Ask) -> Thinking {
    Thinking::Stated(Fields::StepByStep)
}

fn step_by_step(own: &OwnSettings) -> Result<bool, String> {
    let given = own.get(STEP_BY_STEP).cloned();
    given.map_or(Ok(false), |value| read_one(STEP_BY_STEP, value))
}
