//! Replies to auction agents: tables of malformed and odd ones under `replies/`,
//! each with what must come of it, and hostile ones made here. No reply panics;
//! every one is read, asked for again with a reason, or a foul.

use agon_engine::{Action, Ask, AskRole, Form};
use proptest::prelude::*;

use super::*;
use crate::agents::auction::beliefs;
use crate::mind::Reply;
use crate::notes::Status;
use crate::reading::json::Json;
use crate::reading::whole_number;

pub mod table;

/// Rows that the three tables must have together.
const FEWEST_ROWS: usize = 300;

const WANTED: [&str; 3] = ["Widget A", "Gadget B", "Doodad D"];
const PAST: [&str; 1] = ["Mechanism J"];

fn reply(text: &str, finish_reason: &str) -> Reply {
    Reply {
        text: text.to_owned(),
        finish_reason: finish_reason.to_owned(),
    }
}

fn ask(least: i64, most: i64) -> Ask {
    Ask {
        seat: 0,
        kind: "bid".into(),
        role: AskRole::Bid,
        form: Form::Integer {
            min: Some(least),
            max: Some(most),
            pass: Some("withdraw".into()),
        },
        foul_allowance: 3,
    }
}

/// Goes through a table: calls `check` with what is expected and the reply, which
/// says what it came to when that is something else. Returns the number of rows.
fn rows(table: &str, mut check: impl FnMut(&str, &Reply) -> Result<(), String>) -> usize {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let expected = fields.next().unwrap();
        let text = fields.next().unwrap_or_default().replace("\\n", "\n");
        let reply = reply(&text, fields.next().unwrap_or("stop"));
        count += usize::from(expected != "@");
        if let Err(found) = check(expected, &reply) {
            wrong.push(format!("{text:?}: expected {expected}, found {found}"));
        }
    }
    let failed = wrong.len();
    assert!(
        wrong.is_empty(),
        "{failed} of {count} rows:\n{}",
        wrong.join("\n")
    );
    count
}

/// Compares what a reply came to: a value, or a reason that must hold a word.
fn settle(expected: &str, found: Result<String, String>) -> Result<(), String> {
    match (expected.strip_prefix("again "), &found) {
        (None, Ok(value)) if value == expected => Ok(()),
        (Some(word), Err(reason)) if reason.contains(word) => Ok(()),
        (_, found) => Err(format!("{found:?}")),
    }
}

fn check_bids() -> usize {
    let mut open = ask(1000, 20_000);
    rows(include_str!("replies/bids.tsv"), |expected, reply| {
        if expected == "@" {
            let (least, most) = reply.text.split_once(' ').unwrap();
            open = ask(least.parse().unwrap(), most.parse().unwrap());
            return Ok(());
        }
        let read = read_bid(&open, reply).read;
        let legal = matches!(&read, Ok(action) if open.form.check(action).is_ok());
        match (&read, expected.strip_prefix("foul ")) {
            (Ok(action), Some(word)) => match open.form.check(action) {
                Err(foul) if foul.reason.contains(word) => Ok(()),
                other => Err(format!("{action:?}, {other:?}")),
            },
            (Ok(Action::Pass), None) => settle(expected, Ok("withdraw".to_owned())),
            (Ok(Action::Integer(bid)), None) if legal => settle(expected, Ok(bid.to_string())),
            (Err(foul), None) => settle(expected, Err(foul.reason.clone())),
            (read, _) => Err(format!("{read:?}")),
        }
    })
}

fn check_plans() -> usize {
    rows(include_str!("replies/plans.tsv"), |expected, reply| {
        let read = plan::read(reply, &WANTED, &PAST);
        let found = read.map(|plan| {
            let numbers: Vec<String> = plan.of.iter().map(i64::to_string).collect();
            let past = if plan.past.is_empty() { "" } else { " past" };
            numbers.join(",") + past
        });
        settle(expected, found)
    })
}

/// The picture that the table of beliefs is about.
fn picture() -> Picture {
    let standing = |seat: usize, profit: i64, won: &[(&str, i64)]| Standing {
        name: agon_engine::game::player_name(seat),
        profit,
        spent: won.iter().map(|(_, bid)| bid).sum(),
        won: won
            .iter()
            .map(|(item, bid)| ((*item).to_owned(), *bid))
            .collect(),
    };
    let item = |name: &str| Item {
        name: name.to_owned(),
        starting_price: 1000,
        estimate: 2200,
        description: None,
        size: None,
        location: None,
        rounds: Vec::new(),
        outcome: None,
    };
    Picture {
        players: 3,
        place: 2,
        budget: 18_800,
        items: ["Widget A", "Gadget B", "Doodad D"].map(item).to_vec(),
        standings: vec![
            standing(0, 800, &[("Widget A", 1200)]),
            standing(1, 0, &[]),
            standing(2, -500, &[("Gadget B", 6500)]),
        ],
        ..Picture::new(0)
    }
}

fn check_beliefs() -> usize {
    let picture = picture();
    let truth = Status::truth(&picture);
    rows(include_str!("replies/beliefs.tsv"), |expected, reply| {
        let read = Status::read(reply, &picture).map(|status| {
            let mistakes = status.mistakes(&truth, "player_0", 1);
            let word = |value: serde_json::Value| value.as_str().unwrap().to_owned();
            let words = mistakes.iter().flat_map(|mistake| {
                let mistake = serde_json::to_value(mistake).unwrap();
                [
                    word(mistake["kind"].clone()),
                    word(mistake["about"].clone()),
                ]
            });
            let words: Vec<String> = words.collect();
            if words.is_empty() {
                "right".to_owned()
            } else {
                format!("wrong {}", words.join(" "))
            }
        });
        settle(expected, read)
    })
}

#[test]
fn bad_replies_end_in_a_parse_a_reason_or_a_foul() {
    let rows = [check_bids(), check_plans(), check_beliefs()];
    assert!(rows.iter().sum::<usize>() >= FEWEST_ROWS, "{rows:?}");
    assert!(rows.iter().all(|rows| *rows >= 50), "{rows:?}");
}

#[test]
fn replies_that_were_cut_off_or_withheld_say_so() {
    for (finish_reason, word) in [("length", "cut off"), ("refusal", "withheld")] {
        let read = read_bid(&ask(1, 9), &reply("I bid", finish_reason)).read;
        assert!(read.unwrap_err().reason.contains(word));
    }
    // What was complete before the end counts.
    let read = read_bid(&ask(1, 9), &reply("{\"bid\": 7} and", "length")).read;
    assert_eq!(read, Ok(Action::Integer(7)));
}

#[test]
fn what_was_said_stands_in_the_note_as_it_was_said() {
    for (text, said, read) in [
        (r#"{"bid": "$1,200"}"#, "\"$1,200\"", "1200"),
        (r#"{"bid": 900}"#, "900", "900"),
        (r#"{"bid": "I'm out!"}"#, "\"withdraw\"", "\"withdraw\""),
        (r#"{"bid": "lots"}"#, "\"lots\"", "null"),
        ("I bid $1,200!", "1200", "1200"),
        ("Hm.", "null", "null"),
    ] {
        let open = ask(1000, 20_000);
        let note = read_bid(&open, &reply(text, "stop")).note(3, 2, Some("too low"));
        assert_eq!(note.said.to_string(), said, "{text}");
        assert_eq!(note.read.to_string(), read, "{text}");
        assert_eq!((note.item, note.round), (3, 2));
        assert_eq!(note.problem.as_deref(), Some("too low"));
    }
}

#[test]
fn schemas_are_json_and_name_every_item_and_bidder() {
    let odd = ["Widget \"A\"", "Haus\\Garten", "家"];
    let schema: serde_json::Value = serde_json::from_str(&plan::schema(&odd)).unwrap();
    let names = &schema["properties"]["priorities"]["required"];
    assert_eq!(names, &serde_json::json!(odd));
    let schema: serde_json::Value = serde_json::from_str(&beliefs::schema(&picture())).unwrap();
    assert_eq!(
        schema["properties"]["winning_bids"]["properties"]["player_1"]["items"]["properties"]["item"]
            ["enum"],
        serde_json::json!(["Widget A", "Gadget B"])
    );
}

/// Scraps that replies are made of, in any order.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        ":",
        ",",
        "\n",
        " ",
        "\\",
        "\\u12",
        "bid",
        "\"bid\"",
        "i'm out",
        "I bid $",
        "withdraw",
        "1200",
        "-",
        "(",
        ")",
        "9999999999999999999999",
        "1e999",
        "2.5k",
        "k",
        "twelve hundred",
        "1 200",
        "\u{202f}200",
        "and",
        "thousand",
        "Widget A",
        "\"Gadget B\"",
        "priority",
        "remaining_budget",
        "total_profits",
        "winning_bids",
        "player_0",
        "null",
        "```json",
        "é",
        "１２",
        "🎉",
        "<think>",
        "</think>",
        "\u{0}",
        "$",
        "€",
    ]);
    prop::collection::vec(scrap, 0..60).prop_map(|scraps| scraps.concat())
}

fn read_all(text: &str, finish_reason: &str) {
    let reply = reply(text, finish_reason);
    let open = ask(1000, 20_000);
    if let Err(foul) = read_bid(&open, &reply).read {
        assert!(!foul.reason.is_empty());
    }
    match plan::read(&reply, &WANTED, &PAST) {
        Ok(plan) => assert!(plan.of.len() == 3 && plan.of.iter().all(|one| (1..=3).contains(one))),
        Err(reason) => assert!(!reason.is_empty()),
    }
    let picture = picture();
    match Status::read(&reply, &picture) {
        Ok(status) => {
            let mistakes = status.mistakes(&Status::truth(&picture), "player_0", 1);
            assert!(mistakes.len() <= Status::facts(&picture));
        }
        Err(reason) => assert!(!reason.is_empty()),
    }
}

proptest! {
    #[test]
    fn no_scraps_of_a_reply_panic(text in scraps(), cut in any::<bool>()) {
        read_all(&text, if cut { "length" } else { "stop" });
    }

    #[test]
    fn no_text_at_all_panics(text in any::<String>()) {
        read_all(&text, "stop");
    }

    #[test]
    fn amounts_are_read_back(amount in -1_000_000_000_i64..1_000_000_000) {
        for text in [amount.to_string(), format!("${amount}")] {
            prop_assert_eq!(whole_number(&Json::String(text)), Some(amount));
        }
        prop_assert_eq!(whole_number(&Json::Number(amount.into())), Some(amount));
    }
}

#[test]
fn long_hostile_replies_are_read() {
    const LETTERS: usize = 100_000;
    for piece in [
        "{",
        "[{\"bid\":",
        "i'm out ",
        "one hundred thousand and ",
        "$1,",
        "Widget A: 3\n",
        "{\"Widget A\": 3} ",
    ] {
        read_all(&piece.repeat(LETTERS / piece.len()), "stop");
    }
}
