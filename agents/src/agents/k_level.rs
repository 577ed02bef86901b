//! The K-level agent: lets the model answer in every rival's place, from what that rival
//! saw and did, before it answers. Level 1 predicts from that alone, level m > 1 also in
//! view of what everybody else is predicted to do at level m - 1. A seat of depth K answers
//! in view of level K - 1; depth 1 answers straight.
//!
//! Source: K-Level Reasoning, arXiv 2402.01521, section 2, algorithm 1.

use std::collections::BTreeMap;

use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, GameInfo, Seat};
use async_trait::async_trait;
use minijinja::context;
use serde_json::Value;

use crate::agent::Answer;
use crate::agents::prediction;
use crate::asking::{Questions, ask_until};
use crate::dialogue::{Dialogue, Turn};
use crate::events::BRIEFING;
use crate::forms::in_words;
use crate::info::{AgentInfo, OwnCalls, OwnSettings, Seating};
use crate::library::PromptLibrary;
use crate::memory::Later;
use crate::mind::{Mind, MindError, Reply, Thought};
use crate::notes::Prediction;
use crate::settings::{PlayerSettings, WhenFull, whole};
use crate::turn::{self, Converses};

mod rival;

use rival::Rival;

/// The games that it plays: everybody is asked the same at once, and everything that
/// happens is public, so that a seat knows what its rivals see.
const GAMES: &[&str] = &["beauty_contest", "guess_to_survive", "water_allocation"];

/// What there is to know of it.
pub const INFO: AgentInfo = AgentInfo {
    settings: &[DEPTH, TRIES],
    games: Some(GAMES),
    reasons: false,
    calls,
    rehearsals: &["{}", r#"{ "depth": 3, "reply": "text" }"#],
    check: |own| options(own).map(|_| ()),
    ..AgentInfo::conversing(
        "k_level",
        "predicts what every rival will do, level by level, and answers in view of that",
        |seating| Ok(Box::new(KLevel::new(&seating)?)),
    )
};

/// The setting with the level at which the seat answers: the K of the paper.
const DEPTH: &str = "depth";

/// The paper's K (section 3.2).
const USUAL_DEPTH: u32 = 2;

/// Calls grow with depth times rivals; the paper goes to 3.
const DEEPEST: u32 = 5;

/// The setting with how often a prediction is asked for at most.
const TRIES: &str = "tries";

/// A prediction that could not be read is asked for once more.
const USUAL_TRIES: u32 = 2;

/// More tries than this cost more than a missing prediction.
const MOST_TRIES: u32 = 10;

/// Depth and tries.
fn options(own: &OwnSettings) -> Result<(u32, u32), String> {
    let depth = whole(own, DEPTH, 1..=DEEPEST, USUAL_DEPTH)?;
    let tries = whole(own, TRIES, 1..=MOST_TRIES, USUAL_TRIES)?;
    Ok((depth, tries))
}

/// A seat of depth K predicts every rival K - 1 times, and itself at all of these levels but
/// the deepest.
fn calls(own: &OwnSettings) -> OwnCalls {
    let (depth, tries) = options(own).unwrap_or((USUAL_DEPTH, USUAL_TRIES));
    let levels = u64::from(depth - 1);
    OwnCalls {
        per_ask: levels.saturating_sub(1),
        per_ask_and_rival: levels,
        tries: tries.into(),
        reason: false,
        ..OwnCalls::NONE
    }
}

/// An agent that thinks through what its rivals will do.
#[derive(Debug)]
struct KLevel {
    seat: Seat,
    depth: u32,
    tries: u32,
    dialogue: Dialogue,
    /// The other seats, in order; nobody where nothing is predicted.
    rivals: Vec<Rival>,
    imagination: Imagination,
    /// What is said before the open ask.
    advice: Option<String>,
}

/// What conversations of rivals are made of.
#[derive(Debug)]
struct Imagination {
    settings: PlayerSettings,
    game: GameInfo,
    library: PromptLibrary,
}

/// What is predicted of each seat at one level; nothing where no try could be read.
type Level = BTreeMap<Seat, Option<Action>>;

#[async_trait]
impl Converses for KLevel {
    fn dialogue(&mut self) -> &mut Dialogue {
        &mut self.dialogue
    }

    fn heard(&mut self, events: &[SeenEvent]) -> Result<(), MindError> {
        if events.iter().any(|event| event.kind == BRIEFING) {
            self.imagine_rivals();
        }
        for rival in &mut self.rivals {
            for event in events {
                rival.hear(event)?;
            }
        }
        Ok(())
    }

    async fn answer(&mut self, turn: Turn<'_>, mind: &dyn Mind) -> Result<Answer, MindError> {
        // A foul is no reason to think again about the others.
        if turn.refused.is_none() {
            self.advice = self.foresee(turn.ask, mind).await?;
        }
        let turn = turn.advised(self.advice.as_deref());
        turn::take(&mut self.dialogue, turn, mind).await
    }
}

impl KLevel {
    fn new(seating: &Seating<'_>) -> Result<Self, String> {
        let (depth, tries) = options(&seating.settings.own)?;
        Ok(Self {
            seat: seating.seat,
            depth,
            tries,
            dialogue: seating.dialogue(),
            rivals: Vec::new(),
            imagination: Imagination {
                // What its rivals are like, and what they were told, it does not know.
                settings: PlayerSettings {
                    persona: None,
                    others: None,
                    when_full: WhenFull::Forget,
                    ..seating.settings.clone()
                },
                game: seating.game.clone(),
                library: seating.library.clone(),
            },
            advice: None,
        })
    }

    /// Opens a conversation for every rival, unless nothing will be predicted.
    fn imagine_rivals(&mut self) {
        if self.depth == 1 {
            return;
        }
        let of = &self.imagination;
        let seats = self.dialogue.rivals().others().into_iter();
        let rivals = seats.map(|seat| {
            let dialogue = Dialogue::new(&of.settings, &of.game, seat, of.library.clone());
            Rival::new(self.seat, seat, of.game.facts.clone(), dialogue)
        });
        self.rivals = rivals.collect();
    }

    /// Predicts level by level; what is said of it before the ask, if there is anybody to
    /// predict.
    async fn foresee(&mut self, ask: &Ask, mind: &dyn Mind) -> Result<Option<String>, MindError> {
        let living = self.dialogue.rivals().living().to_vec();
        let is_alone = living.iter().all(|seat| *seat == self.seat);
        let mut known = Level::new();
        for level in 1..self.depth {
            if is_alone {
                break;
            }
            // The seat's own answer of a level is of use to the level above alone.
            let wanted = |seat: Seat| seat != self.seat || level + 1 < self.depth;
            let seats = living.iter().copied().filter(|seat| wanted(*seat));
            known = self
                .predict(level, seats.collect(), ask, &known, mind)
                .await?;
        }
        if known.is_empty() {
            return Ok(None);
        }
        advice(&self.dialogue, self.seat, ask, &known).map(Some)
    }

    /// One level: asks for what these seats will do, side by side, in view of what is
    /// known from the level below.
    async fn predict(
        &mut self,
        level: u32,
        seats: Vec<Seat>,
        ask: &Ask,
        below: &Level,
        mind: &dyn Mind,
    ) -> Result<Level, MindError> {
        let tries = self.tries;
        let predictions = Predictions {
            agent: self,
            seats: &seats,
            ask,
            below,
        };
        let answered = ask_until(mind, predictions, tries).await?;
        let calls = answered.iter().map(|one| one.tries).sum();
        let found = answered.into_iter().map(|one| one.found);
        let found: Level = seats.into_iter().zip(found).collect();
        let noted = |action: &Option<Action>| match action {
            Some(action) => prediction::noted(&ask.form, action),
            None => Value::Null,
        };
        let predicted = found.iter().map(|(seat, action)| (*seat, noted(action)));
        let round = self.dialogue.round();
        self.dialogue.note(Prediction::Answers {
            round,
            level,
            depth: self.depth,
            predicted: predicted.collect(),
            tries: calls,
        });
        Ok(found)
    }

    /// The conversation that speaks for the seat of an ask, and that knows that it is asked.
    fn voice(&mut self, ask: &Ask) -> &mut Dialogue {
        let rival = self.rivals.iter_mut().find(|rival| rival.seat == ask.seat);
        match rival {
            Some(rival) => rival.asked(ask),
            None => &mut self.dialogue,
        }
    }
}

/// What an agent asks of itself at one level: what each of these seats will do.
struct Predictions<'a> {
    agent: &'a mut KLevel,
    seats: &'a [Seat],
    ask: &'a Ask,
    below: &'a Level,
}

impl Predictions<'_> {
    /// The ask as it is put to a seat.
    fn ask(&self, at: usize) -> Ask {
        Ask {
            seat: self.seats[at],
            ..self.ask.clone()
        }
    }
}

impl Questions for Predictions<'_> {
    type Found = Action;

    fn count(&self) -> usize {
        self.seats.len()
    }

    fn thought(&mut self, at: usize, later: Option<Later>) -> Result<Thought, MindError> {
        let ask = self.ask(at);
        let dialogue = self.agent.voice(&ask);
        let advice = match self.below.is_empty() {
            true => None,
            false => Some(advice(dialogue, ask.seat, &ask, self.below)?),
        };
        let turn = Turn::plain(&ask, None).thinking(dialogue.thinking());
        let turn = turn.advised(advice.as_deref());
        let thought = dialogue.thought_then("predict", turn, later)?;
        Ok(Thought {
            // A simulated model expects of others what it would do itself.
            simulated_reply: self.agent.dialogue.simulated_reply(turn),
            ..thought
        })
    }

    fn read(&mut self, at: usize, reply: &Reply) -> Result<Action, String> {
        prediction::read(&self.ask(at), reply)
    }

    fn again(&mut self, at: usize, reply: &Reply, problem: &str) -> Result<Later, MindError> {
        let ask = self.ask(at);
        self.agent.voice(&ask).again(&ask, &reply.text, problem)
    }
}

/// What a seat is told before its ask: what everybody else is predicted to do.
fn advice(dialogue: &Dialogue, seat: Seat, ask: &Ask, known: &Level) -> Result<String, MindError> {
    let table = dialogue.rivals();
    let others = || known.iter().filter(|(other, _)| **other != seat);
    let expected: Vec<_> = others()
        .filter_map(|(other, action)| {
            let said = in_words(&ask.form, action.as_ref()?);
            Some(context! { name => table.name(*other), said })
        })
        .collect();
    let unknown = others().filter(|(_, action)| action.is_none());
    let unknown: Vec<String> = unknown.map(|(other, _)| table.name(*other)).collect();
    let values = context! { round => dialogue.round(), kind => &ask.kind, expected, unknown };
    dialogue.words("predicted", values)
}

#[cfg(test)]
mod tests;
