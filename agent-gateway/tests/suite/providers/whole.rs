//! Whole decisions in each protocol, through the gateway and its gRPC service:
//! what reaches the server, what comes back, and where the key is seen.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use agon_agent_gateway::catalogue::ProviderKind;
use agon_agent_gateway::providers::Providers;
use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_proto::v1::{
    ChatMessage, DecideRequest, DecideResponse, DescribeModelsRequest, ForgetLearntRequest,
    MessageRole, ModelOrigin, ReplyFormat,
};
use agon_sim_llm::{SimLlm, SimOptions};
use serde_json::{Value, json};
use tempfile::TempDir;
use tonic::{Code, Status};

use super::mirror::{Answer, Mirror};
use crate::support::{capture_log, client, request, status};

/// How a protocol looks from outside.
struct Protocol {
    kind: &'static str,
    path: &'static str,
    url: &'static str,
    key_header: &'static str,
    /// Stands before the key in its header.
    before_key: &'static str,
    /// Further lines of the provider's section.
    section: &'static str,
    /// The model that says it answered.
    answered_by: &'static str,
}

const PROTOCOLS: [Protocol; 5] = [
    Protocol {
        kind: "openai",
        path: "/v1",
        url: "/v1/chat/completions",
        key_header: "authorization",
        before_key: "Bearer ",
        section: "",
        answered_by: "real-1",
    },
    Protocol {
        kind: "azure",
        path: "",
        url: "/openai/deployments/real/chat/completions?api-version=2024-10-21",
        key_header: "api-key",
        before_key: "",
        section: "",
        answered_by: "real-1",
    },
    Protocol {
        kind: "anthropic",
        path: "/v1",
        url: "/v1/messages",
        key_header: "x-api-key",
        before_key: "",
        section: "",
        answered_by: "real-1",
    },
    Protocol {
        kind: "gemini",
        path: "/v1beta",
        url: "/v1beta/models/real:generateContent",
        key_header: "x-goog-api-key",
        before_key: "",
        section: "",
        answered_by: "real-1",
    },
    // With one of its own keys; signatures and tokens of clouds are in `clouds.rs`.
    Protocol {
        kind: "bedrock",
        path: "",
        url: "/model/real/converse",
        key_header: "authorization",
        before_key: "Bearer ",
        section: "region = 'us-east-1'",
        answered_by: "",
    },
];

/// Uncommon enough to be found anywhere.
const KEYS: [&str; 2] = ["zz-5ecret-key-number-one", "zz-5ecret-key-number-two"];

impl Protocol {
    /// Ten tokens in, of which four were cached; five out.
    fn answer(&self) -> Answer {
        Answer::fine(match self.kind {
            "anthropic" => json!({
                "model": "real-1", "stop_reason": "tool_use",
                "content": [{"type": "tool_use", "id": "t", "name": "act", "input": {"n": 3}}],
                "usage": {"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 5},
            }),
            "bedrock" => json!({
                "output": {"message": {"role": "assistant", "content": [
                    {"toolUse": {"toolUseId": "t", "name": "act", "input": {"n": 3}}}]}},
                "stopReason": "tool_use",
                "usage": {"inputTokens": 6, "cacheReadInputTokens": 4, "outputTokens": 5,
                    "totalTokens": 15},
            }),
            "gemini" => json!({
                "modelVersion": "real-1",
                "candidates": [{"finishReason": "STOP",
                    "content": {"role": "model", "parts": [{"text": r#"{"n":3}"#}]}}],
                "usageMetadata": {"promptTokenCount": 10, "cachedContentTokenCount": 4,
                    "candidatesTokenCount": 5, "totalTokenCount": 15},
            }),
            _ => json!({
                "model": "real-1",
                "choices": [{"finish_reason": "stop", "message": {"content": r#"{"n":3}"#}}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5,
                    "prompt_tokens_details": {"cached_tokens": 4}},
            }),
        })
    }

    /// An error in the protocol's own shape.
    fn error(&self, status: u16, word: &str, message: &str) -> Answer {
        let error = json!({"code": word, "type": word, "status": word, "message": message});
        Answer::new(status, json!({"type": "error", "error": error}))
    }

    /// Model `m` at a mirror, with so many of the keys.
    async fn open(&self, mirror: &Mirror, keys: usize) -> (Gateway, TempDir) {
        self.open_at(&mirror.address, keys).await
    }

    async fn open_at(&self, address: &str, keys: usize) -> (Gateway, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let mut sources = String::new();
        for (number, key) in KEYS.iter().enumerate().take(keys) {
            let path = folder.path().join(format!("key-{number}"));
            std::fs::write(&path, key).unwrap();
            write!(sources, "{{ file = '{}' }}, ", path.display()).unwrap();
        }
        let text = format!(
            "[providers.p]\nkind = '{}'\nbase_url = '{}{}'\nkeys = [{sources}]\n{}\n\
             [models.m]\nprovider = 'p'\nmodel = 'real'\n",
            self.kind, address, self.path, self.section
        );
        let config = GatewayConfig::parse("test.toml", &text).unwrap();
        let ledger = tempfile::tempdir().unwrap();
        let store = Store::Embedded(ledger.path().join("ledger.sqlite"));
        (Gateway::open(config, store).await.unwrap(), ledger)
    }

    /// The keys that the server was shown, by number.
    fn keys_seen(&self, mirror: &Mirror) -> Vec<usize> {
        let seen = mirror.seen();
        let keys = seen.iter().map(|seen| {
            let value = seen.headers[self.key_header].to_str().unwrap();
            let key = value.strip_prefix(self.before_key).unwrap();
            KEYS.iter().position(|known| *known == key).unwrap()
        });
        keys.collect()
    }
}

fn question(index: u32) -> DecideRequest {
    let system = ChatMessage {
        role: MessageRole::System as i32,
        content: "You play a game.".to_owned(),
    };
    let mut asked = request("s", index, "Choose a number.");
    asked.messages.insert(0, system);
    asked.reply_format = Some(ReplyFormat {
        name: "act".to_owned(),
        json_schema: json!({"type": "object", "properties": {"n": {"type": "integer"}}})
            .to_string(),
    });
    asked
}

async fn decide(gateway: &Gateway, asked: DecideRequest) -> Result<DecideResponse, Status> {
    let answer = client(gateway).decide(asked).await;
    answer.map(tonic::Response::into_inner)
}

#[tokio::test]
async fn decision_is_made_in_every_protocol() {
    for protocol in &PROTOCOLS {
        let mirror = Mirror::open().await;
        mirror.will_answer([protocol.answer()]);
        let (gateway, _ledger) = protocol.open(&mirror, 2).await;
        let answer = decide(&gateway, question(0)).await.unwrap();
        let kind = protocol.kind;
        assert_eq!(answer.reply, r#"{"n":3}"#, "{kind}");
        assert_eq!(
            (answer.answered_by.as_str(), answer.finish_reason.as_str()),
            (protocol.answered_by, "stop"),
            "{kind}"
        );
        let usage = answer.usage.unwrap();
        assert_eq!(
            (
                usage.input_tokens,
                usage.output_tokens,
                usage.cached_input_tokens
            ),
            (10, 5, 4),
            "{kind}"
        );
        assert!(!usage.estimated && !answer.simulated, "{kind}");
        let seen = mirror.seen();
        assert_eq!(seen.len(), 1, "{kind}");
        assert_eq!(seen[0].uri.to_string(), protocol.url);
    }
}

#[tokio::test]
async fn key_is_in_its_header_and_nowhere_else_in_every_protocol() {
    let (captured, _guard) = capture_log();
    for protocol in &PROTOCOLS {
        let mirror = Mirror::open().await;
        // Servers that repeat the key: in an error, and in what is no answer.
        let complaint = format!("no good: {}", KEYS[0]);
        mirror.will_answer([
            Answer::fine(format!("<p>{complaint}</p>")),
            protocol.error(400, "invalid_request_error", &complaint),
        ]);
        let (gateway, ledger) = protocol.open(&mirror, 1).await;
        let error = decide(&gateway, question(0)).await.unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.message().contains("no good: [key]"), "{error}");
        let whole = format!("{error} {error:?} {:?}", status(&gateway).await);
        assert!(!whole.contains("5ecret"), "{}: {whole}", protocol.kind);
        for seen in mirror.seen() {
            assert!(!seen.uri.to_string().contains("5ecret"), "{}", seen.uri);
            assert!(!seen.body.to_string().contains("5ecret"), "{}", seen.body);
            let places = seen.headers.iter().filter(|(_, value)| {
                let value = value.to_str().unwrap();
                value.contains("5ecret")
            });
            let places: Vec<&str> = places.map(|(name, _)| name.as_str()).collect();
            assert_eq!(places, [protocol.key_header]);
        }
        for entry in std::fs::read_dir(ledger.path()).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains("5ecret"));
        }
    }
    let log = captured.text();
    // Without it nothing would be shown by the next line.
    assert!(!log.is_empty());
    assert!(!log.contains("5ecret"), "{log}");
}

#[tokio::test]
async fn refused_key_makes_way_for_another_in_every_protocol() {
    for protocol in &PROTOCOLS {
        let kind = protocol.kind;
        let mirror = Mirror::open().await;
        let (gateway, _ledger) = protocol.open(&mirror, 2).await;
        mirror.will_answer([
            protocol.error(401, "authentication_error", "wrong key"),
            protocol.answer(),
        ]);
        for index in 0..3 {
            decide(&gateway, question(index)).await.unwrap();
        }
        let seen = protocol.keys_seen(&mirror);
        assert_eq!(seen.len(), 4, "{kind}");
        assert!(
            seen[1..].iter().all(|key| *key != seen[0]),
            "{kind}: {seen:?}"
        );
        let mut keys = status(&gateway).await.keys;
        keys.retain(|key| key.model.is_empty());
        let dead = keys.iter().filter(|key| !key.quarantine_reason.is_empty());
        assert_eq!(dead.count(), 1, "{kind}");
    }
}

#[tokio::test]
async fn key_without_the_model_makes_way_and_stays_in_use() {
    let missing = [
        ("openai", 404, "model_not_found"),
        ("anthropic", 404, "not_found_error"),
        ("gemini", 404, "NOT_FOUND"),
    ];
    for (kind, code, word) in missing {
        let protocol = PROTOCOLS.iter().find(|named| named.kind == kind).unwrap();
        let mirror = Mirror::open().await;
        let (gateway, _ledger) = protocol.open(&mirror, 2).await;
        mirror.will_answer([
            protocol.error(code, word, "there is no such model for you"),
            protocol.answer(),
        ]);
        decide(&gateway, question(0)).await.unwrap();
        let seen = protocol.keys_seen(&mirror);
        assert_eq!(seen.len(), 2, "{kind}");
        assert_ne!(seen[0], seen[1], "{kind}");
        let keys = status(&gateway).await.keys;
        assert!(
            keys.iter().all(|key| key.quarantine_reason.is_empty()),
            "{kind}"
        );

        mirror.will_answer([protocol.error(code, word, "there is no such model for you")]);
        let error = decide(&gateway, question(1)).await.unwrap_err();
        assert!(
            error.message().contains("no such model for you"),
            "{kind}: {error}"
        );
        assert_eq!(
            protocol.keys_seen(&mirror).len(),
            4,
            "{kind}: each key was asked once"
        );
    }
}

#[tokio::test]
async fn refusal_for_quota_waits_as_each_protocol_has_it() {
    for protocol in &PROTOCOLS {
        let kind = protocol.kind;
        let mirror = Mirror::open().await;
        let (gateway, _ledger) = protocol.open(&mirror, 2).await;
        let busy = |seconds: f64| {
            let mut answer = protocol.error(429, "RESOURCE_EXHAUSTED", "slowly");
            if kind == "gemini" {
                let mut body: Value = serde_json::from_str(&answer.body).unwrap();
                body["error"]["details"] = json!([{"retryDelay": format!("{seconds}s")}]);
                answer.body = body.to_string();
            } else {
                let millis = (seconds * 1_000.0).to_string();
                answer.headers.push(("retry-after-ms".to_owned(), millis));
            }
            answer
        };
        // Both keys, so that the wait is seen.
        mirror.will_answer([busy(0.4), busy(0.5), protocol.answer()]);
        let began = Instant::now();
        decide(&gateway, question(0)).await.unwrap();
        let took = began.elapsed();
        assert!(took >= Duration::from_millis(400), "{kind}: {took:?}");
        assert!(took < Duration::from_secs(5), "{kind}: {took:?}");
        assert_eq!(mirror.seen().len(), 3, "{kind}");
    }
}

#[tokio::test]
async fn parameter_that_is_refused_is_left_out_and_the_decision_says_so() {
    let (gateway, mirror, _ledger) = open_openai().await;
    mirror.will_answer([
        no_temperature(),
        Answer::new(
            400,
            json!({"error": {"message": "no", "param": "max_tokens",
            "code": "unsupported_parameter"}}),
        ),
        openai().answer(),
    ]);
    let mut applied = Vec::new();
    for index in 0..2 {
        let decided = decide(&gateway, warm(index)).await.unwrap();
        applied.push(decided.applied.unwrap());
    }
    let bodies: Vec<Value> = mirror.seen().into_iter().map(|seen| seen.body).collect();
    assert_eq!(bodies.len(), 4, "{bodies:?}");
    assert_eq!(bodies[2], bodies[3], "it is remembered");
    assert_eq!(bodies[0]["temperature"], 0.5);
    assert!(bodies[3]["temperature"].is_null() && bodies[3]["max_tokens"].is_null());
    assert_eq!(bodies[3]["max_completion_tokens"], bodies[0]["max_tokens"]);
    assert_eq!(applied[0], applied[1]);
    assert_eq!(
        (applied[0].temperature, &*applied[0].omitted),
        (None, &["temperature".to_owned()][..])
    );
    assert_eq!(applied[0].reply_format, "json_schema");
    let learnt = status(&gateway).await.learnt;
    let parameters: Vec<&str> = learnt.iter().map(|one| one.parameter.as_str()).collect();
    assert_eq!(parameters, ["temperature", "output_limit_field"]);
}

#[tokio::test]
async fn what_was_learnt_is_forgotten_on_demand_and_asked_with_again() {
    let (gateway, mirror, _ledger) = open_openai().await;
    mirror.will_answer([no_temperature(), openai().answer()]);
    decide(&gateway, warm(0)).await.unwrap();
    let learnt = status(&gateway).await.learnt;
    let name = format!("{}/{}", learnt[0].provider, learnt[0].provider_model);
    let forget = async |model: &str| {
        let model = model.to_owned();
        let mut client = client(&gateway);
        let forgotten = client.forget_learnt(ForgetLearntRequest { model }).await;
        forgotten.unwrap().into_inner().forgotten.len()
    };
    assert_eq!(forget("another/model").await, 0);
    assert_eq!(status(&gateway).await.learnt.len(), 1);
    assert_eq!(forget(&name).await, 1);
    assert!(status(&gateway).await.learnt.is_empty());
    decide(&gateway, warm(1)).await.unwrap();
    let bodies = mirror.seen().into_iter().map(|seen| seen.body);
    let temperatures: Vec<Value> = bodies.map(|body| body["temperature"].clone()).collect();
    assert_eq!(temperatures, [json!(0.5), Value::Null, json!(0.5)]);
}

#[tokio::test]
async fn who_requires_a_parameter_is_refused_rather_than_answered_without_it() {
    let (gateway, mirror, _ledger) = open_openai().await;
    mirror.will_answer([no_temperature(), openai().answer()]);
    let strict = |index| DecideRequest {
        required_parameters: vec!["temperature".to_owned()],
        ..warm(index)
    };
    let refused = decide(&gateway, strict(0)).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(
        refused.message().contains("it takes no temperature"),
        "{refused}"
    );
    assert!(refused.message().contains("Only the default"), "{refused}");
    assert_eq!(
        mirror.seen().len(),
        1,
        "the answer without it is not asked for"
    );
    // Recorded for somebody else, who did not mind.
    decide(&gateway, warm(1)).await.unwrap();
    let refused = decide(&gateway, strict(1)).await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    let cold = DecideRequest {
        temperature: None,
        ..strict(2)
    };
    decide(&gateway, cold).await.unwrap();
}

#[tokio::test]
async fn answers_come_from_where_the_caller_expects_them_or_not_at_all() {
    let (gateway, mirror, _ledger) = open_openai().await;
    mirror.will_answer([openai().answer()]);
    let described = client(&gateway)
        .describe_models(DescribeModelsRequest {
            models: vec!["m".to_owned()],
        })
        .await
        .unwrap();
    let origin = described.into_inner().origins.remove(0);
    assert_eq!(origin.provider_kind, "openai");
    assert!(origin.endpoint.starts_with(&mirror.address), "{origin:?}");
    let expecting = |index, origin| DecideRequest {
        expected_origins: vec![origin],
        ..question(index)
    };
    decide(&gateway, expecting(0, origin.clone()))
        .await
        .unwrap();
    for other in [
        ModelOrigin {
            endpoint: "http://elsewhere/v1".to_owned(),
            ..origin.clone()
        },
        ModelOrigin {
            provider_kind: "azure".to_owned(),
            ..origin.clone()
        },
        ModelOrigin {
            provider_model: "n".to_owned(),
            additions: String::new(),
            ..origin.clone()
        },
    ] {
        let refused = decide(&gateway, expecting(1, other)).await.unwrap_err();
        assert_eq!(refused.code(), Code::FailedPrecondition, "{refused}");
    }
    assert_eq!(mirror.seen().len(), 1);
    let unknown = DescribeModelsRequest {
        models: vec!["nobody".to_owned()],
    };
    let refused = client(&gateway).describe_models(unknown).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn what_a_model_thought_is_kept_beside_its_answer() {
    for (kind, body) in [
        (
            "openai",
            json!({"choices": [{"message": {"content": "3", "reasoning_content": "I think."}}]}),
        ),
        (
            "openai",
            json!({"choices": [{"message": {"content": "3", "reasoning": "I think."}}]}),
        ),
        (
            "anthropic",
            json!({"content": [{"type": "thinking", "thinking": "I think.", "signature": "x"},
                {"type": "text", "text": "3"}]}),
        ),
        (
            "gemini",
            json!({"candidates": [{"content": {"parts": [{"text": "I think.", "thought": true},
                {"text": "3"}]}}]}),
        ),
    ] {
        let protocol = PROTOCOLS.iter().find(|named| named.kind == kind).unwrap();
        let mirror = Mirror::open().await;
        let (gateway, _ledger) = protocol.open(&mirror, 1).await;
        mirror.will_answer([Answer::fine(&body)]);
        for _ in ["asked", "from the ledger"] {
            let decided = decide(&gateway, question(0)).await.unwrap();
            assert_eq!(
                (&*decided.reply, &*decided.reasoning),
                ("3", "I think."),
                "{body}"
            );
        }
        assert_eq!(mirror.seen().len(), 1);
    }
}

fn openai() -> &'static Protocol {
    PROTOCOLS
        .iter()
        .find(|named| named.kind == "openai")
        .unwrap()
}

async fn open_openai() -> (Gateway, Mirror, TempDir) {
    let mirror = Mirror::open().await;
    let (gateway, ledger) = openai().open(&mirror, 2).await;
    (gateway, mirror, ledger)
}

fn warm(index: u32) -> DecideRequest {
    DecideRequest {
        temperature: Some(0.5),
        ..question(index)
    }
}

/// As OpenAI refuses it.
fn no_temperature() -> Answer {
    Answer::new(
        400,
        json!({"error": {
        "message": "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
        "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value"}}),
    )
}

#[tokio::test]
async fn simulated_server_is_understood_in_every_protocol() {
    let options = SimOptions {
        api_keys: KEYS.map(str::to_owned).to_vec(),
        reasoning_tokens: Some((7, 7)),
        cached_share: 0.5,
        error_rate: 0.3,
        error_statuses: vec![500, 503, 529],
        ..SimOptions::default()
    };
    // Clouds are not simulated.
    for protocol in PROTOCOLS.iter().filter(|one| one.kind != "bedrock") {
        let server = SimLlm::start(options.clone(), "127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", server.local_addr());
        let (gateway, _ledger) = protocol.open_at(&address, 2).await;
        let kind = protocol.kind;
        for index in 0..5 {
            let asked = DecideRequest {
                sampling_seed: Some(u64::from(index)),
                ..question(index)
            };
            let answer = decide(&gateway, asked).await.unwrap();
            assert!(answer.simulated, "{kind}");
            let reply: Value = serde_json::from_str(&answer.reply).unwrap();
            assert!(reply.is_object(), "{kind}: {reply}");
            assert_eq!(answer.finish_reason, "stop", "{kind}");
            let usage = answer.usage.unwrap();
            assert!(
                !usage.estimated && usage.output_tokens > 7,
                "{kind}: {usage:?}"
            );
            assert!(usage.cached_input_tokens > 0, "{kind}: {usage:?}");
            assert!(
                usage.cached_input_tokens < usage.input_tokens,
                "{kind}: {usage:?}"
            );
        }
        assert_eq!(server.stats().answered, 5, "{kind}");
    }
}

#[tokio::test]
async fn every_builtin_provider_but_a_door_is_spoken_to() {
    let real = Providers::real().unwrap();
    let config = GatewayConfig::default();
    let said = config
        .resolve_without_keys("nobody")
        .unwrap_err()
        .to_string();
    let names = said.rsplit_once("is one of ").unwrap().1;
    let mut kinds = Vec::new();
    for name in names.split(", ") {
        let model = config.resolve_without_keys(&format!("{name}/x")).unwrap();
        let kind = model.provider.kind;
        let spoken = real.get(kind).is_some();
        assert_eq!(spoken, kind != ProviderKind::Door, "{name}");
        kinds.push(kind);
    }
    for kind in [
        ProviderKind::OpenAi,
        ProviderKind::Anthropic,
        ProviderKind::Gemini,
    ] {
        assert!(kinds.contains(&kind), "{kind:?}");
    }
    assert!(real.get(ProviderKind::Azure).is_some());
}
