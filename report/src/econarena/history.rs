//! Strategic reasoning (section 4.3, formula 4): what a player gains by seeing past runs, as
//! the same game is played with history in one setting and without in another. Which
//! settings are the same is decided here.

use std::collections::BTreeMap;

use agon_engine::SessionSpec;

use crate::gathered::Setting;
use crate::row::{Row, list};

/// What tells a setting with history from one without: these parameters.
const OF_HISTORY: [&str; 3] = ["history", "rounds", "shown"];

/// What axes over parameters begin with.
const PARAMETERS: &str = "params.";

/// What the section is called.
pub(super) const SECTION: &str = "history";

/// What a setting is called apart from its history.
pub(super) const OTHERWISE: &str = "otherwise";

/// What is compared: a measure of players with what a mean over settings is weighted with.
const COMPARED: [(&str, &str, [&str; 3]); 3] = [
    (
        "rationality",
        "n",
        [
            "rationality_without",
            "rationality_with",
            "rationality_gain",
        ],
    ),
    ("wins", "n", ["wins_without", "wins_with", "wins_gain"]),
    (
        "deviation",
        "actions",
        ["deviation_without", "deviation_with", "deviation_gain"],
    ),
];

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
pub(super) fn compare(settings: &mut [Setting]) {
    let shown = |one: &Setting| one.measures.count("history_shown");
    let without: Vec<Setting> = settings
        .iter()
        .filter(|one| shown(one) == 0)
        .cloned()
        .collect();
    for setting in settings.iter_mut().filter(|one| shown(one) > 0) {
        let otherwise = setting.fact(OTHERWISE);
        let same = without
            .iter()
            .filter(|one| one.head.game == setting.head.game && one.fact(OTHERWISE) == otherwise);
        let same: Vec<&Setting> = same.collect();
        let close = same.iter().copied().filter(|one| is_close(one, setting));
        let close: Vec<&Setting> = close.collect();
        let counterparts = if close.is_empty() { same } else { close };
        if !counterparts.is_empty() {
            let players = setting.rows("players").iter();
            let rows: Vec<Row> = players.map(|row| changed(row, &counterparts)).collect();
            if let Some(history) = setting.measures.rows_mut(SECTION) {
                *history = rows;
            }
        }
    }
}

/// Whether two settings have the same axes apart from those of history, the label included.
fn is_close(one: &Setting, other: &Setting) -> bool {
    let axes = |setting: &Setting| {
        let axes = setting.head.axes.clone().into_iter();
        let kept = axes.filter(|(axis, _)| {
            let parameter = axis.strip_prefix(PARAMETERS);
            !parameter.is_some_and(|name| OF_HISTORY.contains(&name))
        });
        kept.collect::<BTreeMap<_, _>>()
    };
    axes(one) == axes(other)
}

/// Gains are with history less without: a deviation that gains less than 0 is closer to the
/// equilibrium.
fn changed(row: &Row, counterparts: &[&Setting]) -> Row {
    let player = row.word("player");
    let same = counterparts.iter();
    let same = same.filter_map(|setting| setting.row("players", "player", player));
    let same: Vec<&Row> = same.collect();
    let settings = counterparts.iter().map(|one| one.head.setting.clone());
    let changed = Row::default()
        .with("player", player)
        .with("without", list(settings));
    COMPARED
        .into_iter()
        .fold(changed, |changed, (measure, weight, names)| {
            let (mut sum, mut weights) = (0.0, 0.0);
            for one in &same {
                if let Some(number) = one.number(measure) {
                    sum += number * one.count(weight) as f64;
                    weights += one.count(weight) as f64;
                }
            }
            let without = (weights > 0.0).then(|| sum / weights);
            let with = row.number(measure);
            let gain = with.zip(without).map(|(with, without)| with - without);
            let values = [without, with, gain];
            names
                .into_iter()
                .zip(values)
                .fold(changed, |changed, (name, value)| changed.with(name, value))
        })
}
