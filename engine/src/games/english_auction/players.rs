//! Rule players of the English auction: whether to raise, and by how much. They go
//! by the open ask, the item that is up and their own bids. Made by the game.

use super::EnglishAuctionParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<EnglishAuctionParams>] = &[
    Strategy::new(
        "equilibrium",
        "raises by the least legal amount up to its estimate, as if it were the value",
        |_, request| request.plays(|ask, view, _| up_to_estimate(100, ask, view)),
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new(
        "patient_raiser",
        "the paper's rule bidder: the starting price, then 10 % of it above the highest \
                  bid, at most so many times per item: bids_per_item (default 4)",
        |_, request| {
            let bids_per_item = request.get("bids_per_item", 4)?;
            request.plays(move |ask, view, _| raise_patiently(bids_per_item, ask, view))
        },
    ),
    Strategy::new(
        "truthful",
        "raises by the least legal amount up to a part of its estimate: percent \
                  (default 100)",
        |_, request| {
            let percent = request.get_within("percent", 100, 0..=MOST_PERCENT)?;
            request.plays(move |ask, view, _| up_to_estimate(percent, ask, view))
        },
    ),
];

/// The rule bidder (arXiv 2310.05746, section 4.2, and the authors' program): a
/// limited number of bids per item: the starting price, then the highest bid and 10 % of
/// the starting price, whatever the game's least increase; where that is more, it counts.
fn raise_patiently(bids_per_item: u32, ask: &Ask, view: &View<'_>) -> Action {
    let Some((least, most)) = legal(ask) else {
        return Action::Pass;
    };
    let bid = least.max(raised(view).unwrap_or(least));
    let is_wanted = bid <= most && own_bids(view) < bids_per_item as usize;
    bid_if(is_wanted, bid)
}

/// Percent of the starting price that the rule bidder adds to the highest bid.
const RAISE_PERCENT: i64 = 10;

/// The highest bid and the rule bidder's own raise; none before the first bid.
fn raised(view: &View<'_>) -> Option<i64> {
    let highest = view.sights().next_back()?.integer("highest")?;
    let price = view.latest("item_opened")?.integer("starting_price")?;
    Some(highest + price * RAISE_PERCENT / 100)
}

/// How often the seat has bid for the item that is up.
fn own_bids(view: &View<'_>) -> usize {
    let newest = view.sights().rev();
    let rounds = newest.take_while(|sight| sight.kind() == "bid_round");
    let bid = |sight: &Sight<'_>| sight.shared("bids")?.integer_at(view.seat());
    rounds.filter(|sight| bid(sight).is_some()).count()
}

/// Largest part of an estimate that can be asked for; more is a slip.
const MOST_PERCENT: u32 = 1000;

/// Raises by the least amount, but by at least 1, up to a part of its estimate.
fn up_to_estimate(percent: u32, ask: &Ask, view: &View<'_>) -> Action {
    let Some((least, most)) = legal(ask) else {
        return Action::Pass;
    };
    let opened = view.latest("item_opened");
    let estimate = opened
        .and_then(|sight| sight.integer("estimate"))
        .unwrap_or(0);
    let newest = view.sights().next_back();
    let highest = newest.and_then(|sight| sight.integer("highest"));
    // Where there is no minimum increase, equal bids would never end.
    let bid = highest.map_or(least, |highest| least.max(highest + 1));
    let limit = (estimate * i64::from(percent) / 100).min(most);
    bid_if(bid <= limit, bid)
}

fn bid_if(is_wanted: bool, bid: i64) -> Action {
    match is_wanted {
        true => Action::Integer(bid),
        false => Action::Pass,
    }
}

/// The least and the highest legal bid of an ask; there is none where the first is above the
/// second.
fn legal(ask: &Ask) -> Option<(i64, i64)> {
    match ask.form {
        Form::Integer { min, max, .. } => min.zip(max),
        _ => None,
    }
}
