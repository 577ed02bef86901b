//! Claims taken ahead of need. A seat that asks one decision after the other without
//! pause will ask the next one too, and here: the trip to the ledger is made before
//! it comes, for several at once. Owns for which seats that is done and which claims
//! are at hand; a claim is the ledger's, so nobody pays twice. One that is not used
//! ends by itself soon, and only then can another replica ask for its address.
//! Called by `deciding/claiming.rs`.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher as _;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::decision::DecisionAddress;

/// Addresses claimed at once.
pub const AT_ONCE: u32 = 8;

/// How long the ledger keeps such a claim. What a caller has to wait at another
/// replica when it moves there in the middle of a row.
pub const LASTS: Duration = Duration::from_secs(3);

/// A claim at hand is used within this, and renewed soon after: by then the ledger
/// has kept it for a small part of its time.
const USED_WITHIN: Duration = Duration::from_millis(500);

/// Nobody else can have it within this.
const SURE_FOR: Duration = Duration::from_secs(1);

/// Decisions in a row after which a seat is expected to go on here.
const ROW: u32 = 4;

/// A longer pause ends a row.
const PAUSE: Duration = Duration::from_millis(50);

/// More are fetched when no more than so many are at hand.
const FEW: usize = 3;

/// Seats looked at; when more come without pause the others do without.
const SEATS: usize = 4_096;

/// The seats that ask without pause.
#[derive(Default)]
pub struct Ahead {
    hasher: RandomState,
    /// By session and seat: a hash of 64 bits that nobody can foresee.
    seats: Mutex<HashMap<u64, Seat>>,
}

/// A claim that was taken before its question came.
#[derive(Debug, PartialEq)]
pub struct Claimed {
    index: u32,
    /// Its holder.
    pub holder: String,
    use_until: Instant,
    /// It is ours until then without asking.
    pub sure_until: Instant,
}

/// What a question finds.
#[derive(Debug, PartialEq)]
pub struct Found {
    /// Its address is claimed.
    pub claimed: Option<Claimed>,
    /// Claims should be fetched from this index on; to be told by
    /// [`Ahead::fetched`] how that went.
    pub fetch_from: Option<u32>,
}

struct Seat {
    next: u32,
    in_row: u32,
    last: Instant,
    claimed: VecDeque<Claimed>,
    fetching: bool,
}

impl Ahead {
    /// A question has come.
    pub fn find(&self, address: &DecisionAddress, now: Instant) -> Found {
        let mut found = Found {
            claimed: None,
            fetch_from: None,
        };
        let name = self.name(address);
        let mut seats = self.seats.lock();
        if seats.len() >= SEATS && !seats.contains_key(&name) {
            seats.retain(|_, seat| now.saturating_duration_since(seat.last) <= PAUSE);
            if seats.len() >= SEATS {
                return found;
            }
        }
        let seat = seats.entry(name).or_insert_with(|| Seat::new(now));
        seat.note(address.index, now);
        seat.claimed.retain(|claimed| claimed.use_until > now);
        let mut claimed = seat.claimed.iter();
        if let Some(place) = claimed.position(|claimed| claimed.index == address.index) {
            found.claimed = seat.claimed.remove(place);
        }
        found.fetch_from = seat.fetch_from();
        found
    }

    /// Claims were fetched, of so many addresses in a row; none ends the row.
    pub fn fetched(
        &self,
        first: &DecisionAddress,
        number: u32,
        holders: impl Fn(u32) -> String,
        began: Instant,
    ) {
        let mut seats = self.seats.lock();
        let Some(seat) = seats.get_mut(&self.name(first)) else {
            return;
        };
        seat.fetching = false;
        if number == 0 {
            seat.in_row = 0;
        }
        let end = first.index.saturating_add(number);
        seat.claimed.extend((first.index..end).map(|index| Claimed {
            index,
            holder: holders(index),
            use_until: began + USED_WITHIN,
            sure_until: began + SURE_FOR,
        }));
    }

    fn name(&self, address: &DecisionAddress) -> u64 {
        self.hasher.hash_one((&address.session_id, address.seat))
    }
}

impl Seat {
    fn new(now: Instant) -> Self {
        Self {
            next: 0,
            in_row: 0,
            last: now,
            claimed: VecDeque::new(),
            fetching: false,
        }
    }

    fn note(&mut self, index: u32, now: Instant) {
        let pause = now.saturating_duration_since(self.last);
        self.last = now;
        // One that came before is asked again, or late.
        if index < self.next {
            return;
        }
        let goes_on = index == self.next && pause <= PAUSE;
        self.in_row = if goes_on { self.in_row + 1 } else { 0 };
        self.next = index.saturating_add(1);
    }

    fn fetch_from(&mut self) -> Option<u32> {
        let next = self.next;
        let left = self.claimed.iter().filter(|claimed| claimed.index >= next);
        if self.in_row < ROW || self.fetching || left.count() > FEW {
            return None;
        }
        self.fetching = true;
        let last = self.claimed.back().map(|claimed| claimed.index);
        Some(last.map_or(next, |last| next.max(last.saturating_add(1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(index: u32) -> DecisionAddress {
        DecisionAddress {
            session_id: "s".to_owned(),
            seat: 1,
            index,
        }
    }

    fn holder(index: u32) -> String {
        format!("me+{index}")
    }

    /// Asks for the indexes a millisecond apart, beginning with the time; what the
    /// last one found.
    fn ask(ahead: &Ahead, indexes: impl IntoIterator<Item = u32>, from: Instant) -> Found {
        let mut found = None;
        for (number, index) in (0..).zip(indexes) {
            found = Some(ahead.find(&at(index), from + Duration::from_millis(number)));
        }
        found.expect("somebody asks")
    }

    #[test]
    fn seat_that_goes_on_without_pause_finds_its_claims() {
        let (ahead, now) = (Ahead::default(), Instant::now());
        assert_eq!(ask(&ahead, 0..3, now).fetch_from, None);
        assert_eq!(ask(&ahead, 3..4, now).fetch_from, Some(4));
        // Once.
        assert_eq!(ask(&ahead, 4..5, now).fetch_from, None);
        ahead.fetched(&at(4), 3, holder, now);
        let found = ask(&ahead, 5..6, now);
        assert_eq!(found.claimed.unwrap().holder, "me+5");
        // Two are left: four, which nobody asks for any more, and six.
        assert_eq!(found.fetch_from, Some(7));
        assert_eq!(ask(&ahead, 5..6, now).claimed, None, "each is used once");
    }

    #[test]
    fn claim_that_is_old_is_not_used() {
        let (ahead, now) = (Ahead::default(), Instant::now());
        ask(&ahead, 0..4, now);
        ahead.fetched(&at(4), 8, holder, now);
        let late = now + USED_WITHIN;
        assert_eq!(ask(&ahead, 4..5, late).claimed, None);
    }

    #[test]
    fn pause_or_gap_or_a_row_elsewhere_ends_the_row() {
        let (ahead, now) = (Ahead::default(), Instant::now());
        let later = now + PAUSE * 2;
        ask(&ahead, 0..3, now);
        assert_eq!(ask(&ahead, 3..7, later).fetch_from, None);
        assert_eq!(ask(&ahead, 7..8, later).fetch_from, Some(8));

        // Every second question goes to another replica.
        let ahead = Ahead::default();
        let even = (0..40).map(|number| number * 2);
        assert_eq!(ask(&ahead, even, now).fetch_from, None);

        // Somebody else has what would be next.
        let ahead = Ahead::default();
        assert_eq!(ask(&ahead, 0..4, now).fetch_from, Some(4));
        ahead.fetched(&at(4), 0, holder, now);
        assert_eq!(ask(&ahead, 4..7, now).fetch_from, None);
    }

    #[test]
    fn seats_are_not_remembered_without_end() {
        let (ahead, now) = (Ahead::default(), Instant::now());
        for session in 0..3 * SEATS {
            let address = DecisionAddress {
                session_id: session.to_string(),
                ..at(0)
            };
            ahead.find(&address, now);
        }
        assert_eq!(ahead.seats.lock().len(), SEATS);
        ask(&ahead, 0..1, now + PAUSE * 2);
        assert_eq!(ahead.seats.lock().len(), 1);
    }
}
