//! The agent of a seat where a person sits: it tells what a model would be told, without
//! demands on the form of a reply, and puts the ask as it is. With a deadline it hands the
//! gateway, which keeps the person's time, what a rule player would answer when time is up;
//! the question itself says nothing of that. It decides nothing by itself, knows no clock,
//! and notes when it was answered for.

use std::sync::Arc;
use std::time::Duration;

use agon_engine::session::STRATEGY;
use agon_engine::view::SeenEvent;
use agon_engine::{Ask, Seat, SeatView, SessionSpec};
use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::agent::Answer;
use crate::agents::world::{self, World};
use crate::dialogue::{Dialogue, Turn};
use crate::forms::structured;
use crate::info::{AgentInfo, OwnSettings, Seating};
use crate::mind::{Mind, MindError, TIME_IS_UP, Thought, TimedAnswer};
use crate::notes;
use crate::settings::{PlayerSettings, ReplyStyle};
use crate::turn::Converses;
use crate::understudy::Understudy;

mod buyer;

/// What there is to know of it.
pub const INFO: AgentInfo = AgentInfo {
    settings: &[STAND_IN, DEADLINE, world::SETTING],
    converses: false,
    check,
    ..AgentInfo::conversing(
        "person",
        "tells a person at a door what there is to know, and takes the answer",
        |seating| Ok(Box::new(Person::new(&seating)?)),
    )
};

/// The setting that names the stand-in.
const STAND_IN: &str = "stand_in";

/// The setting with the time for each answer.
const DEADLINE: &str = "deadline";

/// No deadline is shorter: time is kept in milliseconds.
const SHORTEST: Duration = Duration::from_millis(1);

/// No deadline is longer; whoever needs more needs none.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3_600);

/// Checks the time that a person has for each answer.
///
/// # Errors
/// It is too short or too long; says how one is written.
pub fn check_deadline(time: Duration) -> Result<(), String> {
    match (SHORTEST..=LONGEST).contains(&time) {
        true => Ok(()),
        false => Err(no_deadline()),
    }
}

fn no_deadline() -> String {
    format!(
        "{DEADLINE} must be a time from {} to {}, as \"90s\" or \"2m\"",
        in_words(SHORTEST),
        in_words(LONGEST)
    )
}

/// Tells a person and takes the answer.
struct Person {
    dialogue: Dialogue,
    stand_in: Option<StandIn>,
    /// What the seat has seen, for the pages on which a person plays.
    seen: Option<Arc<SeatView>>,
}

impl Person {
    fn new(seating: &Seating<'_>) -> Result<Self, String> {
        let settings = PlayerSettings {
            reply: ReplyStyle::Typed,
            ..seating.settings.clone()
        };
        let typed = Seating {
            settings: &settings,
            ..*seating
        };
        let stand_in = seating.session.map(|session| {
            let own = &settings.own;
            StandIn::of(own, session, seating.seat)
        });
        let preface = buyer::words(&World::of(&settings.own)?, seating.seat);
        let seen = seating.session.map(|session| {
            let seats = session.seats.len();
            Arc::new(SeatView::new(&seating.game.name, seating.seat, seats))
        });
        Ok(Self {
            dialogue: typed.dialogue().with_preface(preface),
            stand_in: stand_in.transpose()?.flatten(),
            seen,
        })
    }
}

#[async_trait]
impl Converses for Person {
    fn dialogue(&mut self) -> &mut Dialogue {
        &mut self.dialogue
    }

    fn heard(&mut self, events: &[SeenEvent]) -> Result<(), MindError> {
        if let Some(stand_in) = &mut self.stand_in {
            stand_in.understudy.see(events);
        }
        if let Some(seen) = &mut self.seen {
            Arc::make_mut(seen).see(events);
        }
        Ok(())
    }

    async fn answer(&mut self, turn: Turn<'_>, mind: &dyn Mind) -> Result<Answer, MindError> {
        let (ask, is_again) = (turn.ask, turn.refused.is_some());
        if let Some(seen) = &mut self.seen {
            Arc::make_mut(seen).refused = turn.refused.cloned();
        }
        let stand_in = self.stand_in.as_mut();
        let thought = Thought {
            stand_in: stand_in.map(|stand_in| stand_in.answer(ask, is_again)),
            seen: self.seen.clone(),
            ..self.dialogue.thought("act", turn)?
        };
        let reply = mind.think(thought).await?;
        if reply.finish_reason == TIME_IS_UP
            && let Some(stand_in) = &self.stand_in
        {
            self.dialogue.note(notes::StandIn {
                ask: ask.kind.clone(),
                strategy: stand_in.name.clone(),
                reason: TIME_IS_UP,
                deadline: in_words(stand_in.after),
            });
        }
        Ok(self.dialogue.read(ask, reply))
    }
}

/// A rule player that answers for a person who takes too long. It sees what the seat
/// sees and has the luck of a rule player at this seat.
struct StandIn {
    /// Name of the strategy.
    name: String,
    /// Time for each answer.
    after: Duration,
    understudy: Understudy,
}

impl StandIn {
    /// The stand-in that the setting names, a strategy, or a table with `strategy` and what
    /// that takes. None where nobody is ever late: without a deadline.
    ///
    /// # Errors
    /// The game has no such strategy; says what there is.
    fn of(own: &OwnSettings, session: &SessionSpec, seat: Seat) -> Result<Option<Self>, String> {
        let Some(value) = own.get(STAND_IN) else {
            return Ok(None);
        };
        let (name, settings) = read(value)?;
        let understudy = Understudy::playing(&name, &settings, session, seat);
        let understudy = understudy.map_err(|error| format!("{STAND_IN}: {error}"))?;
        Ok(deadline(own)?.map(|after| Self {
            name,
            after,
            understudy,
        }))
    }

    /// What it answers when time is up; the same to an ask that is put again.
    fn answer(&mut self, ask: &Ask, again: bool) -> TimedAnswer {
        let action = self.understudy.answer(ask, again);
        TimedAnswer {
            after: self.after,
            name: self.name.clone(),
            reply: structured(&ask.kind, &ask.form, &action),
        }
    }
}

/// Checks the settings as far as that goes without a game.
fn check(own: &OwnSettings) -> Result<(), String> {
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
fn deadline(own: &OwnSettings) -> Result<Option<Duration>, String> {
    let Some(value) = own.get(DEADLINE) else {
        return Ok(None);
    };
    let time = value.as_str().map(humantime::parse_duration);
    let time = time.and_then(Result::ok).ok_or_else(no_deadline)?;
    check_deadline(time).map(|()| Some(time))
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

#[cfg(test)]
mod tests;
