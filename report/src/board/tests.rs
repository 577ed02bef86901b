//! Claims about tables: every game has a scene of its own that follows its events, and what a seat could
//! not see is on no table that is its own.

use agon_engine::record::StoredRecord;
use agon_engine::{Audience, Event, Value, registry};
use serde_json::{Value as Json, json};

use super::{Board, Table};
use crate::testing::{Table as Played, told};

const SEATS: [(&str, &[f64]); 4] = [("a", &[]), ("b", &[]), ("c", &[]), ("d", &[])];

/// A game with default parameters, answered at random.
fn played(game: &str) -> StoredRecord {
    let table = Played {
        game,
        params: json!({}),
        setting: json!({}),
        seats: &SEATS,
        repeat: 1,
    };
    table.played_by(&vec![json!({ "strategy": "random" }); SEATS.len()])
}

/// Games that need nothing but seats.
fn games() -> impl Iterator<Item = &'static str> {
    let all = registry::GAMES.iter().map(|game| &*game.info.name);
    all.filter(|game| *game != "judging")
}

/// The tables after each event.
fn boards(record: &StoredRecord, events: &[Event], viewer: Option<usize>) -> Vec<Board> {
    let spec = &record.spec;
    let mut table = Table::new(&spec.game, &spec.params, spec.seats.len(), viewer);
    let boards = events.iter().map(|event| {
        table.see(event);
        table.board()
    });
    boards.collect()
}

fn last(game: &str) -> Json {
    let record = played(game);
    let boards = boards(&record, &record.events, None);
    told(boards.last().unwrap())
}

#[test]
fn every_game_has_a_scene_of_its_own_that_follows_its_events() {
    for game in games() {
        let record = played(game);
        let boards = boards(&record, &record.events, None);
        let scene = told(&boards[0]);
        assert_ne!(scene["scene"]["scene"], "facts", "{game}");
        let mut seen = boards.iter().collect::<Vec<_>>();
        seen.dedup();
        assert!(seen.len() > 1, "{game}: nothing ever changes on its table");
        assert!(
            boards.iter().all(|board| board.seats.len() == SEATS.len()),
            "{game}"
        );
    }
}

#[test]
fn nothing_that_a_seat_could_not_see_is_on_its_table() {
    for game in games() {
        let record = played(game);
        for viewer in 0..SEATS.len() {
            let before = boards(&record, &record.events, Some(viewer));
            let changed: Vec<Event> = record.events.iter().map(|e| secret(e, viewer)).collect();
            let after = boards(&record, &changed, Some(viewer));
            assert_eq!(before, after, "{game}, seat {viewer}");
            let everybody = boards(&record, &changed, None);
            let shown = boards(&record, &record.events, None);
            let has_secrets = record.events != changed;
            assert!(
                !has_secrets || everybody != shown || !matters(game),
                "{game}: what is secret shows nowhere, so this test shows nothing"
            );
        }
    }
}

/// Games in which something that only others know is drawn for readers of the record.
fn matters(game: &str) -> bool {
    [
        "el_farol",
        "sealed_bid_auction",
        "divide_dollar",
        "second_price_auction",
    ]
    .contains(&game)
}

/// The same event with everything else in it that the viewer could not see.
fn secret(event: &Event, viewer: usize) -> Event {
    let mut event = event.clone();
    if !event.audience.includes(viewer) {
        let audience = Audience::Only(Vec::new());
        return Event {
            audience,
            ..Event::new("changed", event.round)
        };
    }
    for (_, column) in &mut event.own {
        let entries = (0..SEATS.len()).map(|seat| match seat == viewer {
            true => column.entry(seat),
            false => Value::Integer(987_654),
        });
        *column = Value::List(entries.collect());
    }
    event.hidden.clear();
    event
}

#[test]
fn guesses_stand_on_the_line_with_mean_and_target() {
    let record = Played {
        game: "guess_two_thirds",
        params: json!({ "rounds": 1 }),
        setting: json!({}),
        seats: &[("a", &[30.0]), ("b", &[60.0])],
        repeat: 0,
    }
    .played();
    let board = boards(&record, &record.events, None).pop().unwrap();
    let scene = told(&board)["scene"].clone();
    assert_eq!(
        scene["dots"],
        json!([
            { "seat": 0, "value": 30.0, "won": true },
            { "seat": 1, "value": 60.0, "won": false },
        ])
    );
    assert_eq!(
        scene["marks"],
        json!([{ "name": "mean", "value": 45.0 }, { "name": "target", "value": 30.0 }])
    );
    assert_eq!(scene["drift"], json!([{ "round": 1, "target": 30.0 }]));
    // The first seat sees its own guess alone.
    let own = boards(&record, &record.events, Some(0)).pop().unwrap();
    assert_eq!(told(&own)["scene"]["dots"].as_array().unwrap().len(), 1);
}

#[test]
fn numbers_of_a_contest_without_a_history_stand_on_the_line_of_readers_alone() {
    let record = Played {
        game: "beauty_contest",
        params: json!({ "rounds": 1, "history": 0 }),
        setting: json!({}),
        seats: &[("a", &[0.0]), ("b", &[1.0])],
        repeat: 0,
    }
    .played();
    let dots = |viewer| {
        let board = boards(&record, &record.events, viewer).pop().unwrap();
        told(&board)["scene"]["dots"].as_array().unwrap().len()
    };
    assert_eq!([None, Some(0), Some(1)].map(dots), [2, 0, 0]);
}

#[test]
fn everybody_sees_what_each_kept_of_its_tokens_and_what_the_pot_paid() {
    let record = Played {
        game: "public_goods",
        params: json!({ "rounds": 1, "ratio": 2.0, "tokens": 20 }),
        setting: json!({}),
        seats: &[("a", &[7.0]), ("b", &[20.0]), ("c", &[2.0])],
        repeat: 0,
    }
    .played();
    for viewer in [None, Some(0), Some(1)] {
        let board = told(&boards(&record, &record.events, viewer).pop().unwrap());
        let stack = |seat, given, kept| json!({ "seat": seat, "given": given, "kept": kept, "paid": 19.33 });
        assert_eq!(
            board["scene"]["stacks"],
            json!([
                stack(0, 7.0, 13.0),
                stack(1, 20.0, 0.0),
                stack(2, 2.0, 18.0)
            ]),
            "{viewer:?}"
        );
        assert_eq!(
            board["seats"][0]["figures"][1]["value"], "32.33",
            "{viewer:?}"
        );
    }
}

#[test]
fn auction_shows_what_is_over_and_who_leads() {
    let scene = last("english_auction")["scene"].clone();
    let lots = scene["lots"].as_array().unwrap();
    assert_eq!(lots.len(), 10);
    assert_eq!(scene["place"], 10);
    assert_eq!(scene["items"], 10);
    let record = played("english_auction");
    let profits = record.events.last().unwrap().numbers("profits");
    for (bidder, profit) in scene["bidders"].as_array().unwrap().iter().zip(profits) {
        assert_eq!(bidder["profit"].as_f64().unwrap_or(0.0), profit);
    }
}

#[test]
fn who_is_out_is_out_on_the_table() {
    for game in ["battle_royale", "water_allocation"] {
        let record = played(game);
        let board = boards(&record, &record.events, None).pop().unwrap();
        let living = record.events.iter().rev().find_map(|event| {
            let names = ["alive", "living"];
            names
                .iter()
                .find_map(|name| Some(event.get(name)?.integers()?.to_vec()))
        });
        let living = living.unwrap();
        for seat in &board.seats {
            assert_eq!(seat.in_play, living.contains(&(seat.seat as i64)), "{game}");
        }
    }
}
