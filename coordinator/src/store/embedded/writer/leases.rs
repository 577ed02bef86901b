//! Changes to single sessions: leased, renewed, finished, failed, given back, lost. Refuses fences
//! that are not the session's last. Called by the writer inside its transaction.

use std::time::Duration;

use rusqlite::{OptionalExtension as _, params};

use super::Batch;
use crate::store::packed::Packed;
use crate::store::{Completion, Failure, Granted, LeaseKey, MOST_CRASHES, MOST_LOSSES, Terms};

/// What decides about a lease.
struct Held {
    experiment: String,
    state: String,
    rank: i64,
    fence: i64,
    worker: Option<String>,
    crashes: u32,
}

impl Held {
    fn has_fence(&self, lease: &LeaseKey) -> bool {
        // 0 stands for "never leased" and is nobody's fence.
        self.fence > 0 && u64::try_from(self.fence).is_ok_and(|fence| fence == lease.fence)
    }
}

impl Batch<'_> {
    pub(super) fn lease(
        &mut self,
        worker: &str,
        most: usize,
        ttl: Duration,
    ) -> rusqlite::Result<Vec<Granted>> {
        let expires_ms = self.until(ttl);
        let mut granted = Vec::new();
        while granted.len() < most {
            let Some(session) = self.turns.next() else {
                break;
            };
            self.counters.fence += 1;
            let fence = self.counters.fence;
            self.transaction
                .prepare_cached(
                    "UPDATE sessions SET state = 'leased', fence = ?2, worker = ?3, expires_ms = ?4
                     WHERE id = ?1 AND state = 'queued'",
                )?
                .execute(params![session, fence, worker, expires_ms])?;
            let key = LeaseKey {
                session,
                fence: fence as u64,
            };
            let row = self.granted(key)?;
            granted.extend(row);
        }
        Ok(granted)
    }

    /// What a worker is told of a session that was leased to it just now.
    fn granted(&self, key: LeaseKey) -> rusqlite::Result<Option<Granted>> {
        self.transaction
            .prepare_cached(
                "SELECT spec, crashes + losses, experiment, team, traceparent, priority, budget,
                     content_cache, record
                 FROM sessions JOIN specs ON specs.session = sessions.id
                     JOIN experiments ON experiments.id = experiment
                     LEFT JOIN results ON results.session = follows
                 WHERE sessions.id = ?1 AND state = 'leased' AND fence = ?2",
            )?
            .query_row(params![key.session, key.fence as i64], |row| {
                let budget: Option<i64> = row.get(6)?;
                Ok(Granted {
                    key: key.clone(),
                    spec: row.get(0)?,
                    attempt: row.get::<_, u32>(1)? + 1,
                    experiment: row.get(2)?,
                    team: row.get(3)?,
                    traceparent: row.get(4)?,
                    terms: Terms {
                        priority: row.get(5)?,
                        budget: budget.and_then(|budget| u64::try_from(budget).ok()),
                        content_cache: row.get(7)?,
                    },
                    // Packed; taken apart by whoever asked.
                    before: row.get(8)?,
                })
            })
            .optional()
    }

    pub(super) fn renew(
        &mut self,
        worker: &str,
        leases: &[LeaseKey],
        ttl: Duration,
    ) -> rusqlite::Result<Vec<bool>> {
        let expires_ms = self.until(ttl);
        let mut renewed = Vec::with_capacity(leases.len());
        for lease in leases {
            let held = self
                .held(&lease.session)?
                .filter(|held| held.has_fence(lease));
            let keeps = match &held {
                Some(held) if held.state == "leased" => true,
                // It ran out, but nobody else has it yet: the worker may go on.
                Some(held) if held.state == "queued" && held.worker.as_deref() == Some(worker) => {
                    self.turns
                        .remove(&held.experiment, held.rank, &lease.session);
                    true
                }
                _ => false,
            };
            if keeps {
                self.transaction
                    .prepare_cached(
                        "UPDATE sessions SET state = 'leased', worker = ?2, expires_ms = ?3
                         WHERE id = ?1",
                    )?
                    .execute(params![lease.session, worker, expires_ms])?;
            }
            renewed.push(keeps);
        }
        Ok(renewed)
    }

    pub(super) fn complete(
        &mut self,
        lease: &LeaseKey,
        packed: &Packed,
    ) -> rusqlite::Result<Completion> {
        let Some(held) = self.held(&lease.session)? else {
            return Ok(Completion::Fenced);
        };
        if held.state == "done" {
            return self.compare(lease, packed);
        }
        // A lease that ran out while nobody else took the session is as good as any: the result
        // would be the same.
        if held.state == "cancelled" || !held.has_fence(lease) {
            return Ok(Completion::Fenced);
        }
        if held.state == "queued" {
            self.turns
                .remove(&held.experiment, held.rank, &lease.session);
        }
        self.transaction
            .prepare_cached(
                "INSERT INTO results (session, digest, record, telemetry) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (session) DO UPDATE SET digest = ?2, record = ?3, telemetry = ?4",
            )?
            .execute(params![
                lease.session,
                packed.digest,
                packed.record,
                packed.telemetry
            ])?;
        self.transaction
            .prepare_cached(
                "UPDATE sessions SET state = 'done', worker = NULL, expires_ms = NULL, reason = ''
                 WHERE id = ?1",
            )?
            .execute([&lease.session])?;
        self.go_on(&held.experiment, &lease.session)?;
        Ok(Completion::First)
    }

    fn compare(&self, lease: &LeaseKey, packed: &Packed) -> rusqlite::Result<Completion> {
        let digest: Option<String> = self
            .transaction
            .prepare_cached("SELECT digest FROM results WHERE session = ?1")?
            .query_row([&lease.session], |row| row.get(0))
            .optional()?;
        if digest.is_some_and(|digest| digest == packed.digest) {
            return Ok(Completion::Same);
        }
        self.transaction
            .prepare_cached("UPDATE sessions SET fault = 1 WHERE id = ?1")?
            .execute([&lease.session])?;
        Ok(Completion::Different)
    }

    pub(super) fn fail(
        &mut self,
        lease: &LeaseKey,
        failure: Failure,
        reason: &str,
    ) -> rusqlite::Result<bool> {
        let held = self.held(&lease.session)?;
        let held = held.filter(|held| held.state == "leased" && held.has_fence(lease));
        let Some(held) = held else { return Ok(false) };
        let (state, crashes) = match failure {
            Failure::Parked => ("parked", held.crashes),
            Failure::Impossible => ("dead", held.crashes),
            Failure::Crashed if held.crashes + 1 >= MOST_CRASHES => ("dead", held.crashes + 1),
            Failure::Crashed => ("queued", held.crashes + 1),
            Failure::BudgetSpent => ("queued", held.crashes),
        };
        if failure == Failure::BudgetSpent {
            self.pause(&held.experiment, held.fence, reason)?;
        }
        let rank = if failure == Failure::Crashed && state == "queued" {
            self.next_rank()
        } else {
            held.rank
        };
        self.transaction
            .prepare_cached(
                "UPDATE sessions SET state = ?2, crashes = ?3, reason = ?4, rank = ?5,
                     worker = NULL, expires_ms = NULL WHERE id = ?1",
            )?
            .execute(params![lease.session, state, crashes, reason, rank])?;
        if state == "queued" {
            self.wait_again(&held.experiment, rank, &lease.session)?;
        } else {
            self.stop_behind(&lease.session)?;
        }
        Ok(true)
    }

    pub(super) fn release(&mut self, leases: &[LeaseKey]) -> rusqlite::Result<()> {
        for lease in leases {
            let held = self.held(&lease.session)?;
            let held = held.filter(|held| held.state == "leased" && held.has_fence(lease));
            let Some(held) = held else { continue };
            self.transaction
                .prepare_cached(
                    "UPDATE sessions SET state = 'queued', worker = NULL, expires_ms = NULL
                     WHERE id = ?1",
                )?
                .execute([&lease.session])?;
            self.wait_again(&held.experiment, held.rank, &lease.session)?;
        }
        Ok(())
    }

    pub(super) fn expire(&mut self) -> rusqlite::Result<u64> {
        let lost: Vec<(String, String, i64, u32)> = self
            .transaction
            .prepare_cached(
                "UPDATE sessions SET losses = losses + 1, expires_ms = NULL, state = 'queued'
                 WHERE state = 'leased' AND expires_ms <= ?1
                 RETURNING id, experiment, rank, losses",
            )?
            .query_map([self.now_ms], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
        for (session, experiment, rank, losses) in &lost {
            if *losses < MOST_LOSSES {
                self.wait_again(experiment, *rank, session)?;
                continue;
            }
            let reason = format!("the workers that played it were lost {losses} times");
            self.transaction.execute(
                "UPDATE sessions SET state = 'dead', reason = ?2 WHERE id = ?1",
                params![session, reason],
            )?;
            self.stop_behind(session)?;
        }
        Ok(lost.len() as u64)
    }

    pub(super) fn reclaim(&mut self) -> rusqlite::Result<u64> {
        let held: Vec<(String, String, i64)> = self
            .transaction
            .prepare_cached(
                "UPDATE sessions SET state = 'queued', worker = NULL, expires_ms = NULL
                 WHERE state = 'leased' RETURNING id, experiment, rank",
            )?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (session, experiment, rank) in &held {
            self.wait_again(experiment, *rank, session)?;
        }
        Ok(held.len() as u64)
    }

    pub(super) fn wait_again(
        &mut self,
        experiment: &str,
        rank: i64,
        session: &str,
    ) -> rusqlite::Result<()> {
        let team = self.team_of(experiment)?.unwrap_or_default();
        self.turns.add(&team, experiment, rank, session);
        self.queued = true;
        Ok(())
    }

    fn held(&self, session: &str) -> rusqlite::Result<Option<Held>> {
        self.transaction
            .prepare_cached(
                "SELECT experiment, state, rank, fence, worker, crashes FROM sessions
                 WHERE id = ?1",
            )?
            .query_row([session], |row| {
                Ok(Held {
                    experiment: row.get(0)?,
                    state: row.get(1)?,
                    rank: row.get(2)?,
                    fence: row.get(3)?,
                    worker: row.get(4)?,
                    crashes: row.get(5)?,
                })
            })
            .optional()
    }
}
