//! How well players predict their rivals (appendix C, formulas 11 and 12), round by round,
//! from the `prediction` notes of the agents that predict.

use std::collections::BTreeMap;

use agon_engine::record::StoredRecord;
use agon_engine::{Event, Seat};
use serde_json::Value;

use crate::observation::SessionObservations;

/// The kind of note in which a player predicts its rivals.
pub(super) const PREDICTION: &str = "prediction";

/// Prediction errors of a seat by round, from 1.
///
/// Of each round the deepest prediction counts, and of several as deep the last one. Rivals
/// count that were predicted and that said something; in auctions, something that their
/// balance covers.
pub(super) fn errors(
    session: &SessionObservations<'_>,
    seat: Seat,
    is_auction: bool,
) -> BTreeMap<u32, f64> {
    let deepest = deepest(session.record, seat);
    let errors = deepest.into_iter().filter_map(|(round, (_, predicted))| {
        let pairs = predicted.as_object()?.iter().filter_map(|(rival, number)| {
            let rival: Seat = rival.parse().ok().filter(|rival| *rival != seat)?;
            Some((number.as_f64()?, said(session, round, rival, is_auction)?))
        });
        let (predicted, actual): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let summed = if is_auction { highest } else { mean };
        Some((round, (summed(&predicted)? - summed(&actual)?).abs()))
    });
    errors.collect()
}

/// The results of its rounds.
pub(super) fn results(record: &StoredRecord) -> impl Iterator<Item = &Event> {
    let events = record.events.iter();
    events.filter(|event| event.kind == "round_result")
}

/// What a seat said in a round; `None` where it gave no answer or was out, and for a bid above
/// its balance.
fn said(
    session: &SessionObservations<'_>,
    round: u32,
    seat: Seat,
    is_auction: bool,
) -> Option<f64> {
    if session.is_overbid(round, seat) {
        return None;
    }
    let result = results(session.record).find(|one| one.round == round)?;
    let column = if is_auction { "bids" } else { "choices" };
    result.get(column)?.entry(seat).number()
}

/// By round, the level and the predictions.
fn deepest(record: &StoredRecord, seat: Seat) -> BTreeMap<u32, (u64, &Value)> {
    let mut deepest = BTreeMap::new();
    let notes = record.notes.iter();
    for note in notes.filter(|note| note.seat == seat && note.note == PREDICTION) {
        let body = &note.body;
        let round = body["round"]
            .as_u64()
            .and_then(|round| u32::try_from(round).ok());
        let (Some(round), Some(level)) = (round, body["level"].as_u64()) else {
            continue;
        };
        let known = deepest.get(&round);
        if known.is_none_or(|(known, _)| level >= *known) {
            deepest.insert(round, (level, &body["predicted"]));
        }
    }
    deepest
}

fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

fn highest(numbers: &[f64]) -> Option<f64> {
    numbers.iter().copied().reduce(f64::max)
}
