//! Guessing to survive worked out by hand: who wins, who loses health, who is out,
//! measures, rule players; and its equilibria on small ranges against those that
//! another program found.

use serde_json::{Value as Json, json};

use crate::arithmetic::square;
use crate::ask::Action;
use crate::chance::{Chance, Luck};
use crate::games::testing::{
    close, equilibrium_scores_hold, fact, forfeit, game, integers, last, opened, part, played,
    pure_equilibria, refusal, refused, rule_player, score, turn,
};
use crate::play::Play;

const GAME: &str = "guess_to_survive";

fn result(play: &Play, name: &str) -> Json {
    fact(play, "round_result", name)
}

fn after(params: Json, choices: &[i64]) -> Play {
    let mut play = opened(GAME, params);
    turn(&mut play, integers(choices));
    play
}

#[test]
fn who_is_closest_to_the_target_loses_nothing() {
    // Mean 30, target 24.
    let play = after(json!({ "players": 3, "loss": 2 }), &[50, 30, 10]);
    assert!(close(result(&play, "mean").as_f64().unwrap(), 30.0));
    assert!(close(result(&play, "target").as_f64().unwrap(), 24.0));
    assert_eq!(result(&play, "winners"), json!([1]));
    assert_eq!(result(&play, "health"), json!([8, 10, 8]));
    assert_eq!(play.payoffs(), [0.0, 1.0, 0.0]);
}

#[test]
fn all_who_are_closest_win_on_either_side_of_the_target() {
    // Mean 10, target 8.
    let play = after(json!({ "players": 4 }), &[10, 6, 14, 10]);
    assert_eq!(result(&play, "winners"), json!([0, 1, 3]));
    // 0.7 and the mean of 3 have no exact binary form: target 7, of which 6 and 8 are
    // equally far.
    let play = after(json!({ "players": 3, "ratio": 0.7 }), &[6, 8, 16]);
    assert_eq!(result(&play, "winners"), json!([0, 1]));
}

#[test]
fn nobody_wins_when_all_say_the_same() {
    let play = after(json!({ "players": 3 }), &[7, 7, 7]);
    assert_eq!(result(&play, "winners"), json!([]));
    assert_eq!(result(&play, "health"), json!([9, 9, 9]));
    assert!(close(result(&play, "target").as_f64().unwrap(), 5.6));
    let mut play = opened(GAME, json!({ "players": 3 }));
    turn(
        &mut play,
        vec![Some(Action::Integer(7)), None, Some(Action::Integer(7))],
    );
    assert_eq!(result(&play, "winners"), json!([]));
}

#[test]
fn who_forfeits_counts_for_nothing_and_loses_health() {
    let mut play = opened(GAME, json!({ "players": 3 }));
    let one = |number| Some(Action::Integer(number));
    turn(&mut play, vec![one(10), None, one(100)]);
    assert!(close(result(&play, "mean").as_f64().unwrap(), 55.0));
    assert_eq!(result(&play, "choices"), json!([10, null, 100]));
    assert_eq!(result(&play, "winners"), json!([0]));
    assert_eq!(result(&play, "health"), json!([10, 9, 9]));
    // A number that stands alone among forfeits is the closest.
    turn(&mut play, vec![None, one(90), None]);
    assert_eq!(result(&play, "winners"), json!([1]));
    for seat in 0..3 {
        forfeit(&mut play, seat);
    }
    assert_eq!(result(&play, "mean"), json!(null));
    assert_eq!(result(&play, "target"), json!(null));
    assert_eq!(result(&play, "winners"), json!([]));
    assert_eq!(result(&play, "health"), json!([8, 8, 7]));
}

#[test]
fn whose_health_is_used_up_is_out_and_the_last_one_wins_alone() {
    let mut play = opened(
        GAME,
        json!({ "players": 3, "health": 3, "loss": 2, "rounds": 4 }),
    );
    turn(&mut play, integers(&[10, 50, 60]));
    assert_eq!(result(&play, "health"), json!([1, 3, 1]));
    turn(&mut play, integers(&[10, 12, 14]));
    assert_eq!(result(&play, "winners"), json!([0]));
    assert_eq!(result(&play, "health"), json!([1, 1, 0]));
    assert_eq!(result(&play, "eliminated"), json!([2]));
    assert_eq!(result(&play, "living"), json!([0, 1]));
    turn(&mut play, integers(&[10, 12]));
    assert_eq!(result(&play, "choices"), json!([10, 12, null]));
    assert_eq!(result(&play, "health"), json!([1, 0, null]));
    assert!(!last(&play, "round_result").audience.includes(2));
    assert!(
        last(&play, "round_result").audience.includes(1),
        "it is told of its end"
    );
    turn(&mut play, integers(&[99]));
    assert_eq!(result(&play, "winners"), json!([0]));
    assert!(play.is_finished());
    assert_eq!(play.payoffs(), [3.0, 1.0, 0.0]);
}

#[test]
fn the_game_ends_when_nobody_is_left() {
    let play = after(json!({ "players": 2, "health": 1 }), &[5, 5]);
    assert!(play.is_finished());
    assert_eq!(result(&play, "eliminated"), json!([0, 1]));
    assert_eq!(result(&play, "living"), json!([]));
    assert!(close(score(&play, "survival"), 0.0));
    assert!(close(part(&play, "last_round"), 1.0));
}

#[test]
fn without_a_loss_nobody_is_ever_out() {
    let mut play = opened(GAME, json!({ "players": 2, "health": 1, "loss": 0 }));
    for _ in 0..10 {
        turn(&mut play, integers(&[5, 5]));
    }
    assert!(play.is_finished());
    assert_eq!(result(&play, "health"), json!([1, 1]));
}

#[test]
fn whole_numbers_of_the_range_are_choices() {
    let mut play = opened(GAME, json!({}));
    for number in [0, 101, -1, i64::MAX] {
        assert!(refused(&mut play, 0, Action::Integer(number)), "{number}");
        turn_back(&mut play);
    }
    turn(&mut play, integers(&[1, 100, 50, 2, 3]));
    assert_eq!(result(&play, "choices"), json!([1, 100, 50, 2, 3]));
}

/// A fresh game, so that fouls do not add up to a forfeit.
fn turn_back(play: &mut Play) {
    *play = opened(GAME, json!({}));
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    for (params, path) in [
        (json!({ "players": 1 }), "players"),
        (json!({ "rounds": 0 }), "rounds"),
        (json!({ "min": -1 }), "min"),
        (json!({ "max": 1 }), "max"),
        (json!({ "ratio": 1.0 }), "ratio"),
        (json!({ "ratio": -0.5 }), "ratio"),
        (json!({ "health": 0 }), "health"),
        (json!({ "loss": -1 }), "loss"),
        (json!({ "foul_allowance": 101 }), "foul_allowance"),
    ] {
        assert_eq!(refusal(GAME, params.clone()).path, path, "{params}");
    }
}

#[test]
fn measures_of_four_rounds_by_hand() {
    let mut play = opened(
        GAME,
        json!({ "players": 3, "rounds": 4, "health": 2, "ratio": 0.5 }),
    );
    // Targets 20 (mean 40), 10 (mean 20), 5 (mean 10).
    turn(&mut play, integers(&[25, 45, 50]));
    turn(&mut play, integers(&[20, 15, 25]));
    // Player 2 is out after two losses; its rivals have 1 health each.
    assert_eq!(result(&play, "living"), json!([0, 1]));
    turn(&mut play, integers(&[10, 10]));
    assert!(play.is_finished());
    let measures = play.measures();
    let close_all = |name: &str, by_hand: &[f64]| {
        let found = &measures.series[name];
        assert_eq!(found.len(), by_hand.len(), "{name}: {found:?}");
        for (found, by_hand) in found.iter().zip(by_hand) {
            assert!(close(*found, *by_hand), "{name}: {found} is not {by_hand}");
        }
    };
    close_all("wins", &[0.25, 0.25, 0.0]);
    close_all("survival_rounds", &[3.0, 3.0, 2.0]);
    close_all("health", &[0.0, 0.0, 0.0]);
    // Distances: 5, 10, 5; 25, 5, 5; 30, 15. Halves of the four rounds of the game.
    close_all("adaptation_seats", &[0.0, 1.0]);
    close_all("adaptation", &[5.0 / 7.5, 5.0 / 15.0]);
    // log(25 / 50) / log(1 / 2) = 1; 50 is no step at all.
    close_all("strategic_depth_seats", &[0.0, 1.0, 2.0]);
    let depth = &measures.series["strategic_depth"];
    assert!(close(depth[0], 1.0) && close(depth[2], 0.0));
    assert!((depth[1] - 0.152_003).abs() < 1e-6, "{depth:?}");
    close_all("mean", &[40.0, 20.0, 10.0]);
    close_all("target", &[20.0, 10.0, 5.0]);
    close_all("mean_rounds", &[1.0, 2.0, 3.0]);
    close_all("distance", &[39.0 / 99.0, 19.0 / 99.0, 9.0 / 99.0]);
    close_all("action_seats", &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 0.0, 1.0]);
    assert!(close(score(&play, "win_rate"), 0.5 / 3.0));
    assert!(close(score(&play, "survival"), 0.0));
    let sum = 25 + 45 + 50 + 20 + 15 + 25 + 10 + 10 - 8;
    assert!(close(
        score(&play, "deviation"),
        f64::from(sum) / 8.0 / 99.0
    ));
}

#[test]
fn what_nobody_said_is_in_no_measure() {
    let mut play = opened(GAME, json!({ "players": 2, "rounds": 3, "min": 0 }));
    turn(&mut play, vec![None, None]);
    turn(&mut play, integers(&[0, 10]));
    turn(&mut play, vec![None, None]);
    let measures = play.measures();
    assert_eq!(measures.series["mean_rounds"], [2.0]);
    assert_eq!(measures.series["mean"], [5.0]);
    assert!(measures.series["strategic_depth"].is_empty());
    assert!(measures.series["adaptation"].is_empty());
    assert!(close(measures.series["rule_breaking"][0], 200.0 / 3.0));
    // A first number of 0 is no number of steps.
    let play = after(json!({ "players": 2, "rounds": 1, "min": 0 }), &[0, 10]);
    let seats = &play.measures().series["strategic_depth_seats"];
    assert_eq!(*seats, [1.0]);
    let mut play = opened(GAME, json!({ "players": 2, "rounds": 1 }));
    turn(&mut play, vec![None, None]);
    assert!(!play.measures().scores.contains_key("deviation"));
}

/// What a rule player says while its rivals say what they are told to.
fn said(strategy: &str, settings: Json, rivals: &[i64], seed: u64) -> Vec<i64> {
    let game = game(
        GAME,
        json!({ "players": 2, "rounds": rivals.len(), "loss": 0 }),
    );
    let rivals = json!({ "answers": rivals });
    let rules = vec![
        Some(rule_player(&*game, strategy, settings, 0)),
        Some(rule_player(&*game, "specified", rivals, 1)),
    ];
    let play = Play::start(game, Chance::seeded(Luck::new(seed, 0)), rules);
    assert!(play.is_finished());
    let own = play.log().of_kind("round_result");
    own.map(|event| event.get("choices").unwrap().entry(0).integer().unwrap())
        .collect()
}

#[test]
fn programmed_opponents_do_what_they_say() {
    assert_eq!(said("equilibrium", json!({}), &[9, 9], 1), [1, 1]);
    assert_eq!(said("level_0", json!({}), &[9, 9], 1), [40, 40]);
    assert_eq!(said("level_0", json!({ "value": 500 }), &[9], 1), [100]);
    let falling = json!({ "start": 7, "step": 3 });
    assert_eq!(said("mono_trend", falling, &[9, 9, 9, 9], 1), [7, 4, 1, 1]);
    // Mean 50, target 40; then mean (40 + 21) / 2, target 24.4.
    let rivals = [60, 21, 9];
    assert_eq!(said("last_target", json!({}), &rivals, 1), [40, 40, 24]);
    let first = json!({ "first": 10 });
    assert_eq!(said("last_target", first, &[10, 10], 1), [10, 8]);
}

#[test]
fn drawn_steps_stay_the_same_and_differ_between_lucks() {
    let mut steps = Vec::new();
    for seed in 0..40 {
        let numbers = said("mono_trend", json!({}), &[9; 4], seed);
        let step = numbers[0] - numbers[1];
        assert_eq!(numbers, [40, 40 - step, 40 - 2 * step, 40 - 3 * step]);
        steps.push(step);
    }
    steps.sort_unstable();
    steps.dedup();
    assert_eq!(steps, [1, 2, 3, 4, 5]);
}

#[test]
fn bell_curves_are_drawn_from_the_own_luck_of_each_seat() {
    let wide = json!({ "sd": 5.0_f64.sqrt() });
    let drawn = |seed| said("level_0", wide.clone(), &[9; 400], seed);
    let numbers = drawn(3);
    assert_eq!(numbers, drawn(3), "the same luck draws the same");
    assert_ne!(numbers, drawn(4));
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<i64>() as f64 / count;
    let spread = numbers.iter().map(|number| square(*number as f64 - mean));
    let variance = spread.sum::<f64>() / count;
    // Rounding down takes half a point and adds a twelfth to the variance of 5.
    assert!((mean - 39.5).abs() < 0.4, "{mean}");
    assert!((variance - 5.08).abs() < 1.2, "{variance}");
    let follower = said("last_target", wide, &[60; 4], 3);
    assert_eq!(follower.len(), 4);
    assert_ne!(follower, said("last_target", json!({}), &[60; 4], 3));
    let two = played(GAME, json!({ "players": 2 }), &["mono_trend"; 2], 8);
    let choices = result(&two, "choices");
    assert_ne!(choices[0], choices[1], "each seat has luck of its own");
}

#[test]
fn settings_out_of_range_are_refused() {
    let game = game(GAME, json!({}));
    for (strategy, settings) in [
        ("level_0", json!({ "sd": -1 })),
        ("level_0", json!({ "mean": 40 })),
        ("last_target", json!({ "sd": 1e9 })),
        ("mono_trend", json!({ "step": -1 })),
        ("equilibrium", json!({ "number": 2 })),
        ("level_1", json!({})),
    ] {
        let made = game.rule_player(strategy, settings.as_object().unwrap(), 0);
        assert!(made.is_err(), "{strategy} {settings}");
    }
}

#[test]
fn the_equilibrium_scores_as_predicted() {
    for (params, seed) in [
        (json!({}), 1),
        (json!({ "players": 2, "health": 11 }), 2),
        (json!({ "loss": 0, "min": 0 }), 3),
    ] {
        assert_eq!(equilibrium_scores_hold(GAME, params, seed), 3);
    }
}

/// How many Gambit (pygambit 16.7.0, `enumpure_solve`) finds for one round whose wins
/// were written down without this program, with exact fractions. Everybody at the
/// smallest number is always among them; so is everybody else there while one says
/// anything at all, because it loses either way.
#[test]
fn equilibria_on_small_ranges_are_those_that_gambit_finds() {
    for (players, min, max, count) in [
        (2, 1, 6, 11),
        (2, 1, 10, 19),
        (3, 1, 4, 10),
        (3, 1, 5, 13),
        (4, 1, 4, 17),
        (3, 0, 4, 26),
        (5, 1, 3, 11),
    ] {
        let params = json!({ "players": players, "rounds": 1, "min": min, "max": max });
        let found = pure_equilibria(players, min..=max, |profile| {
            after(params.clone(), profile).payoffs()
        });
        assert_eq!(found.len(), count, "{players} players, {min} to {max}");
        assert!(found.contains(&vec![min; players]));
    }
}
