//! An auction told as its auctioneer calls it: item by item and round by round who bids,
//! withdraws or is refused, the hammer with the true value, then a personal report of
//! each bidder. Computes nothing that the record does not say. Called by `story.rs`.
//!
//! Source: the example log of arXiv 2310.05746, appendix A.1.

use agon_engine::{Event, Seat, Value};

use super::teller::Teller;
use super::words::{counted, number, one_line, value};
use super::{ending, notes};

/// Tells the auction and its reports.
pub fn tell(teller: &mut Teller<'_>) {
    let record = teller.record;
    if let Some(briefing) = teller.events_of("briefing") {
        rules(teller, briefing);
    }
    let mut turn = 0;
    for event in &record.events {
        match &*event.kind {
            "item_opened" => item(teller, event, turn + 1),
            // Every turn of an auction is a bid round, and none is left out.
            "bid_round" => {
                turn += 1;
                bid_round(teller, event, turn);
            }
            "hammer" => hammer(teller, event),
            "unsold" => unsold(teller, event),
            _ => {}
        }
    }
    if record.notes.iter().any(|note| note.turn > turn) {
        teller.gap();
        notes::tell_of_turns(teller, 0, |made| made > turn);
    }
    reports(teller);
}

/// The personal reports; for the reader of everything the measures as well.
fn reports(teller: &mut Teller<'_>) {
    teller.gap();
    teller.line(0, "Personal reports");
    for seat in teller.seats() {
        report(teller, seat);
    }
    if let (Some(_), Some(over)) = (teller.telling.seat, teller.events_of("auction_over")) {
        for other in 0..teller.record.spec.seats.len() {
            if !teller.shows(other) {
                let (profit, items) = (
                    entry(over, "profits", other),
                    entry(over, "items_won", other),
                );
                let name = teller.name(other);
                let items = items.integer().unwrap_or(0);
                let profit = value(&profit);
                teller.line(
                    1,
                    format!("{name}: profit {profit}, {}", counted(items, "item")),
                );
            }
        }
    }
    if teller.telling.seat.is_none() {
        teller.gap();
        teller.line(0, "Measures");
        ending::tell_measures(teller);
    }
}

fn rules(teller: &mut Teller<'_>, briefing: &Event) {
    teller.gap();
    let items = briefing.get("items").map_or(0, Value::len);
    let percent = shown(briefing, "minimum_increase_percent");
    teller.line(
        0,
        format!(
            "{} in order of sale; minimum increase {percent} % of the starting price",
            counted(items as i64, "item")
        ),
    );
    if flag(briefing, "discount_unsold") {
        let percent = shown(briefing, "discount_percent");
        let often = match shown(briefing, "discount_rounds").as_str() {
            "0" => None,
            "1" => Some("once".to_owned()),
            several => Some(format!("up to {several} times")),
        };
        if let Some(often) = often {
            teller.line(
                0,
                format!("An unsold item is offered again {often}, {percent} % cheaper."),
            );
        }
    }
    for seat in teller.seats() {
        let (name, budget) = (teller.name(seat), entry(briefing, "budget", seat));
        let objective = value(&entry(briefing, "objective", seat)).replace('_', " ");
        let mut parts = vec![format!("budget {}", value(&budget)), objective];
        if teller.telling.seat.is_none() {
            let over = value(&entry(briefing, "overestimate_percent", seat));
            parts.push(format!("overestimates by {over} %"));
        }
        let personas = entry(briefing, "personas", seat);
        if teller.telling.seat.is_none() && !personas.is_empty() {
            parts.push(format!("personas {}", value(&personas)));
        }
        teller.line(0, format!("{name}: {}", parts.join(", ")));
    }
}

fn item(teller: &mut Teller<'_>, event: &Event, next_turn: u32) {
    let price = shown(event, "starting_price");
    let increase = shown(event, "minimum_increase");
    let discounts = integer(event, "discounts");
    if discounts > 0 {
        let times = counted(discounts, "discount");
        teller.line(
            1,
            format!("offered again at {price} ({times}), minimum increase {increase}"),
        );
        return;
    }
    let name = shown(event, "item");
    let left = integer(event, "items_left");
    let number = event.round;
    let all = i64::from(number) + left - 1;
    teller.gap();
    teller.line(
        0,
        format!(
            "Item {number} of {all}: {name}, starting price {price}, minimum increase {increase}"
        ),
    );
    for about in ["description", "size", "location"] {
        if let Some(text) = event.get(about).and_then(Value::text) {
            teller.line(1, format!("{about}: {}", one_line(text)));
        }
    }
    for (what, column) in [("estimate", "estimate"), ("budget", "budget")] {
        let entries: Vec<String> = teller
            .seats()
            .into_iter()
            .map(|seat| value(&entry(event, column, seat)))
            .collect();
        teller.line(1, format!("{what}: {}", entries.join(", ")));
    }
    let before = next_turn;
    notes::tell_of_turns(teller, 1, |made| made == before);
}

fn bid_round(teller: &mut Teller<'_>, event: &Event, turn: u32) {
    let round = integer(event, "bid_round");
    teller.line(1, format!("Bid round {round}"));
    // Notes of an item's first turn stand above it.
    if round > 1 {
        notes::tell_of_turns(teller, 2, |made| made == turn);
    }
    for (place, made) in teller.moves_of(turn) {
        if teller.shows(made.seat) {
            teller.tell_fouls(2, place, made);
        }
        let name = teller.name(made.seat);
        let what = if made.forfeited && teller.shows(made.seat) {
            "withdraws, refused too often".to_owned()
        } else {
            match made.action.as_i64() {
                Some(bid) => format!("bids {bid}"),
                None => "withdraws".to_owned(),
            }
        };
        let who = if teller.shows(made.seat) {
            teller.stood_in(place, made)
        } else {
            String::new()
        };
        teller.line(2, format!("{name}: {what}{who}"));
        if teller.shows(made.seat) {
            teller.tell_reply(3, place, made);
        }
    }
    let tied = event
        .get("tied")
        .and_then(Value::integers)
        .unwrap_or_default();
    let Some(leader) = seat_of(event, "leader") else {
        teller.line(2, "no bid");
        return;
    };
    let (leader, highest) = (teller.name(leader), shown(event, "highest"));
    let how = match tied.len() {
        0 | 1 => String::new(),
        equal => format!(", drawn among {equal} equal bids"),
    };
    teller.line(2, format!("{leader} leads with {highest}{how}"));
}

fn hammer(teller: &mut Teller<'_>, event: &Event) {
    let Some(winner) = seat_of(event, "winner") else {
        return;
    };
    let (price, worth) = (integer(event, "price"), integer(event, "true_value"));
    let item = shown(event, "item");
    let rounds = counted(integer(event, "bid_rounds"), "bid round");
    let name = teller.name(winner);
    let left = if teller.shows(winner) {
        format!(", {} left", value(&entry(event, "budget", winner)))
    } else {
        String::new()
    };
    teller.line(
        1,
        format!(
            "Sold: {item} to {name} for {price} after {rounds}; true value {worth}, profit {}{left}",
            worth - price
        ),
    );
}

fn unsold(teller: &mut Teller<'_>, event: &Event) {
    let rounds = counted(integer(event, "bid_rounds"), "bid round");
    let item = shown(event, "item");
    let worth = if teller.telling.seat.is_none() {
        format!("; true value {}", shown(event, "true_value"))
    } else {
        String::new()
    };
    teller.line(1, format!("Not sold: {item} after {rounds}{worth}"));
}

fn report(teller: &mut Teller<'_>, seat: Seat) {
    let record = teller.record;
    let name = teller.name(seat);
    let over = teller.events_of("auction_over");
    let of_seat = |column: &str| over.map_or(Value::Nothing, |event| entry(event, column, seat));
    let budget = teller.events_of("briefing");
    let budget = budget.map_or(Value::Nothing, |event| entry(event, "budget", seat));
    let items = of_seat("items_won").integer().unwrap_or(0);
    teller.line(
        1,
        format!(
            "{name}: budget left {} of {}, profit {}, {} won",
            value(&of_seat("budget_left")),
            value(&budget),
            value(&of_seat("profit")),
            counted(items, "item"),
        ),
    );
    // An item opens once more with each discount; the last price is the one that counted.
    let mut opened = String::new();
    for event in &record.events {
        match &*event.kind {
            "item_opened" => opened = shown(event, "starting_price"),
            "hammer" if seat_of(event, "winner") == Some(seat) => {
                let (price, worth) = (integer(event, "price"), integer(event, "true_value"));
                let (item, profit) = (shown(event, "item"), worth - price);
                teller.line(
                    2,
                    format!(
                        "{item} for {price} over {opened}, true value {worth}, profit {profit}"
                    ),
                );
            }
            _ => {}
        }
    }
    let series = |name: &str| {
        let series = record.measures.series.get(name);
        series.and_then(|series| series.get(seat)).copied()
    };
    let counts = ["bids", "withdrawals", "failed_bids"].iter();
    let counts: Vec<String> = counts
        .filter_map(|name| {
            let count = number(series(name)?);
            Some(format!("{} {count}", name.replace('_', " ")))
        })
        .collect();
    if !counts.is_empty() {
        teller.line(2, counts.join(", "));
    }
}

fn shown(event: &Event, name: &str) -> String {
    event.get(name).map_or_else(String::new, value)
}

fn integer(event: &Event, name: &str) -> i64 {
    event.get(name).and_then(Value::integer).unwrap_or(0)
}

fn flag(event: &Event, name: &str) -> bool {
    event.get(name).and_then(Value::flag).unwrap_or(false)
}

fn seat_of(event: &Event, name: &str) -> Option<Seat> {
    Seat::try_from(event.get(name)?.integer()?).ok()
}

/// One bidder's entry of a column.
fn entry(event: &Event, name: &str, seat: Seat) -> Value {
    event
        .get(name)
        .map_or(Value::Nothing, |column| column.entry(seat))
}
