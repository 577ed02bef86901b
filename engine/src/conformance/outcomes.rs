//! Properties of how games end: payoffs, equilibria, rule players. Amounts worked
//! out by hand are left to each game's own tests. Called through the list in
//! `conformance.rs`.

use serde_json::Value;

use super::table::{Manners, Table};
use super::{Case, ensure};
use crate::play::Play;
use crate::rule_player::SPECIFIED;
use crate::spec::Settings;

/// Random courses of play that are tried per case.
const COURSES: u64 = 4;

/// Plays at random, and with every strategy at all seats.
pub(super) fn payoffs_are_within_bounds(case: &Case<'_>) -> Result<(), String> {
    let (low, high) = case.game.payoff_bounds();
    let are_bounds = low.is_finite() && high.is_finite() && low <= high;
    ensure!(are_bounds, "the bounds are {low} and {high}");
    let manners = Manners {
        fouls: 5,
        forfeits: 5,
    };
    for course in 0..COURSES {
        let table = Table::played(case, manners, course)?;
        check_payoffs(case, &table.play.payoffs())?;
    }
    for strategy in case.registration.strategies() {
        let play = play_strategy(case, strategy.name)?;
        check_payoffs(case, &play.payoffs())?;
    }
    Ok(())
}

/// Bounds hold for checked answers; lenient games take others.
pub(super) fn check_payoffs(case: &Case<'_>, payoffs: &[f64]) -> Result<(), String> {
    let (found, seats) = (payoffs.len(), case.game.seats());
    ensure!(found == seats, "{found} payoffs for {seats} seats");
    let (low, high) = case.game.payoff_bounds();
    let lenient = case.flag("lenient");
    let fine = |payoff: &f64| payoff.is_finite() && (lenient || (low..=high).contains(payoff));
    match payoffs.iter().find(|payoff| !fine(payoff)) {
        Some(payoff) => Err(format!("payoff {payoff} is not between {low} and {high}")),
        None => Ok(()),
    }
}

/// Lets every seat play the equilibrium.
pub(super) fn equilibrium_scores_as_predicted(case: &Case<'_>) -> Result<(), String> {
    let play = play_strategy(case, "equilibrium")?;
    let equilibrium = case.game.equilibrium();
    let measures = play.measures();
    ensure!(!equilibrium.scores.is_empty(), "no score is predicted");
    for expected in equilibrium.scores {
        let scheme = expected.scheme;
        let score = measures.scores.get(scheme);
        let score = score.ok_or_else(|| format!("there is no score {scheme}"))?;
        let is_near = (score - expected.value).abs() <= expected.tolerance;
        ensure!(
            is_near,
            "{}: score {scheme} is {score}, predicted {} within {}",
            equilibrium.play,
            expected.value,
            expected.tolerance
        );
    }
    Ok(())
}

/// Lets every seat play each listed strategy with its default settings.
pub(super) fn strategies_play_legally(case: &Case<'_>) -> Result<(), String> {
    let strategies = case.registration.strategies();
    for name in ["equilibrium", "random", SPECIFIED] {
        let is_listed = strategies.iter().any(|entry| entry.name == name);
        ensure!(is_listed, "strategy {name} is not listed");
    }
    for strategy in strategies {
        let name = strategy.name;
        let play = play_strategy(case, name)?;
        ensure!(play.is_finished(), "{name} does not play to the end");
        // Fixed answers may stop being legal as the game goes on.
        let mut checked = play.moves().iter().filter(|_| name != SPECIFIED);
        if let Some(made) = checked.find(|made| !made.fouls.is_empty()) {
            let reason = &made.fouls[0].reason;
            return Err(format!("{name} fouls in turn {}: {reason}", made.turn));
        }
    }
    Ok(())
}

/// A session of one strategy at all seats, with its default settings.
fn play_strategy(case: &Case<'_>, strategy: &str) -> Result<Play, String> {
    let settings = match strategy {
        SPECIFIED => specified(case),
        _ => Settings::new(),
    };
    let ruled = case.ruled(strategy, &settings);
    ruled
        .map(|(_, play)| play)
        .map_err(|why| format!("{strategy}: {why}"))
}

/// Fixed answers that are legal at the first asks.
fn specified(case: &Case<'_>) -> Settings {
    let table = Table::open(case, Manners::default(), 8);
    let answers = table.play.waiting().map(|ask| table.legal_answer(ask));
    let answers: Vec<Value> = answers
        .filter_map(|action| serde_json::to_value(action).ok())
        .collect();
    Settings::from([("answers".to_owned(), Value::Array(answers))])
}
