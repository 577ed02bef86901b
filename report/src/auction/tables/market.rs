//! Tables of what was bid and paid: increments in bins, bids and profits by starting
//! price, bids for each item of a world with personas, and winning bids as histograms
//! with their densities as rows of bars.

use std::collections::BTreeSet;

use crate::gathered::Setting;
use crate::row::{Row, Value};
use crate::table::{
    Cell, Cells, Column, Line, NONE, SettingTables, columns, count, grouped, number, percent,
};

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

pub(super) fn increments(tables: &SettingTables<'_>) -> Option<String> {
    let edges = numbers(tables.settings.first()?.measures.get("increment_bins"));
    let mut headings = vec!["bids".to_owned(), "mean %".to_owned()];
    headings.extend((0..edges.len()).map(|place| bin(&edges, place)));
    tables.table(INCREMENTS, columns("player", headings), |setting| {
        let rows = setting.rows("increments").iter();
        rows.map(|row| Line::player(row.word("player"), increment_cells(row)))
            .collect()
    })
}

pub(super) fn starting_prices(tables: &SettingTables<'_>) -> Option<String> {
    let all = tables.settings.iter();
    let all = all.flat_map(|one| one.rows("starting_prices"));
    let prices: BTreeSet<u64> = all.map(|row| row.count("starting_price")).collect();
    if prices.len() > MOST_PRICES {
        return None;
    }
    let mut all = vec![Column::key("player"), Column::key("measure")];
    let headings = prices.iter().map(|price| grouped(&price.to_string()));
    all.extend(headings.map(Column::number));
    tables.table(STARTING_PRICES, all, |setting| {
        let players = setting.players().into_iter();
        let rows = players.flat_map(|player| price_rows(setting, player, &prices));
        rows.collect()
    })
}

/// Only where items suit personas: by price says enough of all others.
pub(super) fn engagements(tables: &SettingTables<'_>) -> Option<String> {
    let has_personas = |setting: &&Setting| {
        let items = setting.rows("items").iter();
        let mut of_items = items.flat_map(|item| item.rows("players"));
        of_items.any(|player| player.count("matched") > 0)
    };
    let shown = tables.settings.iter().filter(has_personas);
    let mut players: Vec<&str> = Vec::new();
    for player in shown.flat_map(Setting::players) {
        if !players.contains(&player) {
            players.push(player);
        }
    }
    let all = columns("item", &players);
    tables.some_of(ENGAGEMENTS, all, MOST_ITEM_ROWS, |setting| {
        if !has_personas(&setting) {
            return Vec::new();
        }
        let rows = setting.rows("items").iter().map(|item| {
            let cells = players.iter().map(|player| engagement(item, player));
            Line::all(item.word("item"), cells.collect())
        });
        rows.collect()
    })
}

pub(super) fn winning_bids(tables: &SettingTables<'_>) -> Option<String> {
    let settings = tables.settings.iter();
    let histograms = settings.map(|setting| setting.measures.inner("winning_bids"));
    let histograms: Vec<Row> = histograms.collect();
    let bins = histograms.iter().flat_map(|table| table.rows("players"));
    let bins = bins.map(|row| row.list("counts").len()).max()?;
    let places = bins.div_ceil(BINS_PER_COLUMN);
    if places == 0 {
        return None;
    }
    let has_groups = histograms
        .iter()
        .any(|table| table.rows("groups").len() > 1);
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
    tables.table(&title, columns(of, headings), |setting| {
        let table = setting.measures.inner("winning_bids");
        let width = table.number("bin_width");
        let width = number(width.map(|width| width * BINS_PER_COLUMN as f64), 1);
        let cells = |row: &Row| {
            let mut cells = vec![count(row.count("won")), width.clone()];
            let counts = numbers(row.get("counts"));
            let sums = counts.chunks(BINS_PER_COLUMN);
            cells.extend(sums.map(|bins| count(bins.iter().sum::<f64>() as u64)));
            // Nothing was won: no bin.
            cells.resize(places + 2, NONE.to_owned());
            cells.push(match row.get("density") {
                Value::Null => NONE.to_owned(),
                density => bars(&numbers(density), bins),
            });
            cells
        };
        let groups = table.rows("groups").iter();
        let groups = groups.filter(|_| table.rows("groups").len() > 1);
        let groups = groups.map(|row| Line::all(&row.word("group").replace('_', " "), cells(row)));
        let players = table.rows("players").iter();
        let players = players.map(|row| Line::player(row.word("player"), cells(row)));
        groups.chain(players).collect()
    })
}

/// The numbers of a list.
fn numbers(list: &Value) -> Vec<f64> {
    match list {
        Value::List(values) => values.iter().filter_map(Value::number).collect(),
        _ => Vec::new(),
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

fn increment_cells(row: &Row) -> Cells {
    let mut cells = vec![count(row.count("bids")), number(row.number("mean"), 1)];
    let shares = row.list("shares");
    let counts = numbers(row.get("counts")).into_iter().enumerate();
    cells.extend(counts.map(|(place, bids)| {
        let share = shares.get(place);
        let share = share.map(|share| format!(" ({} %)", percent(share.number(), 1)));
        format!("{}{}", count(bids as u64), share.unwrap_or_default())
    }));
    cells
}

/// Three rows of a player, with a column for each starting price; the player is said once.
fn price_rows(setting: &Setting, player: &str, prices: &BTreeSet<u64>) -> Vec<Line> {
    let cells = |measure: &str, cell: Cell| {
        let mut cells = vec![measure.to_owned()];
        cells.extend(prices.iter().map(|price| {
            let mut rows = setting.rows("starting_prices").iter();
            let found = rows.find(|row| row.count("starting_price") == *price);
            let found = found.and_then(|row| of_player(row, player));
            found.map_or_else(|| NONE.to_owned(), |row| cell.of(row))
        }));
        cells
    };
    vec![
        Line::player(player, cells("bids", Cell::Number("bids", 2))),
        Line::more(cells("won", Cell::Of("won", "offered"))),
        Line::more(cells("profit", Cell::Number("profit", 1))),
    ]
}

fn engagement(item: &Row, player: &str) -> String {
    let Some(found) = of_player(item, player) else {
        return format!("{NONE} ");
    };
    // Numbers stay below each other.
    let mark = if found.count("matched") > 0 { "*" } else { " " };
    format!("{}{mark}", number(found.number("bids"), 2))
}

fn of_player<'a>(item: &'a Row, player: &str) -> Option<&'a Row> {
    let mut players = item.rows("players").iter();
    players.find(|one| one.word("player") == player)
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
