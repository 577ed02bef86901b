//! The agent of a seat where a person sits: it tells what a model would be told, without
//! demands on the form of a reply, and puts the ask as it is. With a stand-in it says
//! beside the question what that rule player would answer, for whoever keeps the
//! person's time; it decides nothing by itself and knows no clock.

use std::borrow::Cow;
use std::sync::Arc;

use agon_engine::session::STRATEGY;
use agon_engine::view::SeenEvent;
use agon_engine::{
    Action, Ask, Audience, Chance, Event, Foul, Rule, Seat, SessionSpec, View, registry,
};
use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::agent::{Agent, Note};
use crate::dialogue::{Dialogue, Thinking, structured};
use crate::mind::{Mind, MindError, ReplyFormat, Thought};

/// The setting that names the stand-in.
pub const STAND_IN: &str = "stand_in";

/// The keyword of JSON Schema under which the stand-in's answer is found.
pub const DEFAULT: &str = "default";

/// Tells a person and takes the answer.
pub struct Person {
    dialogue: Dialogue,
    stand_in: Option<StandIn>,
}

impl Person {
    /// A person with a conversation of its own.
    pub fn new(dialogue: Dialogue, stand_in: Option<StandIn>) -> Self {
        Self { dialogue, stand_in }
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
        let mut format = self.dialogue.format(ask, Thinking::None);
        if let (Some(stand_in), Some(format)) = (&mut self.stand_in, &mut format) {
            stand_in.suggest(ask, refused.is_some(), format)?;
        }
        let reply = mind.think(Thought {
            purpose: "act",
            settings: self.dialogue.settings(),
            messages: self.dialogue.messages(ask, refused, Thinking::None)?,
            format,
        });
        Ok(self.dialogue.read(ask, reply.await?))
    }

    fn take_notes(&mut self) -> Vec<Note> {
        self.dialogue.take_notes()
    }
}

/// A rule player that answers for a person who takes too long. It sees what the seat
/// sees and has the luck of a rule player at this seat.
pub struct StandIn {
    rule: Box<dyn Rule>,
    luck: agon_engine::Generator,
    seat: Seat,
    seen: Vec<Event>,
    /// Its answer to the ask that is open; an ask is put to it once.
    open: Option<Action>,
}

impl StandIn {
    /// The stand-in that the setting names, if it does: a strategy, or a table with
    /// `strategy` and what that takes.
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
        Ok(Some(Self {
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

    /// Writes its answer into the question's form.
    fn suggest(
        &mut self,
        ask: &Ask,
        again: bool,
        format: &mut ReplyFormat,
    ) -> Result<(), MindError> {
        let kept = self.open.take().filter(|_| again);
        let action = kept.unwrap_or_else(|| {
            let view = View::new(self.seat, &self.seen);
            self.rule.act(ask, &view, &mut self.luck)
        });
        let answer = structured(ask.kind, &ask.form, &action);
        self.open = Some(action);
        let with_default = || -> Result<String, serde_json::Error> {
            let mut schema: Value = serde_json::from_str(&format.schema)?;
            let answer: Value = serde_json::from_str(&answer)?;
            schema["properties"][ask.kind][DEFAULT] = answer[ask.kind].clone();
            serde_json::to_string(&schema)
        };
        let schema = with_default().map_err(|error| MindError::Impossible(error.to_string()))?;
        format.schema = Arc::from(schema);
        Ok(())
    }
}

/// Checks the setting as far as that goes without a game.
pub(crate) fn check(own: &Map<String, Value>) -> Result<(), String> {
    own.get(STAND_IN)
        .map_or(Ok(()), |value| read(value).map(|_| ()))
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
