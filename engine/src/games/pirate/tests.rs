//! Claims about the pirate game, worked out by hand.
//! Played turn by turn with the helpers of `games/testing.rs`.

use serde_json::json;

use super::*;
use crate::games::testing::*;
use crate::play::Play;

const GAME: &str = "pirate";

fn propose(play: &mut Play, plan: &[i64]) {
    turn(play, vec![Some(Action::Division(plan.to_vec()))]);
}

#[test]
fn half_of_the_votes_carry_a_plan() {
    let mut play = opened(GAME, json!({"players": 4}));
    propose(&mut play, &[70, 10, 10, 10]);
    turn(&mut play, words(&[ACCEPT, REJECT, REJECT]));
    assert!(play.is_finished());
    assert_eq!(play.payoffs(), [70.0, 10.0, 10.0, 10.0]);
    assert_eq!(fact(&play, "vote_result", "accepts"), json!(2));
    assert_eq!(fact(&play, "vote_result", "voters"), json!(4));
}

#[test]
fn less_than_half_throws_the_proposer_overboard() {
    let mut play = opened(GAME, json!({"players": 3}));
    propose(&mut play, &[100, 0, 0]);
    turn(&mut play, words(&[REJECT, REJECT]));
    assert_eq!(play.waiting().next().unwrap().seat, 1);
    // Of two, the proposer's own vote is half.
    propose(&mut play, &[99, 1]);
    turn(&mut play, words(&[REJECT]));
    assert_eq!(play.payoffs(), [0.0, 99.0, 1.0]);
    assert_eq!(fact(&play, "vote_result", "votes"), json!([ACCEPT, REJECT]));
    assert_eq!(
        fact(&play, "vote_result", "vote"),
        json!([null, ACCEPT, REJECT])
    );
}

#[test]
fn a_forfeited_vote_is_against() {
    let mut play = opened(GAME, json!({"players": 3}));
    propose(&mut play, &[100, 0, 0]);
    turn(&mut play, vec![None, None]);
    assert!(!play.is_finished());
    assert_eq!(
        fact(&play, "vote_result", "votes"),
        json!([ACCEPT, REJECT, REJECT])
    );
    assert_eq!(
        fact(&play, "vote_result", "vote"),
        json!([ACCEPT, null, null])
    );
}

#[test]
fn who_proposes_nothing_goes_overboard_and_the_last_one_keeps_the_gold() {
    let mut play = opened(GAME, json!({"players": 3}));
    turn(&mut play, vec![None]);
    assert_eq!(fact(&play, "vote_result", "accepted"), json!(false));
    turn(&mut play, vec![None]);
    assert!(play.is_finished());
    assert_eq!(play.payoffs(), [0.0, 0.0, 100.0]);
    // No plan and no vote: nothing to score.
    assert!(play.measures().scores.is_empty());
}

#[test]
fn plans_must_fit_the_living_and_the_gold() {
    let mut play = opened(GAME, json!({"players": 3, "gold": 10}));
    assert!(refused(&mut play, 0, Action::Division(vec![5, 5])));
    assert!(refused(&mut play, 0, Action::Division(vec![5, 5, 1])));
    assert!(refused(&mut play, 0, Action::Division(vec![11, -1, 0])));
    let params = json!({"players": 3, "gold": 10, "lenient": true});
    let mut lenient = opened(GAME, params);
    assert!(refused(&mut lenient, 0, Action::Division(vec![5, 5, 1])));
    propose(&mut lenient, &[11, -1, 0]);
    assert_eq!(fact(&lenient, "proposal", "plan"), json!([11, -1, 0]));
}

#[test]
fn the_living_see_plans_and_counts_but_not_votes() {
    let mut play = opened(GAME, json!({"players": 4}));
    propose(&mut play, &[97, 1, 1, 1]);
    turn(&mut play, words(&[REJECT, REJECT, REJECT]));
    propose(&mut play, &[98, 1, 1]);
    turn(&mut play, words(&[ACCEPT, REJECT]));
    assert_eq!(play.view(0).of_kind("proposal").count(), 1);
    assert_eq!(play.view(0).of_kind("vote_result").count(), 1);
    let proposal = play.view(2).latest("proposal").unwrap();
    assert_eq!(proposal.integers("order"), Some(&[1, 2, 3][..]));
    assert_eq!(proposal.integers("plan"), Some(&[98, 1, 1][..]));
    assert_eq!(proposal.integer("share"), Some(1));
    let result = play.view(2).latest("vote_result").unwrap();
    let names: Vec<&str> = result.facts().map(|(name, _)| name).collect();
    assert_eq!(names, ["proposer", "accepts", "voters", "accepted", "vote"]);
}

#[test]
fn scores_follow_plans_and_votes() {
    // Reference for three is 99, 0, 1: the plan is 9 + 4 + 5 = 18 away.
    // Both voters are offered 2 or more, so only the acceptance is right.
    let mut play = opened(GAME, json!({"players": 3}));
    propose(&mut play, &[90, 4, 6]);
    turn(&mut play, words(&[REJECT, ACCEPT]));
    assert!(close(part(&play, "S_P"), 18.0));
    assert!(close(part(&play, "S_P_golds"), 18.0));
    assert!(close(part(&play, "S_V"), 0.5));
    assert!(close(score(&play, "iclr2025"), 182.0 / 200.0 * 50.0 + 25.0));
    assert!(close(
        score(&play, "arxiv2024"),
        182.0 / 200.0 * 50.0 + 25.0
    ));
}

#[test]
fn the_schemes_scale_small_amounts_of_gold_differently() {
    // Three pirates, 4 gold: the reference of 4 is 3, 0, 1. As percentages
    // of the gold it is 75, 0, 25, against 99, 0, 1 of 100.
    let mut play = opened(GAME, json!({"players": 3, "gold": 4}));
    propose(&mut play, &[3, 0, 1]);
    turn(&mut play, words(&[REJECT, ACCEPT]));
    assert!(close(part(&play, "S_P"), 48.0));
    assert!(close(part(&play, "S_P_golds"), 0.0));
    assert!(close(score(&play, "iclr2025"), 152.0 / 200.0 * 50.0 + 50.0));
    assert!(close(score(&play, "arxiv2024"), 100.0));
}

#[test]
fn rounds_are_averaged_and_votes_pooled() {
    // First plan 2 away, one of three votes right; second 0 away, two of two.
    let mut play = opened(GAME, json!({"players": 4}));
    propose(&mut play, &[98, 1, 1, 0]);
    turn(&mut play, words(&[REJECT, REJECT, REJECT]));
    propose(&mut play, &[99, 0, 1]);
    turn(&mut play, words(&[REJECT, ACCEPT]));
    assert!(close(part(&play, "S_P"), 1.0));
    assert!(close(part(&play, "S_V"), 3.0 / 5.0));
    let series = play.measures().series;
    assert_eq!(series["distance"], [2.0, 0.0]);
    assert_eq!(series["vote_accuracy"], [1.0 / 3.0, 1.0]);
    assert_eq!(series["accepts"], [0.25, 2.0 / 3.0]);
}

#[test]
fn equilibrium_is_accepted_at_once_and_scores_in_full() {
    for players in 2..=20 {
        let params = json!({"players": players});
        assert_eq!(equilibrium_scores_hold(GAME, params.clone(), 1), 2);
        let play = played(GAME, params, &vec!["equilibrium"; players], 1);
        assert!(close(score(&play, "iclr2025"), 100.0));
        assert_eq!(play.log().of_kind("vote_result").count(), 1);
    }
    for gold in [4, 5, 400] {
        assert_eq!(equilibrium_scores_hold(GAME, json!({"gold": gold}), 1), 2);
    }
}

#[test]
fn with_too_little_gold_the_first_goes_overboard() {
    // Two gold buy the votes of six pirates, 2 * 2 + 2. The seventh is lost, and
    // so accepts anything from an eighth, who therefore is safe.
    let params = json!({"players": 7, "gold": 2});
    assert_eq!(equilibrium_scores_hold(GAME, params.clone(), 1), 2);
    let play = played(GAME, params, &["equilibrium"; 7], 1);
    assert_eq!(play.log().of_kind("vote_result").count(), 2);
    assert_eq!(play.payoffs().iter().sum::<f64>(), 2.0);
    assert_eq!(play.payoffs()[0], 0.0);
    let params = json!({"players": 8, "gold": 2});
    assert_eq!(equilibrium_scores_hold(GAME, params.clone(), 1), 2);
    let play = played(GAME, params, &["equilibrium"; 8], 1);
    assert_eq!(play.log().of_kind("vote_result").count(), 1);
}

#[test]
fn strategies_vote_as_they_say() {
    let votes = |strategies: &[&str]| {
        let play = played(GAME, json!({"players": 3}), strategies, 1);
        let first = play.log().of_kind("vote_result").next().unwrap();
        serde_json::to_value(first.get("votes").unwrap()).unwrap()
    };
    assert_eq!(
        votes(&["greedy", "greedy", "docile"]),
        json!([ACCEPT, REJECT, ACCEPT])
    );
    assert_eq!(
        votes(&["fair", "fair", "bloodthirsty"]),
        json!([ACCEPT, ACCEPT, REJECT])
    );
    assert_eq!(
        votes(&["equilibrium", "greedy", "fair"]),
        json!([ACCEPT, REJECT, REJECT])
    );
}

#[test]
fn impossible_parameters_are_named() {
    assert_eq!(refusal(GAME, json!({"gold": 0})).path, "gold");
    assert_eq!(refusal(GAME, json!({"players": 101})).path, "players");
}
