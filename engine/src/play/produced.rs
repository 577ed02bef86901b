//! How much a play has produced, in the terms of [`Extent`]: values and tables as its record
//! counts them, bytes at least. Never more than the record holds, so that whatever exceeds it
//! exceeds the record. Counted by [`crate::Play`] turn by turn, each entry once.

use crate::ask::{Action, Form};
use crate::chance::Draw;
use crate::event::{Audience, Event, Facts, Value};
use crate::extent::Extent;
use crate::moves::Move;
use crate::outside::RecordedReply;

/// Keys of a move that has neither an action nor fouls: turn, seat, ask.
const MOVE_KEYS: u64 = 3;

/// What was counted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Produced {
    /// How much it is.
    pub extent: Extent,
    moves: usize,
    events: usize,
    draws: usize,
}

impl Produced {
    /// Adds what has come since the last time.
    pub fn count(&mut self, moves: &[Move], events: &[Event], draws: &[Draw]) {
        moves[self.moves..].iter().for_each(|made| self.made(made));
        events[self.events..]
            .iter()
            .for_each(|event| self.event(event));
        draws[self.draws..].iter().for_each(|draw| self.draw(draw));
        self.moves = moves.len();
        self.events = events.len();
        self.draws = draws.len();
    }

    /// Adds what another process said, apart from its events and draws.
    pub fn reply(&mut self, reply: &RecordedReply) {
        self.entry();
        self.table(2);
        for group in &reply.asks {
            self.entry();
            self.table(5);
            self.text(&group.kind);
            self.list(group.seats.len());
            match &group.form {
                Form::Choice { options } => {
                    self.list(options.len());
                    options.iter().for_each(|option| self.text(option));
                }
                Form::Target { seats, .. } => self.list(seats.len()),
                _ => self.table(3),
            }
        }
        for refusal in &reply.refused {
            self.entry();
            self.table(3);
            self.text(&refusal.reason);
        }
        self.list(reply.payoffs.len());
    }

    fn made(&mut self, made: &Move) {
        let has_fouls = !made.fouls.is_empty();
        let optional = [made.action.is_some(), made.forfeited, has_fouls];
        self.entry();
        self.table(MOVE_KEYS + optional.map(u64::from).iter().sum::<u64>());
        self.text(&made.ask);
        match &made.action {
            Some(Action::Choice(word)) => self.text(word),
            Some(Action::Division(parts)) => self.list(parts.len()),
            _ => {}
        }
        for foul in &made.fouls {
            self.entry();
            self.table(2);
            self.text(&foul.reason);
        }
    }

    fn event(&mut self, event: &Event) {
        let sections = [&event.facts, &event.own, &event.hidden];
        let written = sections.iter().filter(|facts| !facts.is_empty()).count();
        let mut keys = 2 + written as u64;
        if let Audience::Only(seats) = &event.audience {
            keys += 1;
            self.list(seats.len());
        }
        self.entry();
        self.table(keys);
        self.text(&event.kind);
        let written = sections.into_iter().filter(|facts| !facts.is_empty());
        written.for_each(|facts| self.facts(facts));
    }

    fn facts(&mut self, facts: &Facts) {
        self.table(facts.len() as u64);
        for (name, value) in facts {
            self.text(name);
            self.value(value);
        }
    }

    fn draw(&mut self, draw: &Draw) {
        self.entry();
        self.table(3);
        self.text(&draw.stream);
        self.value(&draw.value);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Text(text) => self.text(text),
            Value::Integers(numbers) => self.list(numbers.len()),
            Value::Numbers(numbers) => self.list(numbers.len()),
            Value::List(values) => {
                self.list(values.len());
                values.iter().for_each(|value| self.value(value));
            }
            Value::Nothing | Value::Flag(_) | Value::Integer(_) | Value::Number(_) => {
                self.extent.bytes += 1;
            }
        }
    }

    /// A place in a list.
    fn entry(&mut self) {
        self.extent.values += 1;
        self.extent.bytes += 1;
    }

    /// A table of so many keys.
    fn table(&mut self, keys: u64) {
        self.extent.tables += 1;
        self.extent.values += keys.max(1);
        // Braces; quotes, colon and comma of each key.
        self.extent.bytes += 1 + 4 * keys;
    }

    /// A list of so many entries.
    fn list(&mut self, entries: usize) {
        self.extent.values += entries.max(1) as u64;
        self.extent.bytes += 1 + entries as u64;
    }

    fn text(&mut self, text: &str) {
        self.extent.bytes += text.len() as u64;
    }
}
