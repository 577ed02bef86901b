//! Which of the waiting calls are asked for together, and how they are written
//! for the limiter. Owns that no team is left out and that calls which may not
//! use every key do not hold up the others. Called by `admission/line.rs`.

use super::lane::LaneKey;
use super::{Waiter, accounts};
use crate::admission::{Ask, Share};
use crate::fairness::queue::{Entry, FairQueue, Place};

/// Heads submitted together. Enough for thousands of grants per second; more
/// would make one script call long.
const BATCH: usize = 64;

/// Heads looked through for calls that may use every key.
const MOST_HEADS: usize = 1024;

/// Calls that are to be asked for together, and the teams that wait with them.
pub(super) struct Heads {
    /// Teams that wait, with their weights.
    pub waiting: Vec<(String, f64)>,
    /// Calls that are out of the queue.
    pub entries: Vec<Entry<Waiter>>,
}

impl Heads {
    /// Everybody whose turn it is.
    pub fn next(queue: &mut FairQueue<Waiter>) -> Self {
        let teams = queue.teams();
        let waiting = teams
            .map(|(team, weight, _)| (team.to_string(), weight))
            .collect();
        let entries = next(queue);
        Self { waiting, entries }
    }
}

/// The next calls in order, one of every team that waits, and more when most of
/// them may not use every key: who may should not wait behind them.
fn next(queue: &mut FairQueue<Waiter>) -> Vec<Entry<Waiter>> {
    let mut heads = queue.take(BATCH);
    let fresh = |heads: &[Entry<Waiter>]| {
        let fresh = heads
            .iter()
            .filter(|entry| entry.call.want.except.is_empty());
        fresh.count()
    };
    while fresh(&heads) < BATCH / 2 && heads.len() < MOST_HEADS {
        let more = queue.take(BATCH);
        if more.is_empty() {
            break;
        }
        heads.extend(more);
    }
    queue.take_of_other_teams(&mut heads, BATCH);
    heads
}

/// Those of the heads that are asked for in this round, and the others: calls
/// that may not use every key are many only after a refusal, and one script call
/// should not grow long by them.
pub(super) fn submitted(heads: Vec<Entry<Waiter>>) -> (Vec<Entry<Waiter>>, Vec<Entry<Waiter>>) {
    let (mut picky, mut others) = (0, Vec::new());
    let mut asked = Vec::with_capacity(heads.len());
    for entry in heads {
        picky += usize::from(!entry.call.want.except.is_empty());
        if entry.call.want.except.is_empty() || picky <= BATCH {
            asked.push(entry);
        } else {
            others.push(entry);
        }
    }
    (asked, others)
}

/// Puts back who was not served; the order of arrival stays.
pub(super) fn put_back(
    queue: &mut FairQueue<Waiter>,
    denied: Vec<Entry<Waiter>>,
    held_back: Vec<Entry<Waiter>>,
) {
    let mut entries = denied;
    entries.extend(held_back);
    entries.sort_by_key(|entry| entry.ticket);
    queue.put_back(entries);
}

impl Waiter {
    /// How the limiter is asked for it.
    pub(super) fn ask(&self, place: &Place, ready: &[&LaneKey]) -> Ask {
        let want = &self.want;
        Ask {
            attempt: want.attempt.clone(),
            charge: want.charges.now,
            most: want.charges.most,
            lasts: want.lasts,
            share: Share {
                team: place.team.to_string(),
                weight: place.weight,
                cost: want.charges.cost,
            },
            except: accounts::tried_in_vain(ready, &want.except),
        }
    }
}
