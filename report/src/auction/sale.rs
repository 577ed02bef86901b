//! A finished auction as its measures need it: items in order of sale with what was bid for them,
//! personas, and the notes of bidders. Reads what the game wrote down and computes nothing.

use agon_engine::record::StoredRecord;
use agon_engine::{Event, Seat, Value};
use serde_json::Value as Json;

use super::ENGLISH_AUCTION;

/// What the measures need of a finished auction.
pub(super) struct Auction<'a> {
    record: &'a StoredRecord,
    /// True personas by seat; empty where the game has none.
    personas: Vec<Vec<&'a str>>,
    /// In order of sale.
    pub items: Vec<Item<'a>>,
}

/// One item of it.
pub(super) struct Item<'a> {
    pub name: &'a str,
    /// As announced, before any discount.
    pub starting_price: i64,
    pub true_value: i64,
    /// Personas that it suits.
    suits: Vec<&'a str>,
    /// Accepted bids for it by seat.
    pub engagements: &'a [f64],
    /// Who won it, and at which price.
    pub sold: Option<(Seat, i64)>,
}

impl<'a> Auction<'a> {
    /// `None` for a record of another game, and for one that lacks what every finished auction
    /// has.
    pub fn read(record: &'a StoredRecord) -> Option<Self> {
        if record.spec.game != ENGLISH_AUCTION {
            return None;
        }
        let mut auction = Self {
            record,
            personas: Vec::new(),
            items: Vec::new(),
        };
        auction.event("auction_over")?;
        let briefing = auction.briefing()?;
        let seats = record.spec.seats.len();
        let Value::List(names) = briefing.get("items")? else {
            return None;
        };
        let prices = briefing.get("starting_prices")?.integers()?;
        let values = briefing.get("true_values")?.integers()?;
        let suits = word_lists(briefing.get("suits"));
        let engagements = record.measures.series.get("engagements")?;
        let items = names.iter().enumerate().map(|(place, name)| {
            Some(Item {
                name: name.text()?,
                starting_price: *prices.get(place)?,
                true_value: *values.get(place)?,
                suits: suits.get(place).cloned().unwrap_or_default(),
                engagements: engagements.get(place * seats..(place + 1) * seats)?,
                sold: sold(record, place, seats),
            })
        });
        auction.items = items.collect::<Option<_>>()?;
        auction.personas = word_lists(briefing.get("personas"));
        Some(auction)
    }

    fn event(&self, kind: &str) -> Option<&'a Event> {
        self.record.events.iter().find(|event| event.kind == kind)
    }

    /// What everybody was told at first.
    pub fn briefing(&self) -> Option<&'a Event> {
        self.event("briefing")
    }

    /// Notes of a kind with whose they are, in the order of the record.
    pub fn notes(&self, kind: &str) -> impl Iterator<Item = (Seat, &'a Json)> {
        let (notes, seats) = (self.record.notes.iter(), self.record.spec.seats.len());
        notes
            .filter(move |note| note.note == kind && note.seat < seats)
            .map(|note| (note.seat, &note.body))
    }

    /// The true personas of a seat; none for a seat without.
    pub fn personas(&self, seat: Seat) -> &[&'a str] {
        self.personas.get(seat).map_or(&[], Vec::as_slice)
    }

    /// Whether an item suits one of a seat's personas.
    pub fn matches(&self, item: &Item<'_>, seat: Seat) -> bool {
        let personas = self.personas(seat);
        item.suits.iter().any(|name| personas.contains(name))
    }
}

/// Lists of words by place; empty where the game has none.
fn word_lists(fact: Option<&Value>) -> Vec<Vec<&str>> {
    let Some(Value::List(lists)) = fact else {
        return Vec::new();
    };
    lists.iter().map(|list| words(Some(list))).collect()
}

/// Words by place; empty where there is no list.
pub(super) fn words(fact: Option<&Value>) -> Vec<&str> {
    let Some(Value::List(words)) = fact else {
        return Vec::new();
    };
    words.iter().filter_map(Value::text).collect()
}

/// Winner and price of the item at this place; rounds of events count items from 1.
fn sold(record: &StoredRecord, place: usize, seats: usize) -> Option<(Seat, i64)> {
    let mut events = record.events.iter();
    let hammer =
        events.find(|event| event.kind == "hammer" && event.round as usize == place + 1)?;
    let integer = |event: &Event, name: &str| event.get(name)?.integer();
    let winner = Seat::try_from(integer(hammer, "winner")?).ok()?;
    (winner < seats).then_some((winner, integer(hammer, "price")?))
}
