//! What bidders had in mind, from their notes: belief errors (arXiv 2310.05746, section 4.2),
//! first-order predictions of rivals and strategies (Harbor, sections 4.5 and 3.5).

use agon_engine::Seat;
use serde_json::Value;

use super::sale::Auction;
use crate::observation::{At, SessionObservations};

/// Adds the observations of all bidders.
pub(super) fn observe<'a>(seen: &mut SessionObservations<'a>, auction: &Auction<'a>) {
    for (seat, note) in auction.notes("belief") {
        belief(seen, seat, note);
    }
    for (seat, note) in auction.notes("prediction") {
        let _ = prediction(seen, auction, seat, note);
    }
    for (seat, note) in auction.notes("strategy") {
        let choice = note["choice"].as_str();
        let at = At::seat(seat).category(choice);
        let by_profile = f64::from(u8::from(note["uses_profile"] == true));
        seen.push(at, "choice", choice.map(|_| by_profile));
        let unreadable = f64::from(u8::from(choice.is_none()));
        seen.push(At::seat(seat), "choice_unreadable", unreadable);
    }
}

/// What was checked of one update, and what was wrong at the first try: all of it where that
/// try could not be read.
fn belief(seen: &mut SessionObservations<'_>, seat: Seat, belief: &Value) {
    let is_read = belief["checked"].as_u64().unwrap_or(0) > 0;
    // One budget, and of every bidder a profit and a list of wins.
    let bidders = seen.seats() as u64;
    let (mut shape_errors, mut budget) = (0, 0);
    // Of itself, and of others.
    let (mut profit, mut wins) = ([0, 0], [0, 0]);
    for error in belief["errors"].as_array().into_iter().flatten() {
        let side = usize::from(error["about"] != "self");
        let is_first = is_read && error["try"] == 1;
        match error["kind"].as_str() {
            Some("shape") => shape_errors += 1,
            Some("budget") if is_first => budget += 1,
            Some("profit") if is_first => profit[side] += 1,
            Some("wins") if is_first => wins[side] += 1,
            _ => {}
        }
    }
    // A belief that cannot be read states none of its facts right.
    let wrong = |wrong: u64, of: u64| if is_read { wrong } else { of };
    let own = wrong(budget + profit[0] + wins[0], 3);
    let others = wrong(profit[1] + wins[1], 2 * bidders.saturating_sub(1));
    // What the auctioneer forces is the truth as well, and a belief that is kept may be.
    let source = belief["source"].as_str();
    let is_own = !matches!(source, Some("auctioneer" | "kept"));
    let at = At::seat(seat);
    for (measure, number) in [
        ("belief_unreadable", u64::from(!is_read)),
        ("belief_shape_errors", shape_errors),
        (
            "belief_corrected",
            u64::from(is_own && belief["corrected"] == true),
        ),
        ("belief_put_right", u64::from(source == Some("auctioneer"))),
        ("facts", 1 + 2 * bidders),
        ("own_facts", 3),
        ("others_facts", 2 * bidders.saturating_sub(1)),
        ("budget_facts", 1),
        ("profit_facts", bidders),
        ("wins_facts", bidders),
        ("wrong_facts", own + others),
        ("wrong_own_facts", own),
        ("wrong_others_facts", others),
        ("wrong_budget_facts", wrong(budget, 1)),
        ("wrong_profit_facts", wrong(profit[0] + profit[1], bidders)),
        ("wrong_wins_facts", wrong(wins[0] + wins[1], bidders)),
    ] {
        seen.push(at, measure, number as f64);
    }
}

/// Whether a rival bid for an item as it was said to want it; those of second order predict no
/// action.
fn prediction<'a>(
    seen: &mut SessionObservations<'a>,
    auction: &Auction<'a>,
    seat: Seat,
    note: &Value,
) -> Option<()> {
    let wants = note.get("wants")?;
    let item = auction.items.get(note["item"].as_u64()? as usize)?;
    let about = note["about"].as_u64()? as Seat;
    let bid = *item.engagements.get(about)? > 0.0;
    let at = At::seat(seat).about(about);
    let at = at.item(item.name, Some(item.starting_price));
    let case = match (wants.as_bool(), bid) {
        (None, _) => "open",
        (Some(true), true) => "wanted_bid",
        (Some(true), false) => "wanted_silent",
        (Some(false), true) => "unwanted_bid",
        (Some(false), false) => "unwanted_silent",
    };
    seen.push(at, case, 1.0);
    if let Some(wants) = wants.as_bool() {
        seen.push(at, "prediction_right", f64::from(u8::from(wants == bid)));
        seen.push(at, "rival_bid", f64::from(u8::from(bid)));
    }
    Some(())
}
