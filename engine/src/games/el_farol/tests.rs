//! Claims about the El Farol bar, worked out by hand.
//! Played turn by turn with the helpers of `games/testing.rs`.

use serde_json::{Value as Json, json};

use super::*;
use crate::ask::Action;
use crate::games::testing::*;

const GAME: &str = "el_farol";

fn five(mode: &str) -> Json {
    json!({"players": 5, "rounds": 2, "mode": mode})
}

#[test]
fn a_full_bar_is_good_and_one_more_guest_crowds_it() {
    // 3 of 5 is the ratio 0.6 itself.
    let mut play = opened(GAME, five("explicit"));
    turn(&mut play, words(&[GO, GO, GO, STAY, STAY]));
    assert_eq!(play.payoffs(), [10.0, 10.0, 10.0, 5.0, 5.0]);
    turn(&mut play, words(&[GO, GO, GO, GO, STAY]));
    assert_eq!(play.payoffs(), [10.0, 10.0, 10.0, 5.0, 10.0]);
    assert_eq!(fact(&play, "bar_report", "goers"), json!(4));
    assert_eq!(fact(&play, "bar_report", "stayers"), json!(1));
    assert_eq!(fact(&play, "bar_report", "good"), json!(false));
}

#[test]
fn only_guests_see_an_implicit_bar() {
    let mut play = opened(GAME, five("implicit"));
    turn(&mut play, words(&[GO, STAY, GO, STAY, STAY]));
    let report = play.view(0).latest("bar_report").unwrap();
    assert_eq!(report.integer("goers"), Some(2));
    assert!(play.view(1).latest("bar_report").is_none());
    let own = play.view(1).latest("round_result").unwrap();
    let names: Vec<&str> = own.facts().map(|(name, _)| name).collect();
    assert_eq!(names, ["choice", "payoff"]);
    assert_eq!(own.integer("payoff"), Some(5));
}

#[test]
fn everybody_sees_an_explicit_bar() {
    let mut play = opened(GAME, five("explicit"));
    turn(&mut play, words(&[STAY; 5]));
    assert!((0..5).all(|seat| play.view(seat).latest("bar_report").is_some()));
}

#[test]
fn an_empty_implicit_bar_reports_to_nobody() {
    let mut play = opened(GAME, five("implicit"));
    turn(&mut play, words(&[STAY; 5]));
    assert_eq!(play.log().of_kind("bar_report").count(), 0);
    assert_eq!(fact(&play, "round_result", "share"), json!(0.0));
}

#[test]
fn a_forfeit_stays_home() {
    let mut play = opened(GAME, five("explicit"));
    let mut answers = words(&[GO; 5]);
    answers[0] = None;
    answers[1] = None;
    turn(&mut play, answers);
    assert_eq!(play.payoffs(), [5.0, 5.0, 10.0, 10.0, 10.0]);
    assert_eq!(
        fact(&play, "round_result", "choice"),
        json!([null, null, GO, GO, GO])
    );
}

#[test]
fn a_bar_for_nobody_is_good_only_when_empty_and_a_bar_for_all_always() {
    let paid = |ratio, goers: &[&'static str]| {
        let mut play = opened(GAME, json!({"players": 2, "rounds": 1, "ratio": ratio}));
        turn(&mut play, words(goers));
        (play.payoffs(), fact(&play, "round_result", "good"))
    };
    assert_eq!(paid(0, &[STAY, STAY]), (vec![5.0, 5.0], json!(true)));
    assert_eq!(paid(0, &[GO, STAY]), (vec![0.0, 5.0], json!(false)));
    assert_eq!(paid(1, &[GO, GO]), (vec![10.0, 10.0], json!(true)));
}

#[test]
fn scores_follow_the_distance_from_the_ratio() {
    // Shares 1 and 0.2 at ratio 0.6: S = 0.4, W = 0.6.
    let mut play = opened(GAME, five("explicit"));
    turn(&mut play, words(&[GO; 5]));
    turn(&mut play, words(&[GO, STAY, STAY, STAY, STAY]));
    assert!(close(part(&play, "S"), 0.4));
    assert!(close(score(&play, "iclr2025"), 100.0 / 3.0));
    assert!(close(score(&play, "arxiv2024"), 100.0 / 3.0));
}

#[test]
fn capacity_counts_guests_and_not_products_of_floats() {
    let capacity = |players, ratio| {
        let params = BarParams {
            players,
            ratio,
            ..BarParams::default()
        };
        params.capacity()
    };
    assert_eq!(capacity(10, 0.6), 6);
    assert_eq!(capacity(100, 0.29), 29);
    assert_eq!(capacity(10, 0.7), 7);
    assert_eq!(capacity(3, 2.0 / 3.0), 2);
    assert_eq!(capacity(7, 0.5), 3);
    assert_eq!((capacity(10, 0.0), capacity(10, 1.0)), (0, 10));
}

#[test]
fn equilibrium_fills_the_bar() {
    for ratio in [0.0, 0.2, 0.35, 0.5, 0.6, 1.0] {
        for mode in ["implicit", "explicit"] {
            let params = json!({"ratio": ratio, "mode": mode});
            assert_eq!(equilibrium_scores_hold(GAME, params, 1), 2);
        }
    }
    let play = played(GAME, json!({}), &["equilibrium"; 10], 1);
    assert!(close(score(&play, "iclr2025"), 100.0));
}

#[test]
fn contrarians_crowd_the_bar_every_other_evening() {
    let params = json!({"players": 2, "rounds": 4, "ratio": 0.5, "mode": "explicit"});
    let play = played(GAME, params, &["contrarian", "follower"], 3);
    let good: Vec<Option<bool>> = play
        .log()
        .of_kind("round_result")
        .map(|event| event.get("good").unwrap().flag())
        .collect();
    assert_eq!(good.len(), 4);
    // One goes where the other does not, so the bar holds exactly one.
    assert_eq!(good[1..], [Some(true); 3]);
}

#[test]
fn mixed_goes_with_its_probability() {
    let game = game(GAME, json!({}));
    let wrong = json!({"probability": 1.5});
    assert!(
        game.rule_player("mixed", wrong.as_object().unwrap(), 0)
            .is_err()
    );
    let play = played(GAME, json!({"rounds": 400}), &["mixed"; 10], 5);
    // Ten players, 400 rounds: three standard errors are 0.023.
    let shares = &play.measures().series["mean"];
    assert!((mean(shares.iter().copied()) - 0.6).abs() < 0.03);
}

#[test]
fn impossible_parameters_are_named() {
    assert_eq!(refusal(GAME, json!({"ratio": 1.1})).path, "ratio");
    assert_eq!(refusal(GAME, json!({"home": 11})).path, "home");
    assert_eq!(refusal(GAME, json!({"max": 0})).path, "max");
    assert_eq!(refusal(GAME, json!({"mode": "loud"})).path, "mode");
}

#[test]
fn other_words_are_fouls_even_when_lenient() {
    let mut play = opened(GAME, json!({"players": 2, "lenient": true}));
    assert!(refused(&mut play, 0, Action::Choice("maybe".into())));
}
