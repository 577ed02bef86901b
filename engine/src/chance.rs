//! Chance, seeded and recorded. Every draw belongs to a named stream and an index
//! (usually the round), and depends on nothing else than those and the session's
//! [`Luck`]; how often one round draws cannot shift the next. Luck comes from the
//! experiment's seed, the repeat and the place in a series, not from the setting, so
//! settings can be compared on the same luck. Replays hand recorded draws in; games
//! cannot tell the difference.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ask::Seat;
use crate::event::Value;

mod generator;
mod law;
mod outcomes;

pub use generator::Generator;
use law::Law;
pub use law::{Bell, Ladder};
use outcomes::Path;

/// A named source of draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stream(pub &'static str);

/// Private values of seats.
pub const VALUATIONS: Stream = Stream("valuations");
/// How much there is to share out.
pub const SUPPLIES: Stream = Stream("supplies");
/// Limits that hold for all seats alike.
pub const BOUNDS: Stream = Stream("bounds");
/// Orders of items or seats.
pub const ORDERS: Stream = Stream("orders");
/// Who wins among equals.
pub const TIES: Stream = Stream("ties");
/// Whether a shot hits.
pub const HITS: Stream = Stream("hits");

/// Every stream of a game.
pub const STREAMS: [Stream; 6] = [VALUATIONS, SUPPLIES, BOUNDS, ORDERS, TIES, HITS];

/// Prefix of the streams that rule players draw from; the seat follows.
const RULE_STREAM: &str = "rule";

/// Separates our key derivation from any other use of the same hash.
const CONTEXT: &str = "agon 2026-11 session luck v1";

/// Where a session's chance comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Luck {
    /// The experiment's seed.
    pub seed: u64,
    /// Which repeat of a setting this is, from 0.
    pub repeat: u32,
    /// Place of the session in its series, from 0; 0 also for a session that
    /// belongs to none.
    #[serde(default, skip_serializing_if = "is_first")]
    pub place: u32,
}

fn is_first(place: &u32) -> bool {
    *place == 0
}

impl Luck {
    /// The luck of a session that belongs to no series, or is the first of one.
    pub const fn new(seed: u64, repeat: u32) -> Self {
        Self {
            seed,
            repeat,
            place: 0,
        }
    }

    /// The same repeat, at another place of its series.
    #[must_use]
    pub const fn at(self, place: u32) -> Self {
        Self { place, ..self }
    }

    /// What generators are seeded with, here and in games that are played elsewhere.
    fn key(self) -> [u8; 32] {
        blake3::derive_key(CONTEXT, &self.material())
    }

    /// The bytes that all chance follows from. The place is in them only where it
    /// is not the first: sessions of no series keep the chance they always had.
    fn material(self) -> Vec<u8> {
        let mut material = self.seed.to_le_bytes().to_vec();
        material.extend(self.repeat.to_le_bytes());
        if self.place > 0 {
            material.extend(self.place.to_le_bytes());
        }
        material
    }
}

/// One recorded draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draw {
    /// Name of the stream.
    pub stream: Cow<'static, str>,
    /// Index inside the stream, usually the round.
    pub at: u32,
    /// What came out.
    pub value: Value,
}

/// Draws for one session, kept in the order in which they were made.
#[derive(Debug, Clone)]
pub struct Chance {
    key: [u8; 32],
    draws: Vec<Draw>,
    source: Source,
}

/// Where draws come from before the seed is asked.
#[derive(Debug, Clone)]
enum Source {
    /// From nowhere.
    Seed,
    /// From a record; what it lacks is noted.
    Script {
        script: BTreeMap<(String, u32), Value>,
        missing: Vec<(Stream, u32)>,
    },
    /// From lists of all outcomes.
    Listed(Path),
}

/// The numbers of a draw that gives numbers.
fn numbers(drawn: Value) -> Vec<i64> {
    match drawn {
        Value::Integers(numbers) => numbers,
        _ => Vec::new(),
    }
}

impl Chance {
    /// Chance drawn from the session's luck.
    pub fn seeded(luck: Luck) -> Self {
        Self {
            key: luck.key(),
            draws: Vec::new(),
            source: Source::Seed,
        }
    }

    /// Chance that was recorded elsewhere. A draw that the script lacks, or has
    /// with an impossible value, is drawn from seed 0 and listed by
    /// [`Chance::unscripted`].
    pub fn scripted(draws: impl IntoIterator<Item = (Stream, u32, Value)>) -> Self {
        let script = draws
            .into_iter()
            .map(|(stream, at, value)| ((stream.0.to_owned(), at), value))
            .collect();
        Self {
            source: Source::Script {
                script,
                missing: Vec::new(),
            },
            ..Self::seeded(Luck::new(0, 0))
        }
    }

    /// What its generators are seeded with, in 64 hexadecimal digits.
    pub fn key_in_hexadecimal(&self) -> String {
        blake3::Hash::from_bytes(self.key).to_hex().to_string()
    }

    /// Draws asked of a scripted chance that its script did not have.
    pub fn unscripted(&self) -> &[(Stream, u32)] {
        match &self.source {
            Source::Script { missing, .. } => missing,
            Source::Seed | Source::Listed(_) => &[],
        }
    }

    /// Entries of a script that no draw has used, in order.
    pub fn unused(&self) -> impl Iterator<Item = (&str, u32, &Value)> {
        let script = match &self.source {
            Source::Script { script, .. } => Some(script),
            Source::Seed | Source::Listed(_) => None,
        };
        let unused = script.into_iter().flatten().filter(|((stream, at), _)| {
            !self
                .draws
                .iter()
                .any(|draw| draw.stream == *stream && draw.at == *at)
        });
        unused.map(|((stream, at), value)| (stream.as_str(), *at, value))
    }

    /// All draws so far.
    pub fn draws(&self) -> &[Draw] {
        &self.draws
    }

    /// All draws, taken out.
    pub(crate) fn into_draws(self) -> Vec<Draw> {
        self.draws
    }

    /// True in `percent` of 100 cases. The same underlying draw serves every
    /// percentage, so a higher one never turns a success into a failure.
    pub fn percent(&mut self, stream: Stream, at: u32, percent: u32) -> bool {
        let drawn = self.draw(stream, at, &Law::Percent(percent));
        drawn == Value::Flag(true)
    }

    /// One of several seats, each equally likely.
    ///
    /// `seats` must not be empty; with one seat nothing is drawn.
    pub fn seat_among(&mut self, stream: Stream, at: u32, seats: &[Seat]) -> Seat {
        if let [only] = seats {
            return *only;
        }
        let drawn = self.draw(stream, at, &Law::Seat(seats));
        drawn.integer().map_or(seats[0], |seat| seat as Seat)
    }

    /// A whole number between `low` and `high`, both included.
    pub fn integer(&mut self, stream: Stream, at: u32, low: i64, high: i64) -> i64 {
        let drawn = self.draw(stream, at, &Law::Integer(low, high));
        drawn.integer().unwrap_or(low)
    }

    /// `count` different numbers of the ladder `low, low + step, ..`, of which
    /// there are `rungs`; the first is for seat 0. `rungs >= count` is needed.
    pub fn distinct(&mut self, stream: Stream, at: u32, count: usize, ladder: Ladder) -> Vec<i64> {
        numbers(self.draw(stream, at, &Law::Distinct(count, ladder)))
    }

    /// `count` whole numbers of a bell curve; the first is for seat 0.
    pub fn bell(&mut self, stream: Stream, at: u32, count: usize, bell: Bell) -> Vec<i64> {
        numbers(self.draw(stream, at, &Law::Bell(count, bell)))
    }

    /// An order of `count` things: a permutation of `0..count`.
    pub fn order(&mut self, stream: Stream, at: u32, count: usize) -> Vec<usize> {
        let rungs = count;
        let ladder = Ladder {
            low: 0,
            step: 1,
            rungs,
        };
        let numbers = self.distinct(stream, at, count, ladder);
        numbers.into_iter().map(|place| place as usize).collect()
    }

    /// The generator of the rule player at a seat. Its draws are not recorded
    /// one by one: the moves they led to are.
    pub fn for_rule_player(&self, seat: Seat) -> Generator {
        self.generator(RULE_STREAM, seat as u32)
    }

    /// Takes in draws that another process made.
    pub(crate) fn drawn_elsewhere(&mut self, draws: Vec<Draw>) {
        self.draws.extend(draws);
    }

    /// The only way to a draw: as given, else from the seed.
    fn draw(&mut self, stream: Stream, at: u32, law: &Law<'_>) -> Value {
        let given = match &mut self.source {
            Source::Seed => None,
            Source::Listed(path) => path.take(law),
            Source::Script { script, missing } => {
                let recorded = script.get(&(stream.0.to_owned(), at));
                let recorded = recorded.filter(|value| law.could_give(value)).cloned();
                if recorded.is_none() {
                    missing.push((stream, at));
                }
                recorded
            }
        };
        let value = given.unwrap_or_else(|| law.draw(&mut self.generator(stream.0, at)));
        let stream = Cow::Borrowed(stream.0);
        let kept = value.clone();
        self.draws.push(Draw { stream, at, value });
        kept
    }

    fn generator(&self, stream: &str, at: u32) -> Generator {
        let mut hash = Fnv1a::new();
        hash.write(stream.as_bytes());
        hash.write(&at.to_le_bytes());
        Generator::new(self.key, hash.0)
    }
}

/// FNV-1a, 64 bits: spreads stream names over the cipher's stream numbers.
struct Fnv1a(u64);

impl Fnv1a {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
