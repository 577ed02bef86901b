//! Which series of a session have one number per round: all others count seats, single answers or pairs,
//! and a chart by round would be wrong. Called by `viewing.rs`.

use agon_engine::record::StoredRecord;

use super::Series;

/// Series that games measure once per round, day or item; `engine/src/games` says what each is.
const BY_ROUND: [&str; 17] = [
    "accepts",
    "at_strongest",
    "bid_rounds",
    "distance",
    "living",
    "mean",
    "minimum_bid",
    "prices",
    "remaining",
    "returns",
    "rsr",
    "sd",
    "sold",
    "supply",
    "target",
    "total",
    "vote_accuracy",
];

/// Those of a session, by name. One without a number for every round is left out: nothing says which
/// rounds lack one.
pub(super) fn by_round(record: &StoredRecord) -> Vec<Series> {
    let rounds = record.events.iter().map(|event| event.round).max();
    let rounds = rounds.unwrap_or(0) as usize;
    let series = record.measures.series.iter();
    let series = series.filter(|(name, values)| {
        values.len() > 1 && values.len() == rounds && BY_ROUND.contains(&name.as_str())
    });
    let series = series.map(|(name, values)| Series {
        name: name.replace('_', " "),
        values: values.clone(),
    });
    series.collect()
}
