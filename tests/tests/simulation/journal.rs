//! A journal in memory that keeps the contract of the real ones, on the world's clock, and can lose
//! its tail. With `lax` epochs it takes batches of deposed owners, which no real one does.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use agon_coordinator::journal::{
    Claim, Epoch, Journal, JournalError, JournalResult, Place, Snapshot,
};
use async_trait::async_trait;
use bytes::Bytes;

/// Redis counts epochs in microseconds since 1970: they fill many bits.
const FIRST_EPOCH: u64 = 1_790_000_000_000_000;

#[derive(Default)]
pub struct SimulatedJournal {
    kept: Mutex<Kept>,
    lax: bool,
}

#[derive(Default)]
struct Kept {
    now: Duration,
    epoch: u64,
    owner: Option<(String, Duration)>,
    batches: BTreeMap<Place, Bytes>,
    snapshot: Option<Snapshot>,
    blobs: BTreeMap<String, Bytes>,
}

impl SimulatedJournal {
    pub fn new(lax: bool) -> Self {
        Self {
            kept: Mutex::default(),
            lax,
        }
    }

    pub fn set_now(&self, now: Duration) {
        self.kept().now = now;
    }

    /// Forgets the last batches, at most so many, none that a snapshot holds; says where it ends.
    pub fn lose_tail(&self, most: usize) -> Place {
        let mut kept = self.kept();
        let upto = kept
            .snapshot
            .as_ref()
            .map_or(Place(0), |snapshot| snapshot.upto);
        for _ in 0..most {
            match kept.batches.last_key_value() {
                Some((last, _)) if *last > upto => kept.batches.pop_last(),
                _ => break,
            };
        }
        kept.end()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().expect("no panic while it is held")
    }
}

impl Kept {
    fn end(&self) -> Place {
        let last = self.batches.last_key_value().map(|(place, _)| *place);
        let upto = self.snapshot.as_ref().map(|snapshot| snapshot.upto);
        last.max(upto).unwrap_or_default()
    }

    fn check(&self, epoch: Epoch, lax: bool) -> JournalResult<()> {
        match lax || epoch.0 == self.epoch {
            true => Ok(()),
            false => Err(JournalError::Deposed),
        }
    }
}

#[async_trait]
impl Journal for SimulatedJournal {
    async fn claim(&self, owner: &str, ttl: Duration) -> JournalResult<Claim> {
        let mut kept = self.kept();
        if let Some((owner, until)) = &kept.owner
            && *until > kept.now
        {
            return Ok(Claim::Held {
                owner: owner.clone(),
                left: *until - kept.now,
            });
        }
        let clock = FIRST_EPOCH + kept.now.as_micros() as u64;
        kept.epoch = clock.max(kept.epoch + 1);
        kept.owner = Some((owner.to_owned(), kept.now + ttl));
        Ok(Claim::Granted(Epoch(kept.epoch)))
    }

    async fn renew(&self, epoch: Epoch, ttl: Duration) -> JournalResult<()> {
        let mut kept = self.kept();
        kept.check(epoch, self.lax)?;
        let until = kept.now + ttl;
        if let Some((_, expires)) = &mut kept.owner {
            *expires = until;
        }
        Ok(())
    }

    async fn resign(&self, epoch: Epoch) -> JournalResult<()> {
        let mut kept = self.kept();
        if epoch.0 == kept.epoch {
            kept.owner = None;
        }
        Ok(())
    }

    async fn append(&self, epoch: Epoch, place: Place, batch: Bytes) -> JournalResult<()> {
        let mut kept = self.kept();
        kept.check(epoch, self.lax)?;
        let end = kept.end();
        if place == end.next() {
            kept.batches.insert(place, batch);
            return Ok(());
        }
        match place == end && kept.batches.get(&place) == Some(&batch) {
            true => Ok(()),
            false => Err(JournalError::OutOfPlace { place, end }),
        }
    }

    async fn read(&self, after: Place, _most_bytes: usize) -> JournalResult<Vec<(Place, Bytes)>> {
        let kept = self.kept();
        // A few at a time, so that who reads has to come back.
        let found = kept.batches.range(after.next()..).take(7);
        Ok(found
            .map(|(place, batch)| (*place, batch.clone()))
            .collect())
    }

    async fn end(&self) -> JournalResult<Place> {
        Ok(self.kept().end())
    }

    async fn put_snapshot(
        &self,
        epoch: Epoch,
        snapshot: Snapshot,
        trim_to: Place,
    ) -> JournalResult<()> {
        let mut kept = self.kept();
        kept.check(epoch, self.lax)?;
        kept.batches.retain(|place, _| *place > trim_to);
        kept.snapshot = Some(snapshot);
        Ok(())
    }

    async fn snapshot(&self) -> JournalResult<Option<Snapshot>> {
        Ok(self.kept().snapshot.clone())
    }

    async fn put_blob(&self, name: &str, bytes: Bytes) -> JournalResult<()> {
        self.kept().blobs.insert(name.to_owned(), bytes);
        Ok(())
    }

    async fn blob(&self, name: &str) -> JournalResult<Option<Bytes>> {
        Ok(self.kept().blobs.get(name).cloned())
    }

    async fn delete_blob(&self, name: &str) -> JournalResult<()> {
        self.kept().blobs.remove(name);
        Ok(())
    }

    async fn blobs(&self, prefix: &str) -> JournalResult<Vec<String>> {
        let kept = self.kept();
        let names = kept.blobs.keys().filter(|name| name.starts_with(prefix));
        Ok(names.cloned().collect())
    }
}

/// The journal as a reader sees it that misses the last batch.
pub struct WithoutTheLast<'a>(pub &'a dyn Journal);

#[async_trait]
impl Journal for WithoutTheLast<'_> {
    async fn claim(&self, owner: &str, ttl: Duration) -> JournalResult<Claim> {
        self.0.claim(owner, ttl).await
    }

    async fn renew(&self, epoch: Epoch, ttl: Duration) -> JournalResult<()> {
        self.0.renew(epoch, ttl).await
    }

    async fn resign(&self, epoch: Epoch) -> JournalResult<()> {
        self.0.resign(epoch).await
    }

    async fn append(&self, epoch: Epoch, place: Place, batch: Bytes) -> JournalResult<()> {
        self.0.append(epoch, place, batch).await
    }

    async fn read(&self, after: Place, most_bytes: usize) -> JournalResult<Vec<(Place, Bytes)>> {
        let end = self.0.end().await?;
        let mut found = self.0.read(after, most_bytes).await?;
        for (place, batch) in &mut found {
            if *place == end {
                *batch = Bytes::new();
            }
        }
        Ok(found)
    }

    async fn end(&self) -> JournalResult<Place> {
        self.0.end().await
    }

    async fn put_snapshot(
        &self,
        epoch: Epoch,
        snapshot: Snapshot,
        trim_to: Place,
    ) -> JournalResult<()> {
        self.0.put_snapshot(epoch, snapshot, trim_to).await
    }

    async fn snapshot(&self) -> JournalResult<Option<Snapshot>> {
        self.0.snapshot().await
    }

    async fn put_blob(&self, name: &str, bytes: Bytes) -> JournalResult<()> {
        self.0.put_blob(name, bytes).await
    }

    async fn blob(&self, name: &str) -> JournalResult<Option<Bytes>> {
        self.0.blob(name).await
    }

    async fn delete_blob(&self, name: &str) -> JournalResult<()> {
        self.0.delete_blob(name).await
    }

    async fn blobs(&self, prefix: &str) -> JournalResult<Vec<String>> {
        self.0.blobs(prefix).await
    }
}
