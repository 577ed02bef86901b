//! The connection to the process of one game. Requests of all sessions that wait at the same time
//! go together: a message is sent whenever one of few connections is free, with everything that has
//! come in until then.

use std::sync::Arc;
use std::time::Duration;

use agon_engine::outside_game::Description;
use agon_service_kit::backoff::{DelayPolicy, Delays, Retry, retry};
use agon_service_kit::server::install_crypto;
use agon_service_kit::tasks::with_causes;
use bytes::Bytes;
use reqwest::{Response, StatusCode};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::Instant;
use tracing::warn;

use crate::ruling::RefereeError;
use crate::wire::{Step, StepReply, StepsRequest, StepsResponse};

/// Messages under way at a time: one is computed while another is on its way.
const UNDER_WAY: usize = 4;

/// Requests in one message.
const MOST_STEPS: usize = 512;

/// Requests that wait to be sent.
const WAITING: usize = 4096;

/// A message is answered within this time.
const ANSWERED_WITHIN: Duration = Duration::from_secs(60);

/// A connection is made within this time.
const CONNECTED_WITHIN: Duration = Duration::from_secs(5);

/// How long a process may be away before sessions are put back.
const PATIENCE: Duration = Duration::from_secs(30);

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
            game: description.name.clone(),
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
        let response = sent.map_err(|error| Retry::Again(away(error)))?;
        let body = body(response, MOST_DESCRIPTION).await?;
        let description: Description = serde_json::from_slice(&body).map_err(|error| {
            Retry::Stop(RefereeError::Impossible(format!(
                "what it describes is no game: {error}"
            )))
        })?;
        let sound = description.check();
        sound.map_err(|why| Retry::Stop(RefereeError::Impossible(why)))?;
        Ok(description)
    };
    retry(Delays::default(), Some(deadline), ask).await
}

/// Sends messages.
#[derive(Clone)]
struct Asking {
    client: reqwest::Client,
    steps: String,
    game: String,
}

impl Asking {
    /// Ends when nobody can ask any more.
    async fn run(self, mut queue: mpsc::Receiver<Waiting>) {
        let free = Arc::new(Semaphore::new(UNDER_WAY));
        loop {
            let mut batch = Vec::new();
            let Ok(permit) = Arc::clone(&free).acquire_owned().await else {
                return;
            };
            if queue.recv_many(&mut batch, MOST_STEPS).await == 0 {
                return;
            }
            let asking = self.clone();
            tokio::spawn(async move {
                asking.ask(batch).await;
                drop(permit);
            });
        }
    }

    async fn ask(&self, batch: Vec<Waiting>) {
        // Whoever asked may be gone.
        let batch: Vec<Waiting> = batch
            .into_iter()
            .filter(|waiting| !waiting.answer.is_closed())
            .collect();
        if batch.is_empty() {
            return;
        }
        let answered = self.send(batch.iter().map(|waiting| &waiting.step)).await;
        match answered {
            Ok(replies) => {
                for (waiting, reply) in batch.into_iter().zip(replies) {
                    let _ = waiting.answer.send(Ok(reply));
                }
            }
            Err(error) => {
                warn!(game = self.game, reason = %error, "the game does not answer");
                for waiting in batch {
                    let _ = waiting.answer.send(Err(error.clone()));
                }
            }
        }
    }

    async fn send(
        &self,
        steps: impl Iterator<Item = &Step>,
    ) -> Result<Vec<StepReply>, RefereeError> {
        let request = StepsRequest {
            steps: steps.collect(),
        };
        let count = request.steps.len();
        let json = serde_json::to_vec(&request);
        let json = json.map_err(|error| RefereeError::Impossible(error.to_string()))?;
        let json = Bytes::from(json);
        let policy = DelayPolicy {
            cap: Duration::from_secs(2),
            ..DelayPolicy::default()
        };
        let deadline = Instant::now() + PATIENCE;
        retry(Delays::new(policy), Some(deadline), || async {
            let request = self.client.post(&self.steps);
            let request = request.header("content-type", "application/json");
            let sent = request.body(json.clone()).send().await;
            let response = sent.map_err(|error| Retry::Again(away(error)))?;
            let body = body(response, MOST_ANSWER).await?;
            let wrong = |why: String| {
                let why = format!("the answer of the game {} is {why}", self.game);
                Retry::Stop(RefereeError::Impossible(why))
            };
            let read: Result<StepsResponse, _> = serde_json::from_slice(&body);
            let replies = read
                .map_err(|error| wrong(format!("none: {error}")))?
                .replies;
            match replies.len() == count {
                true => Ok(replies),
                false => Err(wrong(format!("one to {} of {count} steps", replies.len()))),
            }
        })
        .await
    }
}

fn away(error: reqwest::Error) -> RefereeError {
    RefereeError::Away(with_causes(&error.without_url()))
}

/// The body of a good answer, of so many bytes at most.
async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, Retry<RefereeError>> {
    let status = response.status();
    let mut body = Vec::new();
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| Retry::Again(away(error)))?
    {
        if body.len() + chunk.len() > most {
            let why = format!("it answers with more than {most} bytes");
            return Err(Retry::Stop(RefereeError::Impossible(why)));
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
    Err(match may_pass && status != StatusCode::NOT_IMPLEMENTED {
        true => Retry::Again(RefereeError::Away(why)),
        false => Retry::Stop(RefereeError::Impossible(why)),
    })
}
