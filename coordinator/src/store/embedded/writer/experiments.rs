//! Changes to whole experiments: handed in, cancelled, tried again, paused and resumed; also which
//! workers are there.
//! An experiment of another team is refused. Called by the writer inside its transaction.

use std::collections::HashSet;
use std::time::Duration;

use rusqlite::{OptionalExtension as _, params};

use super::Batch;
use crate::store::{NewExperiment, NewSession, StoreError, StoreResult, Submitted, Terms};

/// What an experiment that is handed in again had before.
#[derive(Default)]
struct Before {
    priority: i32,
    budget: Option<i64>,
    file_budget: Option<i64>,
}

impl Batch<'_> {
    pub(super) fn submit(
        &mut self,
        experiment: &NewExperiment,
    ) -> rusqlite::Result<StoreResult<Submitted>> {
        let NewExperiment {
            id,
            team,
            document,
            traceparent,
            terms,
            bundle,
            sessions,
        } = experiment;
        if let Some(owner) = self.team_of(id)?
            && owner != *team
        {
            let error = StoreError::OtherTeam {
                experiment: id.clone(),
                team: owner,
            };
            return Ok(Err(error));
        }
        self.transaction.execute(
            "INSERT INTO experiments (id, team, document, traceparent) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (id) DO UPDATE SET document = ?3, traceparent = ?4, cancelled = 0",
            params![id, team, document, traceparent],
        )?;
        self.set_terms(id, team, terms)?;
        if let Some((digest, templates)) = bundle {
            // A map of strings always serialises.
            let templates = serde_json::to_string(templates).unwrap_or_default();
            self.transaction.execute(
                "INSERT INTO bundles (digest, templates) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                params![digest, templates],
            )?;
        }
        self.transaction.execute(
            "UPDATE sessions SET position = NULL WHERE experiment = ?1",
            [id],
        )?;
        let mut already_done = 0;
        for (position, session) in sessions.iter().enumerate() {
            let state = self.place(experiment, position, &session)?;
            already_done += u64::from(state.as_deref() == Some("done"));
        }
        self.drop_unplaced(id)?;
        Ok(Ok(Submitted {
            sessions: sessions.count(),
            already_done,
        }))
    }

    /// A budget that changed in the file counts from now on; a higher one resumes, and leases that
    /// were given under the lower one cannot pause it again.
    fn set_terms(&mut self, id: &str, team: &str, terms: &Terms) -> rusqlite::Result<()> {
        let before = self
            .transaction
            .prepare_cached("SELECT priority, budget, file_budget FROM experiments WHERE id = ?1")?
            .query_row([id], |row| {
                Ok(Before {
                    priority: row.get(0)?,
                    budget: row.get(1)?,
                    file_budget: row.get(2)?,
                })
            })?;
        let budget = terms.budget.map(signed);
        let changed = before.file_budget != budget;
        self.transaction
            .prepare_cached(
                "UPDATE experiments SET priority = ?2, content_cache = ?3, file_budget = ?4,
                     budget = ?5 WHERE id = ?1",
            )?
            .execute(params![
                id,
                terms.priority,
                terms.content_cache,
                budget,
                if changed { budget } else { before.budget }
            ])?;
        if before.priority != terms.priority {
            self.turns.set_priority(team, id, terms.priority);
        }
        let higher = match (before.budget, budget) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(before), Some(now)) => now > before,
        };
        if changed && higher {
            self.end_pause(id, team)?;
        }
        Ok(())
    }

    pub(super) fn resume(
        &mut self,
        experiment: &str,
        budget: Option<u64>,
    ) -> rusqlite::Result<bool> {
        let Some(team) = self.team_of(experiment)? else {
            return Ok(false);
        };
        if let Some(budget) = budget {
            self.transaction.execute(
                "UPDATE experiments SET budget = ?2 WHERE id = ?1",
                params![experiment, signed(budget)],
            )?;
        }
        self.end_pause(experiment, &team)?;
        Ok(true)
    }

    fn end_pause(&mut self, experiment: &str, team: &str) -> rusqlite::Result<()> {
        self.transaction.execute(
            "UPDATE experiments SET paused = '', resumed_fence = ?2 WHERE id = ?1",
            params![experiment, self.counters.fence],
        )?;
        self.turns.resume(team, experiment);
        self.queued = true;
        Ok(())
    }

    /// Nothing of the experiment is leased from now on, because a session met with a spent budget
    /// under the lease of this number. The first reason stays.
    pub(super) fn pause(
        &mut self,
        experiment: &str,
        lease_number: i64,
        reason: &str,
    ) -> rusqlite::Result<()> {
        let reason = if reason.is_empty() {
            "a budget is spent"
        } else {
            reason
        };
        let paused = self
            .transaction
            .prepare_cached(
                "UPDATE experiments SET paused = ?3
                 WHERE id = ?1 AND paused = '' AND resumed_fence < ?2",
            )?
            .execute(params![experiment, lease_number, reason])?;
        if paused > 0 {
            tracing::info!(experiment_id = experiment, reason, "an experiment pauses");
            let team = self.team_of(experiment)?.unwrap_or_default();
            self.turns.pause(&team, experiment);
        }
        Ok(())
    }

    /// Gives a session its place in the experiment and queues it if it must be played. Answers
    /// the state that it was in.
    fn place(
        &mut self,
        experiment: &NewExperiment,
        position: usize,
        session: &NewSession,
    ) -> rusqlite::Result<Option<String>> {
        let NewSession {
            id: session,
            spec,
            follows,
        } = session;
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        let state: Option<String> = self
            .transaction
            .prepare_cached("SELECT state FROM sessions WHERE id = ?1")?
            .query_row([session], |row| row.get(0))
            .optional()?;
        match state.as_deref() {
            Some("cancelled") | None => {
                let rank = self.next_rank();
                let begins = self.beginning(follows.as_deref())?;
                self.transaction
                    .prepare_cached(
                        "INSERT INTO sessions (id, experiment, position, state, rank, follows)
                         VALUES (?1, ?2, ?3, ?5, ?4, ?6)
                         ON CONFLICT (id) DO UPDATE SET position = ?3, state = ?5, rank = ?4,
                             follows = ?6, crashes = 0, losses = 0, lost_alone = 0,
                             reason = '', worker = NULL",
                    )?
                    .execute(params![
                        session,
                        experiment.id,
                        position,
                        rank,
                        begins,
                        follows
                    ])?;
                self.transaction
                    .prepare_cached(
                        "INSERT INTO specs (session, spec) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                    )?
                    .execute([session, spec])?;
                if begins == "queued" {
                    self.turns
                        .add(&experiment.team, &experiment.id, rank, session);
                    self.queued = true;
                }
            }
            Some(_) => {
                self.transaction
                    .prepare_cached("UPDATE sessions SET position = ?2 WHERE id = ?1")?
                    .execute(params![session, position])?;
            }
        }
        Ok(state)
    }

    /// Sessions that have no place any more go, unless they are done.
    fn drop_unplaced(&mut self, experiment: &str) -> rusqlite::Result<()> {
        let unplaced: Vec<(String, i64)> = self
            .transaction
            .prepare_cached(
                "DELETE FROM sessions WHERE experiment = ?1 AND position IS NULL
                 AND state <> 'done' RETURNING id, rank",
            )?
            .query_map([experiment], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (session, rank) in unplaced {
            self.turns.remove(experiment, rank, &session);
            self.transaction
                .prepare_cached("DELETE FROM specs WHERE session = ?1")?
                .execute([&session])?;
            self.transaction
                .prepare_cached("DELETE FROM lost_leases WHERE session = ?1")?
                .execute([&session])?;
        }
        Ok(())
    }

    pub(super) fn cancel(&mut self, experiment: &str) -> rusqlite::Result<bool> {
        let Some(team) = self.team_of(experiment)? else {
            return Ok(false);
        };
        self.transaction.execute(
            "UPDATE experiments SET cancelled = 1 WHERE id = ?1",
            [experiment],
        )?;
        self.end_pause(experiment, &team)?;
        let cancelled: Vec<(String, i64)> = self
            .transaction
            .prepare_cached(
                "UPDATE sessions SET state = 'cancelled', worker = NULL, expires_ms = NULL
                 WHERE experiment = ?1 AND state IN ('queued', 'leased', 'waiting', 'stopped')
                 RETURNING id, rank",
            )?
            .query_map([experiment], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        for (session, rank) in cancelled {
            self.turns.remove(experiment, rank, &session);
        }
        // A worker may have held a suspect of it.
        self.queued = true;
        Ok(true)
    }

    pub(super) fn retry(
        &mut self,
        experiment: &str,
        named: &[String],
    ) -> rusqlite::Result<Option<u64>> {
        let Some(team) = self.team_of(experiment)? else {
            return Ok(None);
        };
        let aside: Vec<String> = self
            .transaction
            .prepare_cached(
                "SELECT id FROM sessions WHERE experiment = ?1 AND state IN ('parked', 'dead')
                 AND position IS NOT NULL ORDER BY position",
            )?
            .query_map([experiment], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let (all, named) = (named.is_empty(), named.iter().collect::<HashSet<_>>());
        let wanted: Vec<String> = aside
            .into_iter()
            .filter(|id| all || named.contains(id))
            .collect();
        for session in &wanted {
            let rank = self.next_rank();
            self.transaction
                .prepare_cached(
                    "UPDATE sessions SET state = 'queued', rank = ?2, crashes = 0, losses = 0,
                         lost_alone = 0, reason = '', worker = NULL WHERE id = ?1",
                )?
                .execute(params![session, rank])?;
            self.turns.add(&team, experiment, rank, session);
            self.wait_behind(session)?;
        }
        if !wanted.is_empty() {
            self.queued = true;
            self.transaction.execute(
                "UPDATE experiments SET cancelled = 0 WHERE id = ?1",
                [experiment],
            )?;
        }
        Ok(Some(wanted.len() as u64))
    }

    pub(super) fn greet(&mut self, worker: &str, ttl: Duration) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached(
                "INSERT INTO workers (id, gone_ms) VALUES (?1, ?2)
                 ON CONFLICT (id) DO UPDATE SET gone_ms = ?2",
            )?
            .execute(params![worker, self.until(ttl)])?;
        self.transaction
            .prepare_cached("DELETE FROM workers WHERE gone_ms <= ?1")?
            .execute([self.now_ms])?;
        Ok(())
    }

    pub(super) fn team_of(&self, experiment: &str) -> rusqlite::Result<Option<String>> {
        self.transaction
            .prepare_cached("SELECT team FROM experiments WHERE id = ?1")?
            .query_row([experiment], |row| row.get(0))
            .optional()
    }
}

/// SQLite's numbers are signed; no budget is as large as half of the unsigned ones.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
