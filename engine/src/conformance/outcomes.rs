//! Properties of how games end: payoffs, equilibria, rule players. Amounts worked
//! out by hand are left to each game's own tests. Called through the list in
//! `conformance.rs`.

use std::sync::Arc;

use serde_json::Value;

use super::Case;
use super::table::{Manners, Table};
use crate::play::Play;
use crate::rule_player::SPECIFIED;
use crate::session;
use crate::spec::Settings;

/// Random courses of play that are tried per case.
const COURSES: u64 = 4;

/// Plays at random, and with every strategy at all seats.
pub(super) fn payoffs_are_within_bounds(case: &Case) -> Result<(), String> {
    let (low, high) = case.game.payoff_bounds();
    if !(low.is_finite() && high.is_finite() && low <= high) {
        return Err(format!("the bounds are {low} and {high}"));
    }
    for course in 0..COURSES {
        let mut table = Table::open(
            case,
            Manners {
                fouls: 5,
                forfeits: 5,
            },
            course,
        );
        table.finish(|_, _| {})?;
        check_payoffs(case, &table.play.payoffs())?;
    }
    for strategy in (case.registration.strategies)() {
        let play = play_strategy(case, strategy.name)?;
        check_payoffs(case, &play.payoffs())?;
    }
    Ok(())
}

/// Bounds hold for checked answers; lenient games take others.
pub(super) fn check_payoffs(case: &Case, payoffs: &[f64]) -> Result<(), String> {
    let seats = case.game.seats();
    if payoffs.len() != seats {
        return Err(format!("{} payoffs for {seats} seats", payoffs.len()));
    }
    let (low, high) = case.game.payoff_bounds();
    let lenient = case.flag("lenient");
    let fine = |payoff: &f64| payoff.is_finite() && (lenient || (low..=high).contains(payoff));
    match payoffs.iter().find(|payoff| !fine(payoff)) {
        Some(payoff) => Err(format!("payoff {payoff} is not between {low} and {high}")),
        None => Ok(()),
    }
}

/// Lets every seat play the equilibrium.
pub(super) fn equilibrium_scores_as_predicted(case: &Case) -> Result<(), String> {
    let play = play_strategy(case, "equilibrium")?;
    let equilibrium = case.game.equilibrium();
    let measures = play.measures();
    if equilibrium.scores.is_empty() {
        return Err("no score is predicted".to_owned());
    }
    for expected in equilibrium.scores {
        let scheme = expected.scheme;
        let score = measures.scores.get(scheme);
        let score = score.ok_or_else(|| format!("there is no score {scheme}"))?;
        let distance = (score - expected.value).abs();
        if distance.is_nan() || distance > expected.tolerance {
            return Err(format!(
                "{}: score {scheme} is {score}, predicted {} within {}",
                equilibrium.play, expected.value, expected.tolerance
            ));
        }
    }
    Ok(())
}

/// Lets every seat play each listed strategy with its default settings.
pub(super) fn strategies_play_legally(case: &Case) -> Result<(), String> {
    let listed = |name: &str| {
        (case.registration.strategies)()
            .iter()
            .any(|entry| entry.name == name)
    };
    for name in ["equilibrium", "random", SPECIFIED] {
        if !listed(name) {
            return Err(format!("strategy {name} is not listed"));
        }
    }
    for strategy in (case.registration.strategies)() {
        let play = play_strategy(case, strategy.name)?;
        if !play.is_finished() {
            return Err(format!("{} does not play to the end", strategy.name));
        }
        // Fixed answers may stop being legal as the game goes on.
        let checked = strategy.name != SPECIFIED;
        if let Some(made) = play
            .moves()
            .iter()
            .find(|made| checked && !made.fouls.is_empty())
        {
            let reason = &made.fouls[0].reason;
            return Err(format!(
                "{} fouls in turn {}: {reason}",
                strategy.name, made.turn
            ));
        }
    }
    Ok(())
}

/// A session of one strategy at all seats, with its default settings.
fn play_strategy(case: &Case, strategy: &str) -> Result<Play, String> {
    let settings = match strategy {
        SPECIFIED => specified(case),
        _ => Settings::new(),
    };
    let spec = case.rule_spec(strategy, &settings);
    session::open_with(Arc::clone(&case.game), &spec)
        .map_err(|error| format!("{strategy}: {}", causes(&error)))
}

/// Fixed answers that are legal at the first asks.
fn specified(case: &Case) -> Settings {
    let table = Table::open(case, Manners::default(), 8);
    let answers = table.play.waiting().map(|ask| table.legal_answer(ask));
    let answers: Vec<Value> = answers
        .filter_map(|action| serde_json::to_value(action).ok())
        .collect();
    Settings::from([("answers".to_owned(), Value::Array(answers))])
}

/// An error with what caused it.
fn causes(error: &dyn std::error::Error) -> String {
    let rest = error.source().map(|source| format!(": {}", causes(source)));
    format!("{error}{}", rest.unwrap_or_default())
}
