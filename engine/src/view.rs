//! What one seat may know: the only door from a session's log to a player.
//!
//! A [`View`] walks the events that a seat may see; a [`Sight`] is one of them,
//! with the shared facts and the seat's own column entries and nothing else.
//! Prompts, rule players and people all look through it.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::ask::Seat;
use crate::event::{self, Event, Facts, Value};

/// The events that one seat may see.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    seat: Seat,
    events: &'a [Event],
}

impl<'a> View<'a> {
    /// The view of a seat on a session's events.
    pub fn new(seat: Seat, events: &'a [Event]) -> Self {
        Self { seat, events }
    }

    /// Whose view it is.
    pub fn seat(&self) -> Seat {
        self.seat
    }

    /// What the seat may see, oldest first.
    pub fn sights(&self) -> impl DoubleEndedIterator<Item = Sight<'a>> + use<'a> {
        let seat = self.seat;
        self.events
            .iter()
            .filter(move |event| event.audience.includes(seat))
            .map(move |event| Sight { seat, event })
    }

    /// What the seat may see of one kind, oldest first.
    pub fn of_kind(&self, kind: &'a str) -> impl DoubleEndedIterator<Item = Sight<'a>> + use<'a> {
        self.sights().filter(move |sight| sight.event.kind == kind)
    }

    /// The newest sight of one kind.
    pub fn latest(&self, kind: &'a str) -> Option<Sight<'a>> {
        self.of_kind(kind).next_back()
    }

    /// The first sight of one kind.
    pub fn first(&self, kind: &'a str) -> Option<Sight<'a>> {
        self.of_kind(kind).next()
    }
}

/// One event as one seat sees it.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    seat: Seat,
    event: &'a Event,
}

impl<'a> Sight<'a> {
    /// What kind of event it is.
    pub fn kind(&self) -> &'a str {
        &self.event.kind
    }

    /// The round it happened in.
    pub fn round(&self) -> u32 {
        self.event.round
    }

    /// Whose sight it is.
    pub fn seat(&self) -> Seat {
        self.seat
    }

    /// A fact by name: shared, or the seat's own entry of a column. A column
    /// shadows a shared fact of the same name.
    pub fn fact(&self, name: &str) -> Option<Value> {
        match self.column(name) {
            Some(column) => Some(column.entry(self.seat)),
            None => self.shared(name).cloned(),
        }
    }

    /// A fact that is a whole number.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.column(name) {
            Some(column) => column.integer_at(self.seat),
            None => self.shared(name)?.integer(),
        }
    }

    /// A fact that is a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.column(name) {
            Some(column) => column.number_at(self.seat),
            None => self.shared(name)?.number(),
        }
    }

    /// A fact that is a flag.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.fact(name)?.flag()
    }

    /// A shared fact, without copying it.
    pub fn shared(&self, name: &str) -> Option<&'a Value> {
        event::find(&self.event.facts, name)
    }

    fn column(&self, name: &str) -> Option<&'a Value> {
        event::find(&self.event.own, name)
    }

    /// A shared fact that is a list of whole numbers, without copying it.
    pub fn integers(&self, name: &str) -> Option<&'a [i64]> {
        self.shared(name)?.integers()
    }

    /// Every fact of the sight, shared ones first.
    pub fn facts(&self) -> impl Iterator<Item = (&'a str, Value)> + use<'a> {
        let seat = self.seat;
        let shared = self
            .event
            .facts
            .iter()
            .map(|(name, value)| (&**name, value.clone()));
        let own = self
            .event
            .own
            .iter()
            .map(move |(name, column)| (&**name, column.entry(seat)));
        shared.chain(own)
    }

    /// The sight as an event of its own, for sending it to the seat's player.
    pub fn to_event(&self) -> SeenEvent {
        SeenEvent {
            kind: self.kind().to_owned(),
            round: self.round(),
            facts: self
                .facts()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            shared: self.event.facts.len(),
        }
    }
}

/// What a player is told of an event: nothing in it is anybody else's.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenEvent {
    /// What kind of event.
    pub kind: String,
    /// The round it happened in.
    pub round: u32,
    /// Shared facts first, then the seat's own.
    pub facts: Vec<(String, Value)>,
    /// How many of them are shared.
    pub shared: usize,
}

impl SeenEvent {
    /// A fact by name; the seat's own shadows a shared one.
    pub fn fact(&self, name: &str) -> Option<&Value> {
        self.facts
            .iter()
            .rev()
            .find(|(found, _)| found == name)
            .map(|(_, value)| value)
    }

    /// The event as the seat saw it in the form of a record, but for its own facts: these are
    /// its values alone and no columns.
    pub fn of_seat(&self, seat: Seat) -> Event {
        let (shared, own) = self.facts.split_at(self.shared.min(self.facts.len()));
        let named = |facts: &[(String, Value)]| -> Facts {
            let facts = facts.iter().cloned();
            facts.map(|(name, value)| (name.into(), value)).collect()
        };
        Event {
            facts: named(shared),
            own: named(own),
            ..Event::new(self.kind.clone(), self.round).only_for(vec![seat])
        }
    }
}

impl Serialize for SeenEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("event", &self.kind)?;
        map.serialize_entry("round", &self.round)?;
        for (name, value) in &self.facts {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
