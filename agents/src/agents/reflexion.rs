//! Reflexion: before the first ask of the next round the model reviews the last one and
//! sums the experience up, in a call of its own; the newest of these texts stand before
//! every later ask. After the last round nobody looks back.
//!
//! Source: Shinn et al. 2023, as a baseline of arXiv 2402.01521, section 3.2.

use std::collections::VecDeque;

use async_trait::async_trait;
use minijinja::{Value as Words, context};

use crate::agent::Answer;
use crate::dialogue::{Dialogue, Turn};
use crate::info::{AgentInfo, OwnCalls, OwnSettings, Seating};
use crate::mind::{Mind, MindError};
use crate::notes;
use crate::quotation::ending;
use crate::reading;
use crate::settings::whole;
use crate::turn::{self, Converses};

/// What there is to know of it.
pub const INFO: AgentInfo = AgentInfo {
    settings: &[REFLECTIONS],
    reasons: false,
    calls: |_| OwnCalls {
        per_round_over: 1,
        ..OwnCalls::NONE
    },
    check: |own| kept(own).map(|_| ()),
    ..AgentInfo::conversing(
        "reflexion",
        "has the model review every round that is over, and keeps what it sums up",
        |seating| Ok(Box::new(Reflexion::new(&seating)?)),
    )
};

/// The setting with how many reflections are kept.
const REFLECTIONS: &str = "reflections";

/// As many as Reflexion keeps in its own experiments (Shinn et al., section 4).
const USUAL_REFLECTIONS: u32 = 3;

/// All rounds of any game of the paper, and little enough for a prompt.
const MOST_REFLECTIONS: u32 = 20;

/// Longest part of a reflection that is kept. The end is: that is where sums stand.
const KEPT_LETTERS: usize = 1_000;

fn kept(own: &OwnSettings) -> Result<u32, String> {
    whole(own, REFLECTIONS, 1..=MOST_REFLECTIONS, USUAL_REFLECTIONS)
}

/// An agent that learns from round to round.
#[derive(Debug)]
struct Reflexion {
    dialogue: Dialogue,
    kept: usize,
    reflections: VecDeque<Reflection>,
    /// The round of the last ask that it answered.
    played: Option<u32>,
}

#[derive(Debug)]
struct Reflection {
    round: u32,
    text: String,
}

#[async_trait]
impl Converses for Reflexion {
    fn dialogue(&mut self) -> &mut Dialogue {
        &mut self.dialogue
    }

    async fn answer(&mut self, turn: Turn<'_>, mind: &dyn Mind) -> Result<Answer, MindError> {
        let round = self.dialogue.round();
        if let Some(played) = self.played.filter(|played| *played < round) {
            self.reflect(played, mind).await?;
        }
        self.played = Some(round);
        let advice = if self.reflections.is_empty() {
            None
        } else {
            let values = context! { reflections => self.kept_words() };
            Some(self.dialogue.words("reflections", values)?)
        };
        let turn = turn.advised(advice.as_deref());
        turn::take(&mut self.dialogue, turn, mind).await
    }
}

impl Reflexion {
    fn new(seating: &Seating<'_>) -> Result<Self, String> {
        Ok(Self {
            dialogue: seating.dialogue(),
            kept: kept(&seating.settings.own)? as usize,
            reflections: VecDeque::new(),
            played: None,
        })
    }

    /// Looks back at the round that was played last.
    async fn reflect(&mut self, played: u32, mind: &dyn Mind) -> Result<(), MindError> {
        let question = |reflections: Vec<Words>| {
            let values = context! { played, reflections };
            self.dialogue.words("reflect", values)
        };
        let (text, shortest) = (question(self.kept_words())?, question(Vec::new())?);
        let thought = self.dialogue.consult("reflect", &text, &shortest)?;
        let reply = mind.think(thought).await?;
        let said = Some(reading::said(&reply)).filter(|said| !said.is_empty());
        let said = said.map(|said| ending(said, KEPT_LETTERS));
        self.dialogue.note(notes::Reflection {
            round: played,
            text: said.map(str::to_owned),
        });
        // Nothing said is nothing to keep.
        if let Some(said) = said {
            self.reflections.push_back(Reflection {
                round: played,
                text: said.to_owned(),
            });
            if self.reflections.len() > self.kept {
                self.reflections.pop_front();
            }
        }
        Ok(())
    }

    /// The newest reflections that the player's memory has room for, oldest first; of the
    /// newest, its end at least.
    fn kept_words(&self) -> Vec<Words> {
        let mut room = self.dialogue.advice_letters();
        let mut kept = Vec::with_capacity(self.reflections.len());
        for one in self.reflections.iter().rev() {
            let letters = one.text.chars().count();
            if letters > room && !kept.is_empty() {
                break;
            }
            let text = ending(&one.text, room);
            kept.push(context! { round => one.round, text });
            room = room.saturating_sub(letters);
        }
        kept.reverse();
        kept
    }
}
