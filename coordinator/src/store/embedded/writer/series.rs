//! Sessions that follow each other: who waits for whom, and what becomes of those behind a session
//! that is done, set aside or tried again. A step each, in the transaction of what caused it, so
//! that no crash leaves a series half moved on. Called by the writer's other changes.

use rusqlite::{OptionalExtension as _, params};

use super::Batch;

/// A session behind another.
struct Behind {
    id: String,
    rank: i64,
    state: String,
}

impl Batch<'_> {
    /// In which state a session begins, given the one that it follows.
    pub(super) fn beginning(&self, follows: Option<&str>) -> rusqlite::Result<&'static str> {
        let Some(before) = follows else {
            return Ok("queued");
        };
        let state: Option<String> = self
            .transaction
            .prepare_cached("SELECT state FROM sessions WHERE id = ?1")?
            .query_row([before], |row| row.get(0))
            .optional()?;
        Ok(match state.as_deref() {
            Some("done") => "queued",
            Some("parked" | "dead" | "stopped") => "stopped",
            _ => "waiting",
        })
    }

    /// A session is done: the one that follows it is queued, and those behind that wait again if
    /// they were stopped.
    pub(super) fn go_on(&mut self, experiment: &str, session: &str) -> rusqlite::Result<()> {
        let Some(next) = self.behind(session)? else {
            return Ok(());
        };
        if next.state != "waiting" && next.state != "stopped" {
            return Ok(());
        }
        self.set_state(&next.id, "queued")?;
        // It was not leased yet, so no worker was lost with it.
        self.wait_again(experiment, next.rank, &next.id, 0)?;
        self.move_behind(&next.id, "stopped", "waiting")
    }

    /// A session was set aside: those behind it are not reached.
    pub(super) fn stop_behind(&mut self, session: &str) -> rusqlite::Result<()> {
        self.move_behind(session, "waiting", "stopped")
    }

    /// A session that was set aside is tried again: those behind it wait for it.
    pub(super) fn wait_behind(&mut self, session: &str) -> rusqlite::Result<()> {
        self.move_behind(session, "stopped", "waiting")
    }

    fn move_behind(&mut self, session: &str, from: &str, to: &str) -> rusqlite::Result<()> {
        let mut last = session.to_owned();
        while let Some(next) = self.behind(&last)?.filter(|next| next.state == from) {
            self.set_state(&next.id, to)?;
            last = next.id;
        }
        Ok(())
    }

    fn set_state(&self, session: &str, state: &str) -> rusqlite::Result<()> {
        self.transaction
            .prepare_cached("UPDATE sessions SET state = ?2 WHERE id = ?1")?
            .execute(params![session, state])?;
        Ok(())
    }

    /// The session that follows this one.
    fn behind(&self, session: &str) -> rusqlite::Result<Option<Behind>> {
        self.transaction
            .prepare_cached(
                "SELECT id, rank, state FROM sessions
                 WHERE follows = ?1 AND position IS NOT NULL",
            )?
            .query_row([session], |row| {
                Ok(Behind {
                    id: row.get(0)?,
                    rank: row.get(1)?,
                    state: row.get(2)?,
                })
            })
            .optional()
    }
}
