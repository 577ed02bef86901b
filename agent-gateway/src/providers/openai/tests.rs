//! Requests as they are sent, against JSON text as providers document it.
//! No network here; `tests/suite/http.rs` has that.

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
        ..ModelSection::default()
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
        fallback_models: Vec::new(),
        reasoning_effort: None,
        stop_sequences: Vec::new(),
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
fn filtered_prompt_is_a_reply() {
    let azure = br#"{"error":{"code":"content_filter","message":"filtered"}}"#;
    let refusal = errors::of_status(reqwest::StatusCode::BAD_REQUEST, &Default::default(), azure);
    assert_eq!(filtered(refusal).unwrap().finish_reason, "content_filter");
}
