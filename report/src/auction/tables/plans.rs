//! Tables of plans: how faithful bidders are to them, and heat maps of priorities item
//! by item, which read the same whether items were sold in one order or in many.

use std::cell;

use crate::row::{Row, Value};
use crate::table::{
    Cell, Column, Line, NONE, SettingTables, count, counted, in_json, number, paragraphs, part_of,
    rounded,
};

/// Rows of heat maps that are printed: the maps of the standard competition. What goes
/// beyond, map by map, is in the JSON.
const MOST_MAP_ROWS: usize = 60;

/// What plan faithfulness is.
const FAITHFULNESS: &str = "Plan faithfulness: Spearman's rho between an item's priority and the bids \
    for it, or winning it, over all pairs of an item and an auction; p, that the correlations of \
    single auctions lie around 0 (exact signed-rank test over n auctions, those of a series \
    together counting as one); \
    kept, plans that could not be read, so that the one before stayed; for sold, priorities that \
    were given to items already sold";

/// The same over all settings.
const POOLED: &str = "Plan faithfulness over all settings taken together, as the paper pools it \
    (arXiv 2310.05746, figure 6): Spearman's rho over all pairs; settings with other budgets or \
    orders may differ, which the table above shows one by one";

/// What is said of personas.
const MATCHED: &str = "; matched, others: mean priority of remaining items that suit a bidder, and of \
    all others";

/// What heat maps show.
const HEAT_MAPS: &str = "Priority heat maps: mean priority of each item before the first, second, ... \
    item is put up";

/// What is said where orders of sale differ.
const ORDERS: &str = "; where orders of sale differ, of the auctions in which it was still to come";

const PLAN: [(&str, Cell); 10] = [
    (
        "auctions",
        Cell::Made(|row| {
            part_of(
                row.count("planned"),
                row.count("planned") + row.count("left_out"),
            )
        }),
    ),
    ("kept", Cell::Of("kept", "asked")),
    (
        "for sold",
        Cell::Made(|row| match row.count("past_items") {
            0 => String::new(),
            past => count(past),
        }),
    ),
    ("pairs", Cell::Count("pairs")),
    (
        "initial, bids",
        Cell::Made(|row| correlation(row, "initial_engagements")),
    ),
    (
        "initial, won",
        Cell::Made(|row| correlation(row, "initial_won")),
    ),
    (
        "current, bids",
        Cell::Made(|row| correlation(row, "current_engagements")),
    ),
    (
        "current, won",
        Cell::Made(|row| correlation(row, "current_won")),
    ),
    ("matched", Cell::Number("matched_priority", 2)),
    ("others", Cell::Number("unmatched_priority", 2)),
];

/// Rho without p: auctions of different settings are no repeats of each other.
const POOLED_PLAN: [(&str, Cell); 5] = [
    ("pairs", Cell::Count("pairs")),
    (
        "initial, bids",
        Cell::Made(|row| rho(row, "initial_engagements")),
    ),
    ("initial, won", Cell::Made(|row| rho(row, "initial_won"))),
    (
        "current, bids",
        Cell::Made(|row| rho(row, "current_engagements")),
    ),
    ("current, won", Cell::Made(|row| rho(row, "current_won"))),
];

/// The columns that say nothing of personas.
const WITHOUT_PERSONAS: usize = 8;

fn all_plans<'a>(tables: &SettingTables<'a>) -> impl Iterator<Item = &'a Row> {
    tables
        .settings
        .iter()
        .flat_map(|setting| setting.rows("plans"))
}

pub(super) fn plans(tables: &SettingTables<'_>) -> Option<String> {
    let mut all = all_plans(tables);
    let has_matches = all.any(|plan| plan.number("unmatched_priority").is_some());
    let title = format!("{FAITHFULNESS}{}", if has_matches { MATCHED } else { "" });
    let shown = if has_matches {
        PLAN.len()
    } else {
        WITHOUT_PERSONAS
    };
    tables.players_table(&title, &PLAN[..shown], |setting| setting.rows("plans"))
}

/// Correlations of all settings taken together.
pub(super) fn pooled(tables: &SettingTables<'_>) -> Option<String> {
    tables.players_table(POOLED, &POOLED_PLAN, |setting| setting.rows("plans"))
}

pub(super) fn heat_maps(tables: &SettingTables<'_>) -> Option<String> {
    let most = all_plans(tables)
        .map(|plan| plan.list("priorities").len())
        .max()?;
    let mut columns = vec![Column::key("player"), Column::key("item")];
    columns.extend((1..=most).map(|place| Column::number(place.to_string())));
    let (left, left_out) = (cell::Cell::new(MOST_MAP_ROWS), cell::Cell::new(0));
    let has_orders = all_plans(tables).any(|plan| !plan.flag("one_order"));
    let title = format!("{HEAT_MAPS}{}", if has_orders { ORDERS } else { "" });
    let table = tables.table(&title, columns, |setting| {
        let mut rows = Vec::new();
        for plan in setting.rows("plans") {
            let needed = plan.rows("by_item").len();
            // A map is printed whole or not at all, and none after one that was not.
            if needed > left.get() {
                left.set(0);
                left_out.set(left_out.get() + 1);
                continue;
            }
            left.set(left.get() - needed);
            rows.extend(map_rows(plan, most));
        }
        rows
    })?;
    let more = left_out.get();
    let more = (more > 0).then(|| in_json(&counted(more, "more map"), tables.layout));
    Some(paragraphs([Some(table), more]))
}

fn rho(row: &Row, name: &str) -> String {
    number(row.inner(name).number("rho"), 3)
}

/// One row per item; the player is said once.
fn map_rows(plan: &Row, rounds: usize) -> Vec<Line> {
    let rows = plan.rows("by_item").iter().enumerate().map(|(place, one)| {
        let mut cells = vec![one.word("item").to_owned()];
        let priorities = one.list("priorities");
        let known = (0..rounds).map(|round| priorities.get(round).and_then(Value::number));
        cells.extend(known.map(|priority| number(priority, 2)));
        if place == 0 {
            Line::player(plan.word("player"), cells)
        } else {
            Line::more(cells)
        }
    });
    rows.collect()
}

/// Rho, and below it of how many auctions with which p.
fn correlation(row: &Row, name: &str) -> String {
    let of = row.inner(name);
    let Some(rho) = of.number("rho") else {
        return NONE.to_owned();
    };
    let p = match of.number("p") {
        Some(p) if p < 0.001 => "p < 0.001, ".to_owned(),
        Some(p) => format!("p = {p:.3}, "),
        None => String::new(),
    };
    format!(
        "{}\n{p}n = {}",
        rounded(rho, 3),
        count(of.count("independent"))
    )
}
