//! Claims about sessions step by step: every answer and event stands there once and in order, a seat is
//! shown no more than it saw, and blocks of steps are the same as all at once.

use std::sync::Arc;

use agon_engine::record::StoredRecord;
use agon_engine::view::SeenEvent;
use agon_engine::{SeatView, View, registry};
use serde_json::{Value, json};

use super::{Hits, Live, Shown, Viewing};
use crate::testing::{Table, told};

fn guessing() -> Viewing {
    let record = Table {
        game: "guess_two_thirds",
        params: json!({ "rounds": 3 }),
        setting: json!({ "ratio": 0.5 }),
        seats: &[("a", &[30.0, 20.0]), ("b", &[60.0])],
        repeat: 0,
    }
    .played();
    Viewing::new(Arc::new(record))
}

#[test]
fn answers_come_before_what_follows_from_them() {
    let viewing = guessing();
    let steps = viewing.from(0, 100, None);
    let kinds: Vec<&str> = steps.iter().map(|step| step.step.kind.as_str()).collect();
    let round = ["answers", "round_result"];
    assert_eq!(kinds, [&["briefing"][..], &round, &round, &round].concat());
    assert_eq!(viewing.head().turns, [1, 3, 5]);
    assert_eq!(steps[3].step.says, "player_0: 20; player_1: 60");
    assert_eq!(
        steps[2].step.says,
        "The mean is 45, the target 30; player_0 wins."
    );
    let result = told(&steps[2]);
    assert_eq!(
        result["own"][0],
        json!({ "name": "number", "values": ["30", "60"] })
    );
    assert_eq!(result["board"]["scene"]["marks"][0]["value"], 45.0);
    // Answers are told before the table changes.
    assert_eq!(told(&steps[1])["board"]["scene"]["dots"], json!([]));
}

#[test]
fn blocks_are_the_same_as_all_at_once() {
    let viewing = guessing();
    let all = told(&viewing.from(0, 100, Some(1)));
    let blocks = (0..viewing.steps()).flat_map(|step| viewing.from(step, 1, Some(1)));
    assert_eq!(all, told(&blocks.collect::<Vec<_>>()));
    assert!(viewing.from(100, 5, None).is_empty());
    assert!(viewing.from(0, usize::MAX, None).len() == viewing.steps());
}

#[test]
fn seat_is_shown_its_own_answers_and_nothing_hidden() {
    let viewing = guessing();
    for step in told(&viewing.from(0, 100, Some(0))).as_array().unwrap() {
        assert_eq!(step["own"], json!([]), "{step}");
        assert_eq!(step["hidden"], json!([]), "{step}");
        let answers = step["answers"].as_array().unwrap();
        assert!(answers.iter().all(|answer| answer["seat"] == 0), "{step}");
        let facts = step["facts"].as_array().unwrap();
        let number = facts.iter().find(|fact| fact["name"] == "number");
        assert!(
            number.is_none_or(|number| number["value"] != "60"),
            "{step}"
        );
    }
    assert_eq!(viewing.search("60", Some(0), 10), Hits::default());
    assert_eq!(viewing.search("player_1: 60", None, 10).steps, [1, 3, 5]);
    assert_eq!(viewing.search("", None, 10), Hits::default());
    // What only its seat saw is found, too, and what is not named is counted.
    let own = viewing.search("NUMBER", None, 1);
    assert_eq!((own.steps, own.total), (vec![2], 3));
}

#[test]
fn every_event_of_every_game_is_told_in_a_sentence_of_its_own() {
    let games = registry::GAMES.iter().map(|game| &*game.info.name);
    for game in games.filter(|game| *game != "judging") {
        let table = Table {
            game,
            params: json!({}),
            setting: json!({}),
            seats: &[("a", &[]), ("b", &[]), ("c", &[])],
            repeat: 3,
        };
        let record = table.played_by(&vec![json!({ "strategy": "random" }); 3]);
        let viewing = Viewing::new(Arc::new(record));
        for viewer in [None, Some(1)] {
            for Shown { step, .. } in viewing.from(0, usize::MAX, viewer) {
                let is_told =
                    step.says.ends_with('.') || ["answers", "unseen"].contains(&&*step.kind);
                assert!(is_told, "{game}, {viewer:?}: {}", step.says);
            }
        }
    }
}

#[test]
fn series_of_a_session_are_those_with_a_number_for_every_round() {
    let four: [(&str, &[f64]); 4] = [("a", &[]), ("b", &[]), ("c", &[]), ("d", &[])];
    let series = |game: &str, seats: usize, params: Value| {
        let table = Table {
            game,
            params,
            setting: json!({}),
            seats: &four[..seats],
            repeat: 1,
        };
        let record = table.played_by(&vec![json!({ "strategy": "random" }); seats]);
        let rounds = record.events.iter().map(|event| event.round).max().unwrap() as usize;
        let head = Viewing::new(Arc::new(record)).head();
        let is_whole = head.series.iter().all(|one| one.values.len() == rounds);
        assert!(is_whole, "{game}: {:?}", head.series);
        let names = head.series.into_iter().map(|one| one.name);
        (rounds, names.collect::<Vec<String>>())
    };
    for game in registry::GAMES.iter().map(|game| &*game.info.name) {
        if game != "judging" {
            let (rounds, names) = series(game, 4, json!({}));
            assert!(rounds == 1 || !names.is_empty(), "{game}");
        }
    }
    // As many rounds as players: numbers by seat are no numbers by round.
    let (_, days) = series("water_allocation", 3, json!({ "rounds": 3 }));
    assert_eq!(days, ["living", "minimum bid", "rsr", "supply"]);
    let (_, contest) = series("beauty_contest", 3, json!({ "rounds": 3 }));
    assert_eq!(contest, ["distance", "mean", "sd"]);
    let (_, auction) = series("second_price_auction", 3, json!({ "rounds": 3 }));
    assert_eq!(auction, ["distance", "prices"]);
}

#[test]
fn record_of_other_rules_is_shown_with_answers_after_events() {
    let viewing = guessing();
    let mut record = (**viewing.record()).clone();
    record.spec.rules_version += 1;
    let viewing = Viewing::new(Arc::new(record));
    let steps = viewing.from(0, 100, None);
    assert_eq!(steps.len(), 7);
    assert!(steps[..4].iter().all(|shown| shown.step.kind != "answers"));
    let head = viewing.head();
    assert!(head.notes[0].contains("other rules"), "{:?}", head.notes);
}

/// A line of a record in which each answer is one of a model; the second one of seat 0 came after two
/// that were refused, and after each it thought.
fn line_of_models() -> String {
    let seats: &[(&str, &[f64])] = &[("a", &[30.0, 20.0]), ("b", &[60.0])];
    let table = Table {
        game: "guess_two_thirds",
        params: json!({ "rounds": 3 }),
        setting: json!({}),
        seats,
        repeat: 0,
    };
    let settings = vec![json!({ "strategy": "specified", "answers": [30] }); 2];
    let mut record: Value = serde_json::from_str(&table.line(settings, Vec::new())).unwrap();
    record["moves"][2]["fouls"] = json!([
        { "kind": "unreadable", "reason": "there is no number" },
        { "kind": "out_of_range", "reason": "at most 100" },
    ]);
    record["outcome"]["fouls"][0] = json!({ "unreadable": 1, "out_of_range": 1 });
    let decision = |seat: usize, index: usize, purpose: &str, reply: &str| {
        json!({
            "seat": seat, "index": index, "purpose": purpose, "request": "00", "answered_by": "m",
            "finish_reason": "stop", "reply": reply, "reasoning": "hm", "applied": { "top_p": 0.5 },
        })
    };
    let said = [
        ("act", "first"),
        ("plan", "thinks"),
        ("act", "I say \"nothing\"\n"),
        ("act", "101"),
        ("act", "30"),
        ("act", "30"),
    ];
    let of_first = said.iter().enumerate();
    let of_first = of_first.map(|(index, (purpose, reply))| decision(0, index, purpose, reply));
    let of_second = (0..3).map(|index| decision(1, index, "act", "60"));
    record["decisions"] = of_first.chain(of_second).collect();
    record.to_string()
}

#[test]
fn session_without_what_models_said_is_shown_as_with_it() {
    let line = line_of_models();
    let record = StoredRecord::from_line(&line).unwrap();
    let whole = Viewing::new(Arc::new(record));
    let (brief, bytes) = Viewing::read(&line).unwrap();
    assert!(bytes > 0);
    assert_eq!(told(&brief.head()), told(&whole.head()));
    for viewer in [None, Some(0), Some(1)] {
        let shown = told(&brief.from(0, 100, viewer));
        assert_eq!(shown, told(&whole.from(0, 100, viewer)));
        let refused = shown
            .to_string()
            .contains("\"said\":\"I say \\\"nothing\\\"\\n\"");
        assert_eq!(refused, viewer != Some(1), "{shown}");
        let found = brief.search("nothing", viewer, 10);
        assert_eq!(found, whole.search("nothing", viewer, 10));
    }
    let kept = brief.record().decisions.iter().map(|one| &*one.reply);
    let kept: Vec<&str> = kept.filter(|reply| !reply.is_empty()).collect();
    assert_eq!(kept, ["I say \"nothing\"\n", "101"], "and nothing else");
}

#[test]
fn line_that_is_no_record_is_refused_with_the_same_words_however_it_is_read() {
    let line = line_of_models();
    let newer = line.replace("\"agon_record\":1", "\"agon_record\":99");
    let without = line.replace("\"purpose\"", "\"about\"");
    let strange = line.replace("\"reply\":\"101\"", "\"reply\":101");
    for broken in [
        &line[1..],
        &newer,
        &without,
        &strange,
        &line.replace("\"seat\":1", "\"seat\":7"),
    ] {
        let whole = StoredRecord::from_line(broken).unwrap_err();
        let brief = Viewing::read(broken).map(|_| ()).unwrap_err();
        assert_eq!(brief.to_string(), whole.to_string());
    }
}

#[test]
fn head_says_who_sat_where_and_what_came_of_it() {
    let head = told(&guessing().head());
    assert_eq!(head["game"], "guess_two_thirds");
    assert_eq!(
        head["setting"],
        json!([{ "name": "ratio", "value": "0.5" }])
    );
    assert_eq!(head["seats"][1]["player"], "b");
    assert_eq!(head["seats"][1]["plays"], "specified");
    assert!(head["seats"][0]["payoff"].as_f64().is_some());
    let series = head["series"].as_array().unwrap();
    let mean = series
        .iter()
        .find(|one| one["values"] == json!([45.0, 40.0, 45.0]));
    assert_ne!(mean, None::<&Value>, "{series:?}");
}

#[test]
fn turns_of_a_record_make_no_more_steps_than_it_has_answers() {
    let mut record = (**guessing().record()).clone();
    record.spec.rules_version += 1;
    record.moves.last_mut().unwrap().turn = 4_000_000_000;
    record.events.clear();
    let viewing = Viewing::new(Arc::new(record));
    let steps = viewing.from(0, 100, None);
    let turns: Vec<u32> = steps.iter().map(|shown| shown.step.turn).collect();
    assert_eq!(turns, [1, 2, 3, 4_000_000_000]);
}

#[test]
fn tables_of_long_sessions_hold_the_last_targets_only() {
    let record = Table {
        game: "guess_two_thirds",
        params: json!({ "rounds": 400 }),
        setting: json!({}),
        seats: &[("a", &[30.0]), ("b", &[60.0])],
        repeat: 0,
    }
    .played();
    let viewing = Viewing::new(Arc::new(record));
    let last = told(&viewing.from(viewing.steps() - 1, 1, None));
    let drift = last[0]["board"]["scene"]["drift"].as_array().unwrap();
    assert_eq!(drift.len(), 100);
    assert_eq!(drift[99]["round"], 400);
}

#[test]
fn table_of_a_seat_in_play_is_that_of_its_record() {
    let games = registry::GAMES.iter().map(|game| &*game.info.name);
    for game in games.filter(|game| *game != "judging") {
        let table = Table {
            game,
            params: json!({}),
            setting: json!({}),
            seats: &[("a", &[]), ("b", &[]), ("c", &[])],
            repeat: 3,
        };
        let record = table.played_by(&vec![json!({ "strategy": "random" }); 3]);
        let viewing = Viewing::new(Arc::new(record));
        let record = viewing.record();
        for seat in 0..3 {
            let mut seen = SeatView::new(game, seat, 3);
            let view = View::new(seat, &record.events);
            let sights: Vec<SeenEvent> = view.sights().map(|sight| sight.to_event()).collect();
            seen.see(&sights);
            // As it travels.
            let sent = serde_json::to_string(&seen).unwrap();
            let live = Live::of(&serde_json::from_str(&sent).unwrap());
            assert_eq!(live, viewing.live(seat), "{game}, seat {seat}");
            let steps = viewing.from(0, usize::MAX, Some(seat));
            let mut steps = steps
                .iter()
                .filter(|step| !["answers", "unseen"].contains(&&*step.step.kind));
            let says: Vec<&str> = steps.clone().map(|step| &*step.step.says).collect();
            let told: Vec<&str> = live.told.iter().map(|told| &*told.says).collect();
            assert_eq!(told, says, "{game}, seat {seat}");
            let last = steps.next_back().unwrap();
            assert_eq!(live.board, last.board, "{game}, seat {seat}");
        }
    }
}
