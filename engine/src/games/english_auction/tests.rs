//! Claims about the English auction, worked out by hand, and properties of any
//! auction. The winners of ties are handed in as recorded draws where they matter.

use proptest::prelude::*;
use proptest::strategy::Strategy;
use serde_json::{Value as Json, json};

use super::*;
use crate::arithmetic::larger;
use crate::ask::{Action, Form, FoulKind};
use crate::chance::{Luck, ORDERS, TIES};
use crate::event::{Event, Value};
use crate::games::testing::*;
use crate::play::{Play, Reaction};
use crate::rule_player::{Random, RulePlayer};

const GAME: &str = "english_auction";

/// A lamp from 100 worth 200, then a chair from 50 worth 80; three bidders with
/// 1000 each.
fn small(more: Json) -> Json {
    let mut params = json!({
        "budget": 1000,
        "items": [
            {"name": "lamp", "starting_price": 100, "true_value": 200, "suits": ["reader"]},
            {"name": "chair", "starting_price": 50, "true_value": 80, "suits": ["reader", "sitter"]},
        ],
    });
    let all = params.as_object_mut().unwrap();
    all.extend(more.as_object().unwrap().clone());
    params
}

/// Says one round: an amount, or `None` for a withdrawal, per asked seat.
fn say(play: &mut Play, bids: &[Option<i64>]) {
    let action = |bid: &Option<i64>| Some(bid.map_or(Action::Pass, Action::Integer));
    turn(play, bids.iter().map(action).collect());
}

fn asked(play: &Play) -> Vec<Seat> {
    play.waiting().map(|ask| ask.seat).collect()
}

/// The legal range of the first open ask.
fn range(play: &Play) -> (i64, i64) {
    match play.waiting().next().unwrap().form {
        Form::Integer {
            min: Some(min),
            max: Some(max),
            ..
        } => (min, max),
        _ => panic!("bids are whole numbers"),
    }
}

fn reason(play: &mut Play, seat: Seat, bid: i64) -> String {
    match play.answer(seat, Ok(Action::Integer(bid))) {
        Reaction::Refused { foul, .. } => {
            assert_eq!(foul.kind, FoulKind::OutOfRange);
            foul.reason
        }
        other => panic!("{bid} led to {other:?}"),
    }
}

fn series(play: &Play, name: &str) -> Vec<f64> {
    play.measures().series[name].clone()
}

fn opened_small(more: Json) -> Play {
    opened(GAME, small(more))
}

#[test]
fn the_last_bidder_left_pays_its_own_bid() {
    let mut play = opened_small(json!({}));
    say(&mut play, &[Some(100), Some(120), None]);
    assert_eq!(asked(&play), [0]);
    say(&mut play, &[Some(130)]);
    assert_eq!(asked(&play), [1]);
    say(&mut play, &[None]);
    let sold = last(&play, "hammer");
    assert_eq!(sold.get("winner"), Some(&Value::Integer(0)));
    assert_eq!(sold.get("price"), Some(&Value::Integer(130)));
    assert_eq!(sold.get("true_value"), Some(&Value::Integer(200)));
    assert_eq!(fact(&play, "hammer", "profit"), json!([70, 0, 0]));
    assert_eq!(fact(&play, "hammer", "budget"), json!([870, 1000, 1000]));
    assert_eq!(play.payoffs(), [70.0, 0.0, 0.0]);
    // Everybody is back for the next item.
    assert_eq!(asked(&play), [0, 1, 2]);
    assert_eq!(fact(&play, "item_opened", "item"), json!("chair"));
}

#[test]
fn one_bid_in_the_first_round_wins_at_once() {
    let mut play = opened_small(json!({}));
    say(&mut play, &[None, Some(100), None]);
    assert_eq!(fact(&play, "hammer", "winner"), json!(1));
    assert_eq!(fact(&play, "hammer", "bid_rounds"), json!(1));
}

#[test]
fn a_price_above_the_true_value_is_a_loss() {
    let mut play = opened_small(json!({}));
    say(&mut play, &[None, Some(450), None]);
    assert_eq!(play.payoffs(), [0.0, -250.0, 0.0]);
}

#[test]
fn bids_are_held_against_the_end_of_the_round_before() {
    let mut play = opened_small(json!({}));
    assert_eq!(range(&play), (100, 1000));
    // 100 stays legal after another bid 500 in the same round.
    assert_eq!(play.answer(0, Ok(Action::Integer(500))), Reaction::Taken);
    assert_eq!(play.answer(1, Ok(Action::Integer(100))), Reaction::Taken);
    assert_eq!(play.answer(2, Ok(Action::Pass)), Reaction::Taken);
    assert_eq!(range(&play), (510, 1000));
    assert_eq!(fact(&play, "bid_round", "bids"), json!([500, 100, null]));
    assert_eq!(fact(&play, "bid_round", "withdrew"), json!([2]));
    assert_eq!(fact(&play, "bid_round", "least_bid"), json!(510));
}

#[test]
fn a_refused_bid_is_told_what_would_be_legal() {
    let mut play = opened_small(json!({}));
    assert_eq!(
        reason(&mut play, 0, 99),
        "a bid of 99 is below the starting price of 100; bid at least 100 and at most your \
         remaining budget of 1000, or \"withdraw\""
    );
    assert!(reason(&mut play, 0, 1001).contains("more than your remaining budget"));
    say(&mut play, &[Some(300), None, Some(700)]);
    assert_eq!(
        reason(&mut play, 0, 705),
        "a bid of 705 is too low: the highest bid is 700 and the minimum increase 10; bid at \
         least 710 and at most your remaining budget of 1000, or \"withdraw\""
    );
}

#[test]
fn who_cannot_pay_the_least_bid_is_asked_and_can_only_withdraw() {
    let mut play = opened_small(json!({"budget": [60, 1000, 1000]}));
    assert_eq!(asked(&play), [0, 1, 2]);
    let form = play.waiting().next().unwrap().form.clone();
    assert_eq!(form.schema(), json!({"enum": ["withdraw"]}));
    assert!(form.describe().starts_with("\"withdraw\""));
    for bid in [60, 100] {
        assert!(reason(&mut play, 0, bid).ends_with("so you can only \"withdraw\""));
    }
    say(&mut play, &[None, Some(100), None]);
    assert_eq!(asked(&play), [0, 1, 2]);
}

#[test]
fn refused_bids_are_counted_and_one_too_many_is_a_withdrawal() {
    let mut play = opened_small(json!({"foul_allowance": 2}));
    for bid in [1, 2] {
        reason(&mut play, 0, bid);
    }
    let foul = play.answer(0, Ok(Action::Integer(3)));
    assert!(matches!(foul, Reaction::Forfeited { .. }));
    // A reply without a number is a foul, but no failed bid.
    refused(&mut play, 1, Action::Choice("many".into()));
    reason(&mut play, 2, 5000);
    say(&mut play, &[Some(100), None]);
    assert_eq!(fact(&play, "bid_round", "withdrew"), json!([0, 2]));
    assert_eq!(asked(&play), [0, 1, 2]);
    say(&mut play, &[None, None, None]);
    assert_eq!(series(&play, "failed_bids"), [3.0, 0.0, 1.0]);
    assert_eq!(series(&play, "withdrawals"), [2.0, 1.0, 2.0]);
}

#[test]
fn a_forfeit_withdraws_from_one_item_only() {
    let mut play = opened_small(json!({}));
    forfeit(&mut play, 0);
    say(&mut play, &[Some(100), Some(110)]);
    assert_eq!(asked(&play), [1]);
    say(&mut play, &[None]);
    assert_eq!(asked(&play), [0, 1, 2]);
}

#[test]
fn chance_decides_between_equal_bids_and_the_others_go_on() {
    let tie = (TIES, tie_index(1, 1), Value::Integer(2));
    let mut play = opened_with(GAME, small(json!({})), [tie]);
    say(&mut play, &[Some(100), Some(90 + 10), Some(100)]);
    assert_eq!(fact(&play, "bid_round", "tied"), json!([0, 1, 2]));
    assert_eq!(fact(&play, "bid_round", "leader"), json!(2));
    assert_eq!(asked(&play), [0, 1]);
    assert!(play.chance().unscripted().is_empty());
}

#[test]
fn without_a_minimum_increase_the_leader_can_be_drawn_out() {
    let tie = (TIES, tie_index(1, 2), Value::Integer(1));
    let mut play = opened_with(GAME, small(json!({"minimum_increase_percent": 0})), [tie]);
    say(&mut play, &[Some(100), None, Some(150)]);
    assert_eq!(range(&play), (150, 1000));
    say(&mut play, &[Some(150)]);
    assert_eq!(fact(&play, "bid_round", "tied"), json!([0, 2]));
    // The script named somebody who did not bid.
    assert_eq!(play.chance().unscripted().len(), 1);
}

#[test]
fn the_minimum_increase_is_rounded_down() {
    let items = json!([{"name": "coin", "starting_price": 119, "true_value": 240}]);
    let mut play = opened_small(json!({"items": items}));
    say(&mut play, &[Some(119), Some(130), None]);
    assert_eq!(range(&play).0, 141);
}

#[test]
fn an_item_without_a_bid_is_unsold_and_its_value_stays_hidden() {
    let mut play = opened_small(json!({}));
    say(&mut play, &[None, None, None]);
    let unsold = last(&play, "unsold");
    assert!(unsold.hidden.iter().any(|(name, _)| name == "true_value"));
    assert!(unsold.facts.iter().all(|(name, _)| name != "true_value"));
    assert_eq!(asked(&play), [0, 1, 2]);
    assert_eq!(range(&play).0, 50);
}

#[test]
fn an_unsold_item_comes_back_cheaper_for_everybody() {
    let items = json!([{"name": "rug", "starting_price": 75, "true_value": 90}]);
    let more = json!({"items": items, "discount_unsold": true});
    let mut play = opened_small(more);
    for price in [75, 37, 18] {
        assert_eq!(range(&play).0, price);
        assert_eq!(asked(&play), [0, 1, 2]);
        say(&mut play, &[None, None, None]);
    }
    assert_eq!(fact(&play, "item_opened", "discounts"), json!(3));
    assert_eq!(fact(&play, "item_opened", "starting_price"), json!(9));
    assert_eq!(fact(&play, "item_opened", "minimum_increase"), json!(0));
    say(&mut play, &[None, None, None]);
    assert!(play.is_finished());
    assert_eq!(fact(&play, "unsold", "discounts"), json!(3));
    assert_eq!(fact(&play, "unsold", "bid_rounds"), json!(4));
}

#[test]
fn the_minimum_increase_follows_a_discount_unless_told_otherwise() {
    for (follows, increase) in [(true, 5), (false, 10)] {
        let more = json!({
            "discount_unsold": true, "minimum_increase_follows_discount": follows
        });
        let mut play = opened_small(more);
        say(&mut play, &[None, None, None]);
        say(&mut play, &[Some(60), Some(50), None]);
        assert_eq!(range(&play).0, 60 + increase);
    }
}

#[test]
fn a_discount_is_of_the_price_before() {
    let more = json!({"discount_unsold": true, "discount_percent": 30, "discount_rounds": 2});
    let mut play = opened_small(more);
    let mut prices = Vec::new();
    for _ in 0..3 {
        prices.push(range(&play).0);
        say(&mut play, &[None, None, None]);
    }
    assert_eq!(prices, [100, 70, 49]);
    assert_eq!(fact(&play, "item_opened", "item"), json!("chair"));
}

#[test]
fn the_hammer_falls_after_the_last_round() {
    let mut play = opened_small(json!({"max_rounds": 2}));
    say(&mut play, &[Some(100), Some(110), Some(120)]);
    say(&mut play, &[Some(130), Some(140)]);
    assert_eq!(fact(&play, "hammer", "winner"), json!(1));
    assert_eq!(fact(&play, "hammer", "price"), json!(140));
}

#[test]
fn items_are_sold_in_the_order_asked_for() {
    let prices = |order: &str, seed| {
        let game = game(GAME, json!({"order": order}));
        let none = (0..game.seats()).map(|_| None).collect();
        let play = Play::start(game, Chance::seeded(Luck::new(seed, 0)), none);
        let prices = last(&play, "briefing").get("starting_prices").unwrap();
        prices.integers().unwrap().to_vec()
    };
    let listed = [1000, 3000, 4000, 2000, 5000, 3000, 2000, 4000, 1000, 5000];
    assert_eq!(prices("as_listed", 1), listed);
    let mut sorted = listed;
    sorted.sort_unstable();
    assert_eq!(prices("ascending", 1), sorted);
    sorted.reverse();
    assert_eq!(prices("descending", 1), sorted);
    let mut drawn = prices("random", 1);
    assert_ne!(drawn, listed);
    assert_ne!(drawn, prices("random", 2));
    drawn.sort_unstable();
    sorted.reverse();
    assert_eq!(drawn, sorted);
}

#[test]
fn a_random_order_is_a_recorded_draw() {
    let order = (ORDERS, 0, Value::Integers(vec![1, 0]));
    let play = opened_with(GAME, small(json!({"order": "random"})), [order]);
    assert!(play.chance().unscripted().is_empty());
    assert_eq!(fact(&play, "item_opened", "item"), json!("chair"));
}

#[test]
fn a_seat_knows_its_own_estimates_and_no_true_value() {
    let mut play = opened_small(json!({"overestimate_percent": [10, -15, 0]}));
    say(&mut play, &[Some(100), None, None]);
    let view = play.view(1);
    let briefing = view.first("briefing").unwrap();
    // floor(200 x 0.85), floor(80 x 0.85).
    assert_eq!(
        briefing.fact("estimates"),
        Some(Value::Integers(vec![170, 68]))
    );
    assert_eq!(briefing.integer("budget"), Some(1000));
    assert_eq!(briefing.fact("true_values"), None);
    assert_eq!(briefing.fact("suits"), None);
    let told: Vec<&str> = view
        .of_kind("hammer")
        .flat_map(|sight| sight.facts().map(|(name, _)| name).collect::<Vec<&str>>())
        .collect();
    assert!(told.contains(&"true_value"));
}

#[test]
fn estimates_are_rounded_down() {
    let item = |true_value| Item {
        true_value,
        ..Item::default()
    };
    let estimate = EnglishAuctionParams::estimate;
    assert_eq!(estimate(&item(2000), 10), 2200);
    assert_eq!(estimate(&item(15), 10), 16);
    assert_eq!(estimate(&item(15), -10), 13);
    assert_eq!(estimate(&item(15), -100), 0);
}

#[test]
fn measures_are_those_of_a_hand_played_auction() {
    let personas = json!([["reader"], ["sitter", "cook"], []]);
    let mut play = opened_small(json!({"personas": personas}));
    // The lamp: seat 1 wins at 150 in round 3.
    say(&mut play, &[Some(100), Some(120), None]);
    say(&mut play, &[Some(140)]);
    say(&mut play, &[Some(150)]);
    say(&mut play, &[None]);
    // The chair: seat 1 wins at 90, more than its value of 80.
    say(&mut play, &[None, Some(90), None]);
    assert!(play.is_finished());
    assert_eq!(series(&play, "profit"), [0.0, 40.0, 0.0]);
    assert_eq!(series(&play, "items_won"), [0.0, 2.0, 0.0]);
    assert_eq!(series(&play, "budget_left"), [1000.0, 760.0, 1000.0]);
    assert_eq!(series(&play, "bids"), [2.0, 3.0, 0.0]);
    assert_eq!(series(&play, "withdrawals"), [2.0, 0.0, 2.0]);
    assert_eq!(series(&play, "failed_bids"), [0.0; 3]);
    assert_eq!(series(&play, "engagements"), [2.0, 2.0, 0.0, 0.0, 1.0, 0.0]);
    // 100 over 100, 120 over 100, 140 over 100, 150 over 120; 90 over 50.
    assert_eq!(series(&play, "increments"), [0.0, 20.0, 40.0, 25.0, 80.0]);
    assert_eq!(series(&play, "increment_seats"), [0.0, 1.0, 0.0, 1.0, 1.0]);
    assert_eq!(series(&play, "increment_items"), [1.0, 1.0, 1.0, 1.0, 2.0]);
    assert_eq!(series(&play, "prices"), [150.0, 90.0]);
    assert_eq!(series(&play, "sold"), [1.0, 1.0]);
    assert_eq!(series(&play, "bid_rounds"), [4.0, 1.0]);
    // Of 200 - 100 + 80 - 50 = 130.
    let ratio = 100.0 * 40.0 / 130.0;
    assert!(close(series(&play, "profit_ratio")[1], ratio));
    assert!(close(score(&play, "profit_ratio"), ratio));
    assert!(close(part(&play, "revenue"), 240.0));
    assert!(close(part(&play, "items_sold"), 2.0));
    assert!(close(part(&play, "bid_rounds"), 5.0));
    assert_eq!(series(&play, "matched_offered"), [2.0, 1.0, 0.0]);
    assert_eq!(series(&play, "matched_won"), [0.0, 1.0, 0.0]);
    assert_eq!(
        fact(&play, "auction_over", "won_items"),
        json!([[], ["lamp", "chair"], []])
    );
    assert_eq!(
        fact(&play, "auction_over", "budget_left"),
        json!([1000, 760, 1000])
    );
}

#[test]
fn increments_after_a_discount_start_at_the_lowered_price() {
    let mut play = opened_small(json!({"discount_unsold": true}));
    say(&mut play, &[None, None, None]);
    say(&mut play, &[Some(60), None, None]);
    say(&mut play, &[None, Some(50), None]);
    assert_eq!(series(&play, "increments"), [20.0, 0.0]);
}

#[test]
fn who_is_out_for_items_is_paid_in_items() {
    let objective = json!(["maximize_items", "maximize_profit", "maximize_items"]);
    let mut play = opened_small(json!({ "objective": objective }));
    say(&mut play, &[Some(300), None, None]);
    say(&mut play, &[None, Some(60), None]);
    assert_eq!(play.payoffs(), [1.0, 20.0, 0.0]);
    assert_eq!(series(&play, "profit"), [-100.0, 20.0, 0.0]);
    assert_eq!(fact(&play, "briefing", "objective"), objective);
}

#[test]
fn the_patient_raiser_bids_so_often_and_no_more() {
    let game = game(GAME, small(json!({"players": 2})));
    let patient = rule_player(&*game, "patient_raiser", json!({"bids_per_item": 2}), 0);
    let mut play = Play::start(game, Chance::scripted([]), vec![Some(patient), None]);
    let bids = |play: &Play| fact(play, "bid_round", "bids");
    say(&mut play, &[Some(150)]);
    assert_eq!(
        play.log()
            .of_kind("bid_round")
            .next()
            .unwrap()
            .get("bids")
            .unwrap()
            .integers(),
        Some(&[100, 150][..])
    );
    // Its second bid, then ours, then its withdrawal.
    assert_eq!(bids(&play), json!([160, null]));
    say(&mut play, &[Some(200)]);
    assert_eq!(fact(&play, "bid_round", "withdrew"), json!([0]));
    assert_eq!(fact(&play, "hammer", "price"), json!(200));
    // It starts to count anew for the next item.
    say(&mut play, &[None]);
    assert_eq!(fact(&play, "hammer", "winner"), json!(0));
    assert_eq!(fact(&play, "hammer", "price"), json!(50));
}

/// The lamp starts at 100: ten percent of that is 10, whatever others have to add.
#[test]
fn the_patient_raiser_adds_ten_percent_of_the_starting_price() {
    for (least_percent, expected) in [(0, 160), (5, 160), (10, 160), (20, 170)] {
        let params = json!({"players": 2, "minimum_increase_percent": least_percent});
        let game = game(GAME, small(params));
        let patient = rule_player(&*game, "patient_raiser", json!({}), 0);
        let mut play = Play::start(game, Chance::scripted([]), vec![Some(patient), None]);
        say(&mut play, &[Some(150)]);
        let bids = fact(&play, "bid_round", "bids");
        assert_eq!(bids, json!([expected, null]), "{least_percent}");
    }
}

#[test]
fn the_truthful_bidder_stops_at_its_estimate() {
    let truthful = |percent: i64| {
        let game = game(GAME, small(json!({"players": 2})));
        let bidder = rule_player(&*game, "truthful", json!({"percent": percent}), 0);
        let mut play = Play::start(game, Chance::scripted([]), vec![Some(bidder), None]);
        say(&mut play, &[Some(205)]);
        fact(&play, "bid_round", "bids")
    };
    // Its estimate of the lamp is 220.
    assert_eq!(truthful(100), json!([215, null]));
    assert_eq!(truthful(97), json!([null, null]));
    assert!(
        game(GAME, json!({}))
            .rule_player("truthful", json!({"percent": 1001}).as_object().unwrap(), 0)
            .is_err()
    );
}

#[test]
fn nobody_bids_what_it_does_not_have() {
    let params = small(json!({"budget": 130}));
    let play = played(
        GAME,
        params,
        &["truthful", "patient_raiser", "equilibrium"],
        3,
    );
    for left in series(&play, "budget_left") {
        assert!(left >= 0.0);
    }
}

#[test]
fn equilibrium_prices_lie_between_the_two_keenest_estimates() {
    let cases = [
        json!({"budget": 100_000}),
        json!({"budget": 100_000, "overestimate_percent": [10, 0, -20]}),
        json!({"budget": 100_000, "overestimate_percent": [30, -80, -80]}),
        json!({"budget": 100_000, "overestimate_percent": -60, "discount_unsold": true}),
        json!({"budget": 100_000, "max_rounds": 3}),
        json!({"budget": 100_000, "minimum_increase_percent": 0, "items": [
            {"name": "pin", "starting_price": 10, "true_value": 20}]}),
        json!({"budget": 8000}),
        json!({"budget": [100, 20_000, 5000], "discount_unsold": true}),
    ];
    for params in cases {
        for seed in 0..5 {
            assert_eq!(equilibrium_scores_hold(GAME, params.clone(), seed), 1);
        }
    }
    // Where budgets never bind the prediction is sharp: two bids of each item.
    let sharp = game(GAME, json!({"budget": 100_000})).equilibrium().scores[0];
    assert!(sharp.tolerance < 6.0, "{sharp:?}");
}

#[test]
fn parameters_that_make_no_auction_are_refused_by_name() {
    let item =
        |start: i64, value: i64| json!({"name": "x", "starting_price": start, "true_value": value});
    let cases = [
        (json!({"players": 1}), "players"),
        (json!({"items": []}), "items"),
        (json!({"items": [item(0, 1)]}), "items[0].starting_price"),
        (json!({"items": [item(1, -1)]}), "items[0].true_value"),
        (json!({"items": [item(1, 1), item(2, 2)]}), "items[1].name"),
        (
            json!({"items": [item(i64::MAX, 1)]}),
            "items[0].starting_price",
        ),
        (json!({"items": [{"name": "x"}]}), "items[0]"),
        (json!({"budget": -1}), "budget"),
        (json!({"budget": [1, 2]}), "budget"),
        (json!({"budget": [1, 2, -3]}), "budget[2]"),
        (json!({"budget": "much"}), "budget"),
        (
            json!({"overestimate_percent": -101}),
            "overestimate_percent",
        ),
        (json!({"objective": ["maximize_items"]}), "objective"),
        (json!({"order": "backwards"}), "order"),
        (json!({"max_rounds": 10_000}), "max_rounds"),
        (json!({"discount_percent": 0}), "discount_percent"),
        (json!({"personas": [["reader"]]}), "personas"),
        (json!({"rounds": 3}), "rounds"),
    ];
    for (params, path) in cases {
        let refused = refusal(GAME, params.clone());
        assert_eq!(refused.path, path, "{params}: {}", refused.message);
    }
    let told = refusal(GAME, json!({"budget": "much"})).message;
    assert!(told.contains("a list with one per seat"), "{told}");
}

#[test]
fn the_largest_amounts_do_not_overflow() {
    let largest = LARGEST_AMOUNT;
    let item = |name: &str| json!({"name": name, "starting_price": largest, "true_value": largest});
    let params = json!({
        "items": [item("a"), item("b")], "budget": largest, "overestimate_percent": 1000,
        "minimum_increase_percent": 100,
    });
    let mut play = opened_small(params);
    assert_eq!(
        fact(&play, "item_opened", "estimate")[0],
        json!(11 * largest)
    );
    say(&mut play, &[Some(largest), None, None]);
    assert_eq!(play.payoffs(), [0.0; 3]);
    assert!(refused(&mut play, 0, Action::Integer(largest)));
}

/// An auction of random bidders, with answers from outside and some forfeits.
fn random_auction(params: Json, seed: u64, forfeits: u64) -> Play {
    let game = game(GAME, params);
    let none = (0..game.seats()).map(|_| None).collect();
    let chance = Chance::seeded(Luck::new(seed, 0));
    let mut luck = chance.for_rule_player(0);
    let mut play = Play::start(game, chance, none);
    loop {
        let next = play.waiting().next().cloned();
        let Some(ask) = next else {
            return play;
        };
        if luck.below(100) < forfeits {
            forfeit(&mut play, ask.seat);
            continue;
        }
        let action = match &ask.form {
            // Small steps, or budgets are gone with the first bid.
            Form::Integer {
                min: Some(min),
                max: Some(max),
                ..
            } if min <= max => match luck.below(3) {
                0 => Action::Pass,
                _ => Action::Integer((min + luck.below(30) as i64).min(*max)),
            },
            _ => Random.act(&ask, &play.view(ask.seat), &mut luck),
        };
        assert_eq!(play.answer(ask.seat, Ok(action)), Reaction::Taken);
    }
}

fn some_params() -> impl Strategy<Value = Json> {
    let item = (1_i64..400, 0_i64..900);
    let items = prop::collection::vec(item, 1..6);
    (2_usize..6, items, 0_i64..2000, 0_u32..30, any::<bool>()).prop_map(
        |(players, items, budget, increase, discount)| {
            let items = items.into_iter().enumerate().map(|(place, (start, value))| {
                json!({"name": format!("item {place}"), "starting_price": start, "true_value": value})
            });
            json!({
                "players": players, "items": items.collect::<Vec<Json>>(), "budget": budget,
                "minimum_increase_percent": increase, "discount_unsold": discount,
                "max_rounds": 50,
            })
        },
    )
}

fn integer(event: &Event, name: &str) -> Option<i64> {
    event.get(name)?.integer()
}

/// The events of each item.
fn by_item(play: &Play) -> Vec<Vec<&Event>> {
    let items = last(play, "auction_over").round;
    let of_item = |item| {
        play.log()
            .all()
            .iter()
            .filter(move |event| event.round == item)
    };
    (1..=items).map(|item| of_item(item).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn money_is_conserved_and_nobody_overspends(params in some_params(), seed in any::<u64>()) {
        let budget = params["budget"].as_i64().unwrap();
        let play = random_auction(params, seed, 5);
        let seats = play.game().seats();
        let (mut spent, mut gained) = (vec![0; seats], vec![0; seats]);
        for event in play.log().of_kind("hammer") {
            let winner = integer(event, "winner").unwrap() as usize;
            let price = integer(event, "price").unwrap();
            spent[winner] += price;
            gained[winner] += integer(event, "true_value").unwrap() - price;
        }
        for seat in 0..seats {
            prop_assert!(spent[seat] <= budget);
            let left = series(&play, "budget_left")[seat] as i64;
            prop_assert_eq!(left + spent[seat], budget);
            prop_assert_eq!(play.payoffs()[seat], gained[seat] as f64);
        }
        prop_assert_eq!(part(&play, "revenue") as i64, spent.iter().sum::<i64>());
    }

    #[test]
    fn the_highest_bid_wins_and_the_withdrawn_stay_away(
        params in some_params(),
        seed in any::<u64>(),
    ) {
        let play = random_auction(params, seed, 5);
        for events in by_item(&play) {
            let mut withdrawn = Vec::new();
            let mut highest: Option<(i64, i64)> = None;
            let mut increase = 0;
            for event in events {
                match &*event.kind {
                    "item_opened" => {
                        withdrawn.clear();
                        increase = integer(event, "minimum_increase").unwrap();
                    }
                    "bid_round" => {
                        let bids = event.get("bids").unwrap();
                        let before = highest;
                        for seat in 0..bids.len() {
                            let Some(bid) = bids.entry(seat).integer() else { continue };
                            prop_assert!(!withdrawn.contains(&(seat as i64)));
                            if let Some((leader, amount)) = before {
                                prop_assert!(leader != seat as i64 && bid >= amount + increase);
                            }
                        }
                        withdrawn.extend_from_slice(event.get("withdrew").unwrap().integers().unwrap());
                        highest = integer(event, "leader").zip(integer(event, "highest"));
                        let top = bids.numbers().into_iter().fold(0.0, larger) as i64;
                        let standing = before.map_or(0, |(_, amount)| amount);
                        prop_assert_eq!(highest.map_or(0, |(_, amount)| amount), top.max(standing));
                    }
                    "hammer" => {
                        let won = integer(event, "winner").zip(integer(event, "price"));
                        prop_assert_eq!(won, highest);
                    }
                    _ => prop_assert!(highest.is_none() || event.kind == "auction_over"),
                }
            }
        }
    }

    #[test]
    fn seats_are_but_names(params in some_params(), seed in any::<u64>(), turn_by in 1_usize..5) {
        let play = random_auction(params.clone(), seed, 0);
        let seats = play.game().seats();
        let moved = |seat: usize| (seat + turn_by) % seats;
        let draws = play.chance().draws().iter().map(|draw| {
            let winner = draw.value.integer().unwrap() as usize;
            (TIES, draw.at, Value::from(moved(winner)))
        });
        let chance = Chance::scripted(draws);
        let none = (0..seats).map(|_| None).collect();
        let mut other = Play::start(game(GAME, params), chance, none);
        for made in play.moves() {
            let action = made.action.clone().unwrap();
            prop_assert_eq!(other.answer(moved(made.seat), Ok(action)), Reaction::Taken);
        }
        prop_assert!(other.is_finished() && other.chance().unscripted().is_empty());
        for name in ["profit", "items_won", "budget_left", "bids", "withdrawals"] {
            let (here, there) = (series(&play, name), series(&other, name));
            for seat in 0..seats {
                prop_assert_eq!(here[seat], there[moved(seat)]);
            }
        }
        prop_assert_eq!(series(&play, "prices"), series(&other, "prices"));
    }

    #[test]
    fn the_most_asks_are_never_passed(params in some_params(), seed in any::<u64>()) {
        let play = random_auction(params, seed, 0);
        for seat in 0..play.game().seats() {
            let asked = play.moves().iter().filter(|made| made.seat == seat).count();
            prop_assert!(asked as u32 <= play.game().asks_per_seat());
        }
    }
}
