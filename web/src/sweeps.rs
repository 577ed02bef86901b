//! Experiments that are being played: how each stands, told to pages as it changes, and what people may
//! do about them. What happens to an experiment is the business of whoever implements [`Sweeps`].

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::future::BoxFuture;
use futures_util::{Stream, stream};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use crate::events;

/// Between two tellings of one page; the latest state wins.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// How often a silent stream shows that it lives.
const ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Why an experiment pauses that goes on once the people who were invited to it are ready.
pub const WAITING_FOR_PEOPLE: &str = "waiting for people";

/// The state of an experiment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Sessions are played or wait for a place.
    #[default]
    Running,
    /// It waits for somebody to resume it.
    Paused,
    /// Somebody has ended it.
    Cancelled,
    /// Nothing is left to play.
    Done,
}

/// An experiment that is or was played.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct Sweep {
    /// Its name.
    pub experiment: String,
    /// The team that it belongs to.
    pub team: String,
    /// What becomes of it.
    pub state: State,
    /// Why it does not go on by itself; null where it does.
    pub reason: Option<String>,
    /// How many sessions it has.
    pub sessions: u64,
    /// How many sessions are finished.
    pub done: u64,
    /// How many sessions are being played.
    pub running: u64,
    /// How many sessions have not begun.
    pub waiting: u64,
    /// How many sessions failed and are not tried again by themselves.
    pub set_aside: u64,
    /// How many workers are connected; null where that is not known.
    pub workers: Option<u64>,
    /// Sessions per minute, over the last half minute; null at first.
    pub per_minute: Option<f64>,
    /// Seconds until its end at this speed; null where that cannot be told.
    pub seconds_left: Option<f64>,
    /// Calls of all experiments that wait for quota; null where that is not known.
    pub waiting_for_quota: Option<u64>,
    /// What it has cost, in dollars; null where that is not known.
    pub cost: Option<f64>,
    /// What it may cost, in dollars; null without a limit.
    pub budget: Option<f64>,
    /// Why sessions were set aside, and how many.
    pub faults: Vec<SweepFault>,
    /// The address of its sessions below `/runs`; null until one of them is finished.
    pub run: Option<String>,
}

impl Sweep {
    /// Whether it pauses until people are there.
    pub fn waits_for_people(&self) -> bool {
        self.state == State::Paused && self.reason.as_deref() == Some(WAITING_FOR_PEOPLE)
    }

    /// Whether no session of it has begun.
    pub fn has_not_begun(&self) -> bool {
        self.waiting == self.sessions
    }
}

/// Sessions that were set aside for one reason.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SweepFault {
    /// The reason.
    pub reason: String,
    /// How many sessions.
    pub sessions: u64,
    /// Some of them, by id.
    pub examples: Vec<String>,
}

/// What somebody may do about an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Play nothing more of it.
    Cancel,
    /// Begin nothing more of it until it is resumed; what is being played goes on to its end.
    Pause,
    /// Go on after a pause.
    Resume,
    /// Try again what was set aside.
    Retry,
}

/// All experiments, by name, each as it stands.
pub type States = Arc<Vec<Sweep>>;

/// An event of the stream that follows experiments.
#[derive(Serialize, ToSchema)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub(crate) enum SweepsEvent {
    /// All experiments as they stand.
    Sweeps(Vec<Sweep>),
}

/// Experiments that are being played.
pub trait Sweeps: Send + Sync + 'static {
    /// All of them, as they stand at any time.
    fn states(&self) -> watch::Receiver<States>;

    /// Does something about one.
    ///
    /// # Errors
    /// It is refused; says why.
    fn act(&self, experiment: String, action: Action) -> BoxFuture<'static, Result<(), String>>;
}

/// Tells all states at once, and again whenever they have changed, a few times a second at the most.
/// Holds what it is given (its place among all streams, what whoever looks may see) until the page goes
/// away or `ended` is cancelled.
pub(crate) fn tell<H: Send + 'static>(
    states: watch::Receiver<States>,
    ended: CancellationToken,
    held: H,
) -> Sse<impl Stream<Item = Told>> {
    let told = stream::unfold(
        (states, true, ended, held),
        |(mut states, is_first, ended, held)| async move {
            if !is_first {
                tokio::time::sleep(TELL_EVERY).await;
                tokio::select! {
                    // Whoever knew the states is gone, and with it this stream.
                    changed = states.changed() => changed.ok()?,
                    () = ended.cancelled() => return None,
                }
            }
            let now = states.borrow_and_update().to_vec();
            let event = events::sent(&SweepsEvent::Sweeps(now));
            Some((Ok(event), (states, false, ended, held)))
        },
    );
    Sse::new(told).keep_alive(KeepAlive::new().interval(ALIVE_EVERY))
}

type Told = Result<Event, Infallible>;
