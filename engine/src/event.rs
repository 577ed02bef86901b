//! What happened, and who may know it.
//!
//! An [`Event`] has three sections: `facts` that all of its audience see, `own`
//! columns of which each seat sees only its own entry, and `hidden` facts that
//! stay in the record. A report to ten players is one event, not ten, and a
//! column is at once the series that measures and figures need.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::de::MapAccess;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ask::Seat;
use crate::names::Name;

mod value;

pub use value::Value;
pub(crate) use value::check_finite;

/// A named list of values, in the order in which the game stated them.
pub type Facts = Vec<(Name, Value)>;

/// Something that happened in a game.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// What kind of event ("briefing", "round_result"); also the name of the
    /// template that tells a model about it.
    pub kind: Name,
    /// Round or turn in which it happened, from 1; 0 before the first.
    pub round: u32,
    /// Who may see it at all.
    pub audience: Audience,
    /// Seen by the whole audience.
    pub facts: Facts,
    /// Columns with one entry per seat; a seat of the audience sees its own.
    pub own: Facts,
    /// Seen by nobody in play; for measures and readers of the record.
    pub hidden: Facts,
}

/// Who may see an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    /// Every seat.
    Everyone,
    /// These seats.
    Only(Vec<Seat>),
}

impl Audience {
    /// Whether a seat belongs to it.
    pub fn includes(&self, seat: Seat) -> bool {
        match self {
            Self::Everyone => true,
            Self::Only(seats) => seats.contains(&seat),
        }
    }
}

impl Event {
    /// An event for everyone, without facts yet.
    pub fn new(kind: impl Into<Name>, round: u32) -> Self {
        Self {
            kind: kind.into(),
            round,
            audience: Audience::Everyone,
            facts: Vec::new(),
            own: Vec::new(),
            hidden: Vec::new(),
        }
    }

    /// Limits the audience.
    #[must_use]
    pub fn only_for(mut self, seats: Vec<Seat>) -> Self {
        self.audience = Audience::Only(seats);
        self
    }

    /// Adds a fact that the whole audience sees.
    #[must_use]
    #[inline]
    pub fn fact(mut self, name: impl Into<Name>, value: impl Into<Value>) -> Self {
        self.facts.push((name.into(), value.into()));
        self
    }

    /// Adds a column, one entry per seat of the game, in seat order.
    #[must_use]
    #[inline]
    pub fn own(mut self, name: impl Into<Name>, column: impl Into<Value>) -> Self {
        self.own.push((name.into(), column.into()));
        self
    }

    /// Adds a fact for the record alone.
    #[must_use]
    #[inline]
    pub fn hidden(mut self, name: impl Into<Name>, value: impl Into<Value>) -> Self {
        self.hidden.push((name.into(), value.into()));
        self
    }

    /// Any fact or column by name, hidden ones included. For measures only:
    /// players look through [`crate::View`].
    pub fn get(&self, name: &str) -> Option<&Value> {
        let sections = [&self.facts, &self.own, &self.hidden];
        sections.into_iter().find_map(|facts| find(facts, name))
    }
}

/// The fact of a name among some.
pub(crate) fn find<'a>(facts: &'a Facts, name: &str) -> Option<&'a Value> {
    let found = facts.iter().find(|(found, _)| found == name);
    found.map(|(_, value)| value)
}

impl Event {
    /// Checks that it could happen in a game of so many seats: columns with an entry for each, an
    /// audience in order, different names, finite numbers.
    ///
    /// # Errors
    /// It could not; says why.
    pub fn check(&self, seats: usize) -> Result<(), String> {
        let kind = &self.kind;
        if let Some((name, column)) = self.own.iter().find(|(_, column)| column.len() != seats) {
            let entries = column.len();
            return Err(format!(
                "{kind}: column {name} has {entries} entries, not {seats}"
            ));
        }
        if let Audience::Only(audience) = &self.audience {
            let legal = audience.iter().all(|seat| *seat < seats) && !audience.is_empty();
            if !legal || !audience.windows(2).all(|pair| pair[0] < pair[1]) {
                return Err(format!(
                    "{kind}: audience {audience:?} is not a list of seats in order"
                ));
            }
        }
        let sections = [&self.facts, &self.own, &self.hidden];
        let mut names = BTreeSet::new();
        for (name, value) in sections.into_iter().flatten() {
            if !names.insert(name) {
                return Err(format!("{kind}: two facts are called {name}"));
            }
            if !value.is_finite() {
                return Err(format!("{kind}: {name} is not finite"));
            }
        }
        Ok(())
    }
}

/// Facts by name and type, hidden ones included, as [`Event::get`] finds them.
impl Event {
    /// A whole number.
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.get(name)?.integer()
    }

    /// A number, whole or real.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.number()
    }

    /// A list of whole numbers; empty where there is none.
    pub fn integers(&self, name: &str) -> &[i64] {
        let list = self.get(name).and_then(Value::integers);
        list.unwrap_or_default()
    }

    /// The numbers of a column; empty where there is none.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        self.get(name).map(Value::numbers).unwrap_or_default()
    }

    /// The whole number at a seat's place of a column.
    pub fn integer_at(&self, name: &str, seat: Seat) -> Option<i64> {
        self.get(name)?.integer_at(seat)
    }

    /// The number at a seat's place of a column, whole or real.
    pub fn number_at(&self, name: &str, seat: Seat) -> Option<f64> {
        self.get(name)?.number_at(seat)
    }

    /// A seat's entry of a column; nothing where there is none.
    pub fn entry(&self, name: &str, seat: Seat) -> Value {
        let column = self.get(name);
        column.map_or(Value::Nothing, |column| column.entry(seat))
    }
}

/// The events of a session, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventLog {
    events: Vec<Event>,
}

impl EventLog {
    /// Appends an event.
    pub fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// All events.
    pub fn all(&self) -> &[Event] {
        &self.events
    }

    /// All events, taken out.
    pub(crate) fn into_all(self) -> Vec<Event> {
        self.events
    }

    /// The events of one kind.
    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl DoubleEndedIterator<Item = &'a Event> {
        self.events.iter().filter(move |event| event.kind == kind)
    }

    /// The first event of one kind in a round.
    pub fn of_round(&self, kind: &str, round: u32) -> Option<&Event> {
        let mut events = self.events.iter();
        events.find(|event| event.kind == kind && event.round == round)
    }
}

impl From<Vec<Event>> for EventLog {
    fn from(events: Vec<Event>) -> Self {
        Self { events }
    }
}

/// The facts as a map, in order.
struct AsMap<'a>(&'a Facts);

impl Serialize for AsMap<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("event", &self.kind)?;
        map.serialize_entry("round", &self.round)?;
        if let Audience::Only(seats) = &self.audience {
            map.serialize_entry("to", seats)?;
        }
        let sections = [
            ("facts", &self.facts),
            ("own", &self.own),
            ("hidden", &self.hidden),
        ];
        for (name, facts) in sections {
            if !facts.is_empty() {
                map.serialize_entry(name, &AsMap(facts))?;
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw {
            event: String,
            round: u32,
            to: Option<Vec<Seat>>,
            #[serde(default)]
            facts: OrderedFacts,
            #[serde(default)]
            own: OrderedFacts,
            #[serde(default)]
            hidden: OrderedFacts,
        }
        let raw = Raw::deserialize(deserializer)?;
        Ok(Self {
            kind: Cow::Owned(raw.event),
            round: raw.round,
            audience: raw.to.map_or(Audience::Everyone, Audience::Only),
            facts: raw.facts.0,
            own: raw.own.0,
            hidden: raw.hidden.0,
        })
    }
}

/// Reads a map without losing its order.
#[derive(Default)]
struct OrderedFacts(Facts);

impl<'de> Deserialize<'de> for OrderedFacts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = OrderedFacts;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a map of facts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OrderedFacts, A::Error> {
                let mut facts = Facts::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    facts.push((Cow::Owned(name), value));
                }
                Ok(OrderedFacts(facts))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}
