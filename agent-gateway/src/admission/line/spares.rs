//! Grants at hand before anybody asks. Where calls of a team come every few
//! milliseconds and the limits are far away, the next one need not wait for the
//! limiter: the asker has fetched its grant already, several in one trip. What
//! nobody comes for is given back as never used. Owns how many are kept, how large
//! and for how long; the limiter decides whether there is room for them. Called by
//! `admission/line.rs`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::Want;
use crate::admission::charging::Charges;
use crate::admission::{Ask, Reservation, Share};
use crate::fairness::queue::Place;
use crate::keys::KeyId;
use crate::lanes::LaneKey;

/// So much longer than calls need to come that only a pause of the team leaves a
/// grant unused, and so short that a hold or a change elsewhere is soon heeded.
const KEPT: Duration = Duration::from_millis(50);

/// Grants are fetched for the calls of this long: many trips to the limiter.
const AHEAD: Duration = Duration::from_millis(16);

/// A team whose calls come more seldom has none at hand.
const SELDOM: Duration = Duration::from_millis(10);

/// Grants of one team at hand.
const MOST: usize = 32;

/// When there was no room, nobody asks ahead for so long.
const AFTER_DENIAL: Duration = Duration::from_millis(250);

/// A team that has not come for so long is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(10);

/// The newest gap between two calls counts this much in their mean.
const NEWEST: f64 = 1.0 / 16.0;

/// Grants are as large as the largest call of this many, and of as many before.
const ROUND: u32 = 64;

/// The grants at hand in one lane.
#[derive(Default)]
pub(super) struct Spares {
    teams: Mutex<HashMap<Arc<str>, Hoard>>,
    /// How often some were called back: those under way then are not to be used.
    recalls: AtomicU64,
}

/// A grant that nobody has asked for yet.
pub(super) struct Spare {
    /// What was taken.
    pub reservation: Reservation,
    /// The key to use.
    pub key: LaneKey,
    lasts: Duration,
    until: Instant,
}

/// Grants to be fetched for one team.
pub(super) struct Order {
    team: Arc<str>,
    weight: f64,
    size: Size,
    attempts: Vec<String>,
    recalls: u64,
}

/// What one team has at hand.
struct Hoard {
    weight: f64,
    last_call: Instant,
    /// Mean time between calls, in seconds.
    gap: f64,
    calls: u32,
    largest: Size,
    largest_before: Size,
    /// The last call's attempt, after which the next grants are named: once.
    named_after: Option<String>,
    /// Oldest first.
    stock: Vec<Spare>,
    fetching: bool,
    denied_until: Option<Instant>,
}

/// What a grant must cover.
#[derive(Clone, Copy, Default)]
struct Size {
    charges: Charges,
    lasts: Duration,
}

impl Spares {
    /// A call has come: its grant, if one is at hand, and whether more should be
    /// fetched.
    pub fn come(&self, place: &Place, want: &Want, now: Instant) -> (Option<Spare>, bool) {
        let mut teams = self.teams.lock();
        let hoard = match teams.get_mut(&place.team) {
            Some(hoard) => hoard,
            None => teams
                .entry(Arc::clone(&place.team))
                .or_insert_with(|| Hoard::new(now)),
        };
        hoard.note(place, want, now);
        (hoard.take(want, now), hoard.missing(now) > 0)
    }

    /// What is to be fetched now.
    pub fn orders(&self, now: Instant) -> Vec<Order> {
        let recalls = self.recalls.load(Ordering::SeqCst);
        let mut teams = self.teams.lock();
        let order = |(team, hoard): (&Arc<str>, &mut Hoard)| hoard.order(team, recalls, now);
        teams.iter_mut().filter_map(order).collect()
    }

    /// An order is over; the limiter had no room for what is missing of it. Says what
    /// is to be given back at once: some were called back meanwhile.
    pub fn fetched(&self, order: &Order, grants: Vec<(Reservation, LaneKey)>) -> Vec<Reservation> {
        let now = Instant::now();
        let mut teams = self.teams.lock();
        let is_current = order.recalls == self.recalls.load(Ordering::SeqCst);
        // Only who is not fetching is forgotten.
        let Some(hoard) = teams.get_mut(&order.team) else {
            return grants.into_iter().map(|(unused, _)| unused).collect();
        };
        hoard.fetching = false;
        if !is_current {
            return grants.into_iter().map(|(unused, _)| unused).collect();
        }
        let denied = grants.len() < order.len();
        hoard.denied_until = denied.then(|| now + AFTER_DENIAL);
        let spare = |(reservation, key)| Spare {
            reservation,
            key,
            lasts: order.size.lasts,
            until: now + KEPT,
        };
        hoard.stock.extend(grants.into_iter().map(spare));
        Vec::new()
    }

    /// Takes out what nobody has come for.
    pub fn stale(&self, now: Instant) -> Vec<Reservation> {
        let stale = self.take_if(|spare| spare.until <= now);
        let forgotten = |hoard: &Hoard| {
            let idle = now.saturating_duration_since(hoard.last_call) > FORGOTTEN;
            idle && hoard.stock.is_empty() && !hoard.fetching
        };
        self.teams.lock().retain(|_, hoard| !forgotten(hoard));
        stale
    }

    /// Takes out what must not be used any more; what is under way neither.
    pub fn recall(&self, unwanted: impl Fn(&Spare) -> bool) -> Vec<Reservation> {
        self.recalls.fetch_add(1, Ordering::SeqCst);
        self.take_if(unwanted)
    }

    fn take_if(&self, unwanted: impl Fn(&Spare) -> bool) -> Vec<Reservation> {
        let mut teams = self.teams.lock();
        let stocks = teams.values_mut().flat_map(|hoard| {
            let stock = hoard.stock.extract_if(.., |spare| unwanted(spare));
            stock.collect::<Vec<_>>()
        });
        stocks.map(|spare| spare.reservation).collect()
    }

    /// When the first of them is stale.
    pub fn next_stale(&self) -> Option<Instant> {
        let teams = self.teams.lock();
        let first = teams.values().filter_map(|hoard| hoard.stock.first());
        first.map(|spare| spare.until).min()
    }
}

impl Hoard {
    fn new(now: Instant) -> Self {
        Self {
            weight: 1.0,
            last_call: now,
            gap: SELDOM.as_secs_f64() * 10.0,
            calls: 0,
            largest: Size::default(),
            largest_before: Size::default(),
            named_after: None,
            stock: Vec::new(),
            fetching: false,
            denied_until: None,
        }
    }

    fn note(&mut self, place: &Place, want: &Want, now: Instant) {
        let gap = now.saturating_duration_since(self.last_call).as_secs_f64();
        self.gap += NEWEST * (gap.min(10.0 * SELDOM.as_secs_f64()) - self.gap);
        self.last_call = now;
        self.weight = place.weight;
        self.named_after = Some(want.attempt.clone());
        let size = Size::of(want);
        self.largest = self.largest.covering(&size);
        self.calls += 1;
        if self.calls == ROUND {
            self.calls = 0;
            self.largest_before = std::mem::replace(&mut self.largest, size);
        }
    }

    fn take(&mut self, want: &Want, now: Instant) -> Option<Spare> {
        let fits = |spare: &Spare| {
            let Reservation { charge, most, .. } = &spare.reservation;
            let is_usable = spare.key.key.quarantine().is_none() && spare.key.room(now).is_none();
            let covers = charge.covers(&want.charges.now) && most.covers(&want.charges.most);
            spare.until > now && is_usable && covers && spare.lasts >= want.lasts
        };
        let place = self.stock.iter().position(fits)?;
        Some(self.stock.remove(place))
    }

    /// How many should be fetched now.
    fn missing(&self, now: Instant) -> usize {
        let denied = self.denied_until.is_some_and(|until| now < until);
        if self.fetching || denied || self.gap > SELDOM.as_secs_f64() {
            return 0;
        }
        let enough = (AHEAD.as_secs_f64() / self.gap).ceil() as usize;
        let enough = enough.clamp(1, MOST);
        if self.stock.len() * 2 > enough {
            return 0;
        }
        enough - self.stock.len()
    }

    fn order(&mut self, team: &Arc<str>, recalls: u64, now: Instant) -> Option<Order> {
        let missing = self.missing(now);
        if missing == 0 {
            return None;
        }
        let after = self.named_after.take()?;
        self.fetching = true;
        Some(Order {
            team: Arc::clone(team),
            weight: self.weight,
            size: self.largest.covering(&self.largest_before),
            attempts: (1..=missing).map(|n| format!("{after}+{n}")).collect(),
            recalls,
        })
    }
}

impl Order {
    /// How many grants.
    pub fn len(&self) -> usize {
        self.attempts.len()
    }

    /// The team and its weight.
    pub fn team(&self) -> (String, f64) {
        (self.team.to_string(), self.weight)
    }

    /// What the limiter is asked for.
    pub fn asks(&self) -> impl Iterator<Item = Ask> {
        self.attempts.iter().map(|attempt| Ask {
            attempt: attempt.clone(),
            charge: self.size.charges.now,
            most: self.size.charges.most,
            lasts: self.size.lasts,
            share: Share {
                team: self.team.to_string(),
                weight: self.weight,
                cost: self.size.charges.cost,
            },
            except: Vec::<KeyId>::new(),
            again: false,
            ahead: true,
        })
    }
}

impl Size {
    fn of(want: &Want) -> Self {
        Self {
            charges: want.charges,
            lasts: want.lasts + KEPT,
        }
    }

    fn covering(&self, other: &Self) -> Self {
        let (own, other_charges) = (&self.charges, &other.charges);
        Self {
            charges: Charges {
                now: own.now.covering(&other_charges.now),
                most: own.most.covering(&other_charges.most),
                cost: own.cost.max(other_charges.cost),
            },
            lasts: self.lasts.max(other.lasts),
        }
    }
}

#[cfg(test)]
mod tests;
