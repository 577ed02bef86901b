//! Claims about routes: nothing without a cookie but pages, and every answer with its headers.
//! Asked as a browser asks, without a socket.

use std::sync::Arc;

use agon_engine::record::StoredRecord;
use agon_engine::registry;
use agon_report::Session;
use agon_report::session::Telemetry;
use agon_report::viewing::Stated;
use axum::Router;
use axum::body::{Body, to_bytes};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::header::{CONTENT_TYPE, COOKIE, HOST, SET_COOKIE};
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::index::tests::line;
use crate::seats::Seats;
use crate::sweeps::Sweeps;
use crate::{
    Access, Calls, Decision, DecisionMessage, Entrance, Library, Place, Sessions, Shelf, Source,
    router,
};

mod document;
mod judging;
mod results;
mod signing_in;

/// Records in memory, by their offset; what is not there cannot be read.
#[derive(Clone)]
pub(crate) struct Records(pub(crate) Vec<String>);

impl Source for Records {
    fn line(&self, place: Place) -> Result<String, String> {
        let line = self.0.get(place.offset as usize).cloned();
        line.ok_or_else(|| "the disk is gone".to_owned())
    }

    fn sessions(&self, _: u32) -> Box<dyn Sessions> {
        Box::new(self.clone())
    }

    fn calls(&self, _: Place) -> BoxFuture<'static, Result<Arc<dyn Calls>, String>> {
        async { Ok(Arc::new(vec![call()]) as Arc<dyn Calls>) }.boxed()
    }
}

impl Sessions for Records {
    fn at(&mut self, place: Place) -> Result<(StoredRecord, Telemetry), String> {
        let record = StoredRecord::from_line(&self.line(place)?);
        Ok((record.unwrap(), Telemetry::default()))
    }
}

/// A call of which everything is known that can be.
fn call() -> Decision {
    let message = |role: &str, text: &str| DecisionMessage {
        role: role.to_owned(),
        text: text.to_owned(),
    };
    Decision {
        seat: 0,
        index: 3,
        purpose: "guess".to_owned(),
        messages: Some(vec![
            message("system", "Play."),
            message("user", "Your guess?"),
        ]),
        known: 1,
        is_same: true,
        schema: json!({ "type": "integer" }),
        parameters: vec![Stated {
            name: "temperature".to_owned(),
            value: "1".to_owned(),
        }],
        answered_by: "a model".to_owned(),
        finish_reason: "stop".to_owned(),
        reasoning: None,
        reply: "<b>42</b>".to_owned(),
        reading: Some("read as 42".to_owned()),
        tokens_in: Some(12),
        tokens_out: None,
        tokens_estimated: true,
        cost: Some(0.25),
        seconds: Some(1.5),
    }
}

struct Stand {
    library: Arc<Library>,
    router: Router,
    token: String,
    session: String,
    unreadable: String,
}

impl Stand {
    /// Two sessions, of which one can be read.
    fn new() -> Self {
        Self::of(&[line(0.5, 0), line(0.5, 1)], 1)
    }

    /// These sessions, of which the first ones can be read.
    fn of(lines: &[String], readable: usize) -> Self {
        Self::with(lines, readable, None, None)
    }

    /// The same with experiments that are being played, and seats of people who play.
    fn with(
        lines: &[String],
        readable: usize,
        sweeps: Option<Arc<dyn Sweeps>>,
        seats: Option<Arc<Seats>>,
    ) -> Self {
        let library = Library::new(Arc::new(Records(lines[..readable].to_vec())));
        let key = library.index.write().add_run("guesses", "here".to_owned());
        let ids = lines.iter().zip(0..).map(|(line, offset)| {
            let session = Session::from_line(line.as_bytes()).unwrap();
            let place = Place { file: 0, offset };
            library.index.write().add(key, &session, place);
            session.session
        });
        let ids: Vec<String> = ids.collect();
        let library = Arc::new(library);
        let shelf = Shelf::new(Arc::clone(&library), CancellationToken::new());
        let access = Access::new(
            Arc::new(shelf.with_judging(Arc::new(judging::ByOrder))),
            sweeps,
        );
        let token = crate::token().unwrap();
        let entrance = Entrance::open(&token, access).unwrap();
        Self {
            router: router(Arc::new(entrance), seats),
            library,
            token,
            session: ids[0].clone(),
            unreadable: ids[ids.len() - 1].clone(),
        }
    }

    async fn ask(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn get(&self, path: &str, cookie: Option<&str>) -> Response<Body> {
        let mut request = Request::get(path).header(HOST, "localhost");
        if let Some(cookie) = cookie {
            request = request.header(COOKIE, cookie);
        }
        self.ask(request.body(Body::empty()).unwrap()).await
    }

    async fn enter(&self, token: &str) -> Response<Body> {
        let body = json!({ "token": token }).to_string();
        let request = Request::post("/api/v1/enter").header(HOST, "localhost");
        let request = request.header(CONTENT_TYPE, "application/json");
        self.ask(request.body(body.into()).unwrap()).await
    }

    async fn cookie(&self) -> String {
        let entered = self.enter(&self.token).await;
        assert_eq!(entered.status(), StatusCode::NO_CONTENT);
        let cookie = entered.headers()[SET_COOKIE].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Every route that shows something.
    fn routes(&self) -> Vec<String> {
        let session = &self.session;
        let of_session = ["", "/steps", "/search?q=mean", "/decisions/0/3", "/record"];
        let of_session = of_session
            .iter()
            .map(|path| format!("/sessions/{session}{path}"));
        let of_runs = [
            "/runs",
            "/runs/guesses",
            "/runs/guesses/sessions",
            "/results",
            "/results/sessions",
            "/judging/criteria",
        ];
        let all = of_runs
            .iter()
            .map(|path| (*path).to_owned())
            .chain(of_session);
        all.map(|path| format!("/api/v1{path}")).collect()
    }
}

async fn json_of(response: Response<Body>) -> Value {
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

#[tokio::test]
async fn nothing_is_shown_without_the_cookie() {
    let stand = Stand::new();
    for route in stand.routes() {
        for cookie in [None, Some("agon-view=0"), Some("agon-view=")] {
            let refused = stand.get(&route, cookie).await;
            assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{route}");
            let said = json_of(refused).await;
            assert!(said["error"].as_str().unwrap().contains("token"), "{said}");
        }
    }
    let wrong = stand.enter("wrong").await;
    assert_eq!(wrong.status(), StatusCode::FORBIDDEN);
    assert!(!wrong.headers().contains_key(SET_COOKIE));
}

#[tokio::test]
async fn everything_is_shown_with_it() {
    let stand = Stand::new();
    let cookie = stand.cookie().await;
    for route in stand.routes() {
        let shown = stand.get(&route, Some(&cookie)).await;
        assert_eq!(shown.status(), StatusCode::OK, "{route}");
        assert_eq!(shown.headers()["cache-control"], "no-store", "{route}");
        let _ = json_of(shown).await;
    }
    let head = stand
        .get(
            &format!("/api/v1/sessions/{}", stand.session),
            Some(&cookie),
        )
        .await;
    let head = json_of(head).await;
    assert_eq!(head["run"], "guesses");
    assert_eq!(head["seats"][0]["player"], "alice");
}

#[tokio::test]
async fn what_is_not_there_or_not_readable_is_said() {
    let stand = Stand::new();
    let cookie = stand.cookie().await;
    let session = &stand.session;
    for path in [
        "/runs/others".to_owned(),
        "/runs/others/sessions".to_owned(),
        "/sessions/00".to_owned(),
        "/nothing".to_owned(),
        format!("/sessions/{session}/steps?seat=7"),
        format!("/sessions/{session}/search?q=x&seat=7"),
        format!("/sessions/{session}/decisions/0/4"),
    ] {
        let missing = stand.get(&format!("/api/v1{path}"), Some(&cookie)).await;
        assert_eq!(missing.status(), StatusCode::NOT_FOUND, "{path}");
        assert!(json_of(missing).await["error"].is_string(), "{path}");
    }
    let path = format!("/api/v1/sessions/{}", stand.unreadable);
    let unreadable = stand.get(&path, Some(&cookie)).await;
    assert_eq!(unreadable.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(json_of(unreadable).await["error"], "the disk is gone");
}

#[tokio::test]
async fn requests_that_cannot_be_read_are_refused_in_the_same_form() {
    let stand = Stand::new();
    let cookie = stand.cookie().await;
    let session = format!("/api/v1/sessions/{}", stand.session);
    for path in [
        format!("{session}/steps?from=many"),
        format!("{session}/steps?seat=-1"),
        format!("{session}/decisions/x/0"),
        format!("{session}/decisions/0/99999999999"),
        "/api/v1/sessions/%ff".to_owned(),
        "/api/v1/runs/guesses/sessions?count=x".to_owned(),
    ] {
        let refused = stand.get(&path, Some(&cookie)).await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{path}");
        assert_eq!(
            refused.headers()["content-type"],
            "application/json",
            "{path}"
        );
        let said = json_of(refused).await;
        assert!(
            said["error"].as_str().is_some_and(|said| said.len() > 10),
            "{path}: {said}"
        );
    }
    let request = Request::post("/api/v1/runs")
        .header("host", "localhost")
        .header("cookie", &cookie);
    let refused = stand.ask(request.body(Body::empty()).unwrap()).await;
    assert_eq!(refused.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(refused.headers()["allow"], "GET,HEAD");
    assert_eq!(json_of(refused).await["error"], "Method Not Allowed");
}

#[tokio::test]
async fn every_answer_keeps_browsers_to_this_server() {
    let stand = Stand::new();
    for path in [
        "/",
        "/runs/guesses",
        "/sessions/x",
        "/api/v1/runs",
        "/assets/none.js",
    ] {
        let shown = stand.get(path, None).await;
        let policy = shown.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(
            shown.headers()["x-content-type-options"],
            "nosniff",
            "{path}"
        );
    }
    let page = stand.get("/runs/guesses", None).await;
    assert_eq!(page.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
    let rebound = Request::get("/").header(HOST, "evil.example");
    let rebound = stand.ask(rebound.body(Body::empty()).unwrap()).await;
    assert_eq!(rebound.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn front_end_comes_packed_to_whoever_takes_it_so() {
    let stand = Stand::new();
    let page = async |accepted: &str| {
        let request = Request::get("/").header(HOST, "localhost");
        let request = request.header("accept-encoding", accepted);
        let shown = stand.ask(request.body(Body::empty()).unwrap()).await;
        let encoding = shown.headers().get("content-encoding").cloned();
        let bytes = to_bytes(shown.into_body(), usize::MAX).await.unwrap();
        (encoding, bytes)
    };
    let (plain, whole) = page("identity").await;
    assert_eq!(plain, None);
    let (packed, small) = page("deflate, gzip, br").await;
    assert_eq!(packed.unwrap(), "gzip");
    let mut unpacked = Vec::new();
    std::io::copy(&mut flate2::read::GzDecoder::new(&small[..]), &mut unpacked).unwrap();
    assert_eq!(unpacked, whole);
}

#[tokio::test]
async fn large_bodies_are_refused() {
    let stand = Stand::new();
    let entered = stand.enter(&"x".repeat(1 << 20)).await;
    assert_eq!(entered.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[test]
fn pages_call_games_what_their_rules_call_them() {
    let pages = include_str!("../../ui/src/lib/games.ts");
    for game in registry::GAMES {
        let line = format!("[\"{}\", \"{}\"],", game.info.name, game.info.title);
        assert!(
            pages.contains(&line),
            "{line} is not in web/ui/src/lib/games.ts"
        );
    }
}
