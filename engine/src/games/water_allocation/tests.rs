//! The Water Allocation Challenge worked out by hand: allocation and its ties,
//! health, elimination, refused parameters, measures, rule players.

use serde_json::{Value as Json, json};

use super::state::tie_index;
use crate::ask::Action;
use crate::cents::Cents;
use crate::chance::{Chance, Luck, SUPPLIES, TIES};
use crate::games::testing::{
    close, fact, forfeit, game, integers, last, opened, opened_with, part, played, pure_equilibria,
    refusal, refused, rule_player, score, turn,
};
use crate::play::Play;

const GAME: &str = "water_allocation";

/// A town of the paper's residents with these supplies, day by day.
fn town(supplies: &[i64], more: Json) -> Play {
    let mut params = json!({
        "supplies": supplies, "supply_min": 0, "supply_max": 100, "rounds": supplies.len(),
    });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    opened(GAME, params)
}

fn result(play: &Play, name: &str) -> Json {
    fact(play, "round_result", name)
}

#[test]
fn water_goes_to_the_highest_bids_that_still_fit() {
    let mut play = town(&[20, 20], json!({}));
    assert_eq!(
        fact(&play, "day_opened", "balances"),
        json!([70, 75, 100, 120, 120])
    );
    // Eric takes 12 of 20; David's 11 no longer fit, Alex's 8 do.
    turn(&mut play, integers(&[10, 9, 20, 80, 90]));
    assert_eq!(result(&play, "winners"), json!([4, 0]));
    assert_eq!(result(&play, "balances"), json!([60, 75, 100, 120, 30]));
    assert_eq!(result(&play, "health"), json!([10, 7, 7, 7, 10]));
    assert_eq!(result(&play, "dry_days"), json!([1, 2, 2, 2, 1]));
    assert_eq!(
        fact(&play, "day_opened", "balances"),
        json!([130, 150, 200, 240, 150])
    );
    assert_eq!(
        fact(&play, "day_opened", "dry_days"),
        json!([1, 2, 2, 2, 1])
    );
}

#[test]
fn a_bid_above_the_balance_is_passed_over_and_one_of_all_money_is_not() {
    let mut play = town(&[12], json!({}));
    turn(&mut play, integers(&[70, 76, 10, 121, 1_000_000]));
    assert_eq!(result(&play, "winners"), json!([0]));
    assert_eq!(result(&play, "balances"), json!([0, 75, 100, 120, 120]));
    assert!(close(part(&play, "overbids"), 3.0));
    let series = play.measures().series;
    assert_eq!(series["overbid_days"], [1.0; 3]);
    assert_eq!(series["overbid_seats"], [1.0, 3.0, 4.0]);
}

#[test]
fn of_equal_bids_the_lower_requirement_comes_first() {
    let mut play = town(&[20], json!({}));
    turn(&mut play, integers(&[40, 40, 40, 40, 40]));
    // 8 and 9 of 20; nothing fits the remaining 3.
    assert_eq!(result(&play, "winners"), json!([0, 1]));
}

#[test]
fn chance_decides_between_equal_bids_where_nothing_else_does() {
    let drawn = |draws: Vec<(u32, i64)>, params: Json| {
        let ties = draws.into_iter().map(|(at, seat)| (TIES, at, seat.into()));
        let supply = [(SUPPLIES, 1, 20_i64.into())];
        let mut play = opened_with(GAME, params, supply.into_iter().chain(ties));
        turn(&mut play, integers(&[40, 40, 40, 40, 40]));
        assert!(play.chance().unscripted().is_empty());
        assert_eq!(play.chance().unused().count(), 0);
        result(&play, "winners")
    };
    let by_chance = json!({ "rounds": 1, "supply_max": 20, "ties": "chance" });
    // After David's 11 only Alex and Bob fit into 9.
    let draws = vec![(tie_index(1, 0), 3), (tie_index(1, 1), 1)];
    assert_eq!(drawn(draws, by_chance), json!([3, 1]));
    let alike = json!({ "rounds": 1, "supply_max": 20, "requirements": [12] });
    assert_eq!(drawn(vec![(tie_index(1, 0), 2)], alike), json!([2]));
}

#[test]
fn after_a_tie_nobody_is_served_where_the_rules_say_so() {
    let nobody = |supply: i64, more: Json, bids: &[i64]| {
        let mut params = json!({ "ties": "nobody" });
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        let mut play = town(&[supply], params);
        turn(&mut play, integers(bids));
        assert!(play.chance().draws().is_empty(), "nothing is drawn");
        result(&play, "winners")
    };
    // The survival auction: water for one of five equal residents.
    let alike = json!({ "requirements": [10], "salaries": [100] });
    assert_eq!(nobody(10, alike.clone(), &[60, 60, 50, 40, 0]), json!([]));
    assert_eq!(nobody(10, alike.clone(), &[60, 50, 50, 40, 0]), json!([0]));
    // A bid that its maker cannot pay ties with nobody.
    assert_eq!(
        nobody(10, alike.clone(), &[900, 900, 50, 40, 0]),
        json!([2])
    );
    // Water for three: that of the two equal ones is lost, the third is served.
    assert_eq!(nobody(30, alike.clone(), &[60, 60, 50, 40, 0]), json!([2]));
    assert_eq!(nobody(40, alike, &[60, 50, 50, 40, 0]), json!([0, 3]));
    // 8 + 9 of 20 are lost, 10 no longer fit: nothing for 11 or 12 in 3.
    assert_eq!(nobody(20, json!({}), &[60, 60, 60, 40, 30]), json!([]));
    // 8 of 20 are lost with Alex, 12 are left for Eric; nobody ties with him.
    let poor = json!({ "requirements": [8, 13, 13, 13, 12] });
    assert_eq!(nobody(20, poor, &[60, 60, 0, 0, 30]), json!([4]));
}

#[test]
fn residents_are_called_by_their_names() {
    let names = |params: Json| fact(&opened(GAME, params), "briefing", "names");
    assert_eq!(
        names(json!({})),
        json!(["Alex", "Bob", "Cindy", "David", "Eric"])
    );
    assert_eq!(names(json!({ "players": 2 })), json!(["Alex", "Bob"]));
    assert_eq!(
        names(json!({ "players": 3, "names": ["Ann"] })),
        json!(["Ann", "player_1", "player_2"])
    );
    assert_eq!(
        names(json!({ "players": 2, "names": [] })),
        json!(["player_0", "player_1"])
    );
}

#[test]
fn a_bid_of_nothing_wins_nothing_unless_the_rules_say_so() {
    let mut play = town(&[50], json!({}));
    turn(&mut play, integers(&[0, 1, 0, 0, 0]));
    assert_eq!(result(&play, "winners"), json!([1]));
    let mut play = town(&[50], json!({ "zero_bids_win": true }));
    let mut answers = integers(&[0, 1, 0, 0, 0]);
    answers[3] = None;
    turn(&mut play, answers);
    // Who forfeits makes no bid at all.
    assert_eq!(result(&play, "winners"), json!([1, 0, 2, 4]));
    assert_eq!(result(&play, "bids"), json!([0, 1, 0, null, 0]));
}

#[test]
fn days_without_water_cost_more_and_more_until_one_is_out() {
    let mut play = town(&[8; 6], json!({ "players": 2 }));
    for health in [7, 5, 2] {
        turn(&mut play, integers(&[1, 0]));
        assert_eq!(result(&play, "health"), json!([10, health]));
        assert_eq!(result(&play, "eliminated"), json!([]));
    }
    turn(&mut play, integers(&[1, 0]));
    assert_eq!(result(&play, "health"), json!([10, -2]));
    assert_eq!(result(&play, "eliminated"), json!([1]));
    assert_eq!(result(&play, "living"), json!([0]));
    assert_eq!(result(&play, "balances"), json!([4 * 70 - 4, 0]));
    assert_eq!(result(&play, "lost_balances"), json!([4 * 75]));
    assert!(
        last(&play, "round_result").audience.includes(1),
        "it is told of its end"
    );
    assert!(!last(&play, "day_opened").audience.includes(1));
    turn(&mut play, integers(&[1]));
    assert_eq!(result(&play, "bids"), json!([1, null]));
    assert_eq!(result(&play, "balances"), json!([5 * 70 - 5, null]));
    turn(&mut play, integers(&[1]));
    assert!(play.is_finished());
    assert_eq!(play.payoffs(), [1.0, 0.0]);
}

#[test]
fn a_count_starts_anew_with_water_and_health_has_a_ceiling() {
    let mut play = town(
        &[0, 0, 12, 0],
        json!({ "players": 1, "health_max": 9, "health_gain": 20 }),
    );
    for health in [7, 5, 9, 8] {
        turn(&mut play, integers(&[60]));
        assert_eq!(result(&play, "health"), json!([health]));
    }
    assert!(play.is_finished());
    let own = json!({ "players": 1, "health_start": 6, "health_max": 8, "dry_days_start": 3 });
    let mut play = town(&[0, 0], own);
    turn(&mut play, integers(&[0]));
    assert_eq!(result(&play, "health"), json!([3]));
    turn(&mut play, integers(&[0]));
    assert_eq!(result(&play, "health"), json!([-1]));
}

#[test]
fn the_game_ends_when_nobody_lives() {
    let mut play = town(&[0; 20], json!({ "players": 3 }));
    for _ in 0..4 {
        turn(&mut play, integers(&[5, 5, 5]));
    }
    assert!(play.is_finished());
    assert_eq!(result(&play, "eliminated"), json!([0, 1, 2]));
    let measures = play.measures();
    assert!(close(measures.scores["survival"], 0.0));
    assert!(close(measures.parts["last_day"], 4.0));
    assert!(
        !measures.parts.contains_key("rsr_end"),
        "nobody needs water"
    );
    assert!(!measures.parts.contains_key("minimum_bid"), "nobody won");
}

#[test]
fn without_elimination_a_resident_plays_on_at_no_health() {
    let mut play = town(&[0; 6], json!({ "players": 1, "elimination": false }));
    for health in [7, 5, 2, 0, 0, 0] {
        turn(&mut play, integers(&[0]));
        assert_eq!(result(&play, "health"), json!([health]));
    }
    assert_eq!(play.payoffs(), [1.0]);
}

#[test]
fn every_whole_amount_from_nothing_up_is_a_bid() {
    let mut play = town(&[0], json!({}));
    assert!(refused(&mut play, 0, Action::Integer(-1)));
    assert!(refused(&mut play, 0, Action::Pass));
    turn(&mut play, integers(&[i64::MAX, 0, 5, 5, 5]));
    assert!(play.is_finished());
    let mut play = town(&[20, 20], json!({}));
    for seat in 0..5 {
        forfeit(&mut play, seat);
    }
    assert_eq!(result(&play, "winners"), json!([]));
}

#[test]
fn amounts_with_cents_are_bids_and_whole_ones_stay_whole() {
    let with = |bids: &[f64]| -> Vec<Option<Action>> {
        let amounts = bids.iter().map(|bid| Cents::of(*bid).unwrap());
        amounts.map(|amount| Some(amount.into())).collect()
    };
    let mut play = town(&[20, 20], json!({}));
    turn(&mut play, with(&[67.25, 67.5, 40.0, 67.75, 0.0]));
    assert_eq!(result(&play, "bids"), json!([67.25, 67.5, 40, 67.75, 0]));
    assert_eq!(result(&play, "winners"), json!([3, 1]));
    assert_eq!(result(&play, "balances"), json!([70, 7.5, 100, 52.25, 120]));
    let text = serde_json::to_string(&play.moves()[2]).unwrap();
    assert!(
        text.contains("\"action\":40,") || text.contains("\"action\":40}"),
        "{text}"
    );
    // All of a balance with cents can be bid, and is gone to the cent.
    turn(&mut play, with(&[0.0, 82.5, 0.0, 172.25, 172.24]));
    assert_eq!(result(&play, "winners"), json!([3, 1]));
    assert_eq!(result(&play, "balances"), json!([140, 0, 200, 0, 240]));
    let play = town(&[20], json!({}));
    for amount in [0.125, 33.333, 40.0, -0.5, f64::NAN, f64::INFINITY] {
        assert!(play.check(0, &Action::Number(amount)).is_err(), "{amount}");
    }
    let foul = play.check(0, &Action::Number(33.333)).unwrap_err();
    assert_eq!(
        foul.reason,
        "33.333 has more than two decimals: amounts go in dollars and cents"
    );
}

#[test]
fn rule_players_count_cents() {
    let params = json!({ "players": 3, "supplies": [18], "supply_min": 0, "rounds": 3 });
    let game = game(GAME, params);
    let answers = json!({ "answers": ["$35.25", 0.5, 0] });
    let rules = [
        rule_player(&*game, "specified", answers, 0),
        rule_player(&*game, "outbid", json!({}), 1),
        rule_player(&*game, "equilibrium", json!({}), 2),
    ];
    let chance = Chance::seeded(Luck::new(5, 0));
    let play = Play::start(game, chance, rules.map(Some).into());
    let days = play.log().of_kind("round_result");
    let bids: Vec<Json> = days
        .map(|day| serde_json::to_value(day.get("bids").unwrap()).unwrap())
        .collect();
    // Cindy takes 10 of 18, and what is left is enough for Alex alone.
    let expected = [[35.25, 37.0, 100.0], [0.5, 36.25, 100.0], [0.0, 1.5, 100.0]];
    for (bids, expected) in bids.iter().zip(expected) {
        let bids: Vec<f64> = serde_json::from_value(bids.clone()).unwrap();
        assert_eq!(bids, expected);
    }
}

#[test]
fn supplies_are_drawn_from_the_range_or_listed() {
    let play = played(
        GAME,
        json!({ "supply_min": 15, "supply_max": 25, "rounds": 400, "supplies": [] }),
        &["share"; 5],
        3,
    );
    let supplies = &play.measures().series["supply"];
    let seen = |supply: f64| supplies.contains(&supply);
    assert!(supplies.iter().all(|supply| (15.0..=25.0).contains(supply)));
    assert!(seen(15.0) && seen(25.0), "both ends are drawn");
    let play = played(
        GAME,
        json!({ "supplies": [20, 11], "rounds": 3 }),
        &["equilibrium"; 5],
        3,
    );
    assert_eq!(play.measures().series["supply"], [20.0, 11.0, 20.0]);
    assert!(
        play.chance()
            .draws()
            .iter()
            .all(|draw| draw.stream != "supplies")
    );
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    for (params, path) in [
        (json!({ "names": ["Al\u{2028}ex"] }), "names[0]"),
        (json!({ "names": ["Alex", "ALEX"] }), "names"),
        (json!({ "requirements": [] }), "requirements"),
        (json!({ "requirements": [8, 0] }), "requirements[1]"),
        (json!({ "salaries": [-1] }), "salaries[0]"),
        (json!({ "supply_min": 21 }), "supply_max"),
        (json!({ "supplies": [10, 21] }), "supplies[1]"),
        (json!({ "health_start": 11 }), "health_start"),
        (json!({ "health_start": 0 }), "health_start"),
        (json!({ "health_gain": -1 }), "health_gain"),
        (json!({ "rounds": 0 }), "rounds"),
        (json!({ "players": 0 }), "players"),
        (json!({ "names": ["Ann", " "] }), "names[1]"),
        (json!({ "names": ["Ann\nBob"] }), "names[0]"),
        (json!({ "names": ["A".repeat(41)] }), "names[0]"),
        (json!({ "names": ["Ann", "Bob", "Ann"] }), "names"),
        (json!({ "names": ["player_1"] }), "names"),
    ] {
        assert_eq!(refusal(GAME, params.clone()).path, path, "{params}");
    }
}

#[test]
fn measures_of_two_days_by_hand() {
    let mut play = town(&[20, 10], json!({}));
    turn(&mut play, integers(&[35, 0, 50, 60, 30]));
    turn(&mut play, integers(&[21, 500, 30, 0, 0]));
    let measures = play.measures();
    // Day 1: David (11 of 20), then Alex (8). Day 2: Cindy (10 of 10).
    assert_eq!(measures.series["minimum_bid"], [35.0, 30.0]);
    assert_eq!(measures.series["minimum_bid_days"], [1.0, 2.0]);
    assert!(close(part(&play, "minimum_bid"), 32.5));
    assert!(close(part(&play, "rsr_start"), 15.0 / 50.0));
    assert!(close(part(&play, "rsr_end"), 15.0 / 50.0));
    assert_eq!(
        measures.series["days_with_water"],
        [1.0, 0.0, 1.0, 1.0, 0.0]
    );
    assert_eq!(measures.series["days_lived"], [2.0; 5]);
    assert_eq!(measures.series["bids"][..5], [35.0, 0.0, 50.0, 60.0, 30.0]);
    assert_eq!(
        measures.series["balances"][5..],
        [105.0, 150.0, 170.0, 180.0, 240.0]
    );
    assert_eq!(measures.series["health"][5..], [9.0, 5.0, 9.0, 9.0, 5.0]);
    // In percent of balances: 50, 0, 50, 50, 25; 20, 15, 0, 0 (Bob has no 500).
    assert!(close(score(&play, "bid_share"), 210.0 / 9.0));
    assert!(close(score(&play, "survival"), 100.0));
}

#[test]
fn how_long_each_lasted_and_how_it_adapted_by_hand() {
    let alike = json!({ "players": 3, "requirements": [8], "salaries": [100] });
    let mut play = town(&[16; 6], alike);
    for bids in [
        &[50, 40, 0][..],
        &[10, 40, 0],
        &[10, 10, 0],
        // Cindy dies on the fourth day.
        &[30, 40, 0],
    ] {
        turn(&mut play, integers(bids));
    }
    turn(&mut play, integers(&[70, 50]));
    turn(&mut play, vec![None, integers(&[1]).remove(0)]);
    let measures = play.measures();
    assert_eq!(measures.series["survival_rounds"], [6.0, 6.0, 4.0]);
    // Alex against Bob: (10 + 30 + 0) / 3, then (10 + 20) / 2, and no bid on the last
    // day. Bob against Alex: the same, nobody bids against his 1.
    // Cindy against the better of both: (50 + 40 + 10) / 3, then 40 once.
    assert_eq!(measures.series["adaptation_seats"], [0.0, 1.0, 2.0]);
    let adaptation = &measures.series["adaptation"];
    let expected = [
        15.0 / (40.0 / 3.0),
        15.0 / (40.0 / 3.0),
        40.0 / (100.0 / 3.0),
    ];
    assert!(
        adaptation
            .iter()
            .zip(expected)
            .all(|(is, by_hand)| close(*is, by_hand))
    );
}

#[test]
fn a_bid_that_cannot_be_paid_is_no_part_of_anybodys_adaptation() {
    let alike = json!({ "players": 3, "requirements": [8], "salaries": [100] });
    let indices = |unpaid: i64| {
        let mut play = town(&[8; 4], alike.clone());
        turn(&mut play, integers(&[50, 40, 10]));
        turn(&mut play, integers(&[20, 40, unpaid]));
        turn(&mut play, integers(&[10, 40, 30]));
        turn(&mut play, integers(&[10, 40, 30]));
        let series = play.measures().series;
        assert_eq!(series["overbid_days"], [2.0]);
        assert_eq!(series["overbid_seats"], [2.0]);
        let bids = &series["bids"];
        assert_eq!(bids[5], unpaid as f64, "it was said");
        (
            series["adaptation_seats"].clone(),
            series["adaptation"].clone(),
        )
    };
    let (seats, adaptation) = indices(201);
    assert_eq!(seats, [0.0, 1.0, 2.0]);
    // Alex against Bob and Bob against Alex: 10 and 20. Cindy: 40 on the first day, the
    // second is none of hers. Then 30, 10 and 10 twice.
    let expected = [30.0 / 15.0, 10.0 / 15.0, 10.0 / 40.0];
    let all = adaptation.iter().zip(expected);
    assert!(
        all.clone().all(|(is, by_hand)| close(*is, by_hand)),
        "{adaptation:?}"
    );
    assert_eq!(indices(1_000_000_000), (seats, adaptation));
}

#[test]
fn satisfaction_of_each_morning_is_of_those_who_live() {
    let mut play = town(&[8; 6], json!({ "players": 2 }));
    for _ in 0..4 {
        turn(&mut play, integers(&[1, 0]));
    }
    turn(&mut play, integers(&[1]));
    turn(&mut play, integers(&[1]));
    // Bob, who needs 9, dies on the evening of the fourth day.
    let both = 8.0 / 17.0;
    assert_eq!(
        play.measures().series["rsr"],
        [both, both, both, both, 1.0, 1.0]
    );
}

#[test]
fn adaptation_has_no_entry_for_whom_it_is_not_defined() {
    let mut play = town(&[12; 4], json!({ "players": 2 }));
    for bids in [[10, 10], [20, 20], [30, 40], [1, 2]] {
        turn(&mut play, integers(&bids));
    }
    let measures = play.measures();
    // Equal bids in the first half: nothing to divide by.
    assert!(measures.series["adaptation"].is_empty());
    assert!(measures.series["adaptation_seats"].is_empty());
    assert_eq!(measures.series["survival_rounds"], [4.0, 4.0]);
}

/// What Gambit (pygambit 16.7.0, `enumpure_solve`) finds for one day on which who gets
/// no water dies, on payoffs that a simulation apart from this program gave: how many
/// pure equilibria there are among whole bids, and whether everybody bidding its whole
/// balance is one. There it is best against all that the others can bid, except where
/// water is left beside that of a tie which nobody wins.
#[test]
fn equilibria_of_a_last_day_are_those_that_gambit_finds() {
    for (needs, money, supply, ties, most, count, best) in [
        ([1, 2, 3], [2, 3, 3], 3, "lower_requirement", 4, 10, true),
        ([1, 2, 3], [3, 2, 4], 4, "lower_requirement", 5, 36, true),
        ([2, 1, 3], [2, 2, 2], 3, "lower_requirement", 3, 12, true),
        ([1, 1, 1], [3, 3, 3], 1, "nobody", 4, 61, true),
        ([1, 1, 1], [2, 3, 4], 1, "nobody", 5, 66, true),
        ([2, 2, 1], [2, 2, 2], 3, "nobody", 3, 12, false),
        ([2, 2, 1], [2, 2, 2], 5, "nobody", 3, 18, false),
    ] {
        let pay = |bids: &[i64]| {
            let own = json!({
                "players": 3, "requirements": needs, "salaries": money, "ties": ties,
                "health_start": 1,
            });
            let mut play = town(&[supply], own);
            turn(&mut play, integers(bids));
            play.payoffs()
        };
        let found = pure_equilibria(3, 0..=most, pay);
        assert_eq!(found.len(), count, "{needs:?} {money:?} {supply} {ties}");
        assert_eq!(found.contains(&money.to_vec()), best);
        let whole_is_best = |seat: usize| {
            let others = (0..=most).flat_map(|one| (0..=most).map(move |two| [one, two]));
            others.into_iter().all(|others| {
                let with = |bid: i64| {
                    let mut bids = others.to_vec();
                    bids.insert(seat, bid);
                    pay(&bids)[seat]
                };
                (0..=most).all(|bid| with(bid) <= with(money[seat]))
            })
        };
        assert_eq!((0..3).all(whole_is_best), best, "{needs:?} {supply}");
    }
}

#[test]
fn rule_players_do_what_they_say() {
    let all = ["equilibrium", "share", "last_moment", "outbid", "share"];
    let play = played(
        GAME,
        json!({ "supplies": [20, 20, 20, 20], "rounds": 4 }),
        &all,
        5,
    );
    let bids: Vec<Json> = play
        .log()
        .of_kind("round_result")
        .map(|event| serde_json::to_value(event.get("bids").unwrap()).unwrap())
        .collect();
    // Alex 70 and Eric 60 of 120, David half of his salary: Alex, then David's 60
    // before Eric's by the lower requirement.
    assert_eq!(bids[0], json!([70, 37, 0, 60, 60]));
    // 1 more than 60; Eric half of 240.
    assert_eq!(bids[1], json!([70, 75, 0, 61, 120]));
    // Cindy has 5 health and a count of 3; a third dry day leaves 2.
    assert_eq!(bids[2][2], json!(0));
    // With 2 health and a count of 4 she would die.
    assert_eq!(bids[3][2], json!(400));
}
