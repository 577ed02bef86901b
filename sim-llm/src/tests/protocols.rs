//! Each protocol as its own clients speak it: keys, answers, usage, refusals and faults.
//! What every protocol shares is tested with OpenAI's in `tests.rs`.

use super::*;

struct Call<'a> {
    path: &'a str,
    headers: &'a [(&'a str, &'a str)],
    body: Value,
}

/// What came back, before its body is read as JSON.
struct Head {
    status: StatusCode,
    headers: reqwest::header::HeaderMap,
}

async fn send(server: &SimLlm, client: &Client, call: &Call<'_>) -> (Head, Value) {
    let url = format!("http://{}{}", server.local_addr(), call.path);
    let mut request = client.post(url).body(call.body.to_string());
    for (name, value) in call.headers {
        request = request.header(*name, *value);
    }
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()[SIMULATED_HEADER], "true");
    let head = Head {
        status: response.status(),
        headers: response.headers().clone(),
    };
    (head, response.json().await.unwrap())
}

fn schema() -> Value {
    json!({"type": "object", "additionalProperties": false, "required": ["bid"],
        "properties": {"bid": {"type": "integer", "minimum": 3, "maximum": 5}}})
}

fn anthropic(model: &str) -> Call<'static> {
    Call {
        path: "/v1/messages",
        headers: &[
            ("x-api-key", "sk-ant-1"),
            ("anthropic-version", "2023-06-01"),
        ],
        body: json!({"model": model, "max_tokens": 100, "system": "You play.",
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Bid!"}]}],
            "tools": [{"name": "act", "input_schema": schema()}],
            "tool_choice": {"type": "tool", "name": "act"}}),
    }
}

fn gemini(path: &str) -> Call<'_> {
    Call {
        path,
        headers: &[("x-goog-api-key", "AIza-1")],
        body: json!({"contents": [{"role": "user", "parts": [{"text": "Bid!"}]}],
            "systemInstruction": {"parts": [{"text": "You play."}]},
            "generationConfig": {"responseMimeType": "application/json", "maxOutputTokens": 100,
                "responseJsonSchema": schema()}}),
    }
}

fn azure(path: &str) -> Call<'_> {
    let mut body = body(1);
    body.as_object_mut().unwrap().remove("model");
    Call {
        path,
        headers: &[("api-key", "azure-1")],
        body,
    }
}

const GEMINI: &str = "/v1beta/models/gemini-x:generateContent";
const AZURE: &str = "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21";

fn legal(value: &Value) -> bool {
    (3..=5).contains(&value["bid"].as_i64().unwrap())
}

#[tokio::test]
async fn anthropic_answers_a_forced_tool_by_its_input() {
    let options = SimOptions {
        cached_share: 0.5,
        reply_tokens: Some((50, 50)),
        reasoning_tokens: Some((20, 20)),
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    let mut call = anthropic("claude");
    let (head, answer) = send(&server, &client, &call).await;
    assert_eq!(head.status, StatusCode::OK);
    assert_eq!(answer["stop_reason"], "tool_use");
    assert_eq!(answer["content"][0]["type"], "tool_use");
    assert_eq!(answer["content"][0]["name"], "act");
    assert!(legal(&answer["content"][0]["input"]), "{answer}");
    // The system's `"You play."` and the list of parts, as they stand in the body.
    let usage = json!({"input_tokens": 6, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 5, "output_tokens": 70});
    assert_eq!(answer["usage"], usage);

    call.body["max_tokens"] = json!(1);
    let (_, answer) = send(&server, &client, &call).await;
    assert_eq!(answer["stop_reason"], "max_tokens");
    assert_eq!(answer["content"][0]["input"], json!({}));

    for field in ["tools", "tool_choice"] {
        call.body.as_object_mut().unwrap().remove(field);
    }
    call.body["max_tokens"] = json!(100);
    let (_, answer) = send(&server, &client, &call).await;
    assert_eq!(answer["stop_reason"], "end_turn");
    assert!(answer["content"][0]["text"].is_string());
}

#[tokio::test]
async fn anthropic_refuses_with_its_headers_and_errors() {
    let options = SimOptions {
        charge: SimCharge::Anthropic,
        requests_per_minute: Some(2),
        input_tokens_per_minute: Some(1_000),
        output_tokens_per_minute: Some(500),
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    let call = anthropic("claude");
    let (head, _) = send(&server, &client, &call).await;
    let header = |name: &str| head.headers[name].to_str().unwrap().to_owned();
    assert_eq!(header("anthropic-ratelimit-requests-remaining"), "1");
    assert_eq!(header("anthropic-ratelimit-input-tokens-limit"), "1000");
    assert_eq!(header("anthropic-ratelimit-output-tokens-remaining"), "500");
    let reset = header("anthropic-ratelimit-requests-reset");
    let reset = humantime_serde::re::humantime::parse_rfc3339(&reset).unwrap();
    let wait = reset.duration_since(std::time::SystemTime::now()).unwrap();
    assert!((28..=31).contains(&wait.as_secs()), "{wait:?}");

    send(&server, &client, &call).await;
    let (head, error) = send(&server, &client, &call).await;
    assert_eq!(head.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(head.headers["retry-after"], "30");
    assert_eq!(error["type"], "error");
    assert_eq!(error["error"]["type"], "rate_limit_error");

    let mut odd = anthropic("claude");
    odd.headers = &[("x-api-key", "sk-ant-1")];
    let (head, error) = send(&server, &client, &odd).await;
    assert_eq!(head.status, StatusCode::BAD_REQUEST);
    assert_eq!(error["error"]["type"], "invalid_request_error");
    let mut odd = anthropic("claude");
    odd.body["messages"][0]["role"] = json!("system");
    let (head, _) = send(&server, &client, &odd).await;
    assert_eq!(head.status, StatusCode::BAD_REQUEST);

    for (model, status, kind) in [
        ("dead", 400, "invalid_request_error"),
        ("error529", 529, "overloaded_error"),
        ("error500", 500, "api_error"),
        ("storm", 429, "rate_limit_error"),
    ] {
        let mut call = anthropic(model);
        call.headers = &[
            ("x-api-key", "another"),
            ("anthropic-version", "2023-06-01"),
        ];
        let (head, error) = send(&server, &client, &call).await;
        assert_eq!(head.status.as_u16(), status, "{model}");
        assert_eq!(error["error"]["type"], kind, "{model}");
    }
}

#[tokio::test]
async fn gemini_answers_by_either_kind_of_schema() {
    let options = SimOptions {
        reasoning_tokens: Some((20, 20)),
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    let mut call = gemini(GEMINI);
    let (head, answer) = send(&server, &client, &call).await;
    assert_eq!(head.status, StatusCode::OK);
    assert_eq!(answer["modelVersion"], "gemini-x");
    let candidate = &answer["candidates"][0];
    assert_eq!(candidate["finishReason"], "STOP");
    let text = candidate["content"]["parts"][0]["text"].as_str().unwrap();
    assert!(legal(&serde_json::from_str(text).unwrap()), "{text}");
    let usage = &answer["usageMetadata"];
    let count = |name: &str| usage[name].as_u64().unwrap();
    assert_eq!(
        (count("thoughtsTokenCount"), count("candidatesTokenCount")),
        (20, 3)
    );
    assert_eq!(count("totalTokenCount"), count("promptTokenCount") + 23);

    call.body["generationConfig"] = json!({"responseSchema": {"type": "OBJECT",
        "properties": {"bid": {"type": "INTEGER", "minimum": 3, "maximum": 5}},
        "required": ["bid"]}});
    let (_, answer) = send(&server, &client, &call).await;
    let text = &answer["candidates"][0]["content"]["parts"][0]["text"];
    assert!(legal(
        &serde_json::from_str(text.as_str().unwrap()).unwrap()
    ));

    let (_, other) = send(
        &server,
        &client,
        &gemini("/v1beta/models/other:generateContent"),
    )
    .await;
    assert_eq!(other["modelVersion"], "other");
    assert_ne!(other["responseId"], answer["responseId"]);
}

#[tokio::test]
async fn gemini_refuses_with_retry_info() {
    let options = SimOptions {
        charge: SimCharge::Gemini,
        requests_per_minute: Some(1),
        api_keys: vec!["AIza-1".into()],
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    send(&server, &client, &gemini(GEMINI)).await;
    let (head, body) = send(&server, &client, &gemini(GEMINI)).await;
    assert_eq!(head.status, StatusCode::TOO_MANY_REQUESTS);
    assert!(!head.headers.contains_key("retry-after"));
    let error = &body["error"];
    assert_eq!(
        (&error["code"], &error["status"]),
        (&json!(429), &json!("RESOURCE_EXHAUSTED"))
    );
    let info = &error["details"][1];
    assert_eq!(info["@type"], "type.googleapis.com/google.rpc.RetryInfo");
    let delay = info["retryDelay"].as_str().unwrap().strip_suffix('s');
    let seconds: f64 = delay.unwrap().parse().unwrap();
    assert!((59.0..60.1).contains(&seconds), "{seconds}");

    let mut call = gemini(GEMINI);
    call.headers = &[("x-goog-api-key", "wrong")];
    let (head, body) = send(&server, &client, &call).await;
    assert_eq!(head.status, StatusCode::BAD_REQUEST);
    assert_eq!(body["error"]["details"][0]["reason"], "API_KEY_INVALID");
    let (head, body) = send(&server, &client, &gemini("/v1beta/models/x:countTokens")).await;
    assert_eq!(head.status, StatusCode::NOT_FOUND);
    assert_eq!(body["error"]["status"], "NOT_FOUND");
}

#[tokio::test]
async fn gemini_fails_in_its_own_words() {
    let (server, client) = start(SimOptions::default()).await;
    for (model, status, name) in [
        ("dead", 429, "RESOURCE_EXHAUSTED"),
        ("error503", 503, "UNAVAILABLE"),
        ("error500", 500, "INTERNAL"),
    ] {
        let path = format!("/v1beta/models/{model}:generateContent");
        let (head, body) = send(&server, &client, &gemini(&path)).await;
        assert_eq!(head.status.as_u16(), status, "{model}");
        assert_eq!(body["error"]["status"], name, "{model}");
        assert!(
            body["error"]["details"].is_null(),
            "nobody is told to come back"
        );
    }
}

#[tokio::test]
async fn azure_takes_key_and_model_from_where_azure_has_them() {
    let options = SimOptions {
        requests_per_minute: Some(1),
        api_keys: vec!["azure-1".into()],
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    let (head, answer) = send(&server, &client, &azure(AZURE)).await;
    assert_eq!(head.status, StatusCode::OK);
    assert_eq!(head.headers["x-ratelimit-remaining-requests"], "0");
    assert_eq!(answer["model"], "my-gpt");
    let (head, error) = send(&server, &client, &azure(AZURE)).await;
    assert_eq!(head.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(head.headers["retry-after"], "60");
    assert_eq!(error["error"]["code"], "429");

    let mut call = azure(AZURE);
    call.headers = &[("api-key", "wrong")];
    let (head, error) = send(&server, &client, &call).await;
    assert_eq!(head.status, StatusCode::UNAUTHORIZED);
    assert_eq!(error["error"]["code"], "401");
    let unversioned = AZURE.split('?').next().unwrap();
    let (head, _) = send(&server, &client, &azure(unversioned)).await;
    assert_eq!(head.status, StatusCode::NOT_FOUND);
    let stats = server.stats();
    assert_eq!(stats.keys["...e-1"].since_start.requests, 2);
}

#[tokio::test]
async fn every_protocol_answers_what_it_is_told_is_plausible() {
    let (server, client) = start(SimOptions::default()).await;
    let keys = [
        ("x-api-key", "k"),
        ("api-key", "k"),
        ("x-goog-api-key", "k"),
    ];
    let with = |reply| {
        let more = [("anthropic-version", "2023-06-01"), (REPLY_HEADER, reply)];
        [&keys[..], &more].concat()
    };
    // What is no JSON string says nothing.
    let (plausible, nothing) = (with(r#""{\"bid\": 770077}""#), with("77"));
    for call in [anthropic("claude"), gemini(GEMINI), azure(AZURE)] {
        for (headers, says) in [(&plausible, true), (&nothing, false)] {
            let call = Call {
                headers,
                body: call.body.clone(),
                ..call
            };
            let (head, answer) = send(&server, &client, &call).await;
            assert_eq!(head.status, StatusCode::OK, "{answer}");
            assert_eq!(answer.to_string().contains("770077"), says, "{answer}");
        }
    }
}

#[tokio::test]
async fn models_that_think_think_first_and_are_cut_off_in_their_thoughts() {
    let (server, client) = start(SimOptions::default()).await;
    let mut call = azure("/openai/deployments/thinks-hard/chat/completions?api-version=1");
    call.body["logprobs"] = json!(true);
    call.body["top_logprobs"] = json!(2);
    let (_, answer) = send(&server, &client, &call).await;
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "stop");
    let thought = &answer["usage"]["completion_tokens_details"]["reasoning_tokens"];
    assert!(thought.as_u64().unwrap() >= 100, "{answer}");
    let content = choice["message"]["content"].as_str().unwrap();
    let tokens = choice["logprobs"]["content"].as_array().unwrap();
    let texts: String = tokens
        .iter()
        .filter_map(|token| token["token"].as_str())
        .collect();
    assert_eq!(texts, content);
    assert!(
        tokens
            .iter()
            .all(|token| token["logprob"].as_f64().unwrap() <= 0.0)
    );
    assert!(
        tokens
            .iter()
            .all(|token| token["top_logprobs"].as_array().unwrap().len() == 2)
    );

    call.body["max_completion_tokens"] = json!(50);
    let (_, answer) = send(&server, &client, &call).await;
    let choice = &answer["choices"][0];
    assert_eq!(
        (&choice["message"]["content"], &choice["finish_reason"]),
        (&json!(""), &json!("length"))
    );
    assert_eq!(
        answer["usage"]["completion_tokens_details"]["reasoning_tokens"],
        50
    );
}
