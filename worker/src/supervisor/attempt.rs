//! One try to play a leased session: what it needs is fetched, it is played, and what came of it is
//! made ready to be handed in. Started by the supervisor's actor.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use agon_agents::Mind;
use agon_engine::extent::{Extent, RECORD, TooLarge};
use agon_engine::{Blueprint as _, Seat, SessionSpec};
use agon_proto::packed::pack;
use agon_proto::v1::{FailureKind, Lease};
use agon_referee::{Games, Referee, RemoteReferee};
use agon_service_kit::server::LARGEST_RESULT_BYTES;
use agon_service_kit::tasks::Tasks;
use agon_service_kit::telemetry;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::state::Outcome;
use crate::metrics;
use crate::mind::{GatewayClient, GatewayMind, Journal, SessionContext};
use crate::prompts::Libraries;
use crate::session::{self, SessionEnd, SessionPlan};
use crate::transport::CoordinatorClient;
use crate::wire::{self, Asker};

/// Room in a message for what stands around the record.
const ENVELOPE_BYTES: usize = 1024 * 1024;

/// One try to play a session.
pub(super) struct Try {
    pub(super) tasks: Tasks,
    pub(super) coordinators: Arc<[CoordinatorClient]>,
    pub(super) gateway: GatewayClient,
    pub(super) libraries: Libraries,
    pub(super) games: Games,
    pub(super) worker_id: String,
    pub(super) progressed: Arc<AtomicBool>,
    pub(super) stop: CancellationToken,
}

impl Try {
    /// Plays it to an end.
    pub(super) async fn play(self, lease: Lease) -> Outcome {
        let outcome = self.outcome(lease).await;
        ::metrics::counter!(metrics::SESSIONS_ENDED, "end" => name(&outcome)).increment(1);
        outcome
    }

    async fn outcome(self, lease: Lease) -> Outcome {
        let spec: SessionSpec = match serde_json::from_slice(&lease.spec) {
            Ok(spec) => spec,
            Err(error) => return impossible(format!("unreadable session spec: {error}")),
        };
        let carried = match wire::carried(&lease) {
            Ok(carried) => carried,
            Err(error) => return impossible(format!("unreadable notes of a series: {error}")),
        };
        let digest = spec.prompt_bundle.clone();
        let wanted = self.libraries.get(digest.as_deref(), &self.coordinators);
        let library = match self.stop.run_until_cancelled(wanted).await {
            None => return Outcome::GivenUp,
            Some(Err(error)) => return impossible(error.to_string()),
            Some(Ok(library)) => library,
        };
        let asker = Asker::of_lease(&lease, &spec);
        let session_id = lease
            .lease
            .map(|lease| lease.session_id)
            .unwrap_or_default();
        let ids = telemetry::SessionIds {
            experiment_id: &lease.experiment_id,
            session_id: &session_id,
            game: &spec.game,
        };
        let span = ids.session_span();
        telemetry::set_parent(&span, &lease.traceparent);
        let context = SessionContext {
            session_id: session_id.as_str().into(),
            game: spec.game.as_str().into(),
            asker: asker.into(),
            progressed: self.progressed,
        };
        let (client, given_up) = (self.gateway, self.stop.clone());
        let minds = move |seat: Seat, journal: Arc<Journal>| -> Arc<dyn Mind> {
            let (client, context) = (client.clone(), context.clone());
            Arc::new(GatewayMind::new(
                client,
                context,
                seat,
                journal,
                given_up.clone(),
            ))
        };
        let referee = match referee(&self.games, &spec) {
            Ok(referee) => referee,
            Err(reason) => {
                let kind = FailureKind::Unplayable;
                return Outcome::Failed { kind, reason };
            }
        };
        let plan = SessionPlan {
            spec,
            carried,
            library,
            minds: Box::new(minds),
            referee,
            most: RECORD,
            given_up: self.stop,
        };
        let begun = Instant::now();
        let end = session::run(self.tasks, plan).instrument(span).await;
        let took = begun.elapsed();
        let outcome = match lines(end, &self.worker_id, lease.attempt, took) {
            Ok((record, telemetry)) => packed(&record, &telemetry),
            Err(failed) => failed,
        };
        if matches!(outcome, Outcome::Finished { .. }) {
            ::metrics::histogram!(metrics::SESSION_SECONDS).record(took.as_secs_f64());
        }
        outcome
    }
}

/// What an outcome is called in metrics.
fn name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Finished { .. } => "finished",
        Outcome::GivenUp => "given_up",
        Outcome::Failed { kind, .. } => match kind {
            FailureKind::Parked => "parked",
            FailureKind::BudgetSpent => "budget_spent",
            FailureKind::Unspecified | FailureKind::Impossible => "impossible",
            FailureKind::Unplayable => "unplayable",
            FailureKind::Crashed => "crashed",
        },
    }
}

/// Who rules in a session whose game is played elsewhere.
fn referee(games: &Games, spec: &SessionSpec) -> Result<Option<Box<dyn Referee>>, String> {
    if spec.outside.is_none() {
        return Ok(None);
    }
    let game = &spec.game;
    let client = games.get(game).ok_or_else(|| {
        format!(
            "this worker does not know where {game} is played; start it with --game-at {game}=URL"
        )
    })?;
    let (wanted, have) = (spec.rules_version, client.description().rules_version);
    if wanted != have {
        return Err(format!(
            "the session is for rules {wanted} of {game}, its process has rules {have}"
        ));
    }
    // Whoever handed the session in asked a process of its own what the game is.
    let built = client.description().build(&spec.params);
    let is_ours = built.is_ok_and(|built| {
        let rules = client.description().rules(&built.params);
        built.params == spec.params
            && built.game.seats() == spec.seats.len()
            && spec.outside.as_ref() == Some(&rules)
    });
    if !is_ours {
        return Err(format!(
            "the process of {game} that this worker knows has other parameters, seats or names"
        ));
    }
    Ok(Some(Box::new(RemoteReferee::new(client.clone(), spec))))
}

/// A result as it is handed in.
fn packed(record: &str, telemetry: &str) -> Outcome {
    if let Err(much) = Extent::check_json(record.as_bytes(), &RECORD) {
        return impossible(too_large(&much));
    }
    let (record, telemetry) = (pack(record), pack(telemetry));
    let packed = record.len() + telemetry.len();
    if packed > LARGEST_RESULT_BYTES - ENVELOPE_BYTES {
        let size = packed / (1024 * 1024);
        return impossible(format!(
            "record and telemetry have {size} MB when packed, more than a message may have: play \
             fewer rounds or seats"
        ));
    }
    Outcome::Finished { record, telemetry }
}

/// Record and telemetry as lines, or how it failed, in the coordinator's terms.
fn lines(
    end: SessionEnd,
    worker_id: &str,
    attempt: u32,
    took: Duration,
) -> Result<(String, String), Outcome> {
    let failed = |kind, reason| Err(Outcome::Failed { kind, reason });
    match end {
        SessionEnd::Finished {
            record,
            usage,
            each,
        } => {
            let line = record.to_line();
            let line = line.map_err(|error| impossible(format!("unwritable record: {error}")))?;
            let telemetry = serde_json::json!({
                "session": record.session,
                "worker": worker_id,
                "attempt": attempt,
                "seconds": took.as_secs_f64(),
                "decisions": record.decisions.len(),
                "usage": usage,
                "each": each,
            });
            Ok((line, telemetry.to_string()))
        }
        SessionEnd::Parked(reason) => failed(FailureKind::Parked, reason),
        SessionEnd::BudgetSpent(reason) => failed(FailureKind::BudgetSpent, reason),
        SessionEnd::Impossible(reason) => failed(FailureKind::Impossible, reason),
        SessionEnd::TooLarge(much) => failed(FailureKind::Impossible, too_large(&much)),
        SessionEnd::Unplayable(reason) => failed(FailureKind::Unplayable, reason),
        SessionEnd::Crashed(reason) => failed(FailureKind::Crashed, reason),
        SessionEnd::GivenUp => Err(Outcome::GivenUp),
    }
}

fn too_large(much: &TooLarge) -> String {
    format!(
        "the session is too large for a record: {much}; play fewer rounds or seats, or have shorter \
         replies"
    )
}

fn impossible(reason: String) -> Outcome {
    Outcome::Failed {
        kind: FailureKind::Impossible,
        reason,
    }
}
