//! Claims about Battle Royale, worked out by hand.
//! Whether a shot hits is handed in as a recorded draw.

use serde_json::{Value as Json, json};

use super::*;
use crate::event::Value;
use crate::games::testing::*;
use crate::play::Play;

const GAME: &str = "battle_royale";

/// A battle in which the shots of the turns hit or miss as told.
fn battle(params: Json, hits: &[bool]) -> Play {
    let hits = (1..)
        .zip(hits)
        .map(|(turn, hit)| (HITS, turn, Value::Flag(*hit)));
    opened_with(GAME, params, hits)
}

fn shoot(play: &mut Play, shooter: Seat, target: Option<Seat>) {
    assert_eq!(
        play.waiting().map(|ask| ask.seat).collect::<Vec<_>>(),
        [shooter]
    );
    turn(
        play,
        vec![Some(target.map_or(Action::Pass, Action::Target))],
    );
}

#[test]
fn turns_go_round_the_living_in_seat_order() {
    let params = json!({"players": 3});
    let mut play = battle(params, &[false, true, false, false]);
    shoot(&mut play, 0, Some(1));
    shoot(&mut play, 1, Some(2));
    assert_eq!(fact(&play, "shot", "alive"), json!([0, 1]));
    shoot(&mut play, 0, Some(1));
    shoot(&mut play, 1, Some(0));
    assert_eq!(play.waiting().next().unwrap().seat, 0);
}

#[test]
fn a_shooter_after_the_dead_one_is_next_and_the_order_wraps() {
    let mut play = battle(json!({"players": 4}), &[true, false, true]);
    shoot(&mut play, 0, Some(1));
    shoot(&mut play, 2, Some(0));
    shoot(&mut play, 3, Some(0));
    assert_eq!(play.waiting().next().unwrap().seat, 2);
}

#[test]
fn the_last_one_standing_gets_everything() {
    let mut play = battle(json!({"players": 2}), &[false, true]);
    shoot(&mut play, 0, Some(1));
    shoot(&mut play, 1, Some(0));
    assert!(play.is_finished());
    assert_eq!(play.payoffs(), [0.0, 1.0]);
}

#[test]
fn the_living_share_when_turns_run_out() {
    let mut play = battle(json!({"players": 3, "max_turns": 2}), &[true]);
    shoot(&mut play, 0, Some(2));
    shoot(&mut play, 1, None);
    assert!(play.is_finished());
    assert_eq!(play.payoffs(), [0.5, 0.5, 0.0]);
    assert_eq!(fact(&play, "shot", "result"), json!("held_fire"));
    assert_eq!(fact(&play, "shot", "target"), Json::Null);
}

#[test]
fn a_forfeit_holds_fire_and_draws_nothing() {
    let mut play = battle(json!({"players": 3}), &[]);
    turn(&mut play, vec![None]);
    assert_eq!(fact(&play, "shot", "result"), json!("held_fire"));
    assert!(play.chance().draws().is_empty());
}

#[test]
fn only_living_others_may_be_shot_at() {
    let mut play = battle(json!({"players": 3}), &[true]);
    assert!(refused(&mut play, 0, Action::Target(0)));
    shoot(&mut play, 0, Some(1));
    assert!(refused(&mut play, 2, Action::Target(1)));
    assert!(refused(&mut play, 2, Action::Target(3)));
}

#[test]
fn lenient_shots_at_the_dead_are_wasted_and_at_oneself_count() {
    let params = json!({"players": 3, "lenient": true});
    let mut play = battle(params, &[true, false, true]);
    shoot(&mut play, 0, Some(1));
    shoot(&mut play, 2, Some(1));
    assert_eq!(fact(&play, "shot", "result"), json!("wasted"));
    assert_eq!(fact(&play, "shot", "at_strongest"), json!(false));
    assert_eq!(play.chance().draws().len(), 1);
    shoot(&mut play, 0, Some(0));
    assert_eq!(fact(&play, "shot", "result"), json!("hit"));
    assert_eq!(fact(&play, "shot", "at_strongest"), json!(false));
    assert_eq!(play.payoffs(), [0.0, 0.0, 1.0]);
}

#[test]
fn shots_at_the_strongest_other_are_counted() {
    // Right, held fire, wrong, right: the last player's strongest is the one
    // before it.
    let mut play = battle(json!({"players": 4, "max_turns": 4}), &[false; 4]);
    shoot(&mut play, 0, Some(3));
    shoot(&mut play, 1, None);
    shoot(&mut play, 2, Some(1));
    shoot(&mut play, 3, Some(2));
    assert!(close(part(&play, "S"), 0.5));
    assert!(close(part(&play, "correct"), 2.0));
    assert!(close(part(&play, "turns"), 4.0));
    assert!(close(score(&play, "iclr2025"), 50.0));
    assert!(close(score(&play, "arxiv2024"), 50.0));
    let series = play.measures().series;
    assert_eq!(series["at_strongest"], [1.0, 0.5, 1.0 / 3.0, 0.5]);
    assert_eq!(series["remaining"], [4.0; 4]);
}

#[test]
fn with_equal_rates_everybody_is_the_strongest() {
    let params = json!({"players": 3, "interval": 0, "max_turns": 1});
    let mut play = battle(params, &[false]);
    shoot(&mut play, 0, Some(1));
    assert!(close(part(&play, "S"), 1.0));
}

#[test]
fn the_dead_see_their_death_and_nothing_after_it() {
    let mut play = battle(json!({"players": 3}), &[true, false]);
    shoot(&mut play, 0, Some(1));
    shoot(&mut play, 2, Some(0));
    assert_eq!(play.view(1).of_kind("shot").count(), 1);
    assert_eq!(play.view(0).of_kind("shot").count(), 2);
    assert_eq!(play.view(0).latest("shot").unwrap().fact("strongest"), None);
    let briefing = play.view(2).first("briefing").unwrap();
    assert_eq!(briefing.integers("hit_rates"), Some(&[35, 40, 45][..]));
    assert_eq!(briefing.integer("hit_rate"), Some(45));
    assert_eq!(briefing.integer("position"), Some(3));
}

#[test]
fn equilibrium_shoots_at_the_strongest() {
    for seed in 0..20 {
        for params in [json!({}), json!({"base_hit_rate": 10, "interval": 10})] {
            assert_eq!(equilibrium_scores_hold(GAME, params, seed), 2);
        }
    }
}

#[test]
fn strategies_aim_as_they_say() {
    let aims = |strategy: &str| {
        let params = json!({"players": 4, "base_hit_rate": 0, "interval": 0});
        let play = played(GAME, params, &[strategy; 4], 1);
        let shots = play.log().of_kind("shot").take(5);
        shots
            .map(|shot| shot.get("target").unwrap().integer())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        aims("weakest"),
        [Some(1), Some(0), Some(0), Some(0), Some(1)]
    );
    assert_eq!(
        aims("nearest"),
        [Some(1), Some(2), Some(3), Some(0), Some(1)]
    );
    assert_eq!(aims("pacifist"), [None; 5]);
    // Revenge is on whoever shot at one last, on the strongest before that.
    assert_eq!(
        aims("revenge"),
        [Some(3), Some(3), Some(3), Some(2), Some(3)]
    );
}

#[test]
fn nobody_hits_more_than_always() {
    assert_eq!(refusal(GAME, json!({"interval": 8})).path, "interval");
    assert_eq!(
        refusal(GAME, json!({"base_hit_rate": 101})).path,
        "base_hit_rate"
    );
    assert_eq!(refusal(GAME, json!({"max_turns": 0})).path, "max_turns");
}
