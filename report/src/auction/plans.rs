//! Plans (arXiv 2310.05746, section 4.3): the mean priority of every item before each
//! item is sold, and how faithful bidders are to it: the rank correlation of an item's
//! priority with the bids placed on it and with winning it. Reads the `plan` notes, and
//! leaves out auctions in which most of them could not be read.

use agon_engine::Seat;
use serde::Serialize;

use super::faithfulness::{Faithfulness, Pairs};
use super::reading::{Auction, Item};
use crate::accumulator::Accumulator;
use crate::by_player::ByPlayer;

/// Plans of one player.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanRow {
    /// Its name.
    pub player: String,
    /// Auctions for which it made a plan, seat by seat.
    pub planned: u64,
    /// Auctions for which it was to make one that are left out, because it forfeited more than
    /// half of its answers, or because more than half of its plans could not be read.
    pub left_out: u64,
    /// Plans that it was asked for in the others.
    pub asked: u64,
    /// Those of them that could not be read, so that the one before stayed in force.
    pub kept: u64,
    /// Row k, column j: mean priority (1 to 3) of the item at place j of the order of sale
    /// in the plan that was in force when the item at place k was put up; places from 0,
    /// `None` for items that are over. A plan stays in force until the next.
    pub priorities: Vec<Vec<Option<f64>>>,
    /// The same item by item, whatever its place in the order of sale; items as they were
    /// sold first.
    pub by_item: Vec<ItemPriorities>,
    /// Whether all its auctions sold the same items in the same order.
    pub one_order: bool,
    /// Mean of these priorities over the remaining items that suit one of its personas, at
    /// every item that is put up; `None` without personas.
    pub matched_priority: Option<f64>,
    /// The same of the remaining items that suit none of them.
    pub unmatched_priority: Option<f64>,
    /// Pairs of an item and an auction that the correlations are computed from.
    pub pairs: u64,
    /// Priority in the plan before the first item, with accepted bids for the item.
    pub initial_engagements: Option<Faithfulness>,
    /// The same, with 1 if it won the item, else 0.
    pub initial_won: Option<Faithfulness>,
    /// Priority in the plan in force when the item was put up, with accepted bids.
    pub current_engagements: Option<Faithfulness>,
    /// The same, with 1 if it won the item, else 0.
    pub current_won: Option<Faithfulness>,
}

/// Priorities of one item, by name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemPriorities {
    /// Its name.
    pub item: String,
    /// Its starting price.
    pub starting_price: i64,
    /// Entry k: mean priority in the plan in force when the item at place k was put up,
    /// over the auctions in which this one was not yet over; `None` where it was in all.
    pub priorities: Vec<Option<f64>>,
}

/// Plans so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Plans {
    players: ByPlayer<Kept>,
}

#[derive(Debug, Clone, Default)]
struct Kept {
    planned: u64,
    left_out: u64,
    asked: u64,
    unread: u64,
    priorities: Vec<Vec<Accumulator>>,
    by_item: Vec<OneItem>,
    orders_differ: bool,
    matched: Accumulator,
    unmatched: Accumulator,
    initial_engagements: Pairs,
    initial_won: Pairs,
    current_engagements: Pairs,
    current_won: Pairs,
}

/// Priorities of one item, by name, before each round.
#[derive(Debug, Clone)]
struct OneItem {
    name: String,
    starting_price: i64,
    rounds: Vec<Accumulator>,
}

impl Plans {
    pub fn add(&mut self, auction: &Auction<'_>) {
        for (seat, player) in auction.players.iter().enumerate() {
            let plans = in_force(auction, seat);
            // Without a plan before the first item the agent is none that plans.
            let Some(Some(first)) = plans.first() else {
                continue;
            };
            let kept = self.players.of(player);
            let own = || {
                auction
                    .notes("plan")
                    .filter(|(planner, _)| *planner == seat)
            };
            let asked = own().count() as u64;
            let unread = own().filter(|(_, plan)| plan["source"] == "kept").count() as u64;
            if 2 * unread > asked || !auction.is_measured(seat) {
                kept.left_out += 1;
                continue;
            }
            kept.note_order(auction);
            kept.planned += 1;
            kept.asked += asked;
            kept.unread += unread;
            for (at, plan) in plans.iter().enumerate() {
                let (Some(plan), Some(item)) = (plan, auction.items.get(at)) else {
                    continue;
                };
                kept.add_row(at, plan);
                kept.add_by_item(at, plan, auction);
                if !auction.personas(seat).is_empty() {
                    kept.add_by_match(at, plan, auction, seat);
                }
                let (Some(Some(initial)), Some(Some(current))) = (first.get(at), plan.get(at))
                else {
                    continue;
                };
                let repeat = auction.record.spec.luck.repeat;
                let bids = item.engagements[seat];
                let is_won = item.sold.is_some_and(|(winner, _)| winner == seat);
                let won = f64::from(u8::from(is_won));
                kept.initial_engagements.add(repeat, *initial, bids);
                kept.initial_won.add(repeat, *initial, won);
                kept.current_engagements.add(repeat, *current, bids);
                kept.current_won.add(repeat, *current, won);
            }
        }
    }

    pub fn rows(&self) -> Vec<PlanRow> {
        let rows = self.players.iter();
        rows.map(|(player, kept)| kept.row(player)).collect()
    }
}

/// Priorities of every item.
type Priorities = Vec<Option<f64>>;

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

impl Kept {
    fn add_row(&mut self, at: usize, plan: &Priorities) {
        if self.priorities.len() <= at {
            self.priorities.resize(at + 1, Vec::new());
        }
        let row = &mut self.priorities[at];
        if row.len() < plan.len() {
            row.resize(plan.len(), Accumulator::default());
        }
        for (place, priority) in plan.iter().enumerate().skip(at) {
            if let Some(priority) = priority {
                row[place].add(*priority);
            }
        }
    }

    /// Whether this auction sells what those before it sold, in the same order.
    fn note_order(&mut self, auction: &Auction<'_>) {
        let sold: Vec<(&str, i64)> = auction.items.iter().map(named).collect();
        if self.planned > 0 {
            let known = self.by_item.iter();
            let known = known.map(|one| (&*one.name, one.starting_price));
            self.orders_differ |= !known.eq(sold.iter().copied());
        }
        for (name, starting_price) in sold {
            let is_known = |one: &OneItem| one.name == name && one.starting_price == starting_price;
            if !self.by_item.iter().any(is_known) {
                self.by_item.push(OneItem {
                    name: name.to_owned(),
                    starting_price,
                    rounds: Vec::new(),
                });
            }
        }
    }

    fn add_by_item(&mut self, at: usize, plan: &Priorities, auction: &Auction<'_>) {
        let remaining = plan.iter().zip(&auction.items).skip(at);
        for (priority, item) in remaining {
            let (Some(priority), (name, price)) = (priority, named(item)) else {
                continue;
            };
            let mut known = self.by_item.iter_mut();
            let is_it = |one: &&mut OneItem| one.name == name && one.starting_price == price;
            if let Some(one) = known.find(is_it) {
                if one.rounds.len() <= at {
                    one.rounds.resize(at + 1, Accumulator::default());
                }
                one.rounds[at].add(*priority);
            }
        }
    }

    fn add_by_match(&mut self, at: usize, plan: &Priorities, auction: &Auction<'_>, seat: Seat) {
        let remaining = plan.iter().zip(&auction.items).skip(at);
        for (priority, item) in remaining {
            let Some(priority) = priority else { continue };
            if auction.matches(item, seat) {
                self.matched.add(*priority);
            } else {
                self.unmatched.add(*priority);
            }
        }
    }

    fn row(&self, player: &str) -> PlanRow {
        let means = |row: &Vec<Accumulator>| row.iter().map(Accumulator::mean).collect();
        PlanRow {
            player: player.to_owned(),
            planned: self.planned,
            left_out: self.left_out,
            asked: self.asked,
            kept: self.unread,
            priorities: self.priorities.iter().map(means).collect(),
            by_item: self
                .by_item
                .iter()
                .map(|one| ItemPriorities {
                    item: one.name.clone(),
                    starting_price: one.starting_price,
                    priorities: means(&one.rounds),
                })
                .collect(),
            one_order: !self.orders_differ,
            matched_priority: self.matched.mean(),
            unmatched_priority: self.unmatched.mean(),
            pairs: self.initial_engagements.count(),
            initial_engagements: self.initial_engagements.faithfulness(),
            initial_won: self.initial_won.faithfulness(),
            current_engagements: self.current_engagements.faithfulness(),
            current_won: self.current_won.faithfulness(),
        }
    }
}

/// What tells an item from others of the same auction.
fn named<'a>(item: &Item<'a>) -> (&'a str, i64) {
    (item.name, item.starting_price)
}
