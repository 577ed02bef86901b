//! The journal in Redis, for a coordinator with standbys on other machines.
//!
//! Epochs, places and time are decided in scripts, by Redis's clock. Calls that fail are not
//! repeated here, but may be by whoever calls. A server that takes no writes (a replica, a full or
//! broken disk, one that is still loading) is an error and never a silent success.

use std::sync::Arc;
use std::time::Duration;

use ::redis::{AsyncCommands as _, FromRedisValue, RedisError, ScriptInvocation};
use agon_redis_link::{Address, Link, may_pass};
use agon_service_kit::clock::millis;
use agon_service_kit::secrets::{NO_ADDRESS, keep_address};
use agon_service_kit::tasks::with_causes;
use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::OnceCell;

use super::{Claim, Epoch, Journal, JournalError, JournalResult, Place, Snapshot};

mod examination;
mod older;
mod scripts;

pub use examination::{Examination, examine};

use scripts::{BATCHES, BLOB, BLOBS, SNAPSHOT, STATE, Scripts, UPLOADED};

/// An upload of a snapshot that nobody came back for is forgotten after this.
const UPLOAD_KEPT: Duration = Duration::from_secs(600);

/// A batch of so many bytes may take longer than an answer usually does.
const LARGE: usize = 1024 * 1024;

/// Who opens a journal that may be there later is not held up longer by a Redis that hangs.
const FIRST_LOOK_WITHIN: Duration = Duration::from_secs(2);

/// A journal in Redis 7. What was acknowledged is as safe as Redis keeps it:
///
/// | Redis | can lose of what was acknowledged |
/// |---|---|
/// | `appendonly yes`, `appendfsync always` | nothing, as long as the disk is whole |
/// | `appendfsync everysec` | the last second, two when the disk is busy |
/// | `appendfsync no` | nothing when the process dies; what the kernel holds back (30 s) when the machine does |
/// | `appendonly no` | everything since the last `save` |
/// | failover to a replica (Sentinel) | what had not reached the replica: milliseconds, but everything since the cut when the old master was cut off and went on; `min-replicas-to-write 1` and `min-replicas-max-lag 10` end its writes after 10 s |
///
/// A lost tail is noticed: [`Journal::append`] says [`JournalError::OutOfPlace`] to an owner that
/// lives on, which mends it with a snapshot. When the owner dies in the same moment, the sessions
/// that ended in the lost tail are played again from their ledgers. An epoch that was lost is never
/// given again: epochs follow the clock.
#[derive(Clone)]
pub struct RedisJournal {
    link: Link,
    scripts: Arc<Scripts>,
    /// Where it is, without its password.
    address: Arc<str>,
    /// Set once Redis was seen to hold nothing unfinished of an older version.
    checked: Arc<OnceCell<()>>,
}

impl RedisJournal {
    /// Connects and makes sure that a Redis answers that takes writes. `url` is `redis://host:port`,
    /// `rediss://` with TLS, or `redis+sentinel://sentinel:port,sentinel:port/master-name`.
    ///
    /// # Errors
    /// The address makes no sense, nobody answers there, a replica does, or Redis holds unfinished
    /// experiments of an older version ([`JournalError::Older`]).
    pub async fn connect(url: &str) -> JournalResult<Self> {
        let journal = Self::at(url)?;
        journal.check().await?;
        Ok(journal)
    }

    /// The same, but a Redis that does not answer yet is waited for: the first claim that is granted
    /// has found it. Says whether it answers.
    ///
    /// # Errors
    /// As [`RedisJournal::connect`], where no waiting mends it.
    pub async fn connect_when_there(url: &str) -> JournalResult<(Self, bool)> {
        let journal = Self::at(url)?;
        let reason = match tokio::time::timeout(FIRST_LOOK_WITHIN, journal.check()).await {
            Ok(Ok(())) => return Ok((journal, true)),
            Ok(Err(JournalError::Unreachable { source, .. })) => with_causes(&source),
            Ok(Err(error)) => return Err(error),
            Err(_) => "no answer in time".to_owned(),
        };
        tracing::warn!(
            redis = %journal.address, %reason,
            "redis does not answer yet: nobody is in charge of the queue here until it does"
        );
        Ok((journal, false))
    }

    fn at(url: &str) -> JournalResult<Self> {
        let shown = keep_address(url);
        let address = Address::read(url).map_err(|source| JournalError::Unreachable {
            address: NO_ADDRESS.to_owned(),
            source,
        })?;
        Ok(Self {
            link: Link::new(address, Scripts::loading()),
            scripts: Arc::new(Scripts::new()),
            address: shown.into(),
            checked: Arc::default(),
        })
    }

    /// Makes sure, once, that Redis answers, takes writes, and holds nothing unfinished of an older
    /// version.
    async fn check(&self) -> JournalResult<()> {
        let check = self.checked.get_or_try_init(|| self.look_for_older());
        check.await.copied()
    }

    async fn look_for_older(&self) -> JournalResult<()> {
        let address = || self.address.to_string();
        let older = older::look(&mut self.link.clone()).await;
        let older = older.map_err(|source| match may_pass(&source) {
            true => JournalError::Unreachable {
                address: address(),
                source,
            },
            false => JournalError::Refused {
                address: address(),
                source,
            },
        })?;
        if older.unfinished > 0 {
            return Err(JournalError::Older {
                place: address(),
                remedy: "give another Redis or another number of its database behind the address",
            });
        }
        if older.finished > 0 {
            tracing::warn!(
                experiments = older.finished,
                "redis also holds finished experiments of an older agon; fetch their results with \
                 that one"
            );
        }
        Ok(())
    }

    async fn run<T: FromRedisValue>(
        &self,
        operation: &'static str,
        call: &ScriptInvocation<'_>,
    ) -> JournalResult<T> {
        let answer = call.invoke_async(&mut self.link.clone()).await;
        answer.map_err(redis(operation))
    }

    /// A link that waits as long as it takes to move a value.
    async fn link_for(&self, key: &str) -> JournalResult<Link> {
        let length = self.link.clone().strlen(key).await;
        let length = length.map_err(redis("read the length of a value"))?;
        Ok(self.link.for_bytes(length))
    }
}

#[async_trait]
impl Journal for RedisJournal {
    async fn claim(&self, owner: &str, ttl: Duration) -> JournalResult<Claim> {
        self.check().await?;
        let mut call = self.scripts.claim.key(STATE);
        call.arg(owner).arg(millis(ttl));
        let answer: Vec<String> = self.run("claim the journal", &call).await?;
        let number = |text: &str| text.parse::<u64>().ok();
        let claim = match answer.as_slice() {
            [epoch] => number(epoch).map(|epoch| Claim::Granted(Epoch(epoch))),
            [_, owner, left] => number(left).map(|left| Claim::Held {
                owner: owner.clone(),
                left: Duration::from_millis(left),
            }),
            _ => None,
        };
        claim.ok_or_else(|| corrupt("the journal's owner"))
    }

    async fn renew(&self, epoch: Epoch, ttl: Duration) -> JournalResult<()> {
        let mut call = self.scripts.renew.key(STATE);
        call.arg(epoch.0).arg(millis(ttl));
        if self.run("renew the claim", &call).await? {
            Ok(())
        } else {
            Err(JournalError::Deposed)
        }
    }

    async fn resign(&self, epoch: Epoch) -> JournalResult<()> {
        match self.renew(epoch, Duration::ZERO).await {
            Err(JournalError::Deposed) => Ok(()),
            other => other,
        }
    }

    async fn append(&self, epoch: Epoch, place: Place, batch: Bytes) -> JournalResult<()> {
        let mut call = self.scripts.append.key(STATE);
        call.key(BATCHES);
        call.arg(epoch.0).arg(place.0).arg(&*batch);
        let mut link = match batch.len() {
            0..LARGE => self.link.clone(),
            large => self.link.for_bytes(large),
        };
        let answer = call.invoke_async(&mut link).await;
        let answer: String = answer.map_err(redis("append to the journal"))?;
        match (answer.as_str(), answer.parse()) {
            ("appended", _) => Ok(()),
            ("deposed", _) => Err(JournalError::Deposed),
            (_, Ok(end)) => Err(JournalError::OutOfPlace {
                place,
                end: Place(end),
            }),
            _ => Err(corrupt("the journal's end")),
        }
    }

    async fn read(&self, after: Place, most_bytes: usize) -> JournalResult<Vec<(Place, Bytes)>> {
        let mut call = self.scripts.read.key(BATCHES);
        call.arg(after.0).arg(most_bytes);
        let answer = call
            .invoke_async(&mut self.link.for_bytes(most_bytes))
            .await;
        let found: Vec<(u64, Bytes)> = answer.map_err(redis("read the journal"))?;
        let found = found.into_iter();
        Ok(found.map(|(place, batch)| (Place(place), batch)).collect())
    }

    async fn end(&self) -> JournalResult<Place> {
        let end = self.link.clone().hget(STATE, "end").await;
        let end: Option<u64> = end.map_err(redis("read the journal's end"))?;
        Ok(Place(end.unwrap_or(0)))
    }

    async fn put_snapshot(
        &self,
        epoch: Epoch,
        snapshot: Snapshot,
        trim_to: Place,
    ) -> JournalResult<()> {
        const OPERATION: &str = "put a snapshot";
        let length = snapshot.bytes.len();
        let uploaded = format!("{UPLOADED}{}:{}", epoch.0, snapshot.upto.0);
        // As an argument of the script it would be copied while Redis serves nobody else.
        let upload = self
            .link
            .for_bytes(length)
            .pset_ex(&uploaded, &*snapshot.bytes, millis(UPLOAD_KEPT))
            .await;
        let () = upload.map_err(redis(OPERATION))?;
        let mut call = self.scripts.snapshot.key(STATE);
        call.key(BATCHES).key(SNAPSHOT).key(uploaded);
        call.arg(epoch.0).arg(snapshot.upto.0).arg(trim_to.0);
        call.arg(length);
        let answer: String = self.run(OPERATION, &call).await?;
        match answer.as_str() {
            "put" => Ok(()),
            "deposed" => Err(JournalError::Deposed),
            _ => Err(corrupt("the snapshot that was uploaded")),
        }
    }

    async fn snapshot(&self) -> JournalResult<Option<Snapshot>> {
        let mut pipe = ::redis::pipe();
        pipe.atomic().hget(STATE, "snapshot_upto").get(SNAPSHOT);
        let mut link = self.link_for(SNAPSHOT).await?;
        let answer = pipe.query_async(&mut link).await;
        let (upto, bytes): (Option<u64>, Option<Bytes>) =
            answer.map_err(redis("read the snapshot"))?;
        Ok(upto.zip(bytes).map(|(upto, bytes)| Snapshot {
            upto: Place(upto),
            bytes,
        }))
    }

    async fn put_blob(&self, name: &str, bytes: Bytes) -> JournalResult<()> {
        let mut pipe = ::redis::pipe();
        pipe.atomic()
            .set(format!("{BLOB}{name}"), &*bytes)
            .zadd(BLOBS, name, 0);
        let mut link = self.link.for_bytes(bytes.len());
        let put = pipe.exec_async(&mut link).await;
        put.map_err(redis("put a blob"))
    }

    async fn blob(&self, name: &str) -> JournalResult<Option<Bytes>> {
        let key = format!("{BLOB}{name}");
        let bytes = self.link_for(&key).await?.get(&key).await;
        bytes.map_err(redis("read a blob"))
    }

    async fn delete_blob(&self, name: &str) -> JournalResult<()> {
        let mut pipe = ::redis::pipe();
        pipe.atomic()
            .unlink(format!("{BLOB}{name}"))
            .zrem(BLOBS, name);
        let deleted = pipe.exec_async(&mut self.link.clone()).await;
        deleted.map_err(redis("delete a blob"))
    }

    async fn blobs(&self, prefix: &str) -> JournalResult<Vec<String>> {
        let from = format!("[{prefix}").into_bytes();
        // No byte of UTF-8 is this large.
        let to = [from.as_slice(), &[0xff]].concat();
        let names = self.link.clone().zrangebylex(BLOBS, from, to).await;
        names.map_err(redis("list blobs"))
    }
}

fn redis(operation: &'static str) -> impl FnOnce(RedisError) -> JournalError {
    move |source| JournalError::Redis { operation, source }
}

fn corrupt(what: &str) -> JournalError {
    JournalError::Corrupt {
        what: what.to_owned(),
    }
}
