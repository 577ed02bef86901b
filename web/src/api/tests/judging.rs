//! Drawing players to be judged: what reaches whoever draws, and what is answered. Nobody is judged
//! here.

use agon_engine::Seat;
use agon_engine::record::StoredRecord;
use axum::body::Body;
use http::header::{CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use http::{Request, StatusCode};
use serde_json::{Value, json};

use super::{Stand, json_of};
use crate::Played;
use crate::judging::{
    DrawnPlayer, Judging, JudgingCriterion, JudgingDraft, JudgingDrafting, JudgingWanted, Listed,
};

/// Draws the last seats of the first sessions.
pub(super) struct ByOrder;

impl Judging for ByOrder {
    fn criteria(&self) -> Vec<JudgingCriterion> {
        vec![JudgingCriterion {
            name: "courage".to_owned(),
            question: "How brave?".to_owned(),
            marks: vec!["not at all".to_owned(), "very".to_owned()],
            needs_persona: false,
        }]
    }

    fn begin(&self, run: &str, wanted: &JudgingWanted) -> Result<Box<dyn JudgingDrafting>, String> {
        if wanted.people.is_empty() {
            return Err("nobody judges".to_owned());
        }
        Ok(Box::new(Drafting {
            run: run.to_owned(),
            wanted: wanted.clone(),
            drawn: Vec::new(),
        }))
    }
}

struct Drafting {
    run: String,
    wanted: JudgingWanted,
    drawn: Vec<DrawnPlayer>,
}

impl JudgingDrafting for Drafting {
    fn draw(&mut self, sessions: Listed<'_>) -> Result<Vec<(String, Seat)>, String> {
        let last = |(id, played): (&str, &Played)| (id.to_owned(), played.seats.len() - 1);
        let most = self.wanted.judged as usize;
        Ok(sessions.take(most).map(last).collect())
    }

    fn add(&mut self, record: &StoredRecord, seat: Seat) {
        self.drawn.push(DrawnPlayer {
            session: record.session.to_string(),
            seat,
            name: record.spec.seats[seat].name.clone(),
            has_persona: false,
            judges: self.wanted.people.clone(),
        });
    }

    fn finish(self: Box<Self>) -> Result<JudgingDraft, String> {
        Ok(JudgingDraft {
            drawn: self.drawn,
            left_out: Vec::new(),
            file: format!("{}.toml", self.run),
            text: "name = \"x\"".to_owned(),
            command: "agon run".to_owned(),
        })
    }
}

async fn draft(stand: &Stand, run: &str, wanted: Value, origin: &str) -> (StatusCode, Value) {
    let cookie = stand.cookie().await;
    let request = Request::post(format!("/api/v1/judging/runs/{run}"))
        .header(HOST, "localhost")
        .header(ORIGIN, origin)
        .header(COOKIE, cookie)
        .header(CONTENT_TYPE, "application/json");
    let answer = stand.ask(request.body(Body::from(wanted.to_string())).unwrap());
    let answer = answer.await;
    (answer.status(), json_of(answer).await)
}

const HERE: &str = "http://localhost";

#[tokio::test]
async fn players_of_a_run_are_drawn_from_what_is_listed_and_drafted_from_their_records() {
    let stand = Stand::new();
    let wanted = json!({ "judged": 1, "people": ["ann", "ben"] });
    let (status, told) = draft(&stand, "guesses", wanted, HERE).await;
    assert_eq!(status, StatusCode::OK, "{told}");
    let drawn = told["drawn"].as_array().unwrap();
    assert_eq!(drawn.len(), 1);
    assert_eq!(drawn[0]["session"], stand.session);
    assert_eq!(drawn[0]["judges"], json!(["ann", "ben"]));
    assert_eq!(told["file"], "guesses.toml");
}

#[tokio::test]
async fn what_cannot_be_drawn_is_refused_with_its_reason() {
    let stand = Stand::new();
    let unread = &stand.unreadable;
    let wanted = |judged: u32| json!({ "judged": judged, "people": ["ann"] });
    for (run, wanted, origin, expected, reason) in [
        ("guesses", wanted(0), HERE, 422, "between 1 and 300"),
        ("guesses", wanted(301), HERE, 422, "not 301"),
        ("others", wanted(1), HERE, 404, "run others"),
        (
            "guesses",
            json!({ "judged": 1 }),
            HERE,
            422,
            "nobody judges",
        ),
        (
            "guesses",
            wanted(1),
            "http://elsewhere",
            403,
            "another site",
        ),
        // The second session cannot be read.
        ("guesses", wanted(2), HERE, 500, ""),
    ] {
        let (status, told) = draft(&stand, run, wanted, origin).await;
        assert_eq!(status.as_u16(), expected, "{told}");
        let error = told["error"].as_str().unwrap();
        assert!(error.contains(reason), "{error}");
    }
    assert_ne!(&stand.session, unread);
}
