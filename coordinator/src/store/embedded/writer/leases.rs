//! Changes to single sessions: leased, renewed, finished, failed, given back, lost. Refuses fences
//! that the worker does not hold. Called by the writer inside its transaction.

use std::time::Duration;

use rusqlite::{OptionalExtension as _, params};

use super::Batch;
use crate::store::packed::Packed;
use crate::store::{
    Completion, Failure, Granted, LeaseKey, MOST_CRASHES, MOST_LOSSES_ALONE, Terms,
};

/// What decides about a lease.
struct Held {
    experiment: String,
    state: String,
    rank: i64,
    fence: i64,
    lease_number: i64,
    worker: Option<String>,
    crashes: u32,
    losses: u32,
}

impl Held {
    fn is_held_by(&self, lease: &LeaseKey) -> bool {
        // 0 stands for "never leased" and is nobody's fence.
        self.fence != 0
            && self.fence == stored(lease.fence)
            && self.worker.as_deref() == Some(&lease.worker)
    }
}

/// What a worker holds.
struct Hand {
    sessions: u32,
    has_suspect: bool,
}

impl Batch<'_> {
    pub(super) fn lease(
        &mut self,
        worker: &str,
        fences: &[u64],
        ttl: Duration,
    ) -> rusqlite::Result<Vec<Granted>> {
        let mut granted = Vec::new();
        let hand = self.hand(worker)?;
        let Some((first, more)) = fences.split_first().filter(|_| !hand.has_suspect) else {
            return Ok(granted);
        };
        let until = self.until(ttl);
        if self.turns.has_suspects() {
            if hand.sessions == 0 {
                let suspect = self.turns.next_suspect();
                let suspect = suspect.map(|session| self.grant(worker, session, *first, until));
                granted.extend(suspect.transpose()?.flatten());
                self.note_alone(&granted)?;
                return Ok(granted);
            }
            if self.turns.is_emptied(worker, self.now_ms, until) {
                return Ok(granted);
            }
        }
        for fence in std::iter::once(first).chain(more) {
            let Some(session) = self.turns.next() else {
                break;
            };
            granted.extend(self.grant(worker, session, *fence, until)?);
        }
        if hand.sessions == 0 && granted.len() == 1 {
            self.note_alone(&granted)?;
        }
        Ok(granted)
    }

    fn grant(
        &mut self,
        worker: &str,
        session: String,
        fence: u64,
        expires_ms: i64,
    ) -> rusqlite::Result<Option<Granted>> {
        self.counters.fence += 1;
        // Its last lease ran out; what its worker may still hand in is compared.
        self.transaction
            .prepare_cached(
                "INSERT OR IGNORE INTO lost_leases (session, fence, worker)
                 SELECT id, fence, worker FROM sessions WHERE id = ?1 AND worker IS NOT NULL",
            )?
            .execute([&session])?;
        self.transaction
            .prepare_cached(
                "UPDATE sessions SET state = 'leased', fence = ?2, worker = ?3, expires_ms = ?4,
                     lease_number = ?5, alone = 0
                 WHERE id = ?1 AND state = 'queued'",
            )?
            .execute(params![
                session,
                stored(fence),
                worker,
                expires_ms,
                self.counters.fence
            ])?;
        self.granted(LeaseKey {
            session,
            worker: worker.to_owned(),
            fence,
        })
    }

    fn note_alone(&self, granted: &[Granted]) -> rusqlite::Result<()> {
        for granted in granted {
            self.transaction
                .prepare_cached("UPDATE sessions SET alone = 1 WHERE id = ?1")?
                .execute([&granted.key.session])?;
        }
        Ok(())
    }

    fn hand(&self, worker: &str) -> rusqlite::Result<Hand> {
        self.transaction
            .prepare_cached(
                "SELECT count(*), ifnull(max(losses > 0), 0) FROM sessions
                 WHERE state = 'leased' AND worker = ?1",
            )?
            .query_row([worker], |row| {
                Ok(Hand {
                    sessions: row.get(0)?,
                    has_suspect: row.get(1)?,
                })
            })
    }

    /// The worker holds a session less. When it is idle now it may play a suspect, or again play
    /// what is none.
    fn end_lease(&mut self, held: &Held) -> rusqlite::Result<()> {
        let Some(worker) = &held.worker else {
            return Ok(());
        };
        let waiting = held.losses > 0 || self.turns.has_suspects();
        if waiting && self.hand(worker)?.sessions == 0 {
            self.queued = true;
        }
        Ok(())
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
            .query_row(params![key.session, stored(key.fence)], |row| {
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
        leases: &[LeaseKey],
        ttl: Duration,
    ) -> rusqlite::Result<Vec<bool>> {
        let expires_ms = self.until(ttl);
        let alone = leases.len() == 1;
        let mut renewed = Vec::with_capacity(leases.len());
        for lease in leases {
            let held = self.held(&lease.session)?;
            let keeps = match held.filter(|held| held.is_held_by(lease)) {
                Some(held) if held.state == "leased" => true,
                // It ran out, but nobody else has it yet: the worker may go on.
                Some(held) if held.state == "queued" => {
                    self.turns
                        .remove(&held.experiment, held.rank, &lease.session);
                    true
                }
                _ => false,
            };
            if keeps {
                self.transaction
                    .prepare_cached(
                        "UPDATE sessions SET state = 'leased', expires_ms = ?2, alone = ?3
                         WHERE id = ?1",
                    )?
                    .execute(params![lease.session, expires_ms, alone])?;
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
            let was_given = held.is_held_by(lease) || self.lost_it(lease)?;
            return match was_given {
                true => self.compare(lease, packed),
                false => Ok(Completion::Fenced),
            };
        }
        // A lease that ran out while nobody else took the session is as good as any: the result
        // would be the same.
        if held.state == "cancelled" || !held.is_held_by(lease) {
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
                // The worker stays with the session: it may say its result again.
                "UPDATE sessions SET state = 'done', expires_ms = NULL, reason = ''
                 WHERE id = ?1",
            )?
            .execute([&lease.session])?;
        self.end_lease(&held)?;
        self.go_on(&held.experiment, &lease.session)?;
        Ok(Completion::First)
    }

    /// Whether this lease ran out before the session was leased again.
    fn lost_it(&self, lease: &LeaseKey) -> rusqlite::Result<bool> {
        self.transaction
            .prepare_cached(
                "SELECT 1 FROM lost_leases WHERE session = ?1 AND fence = ?2 AND worker = ?3",
            )?
            .exists(params![lease.session, stored(lease.fence), lease.worker])
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
        let held = held.filter(|held| held.state == "leased" && held.is_held_by(lease));
        let Some(held) = held else { return Ok(false) };
        let (state, crashes) = match failure {
            Failure::Parked => ("parked", held.crashes),
            Failure::Impossible => ("dead", held.crashes),
            Failure::Crashed if held.crashes + 1 >= MOST_CRASHES => ("dead", held.crashes + 1),
            Failure::Crashed => ("queued", held.crashes + 1),
            Failure::BudgetSpent => ("queued", held.crashes),
        };
        if failure == Failure::BudgetSpent {
            self.pause(&held.experiment, held.lease_number, reason)?;
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
            self.wait_again(&held.experiment, rank, &lease.session, held.losses)?;
        } else {
            self.stop_behind(&lease.session)?;
        }
        self.end_lease(&held)?;
        Ok(true)
    }

    pub(super) fn release(&mut self, leases: &[LeaseKey]) -> rusqlite::Result<()> {
        for lease in leases {
            let held = self.held(&lease.session)?;
            let held = held.filter(|held| held.state == "leased" && held.is_held_by(lease));
            let Some(held) = held else { continue };
            self.transaction
                .prepare_cached(
                    "UPDATE sessions SET state = 'queued', worker = NULL, expires_ms = NULL
                     WHERE id = ?1",
                )?
                .execute([&lease.session])?;
            self.wait_again(&held.experiment, held.rank, &lease.session, held.losses)?;
        }
        Ok(())
    }

    pub(super) fn expire(&mut self) -> rusqlite::Result<u64> {
        let lost: Vec<(String, String, i64, u32, u32)> = self
            .transaction
            .prepare_cached(
                "UPDATE sessions SET losses = losses + 1, lost_alone = lost_alone + alone,
                     expires_ms = NULL, state = 'queued'
                 WHERE state = 'leased' AND expires_ms <= ?1
                 RETURNING id, experiment, rank, losses, lost_alone",
            )?
            .query_map([self.now_ms], |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                ))
            })?
            .collect::<rusqlite::Result<_>>()?;
        for (session, experiment, rank, losses, lost_alone) in &lost {
            if *lost_alone < MOST_LOSSES_ALONE {
                self.wait_again(experiment, *rank, session, *losses)?;
                continue;
            }
            let reason = format!(
                "{lost_alone} workers were lost while they played this session and nothing else"
            );
            self.transaction.execute(
                "UPDATE sessions SET state = 'dead', reason = ?2 WHERE id = ?1",
                params![session, reason],
            )?;
            self.stop_behind(session)?;
        }
        self.queued |= !lost.is_empty();
        Ok(lost.len() as u64)
    }

    pub(super) fn reclaim(&mut self) -> rusqlite::Result<u64> {
        let held: Vec<(String, String, i64, u32)> = self
            .transaction
            .prepare_cached(
                "UPDATE sessions SET state = 'queued', worker = NULL, expires_ms = NULL
                 WHERE state = 'leased' RETURNING id, experiment, rank, losses",
            )?
            .query_map([], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
        for (session, experiment, rank, losses) in &held {
            self.wait_again(experiment, *rank, session, *losses)?;
        }
        Ok(held.len() as u64)
    }

    /// Queues a session of which so many leases were lost.
    pub(super) fn wait_again(
        &mut self,
        experiment: &str,
        rank: i64,
        session: &str,
        losses: u32,
    ) -> rusqlite::Result<()> {
        if losses > 0 {
            self.turns.add_suspect(experiment, rank, session);
        } else {
            let team = self.team_of(experiment)?.unwrap_or_default();
            self.turns.add(&team, experiment, rank, session);
        }
        self.queued = true;
        Ok(())
    }

    fn held(&self, session: &str) -> rusqlite::Result<Option<Held>> {
        self.transaction
            .prepare_cached(
                "SELECT experiment, state, rank, fence, worker, crashes, losses, lease_number
                 FROM sessions WHERE id = ?1",
            )?
            .query_row([session], |row| {
                Ok(Held {
                    experiment: row.get(0)?,
                    state: row.get(1)?,
                    rank: row.get(2)?,
                    fence: row.get(3)?,
                    worker: row.get(4)?,
                    crashes: row.get(5)?,
                    losses: row.get(6)?,
                    lease_number: row.get(7)?,
                })
            })
            .optional()
    }
}

/// A fence as SQLite holds it: its numbers are signed, the bits are the same.
fn stored(fence: u64) -> i64 {
    fence.cast_signed()
}
