//! Measures of play against a Nash equilibrium that the games of "Economics Arena
//! for Large Language Models" share: payoffs, rationality, deviation, rule breaking
//! (appendices A.2 and A.3). What an action deviates by, each game says.

use std::collections::BTreeSet;

use crate::arithmetic::smaller;
use crate::ask::Seat;
use crate::event::{Event, EventLog, Value};
use crate::measures::{Measures, mean};
use crate::moves::Move;

/// Series `rule_breaking`: per seat the percentage of its `rounds` in which at least
/// one answer was a foul. From moves, because a forgiven foul is no event; `round_of`
/// says to which round a turn belongs.
pub fn rule_breaking(
    players: usize,
    rounds: u32,
    moves: &[Move],
    round_of: impl Fn(u32) -> u32,
    into: &mut Measures,
) {
    let fouled = moves.iter().filter(|made| !made.fouls.is_empty());
    let broken: BTreeSet<(Seat, u32)> = fouled
        .map(|made| (made.seat, round_of(made.turn)))
        .collect();
    let mut shares = vec![0.0; players];
    for (seat, _) in broken {
        shares[seat] += 100.0 / f64::from(rounds);
    }
    // A sum of parts may stray above the whole.
    let percent = shares.into_iter().map(|share| smaller(share, 100.0));
    into.series("rule_breaking", percent.collect());
}

/// The results of all of the `rounds` that are not void; part `void_rounds`, how many
/// the others are.
pub fn results<'a>(log: &'a EventLog, rounds: u32, into: &mut Measures) -> Vec<&'a Event> {
    let counts = |event: &&Event| event.get("void").and_then(Value::flag) == Some(false);
    let results: Vec<&Event> = log.of_kind("round_result").filter(counts).collect();
    into.part("void_rounds", f64::from(rounds) - results.len() as f64);
    results
}

/// Series per seat over rounds with a result: `payoff`, `equilibrium_payoff`,
/// `rationality` (formula 1: mean payoff over optimal payoff) and `wins` (share of
/// rounds won); score `rationality`, their mean. `name` is the list of
/// payoffs by seat in each event, which also has `winners` (seats) or a `winner`; there
/// must be at least one event.
pub fn payoffs(results: &[&Event], name: &str, equilibrium: &[f64], into: &mut Measures) {
    let rounds = results.len() as f64;
    let mut sums = vec![0.0; equilibrium.len()];
    let mut wins = vec![0.0; equilibrium.len()];
    for event in results {
        for (sum, gain) in sums.iter_mut().zip(event.numbers(name)) {
            *sum += gain;
        }
        let winners = event.integers("winners").iter().copied();
        for winner in winners.chain(event.integer("winner")) {
            if let Some(won) = wins.get_mut(winner as usize) {
                *won += 1.0;
            }
        }
    }
    let payoff: Vec<f64> = sums.iter().map(|sum| sum / rounds).collect();
    let degree = |(payoff, optimal): (&f64, &f64)| payoff / optimal;
    let degrees: Vec<f64> = payoff.iter().zip(equilibrium).map(degree).collect();
    into.score("rationality", mean(degrees.iter().copied()));
    into.series("rationality", degrees);
    into.series("payoff", payoff);
    into.series("equilibrium_payoff", equilibrium.to_vec());
    into.series("wins", wins.iter().map(|won| won / rounds).collect());
}

/// Series with one entry per valid action, by round and seat: `actions`,
/// `action_seats`, `action_rounds`, `deviations`; score `deviation`, their mean,
/// which is left out without any valid action.
pub fn actions(
    results: &[&Event],
    name: &str,
    into: &mut Measures,
    deviation: impl Fn(&Event, Seat, f64) -> f64,
) {
    let mut rows = Vec::new();
    for event in results {
        for seat in 0..event.get(name).map_or(0, Value::len) {
            let Some(action) = event.number_at(name, seat) else {
                continue;
            };
            let round = f64::from(event.round);
            rows.push([action, seat as f64, round, deviation(event, seat, action)]);
        }
    }
    if rows.is_empty() {
        return;
    }
    into.score(
        "deviation",
        mean(rows.iter().map(|[.., deviation]| *deviation)),
    );
    let names = ["actions", "action_seats", "action_rounds", "deviations"];
    into.columns(names, &rows);
}
