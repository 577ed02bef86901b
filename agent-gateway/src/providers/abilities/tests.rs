//! Complaints of known servers, in their words, and what is learnt from them.
//! No network here; `tests/suite/providers` has that.

use reqwest::StatusCode;

use super::*;
use crate::config::{GatewayConfig, ModelSection};
use crate::decision::ReplyFormat;

fn everything() -> Request {
    Request {
        model: "m".into(),
        messages: Vec::new(),
        temperature: Some(0.5),
        top_p: Some(0.5),
        max_output_tokens: Some(9),
        sampling_seed: Some(1),
        reply_format: Some(ReplyFormat {
            name: "act".into(),
            json_schema: "{}".into(),
        }),
        fallback_models: Vec::new(),
        reasoning_effort: Some("low".into()),
        stop_sequences: vec!["END".into()],
    }
}

fn full(provider: &str) -> Ability {
    let config = GatewayConfig::default();
    let model = config
        .resolve_without_keys(&format!("{provider}/m"))
        .unwrap();
    Ability {
        seed: true,
        structured_output: StructuredOutput::JsonSchema,
        ..Ability::configured(&model)
    }
}

fn heard(provider: &str, status: u16, body: &str) -> Complaints {
    let incoming = Incoming {
        status: StatusCode::from_u16(status).unwrap(),
        headers: Default::default(),
        body: body.as_bytes().to_vec(),
    };
    complaints::heard(&everything(), full(provider), &incoming)
}

#[test]
fn complaints_of_known_servers_are_understood() {
    let none = Complaints::default();
    let format = Complaints {
        format: true,
        ..none
    };
    let seed = Complaints { seed: true, ..none };
    let temperature = Complaints {
        temperature: true,
        ..none
    };
    let thinking = Complaints {
        thinking: true,
        ..none
    };
    for (provider, said, expected) in [
        (
            "vllm",
            "This response_format type is unavailable now",
            format,
        ),
        (
            "vllm",
            "This model does not support response format `json_schema`.",
            format,
        ),
        (
            "vllm",
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported",
            format,
        ),
        (
            "vllm",
            "'response_format.type' must be 'json_object' or 'text'",
            format,
        ),
        (
            "vllm",
            "'messages' must contain the word 'json' to use 'response_format'",
            format,
        ),
        (
            "gemini",
            "JSON mode is not enabled for models/gemma-3-27b-it",
            format,
        ),
        ("vllm", "Unrecognized request argument supplied: seed", seed),
        (
            "openai",
            "Unsupported parameter: 'seed' is not supported with this model.",
            seed,
        ),
        (
            "vllm",
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","seed"]}]}"#,
            seed,
        ),
        (
            "vllm",
            "unknown: seed, response_format",
            Complaints {
                format: true,
                ..seed
            },
        ),
        (
            "openai",
            "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
            temperature,
        ),
        (
            "anthropic",
            "`temperature` is deprecated for this model",
            temperature,
        ),
        (
            "anthropic",
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
            Complaints {
                top_p: true,
                ..none
            },
        ),
        (
            "openai",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            Complaints {
                limit_field: true,
                ..none
            },
        ),
        (
            "openai",
            "Unsupported parameter: 'stop' is not supported with this model.",
            Complaints { stop: true, ..none },
        ),
        (
            "openai",
            "Unrecognized request argument supplied: reasoning_effort",
            thinking,
        ),
        (
            "anthropic",
            "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\"",
            thinking,
        ),
        (
            "anthropic",
            "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'",
            thinking,
        ),
        (
            "gemini",
            "Thinking level is not supported for this model.",
            thinking,
        ),
        (
            "anthropic",
            "Thinking may not be enabled when tool_choice forces tool use.",
            Complaints {
                forced_tool: true,
                ..none
            },
        ),
    ] {
        assert_eq!(heard(provider, 400, said), expected, "{said}");
        assert_eq!(heard(provider, 422, said), expected, "{said}");
    }
}

#[test]
fn other_refusals_are_no_complaint_about_fields() {
    for (status, said) in [
        (
            400,
            "context length exceeded, at most 4096 tokens supported",
        ),
        (400, "seed_data is unknown"),
        (400, "Invalid schema for response_format 'act': no type"),
        (
            400,
            "max_tokens is too large: 9. This model supports at most 8 completion tokens, see max_completion_tokens",
        ),
        (400, "temperature: must be less than or equal to 1"),
        (
            400,
            "Invalid value: 'lo'. Supported values are: 'low'. (reasoning_effort)",
        ),
        (
            400,
            "Unsupported value: 'reasoning_effort' does not support 'low' with this model. Supported values are: 'medium'",
        ),
        (
            400,
            "Thinking level LOW is not supported for this model. Please retry with other thinking level.",
        ),
        (500, "unsupported: seed"),
        (404, "unknown model json_schema"),
    ] {
        assert_eq!(
            heard("openai", status, said),
            Complaints::default(),
            "{said}"
        );
    }
}

#[test]
fn abilities_only_shrink() {
    let ability = |structured_output, seed| Ability {
        structured_output,
        seed,
        ..full("openai")
    };
    let schema = ability(StructuredOutput::JsonSchema, false);
    let object = ability(StructuredOutput::JsonObject, true);
    let both = ability(StructuredOutput::JsonObject, false);
    assert_eq!(schema.least(object), both);
    assert_eq!(object.least(schema), both);
    let all = Complaints {
        format: true,
        forced_tool: true,
        seed: true,
        temperature: true,
        top_p: true,
        stop: true,
        limit_field: true,
        thinking: true,
    };
    let mut less = full("anthropic");
    for _ in 0..2 {
        let more = less;
        less = less.without(all);
        assert_ne!(more, less);
        assert_eq!((more.least(less), less.least(more)), (less, less));
    }
    assert_eq!(less.without(all), less);
    assert_eq!(less.thinking, Thinking::Untold);
}

#[test]
fn model_that_thinks_is_not_told_how_to_sample() {
    let mut config = GatewayConfig::default();
    let section = ModelSection {
        provider: "openai".into(),
        reasoning: Some(true),
        ..ModelSection::default()
    };
    config.add_model("m", section).unwrap();
    let ability = Ability::configured(&config.resolve_without_keys("m").unwrap());
    assert!(!ability.temperature && !ability.top_p && !ability.stop && ability.seed);
}
