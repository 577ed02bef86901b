//! A server for any protocol: it keeps what it was sent and answers what it was
//! told, on every path.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use serde_json::Value;

/// What it was sent.
#[derive(Clone, Debug)]
pub struct Seen {
    pub uri: Uri,
    pub headers: HeaderMap,
    pub body: Value,
}

/// What it answers.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn fine(body: impl ToString) -> Self {
        Self::new(200, body)
    }

    pub fn new(status: u16, body: impl ToString) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.to_string(),
        }
    }
}

/// The server. Answers in order, the last one again and again.
#[derive(Clone, Default)]
pub struct Mirror {
    pub address: String,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Mirror {
    pub async fn open() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mirror = Self {
            address: format!("http://{}", listener.local_addr().unwrap()),
            ..Self::default()
        };
        let router = axum::Router::new().fallback({
            let mirror = mirror.clone();
            async move |request: Request| mirror.answer(request).await
        });
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        mirror
    }

    pub fn will_answer(&self, answers: impl IntoIterator<Item = Answer>) {
        *self.answers.lock() = answers.into_iter().collect();
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().clone()
    }

    async fn answer(&self, request: Request) -> Response {
        let (head, body) = request.into_parts();
        let body: Bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        self.seen.lock().push(Seen {
            uri: head.uri,
            headers: head.headers,
            body: serde_json::from_slice(&body).unwrap(),
        });
        let answer = {
            let mut answers = self.answers.lock();
            match answers.len() {
                1 => answers[0].clone(),
                _ => answers.pop_front().unwrap(),
            }
        };
        let headers: HeaderMap = answer
            .headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        let status = StatusCode::from_u16(answer.status).unwrap();
        (status, headers, answer.body).into_response()
    }
}
