//! An event as it is seen by everybody who reads the record, or by one seat in play: the only door from
//! events to boards. A seat sees shared facts and its own entries of columns, nothing hidden.

use agon_engine::{Event, Seat, Value, View};

/// An event with its viewer.
pub struct Seen<'a> {
    event: &'a Event,
    viewer: Option<Seat>,
}

impl<'a> Seen<'a> {
    /// The event, if its viewer could see it; without a viewer all of it.
    pub fn new(event: &'a Event, viewer: Option<Seat>) -> Option<Self> {
        let is_seen = viewer.is_none_or(|seat| {
            let view = View::new(seat, std::slice::from_ref(event));
            view.sights().next().is_some()
        });
        is_seen.then_some(Self { event, viewer })
    }

    /// Its kind.
    pub fn kind(&self) -> &str {
        &self.event.kind
    }

    /// Its round.
    pub fn round(&self) -> u32 {
        self.event.round
    }

    /// A fact that the whole audience saw; without a viewer a hidden one as well.
    pub fn fact(&self, name: &str) -> Value {
        let facts = self.event.facts.iter();
        let hidden = self.event.hidden.iter();
        let hidden = hidden.filter(|_| self.viewer.is_none());
        let found = facts.chain(hidden).find(|(known, _)| known == name);
        found.map_or(Value::Nothing, |(_, value)| value.clone())
    }

    /// A number among the facts.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.fact(name).number()
    }

    /// A text among the facts.
    pub fn text(&self, name: &str) -> Option<String> {
        self.fact(name).text().map(str::to_owned)
    }

    /// A seat among the facts.
    pub fn seat(&self, name: &str) -> Option<Seat> {
        self.fact(name).integer()?.try_into().ok()
    }

    /// Seats among the facts; none where there is no such list.
    pub fn seats(&self, name: &str) -> Vec<Seat> {
        let list = self.fact(name);
        let seats = list.integers().unwrap_or_default().iter();
        seats.filter_map(|seat| (*seat).try_into().ok()).collect()
    }

    /// Whether a list with one entry per seat is among what is seen; without a viewer also among what is
    /// hidden.
    pub fn has(&self, name: &str) -> bool {
        let (own, facts) = (self.event.own.iter(), self.event.facts.iter());
        let hidden = self.event.hidden.iter();
        let hidden = hidden.filter(|_| self.viewer.is_none());
        own.chain(facts)
            .chain(hidden)
            .any(|(known, _)| known == name)
    }

    /// What a list with one entry per seat says of one: a shared list of everybody, a column of the
    /// viewer alone.
    pub fn of(&self, name: &str, seat: Seat) -> Value {
        let own = self.event.own.iter().find(|(known, _)| known == name);
        match own {
            Some((_, column)) if self.viewer.is_none_or(|viewer| viewer == seat) => {
                column.entry(seat)
            }
            _ => self.fact(name).entry(seat),
        }
    }

    /// A number of one seat.
    pub fn number_of(&self, name: &str, seat: Seat) -> Option<f64> {
        self.of(name, seat).number()
    }

    /// Whether something is so for one seat.
    pub fn is_so_for(&self, name: &str, seat: Seat) -> bool {
        self.of(name, seat).flag() == Some(true)
    }

    /// A text of one seat.
    pub fn text_of(&self, name: &str, seat: Seat) -> Option<String> {
        self.of(name, seat).text().map(str::to_owned)
    }

    /// Everything that is said, by name.
    pub fn facts(&self) -> impl Iterator<Item = (&'a str, &'a Value)> + use<'a> {
        let facts = self.event.facts.iter();
        facts.map(|(name, value)| (&**name, value))
    }
}

/// A number among a game's parameters.
pub fn parameter(params: &agon_engine::spec::Settings, name: &str) -> Option<f64> {
    params.get(name)?.as_f64()
}
