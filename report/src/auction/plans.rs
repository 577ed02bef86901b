//! Plans (arXiv 2310.05746, section 4.3): the mean priority of every item before each item is
//! sold, and how faithful bidders are to it. Reads the `plan` notes, and leaves out auctions in
//! which most of them could not be read.

use agon_engine::Seat;

use super::sale::Auction;
use super::sections::{ITEM_PRIORITIES, PLANNED_ITEMS, PLANS, PRIORITIES};
use crate::gathered::Gathered;
use crate::observation::{At, SessionObservations};
use crate::row::{Row, Value, list};
use crate::statistics::spearman;

/// Correlations of an auction: which plan with which action, by their places among priorities and
/// actions.
const CORRELATIONS: [(&str, usize, usize); 4] = [
    ("initial plan, bids", 0, 2),
    ("initial plan, won", 0, 3),
    ("current plan, bids", 1, 2),
    ("current plan, won", 1, 3),
];

/// Priorities of every item.
type Priorities = Vec<Option<f64>>;

/// Adds the observations of all bidders that plan.
pub(super) fn observe<'a>(seen: &mut SessionObservations<'a>, auction: &Auction<'a>) {
    for seat in 0..seen.seats() {
        let plans = in_force(auction, seat);
        // Without a plan before the first item the agent is none that plans.
        let Some(Some(first)) = plans.first() else {
            continue;
        };
        let own = || {
            auction
                .notes("plan")
                .filter(|(planner, _)| *planner == seat)
        };
        let asked = own().count();
        let unread = own().filter(|(_, plan)| plan["source"] == "kept").count();
        let at = At::seat(seat);
        if 2 * unread > asked || !seen.is_measured(seat) {
            seen.push(at, "plans_left_out", 1.0);
            continue;
        }
        seen.push(at, "plans_asked", asked as f64);
        seen.push(at, "plans_kept", unread as f64);
        let past = own().filter_map(|(_, plan)| plan["past_items"].as_array());
        let past: usize = past.map(Vec::len).sum();
        seen.push(at, "past_items", past as f64);
        for (place, item) in auction.items.iter().enumerate() {
            let at = at.item(item.name, Some(item.starting_price));
            seen.push(at, "for_sale", place as f64);
        }
        // Initial and current priority, bids and winning, by item.
        let mut pairs: [Vec<f64>; 4] = Default::default();
        for (place, plan) in plans.iter().enumerate() {
            let Some(plan) = plan else { continue };
            priorities(seen, auction, seat, place, plan);
            let (Some(Some(initial)), Some(Some(current)), Some(item)) =
                (first.get(place), plan.get(place), auction.items.get(place))
            else {
                continue;
            };
            let is_won = item.sold.is_some_and(|(winner, _)| winner == seat);
            let at = at.item(item.name, Some(item.starting_price));
            seen.push(at, "initial_priority", *initial);
            seen.push(at, "current_priority", *current);
            seen.push(at, "plan_bids", item.engagements[seat]);
            seen.push(at, "plan_won", f64::from(u8::from(is_won)));
            let repeat = seen.record.spec.luck.repeat;
            seen.push(at, "plan_repeat", f64::from(repeat));
            let won = f64::from(u8::from(is_won));
            for (all, one) in
                pairs
                    .iter_mut()
                    .zip([*initial, *current, item.engagements[seat], won])
            {
                all.push(one);
            }
        }
        for (name, plan, action) in CORRELATIONS {
            let rho = spearman(&pairs[plan], &pairs[action]).ok().flatten();
            let at = At::seat(seat).category(Some(name));
            seen.push(at, "plan_correlation", rho.map(|one| one.rho));
        }
    }
}

/// Of the items that remain when the one at this place is put up.
fn priorities<'a>(
    seen: &mut SessionObservations<'a>,
    auction: &Auction<'a>,
    seat: Seat,
    place: usize,
    plan: &Priorities,
) {
    let has_personas = !auction.personas(seat).is_empty();
    for (lot, priority) in plan.iter().enumerate().skip(place) {
        let at = At {
            lot: u32::try_from(lot).ok(),
            round: u32::try_from(place).ok(),
            ..At::seat(seat)
        };
        let Some(item) = auction.items.get(lot) else {
            seen.push(at, "priority", *priority);
            continue;
        };
        let at = at.item(item.name, Some(item.starting_price));
        seen.push(at, "priority", *priority);
        let measure = if auction.matches(item, seat) {
            "matched_priority"
        } else {
            "unmatched_priority"
        };
        seen.push(at, measure, priority.filter(|_| has_personas));
    }
}

/// A seat's plan in force when each item was put up; the last one made before it counts.
fn in_force(auction: &Auction<'_>, seat: Seat) -> Vec<Option<Priorities>> {
    let mut made: Vec<Option<Priorities>> = vec![None; auction.items.len()];
    for (planner, plan) in auction.notes("plan") {
        let at = plan["at_item"].as_u64().map(|at| at as usize);
        let (Some(at), Some(numbers)) = (at, plan["priorities"].as_array()) else {
            continue;
        };
        if planner == seat && at < made.len() {
            made[at] = Some(numbers.iter().map(|number| number.as_f64()).collect());
        }
    }
    let mut current: Option<Priorities> = None;
    for (at, plan) in made.iter_mut().enumerate() {
        match (plan.as_ref(), current.as_ref()) {
            // What a plan leaves open keeps the priority it had.
            (Some(new), Some(old)) => {
                let filled = old.iter().enumerate().map(|(place, old)| {
                    let new = new.get(place).copied().flatten();
                    new.or(if place >= at { *old } else { None })
                });
                current = Some(filled.collect());
            }
            (Some(new), None) => current = Some(new.clone()),
            (None, _) => {}
        }
        plan.clone_from(&current);
    }
    made
}

/// The plans of every player, with their heat maps by place in the order of sale and by item;
/// items as they were sold first.
pub(super) fn rows<K>(gathered: &Gathered<K>) -> Vec<Row> {
    let [by_lot, by_item, items] =
        [PRIORITIES, ITEM_PRIORITIES, PLANNED_ITEMS].map(|section| gathered.rows(section.name));
    let rows = gathered.rows(PLANS.name).into_iter().map(|row| {
        let own = |all: &[Row]| -> Vec<Row> {
            let own = all
                .iter()
                .filter(|one| one.get("player") == row.get("player"));
            own.cloned().collect()
        };
        let by_lot = own(&by_lot);
        let rounds = by_lot.iter().map(|one| one.count("round") + 1).max();
        let priorities = (0..rounds.unwrap_or(0)).map(|round| {
            let of_round = by_lot.iter().filter(|one| one.count("round") == round);
            mean_by(of_round, "lot")
        });
        let (by_item, items) = (own(&by_item), own(&items));
        let auctions = row.count("planned");
        let one_order = items
            .iter()
            .all(|item| item.count("auctions") == auctions && item.flag("is_in_one_place"));
        let of_items = items.iter().map(|item| {
            let own = by_item.iter().filter(|one| {
                one.get("item") == item.get("item")
                    && one.get("starting_price") == item.get("starting_price")
            });
            Row::default()
                .with("item", item.get("item").clone())
                .with("starting_price", item.get("starting_price").clone())
                .with("priorities", mean_by(own, "round"))
        });
        let of_items: Vec<Row> = of_items.collect();
        let priorities = Value::List(priorities.collect());
        let (counts, correlations) = row.split(5);
        counts
            .with("priorities", priorities)
            .with("by_item", of_items)
            .with("one_order", one_order)
            .and(correlations)
    });
    rows.collect()
}

/// Mean priorities by place from 0, not defined where there is none.
fn mean_by<'a>(rows: impl Iterator<Item = &'a Row>, place: &str) -> Value {
    let mut means: Vec<Option<f64>> = Vec::new();
    for row in rows {
        let place = row.count(place) as usize;
        means.resize(means.len().max(place + 1), None);
        means[place] = row.number("priority");
    }
    list(means)
}
