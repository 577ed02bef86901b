//! The observations of a session, contest or auction, from what the game wrote down; adds actions
//! over the bound or the private value.

use agon_engine::Seat;
use agon_engine::record::StoredRecord;

use super::{GAMES, history};
use crate::observation::{At, SessionObservations};

/// Most runs times seats of a session that is measured, as many as the largest game has.
const MOST_POINTS: u64 = 1_000_000;

/// `None` for a record of another game, and for one that lacks what every session has.
pub(super) fn observe(record: &StoredRecord) -> Option<SessionObservations<'_>> {
    let game = GAMES.iter().find(|(name, _)| *name == record.spec.game)?;
    let is_auction = game.0 != GAMES[0].0;
    let mut seen = SessionObservations::of(record);
    let rounds = seen.parameter("rounds")?;
    // Every run leaves an event, and has a point for every player.
    let points = u64::from(rounds).saturating_mul(seen.seats() as u64);
    if rounds as usize > record.events.len() || points > MOST_POINTS {
        return None;
    }
    // What is told of past runs matters where there are some.
    let history = if rounds > 1 {
        seen.parameter("history")?
    } else {
        0
    };
    let void_rounds = seen.part("void_rounds")?;
    seen.note(history::OTHERWISE, history::otherwise(&record.spec));
    seen.push(At::default(), "rounds", f64::from(rounds));
    seen.push(At::default(), "history_shown", f64::from(history));
    seen.push(At::default(), "void_rounds", void_rounds);
    for seat in 0..seen.seats() {
        of_seat(&mut seen, seat, is_auction);
        let runs = f64::from(rounds);
        seen.push(At::seat(seat), "runs", (rounds > 1).then_some(runs));
    }
    actions(&mut seen, is_auction);
    Some(seen)
}

fn of_seat(seen: &mut SessionObservations<'_>, seat: Seat, is_auction: bool) {
    let at = At::seat(seat);
    seen.push(at, "sat", 1.0);
    let measures = [
        "payoff",
        "equilibrium_payoff",
        "rationality",
        "assets",
        "wins",
    ];
    seen.push_series(at, &measures);
    seen.push_series(at, &["rule_breaking"]);
    let (payoff, best) = (
        seen.number("payoff", seat),
        seen.number("equilibrium_payoff", seat),
    );
    seen.push(
        at,
        "payoff_gap",
        payoff.zip(best).map(|(payoff, best)| payoff - best),
    );
    // Assets beyond those at the start: value less price for the winner, less a fee.
    let assets = seen.parameter("assets").filter(|_| is_auction);
    let profit = payoff.zip(assets);
    let profit = profit.map(|(payoff, assets)| payoff - f64::from(assets));
    seen.push(at, "profit", profit);
    let rationality = seen.number("rationality", seat);
    seen.push(
        at,
        "final_over_equilibrium",
        rationality.filter(|_| is_auction),
    );
}

/// Valid actions, run by run; none where no run had a result.
fn actions(seen: &mut SessionObservations<'_>, is_auction: bool) {
    let bound = seen.part("bound");
    let values = seen.series("private_values");
    let distances = seen.series("distances");
    let said = seen
        .series("actions")
        .iter()
        .zip(seen.series("action_seats"));
    let said = said
        .zip(seen.series("action_rounds"))
        .zip(seen.series("deviations"));
    for (place, (((action, seat), round), deviation)) in said.enumerate() {
        let seat = *seat as Seat;
        // The equilibrium action of contests is 0, and everything is over the bound.
        let (relative, distance) = if is_auction {
            let relative = values.get(seat).map(|value| action / value);
            (relative, distances.get(place).copied())
        } else {
            (bound.map(|bound| action / bound), Some(*deviation))
        };
        let at = At::seat(seat).round(*round as u32);
        seen.push(at, "action", *action);
        seen.push(at, "deviation", *deviation);
        seen.push(at, "relative_action", relative);
        seen.push(at, "distance", distance);
    }
}
