//! The minds that agents think with: one that asks the gateway, one that reads
//! a record (`mind/recorded.rs`). Both give each call the next index of its seat at the moment of the
//! call, so that calls made side by side keep the order they were written in.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_agents::{Mind, MindError, Reply, Thought};
use agon_engine::{RecordedDecision, Seat};
use agon_proto::v1::{DecideRequest, DecideResponse};
use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::status::ErrorClass;
use agon_service_kit::tasks::with_causes;
use agon_service_kit::{status, telemetry};
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tracing::{Instrument as _, warn};

use crate::wire::{self, Asker};

mod client;
mod recorded;

pub use client::GatewayClient;
pub use recorded::{Kept, Recorded, RecordedMind};

/// What a session's decisions have in common.
#[derive(Debug, Clone)]
pub struct SessionContext {
    /// The session's id.
    pub session_id: Arc<str>,
    /// The game, for spans.
    pub game: Arc<str>,
    /// Who asks and on which terms.
    pub asker: Arc<Asker>,
    /// Set when a decision is made that the ledger did not hold.
    pub progressed: Arc<AtomicBool>,
}

/// The decisions that a mind has made, and what they cost in time and tokens.
#[derive(Debug, Default)]
pub struct Journal {
    made: Mutex<Made>,
}

/// What a journal holds.
#[derive(Debug, Default)]
pub struct Made {
    /// For the record.
    pub decisions: Vec<RecordedDecision>,
    /// Bytes of all replies and thoughts in them.
    pub text_bytes: u64,
    /// For telemetry.
    pub usage: Usage,
    /// The same decision by decision, in the order in which they were made.
    pub each: Vec<DecisionUsage>,
}

/// What one decision took; telemetry.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct DecisionUsage {
    /// Which seat asked.
    pub seat: Seat,
    /// Position among the seat's decisions.
    pub index: u32,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens received, those of thinking included.
    pub output_tokens: u64,
    /// Of these, spent on thinking.
    pub reasoning_tokens: u64,
    /// The tokens are an estimate: nobody said, or what was said cannot be true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// What it cost, in nano-dollars; absent when the price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_nanodollars: Option<u64>,
    /// Seconds between asking and answer.
    pub seconds: f64,
}

/// What decisions cost; telemetry, never part of a record.
#[derive(Debug, Default, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Usage {
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// Decisions that the ledger held already.
    pub from_ledger: u64,
    /// Decisions that another session had paid for.
    pub from_content_cache: u64,
    /// What the decisions cost that were paid for this session, in nano-dollars: now, or when they
    /// were recorded in an earlier try.
    pub cost_nanodollars: u64,
    /// Decisions of unknown price, not in the cost; none of a simulated server's.
    pub unpriced_decisions: u64,
    /// Decisions whose tokens are estimates; none of a simulated server's.
    pub estimated_decisions: u64,
    /// Seconds between asking and answer, summed over all decisions.
    pub outside_seconds: f64,
}

impl Usage {
    /// Counts a decision. Each is made once, and has its cost from then on: a session that is
    /// played again adds up to the same.
    fn add(&mut self, decided: &DecideResponse, took: Duration) {
        let tokens = decided.usage.unwrap_or_default();
        self.input_tokens += tokens.input_tokens;
        self.output_tokens += tokens.output_tokens;
        self.estimated_decisions += u64::from(tokens.estimated && !decided.simulated);
        self.from_ledger += u64::from(decided.from_ledger);
        self.outside_seconds += took.as_secs_f64();
        match decided.cost_nanodollars {
            _ if decided.from_content_cache => self.from_content_cache += 1,
            Some(cost) => self.cost_nanodollars = self.cost_nanodollars.saturating_add(cost),
            // A simulated server's answer has no price and costs nothing.
            None => self.unpriced_decisions += u64::from(!decided.simulated),
        }
    }
}

impl DecisionUsage {
    fn of(seat: Seat, index: u32, decided: &DecideResponse, took: Duration) -> Self {
        let tokens = decided.usage.unwrap_or_default();
        Self {
            seat,
            index,
            input_tokens: tokens.input_tokens,
            output_tokens: tokens.output_tokens,
            reasoning_tokens: tokens.reasoning_tokens,
            estimated: tokens.estimated,
            // An answer from the cache was paid for by the session that had it first.
            cost_nanodollars: decided
                .cost_nanodollars
                .filter(|_| !decided.from_content_cache),
            seconds: took.as_secs_f64(),
        }
    }
}

impl Journal {
    /// Everything in it; the journal is empty afterwards.
    pub fn take(&self) -> Made {
        std::mem::take(&mut *lock(&self.made))
    }

    /// Adds a decision.
    pub(crate) fn add(&self, decision: RecordedDecision) {
        self.note(|made| {
            made.text_bytes += (decision.reply.len() + decision.reasoning.len()) as u64;
            made.decisions.push(decision);
        });
    }

    /// Bytes of all replies and thoughts in it: what a record of them has at least.
    pub fn text_bytes(&self) -> u64 {
        let mut bytes = 0;
        self.note(|made| bytes = made.text_bytes);
        bytes
    }

    fn note(&self, write: impl FnOnce(&mut Made)) {
        write(&mut lock(&self.made));
    }
}

/// Asks the gateway. One per model seat.
pub struct GatewayMind {
    client: GatewayClient,
    context: SessionContext,
    seat: Seat,
    next_index: AtomicU32,
    journal: Arc<Journal>,
    given_up: CancellationToken,
}

impl GatewayMind {
    /// A mind for one seat; `given_up` ends its calls.
    pub fn new(
        client: GatewayClient,
        context: SessionContext,
        seat: Seat,
        journal: Arc<Journal>,
        given_up: CancellationToken,
    ) -> Self {
        let next_index = AtomicU32::new(0);
        Self {
            client,
            context,
            seat,
            next_index,
            journal,
            given_up,
        }
    }
}

impl Mind for GatewayMind {
    fn think(&self, thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
        let index = self.next_index.fetch_add(1, Ordering::Relaxed);
        let context = self.context.clone();
        let (seat, purpose) = (self.seat, thought.purpose);
        let settings = Arc::clone(&thought.settings);
        let session_id = Arc::clone(&context.session_id);
        let ids = telemetry::SessionIds {
            experiment_id: &context.asker.experiment_id,
            session_id: &context.session_id,
            game: &context.game,
        };
        let span = ids.decision_span(seat as u32, u64::from(index));
        let (client, journal) = (self.client.clone(), Arc::clone(&self.journal));
        let given_up = self.given_up.clone();
        let call = async move {
            let asked = Instant::now();
            let address = wire::Address {
                session_id: &session_id,
                seat,
                index,
            };
            let request = || wire::decide_request(&address, &context.asker, &thought);
            let decided = given_up
                .run_until_cancelled(Box::pin(decide(client, request)))
                .await;
            let response = decided.ok_or(MindError::GivenUp)??;
            let took = asked.elapsed();
            if !response.from_ledger {
                context.progressed.store(true, Ordering::Relaxed);
            }
            journal.note(|made| {
                made.usage.add(&response, took);
                made.each
                    .push(DecisionUsage::of(seat, index, &response, took));
            });
            let decision = wire::recorded_decision(&address, purpose, &settings.model, response);
            let reply = wire::reply(&decision);
            journal.add(decision);
            Ok(reply)
        };
        Box::pin(call.instrument(span))
    }
}

/// A gateway that stays away is complained about this often.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// A gateway whose store was away is asked again this soon after its return.
const LONGEST_DELAY: Duration = Duration::from_secs(1);

/// Asks until there is an answer: the address makes it safe to ask again, and a
/// gateway that is away or stopping will come back or has replicas. The request is made for
/// each try: while an answer is waited for, the prompt is kept once, where the agent has it.
async fn decide(
    mut client: GatewayClient,
    request: impl Fn() -> DecideRequest,
) -> Result<DecideResponse, MindError> {
    let mut delays = Delays::new(DelayPolicy {
        cap: LONGEST_DELAY,
        ..DelayPolicy::default()
    });
    let mut told: Option<Instant> = None;
    loop {
        let refusal = match client.decide(request()).await {
            Ok(response) => return Ok(response),
            Err(refusal) => refusal,
        };
        let is_of_worker = is_of_worker(&refusal);
        if !is_of_worker && !status::is_retryable(&refusal) {
            return Err(wire::mind_error(&refusal));
        }
        if told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            told = Some(Instant::now());
            let reason = with_causes(&refusal);
            match is_of_worker {
                true => warn!(%reason, "the gateway does not let this worker in, asking again"),
                false => warn!(%reason, "the gateway does not answer, asking again"),
            }
        }
        let delay = delays.next_delay().unwrap_or(LONGEST_DELAY);
        tokio::time::sleep(delay).await;
    }
}

/// Whether this worker is not let in. That is no matter of the session: it keeps its place until the
/// token is mended, or somebody else plays it.
pub(crate) fn is_of_worker(refusal: &Status) -> bool {
    let class = ErrorClass::of(refusal);
    matches!(class, ErrorClass::Unauthenticated | ErrorClass::Forbidden)
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_is_counted_once_and_what_others_paid_is_not() {
        let decided = |cost, from_ledger, from_content_cache| DecideResponse {
            cost_nanodollars: cost,
            from_ledger,
            from_content_cache,
            ..DecideResponse::default()
        };
        let simulated = DecideResponse {
            simulated: true,
            ..decided(None, false, false)
        };
        let mut first = Usage::default();
        let mut again = Usage::default();
        for (cost, cached) in [(Some(5), false), (Some(7), true), (None, false)] {
            first.add(&decided(cost, false, cached), Duration::ZERO);
            again.add(&decided(cost, true, cached), Duration::ZERO);
        }
        first.add(&simulated, Duration::ZERO);
        again.add(&simulated, Duration::ZERO);
        assert_eq!(first.cost_nanodollars, 5);
        assert_eq!((first.from_content_cache, first.unpriced_decisions), (1, 1));
        assert_eq!(
            again,
            Usage {
                from_ledger: 3,
                ..first
            }
        );
    }
}
