//! Self-refine: the model drafts an answer step by step, is asked what an expert would
//! say to it, and answers again with that advice. Only the last answer counts, and only
//! it can be a foul.
//!
//! Source: Madaan et al. 2023, as a baseline of K-Level Reasoning, arXiv 2402.01521,
//! section 3.2.

use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Foul};
use async_trait::async_trait;
use minijinja::context;
use serde_json::{Map, Value, json};

use crate::agent::{Agent, Note, Verdict};
use crate::dialogue::{Dialogue, Thinking, in_words};
use crate::memory::Later;
use crate::mind::{Mind, MindError, Thought};
use crate::prediction::{noted, read};
use crate::quotation::{ending, shown};
use crate::reading;
use crate::roster::Seating;
use crate::settings::whole;
use crate::turn::{self, Turn};

/// Names of its settings.
pub const SETTINGS: &[&str] = &[ROUNDS];

/// The setting with how often a draft is judged.
const ROUNDS: &str = "rounds";

/// The paper's (section 3.2).
const USUAL_ROUNDS: u32 = 1;

/// More than this repeats itself.
const MOST_ROUNDS: u32 = 5;

/// Longest part of what an expert says that goes on. The end is kept.
const KEPT_LETTERS: usize = 1_500;

/// The kind of its note.
const NOTE: &str = "refinement";

/// Checks its settings.
///
/// # Errors
/// One is impossible; says what would be right.
pub fn check(own: &Map<String, Value>) -> Result<(), String> {
    rounds(own).map(|_| ())
}

fn rounds(own: &Map<String, Value>) -> Result<u32, String> {
    whole(own, ROUNDS, 1..=MOST_ROUNDS, USUAL_ROUNDS)
}

/// An agent that answers twice.
#[derive(Debug)]
pub struct SelfRefine {
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
    /// What was said to each draft; null where nothing was.
    feedback: Vec<Value>,
    /// What is said before the ask because of it.
    advice: Option<String>,
}

#[async_trait]
impl Agent for SelfRefine {
    async fn observe(&mut self, events: &[SeenEvent], _mind: &dyn Mind) -> Result<(), MindError> {
        self.dialogue.hear(events)
    }

    async fn act(
        &mut self,
        ask: &Ask,
        refused: Option<&Foul>,
        mind: &dyn Mind,
    ) -> Result<Result<Action, Foul>, MindError> {
        // After a foul the advice still stands; only the answer is open.
        match refused {
            Some(_) => self.note_answer(false),
            None => self.drafted = self.draft(ask, mind).await?,
        }
        let turn = Turn {
            thinking: Thinking::StepByStep,
            advice: self.drafted.advice.as_deref(),
            ..Turn::plain(ask, refused)
        };
        let answer = turn::take(&mut self.dialogue, turn, mind).await?;
        let said = answer.as_ref().map(|action| noted(&ask.form, action));
        self.answered = Some(said.unwrap_or_default());
        Ok(answer)
    }

    fn settle(&mut self, verdict: &Verdict) {
        self.note_answer(*verdict == Verdict::Taken);
        self.dialogue.settle(verdict);
    }

    fn take_notes(&mut self) -> Vec<Note> {
        self.dialogue.take_notes()
    }
}

impl SelfRefine {
    /// An agent at its seat.
    ///
    /// Settings were checked by [`check`]; wrong ones become the defaults.
    pub fn new(seating: &Seating<'_>) -> Self {
        Self {
            dialogue: seating.dialogue(),
            rounds: rounds(&seating.settings.own).unwrap_or(USUAL_ROUNDS),
            drafted: Drafted::default(),
            answered: None,
        }
    }

    /// Notes the last answer, once the game has said whether it counts.
    fn note_answer(&mut self, counts: bool) {
        let Some(answer) = self.answered.take() else {
            return;
        };
        let round = self.dialogue.round();
        self.dialogue.note(Note {
            kind: NOTE,
            body: json!({
                "round": round,
                "first": self.drafted.first,
                "last": if counts { answer } else { Value::Null },
                "feedback": self.drafted.feedback,
            }),
        });
    }

    /// Drafts and has judged, as often as it is set to.
    async fn draft(&mut self, ask: &Ask, mind: &dyn Mind) -> Result<Drafted, MindError> {
        let mut drafted = Drafted::default();
        for round in 0..self.rounds {
            let turn = Turn {
                thinking: Thinking::StepByStep,
                advice: drafted.advice.as_deref(),
                ..Turn::plain(ask, None)
            };
            let draft = mind.think(Thought {
                purpose: "draft",
                settings: self.dialogue.settings(),
                messages: self.dialogue.messages(turn)?,
                format: self.dialogue.format(turn.ask, turn.thinking),
                stand_in: None,
            });
            let draft = draft.await?;
            // An unreadable draft is judged as it is.
            let action = read(ask, &draft).ok();
            // Draft and feedback share the room that the player's memory has for advice.
            let room = self.dialogue.advice_letters();
            let feedback_letters = KEPT_LETTERS.min(room / 2);
            let said = shown(&draft.text, room - room / 2);
            let values = context! {
                kind => ask.kind,
                draft => action.as_ref().map(|action| in_words(&ask.form, action)),
            };
            let judge = self.dialogue.words("feedback.j2", values)?;
            let later = Later::new(said, room, &judge);
            let feedback = mind.think(Thought {
                purpose: "feedback",
                settings: self.dialogue.settings(),
                messages: self.dialogue.messages_then(turn, Some(later))?,
                format: None,
                stand_in: None,
            });
            let feedback = feedback.await?;
            let feedback = Some(reading::said(&feedback)).filter(|said| !said.is_empty());
            let feedback = feedback.map(|said| ending(said, feedback_letters));
            let values = context! { round => self.dialogue.round(), draft => said, feedback };
            let advice = self.dialogue.words("refine.j2", values)?;
            if round == 0 {
                drafted.first = action.map_or(Value::Null, |action| noted(&ask.form, &action));
            }
            drafted.feedback.push(feedback.into());
            drafted.advice = Some(advice);
        }
        Ok(drafted)
    }
}
