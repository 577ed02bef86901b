//! The connection to the process of one game. Requests of all sessions that wait at the same time
//! go together: a message is sent whenever one of few connections is free, with everything that has
//! come in until then.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agon_engine::extent::{Extent, RECORD};
use agon_engine::outside_game::Description;
use agon_service_kit::backoff::{DelayPolicy, Delays, Retry, retry};
use agon_service_kit::server::install_crypto;
use agon_service_kit::tasks::with_causes;
use bytes::Bytes;
use reqwest::{Response, StatusCode};
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::Instant;
use tracing::warn;

use crate::ruling::RefereeError;
use crate::wire::{Step, StepReply, StepsRequest, StepsResponse};

/// Messages under way at a time: one is computed while another is on its way.
const UNDER_WAY: usize = 4;

/// Requests in one message.
const MOST_STEPS: usize = 512;

/// Requests in the first messages, before it is known how long a step takes.
const FIRST_STEPS: usize = 8;

/// Messages are as long as are answered within this time.
const ANSWERED_SOON: Duration = Duration::from_secs(2);

/// Bytes of a message, unless a single request has more.
const MOST_REQUEST: usize = 8 * 1024 * 1024;

/// Requests that wait to be sent.
const WAITING: usize = 4096;

/// A message is answered within this time.
const ANSWERED_WITHIN: Duration = Duration::from_secs(120);

/// A connection is made within this time.
const CONNECTED_WITHIN: Duration = Duration::from_secs(5);

/// How long a process may be away before sessions are set aside.
const PATIENCE: Duration = Duration::from_secs(600);

/// Bytes of a description.
const MOST_DESCRIPTION: usize = 2 * 1024 * 1024;

/// Bytes of an answer to a message.
const MOST_ANSWER: usize = 64 * 1024 * 1024;

/// Letters of a message of the other process that are repeated.
const LETTERS: usize = 500;

/// The connection to a game's process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct GameClient {
    description: Arc<Description>,
    waiting: mpsc::Sender<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    step: Step,
    answer: oneshot::Sender<Result<StepReply, RefereeError>>,
}

impl GameClient {
    /// Connects to the process at an address and has it describe its game. It is asked as long as
    /// `patience` lasts.
    ///
    /// # Errors
    /// Nobody answers there, or what it describes is no game.
    pub async fn connect(address: &str, patience: Duration) -> Result<Self, RefereeError> {
        check_address(address).map_err(RefereeError::Impossible)?;
        install_crypto();
        let client = reqwest::Client::builder()
            .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")))
            // Games are where the operator says, and nowhere else.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .tcp_nodelay(true)
            .timeout(ANSWERED_WITHIN)
            .connect_timeout(CONNECTED_WITHIN)
            .build();
        let client = client.map_err(|error| RefereeError::Impossible(with_causes(&error)))?;
        let address = address.trim_end_matches('/').to_owned();
        let description = describe(&client, &address, patience).await?;
        let (waiting, queue) = mpsc::channel(WAITING);
        let asking = Asking {
            client,
            steps: format!("{address}/steps"),
            game: description.name.as_str().into(),
            at_once: Arc::new(AtomicUsize::new(FIRST_STEPS)),
        };
        tokio::spawn(asking.run(queue));
        Ok(Self {
            description: Arc::new(description),
            waiting,
        })
    }

    /// What the game says of itself.
    pub fn description(&self) -> &Arc<Description> {
        &self.description
    }

    /// Asks for a ruling.
    pub(crate) async fn step(&self, step: Step) -> Result<StepReply, RefereeError> {
        let (answer, answered) = oneshot::channel();
        let gone = |()| RefereeError::Away("the connection to the game has ended".to_owned());
        let sent = self.waiting.send(Waiting { step, answer }).await;
        sent.map_err(|_| gone(()))?;
        answered.await.map_err(|_| gone(()))?
    }
}

async fn describe(
    client: &reqwest::Client,
    address: &str,
    patience: Duration,
) -> Result<Description, RefereeError> {
    let deadline = Instant::now() + patience;
    let ask = || async {
        let sent = client.get(format!("{address}/")).send().await;
        let response = sent.map_err(|error| Retry::Again(away(error).into()))?;
        body(response, MOST_DESCRIPTION).await
    };
    let body: Result<Vec<u8>, Unanswered> = retry(Delays::default(), Some(deadline), ask).await;
    let description: Result<Description, _> = serde_json::from_slice(&body?);
    let description = description.map_err(|error| {
        RefereeError::Impossible(format!("what it describes is no game: {error}"))
    })?;
    description.check().map_err(RefereeError::Impossible)?;
    Ok(description)
}

/// Whether this can be the address of a game's process; says how one is written.
pub fn check_address(address: &str) -> Result<(), String> {
    match reqwest::Url::parse(address) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(()),
        _ => Err("the address of a game begins with http:// or https://".to_owned()),
    }
}

/// Sends messages.
#[derive(Clone)]
struct Asking {
    client: reqwest::Client,
    steps: String,
    game: Arc<str>,
    /// How many requests go into a message, so that it is answered soon: a game may take a
    /// millisecond for a step, or a second.
    at_once: Arc<AtomicUsize>,
}

/// A request with its JSON.
struct Written {
    json: Box<RawValue>,
    answer: oneshot::Sender<Result<StepReply, RefereeError>>,
}

impl Asking {
    /// Ends when nobody can ask any more.
    async fn run(self, mut queue: mpsc::Receiver<Waiting>) {
        let free = Arc::new(Semaphore::new(UNDER_WAY));
        let mut left = None;
        loop {
            let Ok(permit) = Arc::clone(&free).acquire_owned().await else {
                return;
            };
            let Some(batch) = self.batch(&mut queue, &mut left).await else {
                return;
            };
            let asking = self.clone();
            tokio::spawn(async move {
                asking.ask(batch).await;
                drop(permit);
            });
        }
    }

    /// What goes into the next message: everything that waits, within its bounds.
    async fn batch(
        &self,
        queue: &mut mpsc::Receiver<Waiting>,
        left: &mut Option<Written>,
    ) -> Option<Vec<Written>> {
        let most = self.at_once.load(Ordering::Relaxed);
        let mut batch: Vec<Written> = left.take().into_iter().collect();
        let mut bytes: usize = batch.iter().map(|one| one.json.get().len()).sum();
        while batch.len() < most {
            let next = match batch.is_empty() {
                true => queue.recv().await?,
                false => match queue.try_recv() {
                    Ok(next) => next,
                    Err(_) => break,
                },
            };
            // Whoever asked may be gone.
            let Some(written) = Written::of(next) else {
                continue;
            };
            bytes += written.json.get().len();
            if bytes > MOST_REQUEST && !batch.is_empty() {
                *left = Some(written);
                break;
            }
            batch.push(written);
        }
        Some(batch)
    }

    /// Asks, in two halves where the message or its answer is too long.
    async fn ask(&self, batch: Vec<Written>) {
        let mut batches = vec![batch];
        while let Some(mut batch) = batches.pop() {
            let begun = Instant::now();
            match self.send(&batch).await {
                Ok(replies) => {
                    self.learn(batch.len(), begun.elapsed());
                    for (written, reply) in batch.into_iter().zip(replies) {
                        let _ = written.answer.send(reply);
                    }
                }
                Err(Unanswered::TooLong(_)) if batch.len() > 1 => {
                    let rest = batch.split_off(batch.len() / 2);
                    batches.extend([rest, batch]);
                }
                Err(Unanswered::TooLong(error) | Unanswered::Otherwise(error)) => {
                    warn!(game = %self.game, reason = %error, "the game does not answer");
                    let error = error.of(&self.game);
                    for written in batch {
                        let _ = written.answer.send(Err(error.clone()));
                    }
                }
            }
        }
    }

    /// Makes messages longer while they are answered soon, and shorter when they are not.
    fn learn(&self, steps: usize, took: Duration) {
        let each = took.as_secs_f64() / steps.max(1) as f64;
        let fits = ANSWERED_SOON.as_secs_f64() / each.max(1e-6);
        let most = self.at_once.load(Ordering::Relaxed) * 2;
        let fits = (fits as usize).clamp(1, MOST_STEPS.min(most));
        // A short message says little about long ones.
        if steps * 2 >= most / 2 || fits < most / 2 {
            self.at_once.store(fits, Ordering::Relaxed);
        }
    }

    async fn send(
        &self,
        batch: &[Written],
    ) -> Result<Vec<Result<StepReply, RefereeError>>, Unanswered> {
        let otherwise = |error: RefereeError| Unanswered::Otherwise(error);
        let request = StepsRequest {
            steps: batch.iter().map(|written| &*written.json).collect(),
        };
        let json = serde_json::to_vec(&request);
        let json = json.map_err(|error| otherwise(RefereeError::Impossible(error.to_string())))?;
        let json = Bytes::from(json);
        let policy = DelayPolicy {
            cap: Duration::from_secs(5),
            ..DelayPolicy::default()
        };
        let deadline = Instant::now() + PATIENCE;
        let body = retry(Delays::new(policy), Some(deadline), || async {
            let request = self.client.post(&self.steps);
            let request = request.header("content-type", "application/json");
            let sent = request.body(json.clone()).send().await;
            let response = sent.map_err(|error| Retry::Again(away(error).into()))?;
            body(response, MOST_ANSWER).await
        })
        .await?;
        let (game, count) = (Arc::clone(&self.game), batch.len());
        let read = move || read(&game, &body, count);
        let read = tokio::task::spawn_blocking(read).await;
        let read = read.unwrap_or_else(|error| Err(RefereeError::Away(error.to_string())));
        read.map_err(otherwise)
    }
}

impl Written {
    fn of(waiting: Waiting) -> Option<Self> {
        let Waiting { step, answer } = waiting;
        if answer.is_closed() {
            return None;
        }
        match serde_json::value::to_raw_value(&step) {
            Ok(json) => Some(Self { json, answer }),
            Err(error) => {
                let _ = answer.send(Err(RefereeError::Impossible(error.to_string())));
                None
            }
        }
    }
}

/// Why a message has no answer.
enum Unanswered {
    /// It or its answer is longer than may be; a shorter one may be answered.
    TooLong(RefereeError),
    /// For another reason.
    Otherwise(RefereeError),
}

impl From<RefereeError> for Unanswered {
    fn from(error: RefereeError) -> Self {
        Self::Otherwise(error)
    }
}

impl From<Unanswered> for RefereeError {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::TooLong(error) | Unanswered::Otherwise(error) => error,
        }
    }
}

/// Reads an answer to so many steps. Takes processor time.
fn read(
    game: &str,
    body: &[u8],
    count: usize,
) -> Result<Vec<Result<StepReply, RefereeError>>, RefereeError> {
    let wrong =
        |why: String| RefereeError::Impossible(format!("the answer of the game {game} is {why}"));
    let read: Result<StepsResponse, _> = serde_json::from_slice(body);
    let replies = read
        .map_err(|error| wrong(format!("none: {error}")))?
        .replies;
    if replies.len() != count {
        return Err(wrong(format!("one to {} of {count} steps", replies.len())));
    }
    let one = |reply: Box<RawValue>| {
        // More than a record holds is not even read.
        let within = Extent::check_json(reply.get().as_bytes(), &RECORD);
        within.map_err(|much| wrong(format!("too large: {much}")))?;
        let read: Result<StepReply, _> = serde_json::from_str(reply.get());
        read.map_err(|error| wrong(format!("no reply: {error}")))
    };
    Ok(replies.into_iter().map(one).collect())
}

fn away(error: reqwest::Error) -> RefereeError {
    RefereeError::Away(with_causes(&error.without_url()))
}

/// The body of a good answer, of so many bytes at most.
async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, Retry<Unanswered>> {
    let status = response.status();
    let mut body = Vec::new();
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| Retry::Again(away(error).into()))?
    {
        if body.len() + chunk.len() > most {
            let why = format!("it answers with more than {most} bytes");
            let error = RefereeError::Impossible(why);
            return Err(Retry::Stop(Unanswered::TooLong(error)));
        }
        body.extend_from_slice(&chunk);
    }
    if status == StatusCode::OK {
        return Ok(body);
    }
    let said: String = String::from_utf8_lossy(&body)
        .chars()
        .take(LETTERS)
        .collect();
    let said = said.trim();
    let why = match said.is_empty() {
        true => format!("it answers {status}"),
        false => format!("it answers {status}: {said}"),
    };
    let may_pass = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    Err(match status {
        StatusCode::PAYLOAD_TOO_LARGE => {
            Retry::Stop(Unanswered::TooLong(RefereeError::Impossible(why)))
        }
        _ if may_pass && status != StatusCode::NOT_IMPLEMENTED => {
            Retry::Again(RefereeError::Away(why).into())
        }
        _ => Retry::Stop(RefereeError::Impossible(why).into()),
    })
}
