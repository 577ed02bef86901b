//! Self-refine: the model drafts an answer step by step, is asked what an expert would
//! say to it, and answers again with that advice. Only the last answer counts, and only
//! it can be a foul.
//!
//! Source: Madaan et al. 2023, as a baseline of K-Level Reasoning, arXiv 2402.01521,
//! section 3.2.

use async_trait::async_trait;
use minijinja::context;
use serde_json::Value;

use crate::agent::{Answer, Verdict};
use crate::agents::prediction::{noted, read};
use crate::dialogue::{Dialogue, Turn};
use crate::forms::{Thinking, in_words};
use crate::info::{AgentInfo, OwnCalls, OwnSettings, Seating};
use crate::memory::Later;
use crate::mind::{Mind, MindError, Thought};
use crate::notes::Refinement;
use crate::quotation::{ending, shown};
use crate::reading;
use crate::settings::whole;
use crate::turn::{self, Converses};

/// What there is to know of it.
pub const INFO: AgentInfo = AgentInfo {
    settings: &[ROUNDS],
    calls: |own| OwnCalls {
        per_ask: 2 * u64::from(rounds(own).unwrap_or(USUAL_ROUNDS)),
        ..OwnCalls::NONE
    },
    rehearsals: &["{}", r#"{ "rounds": 2 }"#],
    check: |own| rounds(own).map(|_| ()),
    ..AgentInfo::conversing(
        "self_refine",
        "drafts an answer, has it judged as by an expert, and answers again",
        |seating| Ok(Box::new(SelfRefine::new(&seating)?)),
    )
};

/// The setting with how often a draft is judged.
const ROUNDS: &str = "rounds";

/// The paper's (section 3.2).
const USUAL_ROUNDS: u32 = 1;

/// More than this repeats itself.
const MOST_ROUNDS: u32 = 5;

/// Longest part of what an expert says that goes on. The end is kept.
const KEPT_LETTERS: usize = 1_500;

fn rounds(own: &OwnSettings) -> Result<u32, String> {
    whole(own, ROUNDS, 1..=MOST_ROUNDS, USUAL_ROUNDS)
}

/// An agent that answers twice.
#[derive(Debug)]
struct SelfRefine {
    dialogue: Dialogue,
    rounds: u32,
    /// What came before the answer to the open ask.
    drafted: Drafted,
    /// The last answer to the open ask, as notes hold it; null where none could be read.
    answered: Option<Value>,
}

/// Drafts of an ask and what was said to them.
#[derive(Debug, Default)]
struct Drafted {
    /// What was answered first, as notes hold it.
    first: Value,
    /// What was said to each draft, if anything.
    feedback: Vec<Option<String>>,
    /// What is said before the ask because of it.
    advice: Option<String>,
}

#[async_trait]
impl Converses for SelfRefine {
    fn dialogue(&mut self) -> &mut Dialogue {
        &mut self.dialogue
    }

    async fn answer(&mut self, turn: Turn<'_>, mind: &dyn Mind) -> Result<Answer, MindError> {
        // After a foul the advice still stands; only the answer is open.
        let turn = turn.thinking(Thinking::StepByStep);
        match turn.refused {
            Some(_) => self.note_answer(false),
            None => self.drafted = self.draft(turn, mind).await?,
        }
        let turn = turn.advised(self.drafted.advice.as_deref());
        let answer = turn::take(&mut self.dialogue, turn, mind).await?;
        let said = answer.as_ref().map(|action| noted(&turn.ask.form, action));
        self.answered = Some(said.unwrap_or_default());
        Ok(answer)
    }

    fn settled(&mut self, verdict: &Verdict) {
        self.note_answer(*verdict == Verdict::Taken);
    }
}

impl SelfRefine {
    fn new(seating: &Seating<'_>) -> Result<Self, String> {
        Ok(Self {
            dialogue: seating.dialogue(),
            rounds: rounds(&seating.settings.own)?,
            drafted: Drafted::default(),
            answered: None,
        })
    }

    /// Notes the last answer, once the game has said whether it counts.
    fn note_answer(&mut self, counts: bool) {
        let Some(answer) = self.answered.take() else {
            return;
        };
        let round = self.dialogue.round();
        self.dialogue.note(Refinement {
            round,
            first: self.drafted.first.clone(),
            last: if counts { answer } else { Value::Null },
            feedback: self.drafted.feedback.clone(),
        });
    }

    /// Drafts and has judged, as often as it is set to.
    async fn draft(&mut self, turn: Turn<'_>, mind: &dyn Mind) -> Result<Drafted, MindError> {
        let ask = turn.ask;
        let mut drafted = Drafted::default();
        for round in 0..self.rounds {
            let turn = turn.advised(drafted.advice.as_deref());
            let draft = mind.think(self.dialogue.thought("draft", turn)?).await?;
            // An unreadable draft is judged as it is.
            let action = read(ask, &draft).ok();
            // Draft and feedback share the room that the player's memory has for advice.
            let room = self.dialogue.advice_letters();
            let feedback_letters = KEPT_LETTERS.min(room / 2);
            let said = shown(&draft.text, room - room / 2);
            let values = context! {
                kind => &ask.kind,
                draft => action.as_ref().map(|action| in_words(&ask.form, action)),
            };
            let judge = self.dialogue.words("feedback", values)?;
            let later = Later::new(said, room, &judge);
            let judge = self.dialogue.thought_then("feedback", turn, Some(later))?;
            let format = None;
            let feedback = mind.think(Thought { format, ..judge }).await?;
            let feedback = Some(reading::said(&feedback)).filter(|said| !said.is_empty());
            let feedback = feedback.map(|said| ending(said, feedback_letters));
            let values = context! { round => self.dialogue.round(), draft => said, feedback };
            let advice = self.dialogue.words("refine", values)?;
            if round == 0 {
                drafted.first = action.map_or(Value::Null, |action| noted(&ask.form, &action));
            }
            drafted.feedback.push(feedback.map(str::to_owned));
            drafted.advice = Some(advice);
        }
        Ok(drafted)
    }
}
