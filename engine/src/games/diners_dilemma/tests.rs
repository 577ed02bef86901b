//! Claims about Diner's Dilemma, worked out by hand.
//! Played turn by turn with the helpers of `games/testing.rs`.

use serde_json::{Value as Json, json};

use super::*;
use crate::games::testing::*;

const GAME: &str = "diners_dilemma";

fn three(rounds: u32) -> Json {
    json!({"players": 3, "rounds": rounds})
}

#[test]
fn the_bill_is_split_evenly() {
    // 10 + 20 + 20 = 50, 16.67 each.
    let mut play = opened(GAME, three(1));
    turn(&mut play, words(&[CHEAP, COSTLY, COSTLY]));
    let part = 50.0 / 3.0;
    assert_eq!(play.payoffs(), [15.0 - part, 20.0 - part, 20.0 - part]);
    assert_eq!(fact(&play, "round_result", "total_cost"), json!(50));
    assert_eq!(fact(&play, "round_result", "cheap"), json!(1));
    assert_eq!(fact(&play, "round_result", "costly"), json!(2));
}

#[test]
fn a_forfeit_eats_cheap() {
    let mut play = opened(GAME, three(1));
    turn(
        &mut play,
        vec![None, Some(Action::Choice(COSTLY.into())), None],
    );
    assert_eq!(fact(&play, "round_result", "cheap"), json!(2));
    assert_eq!(
        fact(&play, "round_result", "dish"),
        json!([null, COSTLY, null])
    );
}

#[test]
fn nobody_sees_anothers_dish() {
    let mut play = opened(GAME, three(1));
    turn(&mut play, words(&[CHEAP, COSTLY, COSTLY]));
    let seen = play.view(0).latest("round_result").unwrap();
    assert_eq!(seen.fact("dish").unwrap().text(), Some(CHEAP));
}

#[test]
fn other_words_are_fouls_and_costly_when_lenient() {
    let mut strict = opened(GAME, three(1));
    assert!(refused(&mut strict, 0, Action::Choice("soup".into())));
    let mut lenient = opened(GAME, json!({"players": 2, "rounds": 1, "lenient": true}));
    assert!(refused(&mut lenient, 0, Action::Integer(1)));
    turn(&mut lenient, words(&["costly dish", CHEAP]));
    assert_eq!(
        fact(&lenient, "round_result", "dish"),
        json!([COSTLY, CHEAP])
    );
}

#[test]
fn the_schemes_are_complements() {
    // Cheap shares 1/3 and 1: S = 2/3.
    let mut play = opened(GAME, three(2));
    turn(&mut play, words(&[CHEAP, COSTLY, COSTLY]));
    turn(&mut play, words(&[CHEAP, CHEAP, CHEAP]));
    assert!(close(part(&play, "S"), 2.0 / 3.0));
    assert!(close(part(&play, "S_costly"), 1.0 / 3.0));
    assert!(close(score(&play, "iclr2025"), 100.0 / 3.0));
    assert!(close(score(&play, "arxiv2024"), 200.0 / 3.0));
}

#[test]
fn equilibrium_is_the_dominant_dish() {
    // One's own part of 10 more is 1 among ten and 5 between two, where 5
    // more utility is no gain.
    let dish = |params| {
        let play = played(GAME, params, &["equilibrium"; 2], 1);
        fact(&play, "round_result", "dish")
    };
    assert_eq!(dish(json!({"players": 2})), json!([CHEAP, CHEAP]));
    let params = json!({"players": 2, "costly_utility": 21});
    assert_eq!(dish(params), json!([COSTLY, COSTLY]));
    for params in [
        json!({}),
        json!({"players": 2}),
        json!({"costly_utility": 15}),
    ] {
        assert_eq!(equilibrium_scores_hold(GAME, params, 1), 2);
    }
}

#[test]
fn tit_for_tat_follows_most_of_the_others_and_grim_any_of_them() {
    let dish = |first: &str| {
        let play = played(GAME, three(2), &[first, COSTLY, CHEAP], 1);
        fact(&play, "round_result", "dish")[0].clone()
    };
    assert_eq!(dish("tit_for_tat"), json!(CHEAP));
    assert_eq!(dish("grim"), json!(COSTLY));
    let play = played(GAME, three(2), &["tit_for_tat", COSTLY, COSTLY], 1);
    assert_eq!(fact(&play, "round_result", "dish")[0], json!(COSTLY));
}

#[test]
fn the_costly_dish_must_cost_more() {
    let error = refusal(GAME, json!({"cheap_cost": 20}));
    assert_eq!(error.path, "costly_cost");
}
