//! Requests as they are sent and replies as they are read, against JSON text as
//! providers document it. No network here; `tests/suite/http.rs` has that.

use serde_json::{Value, json};

use super::*;
use crate::config::{GatewayConfig, ModelSection, ProviderSection};
use crate::decision::{Message, Role};

fn model(structured_output: StructuredOutput, field: OutputLimitField) -> ResolvedModel {
    let mut config = GatewayConfig::default();
    let provider = ProviderSection {
        base_url: Some("http://localhost:1/v1".into()),
        ..ProviderSection::default()
    };
    config.add_provider("p", provider).unwrap();
    let section = ModelSection {
        provider: "p".into(),
        model: Some("real-name".into()),
        structured_output: Some(structured_output),
        seed: Some(true),
        max_output_tokens: Some(77),
        output_limit_field: Some(field),
        price: None,
    };
    config.add_model("m", section).unwrap();
    config.resolve("m").unwrap()
}

fn request() -> Request {
    Request {
        model: "m".into(),
        messages: vec![
            Message {
                role: Role::System,
                content: "rules".into(),
            },
            Message {
                role: Role::User,
                content: "move".into(),
            },
            Message {
                role: Role::Assistant,
                content: "3".into(),
            },
        ],
        temperature: Some(0.5),
        top_p: None,
        max_output_tokens: None,
        sampling_seed: Some(1_234_567_890),
        reply_format: Some(ReplyFormat {
            name: "act".into(),
            json_schema: r#"{"type":"object"}"#.into(),
        }),
    }
}

fn configured(model: &ResolvedModel) -> Ability {
    Abilities::default().of(model)
}

fn built(model: &ResolvedModel, request: &Request) -> Value {
    serde_json::from_slice(&Body::build(model, configured(model), request).unwrap()).unwrap()
}

#[test]
fn request_is_what_the_protocol_wants() {
    let model = model(StructuredOutput::JsonSchema, OutputLimitField::MaxTokens);
    assert_eq!(
        built(&model, &request()),
        json!({
            "model": "real-name",
            "messages": [
                {"role": "system", "content": "rules"},
                {"role": "user", "content": "move"},
                {"role": "assistant", "content": "3"},
            ],
            "temperature": 0.5,
            "max_tokens": 77,
            "seed": 1_234_567_890,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "act", "strict": true, "schema": {"type": "object"}},
            },
        })
    );
}

#[test]
fn settings_of_the_model_shape_the_request() {
    let plain = model(
        StructuredOutput::None,
        OutputLimitField::MaxCompletionTokens,
    );
    let body = built(
        &plain,
        &Request {
            max_output_tokens: Some(5),
            ..request()
        },
    );
    assert_eq!(body["max_completion_tokens"], 5);
    assert!(body.get("max_tokens").is_none() && body.get("response_format").is_none());

    let object = model(StructuredOutput::JsonObject, OutputLimitField::MaxTokens);
    assert_eq!(
        built(&object, &request())["response_format"],
        json!({"type": "json_object"})
    );
    let free = built(
        &object,
        &Request {
            reply_format: None,
            ..request()
        },
    );
    assert!(free.get("response_format").is_none());
}

#[test]
fn reply_format_that_is_no_json_is_given_up() {
    let model = model(StructuredOutput::JsonSchema, OutputLimitField::MaxTokens);
    let mut broken = request();
    broken.reply_format = Some(ReplyFormat {
        name: "act".into(),
        json_schema: "{".into(),
    });
    assert_eq!(
        Body::build(&model, configured(&model), &broken)
            .unwrap_err()
            .remedy,
        Remedy::GiveUp
    );
}

#[test]
fn reply_is_read_with_its_usage() {
    let mut headers = HeaderMap::new();
    headers.insert(SIMULATED_HEADER, HeaderValue::from_static("true"));
    let body = json!({
        "model": "real-name-2026",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "42"}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
            "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": null},
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
    });
    let reply = read_reply(&headers, body.to_string().as_bytes()).unwrap();
    let usage = Usage {
        input_tokens: 10,
        output_tokens: 5,
        cached_input_tokens: 4,
        reasoning_tokens: 3,
        estimated: false,
    };
    assert_eq!(
        (reply.text.as_str(), reply.answered_by.as_str()),
        ("42", "real-name-2026")
    );
    assert_eq!((reply.usage, reply.simulated), (Some(usage), true));
}

#[test]
fn empty_and_filtered_replies_are_replies() {
    let body = br#"{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}"#;
    let reply = read_reply(&HeaderMap::new(), body).unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.finish_reason.as_str()),
        ("", "content_filter")
    );
    assert_eq!((reply.usage, reply.simulated), (None, false));

    let body =
        br#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"text":"b"}]}}]}"#;
    assert_eq!(read_reply(&HeaderMap::new(), body).unwrap().text, "ab");

    let azure = br#"{"error":{"code":"content_filter","message":"filtered"}}"#;
    let refusal = errors::of_status(reqwest::StatusCode::BAD_REQUEST, &HeaderMap::new(), azure);
    assert_eq!(filtered(refusal).unwrap().finish_reason, "content_filter");
}

#[test]
fn unreadable_reply_is_tried_again() {
    for body in ["", "<html>", "{}", r#"{"choices":[]}"#] {
        let refusal = read_reply(&HeaderMap::new(), body.as_bytes()).unwrap_err();
        assert_eq!(refusal.remedy, Remedy::Retry(None), "{body}");
    }
}
