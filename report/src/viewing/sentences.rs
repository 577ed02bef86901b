//! What happened in one sentence, for the kinds of events that the built-in games have; others are told by
//! their facts. Says no more than its viewer saw. Called by `step.rs`.

use agon_engine::Seat;

use crate::board::Seen;
use crate::story;
use crate::table;

/// Tells events of a session.
pub struct Sentences<'a> {
    /// The name of a seat.
    pub name: &'a dyn Fn(Seat) -> String,
    /// How many seats there are.
    pub seats: usize,
}

impl Sentences<'_> {
    /// The sentence, if this kind of event has one.
    pub fn of(&self, event: &Seen<'_>) -> Option<String> {
        match event.kind() {
            "briefing" => Some("The rules are explained.".to_owned()),
            "round_result" => self.result(event),
            "valuation" => Some("Everybody learns what the item is worth to them.".to_owned()),
            "bar_report" => bar(event),
            "item_opened" => self.opened(event),
            "bid_round" => self.bids(event),
            "hammer" => self.hammer(event),
            "unsold" => Some(format!("{} finds no buyer.", event.text("item")?)),
            "auction_over" => Some("The auction is over.".to_owned()),
            "price_called" => {
                let (price, inside) = (event.number("price")?, event.seats("inside").len());
                Some(format!(
                    "The price is {}; {inside} are inside.",
                    number(price)
                ))
            }
            "dropped_out" => {
                let (who, price) = (event.seat("player")?, event.number("price")?);
                Some(format!(
                    "{} drops out at {}.",
                    self.named(who),
                    number(price)
                ))
            }
            "shot" => self.shot(event),
            "proposal" => self.proposal(event),
            "vote_result" => self.vote(event),
            "criterion_opened" => {
                let criterion = event.text("criterion")?.replace('_', " ");
                Some(format!("The judges are asked about {criterion}."))
            }
            "day_opened" => {
                let (supply, living) = (event.number("supply")?, event.seats("living").len());
                let (day, supply) = (event.round(), number(supply));
                Some(format!("Day {day}: {supply} units of water for {living}."))
            }
            _ => None,
        }
    }

    fn named(&self, seat: Seat) -> String {
        (self.name)(seat)
    }

    fn list(&self, seats: &[Seat]) -> String {
        let names: Vec<String> = seats.iter().map(|seat| self.named(*seat)).collect();
        match names.split_last() {
            Some((last, before)) if !before.is_empty() => {
                format!("{} and {last}", before.join(", "))
            }
            _ => names.concat(),
        }
    }

    /// Who won, as far as it is seen.
    fn winners(&self, event: &Seen<'_>) -> Vec<Seat> {
        let listed = event.seats("winners");
        let winners = (0..self.seats).filter(|seat| {
            event.is_so_for("won", *seat)
                || listed.contains(seat)
                || event.seat("winner") == Some(*seat)
        });
        winners.collect()
    }

    fn result(&self, event: &Seen<'_>) -> Option<String> {
        let winners = self.winners(event);
        let winning = match winners.len() {
            0 => String::new(),
            1 => format!("; {} wins", self.list(&winners)),
            _ => format!("; {} win", self.list(&winners)),
        };
        let round = event.round();
        if let (Some(mean), Some(target)) = (event.number("mean"), event.number("target")) {
            let (mean, target) = (number(mean), number(target));
            let mut told = format!("The mean is {mean}, the target {target}{winning}.");
            told.push_str(&self.out(event));
            return Some(told);
        }
        if let Some(price) = event.number("price") {
            return Some(format!("The price is {}{winning}.", number(price)));
        }
        if let Some(total) = event.number("total") {
            let total = number(total);
            return Some(match event.fact("exceeded").flag()? {
                true => format!(
                    "Together they demand {total}, which is too much: nobody gets anything."
                ),
                false => format!("Together they demand {total}; everybody gets what was demanded."),
            });
        }
        if let Some(pot) = event.number("pot") {
            return Some(format!("The pot comes to {}.", number(pot)));
        }
        if let (Some(costly), Some(bill)) = (event.number("costly"), event.number("total_cost")) {
            let (costly, bill) = (number(costly), number(bill));
            return Some(format!("{costly} costly dishes; the bill is {bill}."));
        }
        if event.has("supply") {
            let got = match winners.as_slice() {
                [] => "Nobody gets water.".to_owned(),
                [one] => format!("{} gets water.", self.named(*one)),
                several => format!("{} get water.", self.list(several)),
            };
            return Some(format!("{got}{}", self.out(event)));
        }
        bar(event).or_else(|| Some(format!("Round {round} is over{winning}.")))
    }

    /// Who is out, to follow another sentence.
    fn out(&self, event: &Seen<'_>) -> String {
        match event.seats("eliminated").as_slice() {
            [] => String::new(),
            [one] => format!(" {} is out.", self.named(*one)),
            several => format!(" {} are out.", self.list(several)),
        }
    }

    fn opened(&self, event: &Seen<'_>) -> Option<String> {
        let (item, price) = (event.text("item")?, event.number("starting_price")?);
        Some(format!("{item} is up; bids begin at {}.", number(price)))
    }

    fn bids(&self, event: &Seen<'_>) -> Option<String> {
        let withdrew = event.seats("withdrew");
        let left = match withdrew.len() {
            0 => String::new(),
            1 => format!(" {} withdraws.", self.list(&withdrew)),
            _ => format!(" {} withdraw.", self.list(&withdrew)),
        };
        Some(match (event.seat("leader"), event.number("highest")) {
            (Some(leader), Some(highest)) => {
                format!(
                    "{} leads with {}.{left}",
                    self.named(leader),
                    number(highest)
                )
            }
            _ => format!("Nobody has bid.{left}"),
        })
    }

    fn hammer(&self, event: &Seen<'_>) -> Option<String> {
        let (item, price) = (event.text("item")?, event.number("price")?);
        let (winner, value) = (event.seat("winner")?, event.number("true_value")?);
        Some(format!(
            "{item} goes to {} for {}; its true value was {}.",
            self.named(winner),
            number(price),
            number(value)
        ))
    }

    fn shot(&self, event: &Seen<'_>) -> Option<String> {
        let shooter = self.named(event.seat("shooter")?);
        let Some(target) = event.seat("target") else {
            return Some(format!("{shooter} shoots at nobody."));
        };
        let target = self.named(target);
        Some(match event.text("result")?.as_str() {
            "hit" => format!("{shooter} shoots at {target} and hits."),
            "missed" => format!("{shooter} shoots at {target} and misses."),
            other => format!("{shooter} shoots at {target}: {other}."),
        })
    }

    fn proposal(&self, event: &Seen<'_>) -> Option<String> {
        let (proposer, plan) = (event.seat("proposer")?, event.fact("plan"));
        let shares = event.seats("order").into_iter().enumerate();
        let shares = shares.filter_map(|(at, seat)| {
            let share = plan.entry(at).number()?;
            Some(format!("{} for {}", number(share), self.named(seat)))
        });
        let shares: Vec<String> = shares.collect();
        Some(format!(
            "{} proposes {}.",
            self.named(proposer),
            shares.join(", ")
        ))
    }

    fn vote(&self, event: &Seen<'_>) -> Option<String> {
        let (accepts, voters) = (event.number("accepts")?, event.number("voters")?);
        let (accepts, voters) = (number(accepts), number(voters));
        Some(match event.fact("accepted").flag()? {
            true => format!("{accepts} of {voters} accept; the proposal passes."),
            false => {
                let proposer = self.named(event.seat("proposer")?);
                format!("{accepts} of {voters} accept; {proposer} goes overboard.")
            }
        })
    }
}

fn bar(event: &Seen<'_>) -> Option<String> {
    let (goers, good) = (event.number("goers")?, event.fact("good").flag()?);
    let (goers, good) = (number(goers), if good { "good" } else { "too crowded" });
    Some(format!("{goers} went to the bar; it was {good}."))
}

/// A number as a reader would write it: whole ones in groups of three digits.
fn number(value: f64) -> String {
    /// Larger whole numbers are not exact any more.
    const MOST: f64 = 9e15;
    let whole = value.fract() == 0.0 && value.abs() < MOST;
    match whole {
        true if value < 0.0 => format!("-{}", table::count(value.abs() as u64)),
        true => table::count(value as u64),
        false => story::number(value),
    }
}
