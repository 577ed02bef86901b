//! Claims about Guess 2/3 of the Average, worked out by hand.
//! Played turn by turn with the helpers of `games/testing.rs`.

use serde_json::{Value as Json, json};

use super::*;
use crate::ask::Action;
use crate::games::testing::*;

const GAME: &str = "guess_two_thirds";

fn three(rounds: u32, ratio: f64) -> Json {
    json!({"players": 3, "rounds": rounds, "ratio": ratio})
}

#[test]
fn closest_to_the_ratio_of_the_mean_wins() {
    // Mean 40, half of it 20.
    let mut play = opened(GAME, three(1, 0.5));
    turn(&mut play, integers(&[90, 12, 18]));
    assert_eq!(play.payoffs(), [0.0, 0.0, 1.0]);
    assert_eq!(fact(&play, "round_result", "mean"), json!(40.0));
    assert_eq!(fact(&play, "round_result", "target"), json!(20.0));
    assert_eq!(fact(&play, "round_result", "winning_numbers"), json!([18]));
}

#[test]
fn equal_numbers_split_the_prize() {
    let mut play = opened(GAME, three(1, 0.5));
    turn(&mut play, integers(&[10, 10, 40]));
    assert_eq!(play.payoffs(), [0.5, 0.5, 0.0]);
}

#[test]
fn a_tie_in_a_wide_range_goes_to_both_sides() {
    // The target is 5070362 but for rounding; the two are 2432231 away from it.
    let numbers = [
        8_112_579, 8_112_580, 8_112_579, 7_502_593, 8_112_579, 2_638_131, 8_112_579,
    ];
    let target = 0.7 * (numbers.iter().sum::<i64>() as f64 / 7.0);
    let winning = winning_numbers(numbers.into_iter(), target, Tie::All);
    assert_eq!(winning, [7_502_593, 2_638_131]);
}

#[test]
fn a_tie_of_different_numbers_goes_to_all_or_to_the_first_said() {
    // Mean 20, target 20: 15 and 25 are equally close.
    for (tie, payoffs) in [
        ("all", [0.5, 0.0, 0.5, 0.0]),
        ("first", [1.0, 0.0, 0.0, 0.0]),
    ] {
        let params = json!({"players": 4, "rounds": 1, "ratio": 1, "tie": tie});
        let mut play = opened(GAME, params);
        turn(&mut play, integers(&[25, 40, 15, 0]));
        assert_eq!(play.payoffs(), payoffs, "{tie}");
    }
}

#[test]
fn a_forfeit_is_not_in_the_mean() {
    let mut play = opened(GAME, three(2, 0.5));
    turn(
        &mut play,
        vec![None, Some(Action::Integer(10)), Some(Action::Integer(30))],
    );
    assert_eq!(fact(&play, "round_result", "mean"), json!(20.0));
    assert_eq!(fact(&play, "round_result", "number"), json!([null, 10, 30]));
    turn(&mut play, vec![None, None, None]);
    assert_eq!(fact(&play, "round_result", "mean"), Json::Null);
    // The silent round counts for nothing: S = 20.
    assert!(close(score(&play, "iclr2025"), 80.0));
}

#[test]
fn nobody_sees_anothers_number() {
    let mut play = opened(GAME, three(1, 0.5));
    turn(&mut play, integers(&[1, 2, 3]));
    let seen = play.view(2).latest("round_result").unwrap();
    assert_eq!(seen.integer("number"), Some(3));
    let names: Vec<&str> = seen.facts().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "mean",
            "target",
            "winning_numbers",
            "winners",
            "number",
            "won"
        ]
    );
}

#[test]
fn both_schemes_follow_the_ratio() {
    // Means 20 and 40 between 10 and 110: S = 20, M = 30, D = 100.
    for (ratio, new, old) in [(0.5, 90.0, 80.0), (1.0, 40.0, 40.0), (1.5, 20.0, 30.0)] {
        let params = json!({"players": 2, "rounds": 2, "ratio": ratio, "min": 10, "max": 110});
        let mut play = opened(GAME, params);
        turn(&mut play, integers(&[10, 30]));
        turn(&mut play, integers(&[40, 40]));
        assert!(close(score(&play, "iclr2025"), new), "iclr2025 at {ratio}");
        assert!(
            close(score(&play, "arxiv2024"), old),
            "arxiv2024 at {ratio}"
        );
        assert!(close(part(&play, "S"), 20.0) && close(part(&play, "S_mean"), 30.0));
    }
}

#[test]
fn level_k_reasons_from_the_last_mean() {
    // Level 1 says half of the middle first, then half of the mean of 25, 50, 50.
    let game = game(GAME, three(2, 0.5));
    let level = rule_player(&*game, "level_k", json!({"k": 1}), 0);
    let fixed = || {
        Some(rule_player(
            &*game,
            "specified",
            json!({"answers": [50]}),
            1,
        ))
    };
    let rules = vec![Some(level), fixed(), fixed()];
    let play = crate::play::Play::start(game.clone(), Chance::scripted([]), rules);
    assert_eq!(fact(&play, "round_result", "number"), json!([21, 50, 50]));
}

#[test]
fn equilibrium_is_the_end_that_the_ratio_points_to() {
    for ratio in [0.0, 0.5, 2.0 / 3.0, 1.0, 4.0 / 3.0] {
        for (min, max) in [(0, 100), (0, 75), (100, 300)] {
            let params = json!({"ratio": ratio, "min": min, "max": max});
            assert_eq!(equilibrium_scores_hold(GAME, params, 1), 2);
        }
    }
}

#[test]
fn impossible_parameters_are_named() {
    assert_eq!(refusal(GAME, json!({"min": 100})).path, "max");
    assert_eq!(refusal(GAME, json!({"ratio": -0.5})).path, "ratio");
    assert_eq!(refusal(GAME, json!({"rounds": 0})).path, "rounds");
}
