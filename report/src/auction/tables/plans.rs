//! Tables of plans: how faithful bidders are to them, and heat maps of priorities item
//! by item, which read the same whether items were sold in one order or in many.

use std::cell::Cell;

use super::Tables;
use crate::auction::{Faithfulness, PlanRow};
use crate::table::{
    Cells, Column, Line, NONE, columns, count, counted, in_json, number, paragraphs, part_of,
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
    kept, plans that could not be read, so that the one before stayed";

/// What is said of personas.
const MATCHED: &str = "; matched, others: mean priority of remaining items that suit a bidder, and of \
    all others";

/// What heat maps show.
const HEAT_MAPS: &str = "Priority heat maps: mean priority of each item before the first, second, ... \
    item is put up";

/// What is said where orders of sale differ.
const ORDERS: &str = "; where orders of sale differ, of the auctions in which it was still to come";

impl Tables<'_> {
    pub(super) fn plans(&self) -> Option<String> {
        let mut all = self.settings.iter().flat_map(|setting| &setting.plans);
        let has_matches = all.any(|plan| plan.unmatched_priority.is_some());
        let headings = [
            "auctions",
            "kept",
            "pairs",
            "initial, bids",
            "initial, won",
            "current, bids",
            "current, won",
            "matched",
            "others",
        ];
        let title = format!("{FAITHFULNESS}{}", if has_matches { MATCHED } else { "" });
        self.table(&title, columns("player", headings), |setting| {
            let rows = setting.plans.iter().map(|row| {
                let mut cells = plan_cells(row);
                let of_matches = [row.matched_priority, row.unmatched_priority];
                cells.extend(of_matches.map(|priority| match (has_matches, priority) {
                    (false, _) => String::new(),
                    (true, priority) => number(priority, 2),
                }));
                Line::player(&row.player, cells)
            });
            rows.collect()
        })
    }

    pub(super) fn heat_maps(&self) -> Option<String> {
        let all = || self.settings.iter().flat_map(|setting| &setting.plans);
        let most = all().map(|plan| plan.priorities.len()).max()?;
        let mut columns = vec![Column::key("player"), Column::key("item")];
        columns.extend((1..=most).map(|place| Column::number(place.to_string())));
        let (left, left_out) = (Cell::new(MOST_MAP_ROWS), Cell::new(0));
        let has_orders = all().any(|plan| !plan.one_order);
        let title = format!("{HEAT_MAPS}{}", if has_orders { ORDERS } else { "" });
        let table = self.table(&title, columns, |setting| {
            let mut rows = Vec::new();
            for plan in &setting.plans {
                let needed = plan.by_item.len();
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
        let more = (more > 0).then(|| in_json(&counted(more, "more map"), self.width));
        Some(paragraphs([Some(table), more]))
    }
}

/// One row per item; the player is said once.
fn map_rows(plan: &PlanRow, rounds: usize) -> Vec<Line> {
    let rows = plan.by_item.iter().enumerate().map(|(place, one)| {
        let mut cells = vec![one.item.clone()];
        let known = (0..rounds).map(|round| one.priorities.get(round).copied().flatten());
        cells.extend(known.map(|priority| number(priority, 2)));
        if place == 0 {
            Line::player(&plan.player, cells)
        } else {
            Line::more(cells)
        }
    });
    rows.collect()
}

fn plan_cells(row: &PlanRow) -> Cells {
    let correlation = |one: Option<Faithfulness>| match one {
        Some(Faithfulness {
            rho,
            p,
            independent,
        }) => {
            let p = match p {
                Some(p) if p < 0.001 => "p < 0.001, ".to_owned(),
                Some(p) => format!("p = {p:.3}, "),
                None => String::new(),
            };
            format!("{}\n{p}n = {}", rounded(rho, 3), count(independent))
        }
        None => NONE.to_owned(),
    };
    let mut cells = vec![
        part_of(row.planned, row.planned + row.left_out),
        format!("{} of {}", count(row.kept), count(row.asked)),
        count(row.pairs),
    ];
    let all = [
        row.initial_engagements,
        row.initial_won,
        row.current_engagements,
        row.current_won,
    ];
    cells.extend(all.map(correlation));
    cells
}
