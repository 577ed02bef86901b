//! Open asks in Redis, shared by all replicas: an answer handed to any of them
//! reaches the one that waits. An ask stays while its replica tends it, on
//! Redis's clock; what was answered stays a while for an asker who is away.
//! Scripts `door_*` name the keys. Called through `DoorStore`.

use std::time::Duration;

use agon_redis_link::Link;
use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::clock::millis;
use agon_service_kit::complaint::Complaint;
use agon_service_kit::tasks::with_causes;
use async_trait::async_trait;
use redis::ScriptInvocation;

use super::{DoorAnswer, DoorStore, Listing, OpenAsk, SubmitOutcome, SubmittedAnswer, WaitingAsk};
use crate::decision::RequestDigest;
use crate::redis_script::{RedisScript, redis_script};
use crate::store_error::StoreError;

/// How long an ask outlives the last sign of its replica. Whoever watches sees
/// a dead one's asks for so long.
const OPEN_FOR: Duration = Duration::from_secs(10);

/// How long an answer waits for an asker who was away when it came: longer than
/// any restart.
const ANSWER_KEPT: Duration = Duration::from_secs(3_600);

/// Looks for an answer: quick for programs, gentle when a person thinks. The
/// longest must stay well below [`OPEN_FOR`], since each look tends the ask.
const LOOK_DELAYS: DelayPolicy = DelayPolicy {
    initial: Duration::from_millis(20),
    factor: 1.3,
    cap: Duration::from_millis(500),
    jitter: 0.2,
    give_up_after: None,
};

/// Between looks for a change of what waits.
const CHANGE_DELAY: Duration = Duration::from_millis(100);

/// Asks that several replicas share.
pub struct RedisDoors {
    connection: Link,
    open_for: Duration,
    away: Complaint,
    publish: RedisScript,
    tend: RedisScript,
    leave: RedisScript,
    list: RedisScript,
    answer: RedisScript,
}

impl RedisDoors {
    /// Asks over a connection.
    pub fn new(connection: Link) -> Self {
        Self {
            connection,
            open_for: OPEN_FOR,
            away: Complaint::default(),
            publish: redis_script!("publish an ask", "door_publish_v1"),
            tend: redis_script!("tend an ask", "door_tend_v1"),
            leave: redis_script!("leave a door", "door_leave_v2"),
            list: redis_script!("list asks", "door_list_v1"),
            answer: redis_script!("answer at a door", "door_answer_v1"),
        }
    }

    /// Lets asks of a dead replica go sooner, so that tests need not wait.
    pub fn with_open_for(mut self, open_for: Duration) -> Self {
        self.open_for = open_for;
        self
    }

    async fn publish(&self, ask: &OpenAsk) -> Result<Option<DoorAnswer>, StoreError> {
        let door = &ask.door;
        let text = serde_json::to_string(ask)
            .map_err(StoreError::damaged(format!("ask at door {door}")))?;
        let fill = |call: &mut ScriptInvocation<'_>| {
            keys(call, door)
                .arg(ask.address.to_string())
                .arg(ask.digest.as_str())
                .arg(text)
                .arg(millis(self.open_for))
                .arg(millis(ANSWER_KEPT * 2));
        };
        let answer: Option<String> = self.publish.run(&self.connection, fill).await?;
        answer.map(|text| read_answer(door, &text)).transpose()
    }

    async fn tend(&self, ask: &OpenAsk) -> Result<AskState, StoreError> {
        let door = &ask.door;
        let fill = |call: &mut ScriptInvocation<'_>| {
            keys(call, door)
                .arg(ask.address.to_string())
                .arg(ask.digest.as_str())
                .arg(millis(self.open_for))
                .arg(millis(ANSWER_KEPT * 2));
        };
        let result: Vec<String> = self.tend.run(&self.connection, fill).await?;
        match (result.first().map(String::as_str), result.get(1)) {
            (Some("waiting"), _) => Ok(AskState::Waiting),
            (Some("answered"), Some(text)) => Ok(AskState::Answered(read_answer(door, text)?)),
            _ => Ok(AskState::Missing),
        }
    }

    /// Returns the answer instead, if there is one and it is not recorded.
    async fn take_away(
        &self,
        ask: &OpenAsk,
        recorded: bool,
    ) -> Result<Option<DoorAnswer>, StoreError> {
        let fill = |call: &mut ScriptInvocation<'_>| {
            keys(call, &ask.door)
                .arg(ask.address.to_string())
                .arg(ask.digest.as_str())
                .arg(if recorded { "1" } else { "0" });
        };
        let answer: Option<String> = self.leave.run(&self.connection, fill).await?;
        answer.map(|text| read_answer(&ask.door, &text)).transpose()
    }

    async fn look(&self, door: &str, known: Option<u64>) -> Result<Vec<String>, StoreError> {
        let fill = |call: &mut ScriptInvocation<'_>| {
            keys(call, door).arg(known.map(|version| version.to_string()).unwrap_or_default());
        };
        self.list.run(&self.connection, fill).await
    }
}

enum AskState {
    Waiting,
    Answered(DoorAnswer),
    Missing,
}

#[async_trait]
impl DoorStore for RedisDoors {
    async fn ask(&self, ask: &OpenAsk) -> Result<DoorAnswer, StoreError> {
        if let Some(answer) = self.publish(ask).await? {
            return Ok(answer);
        }
        let mut delays = Delays::new(LOOK_DELAYS);
        loop {
            tokio::time::sleep(delays.next_delay().unwrap_or(LOOK_DELAYS.cap)).await;
            let looked = match self.tend(ask).await {
                Ok(AskState::Answered(answer)) => return Ok(answer),
                Ok(AskState::Waiting) => continue,
                Ok(AskState::Missing) => self.publish(ask).await,
                Err(error) => Err(error),
            };
            match looked {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => {}
                // A person should not have to be asked again because Redis was away.
                Err(error @ StoreError::Redis { .. }) => {
                    if let Some(failures) = self.away.note() {
                        let error = with_causes(&error);
                        tracing::warn!(error, failures, "asks at doors wait for redis");
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn leave(&self, ask: &OpenAsk) -> Result<Option<DoorAnswer>, StoreError> {
        self.take_away(ask, false).await
    }

    async fn done(&self, ask: &OpenAsk) -> Result<(), StoreError> {
        self.take_away(ask, true).await.map(drop)
    }

    async fn list(&self, door: &str) -> Result<Listing, StoreError> {
        let mut result = self.look(door, None).await?.into_iter();
        let mut number = || result.next().and_then(|text| text.parse().ok());
        let (version, now_ms) = (number().unwrap_or(0), number().unwrap_or(0));
        let mut asks = Vec::new();
        for entry in result {
            asks.push(read_entry(door, &entry, now_ms)?);
        }
        asks.sort_by(|left: &WaitingAsk, right| {
            let ages = right.waiting.cmp(&left.waiting);
            ages.then_with(|| left.ask.address.cmp(&right.ask.address))
        });
        Ok(Listing { version, asks })
    }

    async fn changed(&self, door: &str, version: u64) -> Result<(), StoreError> {
        while self.look(door, Some(version)).await?.len() == 1 {
            tokio::time::sleep(CHANGE_DELAY).await;
        }
        Ok(())
    }

    async fn answer(&self, handed: &SubmittedAnswer) -> Result<SubmitOutcome, StoreError> {
        let door = &handed.door;
        let text = serde_json::to_string(&handed.answer)
            .map_err(StoreError::damaged(format!("ask at door {door}")))?;
        let fill = |call: &mut ScriptInvocation<'_>| {
            keys(call, door)
                .arg(handed.address.to_string())
                .arg(handed.digest.as_str())
                .arg(text)
                .arg(handed.team.as_deref().unwrap_or_default())
                .arg(millis(ANSWER_KEPT))
                .arg(millis(ANSWER_KEPT * 2));
        };
        let mut result: Vec<String> = self.answer.run(&self.connection, fill).await?;
        let detail = if result.len() > 1 { result.pop() } else { None };
        match (result.first().map(String::as_str), detail) {
            (Some("taken"), _) => Ok(SubmitOutcome::Stands),
            (Some("other"), Some(digest)) => {
                Ok(SubmitOutcome::OtherRequest(RequestDigest::from(digest)))
            }
            (Some("answered"), Some(text)) => {
                let same = read_answer(door, &text)?.reply == handed.answer.reply;
                Ok(if same {
                    SubmitOutcome::Stands
                } else {
                    SubmitOutcome::AnsweredDifferently
                })
            }
            _ => Ok(SubmitOutcome::NobodyAsks),
        }
    }
}

/// The braces keep the keys of a door on one node of a cluster.
fn keys<'a, 'b>(call: &'a mut ScriptInvocation<'b>, door: &str) -> &'a mut ScriptInvocation<'b> {
    for part in ["asks", "answers", "until", "version"] {
        call.key(format!("agon:door:{{{door}}}:{part}"));
    }
    call
}

fn read_entry(door: &str, entry: &str, now_ms: u64) -> Result<WaitingAsk, StoreError> {
    let mut parts = entry.splitn(3, ' ');
    let asked_ms = parts.next().and_then(|text| text.parse().ok());
    let text = parts.nth(1).unwrap_or_default();
    let ask =
        serde_json::from_str(text).map_err(StoreError::damaged(format!("ask at door {door}")))?;
    let waiting = now_ms.saturating_sub(asked_ms.unwrap_or(now_ms));
    Ok(WaitingAsk {
        ask,
        waiting: Duration::from_millis(waiting),
    })
}

fn read_answer(door: &str, text: &str) -> Result<DoorAnswer, StoreError> {
    serde_json::from_str(text).map_err(StoreError::damaged(format!("ask at door {door}")))
}
