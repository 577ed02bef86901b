//! The HTTP door over real HTTP: completions whole and streamed, tokens and
//! teams, addresses, faults in OpenAI's form, clients that go away, and the end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_agent_gateway::providers::{Refusal, Remedy, Reply, Scripted};
use agon_agent_gateway::{Gateway, Store, access};
use agon_identity::gate::Gate;
use agon_identity::view::Identities;
use agon_proto::v1::ListDecisionsRequest;
use agon_service_kit::server::{Listener, install_crypto};
use agon_service_kit::tasks::Tasks;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::redis_server::RedisServer;
use crate::support::{capture_log, client, config, gateway, status, until};

pub const RED: &str = "red-5ecret-token-0001";
pub const BLUE: &str = "blue-5ecret-token-0001";

/// A gateway with its HTTP door on a free port.
pub struct House {
    pub gateway: Gateway,
    pub address: SocketAddr,
    pub tasks: Tasks,
    folder: TempDir,
    identities: Identities,
}

const IDENTITY: &str = "identity.toml";

/// A token of each team, in the files named like them.
fn identity_file(folder: &TempDir) -> String {
    let teams = ["red", "blue"].map(|team| {
        let path = folder.path().join(team).display().to_string();
        format!(
            "[teams.{team}]\n[tokens.{team}]\nteam = '{team}'\nscopes = ['submit', 'play']\n\
             file = '{path}'\n"
        )
    });
    teams.concat()
}

impl House {
    /// Teams red and blue have a token each.
    pub async fn open(store: Option<Store>, more: &str, provider: Arc<Scripted>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("red"), format!("{RED}\n")).unwrap();
        std::fs::write(folder.path().join("blue"), format!("{BLUE}\n")).unwrap();
        std::fs::write(folder.path().join(IDENTITY), identity_file(&folder)).unwrap();
        Self::open_as(folder, store, more, provider).await
    }

    /// Nobody has a token.
    pub async fn open_to_all(more: &str, provider: Arc<Scripted>) -> Self {
        Self::open_as(tempfile::tempdir().unwrap(), None, more, provider).await
    }

    async fn open_as(
        folder: TempDir,
        store: Option<Store>,
        text: &str,
        provider: Arc<Scripted>,
    ) -> Self {
        install_crypto();
        let own = Store::Embedded(folder.path().join("ledger.sqlite"));
        let gateway = gateway(config(text), store.unwrap_or(own), provider).await;
        let tasks = Tasks::new();
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr();
        let file = Some(folder.path().join(IDENTITY)).filter(|file| file.exists());
        let identities = Identities::open(None, file, &tasks).await.unwrap();
        let gate = Gate::new(identities.clone(), "http", access::HTTP_RULES, address);
        gateway.serve_http(&tasks, listener, gate);
        Self {
            gateway,
            address,
            tasks,
            folder,
            identities,
        }
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        reqwest::Client::new().get(format!("http://{}{path}", self.address))
    }

    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        let url = format!("http://{}{path}", self.address);
        reqwest::Client::new().post(url).json(body)
    }

    pub fn chat(&self, body: &Value) -> RequestBuilder {
        self.post("/v1/chat/completions", body)
    }

    async fn recorded(&self, session_id: &str) -> usize {
        let list = ListDecisionsRequest {
            session_id: session_id.to_owned(),
        };
        let listed = client(&self.gateway).list_decisions(list).await;
        listed.unwrap().into_inner().decisions.len()
    }
}

pub fn ask(content: &str) -> Value {
    json!({ "model": "m", "messages": [{ "role": "user", "content": content }] })
}

fn with(mut body: Value, more: &Value) -> Value {
    for (field, value) in more.as_object().unwrap() {
        body[field] = value.clone();
    }
    body
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    let value = response.headers().get(name);
    value.map_or("", |value| value.to_str().unwrap())
}

async fn fault(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let body: Value = response.json().await.unwrap();
    (status, body["error"].clone())
}

/// The data of a stream's events; comments are left out.
async fn events(response: Response) -> Vec<String> {
    assert_eq!(header(&response, "content-type"), "text/event-stream");
    let text = response.text().await.unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.map(str::to_owned).collect()
}

fn counted() -> Scripted {
    Scripted::new(|request, number| {
        Ok(Reply {
            text: format!("{} {number}", request.messages[0].content),
            answered_by: "really-m".to_owned(),
            finish_reason: "stop".to_owned(),
            ..Reply::default()
        })
    })
}

async fn stores() -> (RedisServer, Vec<Option<Store>>) {
    let server = RedisServer::start().await;
    let redis = Store::Redis(server.url());
    (server, vec![None, Some(redis)])
}

#[tokio::test]
async fn completion_over_http_is_a_decision_like_any_other() {
    let (_server, stores) = stores().await;
    for store in stores {
        let house = House::open(store, "", Arc::new(counted())).await;
        let response = house
            .chat(&ask("hi"))
            .bearer_auth(RED)
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(header(&response, "x-agon-from-ledger"), "false");
        assert_eq!(header(&response, "x-agon-model"), "m");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["object"], "chat.completion");
        assert_eq!(body["model"], "really-m");
        let choice = &body["choices"][0];
        assert_eq!(choice["message"]["content"], "hi 0");
        assert_eq!(choice["finish_reason"], "stop");
        let usage = &body["usage"];
        let sum =
            usage["prompt_tokens"].as_u64().unwrap() + usage["completion_tokens"].as_u64().unwrap();
        assert_eq!(usage["total_tokens"], sum);
        assert_eq!(status(&house.gateway).await.decided, 1);
        // Each request without an address is a question of its own.
        house
            .chat(&ask("hi"))
            .bearer_auth(RED)
            .send()
            .await
            .unwrap();
        assert_eq!(status(&house.gateway).await.decided, 2);
    }
}

#[tokio::test]
async fn stream_has_the_chunks_that_clients_expect() {
    let house = House::open(None, "", Arc::new(counted())).await;
    let long = "ü".repeat(600);
    let more = json!({ "stream": true, "stream_options": { "include_usage": true } });
    let response = house
        .chat(&with(ask(&long), &more))
        .bearer_auth(RED)
        .send()
        .await
        .unwrap();
    assert_eq!(header(&response, "x-agon-from-ledger"), "false");
    let mut events = events(response).await;
    assert_eq!(events.pop().unwrap(), "[DONE]");
    let chunks: Vec<Value> = events
        .iter()
        .map(|event| serde_json::from_str(event).unwrap())
        .collect();
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk["object"] == "chat.completion.chunk")
    );
    assert!(chunks.iter().all(|chunk| chunk["id"] == chunks[0]["id"]));
    let [first, contents @ .., finish, usage] = &chunks[..] else {
        panic!("{chunks:?}");
    };
    assert_eq!(first["choices"][0]["delta"]["role"], "assistant");
    let parts = contents
        .iter()
        .map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().unwrap());
    assert!(contents.len() > 1);
    assert_eq!(parts.collect::<String>(), format!("{long} 0"));
    assert_eq!(finish["choices"][0]["finish_reason"], "stop");
    assert_eq!(finish["agon"]["model"], "m");
    assert_eq!(usage["choices"], json!([]));
    assert!(usage["usage"]["total_tokens"].as_u64().unwrap() > 0);

    let response = house
        .chat(&with(ask("x"), &json!({ "stream": true })))
        .bearer_auth(RED)
        .send();
    let without = self::events(response.await.unwrap()).await;
    assert!(!without.iter().any(|event| event.contains("\"usage\"")));
}

#[tokio::test]
async fn stream_that_waits_is_kept_alive_by_comments_and_told_of_faults() {
    let provider = Scripted::new(|_, number| match number {
        0 => Ok(Reply {
            text: "late".to_owned(),
            ..Reply::default()
        }),
        _ => Err(Refusal::new(Remedy::GiveUp, "no such luck")),
    });
    let provider = Arc::new(provider.with_latency(Duration::from_millis(1_500)));
    let house = House::open(None, "", provider).await;
    let body = with(ask("x"), &json!({ "stream": true }));
    let began = Instant::now();
    let mut response = house.chat(&body).bearer_auth(RED).send().await.unwrap();
    let first = response.chunk().await.unwrap().unwrap();
    assert!(
        began.elapsed() < Duration::from_millis(1_400),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(&first[..], b": waiting\n\n");
    let rest = response.text().await.unwrap();
    assert!(
        rest.contains("\"late\"") && rest.ends_with("data: [DONE]\n\n"),
        "{rest}"
    );

    let response = house.chat(&body).bearer_auth(RED).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let events = events(response).await;
    assert_eq!(events.len(), 1);
    assert!(
        events[0].contains("no such luck") && events[0].starts_with("{\"error\""),
        "{events:?}"
    );
}

#[tokio::test]
async fn nobody_gets_in_without_a_token_of_a_team() {
    let house = House::open(None, "", Arc::new(counted())).await;
    for path in ["/v1/models", "/v1/models/m", "/v1/doors/alice/asks"] {
        let (status, _) = fault(house.get(path).send().await.unwrap()).await;
        assert_eq!(status, 401, "{path}");
    }
    let answer = house.post("/v1/doors/alice/answers", &json!({}));
    assert_eq!(fault(answer.send().await.unwrap()).await.0, 401);
    for wrong in ["", "wrong-token-0000001", "red", &RED[..RED.len() - 1]] {
        let response = house
            .chat(&ask("hi"))
            .bearer_auth(wrong)
            .send()
            .await
            .unwrap();
        let (status, error) = fault(response).await;
        assert_eq!(status, 401);
        assert_eq!(error["code"], "invalid_api_key");
        assert!(
            error["message"].as_str().unwrap().contains("token"),
            "{error}"
        );
    }
    let health = house.get("/health").send().await.unwrap();
    assert_eq!(health.status(), StatusCode::OK);
    assert_eq!(status(&house.gateway).await.decided, 0);
}

#[tokio::test]
async fn gateway_without_tokens_serves_its_own_machine_only() {
    let house = House::open_to_all("", Arc::new(counted())).await;
    let response = house.chat(&ask("hi")).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    // A page in a browser under a name of its own that leads here.
    let foreign = house.chat(&ask("hi")).header("host", "evil.example:7711");
    assert_eq!(fault(foreign.send().await.unwrap()).await.0, 401);

    let listener = Listener::bind("0.0.0.0:0").await.unwrap();
    let address = listener.local_addr();
    let gate = Gate::new(
        house.identities.clone(),
        "http",
        access::HTTP_RULES,
        address,
    );
    house.gateway.serve_http(&house.tasks, listener, gate);
    let url = format!("http://127.0.0.1:{}/v1/models", address.port());
    let beyond = reqwest::Client::new().get(url).send().await.unwrap();
    assert_eq!(fault(beyond).await.0, 401);
}

#[tokio::test]
async fn changed_token_is_in_use_without_a_restart() {
    let house = House::open(None, "", Arc::new(counted())).await;
    let models = async |token: &str| {
        let request = house.get("/v1/models").bearer_auth(token);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!((models(RED).await, models(BLUE).await), (200, 200));
    let changed = "red-changed-token-0002";
    std::fs::write(house.folder.path().join("red"), changed).unwrap();
    until("the changed token", async || models(changed).await == 200).await;
    assert_eq!((models(RED).await, models(BLUE).await), (401, 200));
}

#[tokio::test]
async fn scopes_decide_what_a_token_may_do_over_http() {
    let house = House::open(None, "", Arc::new(counted())).await;
    let path = house.folder.path().join("red").display().to_string();
    let identity =
        format!("[teams.red]\n[tokens.red]\nteam = 'red'\nscopes = ['read']\nfile = '{path}'\n");
    std::fs::write(house.folder.path().join(IDENTITY), identity).unwrap();
    let chat = async || {
        let asked = house.chat(&ask("hi")).bearer_auth(RED).send().await;
        fault(asked.unwrap()).await
    };
    until("the narrower token", async || chat().await.0 == 403).await;
    let (_, error) = chat().await;
    assert_eq!(error["code"], "insufficient_scope");
    assert!(
        error["message"].as_str().unwrap().contains("submit"),
        "{error}"
    );
    let asks = house.get("/v1/doors/alice/asks").bearer_auth(RED);
    assert_eq!(fault(asks.send().await.unwrap()).await.0, 403);
    let models = house.get("/v1/models").bearer_auth(RED);
    assert_eq!(models.send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn decision_with_an_address_is_made_once_and_belongs_to_its_team() {
    let (_server, stores) = stores().await;
    for store in stores {
        let provider = Arc::new(counted());
        let house = House::open(store, "", Arc::clone(&provider)).await;
        let send = async |token: &str, content: &str| {
            let request = house.chat(&ask(content)).bearer_auth(token);
            request
                .header("x-agon-decision", "run/0/3")
                .send()
                .await
                .unwrap()
        };
        let first = send(RED, "hi").await;
        assert_eq!(header(&first, "x-agon-from-ledger"), "false");
        let again = send(RED, "hi").await;
        assert_eq!(header(&again, "x-agon-from-ledger"), "true");
        let again: Value = again.json().await.unwrap();
        assert_eq!(again["choices"][0]["message"]["content"], "hi 0");
        let (status, error) = fault(send(RED, "ho").await).await;
        assert_eq!((status, &error["code"]), (409, &json!("conflict")));

        let theirs: Value = send(BLUE, "hi").await.json().await.unwrap();
        assert_eq!(theirs["choices"][0]["message"]["content"], "hi 1");
        assert_eq!(provider.calls(), 2);
        assert_eq!(house.recorded("http/red/run").await, 1);
        assert_eq!(house.recorded("run").await, 0);
    }
}

const PRICED: &str = "[models.priced]\nprovider = 'p'\n\
                      price = { input_per_million_dollars = '1', output_per_million_dollars = '1' }\n";

#[tokio::test]
async fn cached_answer_costs_nothing_and_says_where_it_is_from() {
    let house = House::open(None, PRICED, Arc::new(counted())).await;
    let send = async |more: Value| {
        let request = house.chat(&with(ask("hi"), &more)).bearer_auth(RED);
        let sent = request.header("x-agon-replicate", "0").send().await;
        sent.unwrap()
    };
    let whole = json!({ "model": "priced" });
    let first = send(whole.clone()).await;
    assert_eq!(header(&first, "x-agon-from-cache"), "false");
    let paid: f64 = header(&first, "x-agon-cost-dollars").parse().unwrap();
    assert!(paid > 0.0);
    let again = send(whole).await;
    assert_eq!(header(&again, "x-agon-from-cache"), "true");
    assert_eq!(header(&again, "x-agon-cost-dollars"), "0.000000000");
    let streamed = send(json!({ "model": "priced", "stream": true })).await;
    let events = events(streamed).await;
    let last: Value = serde_json::from_str(&events[events.len() - 2]).unwrap();
    assert_eq!(last["agon"]["from_cache"], true);
    assert_eq!(last["agon"]["cost_dollars"], "0.000000000");
}

#[tokio::test]
async fn who_joins_a_call_under_way_is_told_that_another_pays_for_it() {
    let provider = Arc::new(counted().with_latency(Duration::from_millis(300)));
    let house = House::open(None, PRICED, Arc::clone(&provider)).await;
    let send = || {
        let request = house.chat(&with(ask("hi"), &json!({ "model": "priced" })));
        let request = request.bearer_auth(RED);
        request.header("x-agon-decision", "run/0/0").send()
    };
    let (first, second) = tokio::join!(send(), send());
    let (first, second) = (first.unwrap(), second.unwrap());
    let mut told = [&first, &second].map(|one| header(one, "x-agon-from-ledger"));
    told.sort_unstable();
    assert_eq!(told, ["false", "true"]);
    assert_eq!(provider.calls(), 1);
}

/// Nobody can ask for it again, so no ledger has to be read and written for it.
#[tokio::test]
async fn request_without_an_address_is_in_no_ledger_and_its_cost_is_kept() {
    let server = RedisServer::start().await;
    for store in [None, Some(Store::Redis(server.url()))] {
        let house = House::open(store, "", Arc::new(counted())).await;
        let send = async || {
            let sent = house.chat(&ask("hi")).bearer_auth(RED).send().await;
            let response = sent.unwrap();
            let id = header(&response, "x-request-id");
            let id = id.strip_prefix("chatcmpl-").unwrap();
            format!("http-once/red/{id}")
        };
        let (one, other) = (send().await, send().await);
        assert_ne!(one, other);
        for session_id in [one, other] {
            assert_eq!(house.recorded(&session_id).await, 0);
        }
        let teams = status(&house.gateway).await.teams;
        let red = teams.iter().find(|team| team.team == "red").unwrap();
        assert_eq!(red.decided, 2);
    }
    let mut connection = server.connection().await;
    let keys: Vec<String> = redis::cmd("KEYS")
        .arg("agon:*http-once*")
        .query_async(&mut connection)
        .await
        .unwrap();
    assert_eq!(keys, [""; 0]);
}

#[tokio::test]
async fn client_that_goes_away_frees_its_place_unless_it_is_paid_for() {
    // Long enough for those who wait to have gone.
    let provider = Arc::new(counted().with_latency(Duration::from_secs(4)));
    let limits = "limits = { concurrency = 1 }";
    let house = House::open(None, limits, Arc::clone(&provider)).await;
    let send = |index: u32, stream: bool| {
        let request = house.chat(&with(ask("hi"), &json!({ "stream": stream })));
        let request = request.header("x-agon-decision", format!("run/0/{index}"));
        tokio::spawn(request.bearer_auth(RED).send())
    };
    let paid = send(0, false);
    until("one is at the provider", async || {
        status(&house.gateway).await.in_flight == 1
    })
    .await;
    let waiting = [send(1, false), send(2, true)];
    until("two wait", async || {
        status(&house.gateway).await.waiting_for_quota == 2
    })
    .await;
    paid.abort();
    for gone in waiting {
        gone.abort();
    }
    until("nobody waits", async || {
        status(&house.gateway).await.waiting_for_quota == 0
    })
    .await;
    until("the paid one is recorded", async || {
        house.recorded("http/red/run").await == 1
    })
    .await;
    assert_eq!(provider.calls(), 1);
}

#[tokio::test]
async fn models_are_those_of_the_configuration() {
    let house = House::open(None, "", Arc::new(counted())).await;
    let list = house
        .get("/v1/models")
        .bearer_auth(RED)
        .send()
        .await
        .unwrap();
    let list: Value = list.json().await.unwrap();
    assert_eq!(list["data"][0]["id"], "m");
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    // One that is not listed but can be asked for; its name has a slash.
    for id in ["m", "p/some/model"] {
        let path = format!("/v1/models/{id}");
        let one = house.get(&path).bearer_auth(RED).send().await.unwrap();
        let one: Value = one.json().await.unwrap();
        assert_eq!((&one["id"], &one["owned_by"]), (&json!(id), &json!("p")));
    }
    let unknown = house
        .get("/v1/models/gpt-9")
        .bearer_auth(RED)
        .send()
        .await
        .unwrap();
    let (status, error) = fault(unknown).await;
    assert_eq!((status, &error["code"]), (404, &json!("model_not_found")));
    let unknown = house
        .chat(&with(ask("hi"), &json!({ "model": "gpt-9" })))
        .bearer_auth(RED);
    let (status, error) = fault(unknown.send().await.unwrap()).await;
    assert_eq!((status, &error["param"]), (404, &json!("model")));
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("configured models are m"),
        "{error}"
    );
}

#[tokio::test]
async fn faults_have_the_form_and_status_that_clients_know() {
    let provider = Scripted::new(|_, _| Err(Refusal::new(Remedy::GiveUp, "too rude")));
    let house = House::open(None, "", Arc::new(provider)).await;
    let send = async |request: RequestBuilder| {
        let response = request.bearer_auth(RED).send().await.unwrap();
        assert_eq!(header(&response, "x-should-retry"), "false");
        let (status, error) = fault(response).await;
        assert!(
            error["message"].is_string() && error["type"].is_string(),
            "{error}"
        );
        (status, error)
    };
    let (status, error) = send(house.chat(&ask("hi"))).await;
    assert_eq!(status, 400);
    assert!(
        error["message"].as_str().unwrap().contains("too rude"),
        "{error}"
    );
    let (status, error) = send(house.chat(&with(ask("hi"), &json!({ "n": 2 })))).await;
    assert_eq!((status, &error["param"]), (400, &json!("n")));
    let bad = house.chat(&ask("hi")).header("x-agon-decision", "nonsense");
    assert_eq!(send(bad).await.1["param"], "x-agon-decision");
    let lost = house
        .chat(&ask("hi"))
        .header("x-agon-fallback", "m, gpt-99");
    let (status, error) = send(lost).await;
    assert_eq!(
        (status, &error["param"], &error["code"]),
        (404, &json!("x-agon-fallback"), &json!("model_not_found"))
    );
    assert_eq!(send(house.get("/v1/embeddings")).await.0, 404);
    let mistaken = send(house.get("/v1/q7Zp2wv9Xk2M51uh")).await.1;
    assert!(!mistaken.to_string().contains("q7Zp2wv9"), "{mistaken}");
    let wrong = house.get("/v1/chat/completions").bearer_auth(RED);
    let wrong = wrong.send().await.unwrap();
    assert_eq!(
        (wrong.status().as_u16(), header(&wrong, "allow")),
        (405, "POST")
    );
    let url = format!("http://{}/v1/chat/completions", house.address);
    let form = reqwest::Client::new().post(url).body(ask("hi").to_string());
    assert_eq!(send(form).await.0, 415);
    let look = house.get("/v1/doors/alice/asks?wait=long");
    assert_eq!(send(look).await.0, 400);
}

#[tokio::test]
async fn body_that_is_too_large_is_refused_before_it_is_sent() {
    let house = House::open(None, "", Arc::new(counted())).await;
    let mut socket = tokio::net::TcpStream::connect(house.address).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {RED}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        17 << 20
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut said = String::new();
    while !said.contains("request_too_large") {
        let mut bytes = [0; 1024];
        let count = socket.read(&mut bytes).await.unwrap();
        assert!(count > 0, "{said}");
        said.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    assert!(said.starts_with("HTTP/1.1 413"), "{said}");
    assert!(said.contains("larger than 16 MiB"), "{said}");
}

#[tokio::test]
async fn redis_away_is_told_as_something_that_passes() {
    let mut server = RedisServer::start().await;
    let house = House::open(Some(Store::Redis(server.url())), "", Arc::new(counted())).await;
    server.kill();
    let response = house
        .chat(&ask("hi"))
        .bearer_auth(RED)
        .send()
        .await
        .unwrap();
    assert_eq!(header(&response, "x-should-retry"), "true");
    assert_eq!(header(&response, "retry-after"), "2");
    assert_eq!(fault(response).await.0, 503);

    let shows = async |path: &str| house.get(path).send().await.unwrap().status();
    until("health says so", async || shows("/health").await == 503).await;
    assert_eq!(shows("/live").await, 200);
    server.start_again().await;
    until("health is back", async || shows("/health").await == 200).await;
}

#[tokio::test]
async fn stopping_door_sends_the_waiting_away_and_finishes_what_is_paid() {
    let provider = Arc::new(counted().with_latency(Duration::from_millis(500)));
    let house = House::open(None, "limits = { concurrency = 1 }", provider).await;
    let send = |content: &str| tokio::spawn(house.chat(&ask(content)).bearer_auth(RED).send());
    let paid = send("paid");
    until("one is at the provider", async || {
        status(&house.gateway).await.in_flight == 1
    })
    .await;
    let waiting = send("waiting");
    let asks = house
        .get("/v1/doors/alice/asks?wait=40s")
        .bearer_auth(RED)
        .send();
    let looking = tokio::spawn(asks);
    until("one waits", async || {
        status(&house.gateway).await.waiting_for_quota == 1
    })
    .await;

    let (began, deadline) = (Instant::now(), Duration::from_secs(10));
    let (_, stopped) = tokio::join!(
        house.gateway.drain(deadline),
        house.tasks.shutdown(deadline)
    );
    stopped.unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    let waiting = waiting.await.unwrap().unwrap();
    assert_eq!(header(&waiting, "retry-after"), "2");
    assert_eq!(fault(waiting).await.0, 503);
    let paid: Value = paid.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(paid["choices"][0]["message"]["content"], "paid 0");
    // Either it was told, or it came too late to be heard.
    if let Ok(looked) = looking.await.unwrap() {
        assert_eq!(looked.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
}

#[tokio::test]
async fn token_is_in_no_log_error_status_or_metric() {
    agon_service_kit::metrics::install().unwrap();
    let (captured, _guard) = capture_log();
    let house = House::open(None, "", Arc::new(counted())).await;
    let mut shown = String::new();
    for (token, content) in [(RED, "hi"), ("wrong-5ecret-token-01", "hi"), (RED, "")] {
        let more = json!({ "stream": content.is_empty() });
        let response = house
            .chat(&with(ask(content), &more))
            .bearer_auth(token)
            .send();
        let response = response.await.unwrap();
        shown += &format!("{:?}", response.headers());
        shown += &response.text().await.unwrap();
    }
    shown += &format!("{:?}", status(&house.gateway).await);
    let metrics = agon_service_kit::metrics::render();
    let counted =
        "agon_gateway_http_requests_total{route=\"/v1/chat/completions\",status=\"401\"} ";
    assert!(metrics.contains(counted), "{metrics}");
    shown += &metrics;
    shown += &captured.text();
    assert!(!shown.contains("5ecret"), "{shown}");
}
