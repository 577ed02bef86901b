//! Settings of model players: defaults, and errors that say what would be right.
//! Settings are given as JSON, as they stand in a session spec.

use agon_engine::{PlayerKind, PlayerSpec};
use serde_json::json;

use super::*;
use crate::settings::{Persona, ReplyStyle};

fn read(settings: Value) -> Result<PlayerSettings, String> {
    let settings = settings.as_object().unwrap().clone().into_iter().collect();
    let player = PlayerSpec {
        name: "ann".to_owned(),
        kind: PlayerKind::Model,
        settings,
    };
    let read = super::read(&player, "guess_two_thirds", &PromptLibrary::builtin());
    read.map(|(settings, _)| settings)
        .map_err(|error| error.to_string())
}

#[test]
fn a_model_is_all_that_must_be_said() {
    let settings = read(json!({ "model": "small" })).unwrap();
    assert_eq!(settings.agent, "direct");
    assert_eq!(settings.prompt, "v1");
    assert_eq!(settings.persona, None);
    assert_eq!(settings.memory_tokens, 16_000);
    assert_eq!(settings.reply, ReplyStyle::Structured);
    assert_eq!(settings.model.temperature, None);
}

#[test]
fn everything_can_be_said() {
    let settings = read(json!({
        "model": "small", "temperature": 0.2, "top_p": 0.9, "max_output_tokens": 300,
        "agent": "chain_of_thought", "prompt": "v4", "persona": { "text": " You are a poet. " },
        "memory_tokens": 900, "reply": "text", "fallback_models": ["other", "third"],
        "reasoning_effort": "low", "stop_sequences": ["END"],
    }))
    .unwrap();
    assert_eq!(
        settings.persona,
        Some(Persona::Own("You are a poet.".to_owned()))
    );
    assert_eq!(settings.model.max_output_tokens, Some(300));
    assert_eq!(settings.reply, ReplyStyle::Text);
    assert_eq!(settings.model.fallback_models, ["other", "third"]);
    assert_eq!(settings.model.reasoning_effort.as_deref(), Some("low"));
    assert_eq!(settings.model.stop_sequences, ["END"]);
}

#[test]
fn errors_say_what_would_be_right() {
    let cases = [
        (json!({}), "model is missing"),
        (json!({ "model": " " }), "model is missing"),
        (
            json!({ "model": "m", "fallback_models": ["a", "m"] }),
            "fallback_models names \"m\" twice",
        ),
        (
            json!({ "model": "m", "fallback_models": "a" }),
            "fallback_models: ",
        ),
        (
            json!({ "model": "m", "reasoning_effort": "" }),
            "reasoning_effort must be a word",
        ),
        (
            json!({ "model": "m", "stop_sequences": ["a", ""] }),
            "stop_sequences must be at most 4",
        ),
        (
            json!({ "model": "m", "temprature": 1 }),
            "did you mean \"temperature\"",
        ),
        (
            json!({ "model": "m", "personas": "selfish" }),
            "did you mean \"persona\"",
        ),
        (
            json!({ "model": "m", "temperature": 3 }),
            "temperature must be from 0 to 2, not 3",
        ),
        (
            json!({ "model": "m", "temperature": "hot" }),
            "temperature: invalid type",
        ),
        (
            json!({ "model": "m", "top_p": 0 }),
            "top_p must be greater than 0",
        ),
        (
            json!({ "model": "m", "max_output_tokens": 0 }),
            "at least 1",
        ),
        (
            json!({ "model": "m", "memory_tokens": 10 }),
            "at least 200, not 10",
        ),
        (
            json!({ "model": "m", "reply": "yaml" }),
            "reply: unknown variant",
        ),
        (
            json!({ "model": "m", "persona": "grumpy" }),
            "expected one of: cooperative, selfish",
        ),
        (
            json!({ "model": "m", "persona": { "text": "" } }),
            "persona must be one of",
        ),
        (
            json!({ "model": "m", "persona": 3 }),
            "persona must be one of",
        ),
    ];
    for (settings, expected) in cases {
        let message = read(settings.clone()).unwrap_err();
        assert!(message.starts_with("player \"ann\": "), "{message}");
        assert!(message.contains(expected), "{settings}: {message}");
    }
}
