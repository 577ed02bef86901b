//! Claims about told sessions: the whole of an auction as its golden file says, nothing
//! told to a seat that it could not see, and no panic on a record of other rules.

use agon_engine::record::{Record, StoredRecord};
use agon_engine::session::open;
use agon_engine::{
    Action, Carried, CarriedNote, Foul, FoulKind, Luck, PlayerKind, PlayerSpec, Reaction,
    RecordedDecision, SeatNote, SessionSpec, registry,
};
use serde_json::{Value, json};

use super::{Telling, for_judges, name_in_game, seat_as_json, tell, tell_last};
use crate::testing::golden;

/// Everything that there is to tell.
const EVERYTHING: Telling = Telling {
    seat: None,
    plans: true,
    beliefs: true,
    said: true,
    replies: false,
    anonymous: false,
};

fn player(name: &str, kind: PlayerKind, settings: Value) -> PlayerSpec {
    let settings = serde_json::from_value(settings).unwrap();
    let name = name.to_owned();
    PlayerSpec {
        name,
        kind,
        settings,
    }
}

fn spec(game: &str, params: Value, seats: Vec<PlayerSpec>) -> SessionSpec {
    let registration = registry::find(game).unwrap();
    let params = serde_json::from_value(params).unwrap();
    SessionSpec {
        experiment: "told".to_owned(),
        setting: serde_json::from_value(json!({ "label": "small" })).unwrap(),
        luck: Luck::new(3, 1),
        game: game.to_owned(),
        outside: None,
        rules_version: registration.info.rules_version,
        params: registration.build(&params).unwrap().params,
        seats,
        prompts_version: None,
        prompt_bundle: None,
        origins: Default::default(),
    }
}

fn stored(record: &Record) -> StoredRecord {
    StoredRecord::from_line(&record.to_line().unwrap()).unwrap()
}

/// Three items: one fought for after two refused bids, one that needs a discount and
/// a draw, one that nobody wants.
fn auction() -> StoredRecord {
    let params = json!({
        "players": 3, "budget": [2000, 2500, 3000], "discount_unsold": true,
        "discount_rounds": 1, "foul_allowance": 1,
        "items": [
            { "name": "Clock", "starting_price": 1000, "true_value": 1500,
              "description": "a clock\nthat \u{1b}[31mticks" },
            { "name": "Vase", "starting_price": 1100, "true_value": 700 },
            { "name": "Stone", "starting_price": 5000, "true_value": 10 },
        ],
    });
    let limited = json!({ "strategy": "specified", "answers": [1000] });
    let spec = spec(
        "english_auction",
        params,
        vec![
            player(
                "planner",
                PlayerKind::Model,
                json!({ "model": "m", "temperature": 0.5 }),
            ),
            player("planner", PlayerKind::Model, json!({ "model": "m" })),
            player("fixed", PlayerKind::Rule, limited),
        ],
    );
    let mut play = open(&spec).unwrap();
    let low = || Ok(Action::Integer(1));
    let script: Vec<(usize, Result<Action, Foul>)> = vec![
        (0, low()),
        (0, Ok(Action::Integer(1000))),
        (1, Ok(Action::Integer(1200))),
        (0, Ok(Action::Integer(1300))),
        (
            1,
            Err(Foul::new(FoulKind::Unreadable, "no bid could be found")),
        ),
        (1, low()),
        (0, Ok(Action::Pass)),
        (1, Ok(Action::Pass)),
        (0, Ok(Action::Pass)),
        (1, Ok(Action::Integer(1000))),
    ];
    let mut decisions = Vec::new();
    let mut next = [0, 0];
    for (seat, answer) in script {
        let reply = format!("reply {} of seat {seat}", next[seat]);
        decisions.push(decision(seat, next[seat], reply));
        next[seat] += 1;
        assert_ne!(play.answer(seat, answer), Reaction::NotAsked);
    }
    while !play.is_finished() {
        let seat = play.waiting().next().unwrap().seat;
        decisions.push(decision(seat, next[seat], "I withdraw".to_owned()));
        next[seat] += 1;
        play.answer(seat, Ok(Action::Pass));
    }
    stored(&Record::new(spec, play, decisions, notes()))
}

fn decision(seat: usize, index: u32, reply: String) -> RecordedDecision {
    RecordedDecision {
        seat,
        index,
        purpose: "bid".to_owned(),
        request: "0".repeat(64),
        model: None,
        answered_by: "m".to_owned(),
        finish_reason: "stop".to_owned(),
        reply,
        reasoning: String::new(),
        applied: None,
        logprobs: Vec::new(),
        simulated: false,
    }
}

fn notes() -> Vec<SeatNote> {
    let note = |seat, turn, kind: &str, body| SeatNote {
        seat,
        turn,
        note: kind.to_owned(),
        body,
    };
    vec![
        note(
            0,
            1,
            "plan",
            json!({ "at_item": 0, "priorities": [3, 2, 1], "tries": 2,
            "strategy": "Win the Clock.\nThen wait.", "source": "model" }),
        ),
        note(
            0,
            1,
            "profile",
            json!({ "after_item": 0, "about": 1, "source": "model",
            "weights": { "collector": 0.0, "dealer": 0.0 } }),
        ),
        note(
            0,
            2,
            "strategy",
            json!({ "item": 0, "round": 2, "choice": "B",
            "uses_profile": true, "reason": "player_1 is a dealer" }),
        ),
        note(
            0,
            2,
            "prediction",
            json!({ "item": 0, "about": 1, "wants": true,
            "detail": "it always bids" }),
        ),
        note(
            0,
            3,
            "belief",
            json!({ "after_item": 1,
            "believed": { "remaining_budget": 700, "total_profits": { "player_1": 200 },
                "winning_bids": { "player_1": { "Clock": 1300 } } },
            "truth": { "remaining_budget": 700, "total_profits": { "player_1": 0 },
                "winning_bids": { "player_1": { "Clock": 1300 } } },
            "errors": [{ "try": 1, "kind": "budget", "about": "self", "detail": "700, not 800" }],
            "checked": 3, "wrong": 2, "tries": 2, "corrected": false }),
        ),
        note(
            0,
            3,
            "plan",
            json!({ "at_item": 1, "priorities": [null, 2, 1], "tries": 3,
            "strategy": null, "source": "kept" }),
        ),
        note(
            0,
            3,
            "profile",
            json!({ "after_item": 1, "about": 1, "source": "model",
            "weights": { "collector": -0.25, "dealer": 0.5 } }),
        ),
        note(
            0,
            3,
            "prediction",
            json!({ "item": 1, "about": 1,
            "believes": { "collector": 1.0 } }),
        ),
        note(1, 9, "tips", json!({ "tips": ["bid late", "count money"] })),
        note(1, 9, "mood", json!({ "how": "fine" })),
    ]
}

#[test]
fn an_auction_is_told_as_its_golden_file_says() {
    let record = auction();
    golden("auction.txt", &tell(&record, EVERYTHING));
    let own = Telling {
        seat: Some(1),
        ..Telling::default()
    };
    golden("auction_seat_1.txt", &tell(&record, own));
}

#[test]
fn what_was_planned_believed_and_said_is_told_on_request_only() {
    let record = auction();
    let plain = tell(&record, Telling::default());
    assert!(
        plain.contains("refused, unreadable: no bid could be found"),
        "{plain}"
    );
    for word in [
        "plan", "belief", "profile", "expects", "chooses", "said:", "tips", "mood",
    ] {
        // The players are called planners.
        assert!(
            !plain.replace("planner", "").contains(word),
            "{word}: {plain}"
        );
    }
}

#[test]
fn replies_are_told_on_request_and_judges_are_told_them_without_who_plays() {
    let record = auction();
    let reply = &record
        .decisions
        .iter()
        .find(|one| one.seat == 1 && one.purpose == "bid");
    let reply = super::words::one_line(&reply.unwrap().reply);
    let telling = Telling {
        seat: Some(1),
        replies: true,
        ..Telling::default()
    };
    let told = tell(&record, telling);
    let without = tell(
        &record,
        Telling {
            replies: false,
            ..telling
        },
    );
    assert!(told.contains(&format!("said: {reply}")), "{told}");
    assert!(!without.contains(&reply), "{without}");
    let judged = for_judges(&record, 1, Vec::new());
    assert!(judged.contains(&format!("said: {reply}")), "{judged}");
    let player = &record.spec.seats[1].name;
    assert!(
        told.contains(player.as_str()) && !judged.contains(player.as_str()),
        "{judged}"
    );
}

#[test]
fn one_tip_that_was_taken_along_is_told_as_one() {
    let told = |tips: Value| {
        let mut record = auction();
        record.carried = Some(Carried {
            from: record.session.clone(),
            notes: vec![CarriedNote {
                seat: 1,
                note: "tips".to_owned(),
                body: json!({ "tips": tips }),
            }],
        });
        tell(&record, Telling::default())
    };
    let (one, two) = (told(json!(["wait"])), told(json!(["wait", "save"])));
    assert!(one.contains(": 1 tip\n"), "{one}");
    assert!(two.contains(": 2 tips\n"), "{two}");
}

#[test]
fn who_put_a_belief_right_is_told() {
    let told = |source: &str, corrected: bool| {
        let mut record = auction();
        let mut notes = record.notes.iter_mut();
        let belief = notes.find(|note| note.note == "belief").unwrap();
        belief.body["source"] = json!(source);
        belief.body["corrected"] = json!(corrected);
        let text = tell(&record, EVERYTHING);
        let line = text.lines().find(|line| line.contains("belief at the"));
        line.unwrap()
            .rsplit_once("at first, ")
            .unwrap()
            .1
            .to_owned()
    };
    assert_eq!(told("model", true), "corrected by itself");
    assert_eq!(told("model", false), "not corrected");
    let forced = "put right by the auctioneer in the end";
    assert_eq!(told("auctioneer", true), forced);
    assert_eq!(told("kept", true), "the earlier belief is kept");
}

#[test]
fn the_end_is_the_last_item_and_the_personal_reports() {
    let own = Telling {
        seat: Some(1),
        ..Telling::default()
    };
    for telling in [Telling::default(), own] {
        let end = tell_last(&auction(), telling);
        assert!(end.starts_with("Item 3 of 3: Stone"), "{end}");
        assert!(end.contains("Personal reports"), "{end}");
    }
}

#[test]
fn who_is_out_is_told_the_last_turn_that_it_saw() {
    let rule = |settings| player("rule", PlayerKind::Rule, settings);
    let dies = rule(json!({ "strategy": "specified", "answers": [0] }));
    let seats = vec![dies, rule(json!({ "strategy": "equilibrium" }))];
    let params = json!({ "players": 2, "supply_min": 9, "supply_max": 9 });
    let spec = spec("water_allocation", params, seats);
    let play = open(&spec).unwrap();
    let record = stored(&Record::new(spec, play, Vec::new(), Vec::new()));
    let own = |seat| Telling {
        seat: Some(seat),
        ..Telling::default()
    };
    let last = record.moves.last().unwrap().turn;
    let died = record
        .moves
        .iter()
        .rfind(|made| made.seat == 0)
        .unwrap()
        .turn;
    assert!(died < last, "{died} of {last}");
    let end = tell_last(&record, own(0));
    assert!(end.starts_with(&format!("Turn {died}\n")), "{end}");
    let whole = tell(&record, own(0));
    let headings = whole.lines().filter(|line| line.starts_with("Turn "));
    assert_eq!(
        headings.count(),
        died as usize,
        "no heading of a turn without it: {whole}"
    );
    let end = tell_last(&record, own(1));
    assert!(end.starts_with(&format!("Turn {last}\n")), "{end}");
    let told = tell(&record, Telling::default());
    assert!(
        told.contains("eliminated [Alex]") && told.contains("living [Bob]"),
        "{told}"
    );
    assert!(
        told.contains("day opened (to everybody)") && told.contains("(to Bob)"),
        "{told}"
    );
}

#[test]
fn every_game_is_told_turn_by_turn_and_to_its_last_answer() {
    for registration in registry::GAMES {
        let game = registration.build(&Default::default()).unwrap().game;
        let rule = || player("rule", PlayerKind::Rule, json!({ "strategy": "random" }));
        let seats = (0..game.seats()).map(|_| rule()).collect();
        let spec = spec(&registration.info.name, json!({}), seats);
        let play = open(&spec).unwrap();
        let record = stored(&Record::new(spec, play, Vec::new(), Vec::new()));
        let text = tell(&record, EVERYTHING);
        let name = &*registration.info.name;
        assert!(text.contains(&*registration.info.title), "{name}: {text}");
        if name != "english_auction" {
            let last = record.moves.last().unwrap().turn;
            assert!(text.contains(&format!("\nTurn {last}\n")), "{name}: {text}");
            assert!(!text.contains("Answers of turn"), "{name}");
            let answered = record.moves.iter().filter(|made| !made.forfeited).count();
            let names: Vec<String> = (0..record.spec.seats.len())
                .map(|seat| format!("  {} ", name_in_game(&record, seat)))
                .collect();
            let by_somebody = |line: &&str| names.iter().any(|name| line.starts_with(name));
            let told = text.lines().filter(by_somebody);
            // The table at the end has a line per seat as well.
            assert_eq!(
                told.count(),
                answered + record.spec.seats.len(),
                "{name}: {text}"
            );
        }
    }
}

/// No fact of the record that a seat could not see stands in what it is told.
#[test]
fn a_seat_is_told_nothing_that_it_could_not_see() {
    let mut record = auction();
    let telling = Telling {
        seat: Some(1),
        ..EVERYTHING
    };
    let (before, json_before) = (tell(&record, telling), seat_as_json(&record, 1).to_string());
    for event in &mut record.events {
        for (_, hidden) in &mut event.hidden {
            *hidden = agon_engine::Value::Integer(424_242);
        }
        for (_, column) in &mut event.own {
            let entries = (0..column.len()).map(|seat| match seat {
                1 => column.entry(seat),
                _ => agon_engine::Value::Integer(424_242),
            });
            *column = agon_engine::Value::List(entries.collect());
        }
    }
    for made in record.moves.iter_mut().filter(|made| made.seat != 1) {
        made.fouls.clear();
    }
    record.notes.retain(|note| note.seat == 1);
    for (seat, player) in record.spec.seats.iter_mut().enumerate() {
        if seat != 1 {
            *player = self::player("other", PlayerKind::Rule, json!({ "strategy": "x" }));
        }
    }
    assert_eq!(tell(&record, telling), before);
    assert_eq!(seat_as_json(&record, 1).to_string(), json_before);
    assert!(before.contains("no bid could be found"), "{before}");
}

#[test]
fn a_record_of_other_rules_is_told_without_turns() {
    let rule = || {
        player(
            "rule",
            PlayerKind::Rule,
            json!({ "strategy": "equilibrium" }),
        )
    };
    let spec = spec(
        "divide_dollar",
        json!({ "players": 2, "rounds": 2 }),
        vec![rule(), rule()],
    );
    let play = open(&spec).unwrap();
    let mut record = stored(&Record::new(spec, play, Vec::new(), Vec::new()));
    record.spec.rules_version += 1;
    let text = tell(&record, EVERYTHING);
    assert!(text.contains("Answers of turn 2"), "{text}");
    record.spec.game = "chess".to_owned();
    assert!(tell(&record, EVERYTHING).starts_with("chess"));
    // A seat that is none is told nothing, and nothing breaks.
    let nobody = Telling {
        seat: Some(9),
        ..EVERYTHING
    };
    assert!(!tell(&record, nobody).contains("bid 5"));
}
