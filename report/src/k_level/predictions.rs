//! How well players predict their rivals (appendix C, formulas 11 and 12), round by round,
//! from the `prediction` notes of the agents that predict.

use std::collections::BTreeMap;

use agon_engine::Seat;
use agon_engine::record::StoredRecord;
use serde_json::Value;

use super::reading::{PREDICTION, Played};

/// Prediction errors of a seat by round, from 1.
///
/// Of each round the deepest prediction counts, and of several as deep the last one. Rivals
/// count that were predicted and that said something; in auctions, something that their
/// balance covers.
pub(super) fn errors(played: &Played<'_>, seat: Seat) -> BTreeMap<u32, f64> {
    let deepest = deepest(played.record, seat);
    let errors = deepest.into_iter().filter_map(|(round, (_, predicted))| {
        let pairs = predicted.as_object()?.iter().filter_map(|(rival, said)| {
            let rival: Seat = rival.parse().ok().filter(|rival| *rival != seat)?;
            Some((said.as_f64()?, played.said(round, rival)?))
        });
        let (predicted, actual): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let summed = if played.is_auction { highest } else { mean };
        Some((round, (summed(&predicted)? - summed(&actual)?).abs()))
    });
    errors.collect()
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
