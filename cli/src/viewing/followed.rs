//! What is known of one experiment that is followed, and how it stands in the terms of pages. Asks
//! nobody. Called by `following.rs`.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use agon_proto::v1::{ExperimentSummary, SetAsideSession, WatchExperimentResponse};
use agon_web::Library;
use agon_web::sweeps::{State, Sweep, SweepFault};
use bytes::Bytes;

use super::spool::Spool;

/// Examples of sessions that were set aside for one reason.
const MOST_EXAMPLES: usize = 5;

/// Nano-dollars in a dollar.
const NANO: f64 = 1e9;

/// What is known of an experiment besides how it stands.
pub(super) struct Followed {
    pub newest: Option<WatchExperimentResponse>,
    /// Moments and sessions that were done then, over the window.
    pub done: VecDeque<(Instant, u64)>,
    pub cost: Option<u64>,
    pub cost_asked: Option<Instant>,
    pub budget: Option<f64>,
    pub results_id: Bytes,
    /// When it was last asked whether the results are still the same.
    pub compared: Option<Instant>,
    pub spool: Option<Spool>,
    pub fetched: u64,
    /// Records are not asked for before this.
    pub fetch_after: Option<Instant>,
}

impl Followed {
    pub fn new() -> Self {
        Self {
            newest: None,
            done: VecDeque::new(),
            cost: None,
            cost_asked: None,
            budget: None,
            results_id: Bytes::new(),
            compared: None,
            spool: None,
            fetched: 0,
            fetch_after: None,
        }
    }
}

pub(super) fn is_settled(summary: &ExperimentSummary) -> bool {
    let over = summary.done + summary.set_aside + summary.stopped;
    summary.cancelled || over >= summary.sessions
}

pub(super) fn budget(document: &[u8]) -> Option<f64> {
    let document: serde_json::Value = serde_json::from_slice(document).ok()?;
    document["budget_dollars"].as_str()?.parse().ok()
}

/// The digest of the templates that an experiment brings.
pub(super) fn bundle(document: &[u8]) -> Option<String> {
    let document: serde_json::Value = serde_json::from_slice(document).ok()?;
    document["prompt_bundle"].as_str().map(str::to_owned)
}

pub(super) fn sweep_of(
    library: &Library,
    summary: ExperimentSummary,
    followed: &Followed,
    waiting_for_quota: Option<u64>,
) -> Sweep {
    let newest = followed.newest.clone().unwrap_or_default();
    let state = match () {
        () if summary.cancelled => State::Cancelled,
        () if is_settled(&summary) => State::Done,
        () if !summary.paused.is_empty() => State::Paused,
        () => State::Running,
    };
    let is_running = state == State::Running;
    let per_minute = per_minute(&followed.done).filter(|_| is_running);
    let over = summary.done + summary.set_aside + summary.stopped;
    let left = summary.sessions.saturating_sub(over);
    let seconds_left = per_minute.filter(|speed| *speed > 0.0);
    let seconds_left = seconds_left.map(|speed| left as f64 / speed * 60.0);
    let reason = [&summary.paused, &newest.unplayable]
        .into_iter()
        .find(|reason| !reason.is_empty());
    let run = followed.spool.as_ref();
    let run = run.and_then(|spool| library.index.read().name(spool.run()));
    Sweep {
        experiment: summary.experiment_id,
        team: summary.team,
        state,
        reason: reason.cloned(),
        sessions: summary.sessions,
        done: summary.done,
        running: if is_running { newest.running } else { 0 },
        waiting: match summary.cancelled {
            true => 0,
            false => left.saturating_sub(newest.running),
        },
        set_aside: summary.set_aside + summary.stopped,
        workers: followed.newest.as_ref().map(|newest| newest.workers),
        per_minute,
        seconds_left,
        waiting_for_quota: waiting_for_quota.filter(|_| is_running),
        cost: followed.cost.map(|cost| cost as f64 / NANO),
        budget: followed.budget,
        faults: faults(newest.parked.iter().chain(&newest.dead)),
        run,
    }
}

/// Sessions per minute between the ends of what was seen.
fn per_minute(done: &VecDeque<(Instant, u64)>) -> Option<f64> {
    let ((from, before), (to, after)) = (done.front()?, done.back()?);
    let seconds = to.duration_since(*from).as_secs_f64();
    (seconds >= 1.0).then(|| after.saturating_sub(*before) as f64 / seconds * 60.0)
}

/// Sessions by the reason for which they were set aside, most first.
fn faults<'a>(set_aside: impl Iterator<Item = &'a SetAsideSession>) -> Vec<SweepFault> {
    let mut by_reason: BTreeMap<&str, SweepFault> = BTreeMap::new();
    for session in set_aside {
        let fault = by_reason
            .entry(&session.reason)
            .or_insert_with(|| SweepFault {
                reason: session.reason.clone(),
                sessions: 0,
                examples: Vec::new(),
            });
        fault.sessions += 1;
        if fault.examples.len() < MOST_EXAMPLES {
            fault.examples.push(session.session_id.clone());
        }
    }
    let mut faults: Vec<SweepFault> = by_reason.into_values().collect();
    faults.sort_by_key(|fault| std::cmp::Reverse(fault.sessions));
    faults
}
