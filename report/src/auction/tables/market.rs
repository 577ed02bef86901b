//! Tables of what was bid and paid: increments in bins, bids and profits by starting
//! price, bids for each item of a world with personas, and winning bids as histograms
//! with their densities as rows of bars.

use std::collections::BTreeSet;

use super::Tables;
use crate::auction::{IncrementRow, ItemPlayer, ItemRow, SettingMeasures};
use crate::table::{Cells, Column, Line, NONE, columns, count, grouped, number, percent};

/// Starting prices that a table has columns for: the default items have five. Houses have
/// a price each; those of more are in the JSON.
const MOST_PRICES: usize = 10;

/// Rows of items that are printed; the settings that go beyond are in the JSON.
const MOST_ITEM_ROWS: usize = 60;

/// What is counted of increments.
const INCREMENTS: &str = "Bid increments in percent of the bidder's own highest offer before, or of \
    the starting price: bids in each bin, and their share";

/// What is counted by starting price.
const STARTING_PRICES: &str = "Items by starting price: mean bids of a seat each time that one was \
    put up, how many it won of those put up, and mean profit of those it won";

/// What is counted item by item.
const ENGAGEMENTS: &str = "Engagements: mean accepted bids of a seat for each item; * where it suits \
    one of the seat's personas";

/// What winning bids are shown as.
const WINNING_BIDS: &str = "how many fell into each bin from 0 to the highest of the setting, and \
    their density over the same, every winning bid counting alike";

/// Bins of a histogram that make one printed column: twenty bins, ten columns.
const BINS_PER_COLUMN: usize = 2;

/// Heights of one density, lowest first.
const BARS: [char; 8] = [
    '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}',
];

impl Tables<'_> {
    pub(super) fn increments(&self) -> Option<String> {
        let edges = &self.settings.first()?.increment_bins;
        let mut headings = vec!["bids".to_owned(), "mean %".to_owned()];
        headings.extend((0..edges.len()).map(|place| bin(edges, place)));
        self.table(INCREMENTS, columns("player", headings), |setting| {
            let rows = setting.increments.iter();
            rows.map(|row| Line::player(&row.player, increment_cells(row)))
                .collect()
        })
    }

    pub(super) fn starting_prices(&self) -> Option<String> {
        let all = self.settings.iter().flat_map(|one| &one.starting_prices);
        let prices: BTreeSet<i64> = all.map(|row| row.starting_price).collect();
        if prices.len() > MOST_PRICES {
            return None;
        }
        let mut all = vec![Column::key("player"), Column::key("measure")];
        let headings = prices.iter().map(|price| grouped(&price.to_string()));
        all.extend(headings.map(Column::number));
        self.table(STARTING_PRICES, all, |setting| {
            let players = setting.players.iter();
            let rows = players.flat_map(|row| price_rows(setting, &row.player, &prices));
            rows.collect()
        })
    }

    /// Only where items suit personas: by price says enough of all others.
    pub(super) fn engagements(&self) -> Option<String> {
        let has_personas = |setting: &&SettingMeasures| {
            let mut of_items = setting.items.iter().flat_map(|item| &item.players);
            of_items.any(|player| player.matched > 0)
        };
        let shown = self.settings.iter().filter(has_personas);
        let mut players: Cells = Vec::new();
        for row in shown.flat_map(|setting| &setting.players) {
            if !players.contains(&row.player) {
                players.push(row.player.clone());
            }
        }
        let all = columns("item", &players);
        self.some_of(ENGAGEMENTS, all, MOST_ITEM_ROWS, |setting| {
            if !has_personas(&setting) {
                return Vec::new();
            }
            let rows = setting.items.iter().map(|item| {
                let name = item.item.as_deref().unwrap_or(NONE);
                let cells = players.iter().map(|player| engagement(item, player));
                Line::all(name, cells.collect())
            });
            rows.collect()
        })
    }

    pub(super) fn winning_bids(&self) -> Option<String> {
        let tables = || self.settings.iter().map(|setting| &setting.winning_bids);
        let bins = tables().flat_map(|table| &table.players);
        let bins = bins.map(|row| row.counts.len()).max()?;
        let places = bins.div_ceil(BINS_PER_COLUMN);
        if places == 0 {
            return None;
        }
        let has_groups = tables().any(|table| table.groups.len() > 1);
        let mut headings = vec!["won".to_owned(), "bin width".to_owned()];
        headings.extend((1..=places).map(|place| place.to_string()));
        headings.push("density".to_owned());
        let (of, whose) = if has_groups {
            (
                "group or player",
                "group of bidders out for the same, and by player",
            )
        } else {
            ("player", "player")
        };
        let title = format!("Winning bids by {whose}: {WINNING_BIDS}");
        self.table(&title, columns(of, headings), |setting| {
            let table = &setting.winning_bids;
            let width = number(Some(table.bin_width * BINS_PER_COLUMN as f64), 1);
            let cells = |won: u64, counts: &[u64], density: Option<&[f64]>| {
                let mut cells = vec![count(won), width.clone()];
                let sums = counts.chunks(BINS_PER_COLUMN);
                cells.extend(sums.map(|bins| count(bins.iter().sum())));
                // Nothing was won: no bin.
                cells.resize(places + 2, NONE.to_owned());
                cells.push(density.map_or_else(|| NONE.to_owned(), |density| bars(density, bins)));
                cells
            };
            let groups = table.groups.iter().filter(|_| table.groups.len() > 1);
            let groups = groups.map(|row| {
                let cells = cells(row.won, &row.counts, row.density.as_deref());
                Line::all(&row.group.replace('_', " "), cells)
            });
            let players = table.players.iter().map(|row| {
                let cells = cells(row.won, &row.counts, row.density.as_deref());
                Line::player(&row.player, cells)
            });
            groups.chain(players).collect()
        })
    }
}

/// A bin in words: with its lower edge, without its upper one.
fn bin(edges: &[f64], place: usize) -> String {
    let from = edges[place];
    edges.get(place + 1).map_or_else(
        || format!("{from} and above"),
        |to| format!("[{from}, {to})"),
    )
}

fn increment_cells(row: &IncrementRow) -> Cells {
    let mut cells = vec![count(row.bids), number(row.mean, 1)];
    let counts = row.counts.iter().enumerate().map(|(place, bids)| {
        let share = row.shares.get(place).copied();
        let share = share.map_or_else(String::new, |one| format!(" ({} %)", percent(Some(one), 1)));
        format!("{}{share}", count(*bids))
    });
    cells.extend(counts);
    cells
}

/// Three rows of a player, with a column for each starting price; the player is said once.
fn price_rows(setting: &SettingMeasures, player: &str, prices: &BTreeSet<i64>) -> Vec<Line> {
    let cells = |measure: &str, cell: fn(&ItemPlayer) -> String| {
        let mut cells = vec![measure.to_owned()];
        cells.extend(prices.iter().map(|price| {
            let mut rows = setting.starting_prices.iter();
            let found = rows.find(|row| row.starting_price == *price);
            let found = found.and_then(|row| of_player(row, player));
            found.map_or_else(|| NONE.to_owned(), cell)
        }));
        cells
    };
    let won = |one: &ItemPlayer| format!("{} of {}", count(one.won), count(one.offered));
    vec![
        Line::player(player, cells("bids", |one| number(one.bids, 2))),
        Line::more(cells("won", won)),
        Line::more(cells("profit", |one| number(one.profit, 1))),
    ]
}

fn engagement(item: &ItemRow, player: &str) -> String {
    let Some(found) = of_player(item, player) else {
        return format!("{NONE} ");
    };
    // Numbers stay below each other.
    let mark = if found.matched > 0 { "*" } else { " " };
    format!("{}{mark}", number(found.bids, 2))
}

fn of_player<'a>(item: &'a ItemRow, player: &str) -> Option<&'a ItemPlayer> {
    item.players.iter().find(|one| one.player == player)
}

/// A density as one bar per bin, each the mean of its points, the highest of full height.
fn bars(density: &[f64], bins: usize) -> String {
    let per_bin = (density.len() / bins.max(1)).max(1);
    let means: Vec<f64> = (0..bins)
        .map(|place| {
            let points = density.iter().skip(place * per_bin).take(per_bin + 1);
            let (sum, count) =
                points.fold((0.0, 0.0), |(sum, count), one| (sum + one, count + 1.0));
            sum / f64::max(count, 1.0)
        })
        .collect();
    let highest = means.iter().copied().fold(0.0, f64::max);
    let bar = |mean: &f64| {
        let height = if highest > 0.0 { mean / highest } else { 0.0 };
        let place = (height * (BARS.len() - 1) as f64).round() as usize;
        BARS[place.min(BARS.len() - 1)]
    };
    means.iter().map(bar).collect()
}
