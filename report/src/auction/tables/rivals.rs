//! Tables of what bidders know of their rivals: profiles item by item and at the end, by
//! how many rivals there were and how much of the auction suits them, and predictions.

use std::collections::BTreeMap;

use crate::basis::Basis;
use crate::row::Value;
use crate::table::{
    Cell, Column, Line, SettingTables, TextTable, cells_of, columns, count, headings, number,
};
use crate::wrapping::prose;

/// What profiles are compared with.
const PROFILES: &str = "Profiling error: divergence from true personas in nats, by items that were \
    over; profiles, all that could be compared, each mean being of those made by then; kept, \
    profiles that could not be read, so that the one before stayed";

/// What profiles are compared by.
const PROFILE_ENDS: &str = "Profiling error after the last item, all settings: by the number of \
    rivals, of personas of the one profiled, and of items that suit it";

/// What predictions are compared with.
const PREDICTIONS: &str = "Predictions of rivals: whether one was said to want an item, and whether it \
    bid for it";

/// Profiles at the end that were made alike.
#[derive(Default)]
struct Pooled {
    basis: Basis,
    profiles: u64,
    divergence: f64,
    baseline: f64,
}

const PREDICTION: [(&str, Cell); 8] = [
    ("predictions", Cell::Count("predictions")),
    ("open", Cell::Count("open")),
    ("right %", Cell::Percent("accuracy", 1)),
    ("rivals bid %", Cell::Percent("bid_share", 1)),
    ("wanted, bid", Cell::Count("wanted_bid")),
    ("wanted, did not", Cell::Count("wanted_silent")),
    ("unwanted, bid", Cell::Count("unwanted_bid")),
    ("unwanted, did not", Cell::Count("unwanted_silent")),
];

const PROFILE: [(&str, Cell); 5] = [
    ("auctions left out", Cell::Count("left_out")),
    ("profiles", Cell::Count("profiles")),
    ("kept", Cell::Count("kept")),
    ("no truth", Cell::Count("without_truth")),
    ("baseline", Cell::Number("baseline", 2)),
];

pub(super) fn profiles(tables: &SettingTables<'_>) -> Option<String> {
    let all = || {
        tables
            .settings
            .iter()
            .flat_map(|setting| setting.rows("profiles"))
    };
    let most = all().map(|row| row.list("divergence").len()).max()?;
    let has_left_out = all().any(|row| row.count("left_out") > 0);
    let mut names: Vec<String> = headings(&PROFILE).into_iter().map(str::to_owned).collect();
    names.extend((0..most).map(|after| format!("after {after}")));
    tables.table(PROFILES, columns("player", names), |setting| {
        let rows = setting.rows("profiles").iter().map(|row| {
            let mut cells = cells_of(row, &PROFILE);
            if !has_left_out {
                cells[0].clear();
            }
            let divergence = row.list("divergence");
            let known = (0..most).map(|after| divergence.get(after).and_then(Value::number));
            cells.extend(known.map(|divergence| number(divergence, 2)));
            Line::player(row.word("player"), cells)
        });
        rows.collect()
    })
}

/// One table over all settings of the experiment, as the paper's figure 5 has them.
pub(super) fn profile_ends(tables: &SettingTables<'_>) -> Option<String> {
    let mut pooled: BTreeMap<_, Pooled> = BTreeMap::new();
    for setting in tables.settings {
        for row in setting.rows("profile_ends") {
            let player = row.word("player");
            let known = ["rivals", "personas", "matched"].map(|name| row.count(name));
            let one = pooled.entry((player, known)).or_default();
            one.basis.merge(setting.head.basis(player));
            let profiles = row.count("profiles");
            let sum = |name: &str| row.number(name).map_or(0.0, |mean| mean * profiles as f64);
            one.profiles += profiles;
            one.divergence += sum("divergence");
            one.baseline += sum("baseline");
        }
    }
    let keys = ["player", "rivals", "personas", "matched"];
    let numbers = ["profiles", "baseline", "error"];
    let mut columns = vec![Column::key(keys[0])];
    columns.extend(
        keys[1..]
            .iter()
            .chain(&numbers)
            .copied()
            .map(Column::number),
    );
    columns.push(Column::notes());
    let mut table = TextTable::new(columns);
    for ((player, [rivals, personas, matched]), one) in pooled {
        let mean = |sum: f64| number(Some(sum / one.profiles as f64), 2);
        table.row([
            player.to_owned(),
            count(rivals),
            count(personas),
            count(matched),
            count(one.profiles),
            mean(one.baseline),
            mean(one.divergence),
            one.basis.in_words(),
        ]);
    }
    let title = prose(PROFILE_ENDS, tables.width);
    (!table.is_empty()).then(|| format!("{title}\n\n{}", table.fitted(tables.width)))
}

pub(super) fn predictions(tables: &SettingTables<'_>) -> Option<String> {
    tables.players_table(PREDICTIONS, &PREDICTION, |setting| {
        setting.rows("predictions")
    })
}
