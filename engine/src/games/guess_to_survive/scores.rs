//! Measures of one session of guessing to survive, from its events and, for refused
//! answers, its moves. Averages over players of one method belong to the reports.
//! Called by `guess_to_survive.rs`.

use super::SurvivalParams;
use crate::games::prelude::*;

/// What appendix C of arXiv 2402.01521 measures, and distances from the equilibrium.
///
/// Per seat: `wins`, rounds won / `rounds` (formula 9); `survival_rounds` (formula 10,
/// see `survival.rs`); `health` at the end; `adaptation`, where the deviation of a
/// round is |number - target|; `strategic_depth`, the logarithm of first number /
/// (`max` / 2) to the base `ratio` (formula 13, where `max` is 100), with
/// `strategic_depth_seats`: seats without a number in round 1, or with 0, have none, and
/// nobody has with a `ratio` of 0. `deviations`, one per number: how far it is above
/// `min`, over the range. `mean`, `target` and `distance` (mean deviation) of each
/// round in which somebody gave a number, with `mean_rounds`. Scores: `win_rate`, the
/// mean of `wins`; `survival`, survivors in percent of players; `deviation`, the mean
/// of `deviations`, left out when there is none.
pub(super) fn measures(params: &SurvivalParams, log: &EventLog, moves: &[Move]) -> Measures {
    let mut measures = Measures::default();
    let results: Vec<&Event> = log.of_kind("round_result").collect();
    let Some(last) = results.last() else {
        return measures;
    };
    rationality::rule_breaking(
        params.players,
        params.rounds,
        moves,
        |turn| turn,
        &mut measures,
    );
    let survivors = last.integers("living").len() as f64;
    measures.score("survival", 100.0 * survivors / params.players as f64);
    measures.part("survivors", survivors);
    measures.part("last_round", f64::from(last.round));
    per_seat(params, &results, &mut measures);
    survival::rounds_lasted(params.players, log, &mut measures);
    let deviations: Vec<survival::Deviations> = (0..params.players)
        .map(|seat| {
            let off = |event: &&Event| Some((event.round, from_target(event, seat)?));
            results.iter().filter_map(off).collect()
        })
        .collect();
    survival::adaptation(params.rounds, &deviations, &mut measures);
    depths(params, results[0], &mut measures);
    let (min, width) = (params.min as f64, (params.max - params.min) as f64);
    let above = |number: f64| (number - min) / width;
    rationality::actions(&results, "choices", &mut measures, |_, _, number| {
        above(number)
    });
    let means = series_of(log, "round_result", "mean");
    let known = results
        .iter()
        .filter(|event| event.number("mean").is_some());
    let rounds = known.map(|event| f64::from(event.round));
    measures.series("mean_rounds", rounds.collect());
    measures.series("distance", means.iter().copied().map(above).collect());
    measures.series("mean", means);
    measures.series("target", series_of(log, "round_result", "target"));
    measures
}

/// How far a seat's number was from the target of its round.
fn from_target(event: &Event, seat: usize) -> Option<f64> {
    let choice = event.number_at("choices", seat)?;
    Some((choice - event.number("target")?).abs())
}

/// Rounds won and the health at the end.
fn per_seat(params: &SurvivalParams, results: &[&Event], measures: &mut Measures) {
    let mut won = vec![0.0; params.players];
    let mut health = vec![0.0; params.players];
    for event in results {
        for winner in event.integers("winners") {
            if let Some(won) = won.get_mut(*winner as usize) {
                *won += 1.0;
            }
        }
        for (seat, health) in health.iter_mut().enumerate() {
            *health = event.number_at("health", seat).unwrap_or(*health);
        }
    }
    let rounds = f64::from(params.rounds);
    let wins: Vec<f64> = won.iter().map(|won| won / rounds).collect();
    measures.score("win_rate", mean(wins.iter().copied()));
    measures.series("wins", wins);
    measures.series("health", health);
}

/// How many steps of reasoning the first numbers look like.
fn depths(params: &SurvivalParams, first: &Event, measures: &mut Measures) {
    let mut depths = Vec::new();
    for seat in 0..params.players {
        let number = first.number_at("choices", seat);
        let Some(number) = number.filter(|number| *number > 0.0 && params.ratio > 0.0) else {
            continue;
        };
        let steps = libm::log(number / (params.max as f64 / 2.0)) / libm::log(params.ratio);
        // The middle of the range is 0 steps, not -0.
        depths.push([seat as f64, steps + 0.0]);
    }
    measures.columns(["strategic_depth_seats", "strategic_depth"], &depths);
}
