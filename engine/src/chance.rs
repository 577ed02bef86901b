//! Chance, seeded and recorded. Every draw belongs to a named stream and an index
//! (usually the round), and depends on nothing else than those and the session's
//! [`Luck`]; how often one round draws cannot shift the next. Luck comes from the
//! experiment's seed, the repeat and the place in a series, not from the setting, so
//! settings can be compared on the same luck. Replays hand recorded draws in; games
//! cannot tell the difference.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::ask::Seat;
use crate::event::Value;

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
    pub stream: std::borrow::Cow<'static, str>,
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
    script: Option<BTreeMap<(String, u32), Value>>,
    unscripted: Vec<(Stream, u32)>,
}

impl Chance {
    /// Chance drawn from the session's luck.
    pub fn seeded(luck: Luck) -> Self {
        Self {
            key: blake3::derive_key(CONTEXT, &luck.material()),
            draws: Vec::new(),
            script: None,
            unscripted: Vec::new(),
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
            script: Some(script),
            ..Self::seeded(Luck::new(0, 0))
        }
    }

    /// Draws asked of a scripted chance that its script did not have.
    pub fn unscripted(&self) -> &[(Stream, u32)] {
        &self.unscripted
    }

    /// Entries of a script that no draw has used, in order.
    pub fn unused(&self) -> impl Iterator<Item = (&str, u32, &Value)> {
        let script = self.script.iter().flatten();
        let unused = script.filter(|((stream, at), _)| {
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

    /// True in `percent` of 100 cases. The same underlying draw serves every
    /// percentage, so a higher one never turns a success into a failure.
    pub fn percent(&mut self, stream: Stream, at: u32, percent: u32) -> bool {
        let scripted = self.recorded(stream, at, |value| value.flag());
        let hit = scripted
            .unwrap_or_else(|| self.generator(stream.0, at).below(100) < u64::from(percent));
        self.note(stream, at, Value::Flag(hit));
        hit
    }

    /// One of several seats, each equally likely.
    ///
    /// `seats` must not be empty; with one seat nothing is drawn.
    pub fn seat_among(&mut self, stream: Stream, at: u32, seats: &[Seat]) -> Seat {
        if let [only] = seats {
            return *only;
        }
        let scripted = self.recorded(stream, at, |value| {
            let seat = usize::try_from(value.integer()?).ok()?;
            seats.contains(&seat).then_some(seat)
        });
        let seat = scripted.unwrap_or_else(|| {
            let position = self.generator(stream.0, at).below(seats.len() as u64);
            seats[position as usize]
        });
        self.note(stream, at, Value::Integer(seat as i64));
        seat
    }

    /// A whole number between `low` and `high`, both included.
    pub fn integer(&mut self, stream: Stream, at: u32, low: i64, high: i64) -> i64 {
        let scripted = self.recorded(stream, at, |value| {
            value
                .integer()
                .filter(|number| (low..=high).contains(number))
        });
        let number = scripted.unwrap_or_else(|| self.generator(stream.0, at).between(low, high));
        self.note(stream, at, Value::Integer(number));
        number
    }

    /// `count` different numbers of the ladder `low, low + step, ..`, of which
    /// there are `rungs`; the first is for seat 0. `rungs >= count` is needed.
    pub fn distinct(&mut self, stream: Stream, at: u32, count: usize, ladder: Ladder) -> Vec<i64> {
        let scripted = self.recorded(stream, at, |value| {
            let numbers = value.integers()?;
            ladder.could_give(numbers, count).then(|| numbers.to_vec())
        });
        let numbers = scripted.unwrap_or_else(|| {
            let mut generator = self.generator(stream.0, at);
            let places = generator.sample(ladder.rungs, count);
            places
                .into_iter()
                .map(|place| ladder.low + ladder.step * place as i64)
                .collect()
        });
        self.note(stream, at, Value::Integers(numbers.clone()));
        numbers
    }

    /// `count` whole numbers of a bell curve; the first is for seat 0.
    pub fn bell(&mut self, stream: Stream, at: u32, count: usize, bell: Bell) -> Vec<i64> {
        let scripted = self.recorded(stream, at, |value| {
            let numbers = value.integers()?;
            let possible = |number: &i64| (1..=bell.most).contains(number);
            let fits = numbers.len() == count && numbers.iter().all(possible);
            fits.then(|| numbers.to_vec())
        });
        let numbers = scripted.unwrap_or_else(|| {
            let mut generator = self.generator(stream.0, at);
            (0..count).map(|_| bell.draw(&mut generator)).collect()
        });
        self.note(stream, at, Value::Integers(numbers.clone()));
        numbers
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

    fn recorded<T>(
        &mut self,
        stream: Stream,
        at: u32,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let script = self.script.as_ref()?;
        let found = script.get(&(stream.0.to_owned(), at)).and_then(read);
        if found.is_none() {
            self.unscripted.push((stream, at));
        }
        found
    }

    fn note(&mut self, stream: Stream, at: u32, value: Value) {
        let stream = std::borrow::Cow::Borrowed(stream.0);
        self.draws.push(Draw { stream, at, value });
    }

    fn generator(&self, stream: &str, at: u32) -> Generator {
        let mut hash = Fnv1a::new();
        hash.write(stream.as_bytes());
        hash.write(&at.to_le_bytes());
        let mut cipher = ChaCha8Rng::from_seed(self.key);
        cipher.set_stream(hash.0);
        Generator { cipher }
    }
}

/// Evenly spaced numbers.
#[derive(Debug, Clone, Copy)]
pub struct Ladder {
    /// The smallest number.
    pub low: i64,
    /// The distance between neighbours; not 0.
    pub step: i64,
    /// How many numbers there are.
    pub rungs: usize,
}

impl Ladder {
    /// Whether these numbers could be `count` different ones of the ladder.
    fn could_give(&self, numbers: &[i64], count: usize) -> bool {
        let on_rung = |number: &i64| {
            let place = (i128::from(*number) - i128::from(self.low)) / i128::from(self.step);
            let rung = i128::from(self.low) + place * i128::from(self.step);
            (0..self.rungs as i128).contains(&place) && rung == i128::from(*number)
        };
        let different: BTreeSet<&i64> = numbers.iter().collect();
        numbers.len() == count && different.len() == count && numbers.iter().all(on_rung)
    }
}

/// Whole parts of normally distributed numbers, above 0.
#[derive(Debug, Clone, Copy)]
pub struct Bell {
    /// Mean, from 1 to `most`.
    pub mean: f64,
    /// Standard deviation, at most `most`; more would be drawn again too often.
    pub deviation: f64,
    /// The largest number.
    pub most: i64,
}

impl Bell {
    /// A number that fits; others are drawn again.
    fn draw(&self, generator: &mut Generator) -> i64 {
        loop {
            let number = (self.mean + self.deviation * generator.normal()).trunc() as i64;
            if (1..=self.most).contains(&number) {
                return number;
            }
        }
    }
}

/// A stream of random numbers. The methods are our own, because the bytes of a
/// record depend on them and libraries change theirs between versions.
#[derive(Debug, Clone)]
pub struct Generator {
    cipher: ChaCha8Rng,
}

impl Generator {
    /// A number from 0 to `bound - 1`, without bias (Lemire 2019, "Fast random
    /// integer generation in an interval"). `bound` must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.cipher.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.cipher.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// A number between `low` and `high`, both included; `low <= high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = high.wrapping_sub(low) as u64;
        if width == u64::MAX {
            return self.cipher.next_u64() as i64;
        }
        low.wrapping_add(self.below(width + 1) as i64)
    }

    /// A real number in [0, 1), with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.cipher.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A normally distributed number of mean 0 and standard deviation 1 (Marsaglia and
    /// Bray 1964, the polar method). The logarithm is a library's, because those of
    /// platforms differ in their last digits.
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * libm::log(square) / square).sqrt();
            }
        }
    }

    /// `count` different places of `0..size`, in random order (the first steps
    /// of a Fisher-Yates shuffle). `count <= size`.
    pub fn sample(&mut self, size: usize, count: usize) -> Vec<usize> {
        let mut places: Vec<usize> = (0..size).collect();
        for position in 0..count {
            let other = position + self.below((size - position) as u64) as usize;
            places.swap(position, other);
        }
        places.truncate(count);
        places
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
