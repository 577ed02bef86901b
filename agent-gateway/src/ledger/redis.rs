//! The ledger in Redis, shared by all replicas: a hash of decisions and a hash
//! of claims per session. Claims carry holder and expiry on Redis's clock, so
//! that two replicas never ask a provider twice for one address while the
//! first is alive. What survives a Redis crash is what its AOF setting keeps.

use std::time::Duration;

use agon_redis_link::Link;
use agon_service_kit::clock::millis;
use async_trait::async_trait;
use redis::AsyncCommands as _;

use super::{Claim, Ledger};
use crate::decision::{Decision, DecisionAddress, RequestDigest};
use crate::redis_script::{RedisScript, redis_script};
use crate::store_error::StoreError;

/// How long a claim outlives its last renewal: the time that a crashed
/// replica's addresses stay blocked, and the pause of a live one we forgive.
const CLAIM_TTL: Duration = Duration::from_secs(15);

/// How long a ledger stays after its last write when nobody ever says that its
/// session is done: longer than any break in an experiment that somebody still
/// means to finish. It bounds what experiments given up leave behind.
const KEPT_UNFINISHED: Duration = Duration::from_secs(30 * 24 * 3_600);

/// A ledger that several replicas share.
pub struct RedisLedger {
    connection: Link,
    claim_ttl: Duration,
    claim: RedisScript,
    renew: RedisScript,
    record: RedisScript,
    release: RedisScript,
    forget: RedisScript,
}

impl RedisLedger {
    /// A ledger over a connection.
    pub fn new(connection: Link) -> Self {
        Self {
            connection,
            claim_ttl: CLAIM_TTL,
            claim: redis_script!("claim an address", "ledger_claim_v2"),
            renew: redis_script!("renew a claim", "ledger_renew_v1"),
            record: redis_script!("record a decision", "ledger_record_v2"),
            release: redis_script!("release a claim", "ledger_release_v1"),
            forget: redis_script!("forget a session", "ledger_forget_v1"),
        }
    }

    /// Shortens the claims, so that tests need not wait for a lost one.
    pub fn with_claim_ttl(mut self, claim_ttl: Duration) -> Self {
        self.claim_ttl = claim_ttl;
        self
    }
}

#[async_trait]
impl Ledger for RedisLedger {
    async fn claim(
        &self,
        address: &DecisionAddress,
        digest: &RequestDigest,
        holder: &str,
    ) -> Result<Claim, StoreError> {
        let mut answer: Vec<String> = self
            .claim
            .run(&self.connection, |call| {
                call.key(ledger_key(&address.session_id))
                    .key(claims_key(&address.session_id))
                    .arg(field(address))
                    .arg(holder)
                    .arg(digest.as_str())
                    .arg(millis(self.claim_ttl));
            })
            .await?;
        let detail = if answer.len() > 1 { answer.pop() } else { None };
        match (answer.first().map(String::as_str), detail) {
            (Some("granted"), _) => Ok(Claim::Granted),
            (Some("held"), _) => Ok(Claim::HeldElsewhere),
            (Some("conflict"), Some(other)) => Ok(Claim::Conflict(other.into())),
            (Some("recorded"), Some(text)) => {
                let decision = read_decision(address, &text)?;
                if decision.request_digest == *digest {
                    Ok(Claim::Recorded(decision))
                } else {
                    Ok(Claim::Conflict(decision.request_digest))
                }
            }
            _ => Err(self.claim.unknown_answer()),
        }
    }

    async fn renew(&self, address: &DecisionAddress, holder: &str) -> Result<bool, StoreError> {
        let renewed: i64 = self
            .renew
            .run(&self.connection, |call| {
                call.key(claims_key(&address.session_id))
                    .arg(field(address))
                    .arg(holder)
                    .arg(millis(self.claim_ttl));
            })
            .await?;
        Ok(renewed == 1)
    }

    async fn record(
        &self,
        address: &DecisionAddress,
        decision: Decision,
    ) -> Result<Decision, StoreError> {
        let text = serde_json::to_string(&decision).map_err(StoreError::damaged(address))?;
        let standing: Option<String> = self
            .record
            .run_lasting(&self.connection, |call| {
                call.key(ledger_key(&address.session_id))
                    .key(claims_key(&address.session_id))
                    .arg(field(address))
                    .arg(text)
                    .arg(millis(KEPT_UNFINISHED));
            })
            .await?;
        match standing {
            Some(text) => read_decision(address, &text),
            None => Ok(decision),
        }
    }

    async fn release(&self, address: &DecisionAddress, holder: &str) -> Result<(), StoreError> {
        let _released: i64 = self
            .release
            .run(&self.connection, |call| {
                call.key(claims_key(&address.session_id))
                    .arg(field(address))
                    .arg(holder);
            })
            .await?;
        Ok(())
    }

    async fn find(&self, address: &DecisionAddress) -> Result<Option<Decision>, StoreError> {
        let mut connection = self.connection.clone();
        let text: Option<String> = connection
            .hget(ledger_key(&address.session_id), field(address))
            .await
            .map_err(StoreError::redis("find a decision"))?;
        text.map(|text| read_decision(address, &text)).transpose()
    }

    async fn list(&self, session_id: &str) -> Result<Vec<(DecisionAddress, Decision)>, StoreError> {
        let mut connection = self.connection.clone();
        let entries: Vec<(String, String)> = connection
            .hgetall(ledger_key(session_id))
            .await
            .map_err(StoreError::redis("list a session"))?;
        let mut decisions = Vec::with_capacity(entries.len());
        for (field, text) in entries {
            if let Some(address) = read_field(session_id, &field) {
                let decision = read_decision(&address, &text)?;
                decisions.push((address, decision));
            }
        }
        decisions.sort_by(|(left, _), (right, _)| left.cmp(right));
        Ok(decisions)
    }

    async fn forget(&self, session_ids: &[String], grace: Duration) -> Result<(), StoreError> {
        if session_ids.is_empty() {
            return Ok(());
        }
        let mut connection = self.connection.clone();
        if let [session_id] = session_ids {
            // One a second or a thousand: no need to send the script each time.
            let forget = self.forget.run(&self.connection, |call| {
                call.key(ledger_key(session_id)).arg(millis(grace));
            });
            return forget.await;
        }
        let mut pipeline = redis::pipe();
        // Redis may have been restarted since, and a pipeline cannot load late.
        pipeline.load_script(self.forget.script()).ignore();
        for session_id in session_ids {
            let mut forget = self.forget.script().prepare_invoke();
            forget.key(ledger_key(session_id)).arg(millis(grace));
            pipeline.invoke_script(&forget).ignore();
        }
        pipeline
            .query_async::<()>(&mut connection)
            .await
            .map_err(StoreError::redis("forget sessions"))
    }

    fn renew_every(&self) -> Option<Duration> {
        Some(self.claim_ttl / 3)
    }

    async fn close(&self) {
        // Everything that was acknowledged is in Redis already.
    }
}

/// The braces keep both hashes of a session on one node of a cluster.
fn ledger_key(session_id: &str) -> String {
    format!("agon:ledger:{{{session_id}}}")
}

fn claims_key(session_id: &str) -> String {
    format!("agon:claims:{{{session_id}}}")
}

fn field(address: &DecisionAddress) -> String {
    format!("{}/{}", address.seat, address.index)
}

fn read_field(session_id: &str, field: &str) -> Option<DecisionAddress> {
    let (seat, index) = field.split_once('/')?;
    Some(DecisionAddress {
        session_id: session_id.to_owned(),
        seat: seat.parse().ok()?,
        index: index.parse().ok()?,
    })
}

fn read_decision(address: &DecisionAddress, text: &str) -> Result<Decision, StoreError> {
    serde_json::from_str(text).map_err(StoreError::damaged(address))
}
