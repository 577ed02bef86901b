//! Claims about the second-price auction, worked out by hand, and its equilibria on
//! grids of bids against those that another program found.

use serde_json::{Value as Json, json};

use super::*;
use crate::ask::Action;
use crate::chance::VALUATIONS;
use crate::games::testing::*;
use crate::measures::mean;
use crate::play::Play;

const GAME: &str = "second_price_auction";

/// A foul, among bids.
const FOUL: f64 = f64::NAN;

fn auction(players: usize, rounds: u32) -> Json {
    json!({"players": players, "rounds": rounds})
}

/// An auction with these private values that nobody has answered yet.
fn valued(mut params: Json, values: &[i64]) -> Play {
    params["players"] = values.len().into();
    opened_with(GAME, params, [(VALUATIONS, 0, values.to_vec().into())])
}

fn bid(play: &mut Play, bids: &[f64]) {
    let said = |bid: &f64| (!bid.is_nan()).then_some(Action::Number(*bid));
    turn(play, bids.iter().map(said).collect());
}

fn after(params: Json, values: &[i64], bids: &[f64]) -> Play {
    let mut play = valued(params, values);
    bid(&mut play, bids);
    play
}

#[test]
fn the_highest_bid_pays_the_second_highest() {
    // The example of appendix A.2: assets 100, value 60, price 50.
    let play = after(auction(3, 1), &[40, 60, 50], &[20.0, 75.5, 50.0]);
    assert_eq!(play.payoffs(), [100.0, 110.0, 100.0]);
    assert_eq!(fact(&play, "round_result", "winner"), json!(1));
    assert_eq!(fact(&play, "round_result", "price"), json!(50.0));
}

#[test]
fn the_lowest_seat_wins_a_tie_and_pays_its_own_bid() {
    let play = after(auction(3, 1), &[40, 60, 50], &[10.0, 30.0, 30.0]);
    assert_eq!(play.payoffs(), [100.0, 130.0, 100.0]);
    assert_eq!(fact(&play, "round_result", "price"), json!(30.0));
}

#[test]
fn overbidding_can_cost_more_than_the_item_is_worth() {
    let play = after(auction(2, 1), &[40, 60], &[100.0, 60.0]);
    assert_eq!(play.payoffs(), [80.0, 100.0]);
    // 80 where bidding its value leaves 100; the other is left with 100 instead of 120.
    let deviations = &play.measures().series["deviations"];
    assert!(close(deviations[0], 0.2) && close(deviations[1], 1.0 / 6.0));
    assert!(close(score(&play, "deviation"), (0.2 + 1.0 / 6.0) / 2.0));
}

#[test]
fn a_foul_neither_wins_nor_sets_the_price_and_pays_the_fee() {
    let mut params = auction(3, 1);
    params["entrance_fee"] = 7.5.into();
    let mut play = valued(params, &[40, 60, 50]);
    assert!(
        !refused(&mut play, 1, Action::Number(100.5)),
        "forfeited at once"
    );
    bid(&mut play, &[40.0, 50.0]);
    assert_eq!(play.payoffs(), [100.0, 92.5, 110.0]);
    assert_eq!(
        fact(&play, "round_result", "bids"),
        json!([40.0, null, 50.0])
    );
    let measures = play.measures();
    assert_eq!(measures.series["rule_breaking"], [0.0, 100.0, 0.0]);
    assert_eq!(measures.series["action_seats"], [0.0, 2.0]);
}

#[test]
fn a_round_with_one_valid_bid_is_void() {
    let mut play = valued(auction(2, 2), &[40, 60]);
    bid(&mut play, &[FOUL, 60.0]);
    assert_eq!(fact(&play, "round_result", "void"), json!(true));
    assert_eq!(fact(&play, "round_result", "winner"), json!(null));
    bid(&mut play, &[40.0, 60.0]);
    assert_eq!(play.payoffs(), [200.0, 220.0]);
    let measures = play.measures();
    assert!(close(part(&play, "void_rounds"), 1.0));
    assert_eq!(measures.series["rule_breaking"], [50.0, 0.0]);
    assert_eq!(measures.series["payoff"], [100.0, 120.0]);
    assert_eq!(measures.series["wins"], [0.0, 1.0]);
    assert_eq!(measures.series["prices"], [40.0]);
}

#[test]
fn nothing_but_fouls_leaves_no_scores() {
    let play = after(auction(2, 1), &[40, 60], &[FOUL, FOUL]);
    assert!(play.measures().scores.is_empty());
    assert_eq!(play.payoffs(), [100.0, 100.0]);
}

#[test]
fn measures_of_two_rounds() {
    // In equilibrium seat 0 pays 50 for what is worth 60 to it.
    let mut play = valued(auction(2, 2), &[60, 50]);
    bid(&mut play, &[40.0, 45.0]);
    bid(&mut play, &[60.0, 30.0]);
    let series = play.measures().series;
    assert_eq!(series["payoff"], [115.0, 105.0]);
    assert_eq!(series["equilibrium_payoff"], [110.0, 100.0]);
    assert!(close(series["rationality"][0], 115.0 / 110.0));
    assert!(close(series["rationality"][1], 1.05));
    assert_eq!(series["assets"], [1.15, 1.05]);
    assert_eq!(series["wins"], [0.5, 0.5]);
    assert_eq!(series["actions"], [40.0, 45.0, 60.0, 30.0]);
    // 100 and 110, then 130 and 100, over 110 and 100.
    let expected = [10.0 / 110.0, 0.1, 20.0 / 110.0, 0.0];
    let found = series["deviations"].iter().zip(expected);
    assert!(
        found
            .clone()
            .all(|(found, expected)| close(*found, expected)),
        "{found:?}"
    );
    assert_eq!(series["distance"], [0.125, 0.1]);
}

#[test]
fn history_tells_as_much_as_it_is_meant_to() {
    let told = |params: Json| {
        let play = after(params, &[40, 60], &[40.0, 60.0]);
        let result = play.view(0).latest("round_result").unwrap();
        let names: Vec<String> = result.facts().map(|(name, _)| name.to_owned()).collect();
        names.join(" ")
    };
    let mut params = auction(2, 1);
    assert_eq!(told(params.clone()), "void winner price bids bid payoff");
    params["shown"] = "strategies_and_values".into();
    let all = "void winner price bids private_values bid payoff";
    assert_eq!(told(params.clone()), all);
    params["history"] = 0.into();
    assert_eq!(told(params), "");
}

#[test]
fn private_values_follow_their_bell() {
    let params = json!({"players": 1000, "rounds": 1, "assets": 1000,
        "value_mean": 500.0, "value_sd": 100.0});
    let play = played(GAME, params, &["equilibrium"; 1000], 3);
    let values = &play.measures().series["private_values"];
    let middle = mean(values.iter().copied());
    let spread = standard_deviation(values);
    // Five standard errors: 500 less the half that whole parts lose, 100.
    assert!((middle - 499.5).abs() < 16.0, "{middle}");
    assert!((spread - 100.0).abs() < 12.0, "{spread}");
    let within = values
        .iter()
        .filter(|v| (**v - 499.5).abs() < 100.0)
        .count();
    assert!((607..=758).contains(&within), "{within} of 1000");
}

#[test]
fn values_stay_above_nothing_and_within_the_assets() {
    for (mean, sd) in [(1.0, 5.0), (5.0, 5.0), (5.0, 0.0), (1.0, 0.0)] {
        for seed in 0..50 {
            let params = json!({"players": 5, "assets": 5, "value_mean": mean, "value_sd": sd});
            let play = played(GAME, params, &["equilibrium"; 5], seed);
            let values = &play.measures().series["private_values"];
            assert!(values.iter().all(|value| (1.0..=5.0).contains(value)));
            if sd == 0.0 {
                assert!(values.iter().all(|value| close(*value, mean)));
            }
        }
    }
}

#[test]
fn rational_players_neither_deviate_nor_fall_short() {
    for players in [2, 5, 9, 13] {
        for (assets, mean, sd) in [(100, 50, 10), (1000, 500, 100), (10000, 5000, 1000)] {
            for (rounds, history) in [(1, 3), (6, 3), (6, 0)] {
                for shown in ["strategies", "strategies_and_values"] {
                    let params = json!({
                        "players": players, "rounds": rounds, "history": history, "shown": shown,
                        "assets": assets, "value_mean": mean, "value_sd": sd,
                    });
                    let play = played(GAME, params, &vec!["equilibrium"; players], 5);
                    let series = play.measures().series;
                    assert!(series["deviations"].iter().all(|far| close(*far, 0.0)));
                    assert!(
                        series["rationality"]
                            .iter()
                            .all(|degree| close(*degree, 1.0))
                    );
                    assert!(series["distance"].iter().all(|far| close(*far, 0.0)));
                    assert!(close(score(&play, "deviation"), 0.0));
                    assert!(close(score(&play, "rationality"), 1.0));
                }
            }
        }
    }
}

#[test]
fn impossible_parameters_are_named() {
    let path = |params| refusal(GAME, params).path;
    assert_eq!(path(json!({"assets": 0})), "assets");
    assert_eq!(path(json!({"value_mean": 101.0})), "value_mean");
    assert_eq!(path(json!({"value_mean": 0.5})), "value_mean");
    assert_eq!(path(json!({"value_sd": 101.0})), "value_sd");
    assert_eq!(path(json!({"entrance_fee": 101.0})), "entrance_fee");
    assert_eq!(path(json!({"shown": "nothing"})), "shown");
    assert_eq!(path(json!({"players": 1})), "players");
}

/// What each is left with, for every list of whole bids up to `most`.
fn table(values: &[i64], assets: i64, most: usize) -> Vec<(Vec<usize>, Vec<f64>)> {
    let mut all = vec![Vec::new()];
    for _ in values {
        let longer = |bids: &Vec<usize>| {
            let bids = bids.clone();
            (0..=most).map(move |bid| [&bids[..], &[bid]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    let params = json!({"assets": assets, "value_mean": 1.0});
    let params = || {
        let mut params = params.clone();
        params["value_sd"] = 1.0.into();
        params
    };
    let left = |bids: Vec<usize>| {
        let said: Vec<f64> = bids.iter().map(|bid| *bid as f64).collect();
        let left = after(params(), values, &said).payoffs();
        (bids, left)
    };
    all.into_iter().map(left).collect()
}

/// What Gambit (pygambit 16.7.0, `enumpure_solve`) finds for three bidders with known
/// values, assets 5 and bids from 0 to 5, on payoffs that were written down without
/// this program: how many pure equilibria there are, and in how many the lowest seat
/// of the highest value wins. Bidding one's value is one of them each time.
#[test]
fn equilibria_with_known_values_are_those_that_gambit_finds() {
    for (values, count, efficient) in [
        ([2, 3, 1], 89, 50),
        ([3, 3, 1], 104, 48),
        ([1, 4, 2], 89, 63),
    ] {
        let rows = table(&values, 5, 5);
        let left: std::collections::BTreeMap<_, _> = rows.iter().cloned().collect();
        let stable = |bids: &Vec<usize>| {
            (0..3).all(|seat| {
                (0..=5).all(|other| {
                    let mut deviating = bids.clone();
                    deviating[seat] = other;
                    left[&deviating][seat] <= left[bids][seat] + 1e-12
                })
            })
        };
        let equilibria: Vec<_> = rows
            .iter()
            .map(|row| &row.0)
            .filter(|row| stable(row))
            .collect();
        assert_eq!(equilibria.len(), count, "{values:?}");
        let truthful: Vec<usize> = values.iter().map(|value| *value as usize).collect();
        assert!(equilibria.contains(&&truthful), "{values:?}");
        let first = |of: &[usize]| {
            let most = of.iter().max();
            of.iter().position(|entry| Some(entry) == most)
        };
        let won = |bids: &&&Vec<usize>| first(bids) == first(&truthful);
        assert_eq!(
            equilibria.iter().filter(won).count(),
            efficient,
            "{values:?}"
        );
    }
}

/// What Gambit finds for two bidders whose values are 1, 2 or 3 with equal chances,
/// assets 3 and bids from 0 to 3 (64 strategies each): 135 pure equilibria, of which
/// bidding one's value is the only one where both do the same; it leaves 31/9 to each.
#[test]
fn bidding_ones_value_is_the_only_symmetric_equilibrium_that_gambit_finds() {
    let mut left = std::collections::BTreeMap::new();
    for first in 1..=3 {
        for second in 1..=3 {
            for (bids, payoffs) in table(&[first, second], 3, 3) {
                left.insert((first, second, bids[0], bids[1]), payoffs);
            }
        }
    }
    let strategies: Vec<[usize; 3]> = (0..64).map(|n| [n / 16, n / 4 % 4, n % 4]).collect();
    let expected = |own: &[usize; 3], other: &[usize; 3], seat: usize| {
        let mut sum = 0.0;
        for mine in 1..=3 {
            for theirs in 1..=3 {
                let (a, b) = (own[mine as usize - 1], other[theirs as usize - 1]);
                sum += match seat {
                    0 => left[&(mine, theirs, a, b)][0],
                    _ => left[&(theirs, mine, b, a)][1],
                };
            }
        }
        sum / 9.0
    };
    let is_best = |own: &[usize; 3], other: &[usize; 3], seat: usize| {
        let reached = expected(own, other, seat) + 1e-12;
        strategies
            .iter()
            .all(|another| expected(another, other, seat) <= reached)
    };
    let mut equilibria = Vec::new();
    for own in &strategies {
        for other in &strategies {
            if is_best(own, other, 0) && is_best(other, own, 1) {
                equilibria.push((*own, *other));
            }
        }
    }
    assert_eq!(equilibria.len(), 135);
    equilibria.retain(|(own, other)| own == other);
    assert_eq!(equilibria, [([1, 2, 3], [1, 2, 3])]);
    assert!(close(expected(&[1, 2, 3], &[1, 2, 3], 0), 31.0 / 9.0));
    assert!(close(expected(&[1, 2, 3], &[1, 2, 3], 1), 31.0 / 9.0));
}
