//! Claims about Divide the Dollar, worked out by hand.
//! Played turn by turn with the helpers of `games/testing.rs`.

use serde_json::{Value as Json, json};

use crate::ask::Action;
use crate::games::testing::*;

fn three() -> Json {
    json!({"players": 3, "rounds": 2, "golds": 10})
}

#[test]
fn bids_up_to_the_gold_are_paid_and_a_higher_sum_pays_nobody() {
    let mut play = opened("divide_dollar", three());
    turn(&mut play, integers(&[2, 3, 5]));
    assert_eq!(play.payoffs(), [2.0, 3.0, 5.0]);
    turn(&mut play, integers(&[2, 3, 6]));
    assert_eq!(play.payoffs(), [2.0, 3.0, 5.0]);
    assert_eq!(fact(&play, "round_result", "exceeded"), json!(true));
    assert_eq!(fact(&play, "round_result", "total"), json!(11));
}

#[test]
fn a_forfeit_bids_nothing_and_shows_no_bid() {
    let mut play = opened("divide_dollar", three());
    turn(
        &mut play,
        vec![None, Some(Action::Integer(4)), Some(Action::Integer(6))],
    );
    assert_eq!(play.payoffs(), [0.0, 4.0, 6.0]);
    assert_eq!(fact(&play, "round_result", "bid"), json!([null, 4, 6]));
    assert_eq!(fact(&play, "round_result", "received"), json!([0, 4, 6]));
}

#[test]
fn nobody_sees_anothers_bid() {
    let mut play = opened("divide_dollar", three());
    turn(&mut play, integers(&[2, 3, 4]));
    let seen = play.view(1).latest("round_result").unwrap();
    let names: Vec<&str> = seen.facts().map(|(name, _)| name).collect();
    assert_eq!(names, ["total", "exceeded", "bid", "received"]);
    assert_eq!(seen.integer("bid"), Some(3));
}

#[test]
fn scores_follow_the_distance_of_the_sum() {
    // Sums 13 and 6 of 10 gold among 3: |3|, |4| apart; a third of it each.
    let mut play = opened("divide_dollar", three());
    turn(&mut play, integers(&[10, 3, 0]));
    turn(&mut play, integers(&[2, 2, 2]));
    assert!(close(part(&play, "S_total"), 3.5));
    assert!(close(part(&play, "S"), 3.5 / 3.0));
    assert!(close(score(&play, "iclr2025"), 65.0));
    assert!(close(score(&play, "arxiv2024"), 65.0));
}

#[test]
fn only_the_old_score_falls_below_zero() {
    let mut play = opened(
        "divide_dollar",
        json!({"players": 3, "rounds": 1, "golds": 10}),
    );
    turn(&mut play, integers(&[10, 10, 10]));
    assert!(close(score(&play, "iclr2025"), 0.0));
    assert!(close(score(&play, "arxiv2024"), -100.0));
}

#[test]
fn a_bid_above_the_gold_is_a_foul_unless_lenient() {
    let mut strict = opened("divide_dollar", three());
    assert!(refused(&mut strict, 0, Action::Integer(11)));
    let mut params = three();
    params["lenient"] = json!(true);
    let mut lenient = opened("divide_dollar", params);
    turn(&mut lenient, integers(&[11, 0, i64::MAX]));
    assert_eq!(fact(&lenient, "round_result", "exceeded"), json!(true));
}

#[test]
fn equilibrium_divides_all_of_it() {
    for golds in [1, 7, 50, 100, 101] {
        let params = json!({"golds": golds});
        assert_eq!(
            equilibrium_scores_hold("divide_dollar", params.clone(), 1),
            2
        );
        let play = played("divide_dollar", params, &["equilibrium"; 10], 1);
        assert_eq!(play.payoffs().iter().sum::<f64>(), f64::from(golds * 20));
    }
}

#[test]
fn dominant_bids_91_of_100_and_adaptive_gives_way() {
    let mut strategies = ["adaptive"; 10];
    strategies[0] = "dominant";
    let play = played("divide_dollar", json!({}), &strategies, 1);
    assert_eq!(
        last(&play, "round_result").own[0].1.entry(0).integer(),
        Some(91)
    );
    assert_eq!(fact(&play, "round_result", "exceeded"), json!(false));
}

#[test]
fn gold_must_be_positive() {
    assert_eq!(refusal("divide_dollar", json!({"golds": 0})).path, "golds");
    assert_eq!(refusal("divide_dollar", json!({"gold": 9})).path, "gold");
}
