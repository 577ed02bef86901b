//! Claims taken ahead of need. A seat that asks one decision after the other without
//! pause will ask the next one too, and here: the trip to the ledger is made before it
//! comes, for several at once. A claim is the ledger's, so nobody pays twice; one that
//! is not used ends by itself soon, and a question that comes late, or before the trip
//! is over, claims in the same name. Called by `deciding/claiming.rs`.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher as _;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::decision::DecisionAddress;
use crate::ledger::ahead_holder;

/// Addresses claimed at once.
pub const AT_ONCE: u32 = 8;

/// How long the ledger keeps such a claim. What a caller has to wait at another
/// replica when it moves there in the middle of a row.
pub const LASTS: Duration = Duration::from_secs(3);

/// A claim at hand is used within this without asking, and renewed soon after: by then
/// the ledger has kept it for a small part of its time.
const USED_WITHIN: Duration = Duration::from_millis(500);

/// Nobody else can have it within this.
const SURE_FOR: Duration = Duration::from_secs(1);

/// The ledger has forgotten the claim by then, whenever it heard of it.
const OVER: Duration = Duration::from_secs(10);

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

/// What a question finds.
#[derive(Debug, Default, PartialEq)]
pub struct Found {
    /// Its address is claimed, or perhaps is.
    pub claimed: Option<Claimed>,
    /// Claims should be fetched.
    pub fetch: Option<Fetch>,
}

/// A claim that was taken before its question came.
#[derive(Debug, PartialEq)]
pub struct Claimed {
    /// Its holder.
    pub holder: String,
    /// It is ours until then without asking; absent: ask, in the holder's name.
    pub sure_until: Option<Instant>,
}

/// Claims that are being fetched: [`AT_ONCE`] of them.
#[derive(Debug, PartialEq)]
pub struct Fetch {
    /// The first index.
    pub from: u32,
    /// Whose they are, see [`ahead_holder`].
    pub holder: String,
}

struct Seat {
    next: u32,
    in_row: u32,
    last: Instant,
    /// In order of their indexes.
    claims: VecDeque<Claim>,
    fetching: bool,
}

struct Claim {
    index: u32,
    holder: String,
    /// When the ledger was asked.
    asked: Instant,
    /// It has said yes.
    granted: bool,
}

impl Ahead {
    /// A question has come. A fetch is made in the name that `name` gives, and
    /// [`Ahead::fetched`] is to be told how it went.
    pub fn find(
        &self,
        address: &DecisionAddress,
        now: Instant,
        name: impl FnOnce() -> String,
    ) -> Found {
        let seat = self.name(address);
        let mut seats = self.seats.lock();
        if seats.len() >= SEATS && !seats.contains_key(&seat) {
            seats.retain(|_, seat| seat.is_needed(now));
            if seats.len() >= SEATS {
                return Found::default();
            }
        }
        let seat = seats.entry(seat).or_insert_with(|| Seat::new(now));
        seat.note(address.index, now);
        seat.claims.retain(|claim| !claim.is_over(now));
        let mut claims = seat.claims.iter();
        let place = claims.position(|claim| claim.index == address.index);
        let claim = place.and_then(|place| seat.claims.remove(place));
        Found {
            claimed: claim.map(|claim| claim.used(now)),
            fetch: seat.fetch(now, name),
        }
    }

    /// Claims were fetched, of so many addresses in a row; none ends the row. Absent:
    /// nobody knows.
    pub fn fetched(&self, session_id: &str, seat: u32, fetch: &Fetch, number: Option<u32>) {
        let mut seats = self.seats.lock();
        let name = self.hasher.hash_one((session_id, seat));
        let Some(seat) = seats.get_mut(&name) else {
            return;
        };
        seat.fetching = false;
        if number.unwrap_or(0) == 0 {
            seat.in_row = 0;
        }
        let Some(number) = number else {
            return;
        };
        let (from, end) = (fetch.from, fetch.from.saturating_add(number));
        let asked_to = from.saturating_add(AT_ONCE);
        // Those that were asked for meanwhile are not here any more; of others, whose
        // answer was lost, nothing was said.
        seat.claims.retain_mut(|claim| {
            claim.granted |= (from..end).contains(&claim.index);
            claim.granted || !(from..asked_to).contains(&claim.index)
        });
    }

    fn name(&self, address: &DecisionAddress) -> u64 {
        let session_id = address.session_id.as_str();
        self.hasher.hash_one((session_id, address.seat))
    }
}

impl Seat {
    fn new(now: Instant) -> Self {
        Self {
            next: 0,
            in_row: 0,
            last: now,
            claims: VecDeque::new(),
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

    fn fetch(&mut self, now: Instant, name: impl FnOnce() -> String) -> Option<Fetch> {
        let next = self.next;
        let left = self.claims.iter().filter(|claim| claim.index >= next);
        if self.in_row < ROW || self.fetching || left.count() > FEW {
            return None;
        }
        let last = self.claims.back().map(|claim| claim.index);
        let from = last.map_or(next, |last| next.max(last.saturating_add(1)));
        let (end, holder) = (from.checked_add(AT_ONCE)?, name());
        self.fetching = true;
        self.claims.extend((from..end).map(|index| Claim {
            index,
            holder: ahead_holder(&holder, index),
            asked: now,
            granted: false,
        }));
        Some(Fetch { from, holder })
    }

    fn is_needed(&self, now: Instant) -> bool {
        let is_quiet = now.saturating_duration_since(self.last) > PAUSE;
        !is_quiet || self.fetching || self.claims.iter().any(|claim| !claim.is_over(now))
    }
}

impl Claim {
    fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.asked) > OVER
    }

    fn used(self, now: Instant) -> Claimed {
        let is_fresh = now.saturating_duration_since(self.asked) < USED_WITHIN;
        Claimed {
            holder: self.holder,
            sure_until: (self.granted && is_fresh).then(|| self.asked + SURE_FOR),
        }
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

    fn fetch(from: u32) -> Fetch {
        Fetch {
            from,
            holder: "me".to_owned(),
        }
    }

    fn find(ahead: &Ahead, index: u32, now: Instant) -> Found {
        ahead.find(&at(index), now, || "me".to_owned())
    }

    /// Asks for the indexes a millisecond apart, beginning with the time; what the
    /// last one found.
    fn ask(ahead: &Ahead, indexes: impl IntoIterator<Item = u32>, from: Instant) -> Found {
        let mut found = None;
        for (number, index) in (0..).zip(indexes) {
            found = Some(find(ahead, index, from + Duration::from_millis(number)));
        }
        found.expect("somebody asks")
    }

    /// A seat that has claims from four on.
    fn with_claims(now: Instant, number: Option<u32>) -> Ahead {
        let ahead = Ahead::default();
        assert_eq!(ask(&ahead, 0..4, now).fetch, Some(fetch(4)));
        ahead.fetched("s", 1, &fetch(4), number);
        ahead
    }

    #[test]
    fn seat_that_goes_on_without_pause_finds_its_claims() {
        let now = Instant::now();
        let ahead = with_claims(now, Some(3));
        let found = find(&ahead, 5, now);
        let claimed = found.claimed.unwrap();
        assert_eq!(claimed.holder, "me+5");
        assert!(claimed.sure_until.unwrap() > now);
        // A gap ends the row: nothing is fetched behind six.
        assert_eq!(found.fetch, None);
        assert_eq!(find(&ahead, 5, now).claimed, None, "each is used once");
        assert_eq!(find(&ahead, 7, now).claimed, None, "not granted");
    }

    #[test]
    fn more_is_fetched_before_nothing_is_left_and_only_once() {
        let now = Instant::now();
        let ahead = with_claims(now, Some(8));
        assert_eq!(ask(&ahead, 4..8, now).fetch, None);
        assert_eq!(ask(&ahead, 8..9, now).fetch, Some(fetch(12)));
        assert_eq!(ask(&ahead, 9..10, now).fetch, None);
    }

    #[test]
    fn question_that_is_early_or_late_claims_in_the_same_name() {
        let now = Instant::now();
        let ahead = Ahead::default();
        ask(&ahead, 0..4, now);
        // The trip is not over: who knows which of the two claims comes first.
        let early = find(&ahead, 4, now).claimed.unwrap();
        assert_eq!((early.holder.as_str(), early.sure_until), ("me+4", None));
        ahead.fetched("s", 1, &fetch(4), Some(8));
        // It may be answered by now: asked again, nobody may be sure of it.
        assert_eq!(find(&ahead, 4, now).claimed, None);
        let late = find(&ahead, 5, now + USED_WITHIN * 2).claimed.unwrap();
        assert_eq!((late.holder.as_str(), late.sure_until), ("me+5", None));
        assert_eq!(find(&ahead, 6, now + OVER * 2).claimed, None);
    }

    #[test]
    fn claim_of_which_nobody_knows_is_asked_for_in_its_name() {
        let now = Instant::now();
        let ahead = with_claims(now, None);
        let doubtful = find(&ahead, 4, now).claimed.unwrap();
        assert_eq!(
            (doubtful.holder.as_str(), doubtful.sure_until),
            ("me+4", None)
        );
        // A later answer says nothing of them.
        assert_eq!(ask(&ahead, 5..9, now).fetch, Some(fetch(12)));
        ahead.fetched("s", 1, &fetch(12), Some(0));
        assert_eq!(find(&ahead, 9, now).claimed.unwrap().holder, "me+9");
    }

    #[test]
    fn pause_or_gap_or_a_row_elsewhere_ends_the_row() {
        let (ahead, now) = (Ahead::default(), Instant::now());
        let later = now + PAUSE * 2;
        ask(&ahead, 0..3, now);
        assert_eq!(ask(&ahead, 3..7, later).fetch, None);
        assert_eq!(ask(&ahead, 7..8, later).fetch, Some(fetch(8)));

        // Every second question goes to another replica.
        let even = (0..40).map(|number| number * 2);
        assert_eq!(ask(&Ahead::default(), even, now).fetch, None);

        // Somebody else has what would be next.
        let ahead = with_claims(now, Some(0));
        assert_eq!(ask(&ahead, 4..7, now).fetch, None);
    }

    #[test]
    fn seats_are_not_remembered_without_end_but_with_their_claims() {
        let now = Instant::now();
        let ahead = with_claims(now, Some(8));
        for session in 0..3 * SEATS {
            let address = DecisionAddress {
                session_id: session.to_string(),
                ..at(0)
            };
            ahead.find(&address, now, String::new);
        }
        assert_eq!(ahead.seats.lock().len(), SEATS);
        let later = now + PAUSE * 2;
        let address = DecisionAddress { seat: 9, ..at(0) };
        ahead.find(&address, later, String::new);
        assert_eq!(ahead.seats.lock().len(), 2);
        assert!(find(&ahead, 4, later).claimed.is_some());
    }
}
