//! What the measures need of one auction's record, in one shape: items in order of sale
//! with what was bid for them. Reads what the game wrote down and computes nothing that
//! it already did.

use agon_engine::record::StoredRecord;
use agon_engine::{Event, Seat, Value};
use serde_json::Value as Json;

use super::ENGLISH_AUCTION;
use crate::basis::SessionAnswers;

/// One finished auction.
pub(super) struct Auction<'a> {
    pub record: &'a StoredRecord,
    /// Names by seat.
    pub players: Vec<&'a str>,
    /// Who answered.
    pub answers: SessionAnswers,
    /// By seat, whether its player answered enough to be measured.
    measured: Vec<bool>,
    /// What each seat is out for: `maximize_profit` or `maximize_items`.
    objectives: Vec<&'a str>,
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
    /// `None` for a record of another game, and for one that lacks what every finished
    /// auction has.
    pub fn read(record: &'a StoredRecord) -> Option<Self> {
        if record.spec.game != ENGLISH_AUCTION {
            return None;
        }
        let event = |kind: &str| record.events.iter().find(|event| event.kind == kind);
        event("auction_over")?;
        let briefing = event("briefing")?;
        let seats = record.spec.seats.len();
        let answers = SessionAnswers::of(record);
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
        Some(Self {
            record,
            players: record.spec.seats.iter().map(|seat| &*seat.name).collect(),
            measured: answers.measured_seats(&record.spec.seats),
            answers,
            objectives: words(briefing.get("objective")),
            personas: word_lists(briefing.get("personas")),
            items: items.collect::<Option<_>>()?,
        })
    }

    /// Notes of a kind with whose they are, in the order of the record.
    pub fn notes(&self, kind: &str) -> impl Iterator<Item = (Seat, &'a Json)> {
        let notes = self.record.notes.iter();
        let seats = self.players.len();
        notes
            .filter(move |note| note.note == kind && note.seat < seats)
            .map(|note| (note.seat, &note.body))
    }

    /// What a seat is out for; `None` where the record does not say.
    pub fn objective(&self, seat: Seat) -> Option<&'a str> {
        self.objectives.get(seat).copied()
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

    /// Whether the player of a seat answered enough to be measured.
    pub fn is_measured(&self, seat: Seat) -> bool {
        self.measured.get(seat).copied().unwrap_or(false)
    }

    /// The seats of such players.
    pub fn measured_seats(&self) -> impl Iterator<Item = (Seat, &'a str)> {
        let players = self.players.iter().copied().enumerate();
        players.filter(|(seat, _)| self.is_measured(*seat))
    }

    /// A number of a seat that the game wrote down at the end.
    pub fn number(&self, series: &str, seat: Seat) -> Option<f64> {
        let series = self.record.measures.series.get(series)?;
        series.get(seat).copied()
    }

    /// The same of what is counted; 0 where nothing was. A forged record may say anything; no
    /// auction has so many actions that their sums would overflow.
    pub fn count(&self, series: &str, seat: Seat) -> u64 {
        let count = self.number(series, seat).map_or(0, |count| count as u64);
        count.min(u64::from(u32::MAX))
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
fn words(fact: Option<&Value>) -> Vec<&str> {
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
