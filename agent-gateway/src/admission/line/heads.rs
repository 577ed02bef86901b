//! Which of the waiting calls are asked for together, and how they are written
//! for the limiter. Owns that no team is left out and that calls which may not
//! use every key do not hold up the others. Called by `admission/line.rs`.

use super::{Line, Waiter, Want};
use crate::admission::{Ask, Share};
use crate::fairness::queue::{Entry, FairQueue, Place};

/// Heads submitted together. Enough for thousands of grants per second; more
/// would make one script call long.
const BATCH: usize = 64;

/// Heads looked through for calls that may use every key.
const MOST_HEADS: usize = 1024;

/// Calls that are to be asked for together, and the teams that wait with them.
pub(super) struct Heads<'a> {
    /// Teams that wait, with their weights.
    pub waiting: Vec<(String, f64)>,
    /// Calls that are out of the queue.
    pub asked: Asked<'a>,
}

impl<'a> Heads<'a> {
    /// Everybody whose turn it is.
    pub fn next(line: &'a Line, queue: &mut FairQueue<Waiter>) -> Self {
        let waiting = teams(queue);
        let asked = Asked::of(line, (next(queue), Vec::new()));
        Self { waiting, asked }
    }

    /// The one call that waits. Whoever asks for himself takes nobody along: he may
    /// stop before the answer is here.
    pub fn alone(line: &'a Line, queue: &mut FairQueue<Waiter>) -> Self {
        let waiting = teams(queue);
        let asked = Asked::of(line, (queue.take(1), Vec::new()));
        Self { waiting, asked }
    }
}

fn teams(queue: &FairQueue<Waiter>) -> Vec<(String, f64)> {
    let teams = queue.teams();
    teams
        .map(|(team, weight, _)| (team.to_string(), weight))
        .collect()
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

/// Heads that are out of the queue and asked for. Dropped before they are
/// answered they go back into it, in doubt: what was granted may be lost.
pub(super) struct Asked<'a> {
    line: &'a Line,
    /// Those that are asked for.
    pub open: Vec<Entry<Waiter>>,
    held_back: Vec<Entry<Waiter>>,
}

impl<'a> Asked<'a> {
    /// Those that are asked for, and the others.
    pub fn of(line: &'a Line, heads: (Vec<Entry<Waiter>>, Vec<Entry<Waiter>>)) -> Self {
        let (open, held_back) = heads;
        Self {
            line,
            open,
            held_back,
        }
    }

    /// The answer is here: both parts as they were.
    pub fn answered(mut self) -> (Vec<Entry<Waiter>>, Vec<Entry<Waiter>>) {
        let held_back = std::mem::take(&mut self.held_back);
        (std::mem::take(&mut self.open), held_back)
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let mut open = std::mem::take(&mut self.open);
        let held_back = std::mem::take(&mut self.held_back);
        if open.is_empty() && held_back.is_empty() {
            return;
        }
        for entry in &mut open {
            entry.call.doubtful = true;
        }
        put_back(&mut self.line.queue.lock(), open, held_back);
        // The asker's turn: who asked may have gone.
        self.line.arrived.notify_one();
    }
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

impl Ask {
    /// What a caller wants, for the first time.
    pub(super) fn of(want: &Want, place: &Place) -> Self {
        Self {
            attempt: want.attempt.clone(),
            charge: want.charges.now,
            most: want.charges.most,
            lasts: want.lasts,
            share: Share {
                team: place.team.to_string(),
                weight: place.weight,
                cost: want.charges.cost,
            },
            except: want.except.clone(),
            again: false,
            ahead: false,
        }
    }
}
