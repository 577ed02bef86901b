//! Open asks in the memory of one process. An ask is open exactly while its
//! asker waits, so nothing needs to expire. What was answered but not recorded
//! when the process is killed is lost and asked again. Called through `DoorStore`.

use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::{DoorAnswer, DoorStore, Listing, OpenAsk, SubmitOutcome, SubmittedAnswer, WaitingAsk};
use crate::decision::DecisionAddress;
use crate::store_error::StoreError;

/// An ask that was replaced comes back after this. Two requests never wait under
/// one address for long: the ledger calls that a conflict.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Asks of one process.
pub struct EmbeddedDoors {
    by_door: Mutex<HashMap<String, HashMap<DecisionAddress, DoorEntry>>>,
    version: watch::Sender<u64>,
}

struct DoorEntry {
    ask: OpenAsk,
    since: Instant,
    answer: watch::Sender<Option<DoorAnswer>>,
}

impl Default for EmbeddedDoors {
    fn default() -> Self {
        // A watcher that saw an earlier process must not take its version for ours.
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let micros = since.unwrap_or_default().as_micros();
        Self {
            by_door: Mutex::default(),
            version: watch::Sender::new(u64::try_from(micros).unwrap_or_default()),
        }
    }
}

#[async_trait]
impl DoorStore for EmbeddedDoors {
    async fn ask(&self, ask: &OpenAsk) -> Result<DoorAnswer, StoreError> {
        let mut answered = self.enter(ask);
        loop {
            if let Ok(answer) = answered.wait_for(Option::is_some).await
                && let Some(answer) = answer.clone()
            {
                return Ok(answer);
            }
            // Replaced by another request or taken away: in turns, should both go on.
            tokio::time::sleep(AGAIN_AFTER).await;
            answered = self.enter(ask);
        }
    }

    async fn leave(&self, ask: &OpenAsk) -> Result<Option<DoorAnswer>, StoreError> {
        let answer = self.remove_if(ask, |entry| {
            entry.answer.receiver_count() == 0 && entry.answer.borrow().is_none()
        });
        Ok(answer)
    }

    async fn done(&self, ask: &OpenAsk) -> Result<(), StoreError> {
        self.remove_if(ask, |_| true);
        Ok(())
    }

    async fn list(&self, door: &str) -> Result<Listing, StoreError> {
        // Before the look: a change in between shows as a version too old.
        let version = *self.version.borrow();
        let by_door = self.by_door.lock();
        let open = by_door.get(door).into_iter().flat_map(HashMap::values);
        let mut open: Vec<&DoorEntry> = open.filter(|entry| entry.is_open()).collect();
        open.sort_by(|left, right| {
            (left.since, &left.ask.address).cmp(&(right.since, &right.ask.address))
        });
        let asks = open.into_iter().map(|entry| WaitingAsk {
            ask: entry.ask.clone(),
            waiting: entry.since.elapsed(),
        });
        Ok(Listing {
            version,
            asks: asks.collect(),
        })
    }

    async fn changed(&self, _door: &str, version: u64) -> Result<(), StoreError> {
        let mut versions = self.version.subscribe();
        // The sender is ours and lives as long as we do.
        let _ = versions.wait_for(|now| *now != version).await;
        Ok(())
    }

    async fn answer(&self, handed: &SubmittedAnswer) -> Result<SubmitOutcome, StoreError> {
        let by_door = self.by_door.lock();
        let entry = by_door
            .get(&handed.door)
            .and_then(|asks| asks.get(&handed.address));
        let theirs = |entry: &&DoorEntry| {
            let team = handed.team.as_ref();
            team.is_none_or(|team| *team == entry.ask.team) && entry.is_known()
        };
        let Some(entry) = entry.filter(theirs) else {
            return Ok(SubmitOutcome::NobodyAsks);
        };
        if entry.ask.digest != handed.digest {
            return Ok(SubmitOutcome::OtherRequest(entry.ask.digest.clone()));
        }
        let mut standing = None;
        entry.answer.send_if_modified(|answer| {
            standing.clone_from(answer);
            if answer.is_none() {
                *answer = Some(handed.answer.clone());
            }
            standing.is_none()
        });
        drop(by_door);
        match standing {
            Some(standing) if standing.reply == handed.answer.reply => Ok(SubmitOutcome::Stands),
            Some(_) => Ok(SubmitOutcome::AnsweredDifferently),
            None => {
                self.change();
                Ok(SubmitOutcome::Stands)
            }
        }
    }
}

impl EmbeddedDoors {
    fn enter(&self, ask: &OpenAsk) -> watch::Receiver<Option<DoorAnswer>> {
        let mut by_door = self.by_door.lock();
        let asks = by_door.entry(ask.door.clone()).or_default();
        if let Some(entry) = asks.get(&ask.address)
            && entry.ask.digest == ask.digest
        {
            return entry.answer.subscribe();
        }
        let (answer, answered) = watch::channel(None);
        let entry = DoorEntry {
            ask: ask.clone(),
            since: Instant::now(),
            answer,
        };
        asks.insert(ask.address.clone(), entry);
        drop(by_door);
        self.change();
        answered
    }

    /// Returns the answer to an ask that is there, and takes the ask away if that holds.
    fn remove_if(&self, ask: &OpenAsk, go: impl Fn(&DoorEntry) -> bool) -> Option<DoorAnswer> {
        let mut by_door = self.by_door.lock();
        let asks = by_door.get_mut(&ask.door)?;
        let entry = asks.get(&ask.address)?;
        if entry.ask.digest != ask.digest {
            return None;
        }
        let answer = entry.answer.borrow().clone();
        if go(entry) {
            asks.remove(&ask.address);
        }
        if asks.is_empty() {
            by_door.remove(&ask.door);
        }
        drop(by_door);
        self.change();
        answer
    }

    fn change(&self) {
        self.version
            .send_modify(|version| *version = version.wrapping_add(1));
    }
}

impl DoorEntry {
    fn is_open(&self) -> bool {
        self.answer.receiver_count() > 0 && self.answer.borrow().is_none()
    }

    fn is_known(&self) -> bool {
        self.answer.receiver_count() > 0 || self.answer.borrow().is_some()
    }
}
