//! Lessons in the forms in which models write them down.
//! Replies are made here; no model is called.

use super::*;

fn tips(text: &str) -> Vec<String> {
    let reply = Reply {
        text: text.to_owned(),
        finish_reason: "stop".to_owned(),
    };
    read(&reply).unwrap_or_default()
}

#[test]
fn lessons_come_as_json_or_as_a_list() {
    assert_eq!(tips(r#"{"tips": ["a", " b "]}"#), ["a", "b"]);
    assert_eq!(
        tips("Well:\n1. Save money.\n2) Bid late.\n"),
        ["Save money.", "Bid late."]
    );
    assert_eq!(tips("- one\n* two"), ["one", "two"]);
    assert_eq!(tips("```json\n[\"a\"]\n```"), ["a"]);
}

#[test]
fn a_series_carries_the_note() {
    assert!(agon_engine::series::CARRIED_NOTES.contains(&NOTE));
}

#[test]
fn what_is_no_list_is_none() {
    for text in [
        "",
        "I learned a lot in 2024.",
        r#"{"tips": []}"#,
        r#"{"tips": [3]}"#,
    ] {
        assert!(tips(text).is_empty(), "{text}");
    }
    assert_eq!(tips(&"1. x\n".repeat(99)).len(), MOST);
    assert_eq!(
        tips(&format!("1. {}", "é".repeat(999)))[0].chars().count(),
        LONGEST
    );
}
