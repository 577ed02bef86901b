//! Reading of replies: tables of realistic ones under `replies/`, and hostile
//! ones made here.

use agon_engine::{Action, Ask, AskRole, Form, FoulKind};
use proptest::prelude::*;

use super::*;

fn ask(kind: &'static str, seat: usize, form: Form) -> Ask {
    Ask {
        seat,
        kind: kind.into(),
        role: match kind {
            "bid" => AskRole::Bid,
            "contribution" => AskRole::Contribution,
            _ => AskRole::Choice,
        },
        form,
        foul_allowance: 3,
    }
}

fn reply(text: &str) -> Reply {
    Reply {
        text: text.to_owned(),
        finish_reason: "stop".to_owned(),
    }
}

fn guess() -> Ask {
    ask("guess", 3, Form::integer(0, 100))
}

/// The ask of an "@" line: kind, then what its form needs.
fn ask_of(form: &str, line: &str) -> Ask {
    let words: Vec<&'static str> = line
        .split_whitespace()
        .map(|word| &*word.to_owned().leak())
        .collect();
    let number = |at: usize| words[at].parse().unwrap();
    let form = match form {
        "integer" => Form::Integer {
            min: Some(number(1)),
            max: Some(number(2)),
            pass: words.get(3).copied().map(Into::into),
        },
        "number" => Form::Number {
            min: number(1) as f64,
            max: number(2) as f64,
        },
        _ => Form::one_of(&words[1..]),
    };
    ask(words[0], 3, form)
}

/// What a reading came to, as the tables write it.
fn shown(read: &Result<Reading, Foul>) -> String {
    match read {
        Ok(reading) => match &reading.action {
            Action::Integer(number) => number.to_string(),
            Action::Number(number) => number.to_string(),
            Action::Choice(word) => word.to_string(),
            Action::Target(seat) => seat.to_string(),
            Action::Division(amounts) => amounts
                .iter()
                .map(i64::to_string)
                .collect::<Vec<_>>()
                .join(","),
            Action::Pass => "pass".to_owned(),
        },
        Err(foul) => foul.kind.name().to_owned(),
    }
}

/// Reads every row of a table; panics with all rows that read otherwise.
fn check_table(form: &str, mut ask: Option<Ask>, table: &str) {
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let (expected, text) = line.split_once('\t').unwrap_or((line, ""));
        if expected == "@" {
            ask = Some(ask_of(form, text));
            continue;
        }
        rows += 1;
        let text = text.replace("\\n", "\n").replace("\\\\", "\\");
        let ask = ask.as_ref().unwrap();
        let read = read(ask, &reply(&text));
        // An option that is none is a foul of the game's check.
        let settled = read.and_then(|reading| match &reading.action {
            Action::Choice(_) => ask.form.check(&reading.action).map(|()| reading),
            _ => Ok(reading),
        });
        let found = shown(&settled);
        if found != expected {
            wrong.push(format!("{text:?}: expected {expected}, read {found}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {rows} rows:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(rows >= 60, "{form}: {rows} rows");
}

#[test]
fn whole_numbers_are_read() {
    check_table("integer", None, include_str!("replies/integer.tsv"));
}

#[test]
fn real_numbers_are_read() {
    check_table("number", None, include_str!("replies/number.tsv"));
}

#[test]
fn choices_are_read() {
    check_table("choice", None, include_str!("replies/choice.tsv"));
}

#[test]
fn targets_are_read() {
    let form = Form::Target {
        seats: vec![1, 5, 8, 9],
        pass: Some("miss".into()),
    };
    check_table(
        "target",
        Some(ask("shot", 3, form)),
        include_str!("replies/target.tsv"),
    );
}

#[test]
fn divisions_are_read() {
    let form = Form::Division {
        parts: 5,
        total: 100,
    };
    check_table(
        "division",
        Some(ask("proposal", 0, form)),
        include_str!("replies/division.tsv"),
    );
}

#[test]
fn repairs_are_recorded() {
    let text = "{'guess': 33, /* or less */ sure: True,}";
    let reading = read(&guess(), &reply(text)).unwrap();
    assert_eq!(reading.found_in, Place::Embedded);
    let all = [
        Repair::Quotes,
        Repair::TrailingComma,
        Repair::Comment,
        Repair::PythonWord,
        Repair::BareKey,
    ];
    assert_eq!(reading.repairs, all);
    assert!(!reading.is_clean());
    assert!(
        read(&guess(), &reply("{\"guess\": 33}"))
            .unwrap()
            .is_clean()
    );
}

#[test]
fn words_that_were_cut_off_are_no_answer() {
    let cut = |text: &str, finish_reason: &str| Reply {
        text: text.to_owned(),
        finish_reason: finish_reason.to_owned(),
    };
    let foul = read(&guess(), &cut("I choose 33 or", "length")).unwrap_err();
    assert_eq!(foul.kind, FoulKind::NoReply);
    assert_eq!(
        foul.reason,
        "the reply was cut off before it stated a guess"
    );
    for thoughts in ["", "<think>33 is"] {
        let foul = read(&guess(), &cut(thoughts, CUT_OFF_THINKING)).unwrap_err();
        assert_eq!(foul.kind, FoulKind::NoReply);
        assert_eq!(
            foul.reason,
            "the token limit was reached before you finished thinking, so there is no guess"
        );
    }
    let foul = read(&guess(), &cut("33", "content_filter")).unwrap_err();
    assert_eq!(foul.kind, FoulKind::NoReply);
    // A complete object is an answer, whatever came after it.
    let whole = read(&guess(), &cut("{\"guess\": 33} because", "length")).unwrap();
    assert_eq!(whole.action, Action::Integer(33));
}

#[test]
fn reasons_say_what_would_be_right() {
    let foul = read(&guess(), &reply("hm")).unwrap_err();
    let expected = "no guess could be found in the reply: it must be a whole number from 0 to 100";
    assert_eq!(foul.reason, expected);
    let foul = read(&guess(), &reply("I choose 33 or 34.")).unwrap_err();
    assert!(
        foul.reason.contains("more than one guess"),
        "{}",
        foul.reason
    );
}

fn all_forms() -> Vec<Ask> {
    vec![
        guess(),
        ask(
            "offer",
            3,
            Form::Integer {
                min: None,
                max: None,
                pass: Some("withdraw".into()),
            },
        ),
        ask("share", 3, Form::Number { min: 0.0, max: 1.0 }),
        ask("choice", 3, Form::one_of(&["go", "stay"])),
        ask(
            "shot",
            3,
            Form::Target {
                seats: vec![1, 2],
                pass: Some("miss".into()),
            },
        ),
        ask(
            "proposal",
            3,
            Form::Division {
                parts: 5,
                total: 100,
            },
        ),
    ]
}

const HOSTILE: &[&str] = &[
    "[[1,2],",
    "[",
    "{\"a\":",
    "i will ",
    "1,",
    "<think>",
    "{",
    "[{",
    "{'",
    "{\"",
    "[\"[\",",
    "{/*",
    "[//",
    "i ",
    "my bid is ",
    "1 ",
    "player_",
    "player ",
    "</think>",
    "**",
    "not ",
    "\\boxed{",
    "3/",
    "{\"guess\":",
    "{\"guess\":1},",
    "twenty-",
    "-",
    "\n",
    "\u{201c}",
    "$",
    "i bid 3 or ",
    "[1,",
    "{a:[",
    "go ",
    "é",
    "<",
    "[\"{",
    "]",
    "1,234,",
    "player_1: ",
];

#[test]
fn hostile_text_of_any_form_is_read() {
    const LETTERS: usize = 20_000;
    for piece in HOSTILE {
        let text = piece.repeat(LETTERS / piece.len()) + "]";
        for ask in all_forms() {
            let _ = read(&ask, &reply(&text));
        }
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    for (open, times) in [
        ("[", 200_000),
        ("{\"a\":", 20_000),
        ("[{\"guess\":", 20_000),
    ] {
        let text = open.repeat(times);
        assert!(read(&guess(), &reply(&text)).is_err());
        let behind = format!("{text} {{\"guess\": 33}}");
        let found = read(&guess(), &reply(&behind)).unwrap();
        assert_eq!(found.action, Action::Integer(33));
    }
}

proptest! {
    #[test]
    fn nothing_makes_reading_fail_in_any_other_way(text in ".*") {
        for ask in all_forms() {
            let _ = read(&ask, &reply(&text));
        }
    }

    #[test]
    fn scraps_of_replies_are_survived(
        scraps in prop::collection::vec(prop::sample::select(SCRAPS.to_vec()), 0..40)
    ) {
        let text = scraps.concat();
        for ask in all_forms() {
            let _ = read(&ask, &reply(&text));
        }
    }

    #[test]
    fn whole_numbers_come_back_from_words_and_json(number in 0i64..=100) {
        let ask = guess();
        let dresses = [
            format!("{number}"),
            format!("{{\"guess\": {number}}}"),
            format!("I choose {number}."),
            format!("Round 7 was odd. My guess is {number}, as 2/3 of it seems right."),
            format!("**{number}**"),
            format!("Final answer: {number}"),
        ];
        for text in dresses {
            let read = read(&ask, &reply(&text)).map(|reading| reading.action);
            prop_assert_eq!(read, Ok(Action::Integer(number)), "{}", text);
        }
    }
}

const SCRAPS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    ":",
    ",",
    "guess",
    "\"guess\": ",
    "33",
    "-1",
    "2/3",
    "50%",
    "$",
    "<think>",
    "</think>",
    "```json\n",
    "```",
    "**",
    "I ",
    "will ",
    "not ",
    "choose ",
    "go",
    "stay",
    "player_",
    "3",
    " ",
    "\n",
    ". ",
    "\\",
    "\\u12",
    "//",
    "/*",
    "*/",
    "#",
    "\\boxed{",
    "None",
    "é",
    "\u{201c}",
    "twenty",
    "-",
    "one",
    " hundred",
    "or ",
    "1e999",
    "9999999999999999999999",
];
