//! Strategic reasoning (section 4.3, formula 4): what a player gains by seeing past runs, as
//! the same game is played with history in one setting and without in another. Which
//! settings are the same is decided here.

use std::collections::BTreeMap;

use agon_engine::SessionSpec;
use serde::Serialize;

use super::{PlayerRow, SettingMeasures};

/// What tells a setting with history from one without: these parameters.
const OF_HISTORY: [&str; 3] = ["history", "rounds", "shown"];

/// What axes over parameters begin with.
const PARAMETERS: &str = "params.";

/// What history changed for one player.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryRow {
    /// Its name.
    pub player: String,
    /// The settings without history that it is compared with, in words.
    pub without: Vec<String>,
    /// Rationality degree without history.
    pub rationality_without: Option<f64>,
    /// The same with history, here.
    pub rationality_with: Option<f64>,
    /// The second less the first.
    pub rationality_gain: Option<f64>,
    /// Share of runs won without history.
    pub wins_without: Option<f64>,
    /// The same with history, here.
    pub wins_with: Option<f64>,
    /// The second less the first.
    pub wins_gain: Option<f64>,
    /// Mean deviation distance without history.
    pub deviation_without: Option<f64>,
    /// The same with history, here.
    pub deviation_with: Option<f64>,
    /// The second less the first: below 0 is closer to the equilibrium.
    pub deviation_gain: Option<f64>,
}

/// What a setting is apart from history and from its label: all other parameters, and who
/// sits where.
pub(super) fn otherwise(spec: &SessionSpec) -> String {
    let params = spec.params.iter();
    let params: BTreeMap<_, _> = params
        .filter(|(name, _)| !OF_HISTORY.contains(&&***name))
        .collect();
    let seats: Vec<&str> = spec.seats.iter().map(|seat| &*seat.name).collect();
    serde_json::json!([params, seats]).to_string()
}

/// Fills in what history changed, for every setting with history that has a counterpart.
///
/// Counterparts play the same game with the same other parameters and seats. Where some of
/// them have the same label and the same other axes, these alone are taken; otherwise all.
pub(super) fn compare(settings: &mut [SettingMeasures]) {
    let without: Vec<SettingMeasures> = settings
        .iter()
        .filter(|one| one.history_shown == 0)
        .cloned()
        .collect();
    for setting in settings.iter_mut().filter(|one| one.history_shown > 0) {
        let same = without
            .iter()
            .filter(|one| one.head.game == setting.head.game && one.otherwise == setting.otherwise);
        let same: Vec<&SettingMeasures> = same.collect();
        let close = same.iter().copied().filter(|one| is_close(one, setting));
        let close: Vec<&SettingMeasures> = close.collect();
        let counterparts = if close.is_empty() { same } else { close };
        if !counterparts.is_empty() {
            let rows = setting.players.iter();
            setting.history = rows.map(|row| changed(row, &counterparts)).collect();
        }
    }
}

/// Whether two settings have the same axes apart from those of history, the label included.
fn is_close(one: &SettingMeasures, other: &SettingMeasures) -> bool {
    let axes = |setting: &SettingMeasures| {
        let axes = setting.head.axes.clone().into_iter();
        let kept = axes.filter(|(axis, _)| {
            let parameter = axis.strip_prefix(PARAMETERS);
            !parameter.is_some_and(|name| OF_HISTORY.contains(&name))
        });
        kept.collect::<BTreeMap<_, _>>()
    };
    axes(one) == axes(other)
}

fn changed(row: &PlayerRow, counterparts: &[&SettingMeasures]) -> HistoryRow {
    let same = counterparts.iter().flat_map(|setting| &setting.players);
    let same: Vec<&PlayerRow> = same.filter(|one| one.player == row.player).collect();
    let mean = |of: fn(&PlayerRow) -> Option<f64>, weight: fn(&PlayerRow) -> u64| {
        let known = same.iter().filter_map(|one| Some((of(one)?, weight(one))));
        let (mut sum, mut weights) = (0.0, 0.0);
        for (number, weight) in known {
            sum += number * weight as f64;
            weights += weight as f64;
        }
        (weights > 0.0).then(|| sum / weights)
    };
    let less = |with: Option<f64>, without: Option<f64>| Some(with? - without?);
    let rationality = mean(|one| one.rationality, |one| one.n);
    let wins = mean(|one| one.wins, |one| one.n);
    let deviation = mean(|one| one.deviation, |one| one.actions);
    let settings = counterparts.iter();
    HistoryRow {
        player: row.player.clone(),
        without: settings.map(|one| one.head.setting.clone()).collect(),
        rationality_without: rationality,
        rationality_with: row.rationality,
        rationality_gain: less(row.rationality, rationality),
        wins_without: wins,
        wins_with: row.wins,
        wins_gain: less(row.wins, wins),
        deviation_without: deviation,
        deviation_with: row.deviation,
        deviation_gain: less(row.deviation, deviation),
    }
}
