//! Predictions in replies of every kind, what is no prediction, and that no prediction is
//! taken for an answer.
//! No model is called.

use agon_engine::{Ask, AskRole, Form, Name};
use serde_json::{Value, json};

use super::*;

const ASK: Ask = Ask {
    seat: 0,
    kind: Name::Borrowed("choice"),
    role: AskRole::Guess,
    form: Form::integer(1, 100),
    foul_allowance: 3,
};

fn said_as(text: &str) -> Reply {
    Reply {
        text: text.to_owned(),
        finish_reason: "stop".to_owned(),
    }
}

fn read(in_words: bool, reply: &str) -> Value {
    let rivals = [(1, "player_1"), (2, "player_2"), (12, "player_12")];
    let rivals = rivals.map(|(seat, name)| (seat, name.to_owned()));
    let read = said::predictions(&ASK, &rivals, in_words, &said_as(reply));
    json!(read.into_values().collect::<Vec<Value>>())
}

#[test]
fn predictions_are_found_in_objects_rows_and_lines() {
    let all = json!([30, 41, 7]);
    for reply in [
        r#"{"predictions": {"player_1": 30, "player_2": "41", "player_12": 7}, "choice": 20}"#,
        r#"Well: ```json
{"predictions": {"Player 1": 30, "Player 2": "I expect 41", "player_12": 7}, "choice": 20}```"#,
        r#"{"predictions": [{"player": "player_1", "choice": 30}, {"player": "player_2", "choice": 41},
            {"name": "player_12", "guess": 7}], "choice": 20}"#,
        "player_1: 30\nplayer_2: 41\nplayer_12: 7\nMy choice is 20.",
        "- **player_1**: 30\n- **player_2** - I think 41.\n3. no\n* Player 12 = 7\n\nI choose 20.",
    ] {
        assert_eq!(read(false, reply), all, "{reply}");
    }
}

#[test]
fn what_cannot_be_read_is_null() {
    for (reply, expected) in [
        ("My choice is 20.", json!([null, null, null])),
        ("", json!([null, null, null])),
        // Out of range, a word, and somebody who does not play.
        (
            r#"{"predictions": {"player_1": 300, "player_2": "high", "player_9": 3}, "choice": 20}"#,
            json!([null, null, null]),
        ),
        ("player_12: 7\nMy choice is 20.", json!([null, null, 7])),
        (
            r#"{"predictions": 5, "choice": 20}"#,
            json!([null, null, null]),
        ),
    ] {
        assert_eq!(read(false, reply), expected, "{reply}");
    }
}

#[test]
fn where_others_answer_something_else_words_are_kept() {
    let reply = "player_1: shoots at me\nplayer_2: holds fire\nI shoot at player_1.";
    assert_eq!(
        read(true, reply),
        json!(["shoots at me", "holds fire", null])
    );
    let long = "x".repeat(1_000);
    let read = read(
        true,
        &format!(r#"{{"predictions": {{"player_1": "{long}"}}}}"#),
    );
    assert_eq!(read[0].as_str().unwrap().len(), 200);
}

fn answer(reply: &str) -> Result<(Action, &'static str), String> {
    let rivals = ["player_1", "player_2", "player_12"].map(str::to_owned);
    let read = reading::read_among(&ASK, &rivals, &said_as(reply));
    let read = read.map(|reading| (reading.action, reading.found_in.name()));
    read.map_err(|foul| foul.reason)
}

#[test]
fn the_answer_is_what_is_no_prediction() {
    let found = |number, place| Ok((Action::Integer(number), place));
    for (reply, expected) in [
        (
            r#"{"predictions": {"player_1": 30}, "choice": 20}"#,
            found(20, "structured"),
        ),
        (
            r#"So: {"predictions": {"player_1": 30}, "choice": 20}"#,
            found(20, "embedded"),
        ),
        (
            r#"{"predictions": [{"player": "player_1", "choice": 30}], "answer": 20}"#,
            found(20, "embedded"),
        ),
        (
            r#"{"predictions": [{"player": "player_1", "choice": 30}]} My choice is 20."#,
            found(20, "prose"),
        ),
        (
            "player_1: 30\nplayer_2: 41\nMy choice is 20.",
            found(20, "prose"),
        ),
        ("player_1: 30\n**Player 2** - 41\n20", found(20, "prose")),
        ("Player_1 will go high, so I choose 21.", found(21, "prose")),
    ] {
        assert_eq!(answer(reply), expected, "{reply}");
    }
}

#[test]
fn predictions_alone_are_no_answer() {
    for reply in [
        r#"{"predictions": {"player_1": 30, "player_2": 40}}"#,
        r#"{"predictions": [{"player": "player_1", "choice": 30}]}"#,
        // What others might say of the seat itself is not what it says.
        r#"{"predictions": {"player_0": 30}}"#,
        "Here: ```json\n{'predictions': {'player_1': 30, 'choice': 12}}\n```",
        "player_1: 30\nplayer_2: 41\nplayer_12: 7",
        "Let me see.\n- player_1: 30",
    ] {
        assert!(answer(reply).is_err(), "{reply}: {:?}", answer(reply));
    }
}

#[test]
fn of_names_that_begin_alike_the_longest_is_meant() {
    let rivals = [(1, "Mary"), (2, "Mary Ann")];
    let rivals = rivals.map(|(seat, name)| (seat, name.to_owned()));
    let reply = said_as("Mary: 20\nMary Ann: 30\nI say 10.");
    let predicted = said::predictions(&ASK, &rivals, false, &reply);
    let predicted: Vec<_> = predicted.into_values().collect();
    assert_eq!(json!(predicted), json!([20, 30]));
}

/// What a reply predicts of Bob, Cindy and Eric, and what it answers, where all have names.
fn named(reply: &str) -> (Value, Option<i64>) {
    let ask = Ask {
        kind: "bid".into(),
        role: AskRole::Bid,
        ..ASK
    };
    let rivals = [(1, "Bob"), (2, "Cindy"), (4, "Eric")];
    let rivals = rivals.map(|(seat, name)| (seat, name.to_owned()));
    let names = rivals.clone().map(|(_, name)| name);
    let predicted = said::predictions(&ask, &rivals, false, &said_as(reply));
    let answer = reading::read_among(&ask, &names, &said_as(reply));
    let answer = answer.ok().map(|reading| match reading.action {
        Action::Integer(number) => number,
        other => panic!("{other:?}"),
    });
    (json!(predicted.into_values().collect::<Vec<_>>()), answer)
}

#[test]
fn a_prediction_is_never_the_seats_own_answer() {
    let three = json!([30, 31, 9]);
    let one = json!([30, null, null]);
    for (reply, predicted, own) in [
        (r#"{"Predictions": {"Bob": 30}}"#, &one, None),
        (r#"{"Predictions": {"Bob": 30}, "Bid": 12}"#, &one, Some(12)),
        (
            "```json\n{\"predictions\": {\"Bob\": {\"bid\": 30}, \"Cindy\": {\"bid\": 31}, \"Eric\": {\"bid\": 9}}, \"bid\": null}\n```",
            &three,
            None,
        ),
        (
            r#"{"predictions": {"Bob": {"bid": 30}}, "bid": "unsure"}"#,
            &one,
            None,
        ),
        (
            r#"{"answer": {"predictions": {"Bob": {"bid": 30}}}}"#,
            &one,
            None,
        ),
        (
            r#"{"predictions": {"Bob": 30}} {"bid": 12}"#,
            &one,
            Some(12),
        ),
        // Without the field, or cut off within it.
        (
            r#"{"Bob": {"bid": 30}, "Cindy": {"bid": 31}, "Eric": {"bid": 9}}"#,
            &three,
            None,
        ),
        (
            r#"[{"player": "Bob", "bid": 30}, {"player": "Cindy", "bid": 31}, {"player": "Eric", "bid": 9}]"#,
            &three,
            None,
        ),
        (r#"Predictions: {"Bob": 30}. I bid 12."#, &one, Some(12)),
        (
            r#"{"predictions": {"Cindy": {"bid": 31}, "Eric": {"bid": 9}, "Bob": "#,
            &json!([null, null, null]),
            None,
        ),
        // Lines, tables, sentences.
        (
            "Bob's bid: 30\nCindy\u{2019}s bid: 31\nEric's bid: 9",
            &three,
            None,
        ),
        (
            "| Player | Bid |\n|---|---|\n| Bob | 30 |\n| Cindy | 31 |\n| Eric | 9 |",
            &three,
            None,
        ),
        (
            "| Bob | 30 |\n| Cindy | 31 |\n| Eric | 9 |\n\nMy bid is 12.",
            &three,
            Some(12),
        ),
        (
            "1. Bob: 30\n2) Cindy: 31\n| 3 | Eric | 9 |\nI bid 12.",
            &three,
            Some(12),
        ),
        (
            "Bob will bid 30. Cindy bids 31. Eric bids 9. I bid 12.",
            &three,
            Some(12),
        ),
        ("Bob bid: 30. I bid 12.", &one, Some(12)),
        ("Bob: {\"bid\": 30}\nI bid 12.", &one, Some(12)),
        ("Bob: 30\n{\"bid\": 12}", &one, Some(12)),
        ("Bob will bid 30, so I bid 12.", &one, Some(12)),
        // Clauses are read where the whole tells of something else, and must agree.
        ("Bob: has little left, maybe 30\nI bid 12.", &one, Some(12)),
        (
            "Bob: has little left, maybe 30, maybe 31\nI bid 12.",
            &json!([null, null, null]),
            Some(12),
        ),
    ] {
        assert_eq!(named(reply), (predicted.clone(), own), "{reply}");
    }
}

#[test]
fn predictions_are_found_behind_thoughts_and_numbers() {
    for (reply, predicted, own) in [
        (
            "1. player_1: 30\n2. player_2: 40\n3. player_12: 7\nI choose 25.",
            json!([30, 40, 7]),
            25,
        ),
        (
            "<think>{\"predictions\": {\"player_1\": 9}, \"choice\": 3}</think>\nplayer_1: 30\nI choose 12.",
            json!([30, null, null]),
            12,
        ),
        (
            "<think>player_1: 9\nI choose 3.</think>\n{\"predictions\": {\"player_1\": 30}, \"choice\": 12}",
            json!([30, null, null]),
            12,
        ),
        (
            r#"{"predictions": {"player_1": 30}, "reason": "<think>", "choice": 12}"#,
            json!([30, null, null]),
            12,
        ),
    ] {
        assert_eq!(read(false, reply), predicted, "{reply}");
        let action = answer(reply).map(|(action, _)| action);
        assert_eq!(action, Ok(Action::Integer(own)), "{reply}");
    }
}

#[test]
fn a_division_among_all_is_the_seats_own() {
    let ask = Ask {
        kind: "proposal".into(),
        role: AskRole::Proposal,
        form: Form::Division {
            parts: 3,
            total: 100,
        },
        ..ASK
    };
    let rivals = ["player_1", "player_2"].map(str::to_owned);
    let proposal = r#"{"player_0": 50, "player_1": 30, "player_2": 20}"#;
    for reply in [
        format!(r#"{{"predictions": {{"player_1": "votes for it"}}, "proposal": {proposal}}}"#),
        format!("player_1: votes for it\n{proposal}"),
    ] {
        let read = reading::read_among(&ask, &rivals, &said_as(&reply));
        let action = read.map(|reading| reading.action).ok();
        assert_eq!(action, Some(Action::Division(vec![50, 30, 20])), "{reply}");
    }
}

#[test]
fn names_are_those_of_the_game_whatever_is_in_them() {
    let rivals = [(1, "Mr. Lee"), (2, "Zoë")].map(|(seat, name)| (seat, name.to_owned()));
    let names = rivals.clone().map(|(_, name)| name);
    for reply in [
        "Mr. Lee: 30\n2. zoë: 41\nI choose 20.",
        "Mr. Lee will choose 30. Zoë chooses 41. I choose 20.",
        r#"{"predictions": {"mr. lee": 30, "Zoë": {"Choice": 41}}, "choice": 20}"#,
    ] {
        let predicted = said::predictions(&ASK, &rivals, false, &said_as(reply));
        let predicted: Vec<Value> = predicted.into_values().collect();
        assert_eq!(predicted, [json!(30), json!(41)], "{reply}");
        let answer = reading::read_among(&ASK, &names, &said_as(reply));
        let action = answer.map(|reading| reading.action).ok();
        assert_eq!(action, Some(Action::Integer(20)), "{reply}");
    }
}

#[test]
fn long_replies_break_nothing_however_odd() {
    const PIECES: [&str; 12] = [
        "\"predictions\": {",
        "\"predictions\": {}, ",
        "{\"predictions\": {\"player_1\": 3}}",
        "{\"player_1\": ",
        "player_1: ",
        "player_1 ",
        "player_1. ",
        "| player_1 | 3 |\n",
        "1. player_1's \u{f0000}: 3\n",
        "I. ",
        "é\u{2019}s - ",
        "predictions: [",
    ];
    for piece in PIECES {
        let reply = piece.repeat(100_000 / piece.len());
        let predicted = read(false, &reply);
        assert_eq!(predicted.as_array().map(Vec::len), Some(3), "{piece}");
        assert!(answer(&reply).is_err(), "{piece}: {:?}", answer(&reply));
    }
}
