//! What can be said of an auction before it is held: bounds, and what bidders
//! lead to who raise by the least amount up to their estimates. Such bidding is
//! the equilibrium of ascending auctions of private values (Vickrey 1961; Milgrom
//! and Weber 1982), and bidders here know nothing but their own estimates.

use super::{EnglishAuctionParams, Item, Objective};
use crate::games::prelude::*;

/// The score of a session: profits of all bidders together as a percentage of the
/// true values less the starting prices of all items.
pub(super) const PROFIT_RATIO: &str = "profit_ratio";

/// Bids that one bidder makes for an item in a usual session: the rule bidder of
/// the paper stops after four.
const USUAL_BIDS: u32 = 4;

/// The most asks of one seat: those of every item at the slowest pace.
pub(super) fn most_asks(params: &EnglishAuctionParams) -> u32 {
    let rounds = params.items.iter().map(|item| most_rounds(params, item));
    rounds.fold(0, u32::saturating_add)
}

/// Most bid rounds of an item: every round with bids raises the highest by the
/// minimum increase, and no bid is above the largest budget; then one in which all
/// withdraw, and one before each discount.
fn most_rounds(params: &EnglishAuctionParams, item: &Item) -> u32 {
    let budget = largest(params.budget.of(params.players));
    let mut longest = 0;
    let mut increase = params.increase(item.starting_price);
    for (discounts, price) in params.starting_prices(item).enumerate() {
        if params.minimum_increase_follows_discount {
            increase = params.increase(price);
        }
        let raises = match increase {
            _ if price > budget => 0,
            0 => i64::MAX / 2,
            _ => (budget - price) / increase + 1,
        };
        longest = longest.max(raises + discounts as i64 + 1);
    }
    u32::try_from(longest)
        .unwrap_or(u32::MAX)
        .min(params.max_rounds)
}

pub(super) fn usual_asks(params: &EnglishAuctionParams) -> u32 {
    let usual = (params.items.len() as u32).saturating_mul(USUAL_BIDS);
    usual.min(most_asks(params))
}

/// A loss is at most a whole budget, a gain at most everything at its lowest
/// starting price.
pub(super) fn payoff_bounds(params: &EnglishAuctionParams) -> (f64, f64) {
    let gain: i64 = params
        .items
        .iter()
        .map(|item| (item.true_value - lowest_price(params, item)).max(0))
        .sum();
    let objectives = params.objective.of(params.players);
    let of_seat = |(objective, budget): (Objective, i64)| match objective {
        Objective::MaximizeProfit => (-budget as f64, gain as f64),
        Objective::MaximizeItems => (0.0, params.items.len() as f64),
    };
    let bounds = objectives.into_iter().zip(params.budget.of(params.players));
    bounds.map(of_seat).fold((0.0, 0.0), |all, one| {
        (smaller(all.0, one.0), larger(all.1, one.1))
    })
}

/// What everybody who raises by the least amount up to its estimate leads to. The
/// price of an item is then known to one increase while budgets never bind;
/// otherwise it lies between the lowest starting price and what the keenest can pay.
pub(super) fn equilibrium(params: &EnglishAuctionParams) -> Equilibrium {
    let play = "everybody raises by the least legal amount as long as that is at most its \
                estimate and its budget";
    let mut scores = Vec::new();
    let stake = stake(params);
    if stake > 0 {
        let gains = params.items.iter().map(|item| gains(params, item));
        let (low, high) = gains.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let percent = |gain: i64| 100.0 * gain as f64 / stake as f64;
        scores.push(ExpectedScore {
            scheme: PROFIT_RATIO,
            value: f64::midpoint(percent(low), percent(high)),
            tolerance: (percent(high) - percent(low)) / 2.0 + ExpectedScore::EXACT,
        });
    }
    Equilibrium {
        play: play.to_owned(),
        scores,
    }
}

/// What profits are set against: true values less starting prices of all items
/// (Harbor, section 3.1: profit ratio).
pub(super) fn stake(params: &EnglishAuctionParams) -> i64 {
    let items = params.items.iter();
    items
        .map(|item| item.true_value - item.starting_price)
        .sum()
}

/// The least and the most that the bidders together gain from an item.
fn gains(params: &EnglishAuctionParams, item: &Item) -> (i64, i64) {
    let overestimates = params.overestimate_percent.of(params.players).into_iter();
    let estimate = |percent| EnglishAuctionParams::estimate(item, percent);
    let mut estimates: Vec<i64> = overestimates.map(estimate).collect();
    estimates.sort_unstable();
    let (first, second) = (estimates[params.players - 1], estimates[params.players - 2]);
    if budgets_never_bind(params)
        && let Some((low, high)) = undisturbed_price(params, item, first, second)
    {
        return (item.true_value - high, item.true_value - low);
    }
    // It may also stay unsold.
    let worst = item.true_value - first.min(largest(params.budget.of(params.players)));
    let best = item.true_value - lowest_price(params, item);
    (worst.min(0), best.max(0))
}

/// The least and the highest price when only estimates limit bids: bidding passes
/// the second highest estimate by at most one increase. `None` when nobody bids, or
/// the hammer falls before.
fn undisturbed_price(
    params: &EnglishAuctionParams,
    item: &Item,
    first: i64,
    second: i64,
) -> Option<(i64, i64)> {
    let mut prices = params.starting_prices(item).zip(0..);
    let (start, discounts) = prices.find(|(price, _)| *price <= first)?;
    let follows = params.minimum_increase_follows_discount;
    let increase = params.increase(if follows { start } else { item.starting_price });
    // Rule players raise by at least 1, see `players.rs`.
    let increase = increase.max(1);
    let raises = (second - start).max(0) / increase;
    let rounds = discounts + raises + 3;
    if rounds > i64::from(params.max_rounds) {
        return None;
    }
    let reached = start + raises * increase;
    let is_contested = second >= start && reached + increase <= first;
    let highest = reached + increase * i64::from(is_contested);
    Some((reached, highest))
}

/// Whether everybody could pay its estimate for every item.
fn budgets_never_bind(params: &EnglishAuctionParams) -> bool {
    let seats = params.overestimate_percent.of(params.players);
    let budgets = params.budget.of(params.players);
    seats.into_iter().zip(budgets).all(|(percent, budget)| {
        let items = params.items.iter();
        let all: i64 = items
            .map(|item| EnglishAuctionParams::estimate(item, percent))
            .sum();
        all <= budget
    })
}

fn lowest_price(params: &EnglishAuctionParams, item: &Item) -> i64 {
    params
        .starting_prices(item)
        .last()
        .unwrap_or(item.starting_price)
}

fn largest(amounts: Vec<i64>) -> i64 {
    amounts.into_iter().max().unwrap_or(0)
}
