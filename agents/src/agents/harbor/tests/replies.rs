//! Replies in all their forms: the tables in `agents/src/agents/harbor/replies`, one case
//! per line (what is expected, a tab, the reply), and any text at all. A `!` says
//! that the reply is refused, and how the reason begins or what it holds.

use proptest::prelude::*;
use serde_json::Value;

use super::super::*;

const PERSONAS: [&str; 3] = ["city", "garden", "farm"];
const RIVALS: [&str; 2] = ["player_1", "player_2"];

fn reply(text: &str) -> Reply {
    Reply {
        text: text.to_owned(),
        finish_reason: "stop".to_owned(),
    }
}

/// Checks a table, and says how many cases it had. All misread ones are told together.
fn check(table: &str, read: impl Fn(&Reply) -> Result<String, String>) -> usize {
    let mut misread = Vec::new();
    for line in table.lines() {
        let (expected, text) = line.split_once('\t').unwrap();
        let found = read(&reply(&text.replace("\\n", "\n")));
        let fits = match (expected.strip_prefix('!'), &found) {
            (Some(reason), Err(found)) => found.contains(reason),
            (None, Ok(found)) => found == expected,
            _ => false,
        };
        if !fits {
            misread.push(format!("{text}: expected {expected}, found {found:?}"));
        }
    }
    assert!(misread.is_empty(), "{}", misread.join("\n"));
    table.lines().count()
}

fn profile(reply: &Reply) -> Result<String, String> {
    let weights = profiles::read(reply, "player_1", &PERSONAS)?;
    let weights: Vec<String> = weights.iter().map(f64::to_string).collect();
    Ok(weights.join(","))
}

fn choice(reply: &Reply) -> Result<String, String> {
    let choice = choices::read(reply)?;
    let used = if choice.uses_profile { "yes" } else { "no" };
    Ok(format!("{} {used}", choice.letter))
}

fn prediction(reply: &Reply) -> Result<String, String> {
    let found = predictions::read(reply, &RIVALS)?;
    let words = found.iter().map(|one| match one.wants {
        Some(true) => "yes",
        Some(false) => "no",
        None => "open",
    });
    Ok(words.collect::<Vec<_>>().join(","))
}

#[test]
fn replies_are_read_as_their_tables_say() {
    let cases = check(include_str!("../replies/profiles.tsv"), profile)
        + check(include_str!("../replies/choices.tsv"), choice)
        + check(include_str!("../replies/predictions.tsv"), prediction);
    assert!(cases >= 100, "{cases}");
}

#[test]
fn a_reply_that_was_cut_off_is_told_to_be_brief() {
    let cut = Reply {
        text: "player_1 went up three times and".to_owned(),
        finish_reason: "length".to_owned(),
    };
    assert!(profile(&cut).unwrap_err().contains("cut off"));
    assert!(choice(&cut).unwrap_err().contains("cut off"));
    // What is complete counts all the same.
    let whole = Reply {
        text: r#"{"choice": "B"} and furthermore"#.to_owned(),
        finish_reason: "length".to_owned(),
    };
    assert_eq!(choice(&whole), Ok("B no".to_owned()));
}

#[test]
fn a_reply_that_is_all_thoughts_is_not_called_empty() {
    let thoughts = Reply {
        text: String::new(),
        finish_reason: crate::mind::CUT_OFF_THINKING.to_owned(),
    };
    for read in [choice, profile, prediction] {
        let reason = read(&thoughts).unwrap_err();
        assert!(
            reason.starts_with("the token limit was reached"),
            "{reason}"
        );
    }
}

#[test]
fn every_form_that_is_asked_for_is_read() {
    let weights = r#"{"city":0.5,"garden":-1,"farm":0}"#;
    let text = format!(r#"{{"reason":"r","weights":{weights},"mislead":" Bid on farms. "}}"#);
    let second = reply(&text);
    assert_eq!(profile(&second), Ok("0.5,-1,0".to_owned()));
    let misleading = profiles::text_field(&second, "mislead");
    assert_eq!(misleading.as_deref(), Some("Bid on farms."));
    for schema in [
        profiles::schema(&PERSONAS, &[]),
        profiles::schema(&PERSONAS, &["mislead"]),
        predictions::schema(&RIVALS),
        choices::SCHEMA.to_owned(),
    ] {
        let schema: Value = serde_json::from_str(&schema).unwrap();
        assert_eq!(schema["additionalProperties"], false);
    }
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in "\\PC{0,200}") {
        let reply = reply(&text);
        let _ = (profile(&reply), choice(&reply), prediction(&reply));
    }

    #[test]
    fn no_mixture_of_pieces_is_too_strange(pieces in prop::collection::vec(
        prop::sample::select(vec![
            "{", "}", "[", "]", "\"city\"", "\"player_1\"", ":", ",", "0.5", "-", "1e999", "city",
            "choice", "\"choice\"", "A", "B.", "\n", "é", "true", "\"", "%", "\"wants\"", "\u{2212}",
        ]), 0..40)) {
        let reply = reply(&pieces.concat());
        let _ = (profile(&reply), choice(&reply), prediction(&reply));
    }
}
