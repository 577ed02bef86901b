//! Storing an experiment in Redis, in steps that are short enough not to hold up others. Until the
//! last one the experiment is marked as incomplete, so that nobody takes it for finished when the
//! coordinator dies half-way; whoever submits it again completes it. Called by `RedisStore`.

use std::collections::BTreeSet;
use std::iter::{Enumerate, Peekable};

use super::{CHUNK, RedisStore, budget_argument};
use crate::store::{MakeSessions, NewExperiment, NewSession, StoreError, StoreResult, Submitted};

/// Bytes of specs after which no further session is stored by the same call: Redis takes them in
/// within some ten milliseconds.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

impl RedisStore {
    pub(super) async fn submit_in_steps(
        &self,
        experiment: &NewExperiment,
    ) -> StoreResult<Submitted> {
        let submission = self.begin(experiment).await?;
        self.drop_missing(experiment, submission).await?;
        let mut sessions = experiment.sessions.iter().enumerate().peekable();
        let mut already_done = 0;
        // An experiment without sessions has one step, too: the last one.
        loop {
            let (chunk, rest) = next_chunk(sessions).await?;
            sessions = rest;
            let is_last = sessions.peek().is_none();
            let mut place = self.scripts.place.prepare_invoke();
            place
                .arg(&experiment.id)
                .arg(&experiment.team)
                .arg(submission)
                .arg(u8::from(is_last));
            for (position, session) in &chunk {
                let follows = session.follows.as_deref().unwrap_or_default();
                place.arg(position).arg(&session.id).arg(&session.spec);
                place.arg(follows);
            }
            let done = self.run("queue sessions", &mut place).await?;
            already_done += unless_overtaken(experiment, done)?;
            if is_last {
                break;
            }
        }
        Ok(Submitted {
            sessions: experiment.sessions.count(),
            already_done,
        })
    }

    /// Stores what the sessions belong to; answers the number of this submission.
    async fn begin(&self, experiment: &NewExperiment) -> StoreResult<u64> {
        let (digest, templates) = experiment.bundle.clone().unwrap_or_default();
        // A map of strings always serialises.
        let templates = serde_json::to_string(&templates).unwrap_or_default();
        let mut begin = self.scripts.begin.prepare_invoke();
        begin
            .arg(&experiment.id)
            .arg(&experiment.team)
            .arg(experiment.document.as_slice())
            .arg(&experiment.traceparent)
            .arg(digest)
            .arg(templates)
            .arg(experiment.sessions.count())
            .arg(experiment.terms.priority)
            .arg(budget_argument(experiment.terms.budget))
            .arg(u8::from(experiment.terms.content_cache));
        let (owner, submission): (String, u64) =
            self.run("store an experiment", &mut begin).await?;
        if !owner.is_empty() {
            return Err(StoreError::OtherTeam {
                experiment: experiment.id.clone(),
                team: owner,
            });
        }
        Ok(submission)
    }

    /// Takes sessions out that an earlier submission had and this one has not.
    async fn drop_missing(&self, experiment: &NewExperiment, submission: u64) -> StoreResult<()> {
        let before = self.places(&experiment.id).await?;
        if before.is_empty() {
            return Ok(());
        }
        let sessions = experiment.sessions.clone();
        let ids = move || sessions.iter().map(|session| session.id).collect();
        let ids = tokio::task::spawn_blocking(ids).await;
        let now: BTreeSet<String> = ids.map_err(|_| StoreError::Stopped)?;
        let gone: Vec<&String> = before
            .iter()
            .filter(|session| !now.contains(*session))
            .collect();
        for chunk in gone.chunks(CHUNK) {
            let mut call = self.scripts.drop.prepare_invoke();
            call.arg(&experiment.id).arg(submission).arg(chunk);
            unless_overtaken(experiment, self.run("remove sessions", &mut call).await?)?;
        }
        Ok(())
    }
}

/// The sessions that are still to be stored, with their places.
type Rest = Peekable<Enumerate<MakeSessions>>;

/// As many sessions as one call of a script takes: so many, and no more bytes of specs than that,
/// but for one. Making them may take a while.
async fn next_chunk(mut rest: Rest) -> StoreResult<(Vec<(usize, NewSession)>, Rest)> {
    let made = tokio::task::spawn_blocking(move || {
        let (mut chunk, mut bytes) = (Vec::new(), 0);
        while chunk.len() < CHUNK && bytes < CHUNK_BYTES {
            let Some((place, session)) = rest.next() else {
                break;
            };
            bytes += session.spec.len();
            chunk.push((place, session));
        }
        // Whether any is left is known once the next is made.
        rest.peek();
        (chunk, rest)
    });
    made.await.map_err(|_| StoreError::Stopped)
}

/// What a step answered, unless it found that it had been overtaken.
fn unless_overtaken(experiment: &NewExperiment, answer: i64) -> StoreResult<u64> {
    u64::try_from(answer).map_err(|_| StoreError::Overtaken {
        experiment: experiment.id.clone(),
    })
}
