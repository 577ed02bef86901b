//! The agent of a seat where a person sits: it tells what a model would be told, without
//! demands on the form of a reply, and puts the ask as it is. With a deadline it hands the
//! gateway, which keeps the person's time, what a rule player would answer when time is up;
//! the question itself says nothing of that. It decides nothing by itself, knows no clock,
//! and notes when it was answered for.

use std::borrow::Cow;
use std::time::Duration;

use agon_engine::session::STRATEGY;
use agon_engine::view::SeenEvent;
use agon_engine::{
    Action, Ask, Audience, Chance, Event, Foul, Rule, Seat, SessionSpec, View, registry,
};
use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::agent::{Agent, Note, Verdict};
use crate::dialogue::{Dialogue, Thinking, structured};
use crate::harbor::World;
use crate::mind::{Mind, MindError, TIME_IS_UP, Thought, TimedAnswer};
use crate::turn::Turn;

mod buyer;

/// The agent's name.
pub const NAME: &str = "person";

/// The setting that names the stand-in.
pub const STAND_IN: &str = "stand_in";

/// The setting with the time for each answer.
pub const DEADLINE: &str = "deadline";

/// The setting with what the seat may know of the personas of its world.
pub const WORLD: &str = "world";

/// Names of a person's settings.
pub const SETTINGS: &[&str] = &[STAND_IN, DEADLINE, WORLD];

/// The kind of the note that says that a stand-in answered.
const NOTE: &str = "stand_in";

/// No deadline is shorter: time is kept in milliseconds.
const SHORTEST: Duration = Duration::from_millis(1);

/// No deadline is longer; whoever needs more needs none.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Tells a person and takes the answer.
pub struct Person {
    dialogue: Dialogue,
    stand_in: Option<StandIn>,
    notes: Vec<Note>,
}

impl Person {
    /// A person with a conversation of its own, told `preface` before the rules.
    pub fn new(dialogue: Dialogue, stand_in: Option<StandIn>, preface: String) -> Self {
        Self {
            dialogue: dialogue.with_preface(preface),
            stand_in,
            notes: Vec::new(),
        }
    }
}

#[async_trait]
impl Agent for Person {
    async fn observe(&mut self, events: &[SeenEvent], _mind: &dyn Mind) -> Result<(), MindError> {
        if let Some(stand_in) = &mut self.stand_in {
            stand_in.see(events);
        }
        self.dialogue.hear(events)
    }

    async fn act(
        &mut self,
        ask: &Ask,
        refused: Option<&Foul>,
        mind: &dyn Mind,
    ) -> Result<Result<Action, Foul>, MindError> {
        let stand_in = self.stand_in.as_mut();
        let reply = mind.think(Thought {
            purpose: "act",
            settings: self.dialogue.settings(),
            messages: self.dialogue.messages(Turn::plain(ask, refused))?,
            format: self.dialogue.format(ask, Thinking::None),
            stand_in: stand_in.map(|stand_in| stand_in.answer(ask, refused.is_some())),
        });
        let reply = reply.await?;
        if reply.finish_reason == TIME_IS_UP
            && let Some(stand_in) = &self.stand_in
        {
            self.notes.push(Note {
                kind: NOTE,
                body: json!({
                    "ask": ask.kind,
                    "strategy": stand_in.name,
                    "reason": TIME_IS_UP,
                    "deadline": in_words(stand_in.after),
                }),
            });
        }
        Ok(self.dialogue.read(ask, reply))
    }

    fn settle(&mut self, verdict: &Verdict) {
        self.dialogue.settle(verdict);
    }

    fn take_notes(&mut self) -> Vec<Note> {
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(self.dialogue.take_notes());
        notes
    }
}

/// A rule player that answers for a person who takes too long. It sees what the seat
/// sees and has the luck of a rule player at this seat.
pub struct StandIn {
    /// Name of the strategy.
    name: String,
    /// Time for each answer.
    after: Duration,
    rule: Box<dyn Rule>,
    luck: agon_engine::Generator,
    seat: Seat,
    seen: Vec<Event>,
    /// Its answer to the ask that is open; an ask is put to it once.
    open: Option<Action>,
}

impl StandIn {
    /// The stand-in that the setting names, a strategy, or a table with `strategy` and what
    /// that takes. None where nobody is ever late: without a deadline.
    ///
    /// # Errors
    /// The game has no such strategy; says what there is.
    pub fn of(
        own: &Map<String, Value>,
        session: &SessionSpec,
        seat: Seat,
    ) -> Result<Option<Self>, String> {
        let Some(value) = own.get(STAND_IN) else {
            return Ok(None);
        };
        let (strategy, settings) = read(value)?;
        let registration = registry::find(&session.game).map_err(|error| error.to_string())?;
        let built = (registration.build)(&session.params).map_err(|error| error.to_string())?;
        let rule = built.game.rule(&strategy, &settings, seat);
        let rule = rule.map_err(|error| format!("{STAND_IN}: {error}"))?;
        Ok(deadline(own)?.map(|after| Self {
            name: strategy,
            after,
            rule,
            luck: Chance::seeded(session.luck).for_rule(seat),
            seat,
            seen: Vec::new(),
            open: None,
        }))
    }

    fn see(&mut self, events: &[SeenEvent]) {
        self.seen.extend(events.iter().map(as_event));
    }

    /// What it answers when time is up; the same to an ask that is put again.
    fn answer(&mut self, ask: &Ask, again: bool) -> TimedAnswer {
        let kept = self.open.take().filter(|_| again);
        let action = kept.unwrap_or_else(|| {
            let view = View::new(self.seat, &self.seen);
            self.rule.act(ask, &view, &mut self.luck)
        });
        let reply = structured(ask.kind, &ask.form, &action);
        self.open = Some(action);
        TimedAnswer {
            after: self.after,
            name: self.name.clone(),
            reply,
        }
    }
}

/// What a person is told before the rules: who it is in its world, and who the others are, as
/// far as its setting `world` says that. Settings were checked by [`check`].
pub(crate) fn preface(own: &Map<String, Value>, seat: Seat) -> String {
    let world = World::of(own).unwrap_or_default();
    buyer::words(&world, seat)
}

/// Checks the settings as far as that goes without a game.
pub(crate) fn check(own: &Map<String, Value>) -> Result<(), String> {
    World::of(own)?;
    let timed = deadline(own)?.is_some();
    match own.get(STAND_IN) {
        Some(value) => read(value).map(|_| ()),
        None if timed => Err(format!(
            "{DEADLINE} needs a {STAND_IN}, who answers when time is up, as {STAND_IN} = \"equilibrium\""
        )),
        None => Ok(()),
    }
}

/// The time for each answer, if it is limited.
fn deadline(own: &Map<String, Value>) -> Result<Option<Duration>, String> {
    let Some(value) = own.get(DEADLINE) else {
        return Ok(None);
    };
    let time = value
        .as_str()
        .and_then(|text| humantime::parse_duration(text).ok())
        .filter(|time| *time >= SHORTEST && *time <= LONGEST);
    time.map(Some).ok_or_else(|| {
        format!(
            "{DEADLINE} must be a time from {} to {}, as \"90s\" or \"2m\"",
            in_words(SHORTEST),
            in_words(LONGEST)
        )
    })
}

fn in_words(time: Duration) -> String {
    humantime::format_duration(time).to_string()
}

/// The strategy and its settings.
fn read(value: &Value) -> Result<(String, Map<String, Value>), String> {
    if let Some(strategy) = value.as_str() {
        return Ok((strategy.to_owned(), Map::new()));
    }
    let table = value.as_object();
    let strategy = table.and_then(|table| table.get(STRATEGY)?.as_str());
    match (table, strategy) {
        (Some(table), Some(strategy)) => {
            let own = table.iter().filter(|(name, _)| *name != STRATEGY);
            let own = own.map(|(name, value)| (name.clone(), value.clone()));
            Ok((strategy.to_owned(), own.collect()))
        }
        _ => Err(format!(
            "{STAND_IN} must be a strategy of the game, or {{ {STRATEGY} = \"..\" }} with its settings"
        )),
    }
}

/// What was seen, as an event that a view can be made of. Where a column of the seat's
/// own has the name of a shared fact, it comes after that and counts.
fn as_event(seen: &SeenEvent) -> Event {
    let mut facts: Vec<(Cow<'static, str>, agon_engine::Value)> = Vec::new();
    for (name, value) in &seen.facts {
        match facts.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value.clone(),
            None => facts.push((Cow::Owned(name.clone()), value.clone())),
        }
    }
    Event {
        kind: Cow::Owned(seen.kind.clone()),
        round: seen.round,
        audience: Audience::Everyone,
        facts,
        own: Vec::new(),
        hidden: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
