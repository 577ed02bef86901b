//! Doors of a gateway, in this process or elsewhere, as pages on which people play follow and answer
//! them. A door is watched from when somebody looks at it first, for as long as pages are served.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use agon_engine::SeatView;
use agon_proto::v1;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::{AnswerAtDoorRequest, DecisionAddress, MessageRole, WatchDoorRequest};
use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::clock::unix_ms;
use agon_service_kit::tasks::{TaskKind, Tasks};
use agon_web::seats::{Asks, DoorAsk, Doors, Message, Speaker, Unanswered};
use agon_worker::Transport;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;
use tonic::{Code, Status};
use tracing::warn;

use crate::results::reason;

type Client = AgentGatewayServiceClient<Transport>;

/// See the module.
pub struct GatewayDoors {
    client: Client,
    tasks: Tasks,
    watched: Mutex<HashMap<String, watch::Receiver<Asks>>>,
    /// Games that ask at each door, by experiment.
    games: Mutex<BTreeMap<String, BTreeMap<String, u64>>>,
}

impl GatewayDoors {
    /// The doors of a gateway; `games` says how many sessions of an experiment ask at each.
    pub fn new(
        gateway: Transport,
        tasks: Tasks,
        games: BTreeMap<String, BTreeMap<String, u64>>,
    ) -> Self {
        Self {
            client: Client::new(gateway),
            tasks,
            watched: Mutex::default(),
            games: Mutex::new(games),
        }
    }

    /// Takes in how many sessions of an experiment ask at each door now.
    pub fn learn(&self, experiment: &str, games: BTreeMap<String, u64>) {
        self.games.lock().insert(experiment.to_owned(), games);
    }
}

impl Doors for GatewayDoors {
    fn asks(&self, door: &str) -> watch::Receiver<Asks> {
        let mut watched = self.watched.lock();
        if let Some(known) = watched.get(door) {
            return known.clone();
        }
        let (sender, asks) = watch::channel(Asks::default());
        let watching = follow(self.client.clone(), door.to_owned(), sender);
        let stopping = self.tasks.shutdown_token();
        self.tasks
            .spawn(TaskKind::UPKEEP, "door for pages", async move {
                let _ = stopping.run_until_cancelled(watching).await;
            });
        watched.insert(door.to_owned(), asks.clone());
        asks
    }

    fn answer(
        &self,
        door: String,
        ask: DoorAsk,
        reply: String,
        answered_by: String,
    ) -> BoxFuture<'static, Result<(), Unanswered>> {
        let mut client = self.client.clone();
        async move {
            let request = AnswerAtDoorRequest {
                door,
                address: Some(DecisionAddress {
                    session_id: ask.session,
                    seat: ask.seat as u32,
                    index: ask.index,
                }),
                request_digest: ask.digest,
                reply,
                answered_by,
            };
            match client.answer_at_door(request).await {
                Ok(_) => Ok(()),
                Err(refusal) if refusal.code() == Code::NotFound => Err(Unanswered::Gone),
                Err(refusal) => Err(Unanswered::Away(reason(&refusal))),
            }
        }
        .boxed()
    }

    fn games(&self, experiment: &str, door: &str) -> Option<u64> {
        self.games.lock().get(experiment)?.get(door).copied()
    }

    fn doors(&self, experiment: &str) -> Option<BTreeSet<String>> {
        let games = self.games.lock();
        Some(games.get(experiment)?.keys().cloned().collect())
    }
}

/// Follows a door for good: a gateway that is away comes back.
async fn follow(mut client: Client, door: String, asks: watch::Sender<Asks>) {
    let mut delays = Delays::new(DelayPolicy::default());
    loop {
        let refusal = match watch_once(&mut client, &door, &asks).await {
            Ok(()) => Status::unavailable("the gateway has ended the stream"),
            Err(refusal) => refusal,
        };
        let pause = match delays.next_delay() {
            Some(pause) => pause,
            None => {
                delays = Delays::new(DelayPolicy::default());
                warn!(door, reason = %reason(&refusal), "a door does not answer, asking again");
                DelayPolicy::default().cap
            }
        };
        tokio::time::sleep(pause).await;
    }
}

async fn watch_once(
    client: &mut Client,
    door: &str,
    asks: &watch::Sender<Asks>,
) -> Result<(), Status> {
    let request = WatchDoorRequest {
        door: door.to_owned(),
        session_id: String::new(),
    };
    let mut listings = client.watch_door(request).await?.into_inner();
    while let Some(listing) = listings.message().await? {
        let read = listing.asks.into_iter().filter_map(ask);
        asks.send_replace(Arc::new(read.collect()));
    }
    Ok(())
}

/// A question as pages have it.
fn ask(wire: v1::DoorAsk) -> Option<DoorAsk> {
    let address = wire.address?;
    let format = wire.reply_format.unwrap_or_default();
    let until = wire.stand_in.as_ref().map(|stand_in| {
        let left = stand_in.after_ms.saturating_sub(wire.waiting_ms);
        unix_ms().saturating_add(left)
    });
    let seen = wire.seen.as_deref().map(serde_json::from_str::<SeatView>);
    let seen = seen.and_then(|seen| match seen {
        Ok(seen) => Some(Arc::new(seen)),
        Err(error) => {
            warn!(%error, "what a seat has seen cannot be read: its page shows words alone");
            None
        }
    });
    Some(DoorAsk {
        experiment: wire.experiment_id,
        session: address.session_id,
        seat: address.seat as usize,
        index: address.index,
        digest: wire.request_digest,
        schema: schema(&format),
        kind: format.name,
        messages: wire.messages.into_iter().map(message).collect(),
        until,
        stand_in: wire.stand_in.map(|stand_in| stand_in.name),
        seen,
    })
}

/// The form of the answer itself, which is a field of what a model would reply.
fn schema(format: &v1::ReplyFormat) -> Value {
    let mut whole: Value = serde_json::from_str(&format.json_schema).unwrap_or_default();
    let field = whole.pointer_mut(&format!("/properties/{}", format.name));
    field.map(Value::take).unwrap_or_default()
}

fn message(wire: v1::ChatMessage) -> Message {
    let from = match wire.role() {
        MessageRole::System => Speaker::Rules,
        MessageRole::Assistant => Speaker::You,
        MessageRole::User | MessageRole::Unspecified => Speaker::Game,
    };
    Message {
        from,
        text: wire.content,
    }
}
