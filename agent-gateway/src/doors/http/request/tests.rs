//! Bodies that OpenAI's clients send: what they become, and which are refused by
//! the name of their field.

use serde_json::json;

use super::*;

fn read_value(body: &Value) -> Result<ChatRequest, ApiError> {
    let headers = [("content-type", "application/json; charset=utf-8")];
    let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
    let bytes = Bytes::from(body.to_string());
    read(&headers.into_iter().collect(), &bytes, Vec::new())
}

fn with(more: &Value) -> Value {
    let mut body = json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }] });
    for (field, value) in more.as_object().unwrap() {
        body[field] = value.clone();
    }
    body
}

#[test]
fn everything_a_decision_knows_is_read() {
    let asked = read_value(&json!({
        "model": "m",
        "messages": [
            { "role": "developer", "content": "be brief" },
            { "role": "user", "name": "x", "content": [
                { "type": "text", "text": "one" }, { "type": "text", "text": "two" },
            ] },
            { "role": "assistant", "content": "three", "refusal": null, "tool_calls": [] },
        ],
        "temperature": 0.5, "top_p": 0.9, "max_tokens": 5, "max_completion_tokens": 7,
        "seed": 3, "stop": "END", "reasoning_effort": "low", "n": 1, "user": "u",
        "metadata": { "a": "b" }, "stream": true, "stream_options": { "include_usage": true },
        "response_format": { "type": "json_schema", "json_schema": {
            "name": "bid", "strict": true, "schema": { "type": "object", "properties": {} } } },
        "tools": [], "tool_choice": "none", "logprobs": false, "presence_penalty": 0.0,
        "logit_bias": null, "modalities": ["text"], "a_field_of_tomorrow": { "x": 1 },
    }))
    .unwrap();
    assert!(asked.stream && asked.include_usage);
    let request = asked.request;
    let roles: Vec<Role> = request
        .messages
        .iter()
        .map(|message| message.role)
        .collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant]);
    assert_eq!(request.messages[1].content, "one\ntwo");
    assert_eq!((request.temperature, request.top_p), (Some(0.5), Some(0.9)));
    assert_eq!(
        (request.max_output_tokens, request.sampling_seed),
        (Some(7), Some(3))
    );
    assert_eq!(request.stop_sequences, ["END"]);
    assert_eq!(request.reasoning_effort.as_deref(), Some("low"));
    let format = request.reply_format.unwrap();
    assert_eq!(format.name, "bid");
    assert_eq!(format.json_schema, r#"{"properties":{},"type":"object"}"#);
}

#[test]
fn reply_formats_are_text_an_object_or_a_schema() {
    let format = |value: Value| {
        let asked = read_value(&with(&json!({ "response_format": value })));
        asked.unwrap().request.reply_format
    };
    assert_eq!(format(json!({ "type": "text" })), None);
    assert_eq!(format(Value::Null), None);
    let object = format(json!({ "type": "json_object" })).unwrap();
    assert!(object.is_any_object());
}

#[test]
fn what_cannot_be_done_is_refused_by_name() {
    for (more, param) in [
        (json!({ "n": 2 }), "n"),
        (json!({ "tools": [{ "type": "function" }] }), "tools"),
        (json!({ "tool_choice": "required" }), "tool_choice"),
        (json!({ "functions": [{}] }), "functions"),
        (json!({ "logprobs": true, "stream": true }), "logprobs"),
        (json!({ "top_logprobs": 3 }), "top_logprobs"),
        (json!({ "logit_bias": { "1": -100 } }), "logit_bias"),
        (json!({ "frequency_penalty": 0.5 }), "frequency_penalty"),
        (json!({ "modalities": ["text", "audio"] }), "modalities"),
        (json!({ "audio": { "voice": "x" } }), "audio"),
        (json!({ "seed": -1 }), "seed"),
        (json!({ "messages": [] }), "messages"),
        (json!({ "max_tokens": 0 }), "max_tokens"),
        (json!({ "max_tokens": "many" }), "max_tokens"),
        (json!({ "temperature": "hot" }), "temperature"),
        (
            json!({ "response_format": { "type": "grammar" } }),
            "response_format.type",
        ),
        (
            json!({ "response_format": { "type": "json_schema" } }),
            "response_format.json_schema",
        ),
        (
            json!({ "messages": [{ "role": "tool", "content": "x" }] }),
            "messages[0].role",
        ),
        (
            json!({ "messages": [{ "role": "user" }] }),
            "messages[0].content",
        ),
        (
            json!({ "messages": [{ "role": "assistant", "content": "", "tool_calls": [{}] }] }),
            "messages[0].tool_calls",
        ),
        (
            json!({ "messages": [{ "role": "user", "content": [
                { "type": "text", "text": "see" },
                { "type": "image_url", "image_url": { "url": "data:" } } ] }] }),
            "messages[0].content[1]",
        ),
    ] {
        let fault = read_value(&with(&more)).unwrap_err();
        assert_eq!(fault.status, StatusCode::BAD_REQUEST);
        assert_eq!(fault.param.as_deref(), Some(param), "{more} {fault:?}");
        let named = param.rsplit('.').next().unwrap();
        assert!(fault.message.contains(named), "{fault:?}");
    }
}

#[test]
fn image_is_refused_with_its_type() {
    let part = json!({ "type": "image_url", "image_url": { "url": "data:" } });
    let body = with(&json!({ "messages": [{ "role": "user", "content": [part] }] }));
    let fault = read_value(&body).unwrap_err();
    assert!(fault.message.contains("\"image_url\""), "{fault:?}");
}

#[test]
fn what_is_no_json_is_refused() {
    let json = [(
        "content-type".parse().unwrap(),
        "application/json".parse().unwrap(),
    )];
    let json: HeaderMap = json.into_iter().collect();
    for broken in ["", "{", "[]", "{} {}", "{\"model\":\"m\"}"] {
        let fault = read(&json, &Bytes::from(broken), Vec::new()).unwrap_err();
        assert_eq!(fault.status, StatusCode::BAD_REQUEST, "{broken}");
    }
    let body = Bytes::from(with(&json!({})).to_string());
    let fault = read(&HeaderMap::new(), &body, Vec::new()).unwrap_err();
    assert_eq!(fault.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
}
