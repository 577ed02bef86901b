//! Claims about the ascending auction, worked out by hand; rational players against the
//! sealed form; and its equilibria on small ladders of prices against those that another
//! program found.

use serde_json::{Value as Json, json};

use super::*;
use crate::arithmetic::larger;
use crate::ask::Action;
use crate::chance::VALUATIONS;
use crate::games::testing::*;
use crate::play::{Play, Reaction};

const GAME: &str = "ascending_auction";

const SEALED: &str = "second_price_auction";

/// Prices 10, 20, .. up to 100.
fn auction(players: usize, rounds: u32) -> Json {
    json!({"players": players, "rounds": rounds, "increment": 10})
}

/// An auction with these private values that nobody has answered yet.
fn valued(mut params: Json, values: &[i64]) -> Play {
    params["players"] = values.len().into();
    opened_with(GAME, params, [(VALUATIONS, 0, values.to_vec().into())])
}

/// Who is asked, at which price.
fn asked(play: &Play) -> (Seat, i64) {
    let price = last(play, "price_called").get("price").unwrap();
    let mut asks = play.waiting();
    let ask = asks.next().unwrap();
    assert!(asks.next().is_none(), "one bidder at a time");
    (ask.seat, price.integer().unwrap())
}

/// Lets every bidder stay at the prices up to its limit, until a round is over; a limit
/// below 0 is a foul at the first price.
fn sell(play: &mut Play, limits: &[i64]) {
    let rounds = |play: &Play| play.log().of_kind("round_result").count();
    let before = rounds(play);
    while rounds(play) == before {
        let (seat, price) = asked(play);
        match limits[seat] {
            ..0 => forfeit(play, seat),
            limit => {
                let word = if price <= limit { STAY } else { DROP };
                let reaction = play.answer(seat, Ok(Action::Choice(word.into())));
                assert_eq!(reaction, Reaction::Taken);
            }
        }
    }
}

fn after(params: Json, values: &[i64], limits: &[i64]) -> Play {
    let mut play = valued(params, values);
    sell(&mut play, limits);
    play
}

fn result(play: &Play, name: &str) -> Json {
    fact(play, "round_result", name)
}

#[test]
fn the_last_one_inside_pays_what_it_stayed_at() {
    let play = after(auction(3, 1), &[40, 60, 50], &[40, 60, 50]);
    // At 60 seat 2 is asked first and drops out; seat 1 need not accept 60.
    assert_eq!(result(&play, "winner"), json!(1));
    assert_eq!(result(&play, "price"), json!(50.0));
    assert_eq!(result(&play, "bids"), json!([40, 50, 50]));
    assert_eq!(result(&play, "dropped_at"), json!([50, null, 60]));
    assert_eq!(play.payoffs(), [100.0, 110.0, 100.0]);
    assert!(play.is_finished());
}

#[test]
fn a_winner_behind_its_last_rival_has_accepted_what_the_rival_refuses() {
    let play = after(auction(2, 1), &[50, 75], &[50, 75]);
    assert_eq!(result(&play, "winner"), json!(1));
    assert_eq!(result(&play, "price"), json!(60.0));
    assert_eq!(play.payoffs(), [100.0, 115.0]);
}

#[test]
fn bidders_are_asked_in_turn_and_hear_who_drops_out() {
    let mut play = valued(auction(3, 1), &[40, 60, 50]);
    let mut answer = |word: &'static str, expected: (Seat, i64)| {
        assert_eq!(asked(&play), expected);
        play.answer(expected.0, Ok(Action::Choice(word.into())));
        let view = play.view(1);
        let newest = view.sights().next_back().unwrap().to_event();
        (newest.kind.clone(), serde_json::to_value(newest).unwrap())
    };
    let (kind, _) = answer(STAY, (2, 10));
    assert_eq!(kind, "price_called", "who stays is not news");
    answer(STAY, (1, 10));
    let (kind, event) = answer(STAY, (0, 10));
    assert_eq!((&*kind, &event["price"]), ("price_called", &json!(20)));
    assert_eq!(event["inside"], json!([0, 1, 2]));
    let (kind, event) = answer(DROP, (2, 20));
    assert_eq!((&*kind, &event["player"]), ("dropped_out", &json!(2)));
    assert_eq!(event["inside"], json!([0, 1]));
    assert_eq!(event["fouled"], json!(false));
    answer(STAY, (1, 20));
    answer(STAY, (0, 20));
    answer(STAY, (1, 30));
    let (kind, _) = answer(DROP, (0, 30));
    assert_eq!(kind, "round_result");
    assert_eq!(result(&play, "price"), json!(30.0));
}

#[test]
fn who_is_left_before_it_was_asked_pays_nothing() {
    let play = after(auction(3, 1), &[40, 60, 50], &[0, 0, 0]);
    assert_eq!(result(&play, "winner"), json!(0));
    assert_eq!(result(&play, "price"), json!(0.0));
    assert_eq!(result(&play, "bids"), json!([0, 0, 0]));
    assert_eq!(result(&play, "dropped_at"), json!([null, 10, 10]));
    assert_eq!(play.payoffs(), [140.0, 100.0, 100.0]);
}

#[test]
fn at_the_last_price_the_lowest_seat_wins() {
    let mut params = auction(3, 1);
    params["increment"] = 30.into();
    // Prices 30, 60 and 90; 120 is more than anybody has.
    let mut play = valued(params, &[40, 60, 50]);
    sell(&mut play, &[0, 100, 100]);
    assert_eq!(result(&play, "winner"), json!(1));
    assert_eq!(result(&play, "price"), json!(90.0));
    assert_eq!(result(&play, "dropped_at"), json!([30, null, null]));
    assert_eq!(play.payoffs(), [100.0, 70.0, 100.0]);
}

#[test]
fn a_foul_is_out_of_the_round_and_pays_the_fee() {
    let mut params = auction(3, 2);
    params["entrance_fee"] = 7.5.into();
    let mut play = valued(params, &[40, 60, 50]);
    sell(&mut play, &[40, -1, 50]);
    // Without seat 1, seat 2 stays at 50, which seat 0 refuses.
    assert_eq!(result(&play, "winner"), json!(2));
    assert_eq!(result(&play, "price"), json!(50.0));
    assert_eq!(result(&play, "bids"), json!([40, null, 50]));
    assert_eq!(result(&play, "dropped_at"), json!([50, null, null]));
    let fouled = play.log().of_kind("dropped_out").next().unwrap();
    assert_eq!(fouled.get("fouled").unwrap().flag(), Some(true));
    assert_eq!(play.payoffs(), [100.0, 92.5, 100.0]);
    sell(&mut play, &[40, 60, 50]);
    assert_eq!(play.payoffs(), [200.0, 202.5, 200.0]);
    let measures = play.measures();
    assert_eq!(measures.series["rule_breaking"], [0.0, 50.0, 0.0]);
    assert_eq!(measures.series["action_seats"], [0.0, 2.0, 0.0, 1.0, 2.0]);
}

#[test]
fn with_fewer_than_two_bidders_without_a_foul_nothing_is_sold() {
    let mut params = auction(2, 2);
    params["entrance_fee"] = 10.into();
    let mut play = valued(params, &[40, 60]);
    sell(&mut play, &[40, -1]);
    assert_eq!(result(&play, "void"), json!(true));
    assert_eq!(result(&play, "winner"), json!(null));
    assert_eq!(result(&play, "price"), json!(null));
    assert_eq!(play.payoffs(), [100.0, 90.0]);
    // A foul after some prices were accepted is one all the same.
    for word in [STAY, STAY] {
        let (seat, _) = asked(&play);
        play.answer(seat, Ok(Action::Choice(word.into())));
    }
    forfeit(&mut play, 1);
    assert_eq!(result(&play, "void"), json!(true));
    assert_eq!(result(&play, "bids"), json!([10, null]));
    assert!(play.is_finished());
    assert!(play.measures().scores.is_empty());
    assert!(close(part(&play, "void_rounds"), 2.0));
}

#[test]
fn rule_breaking_counts_rounds_and_not_answers() {
    let mut params = auction(2, 4);
    params["foul_allowance"] = 1.into();
    let mut play = valued(params, &[40, 60]);
    for round in 0..4 {
        // In the second and the last round seat 1 fouls before each of its answers.
        for _ in 0..6 {
            let (seat, _) = asked(&play);
            if seat == 1 && round % 2 == 1 {
                assert!(refused(&mut play, 1, Action::Choice("maybe".into())));
            }
            play.answer(seat, Ok(Action::Choice(STAY.into())));
        }
        sell(&mut play, &[40, 60]);
    }
    assert_eq!(play.measures().series["rule_breaking"], [0.0, 50.0]);
}

#[test]
fn measures_of_two_rounds() {
    // In equilibrium seat 0 pays 40 for what is worth 60 to it: seat 1 is asked first.
    let mut play = valued(auction(2, 2), &[60, 45]);
    sell(&mut play, &[60, 30]);
    sell(&mut play, &[20, 70]);
    let series = play.measures().series;
    // Seat 0 buys at 30, then seat 1 at 30: it stays there before seat 0 drops out.
    assert_eq!(series["payoff"], [115.0, 107.5]);
    assert_eq!(series["equilibrium_payoff"], [120.0, 100.0]);
    assert!(close(series["rationality"][0], 115.0 / 120.0));
    assert!(close(series["rationality"][1], 1.075));
    assert_eq!(series["wins"], [0.5, 0.5]);
    assert_eq!(series["prices"], [30.0, 30.0]);
    assert_eq!(series["actions"], [30.0, 30.0, 20.0, 30.0]);
    let expected = [10.0 / 120.0, 0.0, 20.0 / 120.0, 0.15];
    let found = &series["deviations"];
    let same = found.iter().zip(expected);
    assert!(
        same.clone().all(|(found, by_hand)| close(*found, by_hand)),
        "{found:?}"
    );
    // Seat 1 dropped out at 40, 5 too early; seat 0 at 30, 30 too early.
    assert!(close(series["distance"][0], 0.025));
    assert!(close(series["distance"][1], 0.15));
    let by_seat = series["distances"].iter().zip([0.0, 0.05, 0.3, 0.0]);
    assert!(
        by_seat
            .clone()
            .all(|(found, by_hand)| close(*found, by_hand))
    );
    assert_eq!(series["distances"].len(), series["actions"].len());
}

#[test]
fn history_tells_as_much_as_it_is_meant_to() {
    let told = |params: Json| {
        let play = after(params, &[40, 60], &[40, 60]);
        let result = play.view(0).latest("round_result").unwrap();
        let names: Vec<String> = result.facts().map(|(name, _)| name.to_owned()).collect();
        names.join(" ")
    };
    let mut params = auction(2, 1);
    assert_eq!(
        told(params.clone()),
        "void winner price bids dropped_at bid payoff"
    );
    params["shown"] = "strategies_and_values".into();
    let all = "void winner price bids dropped_at private_values bid payoff";
    assert_eq!(told(params.clone()), all);
    params["history"] = 0.into();
    assert_eq!(told(params), "");
}

/// Configurations of both forms, without the increment.
fn configurations() -> Vec<(Json, i64, u64)> {
    let mut all = Vec::new();
    for players in [2, 3, 5, 9] {
        for (assets, mean, sd) in [(100, 50, 10), (1000, 500, 100), (10000, 5000, 1000)] {
            for (rounds, history, shown) in [
                (1, 3, "strategies"),
                (3, 3, "strategies_and_values"),
                (3, 0, "strategies"),
            ] {
                let params = json!({
                    "players": players, "rounds": rounds, "history": history, "shown": shown,
                    "assets": assets, "value_mean": mean, "value_sd": sd,
                });
                all.push((params, assets, all.len() as u64));
            }
        }
    }
    all
}

#[test]
fn rational_players_neither_deviate_nor_fall_short() {
    for (mut params, assets, seed) in configurations() {
        let players = params["players"].as_u64().unwrap() as usize;
        for parts in [100, 20, 7, 1] {
            params["increment"] = (assets / parts).into();
            let play = played(GAME, params.clone(), &vec!["equilibrium"; players], seed);
            let series = play.measures().series;
            assert!(series["deviations"].iter().all(|far| close(*far, 0.0)));
            let degrees = &series["rationality"];
            assert!(degrees.iter().all(|degree| close(*degree, 1.0)));
            assert!(series["distance"].iter().all(|far| close(*far, 0.0)));
            assert!(close(score(&play, "deviation"), 0.0));
            assert!(close(score(&play, "rationality"), 1.0));
            assert!(close(part(&play, "void_rounds"), 0.0));
        }
    }
}

#[test]
fn rational_players_end_within_an_increment_of_the_sealed_form() {
    let mut furthest: f64 = 0.0;
    for (mut params, assets, seed) in configurations() {
        let players = params["players"].as_u64().unwrap() as usize;
        let rational = vec!["equilibrium"; players];
        let sealed = played(SEALED, params.clone(), &rational, seed).measures();
        for parts in [100, 20, 7] {
            let increment = assets / parts;
            params["increment"] = increment.into();
            let open = played(GAME, params.clone(), &rational, seed).measures();
            let values = "private_values";
            assert_eq!(open.series[values], sealed.series[values], "the same luck");
            let pairs = open.series["payoff"].iter().zip(&sealed.series["payoff"]);
            for (open, sealed) in pairs {
                let apart = (open - sealed).abs() / increment as f64;
                assert!(apart <= 1.0, "{apart} increments: {params}");
                furthest = larger(furthest, apart);
            }
        }
    }
    assert!(furthest > 0.3, "the discrete prices do differ: {furthest}");
}

#[test]
fn every_bidder_can_be_asked_at_every_price() {
    let play = after(auction(2, 1), &[40, 60], &[100, 100]);
    let asked = |seat| play.moves().iter().filter(|made| made.seat == seat).count();
    let most = play.game().asks_per_seat() as usize;
    assert_eq!([asked(0), asked(1)], [most, most]);
    let usual = game(GAME, json!({"rounds": 6})).usual_asks_per_seat();
    assert_eq!(usual, 6 * 11);
}

#[test]
fn rule_players_do_what_they_say() {
    let sold = |strategies: [&str; 2], settings: [Json; 2], values: [i64; 2]| {
        let params = json!({"players": 2, "increment": 10});
        let game = game(GAME, params);
        let seats = (0..2).zip(strategies).zip(settings);
        let rules = seats.map(|((seat, name), own)| Some(rule_player(&*game, name, own, seat)));
        let rules = rules.collect();
        let chance = Chance::scripted([(VALUATIONS, 0, values.to_vec().into())]);
        let play = Play::start(game, chance, rules);
        assert!(play.is_finished());
        (result(&play, "bids"), result(&play, "dropped_at"))
    };
    let none = || json!({});
    // 1.2 times 50 is 60, 0.9 times 50 is 45.
    assert_eq!(
        sold(["equilibrium", "overbid"], [none(), none()], [90, 50]),
        (json!([60, 60]), json!([null, 70]))
    );
    assert_eq!(
        sold(["equilibrium", "shade"], [none(), none()], [90, 50]),
        (json!([40, 40]), json!([null, 50]))
    );
    let double = json!({"factor": 2});
    assert_eq!(
        sold(["equilibrium", "overbid"], [none(), double], [90, 50]),
        (json!([90, 100]), json!([100, null]))
    );
    let twice = json!({"answers": ["stay", "stay", "drop"]});
    assert_eq!(
        sold(["equilibrium", "specified"], [none(), twice], [90, 50]),
        (json!([20, 20]), json!([null, 30]))
    );
    let game = game(GAME, json!({}));
    for (name, settings) in [
        ("overbid", json!({"factor": 0.5})),
        ("overbid", json!({"factor": 1e9})),
        ("shade", json!({"factor": 1.5})),
        ("equilibrium", json!({"factor": 1})),
    ] {
        let made = game.rule_player(name, settings.as_object().unwrap(), 0);
        assert!(made.is_err(), "{name} {settings}");
    }
}

#[test]
fn impossible_parameters_are_named() {
    let path = |params| refusal(GAME, params).path;
    assert_eq!(path(json!({"increment": 0})), "increment");
    assert_eq!(path(json!({"increment": 101})), "increment");
    let fine = json!({"assets": 10000, "increment": 9});
    let refused = refusal(GAME, fine);
    assert_eq!(refused.path, "increment");
    assert!(
        refused.message.contains("at least 10"),
        "{}",
        refused.message
    );
    opened(GAME, json!({"assets": 10000, "increment": 10}));
    assert_eq!(path(json!({"assets": 0})), "assets");
    assert_eq!(path(json!({"value_mean": 101.0})), "value_mean");
    assert_eq!(path(json!({"entrance_fee": -1.0})), "entrance_fee");
    assert_eq!(path(json!({"shown": "nothing"})), "shown");
    assert_eq!(path(json!({"players": 1})), "players");
}

/// A round in which bidders accept so many prices.
fn accepting(values: &[i64], assets: i64, increment: i64, accepted: &[i64]) -> Play {
    let params = json!({
        "assets": assets, "increment": increment, "value_mean": 1.0, "value_sd": 1.0,
    });
    let limits: Vec<i64> = accepted.iter().map(|count| count * increment).collect();
    after(params, values, &limits)
}

/// What each is then left with.
fn left(values: &[i64], assets: i64, increment: i64, accepted: &[i64]) -> Vec<f64> {
    accepting(values, assets, increment, accepted).payoffs()
}

/// What Gambit (pygambit 16.7.0, `enumpure_solve`) finds for three bidders with known
/// values, who choose how many of the called prices to accept, on payoffs that a
/// simulation apart from this program gave: how many pure equilibria there are, and in
/// how many the same bidder wins as when everybody goes by its value, which is one of
/// them each time.
#[test]
fn equilibria_with_known_values_are_those_that_gambit_finds() {
    for (values, assets, increment, count, same) in [
        ([2, 3, 1], 5, 1, 81, 42),
        ([3, 3, 1], 5, 1, 96, 57),
        ([1, 4, 2], 5, 1, 80, 60),
        ([3, 5, 4], 6, 2, 24, 12),
        ([4, 3, 5], 6, 2, 30, 18),
    ] {
        let pay = |accepted: &[i64]| left(&values, assets, increment, accepted);
        let found = pure_equilibria(3, 0..=assets / increment, pay);
        assert_eq!(found.len(), count, "{values:?}");
        let truthful = values.map(|value| value / increment).to_vec();
        assert!(found.contains(&truthful), "{values:?}");
        let winner =
            |accepted: &[i64]| result(&accepting(&values, assets, increment, accepted), "winner");
        let ours = winner(&truthful);
        let alike = found.iter().filter(|accepted| winner(accepted) == ours);
        assert_eq!(alike.count(), same, "{values:?}");
    }
}

/// Against everything that the others can do, nobody is left with more by accepting
/// more or fewer prices than fit into its value; Gambit's payoffs say the same.
#[test]
fn going_by_ones_value_is_weakly_dominant() {
    for (values, assets, increment) in [([2, 3, 1], 4, 1), ([4, 5, 5], 6, 2), ([3, 3, 3], 4, 1)] {
        let most = assets / increment;
        for seat in 0..3 {
            let own = values[seat] / increment;
            for first in 0..=most {
                for second in 0..=most {
                    let with = |accepted: i64| {
                        let mut all = vec![first, second];
                        all.insert(seat, accepted);
                        left(&values, assets, increment, &all)[seat]
                    };
                    let truthful = with(own);
                    assert!((0..=most).all(|other| with(other) <= truthful));
                }
            }
        }
    }
}

/// What Gambit finds for two bidders whose values are 1, 2 or 3 with equal chances and
/// prices 1, 2 and 3 (64 strategies each): 277 pure equilibria, of which going by one's
/// value leaves 31/9 to the first seat and 28/9 to the second, who pays more for being
/// asked first.
#[test]
fn equilibria_with_drawn_values_are_as_many_as_gambit_finds() {
    let mut payoffs = std::collections::BTreeMap::new();
    for first in 1..=3 {
        for second in 1..=3 {
            for a in 0..=3 {
                for b in 0..=3 {
                    let left = left(&[first, second], 3, 1, &[a, b]);
                    payoffs.insert((first, second, a, b), left);
                }
            }
        }
    }
    let strategies: Vec<[i64; 3]> = (0..64).map(|n| [n / 16, n / 4 % 4, n % 4]).collect();
    let expected = |first: &[i64; 3], second: &[i64; 3], seat: usize| {
        let mut sum = 0.0;
        for (mine, a) in (1..).zip(first) {
            for (theirs, b) in (1..).zip(second) {
                sum += payoffs[&(mine, theirs, *a, *b)][seat];
            }
        }
        sum
    };
    let table: Vec<Vec<[f64; 2]>> = strategies
        .iter()
        .map(|first| {
            let row = strategies.iter();
            row.map(|second| [expected(first, second, 0), expected(first, second, 1)])
                .collect()
        })
        .collect();
    let best_first = |second: usize| (0..64).map(|a| table[a][second][0]).fold(0.0, larger);
    let best_second = |first: usize| (0..64).map(|b| table[first][b][1]).fold(0.0, larger);
    let (firsts, seconds): (Vec<f64>, Vec<f64>) =
        (0..64).map(|at| (best_first(at), best_second(at))).unzip();
    let stable =
        |a: usize, b: usize| close(table[a][b][0], firsts[b]) && close(table[a][b][1], seconds[a]);
    let count = (0..64 * 64).filter(|at| stable(at / 64, at % 64)).count();
    assert_eq!(count, 277);
    let truthful = strategies.iter().position(|one| *one == [1, 2, 3]).unwrap();
    assert!(stable(truthful, truthful));
    let [first, second] = table[truthful][truthful];
    assert!(close(first / 9.0, 31.0 / 9.0) && close(second / 9.0, 28.0 / 9.0));
}
