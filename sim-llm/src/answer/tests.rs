//! Claims about what the simulated model says: answers by schema, by example
//! and in prose, and the nonsense among them.

use serde_json::json;

use super::super::protocol::openai;
use super::*;

fn answer(body: &Value) -> String {
    let bytes = body.to_string().into_bytes();
    openai::read(&bytes, None)
        .unwrap()
        .answer(Digest::of(7, &bytes), &SimOptions::default())
        .content
}

fn user(text: &str) -> Value {
    json!({"messages": [{"role": "system", "content": "You play."},
        {"role": "user", "content": text}]})
}

#[test]
fn schema_of_the_request_decides_the_shape() {
    let mut body = user("Bid between 3 and 3. {\"wrong\": 1}");
    body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "bid",
        "schema": {"type": "object", "properties": {"bid": {"type": "integer",
            "minimum": 8, "maximum": 8}}, "required": ["bid"]}}});
    assert_eq!(answer(&body), r#"{"bid":8}"#);
}

#[test]
fn example_in_the_message_is_filled_from_the_stated_range() {
    let text = "Choose a number between 40 and 42.\n```json\n{\"reason\": \"...\", \"n\": 7}\n```";
    let value: Value = serde_json::from_str(&answer(&user(text))).unwrap();
    assert!((40..=42).contains(&value["n"].as_i64().unwrap()), "{value}");
    assert!(SENTENCES.contains(&value["reason"].as_str().unwrap()));
    let kept = answer(&user("Reply like this: {\"n\": 7, \"word\": \"stay\"}"));
    assert_eq!(kept, r#"{"n":7,"word":"stay"}"#);
}

#[test]
fn json_object_is_answered_by_the_words_of_the_prompt() {
    let mut body = user("Answer as JSON with a number from 40 to 42, like this: {\"n\": 7}");
    body["response_format"] = json!({"type": "json_object"});
    let value: Value = serde_json::from_str(&answer(&body)).unwrap();
    assert!((40..=42).contains(&value["n"].as_i64().unwrap()), "{value}");
}

#[test]
fn re_ask_without_an_example_looks_back() {
    let mut body = user("Answer as {\"n\": 7}");
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": "no"}));
    messages.push(json!({"role": "user", "content": [{"type": "text", "text": "Again!"}]}));
    assert_eq!(answer(&body), r#"{"n":7}"#);
}

#[test]
fn prose_has_a_number_of_the_range() {
    for seed in 0..50 {
        let mut body = user("How many, from 3 to 5?");
        body["seed"] = json!(seed);
        let text = answer(&body);
        assert!(
            ["3.", "4.", "5."].iter().any(|end| text.ends_with(end)),
            "{text}"
        );
    }
}

#[test]
fn ranges_are_read_as_people_write_them() {
    for (text, range) in [
        ("between 0 and 100", Some((0, 100))),
        ("Between 1 and 20, then from -5 to 5", Some((-5, 5))),
        ("0-100", Some((0, 100))),
        ("a number in [3, 7]", Some((3, 7))),
        ("2/3 of the average of 10 players and 20 rounds", None),
        ("round 3, 4 players", None),
        ("ünd zwischen 99999999999999999999 und 5", None),
        ("", None),
    ] {
        assert_eq!(stated_range(text), range, "{text}");
    }
}

#[test]
fn malformed_share_is_nonsense_of_several_kinds_and_the_rest_is_untouched() {
    let mut kinds = std::collections::BTreeSet::new();
    let mut malformed = 0;
    for seed in 0..1000 {
        let mut body = user("x");
        body["seed"] = json!(seed);
        body["response_format"] = json!({"json_schema": {"schema":
            {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1,
            "maximum": 1}}, "required": ["n"]}}});
        let bytes = body.to_string().into_bytes();
        let ask = openai::read(&bytes, None).unwrap();
        let options = SimOptions {
            malformed_rate: 0.3,
            ..SimOptions::default()
        };
        let answer = ask.answer(Digest::of(0, &bytes), &options);
        if answer.malformed {
            malformed += 1;
            assert_ne!(answer.content, r#"{"n":1}"#);
            kinds.insert(answer.content);
        } else {
            assert_eq!(answer.content, r#"{"n":1}"#);
        }
    }
    assert!((250..350).contains(&malformed), "{malformed}");
    assert!(kinds.len() >= 4, "{kinds:?}");
}

#[test]
fn nonsense_in_words_may_be_two_answers() {
    let options = SimOptions {
        malformed_rate: 1.0,
        ..SimOptions::default()
    };
    let said = (0..40).map(|seed| {
        let mut body = user("State your bid. It must be a whole number from 5 to 900.");
        body["seed"] = json!(seed);
        let bytes = body.to_string().into_bytes();
        let ask = openai::read(&bytes, None).unwrap();
        ask.answer(Digest::of(0, &bytes), &options).content
    });
    let torn: Vec<String> = said
        .filter(|said| said.starts_with("It could be "))
        .collect();
    assert!((3..25).contains(&torn.len()), "{torn:?}");
    for said in torn {
        let numbers: Vec<i64> = whole_numbers(&said).map(|(_, _, number)| number).collect();
        assert_eq!(numbers.len(), 2, "{said}");
        assert!(
            numbers.iter().all(|number| (5..=900).contains(number)),
            "{said}"
        );
    }
}

#[test]
fn odd_bodies_are_refused_with_a_reason() {
    for (body, reason) in [
        ("", "not a chat request"),
        ("[1]", "not a chat request"),
        ("{}", "missing field `messages`"),
        ("{\"messages\": []}", "must not be empty"),
        (
            "{\"messages\": [{\"role\": \"user\"}], \"stream\": true}",
            "does not stream",
        ),
    ] {
        let error = openai::read(body.as_bytes(), None).unwrap_err();
        assert!(error.contains(reason), "{body}: {error}");
    }
    answer(&json!({"messages": [{"role": "user", "content": null}]}));
    answer(&user(&"{".repeat(100_000)));
}

#[test]
fn longer_answers_say_the_same_and_keep_to_the_limit() {
    let mut drawn = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let mut body = user("Answer as JSON like {\"n\": 7}");
        body["seed"] = json!(seed);
        body["max_tokens"] = json!(60);
        let bytes = body.to_string().into_bytes();
        let options = SimOptions {
            reply_tokens: Some((20, 80)),
            reasoning_tokens: Some((30, 30)),
            cached_share: 0.5,
            ..SimOptions::default()
        };
        let ask = openai::read(&bytes, None).unwrap();
        let answer = ask.answer(Digest::of(0, &bytes), &options);
        assert_eq!(
            serde_json::from_str::<Value>(&answer.content).unwrap()["n"],
            7
        );
        let said = tokens(answer.content.len());
        let usage = answer.usage;
        assert!((20..=60).contains(&said), "{said}");
        assert_eq!(usage.reasoning, 30.min(60 - said));
        assert_eq!(usage.output, said + usage.reasoning);
        assert_eq!(usage.cached, usage.input / 2);
        assert!(!answer.cut);
        drawn.insert(said);
    }
    assert!(drawn.len() > 20, "{drawn:?}");
}

#[test]
fn longer_prose_still_ends_with_its_number() {
    let mut text = "My answer is 4.".to_owned();
    lengthen(&mut text, 400);
    assert_eq!(text.len(), 400);
    assert!(text.ends_with("My answer is 4."));
    assert_eq!(
        text.matches(|letter: char| letter.is_ascii_digit()).count(),
        1
    );
}

#[test]
fn answer_is_cut_where_the_request_allows_no_more() {
    let mut body = user("How many, from 3 to 5?");
    body["max_completion_tokens"] = json!(3);
    let bytes = body.to_string().into_bytes();
    let ask = openai::read(&bytes, None).unwrap();
    let answer = ask.answer(Digest::of(0, &bytes), &SimOptions::default());
    assert_eq!((answer.cut, answer.usage.output), (true, 3));
}

#[test]
fn characters_are_those_that_were_meant() {
    let bytes = user("ü\n\"x\"").to_string().into_bytes();
    let ask = openai::read(&bytes, None).unwrap();
    assert_eq!(ask.characters(), 9 + 5);
}
