//! The mind that answers from a record, for playing a session again: to verify it, or to see the calls
//! that its decisions answered. Asks nobody, and copies no reply that it can hand on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use agon_agents::{Mind, MindError, Reply, Thought};
use agon_engine::record::StoredRecord;
use agon_engine::{RecordedDecision, Seat};
use agon_proto::digest::CanonicalRequest;
use futures_util::future::BoxFuture;

use super::{Journal, lock};
use crate::wire::{self, Asker};

/// Where a session that is played again finds its decisions, by decision address.
pub enum Recorded {
    /// Each is taken out once, into the record that is made of it again.
    Once(Mutex<BTreeMap<(Seat, u32), RecordedDecision>>),
    /// They stay where they are; no record is made.
    Kept(Arc<Kept>),
}

/// The decisions of a record that is looked at, and the calls that they answer, as they are made again.
pub struct Kept {
    record: Arc<StoredRecord>,
    /// Places among its decisions.
    places: BTreeMap<(Seat, u32), usize>,
    calls: Mutex<Calls>,
}

/// Calls that minds were asked for, and whether each is the recorded one.
type Calls = BTreeMap<(Seat, u32), (Thought, bool)>;

impl Recorded {
    /// Decisions that are taken out one by one.
    pub fn once(decisions: Vec<RecordedDecision>) -> Self {
        let keyed = decisions.into_iter();
        let keyed = keyed.map(|decision| ((decision.seat, decision.index), decision));
        Self::Once(Mutex::new(keyed.collect()))
    }
}

impl Kept {
    /// Those of this record.
    pub fn of(record: Arc<StoredRecord>) -> Self {
        let decisions = (0..).zip(&record.decisions);
        let keyed = decisions.map(|(place, decision)| ((decision.seat, decision.index), place));
        Self {
            places: keyed.collect(),
            record,
            calls: Mutex::default(),
        }
    }

    /// Every decision's place among those of the record, by seat and index, with its call as far as that
    /// was made again; nothing is kept of these afterwards.
    pub fn take(&self) -> impl Iterator<Item = (usize, Option<(Thought, bool)>)> {
        let mut calls = std::mem::take(&mut *lock(&self.calls));
        let places = self.places.iter();
        places.map(move |(address, place)| (*place, calls.remove(address)))
    }
}

/// Answers from a record, for playing a session again. Refuses when the agent asks
/// anything else than what was recorded.
pub struct RecordedMind {
    session_id: Arc<str>,
    seat: Seat,
    next_index: AtomicU32,
    recorded: Arc<Recorded>,
    journal: Arc<Journal>,
}

impl RecordedMind {
    /// A mind for one seat of a recorded session.
    pub fn new(
        session_id: Arc<str>,
        seat: Seat,
        recorded: Arc<Recorded>,
        journal: Arc<Journal>,
    ) -> Self {
        let next_index = AtomicU32::new(0);
        Self {
            session_id,
            seat,
            next_index,
            recorded,
            journal,
        }
    }

    fn answer(&self, index: u32, thought: Thought) -> Result<Reply, String> {
        let seat = self.seat;
        let address = (seat, index);
        let missing =
            || format!("seat {seat} asked for decision {index}, which the record does not have");
        let other = || {
            format!(
                "seat {seat} asked another question at its decision {index} than the recorded one"
            )
        };
        match &*self.recorded {
            Recorded::Once(decisions) => {
                let taken = lock(decisions).remove(&address);
                let decision = taken.ok_or_else(missing)?;
                if !self.is_same(&decision, &thought)? {
                    return Err(other());
                }
                let reply = wire::reply(&decision);
                self.journal.add(decision);
                Ok(reply)
            }
            Recorded::Kept(kept) => {
                let place = kept.places.get(&address).ok_or_else(missing)?;
                let decision = &kept.record.decisions[*place];
                let is_same = self.is_same(decision, &thought)?;
                lock(&kept.calls).insert(address, (thought, is_same));
                match is_same {
                    true => Ok(wire::reply(decision)),
                    false => Err(other()),
                }
            }
        }
    }

    /// Whether a call is the one that a decision answered.
    ///
    /// # Errors
    /// It is for something else.
    fn is_same(&self, decision: &RecordedDecision, thought: &Thought) -> Result<bool, String> {
        let (seat, index) = (decision.seat, decision.index);
        let (recorded, purpose) = (&decision.purpose, thought.purpose);
        if recorded != purpose {
            return Err(format!(
                "seat {seat} asked its decision {index} for {purpose}, but it was recorded for \
                 {recorded}"
            ));
        }
        let address = wire::Address {
            session_id: &self.session_id,
            seat,
            index,
        };
        let request = wire::decide_request(&address, &Asker::default(), thought);
        Ok(CanonicalRequest::from(&request).digest() == decision.request)
    }
}

impl Mind for RecordedMind {
    fn think(&self, thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
        let index = self.next_index.fetch_add(1, Ordering::Relaxed);
        let answer = self.answer(index, thought).map_err(MindError::Impossible);
        Box::pin(std::future::ready(answer))
    }
}
