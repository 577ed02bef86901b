//! Claims about the beauty contest, worked out by hand, and its equilibria on grids
//! of numbers against those that another program found.

use serde_json::{Value as Json, json};

use crate::ask::Action;
use crate::games::testing::*;
use crate::play::Play;

const GAME: &str = "beauty_contest";

fn contest(players: usize, rounds: u32) -> Json {
    json!({"players": players, "rounds": rounds, "bound_min": 100, "bound_max": 100})
}

fn numbers(numbers: &[f64]) -> Vec<Option<Action>> {
    let said = |number: &f64| (!number.is_nan()).then_some(Action::Number(*number));
    numbers.iter().map(said).collect()
}

/// A foul, among numbers.
const FOUL: f64 = f64::NAN;

fn after(params: Json, said: &[f64]) -> Play {
    let mut play = opened(GAME, params);
    turn(&mut play, numbers(said));
    play
}

#[test]
fn closest_to_two_thirds_of_the_mean_wins() {
    // Mean 45, target 30.
    let play = after(contest(3, 1), &[90.0, 33.5, 11.5]);
    assert_eq!(play.payoffs(), [0.0, 1.0, 0.0]);
    assert!(close(
        fact(&play, "round_result", "target").as_f64().unwrap(),
        30.0
    ));
    assert_eq!(fact(&play, "round_result", "winners"), json!([1]));
}

#[test]
fn the_most_rational_number_can_lose() {
    // The example of section 3.2: four say 10 and one says 0; 10 is closer to 16/3.
    let play = after(contest(5, 1), &[10.0, 10.0, 10.0, 10.0, 0.0]);
    assert_eq!(play.payoffs(), [0.25, 0.25, 0.25, 0.25, 0.0]);
}

#[test]
fn different_numbers_that_are_equally_close_split_the_prize() {
    // Mean 15, target 10, of which 5 and 15 are equally far.
    let mut params = contest(4, 1);
    params["prize"] = 3.into();
    let play = after(params, &[5.0, 15.0, 20.0, 20.0]);
    assert_eq!(play.payoffs(), [1.5, 1.5, 0.0, 0.0]);
}

#[test]
fn a_foul_is_in_neither_mean_nor_ranking() {
    let mut play = opened(GAME, contest(3, 1));
    assert!(
        !refused(&mut play, 0, Action::Number(100.1)),
        "forfeited at once"
    );
    turn(&mut play, numbers(&[60.0, 20.0]));
    // Mean 40, target 26.7.
    assert!(close(
        fact(&play, "round_result", "mean").as_f64().unwrap(),
        40.0
    ));
    assert_eq!(
        fact(&play, "round_result", "choices"),
        json!([null, 60.0, 20.0])
    );
    assert_eq!(play.payoffs(), [0.0, 0.0, 1.0]);
    assert_eq!(play.measures().series["rule_breaking"], [100.0, 0.0, 0.0]);
}

#[test]
fn a_round_without_a_valid_number_is_void() {
    let mut play = opened(GAME, contest(2, 2));
    turn(&mut play, numbers(&[FOUL, FOUL]));
    assert_eq!(fact(&play, "round_result", "void"), json!(true));
    assert_eq!(fact(&play, "round_result", "mean"), json!(null));
    turn(&mut play, numbers(&[FOUL, 50.0]));
    assert_eq!(play.payoffs(), [0.0, 1.0]);
    assert!(close(part(&play, "void_rounds"), 1.0));
    let measures = play.measures();
    assert_eq!(measures.series["rule_breaking"], [100.0, 50.0]);
    // The void round is in no mean: one round, won by seat 1.
    assert_eq!(measures.series["payoff"], [0.0, 1.0]);
    assert_eq!(measures.series["wins"], [0.0, 1.0]);
}

#[test]
fn nothing_but_fouls_leaves_no_scores() {
    let play = after(contest(2, 1), &[FOUL, FOUL]);
    assert!(play.measures().scores.is_empty());
}

#[test]
fn measures_of_two_rounds() {
    // Means 25 and 5; targets 16.7 and 3.3.
    let mut play = opened(GAME, contest(2, 2));
    turn(&mut play, numbers(&[40.0, 10.0]));
    turn(&mut play, numbers(&[0.0, 10.0]));
    let measures = play.measures();
    assert_eq!(measures.series["payoff"], [0.5, 0.5]);
    assert_eq!(measures.series["equilibrium_payoff"], [0.5, 0.5]);
    assert_eq!(measures.series["rationality"], [1.0, 1.0]);
    assert_eq!(measures.series["actions"], [40.0, 10.0, 0.0, 10.0]);
    assert_eq!(measures.series["action_seats"], [0.0, 1.0, 0.0, 1.0]);
    assert_eq!(measures.series["action_rounds"], [1.0, 1.0, 2.0, 2.0]);
    assert_eq!(measures.series["deviations"], [0.4, 0.1, 0.0, 0.1]);
    assert!(close(score(&play, "deviation"), 0.15));
    assert_eq!(measures.series["distance"], [0.25, 0.05]);
    assert_eq!(measures.series["mean"], [25.0, 5.0]);
    assert_eq!(measures.series["sd"], [15.0, 5.0]);
}

#[test]
fn history_of_nothing_tells_nothing() {
    for (history, told) in [(0, 0), (1, 8)] {
        let mut params = contest(2, 1);
        params["history"] = history.into();
        let play = after(params, &[3.0, 4.0]);
        let result = play.view(0).latest("round_result").unwrap();
        assert_eq!(result.facts().count(), told, "history {history}");
    }
}

#[test]
fn the_bound_is_drawn_once_between_its_ends() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..300 {
        let play = played(
            GAME,
            json!({"players": 2, "rounds": 2}),
            &["random"; 2],
            seed,
        );
        let bound = fact(&play, "briefing", "bound").as_i64().unwrap();
        assert!((10..=99).contains(&bound));
        assert_eq!(play.chance().draws().len(), 1);
        seen.insert(bound);
    }
    assert!(seen.len() > 60, "{} of 90 bounds", seen.len());
}

#[test]
fn rational_players_neither_deviate_nor_fall_short() {
    for players in [2, 5, 9, 13] {
        for (low, high) in [(10, 99), (100, 999), (1000, 9999)] {
            for (rounds, history) in [(1, 3), (6, 3), (6, 0)] {
                let params = json!({
                    "players": players, "rounds": rounds, "history": history,
                    "bound_min": low, "bound_max": high, "prize": 7.5,
                });
                let play = played(GAME, params, &vec!["equilibrium"; players], 5);
                assert!(
                    play.measures().series["deviations"]
                        .iter()
                        .all(|far| *far == 0.0)
                );
                let degrees = &play.measures().series["rationality"];
                assert!(
                    degrees.iter().all(|degree| close(*degree, 1.0)),
                    "{degrees:?}"
                );
                assert_eq!(score(&play, "deviation"), 0.0);
                assert!(close(score(&play, "rationality"), 1.0));
            }
        }
    }
}

#[test]
fn level_k_goes_on_from_what_it_was_told() {
    let play = played(GAME, contest(3, 3), &["level_k"; 3], 0);
    let means = &play.measures().series["mean"];
    let expected = [100.0 / 3.0, 200.0 / 9.0, 400.0 / 27.0];
    assert!(
        means
            .iter()
            .zip(expected)
            .all(|(mean, expected)| close(*mean, expected))
    );
    let mut blind = contest(3, 3);
    blind["history"] = 0.into();
    let play = played(GAME, blind, &["level_k"; 3], 0);
    let means = &play.measures().series["mean"];
    assert!(
        means.iter().all(|mean| close(*mean, 100.0 / 3.0)),
        "{means:?}"
    );
}

#[test]
fn impossible_parameters_are_named() {
    let path = |params| refusal(GAME, params).path;
    assert_eq!(path(json!({"bound_min": 0})), "bound_min");
    assert_eq!(path(json!({"bound_min": 100})), "bound_max");
    assert_eq!(path(json!({"ratio": 1.0})), "ratio");
    assert_eq!(path(json!({"prize": 0.0})), "prize");
    assert_eq!(path(json!({"players": 1})), "players");
    assert_eq!(path(json!({"rounds": 0})), "rounds");
}

/// The pure equilibria among whole numbers: nobody gains by another number.
fn equilibria(players: usize, bound: i64) -> Vec<Vec<i64>> {
    let mut params = contest(players, 1);
    params["bound_min"] = bound.into();
    params["bound_max"] = bound.into();
    pure_equilibria(players, 0..=bound, |profile| {
        let said: Vec<f64> = profile.iter().map(|number| *number as f64).collect();
        after(params.clone(), &said).payoffs()
    })
}

/// What Gambit (pygambit 16.7.0, `enumpure_solve`) finds for the games whose payoffs
/// were written down without this program, with exact fractions; for two players
/// `enummixed_solve` and nashpy 0.0.43 (`support_enumeration`, bound 6) find no mixed
/// one besides. Among whole numbers four and more players who all say 1 hold each
/// other there, because 0 is then no closer to the target; among real numbers any
/// smaller number is.
#[test]
fn equilibria_on_grids_are_those_that_gambit_finds() {
    for (players, bound, all_equal) in [
        (2, 6, &[0][..]),
        (2, 10, &[0]),
        (3, 4, &[0]),
        (3, 6, &[0]),
        (4, 4, &[0, 1]),
        (5, 3, &[0, 1]),
    ] {
        let expected: Vec<Vec<i64>> = all_equal.iter().map(|n| vec![*n; players]).collect();
        assert_eq!(
            equilibria(players, bound),
            expected,
            "{players} players to {bound}"
        );
    }
}

#[test]
fn among_real_numbers_all_saying_one_is_no_equilibrium() {
    let play = after(contest(4, 1), &[0.9, 1.0, 1.0, 1.0]);
    assert_eq!(play.payoffs(), [1.0, 0.0, 0.0, 0.0]);
}
