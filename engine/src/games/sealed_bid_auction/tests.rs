//! Claims about the sealed-bid auction, worked out by hand.
//! Valuations and the winners of ties are handed in as recorded draws.

use serde_json::{Value as Json, json};

use super::*;
use crate::ask::Action;
use crate::event::Value;
use crate::games::testing::*;
use crate::play::Play;

const GAME: &str = "sealed_bid_auction";

/// Three players worth 30, 20 and 10, for one round.
fn valued(price: &str) -> Play {
    valued_with(json!({"players": 3, "rounds": 1, "price": price}), None)
}

fn valued_with(params: Json, tie_winner: Option<i64>) -> Play {
    let valuations = (VALUATIONS, 1, Value::Integers(vec![30, 20, 10]));
    let tie = tie_winner.map(|seat| (TIES, 1, Value::Integer(seat)));
    opened_with(GAME, params, [valuations].into_iter().chain(tie))
}

#[test]
fn the_highest_bid_pays_itself_at_first_price() {
    let mut play = valued("first");
    turn(&mut play, integers(&[25, 20, 0]));
    assert_eq!(play.payoffs(), [5.0, 0.0, 0.0]);
    assert_eq!(fact(&play, "round_result", "price"), json!(25));
    assert_eq!(
        fact(&play, "round_result", "won"),
        json!([true, false, false])
    );
    assert_eq!(fact(&play, "round_result", "winner"), json!(0));
}

#[test]
fn the_highest_bid_pays_the_next_at_second_price() {
    for bids in [[25, 20, 0], [25, 0, 20]] {
        let mut play = valued("second");
        turn(&mut play, integers(&bids));
        assert_eq!(play.payoffs(), [10.0, 0.0, 0.0]);
        assert_eq!(fact(&play, "round_result", "winning_bid"), json!(25));
        assert_eq!(fact(&play, "round_result", "price"), json!(20));
    }
}

#[test]
fn the_second_price_is_right_whoever_bids_first() {
    for (bids, price) in [
        ([1, 2, 3], 2),
        ([3, 2, 1], 2),
        ([2, 3, 1], 2),
        ([3, 1, 3], 3),
    ] {
        let mut play = valued("second");
        turn(&mut play, integers(&bids));
        assert_eq!(
            fact(&play, "round_result", "price"),
            json!(price),
            "{bids:?}"
        );
    }
}

#[test]
fn chance_decides_a_tie_and_the_second_price_is_the_bid() {
    let params = json!({"players": 3, "rounds": 1, "price": "second"});
    let mut play = valued_with(params, Some(1));
    turn(&mut play, integers(&[15, 15, 4]));
    assert_eq!(play.payoffs(), [0.0, 5.0, 0.0]);
    assert_eq!(fact(&play, "round_result", "tied"), json!([0, 1]));
    assert_eq!(fact(&play, "round_result", "winner"), json!(1));
    assert!(play.chance().unscripted().is_empty());
}

#[test]
fn a_forfeit_cannot_win_and_is_left_out_of_the_scores() {
    let mut play = valued("second");
    turn(&mut play, vec![None, Some(Action::Integer(15)), None]);
    assert_eq!(play.payoffs(), [0.0, 20.0, 0.0]);
    assert_eq!(fact(&play, "round_result", "price"), json!(0));
    assert!(close(part(&play, "S"), 0.25));
    assert!(close(score(&play, "arxiv2024"), 95.0));
}

#[test]
fn without_a_bid_there_is_no_winner_and_no_score() {
    let mut play = valued("first");
    turn(&mut play, vec![None, None, None]);
    assert_eq!(fact(&play, "round_result", "winning_bid"), Json::Null);
    assert_eq!(fact(&play, "round_result", "winner"), Json::Null);
    assert!(play.measures().scores.is_empty());
}

#[test]
fn scores_follow_the_shading() {
    // Shaded by 15/30, -5/20 (counted as 0 in the newer scheme) and 4/10.
    let mut play = valued("first");
    turn(&mut play, integers(&[15, 25, 6]));
    assert!(close(part(&play, "S"), 0.9 / 3.0));
    assert!(close(score(&play, "iclr2025"), 30.0));
    assert!(close(part(&play, "S_diff"), 14.0 / 3.0));
    assert!(close(score(&play, "arxiv2024"), 100.0 - 14.0 / 3.0));
    assert!(close(part(&play, "S_diff_200"), 14.0 / 3.0));
}

#[test]
fn a_valuation_of_nothing_counts_as_one() {
    let params = json!({"players": 2, "rounds": 1, "lenient": true});
    let valuations = (VALUATIONS, 1, Value::Integers(vec![0, 100]));
    let mut play = opened_with(GAME, params, [valuations]);
    turn(&mut play, integers(&[-1, 300]));
    assert!(close(part(&play, "S"), 0.5));
    assert!(close(part(&play, "S_diff"), -99.5));
}

#[test]
fn the_older_difference_was_scaled_to_valuations_up_to_200() {
    let params = json!({"players": 3, "rounds": 1, "valuation_max": 400});
    let mut play = valued_with(params, None);
    turn(&mut play, integers(&[15, 15, 9]));
    assert!(close(part(&play, "S_diff"), 7.0));
    assert!(close(part(&play, "S_diff_200"), 3.5));
}

#[test]
fn a_seat_sees_its_own_valuation_before_it_bids_and_nothing_of_others() {
    let mut play = valued("first");
    let before = play.view(1).latest("valuation").unwrap();
    assert_eq!(before.integer("valuation"), Some(20));
    turn(&mut play, integers(&[25, 20, 0]));
    let after = play.view(1).latest("round_result").unwrap();
    let names: Vec<&str> = after.facts().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        ["winning_bid", "price", "valuation", "bid", "won", "utility"]
    );
    assert_eq!(after.integer("bid"), Some(20));
}

#[test]
fn valuations_are_announced_once_before_each_round() {
    let play = played(GAME, json!({"rounds": 3}), &["truthful"; 10], 4);
    let rounds: Vec<u32> = play
        .log()
        .of_kind("valuation")
        .map(|event| event.round)
        .collect();
    assert_eq!(rounds, [1, 2, 3]);
    let drawn = play
        .chance()
        .draws()
        .iter()
        .filter(|draw| draw.stream == "valuations");
    assert_eq!(drawn.count(), 3);
}

#[test]
fn first_price_equilibrium_shades_by_one_part_in_the_number_of_bidders() {
    let bid = |valuation| AuctionParams::default().equilibrium_bid(valuation);
    assert_eq!((bid(0), bid(10), bid(100), bid(200)), (0, 9, 90, 180));
    let above = AuctionParams {
        valuation_min: 100,
        players: 4,
        ..AuctionParams::default()
    };
    // 100 + 3/4 of what is above 100; 7.5 and 22.5 are rounded up.
    assert_eq!(above.equilibrium_bid(110), 108);
    assert_eq!(above.equilibrium_bid(130), 123);
}

#[test]
fn equilibrium_scores_stay_inside_their_tolerance() {
    for price in ["first", "second"] {
        for (low, high) in [(0, 100), (0, 200), (100, 300), (0, 800)] {
            for seed in 0..20 {
                let params = json!({"price": price, "valuation_min": low, "valuation_max": high});
                assert_eq!(equilibrium_scores_hold(GAME, params, seed), 2);
            }
        }
    }
}

#[test]
fn first_price_equilibrium_predicts_twenty_twentyfirsts_of_a_tenth() {
    let scores = game(GAME, json!({})).equilibrium().scores;
    // The one rung of 21 without shading is the valuation 0.
    assert!(close(scores[0].value, 10.0 * 20.0 / 21.0));
    assert!(close(scores[1].value, 90.0));
    // Ten rungs hold between nine and ten tenths; mean shading 4.5 to 15.5.
    assert!(close(
        scores[0].tolerance - ExpectedScore::EXACT,
        10.0 * 20.0 / 21.0 - 9.0
    ));
    assert!(close(scores[1].tolerance - ExpectedScore::EXACT, 5.5));
}

#[test]
fn shading_is_measured_in_the_valuation() {
    let play = valued_rules(&["shade", "truthful", "truthful"]);
    assert_eq!(fact(&play, "round_result", "bid"), json!([15, 20, 10]));
}

/// The three valued players as rule players; `shade` halves.
fn valued_rules(strategies: &[&str]) -> Play {
    let game = game(GAME, json!({"players": 3, "rounds": 1}));
    let rules = strategies.iter().enumerate().map(|(seat, strategy)| {
        let settings = if *strategy == "shade" {
            json!({"factor": 0.5})
        } else {
            json!({})
        };
        Some(rule_player(&*game, strategy, settings, seat))
    });
    let rules = rules.collect();
    let chance = Chance::scripted([(VALUATIONS, 1, Value::Integers(vec![30, 20, 10]))]);
    Play::start(game, chance, rules)
}

#[test]
fn bids_above_the_largest_are_fouls_unless_lenient() {
    let mut strict = valued("first");
    assert!(refused(&mut strict, 0, Action::Integer(2001)));
    assert!(refused(&mut strict, 0, Action::Integer(-1)));
    let built = crate::game::Registration::of::<AuctionParams>()
        .build(&crate::spec::Settings::new())
        .unwrap();
    assert_eq!(built.params["bid_max"], json!(2000));
}

#[test]
fn impossible_parameters_are_named() {
    let path = |params| refusal(GAME, params).path;
    assert_eq!(path(json!({"players": 22})), "interval");
    assert_eq!(path(json!({"interval": 0})), "interval");
    assert_eq!(path(json!({"bid_max": 199})), "bid_max");
    assert_eq!(path(json!({"valuation_min": 300})), "valuation_max");
    assert_eq!(path(json!({"price": "third"})), "price");
}
