//! Which reply is which answer: the calls in which a player answers asks are its attempts, in
//! order. Agents make further calls for themselves, which answer nothing. Called by the story
//! and by `agon show --prompts`.

use std::collections::BTreeMap;

use agon_engine::record::{StoredMove, StoredRecord};
use agon_engine::{RecordedDecision, Seat};

/// Calls that are made for an answer to an ask, by their purpose.
const ANSWERING: [&str; 2] = ["act", "bid"];

/// The replies to asks by seat, one for each attempt of its moves. A seat whose agent answers
/// in several calls of one purpose is left out: nobody can tell which of them was refused.
pub fn replies(record: &StoredRecord) -> BTreeMap<Seat, Vec<&RecordedDecision>> {
    let mut found: BTreeMap<Seat, Vec<&RecordedDecision>> = BTreeMap::new();
    for decision in &record.decisions {
        if ANSWERING.contains(&decision.purpose.as_str()) {
            found.entry(decision.seat).or_default().push(decision);
        }
    }
    let mut wanted: BTreeMap<Seat, usize> = BTreeMap::new();
    for made in &record.moves {
        *wanted.entry(made.seat).or_default() += of_move(made);
    }
    found.retain(|seat, replies| Some(&replies.len()) == wanted.get(seat));
    found
}

/// The places among all decisions of those replies that were refused, as far as that can be told.
pub fn refused(record: &StoredRecord) -> Vec<usize> {
    let told = replies(record);
    let mut found: BTreeMap<Seat, Vec<usize>> = BTreeMap::new();
    for (place, decision) in record.decisions.iter().enumerate() {
        let is_attempt = ANSWERING.contains(&decision.purpose.as_str());
        if is_attempt && told.contains_key(&decision.seat) {
            found.entry(decision.seat).or_default().push(place);
        }
    }
    let moves = record.moves.iter().zip(before(record));
    let refused = moves.filter_map(|(made, before)| {
        let attempts = found.get(&made.seat)?;
        attempts.get(before..before + made.fouls.len())
    });
    refused.flatten().copied().collect()
}

/// How many answers the seat of each move had given before it.
pub fn before(record: &StoredRecord) -> Vec<usize> {
    let mut given: BTreeMap<Seat, usize> = BTreeMap::new();
    let before = record.moves.iter().map(|made| {
        let given = given.entry(made.seat).or_default();
        let before = *given;
        *given += of_move(made);
        before
    });
    before.collect()
}

/// How many answers a move took.
pub fn of_move(made: &StoredMove) -> usize {
    made.fouls.len() + usize::from(!made.forfeited)
}
