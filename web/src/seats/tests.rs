//! Claims about the routes of people who play: an invitation opens its seat and nothing else, a seat is
//! told its own view alone, and what people do is refused when it is not theirs to do. Asked as a
//! browser asks, without a socket; doors and files are made up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agon_engine::record::StoredRecord;
use agon_engine::{Event, SeatView};
use agon_report::session::Telemetry;
use axum::Router;
use axum::body::{Body, to_bytes};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::header::{CONTENT_TYPE, COOKIE, HOST, ORIGIN, SET_COOKIE};
use http::{Request, StatusCode};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::{
    Asks, Book, DoorAsk, Doors, Keeper, Kept, Message, People, Seats, Speaker, Unanswered,
};
use crate::sweeps::Sweeps;
use crate::{Access, Calls, Entrance, Library, Place, Sessions, Shelf, Source, router};

mod lobby;

/// A year from now and more.
pub(crate) const FAR: u64 = u64::MAX;

/// A fact that only the other seat knows.
const SECRET: &str = "secret-of-bob";

/// No records.
struct Nothing;

impl Source for Nothing {
    fn line(&self, _: Place) -> Result<String, String> {
        Err("there is none".to_owned())
    }

    fn sessions(&self, _: u32) -> Box<dyn Sessions> {
        Box::new(Self)
    }

    fn calls(&self, _: Place) -> BoxFuture<'static, Result<Arc<dyn Calls>, String>> {
        async { Ok(Arc::new(Vec::new()) as Arc<dyn Calls>) }.boxed()
    }
}

impl Sessions for Nothing {
    fn at(&mut self, _: Place) -> Result<(StoredRecord, Telemetry), String> {
        Err("there is none".to_owned())
    }
}

/// What people said outside games, in memory.
#[derive(Default)]
struct Memory {
    book: Mutex<Arc<Book>>,
    kept: Mutex<Vec<Value>>,
    is_full: AtomicBool,
}

impl Keeper for Memory {
    fn read(&self) -> Result<Arc<Book>, String> {
        Ok(Arc::clone(&self.book.lock()))
    }

    fn change(&self, change: &mut dyn FnMut(&mut Book)) -> Result<(), String> {
        change(Arc::make_mut(&mut self.book.lock()));
        Ok(())
    }

    fn keep(&self, kept: &Kept) -> Result<(), String> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err("no space left".to_owned());
        }
        self.kept.lock().push(serde_json::to_value(kept).unwrap());
        Ok(())
    }
}

/// Doors with what waits there, and the answers that were given.
#[derive(Default)]
pub(crate) struct Waiting {
    doors: Mutex<BTreeMap<String, watch::Sender<Asks>>>,
    answers: Mutex<Vec<(String, String, String, String)>>,
    /// The doors of the experiment, once a test says which.
    asked: Mutex<Option<BTreeSet<String>>>,
}

impl Waiting {
    pub(crate) fn put(&self, door: &str, asks: Vec<DoorAsk>) {
        let mut doors = self.doors.lock();
        let sender = doors.entry(door.to_owned()).or_default();
        sender.send_replace(Arc::new(asks));
    }
}

impl Doors for Waiting {
    fn asks(&self, door: &str) -> watch::Receiver<Asks> {
        let mut doors = self.doors.lock();
        doors.entry(door.to_owned()).or_default().subscribe()
    }

    fn answer(
        &self,
        door: String,
        ask: DoorAsk,
        reply: String,
        answered_by: String,
    ) -> BoxFuture<'static, Result<(), Unanswered>> {
        let is_late = ask.index == 99;
        self.answers
            .lock()
            .push((door, ask.id(), reply, answered_by));
        let answered = if is_late {
            Err(Unanswered::Gone)
        } else {
            Ok(())
        };
        async { answered }.boxed()
    }

    fn games(&self, _: &str, _: &str) -> Option<u64> {
        Some(1)
    }

    fn doors(&self, _: &str) -> Option<BTreeSet<String>> {
        self.asked.lock().clone()
    }
}

pub(crate) fn ask(session: &str, seat: usize, index: u32, says: &str) -> DoorAsk {
    let mut seen = SeatView::new("guess_two_thirds", seat, 2);
    let event = Event::new("briefing", 0).fact("note", says.to_owned());
    seen.seen.push(event.only_for(vec![seat]));
    let message = |from, text: &str| Message {
        from,
        text: text.to_owned(),
    };
    DoorAsk {
        experiment: "x".to_owned(),
        session: session.to_owned(),
        seat,
        index,
        digest: "d".to_owned(),
        kind: "guess".to_owned(),
        schema: json!({ "type": "integer", "minimum": 0, "maximum": 100 }),
        messages: vec![
            message(Speaker::Rules, "The rules."),
            message(Speaker::Game, says),
        ],
        until: Some(5),
        stand_in: Some("equilibrium".to_owned()),
        seen: Some(Arc::new(seen)),
    }
}

pub(crate) struct Stand {
    pub(crate) router: Router,
    keeper: Arc<Memory>,
    pub(crate) doors: Arc<Waiting>,
    seats: Arc<Seats>,
}

/// Somebody with a link.
pub(crate) struct Guest {
    pub(crate) id: String,
    pub(crate) link: String,
    pub(crate) cookie: Option<String>,
}

impl Stand {
    pub(crate) fn new(people: People) -> Self {
        Self::of(people, None)
    }

    fn of(people: People, sweeps: Option<&Arc<dyn Sweeps>>) -> Self {
        let (keeper, doors) = (Arc::<Memory>::default(), Arc::<Waiting>::default());
        let library = Arc::new(Library::new(Arc::new(Nothing)));
        let seats = Seats::new(
            people,
            Arc::clone(&keeper) as Arc<dyn Keeper>,
            Arc::clone(&doors) as Arc<dyn Doors>,
            Arc::clone(&library),
            sweeps,
        );
        let seats = Arc::new(seats);
        let access = Access::new(
            Arc::new(Shelf::new(library, CancellationToken::new())),
            None,
        );
        let entrance = Entrance::open("token", access).unwrap();
        let router = router(Arc::new(entrance), Some(Arc::clone(&seats)));
        Self {
            router,
            keeper,
            doors,
            seats,
        }
    }

    pub(crate) fn invite(&self, door: &str, expires: u64) -> Guest {
        let mut made = None;
        let invite = &mut |book: &mut Book| made = Some(book.invite("x", door, expires).unwrap());
        self.keeper.change(invite).unwrap();
        let (id, link) = made.unwrap();
        Guest {
            id,
            link,
            cookie: None,
        }
    }

    async fn ask(&self, request: Request<Body>) -> (StatusCode, Option<String>, String) {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let cookie = response.headers().get(SET_COOKIE);
        let cookie = cookie.map(|cookie| cookie.to_str().unwrap().to_owned());
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, cookie, String::from_utf8_lossy(&body).into_owned())
    }

    pub(crate) async fn post(
        &self,
        guest: &Guest,
        what: &str,
        body: Value,
    ) -> (StatusCode, String) {
        let path = format!("/api/v1/seats/{}/{what}", guest.id);
        let request = Request::post(path).header(HOST, "localhost");
        let request = request.header(CONTENT_TYPE, "application/json");
        let request = request.header(COOKIE, guest.cookie.clone().unwrap_or_default());
        let request = request.body(Body::from(body.to_string())).unwrap();
        let (status, _, body) = self.ask(request).await;
        (status, body)
    }

    async fn get(&self, path: &str, cookie: &str) -> (StatusCode, String) {
        let request = Request::get(path).header(HOST, "localhost");
        let request = request.header(COOKIE, cookie).body(Body::empty()).unwrap();
        let (status, _, body) = self.ask(request).await;
        (status, body)
    }

    pub(crate) async fn state(&self, guest: &Guest) -> (StatusCode, String) {
        let path = format!("/api/v1/seats/{}", guest.id);
        self.get(&path, guest.cookie.as_deref().unwrap_or_default())
            .await
    }

    pub(crate) async fn claim(&self, guest: &mut Guest, query: Value) -> StatusCode {
        let path = format!("/api/v1/seats/{}/claim", guest.id);
        let request = Request::post(path).header(HOST, "localhost");
        let request = request.header(CONTENT_TYPE, "application/json");
        let body = json!({ "invite": guest.link, "query": query });
        let request = request.body(Body::from(body.to_string())).unwrap();
        let (status, cookie, _) = self.ask(request).await;
        if let Some(cookie) = cookie {
            let path = format!("Path=/api/v1/seats/{};", guest.id);
            for part in ["HttpOnly", "SameSite=Strict", &path] {
                assert!(cookie.contains(part), "{cookie}");
            }
            guest.cookie = cookie.split(';').next().map(str::to_owned);
        }
        status
    }

    /// Somebody at the table.
    async fn seated(&self, door: &str) -> Guest {
        let mut guest = self.invite(door, FAR);
        assert_eq!(self.claim(&mut guest, json!({})).await, StatusCode::OK);
        let agreed = self.post(&guest, "consent", json!({ "agree": true })).await;
        assert_eq!(agreed.0, StatusCode::NO_CONTENT);
        let checked = self.post(&guest, "check", json!({ "answers": [] })).await;
        assert_eq!(checked.0, StatusCode::OK);
        guest
    }
}

#[tokio::test]
async fn seat_is_free_again_when_its_person_could_not_be_kept() {
    let stand = Stand::new(People::default());
    let mut guest = stand.invite("ann", FAR);
    stand.keeper.is_full.store(true, Ordering::Relaxed);
    let refused = stand.claim(&mut guest, json!({})).await;
    assert!(refused.is_server_error(), "{refused}");
    stand.keeper.is_full.store(false, Ordering::Relaxed);
    assert_eq!(stand.claim(&mut guest, json!({})).await, StatusCode::OK);
    assert!(guest.cookie.is_some());
}

#[tokio::test]
async fn question_whose_answer_was_lost_is_put_to_the_person_again() {
    let stand = Stand::new(People::default());
    let guest = stand.seated("ann").await;
    let open = async || {
        let state: Value = serde_json::from_str(&stand.state(&guest).await.1).unwrap();
        state["ask"]["id"].clone()
    };
    let put = |asks| stand.doors.put("ann", asks);
    put(vec![ask("s", 0, 0, "Your guess?")]);
    assert_eq!(open().await, "s:0:0");
    let answer = json!({ "ask": "s:0:0", "value": 30 });
    let (status, _) = stand.post(&guest, "answer", answer).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    assert!(open().await.is_null());
    put(Vec::new());
    assert!(open().await.is_null());
    put(vec![ask("s", 0, 0, "Your guess?")]);
    assert_eq!(open().await, "s:0:0");
}

#[tokio::test]
async fn links_that_are_stolen_used_over_or_withdrawn_open_no_seat() {
    let stand = Stand::new(People::default());
    let mut guest = stand.invite("ann", FAR);
    let mut wrong = Guest {
        id: guest.id.clone(),
        link: format!("{}.0000", guest.id),
        cookie: None,
    };
    assert_eq!(
        stand.claim(&mut wrong, json!({})).await,
        StatusCode::FORBIDDEN
    );
    wrong.id = "nobody".to_owned();
    assert_eq!(
        stand.claim(&mut wrong, json!({})).await,
        StatusCode::FORBIDDEN
    );
    assert_eq!(stand.claim(&mut guest, json!({})).await, StatusCode::OK);
    let mut second = Guest {
        id: guest.id.clone(),
        link: guest.link.clone(),
        cookie: None,
    };
    assert_eq!(
        stand.claim(&mut second, json!({})).await,
        StatusCode::CONFLICT
    );
    assert_eq!(second.cookie, None);
    assert_eq!(stand.state(&guest).await.0, StatusCode::OK);
    assert_eq!(stand.state(&second).await.0, StatusCode::UNAUTHORIZED);
    let mut late = stand.invite("bob", 1);
    assert_eq!(stand.claim(&mut late, json!({})).await, StatusCode::GONE);
    let id = guest.id.clone();
    let revoke = &mut |book: &mut Book| assert!(book.revoke(&id));
    stand.keeper.change(revoke).unwrap();
    assert_eq!(stand.state(&guest).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(stand.claim(&mut guest, json!({})).await, StatusCode::GONE);
}

#[tokio::test]
async fn invitation_opens_its_own_seat_and_nothing_else_of_the_server() {
    let stand = Stand::new(People::default());
    let ann = stand.seated("ann").await;
    let bob = stand.seated("bob").await;
    let cookie = ann.cookie.clone().unwrap();
    for path in [
        "runs",
        "runs/x",
        "sessions/y",
        "sessions/y/steps",
        "sweeps",
        "sweeps/events",
    ] {
        let (status, _) = stand.get(&format!("/api/v1/{path}"), &cookie).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{path}");
    }
    // Another seat, also when its cookie's name is put before one's own value.
    let value = cookie.split_once('=').unwrap().1;
    let forged = format!("agon-seat-{}={value}", bob.id);
    for shown in [cookie.as_str(), forged.as_str(), "", "agon-seat-=x"] {
        for below in ["", "/events"] {
            let path = format!("/api/v1/seats/{}{below}", bob.id);
            let (status, _) = stand.get(&path, shown).await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{shown}");
        }
        let intruder = Guest {
            id: bob.id.clone(),
            link: String::new(),
            cookie: Some(shown.to_owned()),
        };
        let acts = [
            ("consent", json!({ "agree": true })),
            ("check", json!({ "answers": [] })),
            ("ready", json!({ "ready": true })),
            ("answer", json!({ "ask": "s:1:0", "value": 1 })),
            ("questions", json!({ "answers": {} })),
            ("leave", json!({})),
            ("return", json!({})),
            ("beat", json!({})),
            ("done", json!({})),
        ];
        for (what, body) in acts {
            let (status, _) = stand.post(&intruder, what, body).await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{what}, {shown}");
        }
    }
}

#[tokio::test]
async fn seat_is_told_its_own_view_alone_and_answers_its_own_questions_alone() {
    let stand = Stand::new(People::default());
    let ann = stand.seated("ann").await;
    let bob = stand.seated("bob").await;
    stand.doors.put("bob", vec![ask("s", 1, 0, SECRET)]);
    let of_other_experiment = DoorAsk {
        experiment: "y".to_owned(),
        ..ask("other", 0, 0, SECRET)
    };
    stand.doors.put(
        "ann",
        vec![of_other_experiment, ask("s", 0, 0, "Your guess?")],
    );
    let (_, told) = stand.state(&ann).await;
    assert!(told.contains("Your guess?"), "{told}");
    assert!(!told.contains(SECRET), "{told}");
    let state: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(state["ask"]["id"], "s:0:0");
    assert_eq!(state["ask"]["stand_in"], "equilibrium");
    assert!(!told.contains("\"default\""), "{told}");
    assert!(stand.state(&bob).await.1.contains(SECRET));
    // Neither the question of another seat, nor that of another experiment at the same door.
    for wrong in ["s:1:0", "other:0:0", "s:0:1", ""] {
        let body = json!({ "ask": wrong, "value": 1 });
        let (status, said) = stand.post(&ann, "answer", body).await;
        assert_eq!(status, StatusCode::CONFLICT, "{wrong}: {said}");
    }
    assert!(stand.doors.answers.lock().is_empty());
    for wrong in [
        json!(null),
        json!(true),
        json!({}),
        json!(["a"]),
        json!("x".repeat(20_000)),
    ] {
        let body = json!({ "ask": "s:0:0", "value": wrong });
        let (status, _) = stand.post(&ann, "answer", body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong}");
    }
    let body = json!({ "ask": "s:0:0", "value": 30 });
    let (status, _) = stand.post(&ann, "answer", body.clone()).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let pseudonym = state["pseudonym"].as_str().unwrap().to_owned();
    let given = stand.doors.answers.lock().clone();
    let expected = (
        "ann".to_owned(),
        "s:0:0".to_owned(),
        "{\"guess\":30}".to_owned(),
        pseudonym,
    );
    assert_eq!(given, [expected]);
    // Whatever the door says a moment later, it is answered.
    let (_, told) = stand.state(&ann).await;
    let state: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(state["ask"], Value::Null);
}

#[tokio::test]
async fn answer_that_comes_too_late_is_told_in_words_and_the_page_goes_on() {
    let stand = Stand::new(People::default());
    let ann = stand.seated("ann").await;
    stand.doors.put("ann", vec![ask("s", 0, 99, "Your guess?")]);
    let _ = stand.state(&ann).await;
    let body = json!({ "ask": "s:0:99", "value": 30 });
    let (status, said) = stand.post(&ann, "answer", body).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(
        said.contains("Time was up: equilibrium has answered for you."),
        "{said}"
    );
    stand.doors.put("ann", vec![ask("s", 0, 100, "And now?")]);
    let state: Value = serde_json::from_str(&stand.state(&ann).await.1).unwrap();
    assert_eq!(
        state["notice"],
        "Time was up: equilibrium has answered for you."
    );
    assert_eq!(state["ask"]["question"], "And now?");
}

#[tokio::test]
async fn changes_are_taken_from_ones_own_page_within_bounds_and_not_too_often() {
    let stand = Stand::new(People::default());
    let ann = stand.seated("ann").await;
    let post = |origin: &str, body: String| {
        let path = format!("/api/v1/seats/{}/beat", ann.id);
        let request = Request::post(path).header(HOST, "localhost");
        let request = request.header(COOKIE, ann.cookie.clone().unwrap());
        let request = request.header(CONTENT_TYPE, "application/json");
        let request = request.header(ORIGIN, origin);
        request.body(Body::from(body)).unwrap()
    };
    let (status, ..) = stand.ask(post("http://evil.example", String::new())).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    let (status, ..) = stand.ask(post("http://localhost", String::new())).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let large = json!({ "ask": "s:0:0", "value": "x".repeat(100_000) });
    let (status, _) = stand.post(&ann, "answer", large).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    let mut statuses = Vec::new();
    for _ in 0..60 {
        statuses.push(stand.post(&ann, "beat", json!({})).await.0);
    }
    assert!(statuses.contains(&StatusCode::TOO_MANY_REQUESTS));
    // One who does too much keeps nobody else out.
    let bob = stand.seated("bob").await;
    assert_eq!(stand.state(&bob).await.0, StatusCode::OK);
}

#[tokio::test]
async fn secrets_are_not_tried_out_and_names_of_no_invitation_fill_no_memory() {
    let stand = Stand::new(People::default());
    let guest = stand.invite("ann", FAR);
    let mut statuses = Vec::new();
    for guess in 0..20 {
        let mut thief = Guest {
            id: guest.id.clone(),
            link: format!("{}.{guess}", guest.id),
            cookie: None,
        };
        statuses.push(stand.claim(&mut thief, json!({})).await);
    }
    assert_eq!(statuses.first(), Some(&StatusCode::FORBIDDEN));
    assert_eq!(statuses.last(), Some(&StatusCode::TOO_MANY_REQUESTS));
    let mut other = stand.invite("bob", FAR);
    assert_eq!(stand.claim(&mut other, json!({})).await, StatusCode::OK);
}

#[tokio::test]
async fn streams_of_a_seat_are_few_and_end_with_its_invitation() {
    let stand = Stand::new(People::default());
    let ann = stand.seated("ann").await;
    let events = || {
        let path = format!("/api/v1/seats/{}/events", ann.id);
        let request = Request::get(path).header(HOST, "localhost");
        let request = request.header(COOKIE, ann.cookie.clone().unwrap());
        let request = request.body(Body::empty()).unwrap();
        stand.router.clone().oneshot(request)
    };
    let mut open = Vec::new();
    for _ in 0..4 {
        open.push(events().await.unwrap());
    }
    assert!(open.iter().all(|stream| stream.status() == StatusCode::OK));
    let refused = events().await.unwrap();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    let last = open.pop().unwrap();
    drop(open);
    let id = ann.id.clone();
    let revoke = &mut |book: &mut Book| assert!(book.revoke(&id));
    stand.keeper.change(revoke).unwrap();
    // The stream comes to its end: it is read to there.
    let read = to_bytes(last.into_body(), usize::MAX);
    let read = tokio::time::timeout(Duration::from_secs(30), read).await;
    assert!(
        read.is_ok_and(|body| body.is_ok()),
        "the stream does not end"
    );
}

#[tokio::test]
async fn who_somebody_is_stands_in_one_place_and_is_told_nobody() {
    let people = People {
        participant: super::people::Participant {
            parameters: vec!["PROLIFIC_PID".to_owned()],
        },
        ..People::default()
    };
    let stand = Stand::new(people);
    let mut ann = stand.invite("ann", FAR);
    let query = json!({ "PROLIFIC_PID": "pid-5f", "STUDY": "unasked" });
    assert_eq!(stand.claim(&mut ann, query).await, StatusCode::OK);
    let _ = stand.post(&ann, "consent", json!({ "agree": true })).await;
    let kept = stand.keeper.kept.lock().clone();
    assert_eq!(kept[0]["participant"], json!({ "PROLIFIC_PID": "pid-5f" }));
    assert_eq!(kept[1]["what"], "consent");
    assert_eq!(kept[1]["pseudonym"], kept[0]["pseudonym"]);
    assert!(!kept[1].to_string().contains("pid-5f"));
    let book = serde_json::to_string(&*stand.keeper.read().unwrap()).unwrap();
    assert!(!book.contains("pid-5f"));
    assert!(!stand.state(&ann).await.1.contains("pid-5f"));
}

/// Instructions with a check, and a question at the end.
fn checked() -> People {
    People {
        check: vec![super::Check {
            question: "How many?".to_owned(),
            choices: vec!["one".to_owned(), "two".to_owned()],
            answer: "two".to_owned(),
            explanation: "Count again.".to_owned(),
        }],
        ..People::default()
    }
}

#[tokio::test]
async fn nobody_plays_who_has_not_agreed_and_understood_and_right_answers_are_not_told() {
    let stand = Stand::new(checked());
    let mut ann = stand.invite("ann", FAR);
    assert_eq!(stand.claim(&mut ann, json!({})).await, StatusCode::OK);
    stand.doors.put("ann", vec![ask("s", 0, 0, "Your guess?")]);
    let stage = |told: &str| serde_json::from_str::<Value>(told).unwrap()["stage"].clone();
    let (_, told) = stand.state(&ann).await;
    assert_eq!(stage(&told), "consent");
    assert!(!told.contains("Your guess?"));
    let refused = stand.post(&ann, "consent", json!({ "agree": false })).await;
    assert_eq!(refused.0, StatusCode::UNPROCESSABLE_ENTITY);
    let _ = stand.post(&ann, "consent", json!({ "agree": true })).await;
    let (_, told) = stand.state(&ann).await;
    assert_eq!(stage(&told), "instructions");
    assert!(
        !told.contains("answer") && !told.contains("Count again."),
        "{told}"
    );
    let (status, said) = stand
        .post(&ann, "check", json!({ "answers": ["one"] }))
        .await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        said.contains("Count again.") && !said.contains("two"),
        "{said}"
    );
    let (status, _) = stand.post(&ann, "check", json!({ "answers": [] })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(stage(&stand.state(&ann).await.1), "instructions");
    // Answering before is no way around.
    let early = json!({ "ask": "s:0:0", "value": 3 });
    assert_eq!(
        stand.post(&ann, "answer", early).await.0,
        StatusCode::CONFLICT
    );
    let _ = stand
        .post(&ann, "check", json!({ "answers": ["two"] }))
        .await;
    let (_, told) = stand.state(&ann).await;
    assert_eq!(stage(&told), "play");
    assert!(told.contains("Your guess?"));
}

#[tokio::test]
async fn game_waits_until_everybody_is_ready_and_for_whoever_has_left() {
    let stand = Stand::new(People::default());
    assert!(!stand.seats.are_ready("x"), "nobody was invited");
    let ann = stand.seated("ann").await;
    // Somebody who plays alone waits for nobody.
    assert!(stand.seats.are_ready("x"));
    let bob = stand.invite("bob", FAR);
    assert!(!stand.seats.are_ready("x"), "bob has not come");
    let revoke = &mut |book: &mut Book| assert!(book.revoke(&bob.id));
    stand.keeper.change(revoke).unwrap();
    let bob = stand.seated("bob").await;
    let ready = json!({ "ready": true });
    let _ = stand.post(&ann, "ready", ready.clone()).await;
    assert!(!stand.seats.are_ready("x"), "bob is not ready");
    let _ = stand.post(&bob, "ready", ready.clone()).await;
    assert!(stand.seats.are_ready("x"));
    let _ = stand.post(&ann, "leave", json!({})).await;
    assert!(!stand.seats.are_ready("x"), "ann has left");
    let (status, _) = stand.post(&ann, "ready", ready.clone()).await;
    assert_eq!(status, StatusCode::CONFLICT);
    let (_, told) = stand.state(&ann).await;
    assert!(told.contains("\"stage\":\"left\""), "{told}");
    let (status, _) = stand.post(&ann, "return", json!({})).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    assert!(!stand.seats.are_ready("x"), "ann is back and not ready yet");
    let _ = stand.post(&ann, "ready", ready).await;
    assert!(stand.seats.are_ready("x"));
}

#[tokio::test]
async fn address_of_invitations_reaches_pages_of_people_alone() {
    let people = People {
        address: Some("https://play.example.org".to_owned()),
        ..People::default()
    };
    let stand = Stand::new(people);
    let called = |host: &str, path: &str| {
        let request = Request::get(path).header(HOST, host);
        request.body(Body::empty()).unwrap()
    };
    for path in ["/seat", "/seat/5f", "/assets/none.js", "/api/v1/seats/5f"] {
        let (status, ..) = stand.ask(called("play.example.org", path)).await;
        assert_ne!(status, StatusCode::FORBIDDEN, "{path}");
        let (status, ..) = stand.ask(called("evil.example", path)).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}");
    }
    for path in ["/", "/runs/x", "/api/v1/runs", "/api/v1/enter", "/seats"] {
        let (status, ..) = stand.ask(called("play.example.org", path)).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}");
    }
    // Over TLS the cookie stays there.
    let guest = stand.invite("ann", FAR);
    let path = format!("/api/v1/seats/{}/claim", guest.id);
    let request = Request::post(path).header(HOST, "play.example.org");
    let request = request.header(CONTENT_TYPE, "application/json");
    let body = Body::from(json!({ "invite": guest.link }).to_string());
    let (status, cookie, _) = stand.ask(request.body(body).unwrap()).await;
    assert_eq!(status, StatusCode::OK);
    assert!(cookie.unwrap().contains("; Secure"));
}

#[test]
fn what_is_wrong_with_texts_is_told_all_at_once_with_its_place() {
    let people = People {
        address: Some("play.example.org".to_owned()),
        check: vec![super::Check {
            question: String::new(),
            choices: vec!["one".to_owned()],
            answer: "three".to_owned(),
            explanation: String::new(),
        }],
        questions: ["", "a b"]
            .map(|name| super::Question {
                name: name.to_owned(),
                question: "Why?".to_owned(),
                kind: super::QuestionKind::Scale,
                choices: Vec::new(),
                min: None,
                max: None,
                steps: Some(1),
                low: String::new(),
                high: String::new(),
                optional: false,
            })
            .to_vec(),
        ..People::default()
    };
    let faults = people.faults();
    for place in ["address", "check 1", "question 1", "question 2"] {
        let is_told = faults.iter().any(|fault| fault.starts_with(place));
        assert!(is_told, "{place}: {faults:?}");
    }
    assert!(People::default().faults().is_empty());
    let script = People {
        address: Some("javascript:alert(1)".to_owned()),
        ..People::default()
    };
    assert_eq!(script.faults().len(), 1);
}
