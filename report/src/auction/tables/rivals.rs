//! Tables of what bidders know of their rivals: profiles item by item and at the end, by
//! how many rivals there were and how much of the auction suits them, and predictions.

use std::collections::BTreeMap;

use super::Tables;
use crate::basis::Basis;
use crate::table::{Cells, Column, Line, TextTable, columns, count, number, percent};
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

impl Tables<'_> {
    pub(super) fn profiles(&self) -> Option<String> {
        let all = || self.settings.iter().flat_map(|setting| &setting.profiles);
        let most = all().map(|row| row.divergence.len()).max()?;
        let has_left_out = all().any(|row| row.left_out > 0);
        let fixed = [
            "auctions left out",
            "profiles",
            "kept",
            "no truth",
            "baseline",
        ];
        let mut headings: Vec<String> = fixed.map(str::to_owned).into();
        headings.extend((0..most).map(|after| format!("after {after}")));
        self.table(PROFILES, columns("player", headings), |setting| {
            let rows = setting.profiles.iter().map(|row| {
                let counts = [row.left_out, row.profiles, row.kept, row.without_truth];
                let mut cells: Cells = counts.map(count).into();
                if !has_left_out {
                    cells[0].clear();
                }
                cells.push(number(row.baseline, 2));
                let known = (0..most).map(|after| row.divergence.get(after).copied().flatten());
                cells.extend(known.map(|divergence| number(divergence, 2)));
                Line::player(&row.player, cells)
            });
            rows.collect()
        })
    }

    /// One table over all settings of the experiment, as the paper's figure 5 has them.
    pub(super) fn profile_ends(&self) -> Option<String> {
        let mut pooled: BTreeMap<_, Pooled> = BTreeMap::new();
        for setting in self.settings {
            for row in &setting.profile_ends {
                let key = (&row.player, row.rivals, row.personas, row.matched);
                let one = pooled.entry(key).or_default();
                one.basis.merge(setting.head.basis(&row.player));
                one.profiles += row.profiles;
                one.divergence += row.divergence * row.profiles as f64;
                one.baseline += row.baseline * row.profiles as f64;
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
        for ((player, rivals, personas, matched), one) in pooled {
            let mean = |sum: f64| number(Some(sum / one.profiles as f64), 2);
            table.row([
                player.clone(),
                count(rivals),
                count(personas),
                count(matched),
                count(one.profiles),
                mean(one.baseline),
                mean(one.divergence),
                one.basis.in_words(),
            ]);
        }
        let title = prose(PROFILE_ENDS, self.width);
        (!table.is_empty()).then(|| format!("{title}\n\n{}", table.fitted(self.width)))
    }

    pub(super) fn predictions(&self) -> Option<String> {
        let headings = [
            "predictions",
            "open",
            "right %",
            "rivals bid %",
            "wanted, bid",
            "wanted, did not",
            "unwanted, bid",
            "unwanted, did not",
        ];
        self.table(PREDICTIONS, columns("player", headings), |setting| {
            let rows = setting.predictions.iter().map(|row| {
                let mut cells: Cells = vec![
                    count(row.predictions),
                    count(row.open),
                    percent(row.accuracy, 1),
                    percent(row.bid_share, 1),
                ];
                let counts = [
                    row.wanted_bid,
                    row.wanted_silent,
                    row.unwanted_bid,
                    row.unwanted_silent,
                ];
                cells.extend(counts.map(count));
                Line::player(&row.player, cells)
            });
            rows.collect()
        })
    }
}
