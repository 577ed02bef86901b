//! Storing an experiment in Redis, in steps that are short enough not to hold up others. Until the
//! last one the experiment is marked as incomplete, so that nobody takes it for finished when the
//! coordinator dies half-way; whoever submits it again completes it. Called by `RedisStore`.

use std::collections::BTreeSet;

use super::{CHUNK, RedisStore, budget_argument};
use crate::store::{NewExperiment, StoreError, StoreResult, Submitted};

impl RedisStore {
    pub(super) async fn submit_in_steps(
        &self,
        experiment: &NewExperiment,
    ) -> StoreResult<Submitted> {
        let submission = self.begin(experiment).await?;
        self.drop_missing(experiment, submission).await?;
        let sessions = &experiment.sessions;
        // An experiment without sessions has one step, too: the last one.
        let last = sessions.len().div_ceil(CHUNK).max(1) - 1;
        let mut already_done = 0;
        for number in 0..=last {
            let mut place = self.scripts.place.prepare_invoke();
            place
                .arg(&experiment.id)
                .arg(&experiment.team)
                .arg(submission)
                .arg(u8::from(number == last));
            let chunk = sessions.iter().enumerate().skip(number * CHUNK).take(CHUNK);
            for (position, session) in chunk {
                let follows = session.follows.as_deref().unwrap_or_default();
                place.arg(position).arg(&session.id).arg(&session.spec);
                place.arg(follows);
            }
            let done = self.run("queue sessions", &mut place).await?;
            already_done += unless_overtaken(experiment, done)?;
        }
        Ok(Submitted {
            sessions: sessions.len() as u64,
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
            .arg(experiment.sessions.len())
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
        let sessions = experiment.sessions.iter();
        let now: BTreeSet<&String> = sessions.map(|session| &session.id).collect();
        let gone: Vec<&String> = before
            .iter()
            .filter(|session| !now.contains(session))
            .collect();
        for chunk in gone.chunks(CHUNK) {
            let mut call = self.scripts.drop.prepare_invoke();
            call.arg(&experiment.id).arg(submission).arg(chunk);
            unless_overtaken(experiment, self.run("remove sessions", &mut call).await?)?;
        }
        Ok(())
    }
}

/// What a step answered, unless it found that it had been overtaken.
fn unless_overtaken(experiment: &NewExperiment, answer: i64) -> StoreResult<u64> {
    u64::try_from(answer).map_err(|_| StoreError::Overtaken {
        experiment: experiment.id.clone(),
    })
}
