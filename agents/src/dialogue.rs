//! The conversation of one seat with its model: what agents are written with.
//!
//! It hears events, builds the messages of an ask, reads the reply and remembers
//! what was answered. It makes no calls: which ones are made is the agent's.

use std::sync::Arc;

use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Foul, FoulKind, GameInfo, Seat};
use serde_json::Value;

use crate::agent::Verdict;
use crate::events::BRIEFING;
use crate::forms::fields::{self, About, Fields};
use crate::forms::{Thinking, answer_value, in_words, reply_schema, structured};
use crate::library::PromptLibrary;
use crate::memory::{Later, Memory, Put};
use crate::mind::{MindError, ModelSettings, Reply, ReplyFormat, Thought};
use crate::narrator::{Narrator, Telling};
use crate::notes::{self, Note};
use crate::quotation::problem;
use crate::reading::{self, Place, Reading};
use crate::rivals::Rivals;
use crate::settings::{Leniency, PlayerSettings, ReplyStyle};
use crate::understudy::Understudy;

mod past;
mod simulated;
mod turn;

pub use turn::Turn;

use past::Past;

/// The session says how an ask ended before it goes on; without that nobody knows whether
/// an answer stands.
const UNSETTLED: &str = "the seat was not told what became of its last answer";

/// The conversation of one seat.
#[derive(Debug)]
pub struct Dialogue {
    settings: PlayerSettings,
    /// What a simulated model plays by.
    understudy: Option<Understudy>,
    pub(crate) narrator: Narrator,
    preface: String,
    pub(crate) memory: Memory,
    /// How the last reply was asked for.
    thinking: Thinking,
    open: Option<Open>,
    past: Past,
    notes: Vec<Note>,
}

/// An ask that was answered but may still be put again.
#[derive(Debug)]
struct Open {
    ask: Ask,
    reply: Reply,
    action: Option<Action>,
    /// Whether the answer counts; none until the game has said so.
    counts: Option<bool>,
}

impl Dialogue {
    /// A new conversation.
    pub fn new(
        settings: &PlayerSettings,
        game: &GameInfo,
        seat: Seat,
        library: PromptLibrary,
    ) -> Self {
        Self {
            settings: settings.clone(),
            understudy: None,
            narrator: Narrator::new(settings, game, seat, library),
            preface: String::new(),
            memory: Memory::new(settings.memory_tokens, settings.when_full),
            thinking: Thinking::None,
            open: None,
            past: Past::default(),
            notes: Vec::new(),
        }
    }

    /// With `preface` before the rules, for a seat that is told more than the game tells.
    #[must_use]
    pub fn with_preface(self, preface: String) -> Self {
        Self { preface, ..self }
    }

    /// With somebody who knows what a simulated model should answer.
    #[must_use]
    pub fn with_understudy(self, understudy: Option<Understudy>) -> Self {
        Self { understudy, ..self }
    }

    /// Which model is called, and how it samples.
    pub fn settings(&self) -> Arc<ModelSettings> {
        Arc::clone(&self.settings.model)
    }

    /// Which model makes out replies that the program cannot read, if any does.
    pub fn reader(&self) -> Option<Arc<ModelSettings>> {
        self.settings.reader.clone()
    }

    /// What the model is to say beside its answer, where its agent wants nothing else.
    pub fn thinking(&self) -> Thinking {
        match self.settings.explain {
            true => Thinking::Explained,
            false => Thinking::None,
        }
    }

    /// Hears events, oldest first.
    pub fn hear(&mut self, events: &[SeenEvent]) -> Result<(), MindError> {
        // Nothing new: the last ask may still be put again.
        if events.is_empty() {
            return Ok(());
        }
        self.close()?;
        if let Some(understudy) = &mut self.understudy {
            understudy.see(events);
        }
        for event in events {
            if let Some(history) = remembered(event) {
                self.memory.remember_rounds(history);
            }
            self.memory.enter_round(event.round);
            match self.narrator.tell(event)? {
                Telling::Rules(text) => self.memory.set_rules(match &*self.preface {
                    "" => text,
                    preface => format!("{preface}{text}").into(),
                }),
                Telling::News(text) => self.memory.add_news(text),
                Telling::Result(text) => {
                    self.past.has_result(event);
                    self.memory.add_news(text);
                }
                Telling::Nothing => {}
            }
        }
        Ok(())
    }

    /// Which beliefs are asked for beside the answer: those about the past once the
    /// seat has one, with results that it was told.
    pub fn fields(&self, ask: &Ask) -> Fields {
        if self.past.reaches(&ask.kind) {
            Fields::Reviewing
        } else {
            Fields::Opening
        }
    }

    /// The call that takes a turn.
    ///
    /// # Errors
    /// A template does not render, or no briefing was heard.
    pub fn thought(&mut self, purpose: &'static str, turn: Turn<'_>) -> Result<Thought, MindError> {
        let refused = turn.refused.zip(self.open.as_ref());
        let later = refused.map(|(foul, open)| self.refuse(turn, foul, &open.reply.text));
        let thought = self.thought_then(purpose, turn, later.transpose()?)?;
        Ok(Thought {
            simulated_reply: self.simulated_reply(turn),
            ..thought
        })
    }

    /// The same, with what was said to the ask already.
    pub fn thought_then(
        &mut self,
        purpose: &'static str,
        turn: Turn<'_>,
        later: Option<Later>,
    ) -> Result<Thought, MindError> {
        let ask = self.wording(turn)?;
        self.thinking = turn.thinking;
        let messages = self.memory.conversation(Put {
            advice: turn.advice,
            ask: &ask,
            later: later.as_ref(),
        });
        let format = self.format(turn.ask, turn.thinking);
        Ok(Thought::new(purpose, self.settings(), messages, format))
    }

    /// What is said to a reply that was refused.
    fn refuse(&self, turn: Turn<'_>, foul: &Foul, reply: &str) -> Result<Later, MindError> {
        let foul = Foul::new(foul.kind, problem(&foul.reason));
        let again = self.narrator.refuse(turn.ask, turn.thinking, &foul);
        let again = again?;
        Ok(Later::new(reply, self.advice_letters(), &again))
    }

    /// A call that says something else in the place of an ask, in the `shortest` words where
    /// there is no room for more; nothing of it is remembered.
    pub fn consult(
        &mut self,
        purpose: &'static str,
        text: &str,
        shortest: &str,
    ) -> Result<Thought, MindError> {
        self.enter_round()?;
        self.close()?;
        let has_room = self.memory.has_room_for(text);
        let text = if has_room { text } else { shortest };
        let messages = self.memory.conversation(Put::plain(text));
        Ok(Thought::new(purpose, self.settings(), messages, None))
    }

    /// The words of an ask, once what was asked before is past.
    pub(crate) fn wording(&mut self, turn: Turn<'_>) -> Result<String, MindError> {
        self.enter_round()?;
        if turn.refused.is_none() {
            self.close()?;
        }
        Ok(self.narrator.ask(turn.ask, turn.thinking)?)
    }

    fn enter_round(&mut self) -> Result<(), MindError> {
        if !self.memory.has_rules() {
            return Err(MindError::Impossible(
                "asked before the briefing".to_owned(),
            ));
        }
        self.memory.enter_round(self.narrator.round());
        Ok(())
    }

    /// Words around the asks, from a template that all games share.
    pub fn words(&self, file: &str, values: minijinja::Value) -> Result<String, MindError> {
        Ok(self.narrator.render_shared(file, values)?)
    }

    /// What is said to a reply to an ask put as it is that cannot be used.
    pub fn again(&self, ask: &Ask, reply: &str, problem: &str) -> Result<Later, MindError> {
        let foul = Foul::new(FoulKind::Unreadable, problem);
        let turn = Turn::plain(ask, None).thinking(self.thinking());
        self.refuse(turn, &foul, reply)
    }

    /// Who else is in play, as far as the seat was told.
    pub fn rivals(&self) -> &Rivals {
        self.narrator.rivals()
    }

    /// The round that the next ask belongs to.
    pub fn round(&self) -> u32 {
        self.narrator.round()
    }

    /// The last reply that was read, until its ask is over.
    pub fn last_reply(&self) -> Option<&Reply> {
        self.open.as_ref().map(|open| &open.reply)
    }

    /// Says how the ask that was answered last ended.
    pub fn settle(&mut self, verdict: &Verdict) {
        if let Some(open) = &mut self.open {
            open.counts = Some(*verdict == Verdict::Taken);
        }
    }

    /// Takes an answer for given that this conversation did not make: the one that the
    /// seat it speaks for is known to have given, or none that was valid.
    pub fn assume(&mut self, ask: &Ask, action: Option<Action>) {
        self.memory.enter_round(self.narrator.round());
        let counts = Some(action.is_some());
        self.open = Some(Open {
            ask: ask.clone(),
            reply: Reply {
                text: String::new(),
                finish_reason: String::new(),
            },
            action,
            counts,
        });
    }

    /// As many letters of an agent's own making (reflections, drafts, advice) may stand
    /// beside an ask.
    pub fn advice_letters(&self) -> usize {
        self.memory.advice_letters()
    }

    /// The form that the reply should have; none when words are asked for.
    fn format(&self, ask: &Ask, thinking: Thinking) -> Option<ReplyFormat> {
        self.settings.reply.has_schema().then(|| ReplyFormat {
            name: ask.kind.to_string(),
            schema: reply_schema(ask, thinking, &self.rivals().names_of_others()).into(),
        })
    }

    /// Reads the reply to an ask and remembers it until the ask is over.
    ///
    /// # Errors
    /// The foul that reading ended in.
    pub fn read(&mut self, ask: &Ask, reply: Reply) -> Result<Action, Foul> {
        let others = self.rivals().names_of_others();
        let read = match self.settings.reading {
            Leniency::Strict if self.wants_json() => reading::read_as_asked(ask, &reply),
            Leniency::Strict | Leniency::Lenient => reading::read_among(ask, &others, &reply),
        };
        self.note_stated(ask, &reply);
        let action = read.as_ref().ok().map(|reading| reading.action.clone());
        self.open = Some(Open {
            ask: ask.clone(),
            reply,
            action,
            counts: None,
        });
        let reading = read?;
        self.note_reading(&reading);
        Ok(reading.action)
    }

    /// What the last reply says, if no answer was found in it.
    pub(crate) fn unread(&self) -> Option<&str> {
        let open = self.open.as_ref().filter(|open| open.action.is_none())?;
        Some(reading::said(&open.reply))
    }

    /// Takes what another model found in the last reply for its answer.
    pub(crate) fn adopt(&mut self, found: Reading) -> Action {
        let found = Reading {
            found_in: Place::Reader,
            ..found
        };
        self.note_reading(&found);
        if let Some(open) = &mut self.open {
            open.action = Some(found.action.clone());
        }
        found.action
    }

    /// Writes a conclusion down.
    pub(crate) fn note(&mut self, note: impl Into<Note>) {
        self.notes.push(note.into());
    }

    /// Notes since the last time.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// Whether the last reply was asked for as JSON.
    fn wants_json(&self) -> bool {
        self.wants_json_for(self.thinking)
    }

    /// Whether a reply that is asked for so is asked for as JSON.
    fn wants_json_for(&self, thinking: Thinking) -> bool {
        matches!(
            self.settings.reply,
            ReplyStyle::Structured | ReplyStyle::Json
        ) || matches!(thinking, Thinking::Stated(_))
    }

    /// A reply that did not keep to the form it was asked for is worth a note:
    /// how often that happens is a property of the model. So is one that only another
    /// model could make out.
    fn note_reading(&mut self, reading: &Reading) {
        let follows_thoughts = self.thinking.is_aloud(self.settings.reply)
            && reading.found_in == Place::Embedded
            && reading.repairs.is_empty();
        let is_expected = follows_thoughts || reading.is_clean() || !self.wants_json();
        if is_expected && reading.found_in != Place::Reader {
            return;
        }
        self.note(notes::Reading {
            found_in: reading.found_in.name(),
            repairs: reading.repairs.iter().map(|repair| repair.name()).collect(),
        });
    }

    /// What a reply stated beside its answer, and what is true of it as far as the seat
    /// was told.
    fn note_stated(&mut self, ask: &Ask, reply: &Reply) {
        let Thinking::Stated(fields) = self.thinking else {
            return;
        };
        let Some(said) = fields::said(ask, fields, reply) else {
            return;
        };
        let truth = (fields == Fields::Reviewing).then(|| {
            let past = self.past.last(&ask.kind);
            let answer = past.and_then(|past| past.action.as_ref());
            let answer = answer.map(|action| answer_value(&ask.form, action));
            // A round in play has paid nothing yet.
            let payoff = past.and_then(|past| past.payoff.clone());
            let of = |about: About, value: Option<Value>| {
                (about.field(&ask.kind), value.unwrap_or_default())
            };
            let known = [
                (About::PreviousAnswer, answer),
                (About::PreviousPayoff, payoff),
            ];
            let asked = fields.of(ask);
            let known = known.into_iter().filter(|(about, _)| asked.contains(about));
            known.map(|(about, value)| of(about, value)).collect()
        });
        self.note(notes::Reasons {
            round: self.narrator.round(),
            ask: ask.kind.clone(),
            said,
            truth,
        });
    }

    /// Closes the last ask: its answer becomes the past, if the game said that it counts.
    fn close(&mut self) -> Result<(), MindError> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let unsettled = || MindError::Impossible(UNSETTLED.to_owned());
        let counts = open.counts.ok_or_else(unsettled)?;
        let counted = open.action.filter(|_| counts);
        let reminder = self.narrator.recall(&open.ask, counted.is_some());
        let reminder = reminder?;
        self.past.answered(open.ask.kind.clone(), counted.clone());
        let whole = self
            .settings
            .explain
            .then(|| reading::said_or_whole(&open.reply));
        let whole = whole.filter(|said| !said.is_empty());
        let answer = counted.map(|action| match (whole, self.wants_json()) {
            (Some(said), _) => said.to_owned(),
            (None, true) => structured(&open.ask.kind, &open.ask.form, &action),
            (None, false) => in_words(&open.ask.form, &action),
        });
        self.memory.close(reminder, answer);
        Ok(())
    }
}

/// How many past rounds a game wants its players to be shown, if it says so.
fn remembered(event: &SeenEvent) -> Option<u32> {
    if event.kind != BRIEFING {
        return None;
    }
    u32::try_from(event.fact("history")?.integer()?).ok()
}
