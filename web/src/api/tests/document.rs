//! Claims about the OpenAPI document: it is the one that is committed, it has every route and no other, and
//! what routes answer is what it says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;
use jsonschema::Validator;
use tokio::sync::watch;

use super::*;
use crate::query::{BY_DEFAULT, MOST};
use crate::seats::tests::{FAR, Guest, Stand as SeatStand, ask};
use crate::seats::{Check, People, Question, QuestionKind};
use crate::sweeps::{Action, State, States, Sweep, SweepFault};
use crate::wanted::Wanted;

/// What streams of events are.
const EVENTS: &str = "text/event-stream";

/// Methods that a route may take.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

impl Stand {
    async fn document(&self) -> Value {
        let shown = self.get("/api/v1/openapi.json", None).await;
        assert_eq!(shown.status(), StatusCode::OK);
        json_of(shown).await
    }
}

/// Paths of a document with their operations by method.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, item)| {
        let operations = item.as_object().unwrap().iter();
        operations.map(|(method, operation)| (path.clone(), method.clone(), operation.clone()))
    });
    operations.collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The sources of this crate and of the one whose types it answers, those of tests left out.
fn all_sources() -> Vec<(String, String)> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    sources(&own.join("src"), &mut found);
    sources(&own.join("../report/src"), &mut found);
    let named = found.into_iter().map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        (path.display().to_string(), text)
    });
    named.filter(|(name, _)| !name.contains("tests")).collect()
}

#[tokio::test]
async fn committed_document_is_the_one_that_is_served() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");
    let shown = Stand::new().get("/api/v1/openapi.json", None).await;
    assert_eq!(shown.headers()[CONTENT_TYPE], "application/json");
    let bytes = to_bytes(shown.into_body(), usize::MAX).await.unwrap();
    let served = format!("{}\n", String::from_utf8(bytes.to_vec()).unwrap());
    if std::env::var("AGON_REFRESH_GOLDEN").is_ok_and(|value| value == "1") {
        fs::write(path, &served).unwrap();
    }
    let committed = fs::read_to_string(path).unwrap();
    let refresh = "AGON_REFRESH_GOLDEN=1 rewrites docs/openapi.json";
    for (number, (committed, served)) in committed.lines().zip(served.lines()).enumerate() {
        assert_eq!(committed, served, "line {}: {refresh}", number + 1);
    }
    assert_eq!(committed.len(), served.len(), "{refresh}");
}

/// What would register a route without saying what it is.
const PAST_THE_DOCUMENT: [&str; 7] = [
    ".route(",
    ".route_service(",
    ".nest_service(",
    "axum::routing",
    "Router::from",
    "axum::Router::new(",
    " Router::new(",
];

#[test]
fn no_route_is_registered_past_the_document() {
    let mut registered = 0;
    for (name, text) in all_sources() {
        for way in PAST_THE_DOCUMENT {
            assert!(!text.contains(way), "{name} registers with {way}");
        }
        registered += text.matches(".routes(routes!(").count();
    }
    let document = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json"));
    let document = serde_json::from_str(&document.unwrap()).unwrap();
    assert_eq!(operations(&document).len(), registered);
}

#[tokio::test]
async fn every_documented_operation_is_answered_and_no_other_method_is() {
    let stand = Stand::new();
    let document = stand.document().await;
    let mut methods: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, method, _) in operations(&document) {
        methods.entry(path).or_default().insert(method);
    }
    for (path, documented) in methods {
        let address = path.replace(['{', '}'], "");
        // One of the operations signs out.
        let cookie = stand.cookie().await;
        for method in METHODS {
            let request = Request::builder().method(method.to_uppercase().as_str());
            let request = request.uri(&address).header(HOST, "localhost");
            let request = request.header(COOKIE, &cookie).body(Body::empty());
            let answer = stand.ask(request.unwrap()).await;
            let is_taken = answer.status() != StatusCode::METHOD_NOT_ALLOWED;
            assert_eq!(
                is_taken,
                documented.contains(method),
                "{method} {path}: {}",
                answer.status()
            );
            if answer.status() == StatusCode::NOT_FOUND {
                let said = json_of(answer).await["error"].to_string();
                assert!(!said.contains("such page"), "{method} {path}: {said}");
            }
        }
    }
}

#[tokio::test]
async fn cookies_that_the_document_asks_for_are_those_that_routes_ask_for() {
    let stand = Stand::new();
    let document = stand.document().await;
    for (path, method, operation) in operations(&document) {
        let address = path.replace(['{', '}'], "");
        let request = Request::builder().method(method.to_uppercase().as_str());
        let request = request.uri(&address).header(HOST, "localhost");
        let answer = stand.ask(request.body(Body::empty()).unwrap()).await;
        let asks = answer.status() == StatusCode::UNAUTHORIZED;
        let needed = &operation["security"][0];
        let scheme = match path.starts_with("/api/v1/seats/") {
            true => "seat_cookie",
            false => "token_cookie",
        };
        assert_eq!(needed.get(scheme).is_some(), asks, "{method} {path}");
        assert!(needed.is_null() || asks, "{method} {path}: {needed}");
    }
}

#[test]
fn every_schema_has_a_name_of_its_own() {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in all_sources() {
        for declared in text.split("ToSchema)]\n").skip(1) {
            let head = declared.split(['{', ';']).next().unwrap();
            let named = head.split_once("schema(as = ");
            let name = match named {
                Some((_, name)) => name.split([')', ',']).next().unwrap(),
                None => head.split_whitespace().last().unwrap(),
            };
            files.entry(name.to_owned()).or_default().push(file.clone());
        }
    }
    assert!(files.len() > 50, "{files:#?}");
    files.retain(|_, files| files.len() > 1);
    assert!(files.is_empty(), "of two of a name one is lost: {files:#?}");
}

#[tokio::test]
async fn references_lead_somewhere_and_parameters_are_told() {
    let stand = Stand::new();
    let document = stand.document().await;
    let text = document.to_string();
    let references = text.split("\"$ref\":\"#").skip(1);
    for reference in references {
        let reference = reference.split('"').next().unwrap();
        assert!(document.pointer(reference).is_some(), "{reference}");
    }
    for (path, method, operation) in operations(&document) {
        let place = format!("{method} {path}");
        assert!(operation["summary"].is_string(), "{place}");
        let none = Vec::new();
        let parameters = operation["parameters"].as_array().unwrap_or(&none);
        let of_path = parameters.iter().filter(|one| one["in"] == "path");
        let of_path: BTreeSet<&str> = of_path.map(|one| one["name"].as_str().unwrap()).collect();
        let in_path = path.split('{').skip(1);
        let in_path: BTreeSet<&str> = in_path
            .map(|part| part.split('}').next().unwrap())
            .collect();
        assert_eq!(of_path, in_path, "{place}");
        for parameter in parameters {
            assert!(parameter["description"].is_string(), "{place}: {parameter}");
            if parameter["name"] == "count" {
                assert_eq!(parameter["schema"]["maximum"], MOST, "{place}");
                assert_eq!(parameter["schema"]["default"], BY_DEFAULT, "{place}");
            }
        }
    }
}

#[tokio::test]
async fn every_filter_of_results_that_is_told_filters() {
    let document = Stand::new().document().await;
    let parameters = &document["paths"]["/api/v1/results"]["get"]["parameters"];
    let parameters = parameters.as_array().unwrap().iter();
    let names: Vec<&str> = parameters
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 8, "{names:?}");
    for name in names {
        let (name, value) = match name {
            "where" => ("where.ratio", "0.5"),
            "simulated" | "loose" => (name, "true"),
            "setting" => (name, "{}"),
            name => (name, "x"),
        };
        let wanted = Wanted::of(&[(name.to_owned(), value.to_owned())]).unwrap();
        assert_ne!(wanted, Wanted::default(), "{name}");
    }
}

/// Validates answers by the document.
struct Told {
    document: Value,
}

impl Told {
    fn new(mut document: Value) -> Self {
        close(&mut document);
        Self { document }
    }

    /// A validator of a schema that stands in the document.
    fn validator(&self, mut schema: Value) -> Validator {
        schema["components"] = self.document["components"].clone();
        jsonschema::draft202012::new(&schema).unwrap()
    }

    /// What is wrong with a value, by a schema of the components.
    fn fault(&self, schema: &str, value: &Value) -> Option<String> {
        let validator = self.validator(json!({ "$ref": format!("#/components/schemas/{schema}") }));
        let fault = validator.iter_errors(value).next()?;
        Some(format!("{}: {fault}", fault.instance_path()))
    }

    /// Asserts that an event is one of those that the document has for this stream, and that another name
    /// or other data would be noticed.
    fn check_event(&self, path: &str, event: &Value) {
        let content = &self.document["paths"][path]["get"]["responses"]["200"]["content"];
        let validator = self.validator(content[EVENTS]["schema"].clone());
        let fault = validator.iter_errors(event).next();
        let fault = fault.map(|fault| format!("{}: {fault}", fault.instance_path()));
        assert_eq!(fault, None, "{path}: {event}");
        for (part, other) in [("event", json!("another")), ("data", json!("text"))] {
            let mut wrong = event.clone();
            wrong[part] = other;
            assert!(!validator.is_valid(&wrong), "{path}: {part}");
        }
        let mut wrong = event.clone();
        let data = &mut wrong["data"];
        let first = match data {
            Value::Array(all) => &mut all[0],
            data => data,
        };
        first["unheard_of"] = json!(1);
        assert!(!validator.is_valid(&wrong), "{path}: data that is not told");
    }

    /// Asserts that an answer is one of those that the document has for this operation.
    fn check(&self, path: &str, method: &str, status: StatusCode, kind: &str, body: &[u8]) {
        let place = format!("{method} {path}: {status}");
        let code = status.as_u16().to_string();
        let responses = &self.document["paths"][path][method]["responses"];
        let mut response = &responses[&code];
        assert!(response.is_object(), "{place} is not told");
        if let Some(shared) = response["$ref"].as_str() {
            response = self.document.pointer(&shared[1..]).unwrap();
        }
        let Some(content) = response["content"].as_object() else {
            assert!(body.is_empty(), "{place} has a body");
            return;
        };
        let kind = kind.split(';').next().unwrap();
        let media = content.get(kind);
        let media = media.unwrap_or_else(|| panic!("{place} is told without {kind}"));
        let value = match kind {
            "application/json" => serde_json::from_slice(body).unwrap(),
            _ => Value::String(String::from_utf8(body.to_vec()).unwrap()),
        };
        let validator = self.validator(media["schema"].clone());
        let fault = validator.iter_errors(&value).next();
        let fault = fault.map(|fault| format!("{}: {fault}", fault.instance_path()));
        assert_eq!(fault, None, "{place}: {value}");
    }
}

/// Has schemas refuse what they do not name, so that nothing is answered that is not told. Parts of other
/// schemas stay open, for what the others name.
fn close(document: &mut Value) {
    let mut parts = BTreeSet::new();
    collect_parts(&document["components"], &mut parts);
    let schemas = document["components"]["schemas"].as_object_mut().unwrap();
    for (name, schema) in schemas {
        let is_part = parts.contains(&format!("#/components/schemas/{name}"));
        let names_fields = ["properties", "allOf", "oneOf"];
        let is_object = names_fields.iter().any(|key| schema.get(key).is_some());
        if is_object && !is_part {
            schema["unevaluatedProperties"] = json!(false);
        }
    }
}

/// References to schemas of which others are made.
fn collect_parts(value: &Value, parts: &mut BTreeSet<String>) {
    let of_all = value["allOf"].as_array().into_iter().flatten();
    parts.extend(of_all.filter_map(|part| Some(part["$ref"].as_str()?.to_owned())));
    let (list, object) = (value.as_array(), value.as_object());
    let items = list.into_iter().flatten();
    let fields = object.into_iter().flat_map(|object| object.values());
    items
        .chain(fields)
        .for_each(|value| collect_parts(value, parts));
}

/// An experiment of which everything is known that can be, and one of which little is.
struct Playing(watch::Sender<States>);

impl Playing {
    fn new() -> Self {
        let known = Sweep {
            experiment: "guesses".to_owned(),
            team: "team".to_owned(),
            state: State::Paused,
            reason: Some("somebody paused it".to_owned()),
            sessions: 4,
            done: 1,
            running: 1,
            waiting: 1,
            set_aside: 1,
            workers: Some(2),
            per_minute: Some(0.5),
            seconds_left: Some(60.0),
            waiting_for_quota: Some(1),
            cost: Some(0.1),
            budget: Some(2.0),
            faults: vec![SweepFault {
                reason: "no reply".to_owned(),
                sessions: 1,
                examples: vec!["00".to_owned()],
            }],
            run: Some("guesses".to_owned()),
        };
        let unknown = Sweep {
            state: State::Running,
            reason: None,
            workers: None,
            per_minute: None,
            seconds_left: None,
            waiting_for_quota: None,
            cost: None,
            budget: None,
            faults: Vec::new(),
            run: None,
            ..known.clone()
        };
        Self(watch::Sender::new(Arc::new(vec![known, unknown])))
    }
}

impl Sweeps for Playing {
    fn states(&self) -> watch::Receiver<States> {
        self.0.subscribe()
    }

    fn act(&self, _: String, action: Action) -> BoxFuture<'static, Result<(), String>> {
        let acted = match action {
            Action::Retry => Err("nothing was set aside".to_owned()),
            _ => Ok(()),
        };
        async { acted }.boxed()
    }
}

fn kind_of(response: &Response<Body>) -> String {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.map_or(String::new(), |kind| kind.to_str().unwrap().to_owned())
}

/// The name and the data of the first event of a stream that never ends.
async fn first_event(response: Response<Body>) -> Value {
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(kind_of(&response), EVENTS);
    let mut text = String::new();
    let mut stream = response.into_body().into_data_stream();
    while !text.contains("\n\n") {
        text.push_str(std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap());
    }
    let line = |name: &str| {
        let mut lines = text.lines();
        let found = lines.find_map(|line| line.strip_prefix(name));
        found.unwrap().trim().to_owned()
    };
    let data: Value = serde_json::from_str(&line("data:")).unwrap();
    json!({ "event": line("event:"), "data": data })
}

/// What is asked of each documented path that shows something; none is answered but with 200.
fn addresses(session: &str) -> BTreeMap<&'static str, Vec<String>> {
    let of_session = |below: &str| format!("/api/v1/sessions/{session}{below}");
    let same = |path: &str| format!("/api/v1{path}");
    BTreeMap::from([
        ("/api/v1/openapi.json", vec![same("/openapi.json")]),
        ("/api/v1/entrance", vec![same("/entrance")]),
        ("/api/v1/holder", vec![same("/holder")]),
        ("/api/v1/judging/criteria", vec![same("/judging/criteria")]),
        ("/api/v1/runs", vec![same("/runs")]),
        ("/api/v1/runs/{run}", vec![same("/runs/guesses")]),
        (
            "/api/v1/runs/{run}/sessions",
            vec![
                same("/runs/guesses/sessions"),
                same("/runs/guesses/sessions?cell=0&count=1"),
            ],
        ),
        ("/api/v1/sessions/{session}", vec![of_session("")]),
        (
            "/api/v1/sessions/{session}/steps",
            vec![
                of_session("/steps"),
                of_session("/steps?from=1&count=2&seat=1"),
            ],
        ),
        (
            "/api/v1/sessions/{session}/search",
            vec![of_session("/search?q=mean")],
        ),
        (
            "/api/v1/sessions/{session}/decisions/{seat}/{index}",
            vec![of_session("/decisions/0/3")],
        ),
        (
            "/api/v1/sessions/{session}/record",
            vec![of_session("/record")],
        ),
        (
            "/api/v1/results",
            vec![same("/results"), same("/results?where.ratio=0.7")],
        ),
        ("/api/v1/results/sessions", vec![same("/results/sessions")]),
        (
            "/api/v1/results/tables/{part}",
            ["leaderboard", "overall", "games", "measures"]
                .map(|part| same(&format!("/results/tables/{part}")))
                .to_vec(),
        ),
        (
            "/api/v1/results/tables/{part}/{table}",
            vec![same("/results/tables/measures/0.csv")],
        ),
        (
            "/api/v1/results/figures/{name}",
            vec![
                same("/results/figures/payoffs"),
                same("/results/figures/scores"),
            ],
        ),
        (
            "/api/v1/results/figures/{name}/{file}",
            ["figure.svg", "dark.svg", "figure.csv"]
                .map(|file| same(&format!("/results/figures/payoffs/{file}")))
                .to_vec(),
        ),
        ("/api/v1/sweeps", vec![same("/sweeps")]),
    ])
}

/// Those that are streams, or open to whoever has a seat; other tests ask for them.
const ELSEWHERE: [&str; 5] = [
    "/api/v1/sign-in",
    "/api/v1/sign-in/back",
    "/api/v1/sweeps/events",
    "/api/v1/seats/{id}",
    "/api/v1/seats/{id}/events",
];

#[tokio::test]
async fn every_answer_is_as_the_document_says() {
    let lines = [line(0.5, 0), line(0.5, 1), line(0.7, 0)];
    let stand = Stand::with(&lines, 3, Some(Arc::new(Playing::new())), None);
    stand.counted("", 3).await;
    let told = Told::new(stand.document().await);
    let cookie = stand.cookie().await;
    let addresses = addresses(&stand.session);
    let documented = operations(&told.document);
    let shown = documented.iter().filter(|(_, method, _)| method == "get");
    for (path, ..) in shown {
        if ELSEWHERE.contains(&&**path) {
            continue;
        }
        let asked = addresses.get(&**path);
        for address in asked.unwrap_or_else(|| panic!("{path} is asked for by no test")) {
            let answer = stand.get(address, Some(&cookie)).await;
            let (status, kind) = (answer.status(), kind_of(&answer));
            assert_eq!(status, StatusCode::OK, "{address}");
            let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
            told.check(path, "get", status, &kind, &body);
        }
    }
    let events = "/api/v1/sweeps/events";
    let event = first_event(stand.get(events, Some(&cookie)).await).await;
    assert_eq!(event["event"], "sweeps");
    assert_eq!(event["data"].as_array().unwrap().len(), 2);
    told.check_event(events, &event);
}

#[tokio::test]
async fn every_refusal_is_as_the_document_says() {
    let stand = Stand::with(
        &[line(0.5, 0), line(0.5, 1)],
        1,
        Some(Arc::new(Playing::new())),
        None,
    );
    let told = Told::new(stand.document().await);
    let cookie = stand.cookie().await;
    let (session, unreadable) = (&stand.session, &stand.unreadable);
    let below = "/api/v1/sessions/{session}";
    let act = "/api/v1/sweeps/{experiment}/{action}";
    let asked = [
        ("/api/v1/runs/{run}", "get", "/runs/others".to_owned(), 404),
        (
            "/api/v1/runs/{run}/sessions",
            "get",
            "/runs/guesses/sessions?count=x".to_owned(),
            400,
        ),
        (below, "get", format!("/sessions/{unreadable}"), 500),
        (
            "/api/v1/sessions/{session}/steps",
            "get",
            format!("/sessions/{session}/steps?seat=7"),
            404,
        ),
        (
            "/api/v1/results",
            "get",
            "/results?setting=%7B".to_owned(),
            400,
        ),
        (
            "/api/v1/results/figures/{name}/{file}",
            "get",
            "/results/figures/payoffs/x.png".to_owned(),
            404,
        ),
        ("/api/v1/enter", "post", "/enter".to_owned(), 415),
        (act, "post", "/sweeps/guesses/retry".to_owned(), 409),
        (act, "post", "/sweeps/guesses/pause".to_owned(), 204),
        (act, "post", "/sweeps/guesses/explode".to_owned(), 400),
        (
            "/api/v1/judging/runs/{run}",
            "post",
            "/judging/runs/guesses".to_owned(),
            415,
        ),
        ("/api/v1/leave", "post", "/leave".to_owned(), 204),
        ("/api/v1/holder", "get", "/holder".to_owned(), 401),
    ];
    for (path, method, address, expected) in asked {
        let request = Request::builder().method(method.to_uppercase().as_str());
        let request = request.uri(format!("/api/v1{address}"));
        let request = request.header(HOST, "localhost").header(COOKIE, &cookie);
        let answer = stand.ask(request.body(Body::empty()).unwrap()).await;
        let (status, kind) = (answer.status(), kind_of(&answer));
        assert_eq!(status, expected, "{address}");
        let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        told.check(path, method, status, &kind, &body);
    }
}

/// A question of each kind, and a check.
fn people() -> People {
    let question = |name: &str, kind| Question {
        name: name.to_owned(),
        question: "Why?".to_owned(),
        kind,
        choices: Vec::new(),
        min: None,
        max: None,
        steps: Some(5),
        low: String::new(),
        high: String::new(),
        optional: true,
    };
    People {
        check: vec![Check {
            question: "How many?".to_owned(),
            choices: vec!["one".to_owned(), "two".to_owned()],
            answer: "two".to_owned(),
            explanation: "Count again.".to_owned(),
        }],
        questions: vec![
            question("text", QuestionKind::Text),
            question("scale", QuestionKind::Scale),
        ],
        ..People::default()
    }
}

#[tokio::test]
async fn every_answer_at_a_seat_is_as_the_document_says() {
    let told = Told::new(Stand::new().document().await);
    let stand = SeatStand::new(people());
    let mut ann: Guest = stand.invite("ann", FAR);
    assert_eq!(stand.claim(&mut ann, json!({})).await, StatusCode::OK);
    let told_now = async |stage: &str| {
        let (status, body) = stand.state(&ann).await;
        told.check(
            "/api/v1/seats/{id}",
            "get",
            status,
            "application/json",
            body.as_bytes(),
        );
        let state: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(state["stage"], stage);
        state
    };
    let acted = async |what: &str, body: Value, expected: StatusCode| {
        let (status, said) = stand.post(&ann, what, body).await;
        assert_eq!(status, expected, "{what}: {said}");
        let path = format!("/api/v1/seats/{{id}}/{what}");
        told.check(&path, "post", status, "application/json", said.as_bytes());
    };
    told_now("consent").await;
    acted("claim", json!({ "invite": ann.link }), StatusCode::OK).await;
    acted("claim", json!({ "invite": "x" }), StatusCode::FORBIDDEN).await;
    acted("claim", json!({}), StatusCode::UNPROCESSABLE_ENTITY).await;
    let refused = json!({ "agree": false });
    acted("consent", refused, StatusCode::UNPROCESSABLE_ENTITY).await;
    acted("consent", json!({ "agree": true }), StatusCode::NO_CONTENT).await;
    told_now("instructions").await;
    acted("check", json!({ "answers": ["one"] }), StatusCode::OK).await;
    acted("done", json!({}), StatusCode::CONFLICT).await;
    acted("check", json!({ "answers": ["two"] }), StatusCode::OK).await;
    stand.doors.put("ann", vec![ask("s", 0, 0, "Your guess?")]);
    let state = told_now("play").await;
    assert_eq!(state["ask"]["id"], "s:0:0");
    assert!(state["games"][0]["live"]["board"].is_object());
    let answer = json!({ "ask": "s:0:0", "value": 30 });
    acted("answer", answer, StatusCode::NO_CONTENT).await;
    let closed = json!({ "ask": "s:0:1", "value": 30 });
    acted("answer", closed, StatusCode::CONFLICT).await;
    for (what, status) in [
        ("beat", StatusCode::NO_CONTENT),
        ("leave", StatusCode::NO_CONTENT),
        ("ready", StatusCode::CONFLICT),
        ("return", StatusCode::NO_CONTENT),
        ("ready", StatusCode::NO_CONTENT),
        ("questions", StatusCode::CONFLICT),
    ] {
        let body = json!({ "ready": true, "answers": {} });
        acted(what, body, status).await;
    }
    let events = format!("/api/v1/seats/{}/events", ann.id);
    let request = Request::get(events).header(HOST, "localhost");
    let request = request.header(COOKIE, ann.cookie.clone().unwrap());
    let request = request.body(Body::empty()).unwrap();
    let events = stand.router.clone().oneshot(request).await.unwrap();
    let event = first_event(events).await;
    assert_eq!(event["event"], "seat");
    told.check_event("/api/v1/seats/{id}/events", &event);
}

#[tokio::test]
async fn answer_that_differs_from_the_document_is_found() {
    let stand = Stand::new();
    let told = Told::new(stand.document().await);
    let cookie = stand.cookie().await;
    let path = format!("/api/v1/sessions/{}/steps", stand.session);
    let right = json_of(stand.get(&path, Some(&cookie)).await).await;
    assert_eq!(told.fault("Steps", &right), None);
    let changes: [(&str, &str, Value); 4] = [
        ("", "more", json!(1)),
        ("/steps/0", "more", json!(1)),
        ("/steps/0/board/seats/0", "seat", json!(-1)),
        ("/steps/0/board/scene", "scene", json!("none")),
    ];
    for (place, name, value) in changes {
        let mut wrong = right.clone();
        wrong.pointer_mut(place).unwrap()[name] = value;
        assert!(told.fault("Steps", &wrong).is_some(), "{place}/{name}");
    }
    for (place, name) in [("/steps/0", "to"), ("/steps/0/board", "heading")] {
        let mut wrong = right.clone();
        let object = wrong.pointer_mut(place).unwrap().as_object_mut().unwrap();
        assert!(object.remove(name).is_some());
        assert!(
            told.fault("Steps", &wrong).is_some(),
            "{place} without {name}"
        );
    }
}
