//! A provider that answers from a function, for tests of everything above the
//! providers. Opens no connection and needs no key. Called by tests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;

use super::{Call, Provider, Refusal, Reply};
use crate::decision::Request;

type Script = dyn Fn(&Request, u64) -> Result<Reply, Refusal> + Send + Sync;

/// Answers call `n` (counted from 0) with what the function says.
pub struct Scripted {
    script: Box<Script>,
    latency: Duration,
    calls: AtomicU64,
    in_flight: AtomicU64,
    most_at_once: AtomicU64,
}

impl Scripted {
    /// A provider that follows `script`.
    pub fn new(
        script: impl Fn(&Request, u64) -> Result<Reply, Refusal> + Send + Sync + 'static,
    ) -> Self {
        Self {
            script: Box::new(script),
            latency: Duration::ZERO,
            calls: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            most_at_once: AtomicU64::new(0),
        }
    }

    /// A provider that repeats the last message.
    pub fn echo() -> Self {
        Self::new(|request, _| {
            let text = request.messages.last().map(|last| last.content.clone());
            Ok(Reply {
                text: text.unwrap_or_default(),
                answered_by: request.model.clone(),
                finish_reason: "stop".to_owned(),
                ..Reply::default()
            })
        })
    }

    /// Lets every call take this long.
    pub fn with_latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// How many calls there were.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// How many calls there were at one moment, at most.
    pub fn most_at_once(&self) -> u64 {
        self.most_at_once.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Provider for Scripted {
    async fn call(&self, call: Call<'_>) -> Result<Reply, Refusal> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        let at_once = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(at_once, Ordering::SeqCst);
        if !self.latency.is_zero() {
            tokio::time::sleep(self.latency).await;
        }
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        (self.script)(call.request, number)
    }
}
