//! Claims about Public Goods, worked out by hand.
//! Played turn by turn with the helpers of `games/testing.rs`.

use serde_json::json;

use super::*;
use crate::ask::Action;
use crate::games::testing::*;

const GAME: &str = "public_goods";

#[test]
fn the_pot_is_multiplied_and_shared_evenly() {
    // 10 + 4 + 0 = 14, doubled 28, 9.333.. for each of three.
    let mut play = opened(GAME, json!({"players": 3, "rounds": 1}));
    turn(&mut play, integers(&[10, 4, 0]));
    assert_eq!(play.payoffs(), [19.33, 25.33, 29.33]);
    assert_eq!(fact(&play, "round_result", "pot"), json!(28.0));
    assert_eq!(
        fact(&play, "round_result", "gain"),
        json!([-0.67, 5.33, 9.33])
    );
    assert_eq!(fact(&play, "round_result", "kept"), json!([10, 16, 20]));
}

#[test]
fn payoffs_add_up_what_players_were_told() {
    let mut play = opened(GAME, json!({"players": 3, "rounds": 3}));
    for _ in 0..3 {
        turn(&mut play, integers(&[10, 4, 0]));
    }
    assert!(close(play.payoffs()[0], 3.0 * 19.33));
}

#[test]
fn a_forfeit_puts_in_nothing() {
    let mut play = opened(GAME, json!({"players": 2, "rounds": 1}));
    turn(&mut play, vec![None, Some(Action::Integer(20))]);
    assert_eq!(play.payoffs(), [40.0, 20.0]);
    assert_eq!(fact(&play, "round_result", "contributions"), json!([0, 20]));
    assert_eq!(
        fact(&play, "round_result", "contribution"),
        json!([null, 20])
    );
}

#[test]
fn everybody_sees_every_contribution_and_nobody_what_is_hidden() {
    let mut play = opened(GAME, json!({"players": 2, "rounds": 1}));
    turn(&mut play, integers(&[3, 5]));
    let seen = play.view(0).latest("round_result").unwrap();
    assert_eq!(seen.integers("contributions"), Some(&[3, 5][..]));
    assert_eq!(seen.fact("kept"), None);
}

#[test]
fn hundredths_are_decided_by_the_binary_value() {
    // 2.675 is a little less in binary; 0.125 is exact and goes to even.
    assert_eq!(hundredths(2.675), 2.67);
    assert_eq!(hundredths(0.125), 0.12);
    assert_eq!(hundredths(0.375), 0.38);
    assert_eq!(hundredths(-0.125), -0.12);
    assert_eq!(hundredths(33.333_333), 33.33);
    assert_eq!(hundredths(1e13), 1e13);
}

#[test]
fn the_schemes_agree_up_to_ratio_one_and_are_opposed_above() {
    // Round means 5 and 7 of 20 tokens: S = 6.
    let scored = |ratio| {
        let mut play = opened(GAME, json!({"players": 2, "rounds": 2, "ratio": ratio}));
        turn(&mut play, integers(&[0, 10]));
        turn(&mut play, integers(&[7, 7]));
        assert!(close(part(&play, "S"), 6.0));
        (score(&play, "iclr2025"), score(&play, "arxiv2024"))
    };
    for (ratio, old) in [(0.5, 70.0), (1.0, 70.0), (2.0, 30.0)] {
        let (new, other) = scored(ratio);
        assert!(close(new, 70.0) && close(other, old), "ratio {ratio}");
    }
}

#[test]
fn more_than_the_tokens_is_a_foul_unless_lenient() {
    let mut strict = opened(GAME, json!({"players": 2, "rounds": 1}));
    assert!(refused(&mut strict, 0, Action::Integer(21)));
    let params = json!({"players": 2, "rounds": 1, "lenient": true});
    let mut lenient = opened(GAME, params);
    turn(&mut lenient, integers(&[35, 1]));
    assert_eq!(lenient.payoffs(), [21.0, 55.0]);
    assert_eq!(fact(&lenient, "round_result", "kept"), json!([-15, 19]));
}

#[test]
fn equilibrium_puts_in_nothing_until_a_token_pays_for_itself() {
    for ratio in [0.0, 0.5, 1.0, 2.0, 10.0] {
        assert_eq!(equilibrium_scores_hold(GAME, json!({"ratio": ratio}), 1), 2);
        let play = played(GAME, json!({"ratio": ratio}), &["equilibrium"; 10], 1);
        assert!(close(part(&play, "S"), 0.0));
    }
    let play = played(GAME, json!({"ratio": 10.5}), &["equilibrium"; 10], 1);
    assert!(close(part(&play, "S"), 20.0));
    assert_eq!(equilibrium_scores_hold(GAME, json!({"ratio": 10.5}), 1), 2);
}

#[test]
fn tit_for_tat_follows_the_others_down() {
    let params = json!({"players": 3, "rounds": 2});
    let play = played(GAME, params, &["tit_for_tat", "free_rider", "full"], 1);
    assert_eq!(
        fact(&play, "round_result", "contributions"),
        json!([10, 0, 20])
    );
    let params = json!({"players": 3, "rounds": 2});
    let play = played(GAME, params, &["conditional", "full", "full"], 1);
    assert_eq!(
        fact(&play, "round_result", "contributions"),
        json!([16, 20, 20])
    );
}

#[test]
fn impossible_parameters_are_named() {
    assert_eq!(refusal(GAME, json!({"tokens": 0})).path, "tokens");
    assert_eq!(refusal(GAME, json!({"ratio": -1})).path, "ratio");
    assert_eq!(refusal(GAME, json!({"players": 1})).path, "players");
}
