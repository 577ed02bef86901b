//! Claims about how much a play produces and how much it was estimated to produce, and where it
//! stops.

use serde::Serialize;
use serde_json::json;

use super::Play;
use crate::ask::{Action, Foul, FoulKind};
use crate::chance::{Chance, Luck};
use crate::extent::{Bounds, Extent, RECORD};
use crate::game::usual_extent;
use crate::games::testing::{game, opened, rule_player};
use crate::registry;

fn all_rules(name: &str, params: serde_json::Value, strategy: &str, most: &Bounds) -> Play {
    let game = game(name, params);
    let players = (0..game.seats())
        .map(|seat| Some(rule_player(&*game, strategy, json!({}), seat)))
        .collect();
    Play::start_within(most, game, Chance::seeded(Luck::new(4, 0)), players)
}

/// What a list of this has as JSON, apart from an empty one.
fn extent(list: &[impl Serialize]) -> Extent {
    if list.is_empty() {
        return Extent::default();
    }
    Extent::of_json(&serde_json::to_vec(list).unwrap())
}

fn written(play: &Play) -> Extent {
    let parts = [
        extent(play.moves()),
        extent(play.log().all()),
        extent(play.chance().draws()),
    ];
    let sum = |of: fn(&Extent) -> u64| parts.iter().map(of).sum();
    Extent {
        bytes: sum(|part| part.bytes),
        values: sum(|part| part.values),
        tables: sum(|part| part.tables),
    }
}

#[test]
fn what_is_counted_is_what_is_written_in_every_game() {
    for registration in registry::GAMES {
        let name = &*registration.info.name;
        for strategy in ["equilibrium", "random"] {
            let play = all_rules(name, json!({}), strategy, &RECORD);
            assert!(play.is_finished() && play.overflow().is_none(), "{name}");
            let (counted, written) = (play.produced.extent, written(&play));
            assert_eq!(counted.values, written.values, "{name}, {strategy}");
            assert_eq!(counted.tables, written.tables, "{name}, {strategy}");
            assert!(counted.bytes <= written.bytes, "{name}, {strategy}");
            assert!(counted.bytes * 5 > written.bytes, "{name}, {strategy}");
        }
    }
}

#[test]
fn fouls_and_forfeits_are_counted_as_they_are_written() {
    let mut play = opened("guess_two_thirds", json!({"players": 2, "rounds": 2}));
    for number in [7, 8] {
        let foul = Foul::new(FoulKind::Unreadable, "say a \"number\"");
        while !play.moves().iter().any(|made| made.forfeited) && play.waiting().next().is_some() {
            play.answer(0, Err(foul.clone()));
            if !play.waiting().any(|ask| ask.seat == 0) {
                break;
            }
        }
        play.answer(0, Ok(Action::Integer(number)));
        play.answer(1, Ok(Action::Integer(number)));
    }
    assert!(play.is_finished());
    assert!(play.moves()[0].forfeited);
    let (counted, written) = (play.produced.extent, written(&play));
    assert_eq!(
        (counted.values, counted.tables),
        (written.values, written.tables)
    );
    assert!(counted.bytes <= written.bytes);
}

#[test]
fn a_play_stops_with_the_turn_that_is_too_much() {
    let params = json!({"players": 1000, "rounds": 10_000});
    let most = Bounds {
        tables: 1_500,
        ..RECORD
    };
    let play = all_rules("guess_two_thirds", params, "equilibrium", &most);
    assert_eq!(play.moves().len(), 2000);
    assert!(play.is_finished());
    assert_eq!(play.waiting().count(), 0);
    assert_eq!(play.awaited_reply(), None);
    let much = play.overflow().unwrap().to_string();
    assert_eq!(much, "it has 2008 tables, and 1500 are the most");
}

#[test]
fn no_play_goes_on_beyond_what_a_record_may_hold() {
    let params = json!({"players": 1000, "rounds": 10_000});
    let play = all_rules("guess_two_thirds", params, "equilibrium", &RECORD);
    assert!(play.overflow().is_some());
    assert!(written(&play).tables < RECORD.tables + 2_000);
}

/// Rounds and seats as far as each game has them; `None` where it has fewer seats.
fn long_session(name: &str, players: usize) -> Option<Play> {
    let registration = registry::find(name).unwrap();
    let with_rounds = json!({"players": players, "rounds": 20});
    let params = [with_rounds, json!({"players": players})];
    let params = params.into_iter().find(|params| {
        let settings = serde_json::from_value(params.clone()).unwrap();
        registration.build(&settings).is_ok()
    });
    Some(all_rules(name, params?, "equilibrium", &RECORD))
}

#[test]
fn no_session_of_the_usual_length_holds_more_than_was_estimated() {
    let mut estimated = 0;
    for registration in registry::GAMES {
        let name = &*registration.info.name;
        for play in [3, 10, 40, 200]
            .into_iter()
            .filter_map(|n| long_session(name, n))
        {
            let game = play.game();
            let usual = u64::from(game.usual_asks_per_seat()) * game.seats() as u64;
            if play.moves().len() as u64 > usual {
                continue;
            }
            let (mut written, estimate) = (written(&play), usual_extent(&**game, 0));
            if name == "judging" {
                // Its texts stand in the spec, whose length is bounded by itself.
                written.bytes = 0;
            }
            let within = written.within(&estimate);
            assert!(within.is_ok(), "{name} with {}: {within:?}", game.seats());
            estimated += 1;
        }
    }
    assert!(estimated > 30, "{estimated}");
}

#[test]
fn every_answer_from_outside_adds_to_the_estimate() {
    let game = game("guess_two_thirds", json!({"players": 10, "rounds": 5}));
    let (rules, models) = (usual_extent(&*game, 0), usual_extent(&*game, 10));
    assert!(models.values > rules.values && models.bytes > rules.bytes);
    assert!(rules.within(&RECORD).is_ok());
}
