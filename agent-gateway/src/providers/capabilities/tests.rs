//! What errors of known servers teach, and what they do not. No network here;
//! `tests/suite/providers` has that.

use std::time::{Duration, Instant};

use reqwest::StatusCode;

use super::*;
use crate::config::{GatewayConfig, ModelSection};

/// A little longer than anything is left out.
const LATER: Duration = Duration::from_secs(3_601);

fn everything() -> Request {
    Request {
        model: "m".into(),
        messages: Vec::new(),
        temperature: Some(0.5),
        top_p: Some(0.5),
        max_output_tokens: Some(9),
        sampling_seed: Some(1),
        reply_format: Some(format("{}")),
        fallback_models: Vec::new(),
        reasoning_effort: Some("low".into()),
        stop_sequences: vec!["END".into()],
        logprobs: Some(5),
    }
}

fn format(schema: &str) -> ReplyFormat {
    ReplyFormat {
        name: "act".into(),
        json_schema: schema.into(),
    }
}

fn model_of(section: ModelSection) -> ResolvedModel {
    let mut config = GatewayConfig::default();
    let section = ModelSection {
        provider: "openai".into(),
        ..section
    };
    config.add_model("m", section).unwrap();
    config.resolve_without_keys("m").unwrap()
}

fn refused(status: u16, body: &str) -> Incoming {
    Incoming {
        status: StatusCode::from_u16(status).unwrap(),
        headers: Default::default(),
        body: body.as_bytes().to_vec(),
    }
}

fn openai(parameter: &str, code: &str) -> String {
    format!(r#"{{"error":{{"message":"no","param":"{parameter}","code":"{code}"}}}}"#)
}

fn heard(status: u16, body: &str) -> Option<Complaint> {
    let model = model_of(ModelSection::default());
    let sent = Capabilities::configured(&model);
    complaint_about(&model, &everything(), sent, &refused(status, body))
}

#[test]
fn fields_for_programs_say_what_is_not_taken() {
    use Complaint::OutputLimitField;
    let parameter = Complaint::Parameter;
    let pydantic = |name: &str| {
        format!(r#"{{"detail":[{{"type":"extra_forbidden","loc":["body","{name}"],"msg":"no"}}]}}"#)
    };
    for (body, expected) in [
        (
            openai("temperature", "unsupported_value"),
            parameter(Parameter::Temperature),
        ),
        (
            openai("temperature", "unsupported_parameter"),
            parameter(Parameter::Temperature),
        ),
        (
            openai("top_p", "unsupported_parameter"),
            parameter(Parameter::TopP),
        ),
        (
            openai("seed", "unknown_parameter"),
            parameter(Parameter::SamplingSeed),
        ),
        (
            openai("stop", "unsupported_parameter"),
            parameter(Parameter::StopSequences),
        ),
        (
            openai("reasoning_effort", "unsupported_parameter"),
            parameter(Parameter::ReasoningEffort),
        ),
        (
            openai("max_tokens", "unsupported_parameter"),
            OutputLimitField,
        ),
        (
            openai("response_format", ""),
            parameter(Parameter::ReplyFormat),
        ),
        (
            openai("response_format.json_schema.schema", "invalid"),
            parameter(Parameter::ReplyFormat),
        ),
        (pydantic("seed"), parameter(Parameter::SamplingSeed)),
        (
            pydantic("response_format"),
            parameter(Parameter::ReplyFormat),
        ),
    ] {
        assert_eq!(heard(400, &body), Some(expected), "{body}");
        assert_eq!(heard(422, &body), Some(expected), "{body}");
    }
}

#[test]
fn words_and_wrong_values_teach_nothing() {
    for (status, body) in [
        (
            400,
            r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.5"}}"#
                .to_owned(),
        ),
        (
            400,
            r#"{"error":{"message":"`temperature` is deprecated for this model"}}"#.to_owned(),
        ),
        (
            400,
            r#"{"error":{"message":"This response_format type is unavailable now","param":null}}"#
                .to_owned(),
        ),
        (
            400,
            "Unrecognized request argument supplied: seed".to_owned(),
        ),
        (400, openai("temperature", "decimal_above_max_value")),
        (400, openai("reasoning_effort", "unsupported_value")),
        (400, openai("max_tokens", "integer_above_max_value")),
        (400, openai("messages", "unsupported_value")),
        (400, openai("seed_data", "unknown_parameter")),
        (500, openai("seed", "unsupported_parameter")),
        (404, openai("seed", "unsupported_parameter")),
        (
            422,
            r#"{"detail":[{"type":"less_than_equal","loc":["body","temperature"]}]}"#.to_owned(),
        ),
        (
            422,
            r#"{"detail":[{"type":"extra_forbidden","loc":["query","seed"]}]}"#.to_owned(),
        ),
    ] {
        assert_eq!(heard(status, &body), None, "{body}");
    }
}

#[test]
fn only_what_was_sent_can_be_refused() {
    let model = model_of(ModelSection::default());
    let sent = Capabilities::configured(&model);
    let incoming = refused(400, &openai("seed", "unsupported_parameter"));
    let without = Request {
        sampling_seed: None,
        ..everything()
    };
    assert_eq!(complaint_about(&model, &without, sent, &incoming), None);
}

#[test]
fn lesson_is_listed_and_ends() {
    let (learnt, now) = (Learnt::default(), Instant::now());
    let model = model_of(ModelSection::default());
    let request = everything();
    let sent = learnt.capabilities(&model, &request, now);
    let incoming = refused(400, &openai("temperature", "unsupported_value"));
    assert!(learnt.learn(&model, &request, sent, &incoming, now));
    let less = learnt.capabilities(&model, &request, now);
    assert!(!less.temperature && less.seed && less.top_p);
    let [listed] = &*learnt.list(now) else {
        panic!("one lesson")
    };
    assert_eq!((listed.parameter, &*listed.model), ("temperature", "m"));
    assert!(
        learnt
            .capabilities(&model, &request, now + LATER)
            .temperature
    );
    assert!(learnt.list(now + LATER).is_empty());
}

#[test]
fn configuration_is_never_learnt_otherwise() {
    let (learnt, now) = (Learnt::default(), Instant::now());
    let model = model_of(ModelSection {
        temperature: Some(true),
        structured_output: Some(StructuredOutput::JsonSchema),
        output_limit_field: Some(OutputLimitField::MaxTokens),
        ..ModelSection::default()
    });
    let request = everything();
    let sent = learnt.capabilities(&model, &request, now);
    for (parameter, code) in [
        ("temperature", "unsupported_value"),
        ("response_format", ""),
        ("max_tokens", "unsupported_parameter"),
    ] {
        let incoming = refused(400, &openai(parameter, code));
        assert!(!learnt.learn(&model, &request, sent, &incoming, now));
    }
    assert_eq!(learnt.capabilities(&model, &request, now), sent);
}

#[test]
fn faulty_schema_of_one_caller_takes_schemas_away_from_nobody_else() {
    let (learnt, now) = (Learnt::default(), Instant::now());
    let model = model_of(ModelSection::default());
    let faulty = Request {
        reply_format: Some(format(r#"{"type":"no such type"}"#)),
        ..everything()
    };
    let incoming = refused(400, &openai("response_format", "invalid"));
    let modes = [(); 3].map(|()| {
        let sent = learnt.capabilities(&model, &faulty, now);
        learnt.learn(&model, &faulty, sent, &incoming, now);
        sent.structured_output
    });
    let weaker = [
        StructuredOutput::JsonSchema,
        StructuredOutput::JsonObject,
        StructuredOutput::None,
    ];
    assert_eq!(modes, weaker);
    let sound = learnt.capabilities(&model, &everything(), now);
    assert_eq!(sound.structured_output, StructuredOutput::JsonSchema);
}

#[test]
fn lessons_are_bounded_whatever_callers_send() {
    let incoming = refused(400, &openai("response_format", "invalid"));
    let config = GatewayConfig::default();
    for (models, schemas, most) in [(1, 1_500, 256), (1_500, 1, 1_000)] {
        let (learnt, now) = (Learnt::default(), Instant::now());
        for number in 0..1_500 {
            let name = format!("openai/{}", number % models);
            let model = config.resolve_without_keys(&name).unwrap();
            let request = Request {
                reply_format: Some(format(&(number % schemas).to_string())),
                ..everything()
            };
            let sent = Capabilities::configured(&model);
            learnt.learn(&model, &request, sent, &incoming, now);
        }
        assert_eq!(learnt.list(now).len(), most);
    }
}

#[test]
fn model_that_thinks_is_not_told_how_to_sample() {
    let model = model_of(ModelSection {
        reasoning: Some(true),
        ..ModelSection::default()
    });
    let capabilities = Capabilities::configured(&model);
    assert!(!capabilities.temperature && !capabilities.top_p && !capabilities.stop);
    assert!(capabilities.seed);
}
