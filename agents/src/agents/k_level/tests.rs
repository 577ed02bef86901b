//! Whether a seat's idea of what its rivals see is right: every supported game is played
//! by random rule players, and what one seat makes of each other is compared with what
//! that one really saw.

use agon_engine::chance::Luck;
use agon_engine::game::FactNames;
use agon_engine::spec::Settings;
use agon_engine::{Chance, Play, registry};
use proptest::prelude::*;
use serde_json::{Map, json};

use super::rival::Perspective;
use super::*;
use crate::rivals::in_play;

fn settings(json: Value) -> Settings {
    json.as_object().unwrap().clone().into_iter().collect()
}

/// Everything that each seat saw in a game of random rule players.
fn views(game: &str, params: Value, seed: u64) -> Vec<Vec<SeenEvent>> {
    let registration = registry::find(game).unwrap();
    let game = registration.build(&settings(params)).unwrap().game;
    let seats = game.seats();
    let rules = (0..seats).map(|seat| game.rule_player("random", &Map::new(), seat).ok());
    let rules = rules.collect();
    let play = Play::start(game, Chance::seeded(Luck::new(seed, 0)), rules);
    assert!(play.is_finished());
    let seen = |seat| play.view(seat).sights().map(|sight| sight.to_event());
    (0..seats).map(|seat| seen(seat).collect()).collect()
}

/// Games as they are played with these agents, and in every mode that changes what is told.
fn modes(game: &str) -> Vec<Value> {
    match game {
        "beauty_contest" => vec![
            json!({ "players": 4, "rounds": 5 }),
            json!({ "players": 3, "rounds": 4, "history": 0 }),
        ],
        "guess_to_survive" => vec![
            json!({ "health": 3 }),
            json!({ "players": 3, "rounds": 6, "health": 1, "loss": 1 }),
        ],
        "water_allocation" => vec![
            json!({}),
            json!({ "elimination": false, "rounds": 6 }),
            // As the survival auction of arXiv 2402.01521.
            json!({ "rounds": 10, "requirements": [10], "salaries": [100], "supply_min": 10, "supply_max": 10 }),
        ],
        _ => vec![json!({})],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_rivals_view_is_known_wherever_this_is_played(seed in any::<u64>()) {
        for game in GAMES {
            for mode in modes(game) {
                let views = views(game, mode, seed);
                for (own, view) in views.iter().enumerate() {
                    for (rival, real) in views.iter().enumerate().filter(|(rival, _)| *rival != own) {
                        let mut eyes = Perspective::new(own, rival, facts_of(game));
                        let made: Vec<SeenEvent> =
                            view.iter().filter_map(|event| eyes.of(event)).collect();
                        // Who is out first sees less than the other.
                        let both = view.len().min(real.len());
                        prop_assert_eq!(&made[..], &real[..both], "{}: {} of {}", game, own, rival);
                    }
                }
            }
        }
    }
}

/// The claim above means little if nobody is ever put out, or nothing of one's own told.
#[test]
fn seats_see_different_things_and_some_are_put_out() {
    let views = views("water_allocation", json!({}), 3);
    let facts = facts_of("water_allocation");
    let ends: Vec<usize> = views.iter().map(Vec::len).collect();
    assert!(ends.iter().any(|end| *end != ends[0]), "{ends:?}");
    let results = |seat: usize| {
        views[seat]
            .iter()
            .find(|event| event.kind == "round_result")
    };
    assert_ne!(results(0), results(1));
    assert!(
        views[0]
            .iter()
            .any(|event| in_play(&facts, event).is_some())
    );
}

#[test]
fn every_game_of_the_list_is_registered_and_simultaneous() {
    for game in GAMES {
        let info = &registry::find(game).unwrap().info;
        assert_eq!(
            info.timing,
            agon_engine::game::Timing::Simultaneous,
            "{game}"
        );
    }
    assert!(GAMES.is_sorted());
}

/// What is not public in other games is why they are left out.
#[test]
fn games_with_something_private_would_be_seen_wrongly() {
    for game in [
        "second_price_auction",
        "guess_two_thirds",
        "divide_dollar",
        "public_goods",
    ] {
        assert!(!GAMES.contains(&game));
        let views = views(game, json!({ "players": 3, "rounds": 3 }), 5);
        let mut eyes = Perspective::new(0, 1, facts_of(game));
        let made: Vec<SeenEvent> = views[0].iter().filter_map(|event| eyes.of(event)).collect();
        assert_ne!(made, views[1], "{game}");
    }
}

#[test]
fn settings_have_bounds() {
    let check = |own: Value| (INFO.check)(own.as_object().unwrap());
    assert_eq!(check(json!({})), Ok(()));
    assert_eq!(check(json!({ "depth": 5, "tries": 10 })), Ok(()));
    for wrong in [
        json!({ "depth": 0 }),
        json!({ "depth": 6 }),
        json!({ "depth": 2.5 }),
    ] {
        let message = check(wrong).unwrap_err();
        assert!(
            message.starts_with("depth must be a whole number from 1 to 5"),
            "{message}"
        );
    }
    let message = check(json!({ "tries": 0 })).unwrap_err();
    assert!(message.starts_with("tries must be"), "{message}");
}

fn facts_of(game: &str) -> FactNames {
    registry::find(game).unwrap().info.facts.clone()
}
