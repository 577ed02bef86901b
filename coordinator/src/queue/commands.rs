//! Commands about whole experiments: submitted, paused, cancelled, tried again, resumed, removed. Each is
//! checked first and then recorded.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_proto::v1::journal_entry::Change;
use agon_proto::v1::{
    ExperimentCancelled, ExperimentDeleted, ExperimentPaused, ExperimentResumed,
    ExperimentSubmitted, SessionsRetried,
};

use super::Queue;
use super::experiment::Experiment;
use super::messages::Refusal;
use super::sessions::State;

impl Queue {
    /// Takes in an experiment; its number is set here. `accept_new` lets finished sessions of other
    /// versions be left behind. With `pause` it pauses by hand for this reason before anything of it is
    /// granted, unless all of it is finished or somebody has paused it: that reason stays.
    ///
    /// # Errors
    /// It is another team's, or other versions would leave finished sessions behind.
    pub fn submit(
        &mut self,
        mut submitted: ExperimentSubmitted,
        accept_new: bool,
        pause: Option<&str>,
        now: Duration,
    ) -> Result<u32, Refusal> {
        match self.names.get(&submitted.name) {
            Some(key) => {
                let before = &self.experiments[key];
                check_resubmission(before, &submitted, accept_new)?;
                submitted.experiment = *key;
            }
            None => submitted.experiment = self.last_experiment + 1,
        }
        let key = submitted.experiment;
        self.record(Change::Submitted(submitted));
        let experiment = &self.experiments[&key];
        let is_free = !experiment.is_finished() && !experiment.paused_by_hand;
        if let Some(reason) = pause.filter(|_| is_free) {
            self.record_pause(key, reason);
        }
        self.grant(now);
        Ok(key)
    }

    /// Begins nothing more of an experiment until it is resumed, for this reason.
    ///
    /// # Errors
    /// There is no such experiment, or nothing of it is left to play.
    pub fn pause_by_hand(&mut self, name: &str, reason: &str) -> Result<(), Refusal> {
        let key = self.key(name)?;
        let experiment = &self.experiments[&key];
        if experiment.is_over() || experiment.cancelled {
            return Err(Refusal::NothingLeft(name.to_owned()));
        }
        self.record_pause(key, reason);
        Ok(())
    }

    fn record_pause(&mut self, experiment: u32, reason: &str) {
        self.record(Change::Paused(ExperimentPaused {
            experiment,
            reason: reason.to_owned(),
            by_hand: true,
        }));
    }

    /// Cancels what has not ended; again, it changes nothing.
    ///
    /// # Errors
    /// There is no such experiment, or nothing of it is left to play.
    pub fn cancel(&mut self, name: &str, now: Duration) -> Result<(), Refusal> {
        let key = self.key(name)?;
        let experiment = &self.experiments[&key];
        // What stopped in a series can still be cancelled.
        let has_stopped = experiment.sessions.count(State::Stopped) > 0;
        if experiment.is_over() && !has_stopped && !experiment.cancelled {
            return Err(Refusal::NothingLeft(name.to_owned()));
        }
        self.record(Change::Cancelled(ExperimentCancelled { experiment: key }));
        // A worker may have held a suspect of it.
        self.grant(now);
        Ok(())
    }

    /// Tries sessions that were set aside again: those at these positions, or all. Says how many.
    ///
    /// # Errors
    /// There is no such experiment, or it was cancelled: what has no end would stay without one.
    pub fn retry(
        &mut self,
        name: &str,
        positions: Option<&[u32]>,
        now: Duration,
    ) -> Result<u32, Refusal> {
        let key = self.key(name)?;
        let experiment = &self.experiments[&key];
        if experiment.cancelled {
            return Err(Refusal::Cancelled(name.to_owned()));
        }
        let aside = experiment.sessions.set_aside();
        let wanted = |position: &u32| positions.is_none_or(|named| named.contains(position));
        let retried: Vec<u32> = aside
            .map(|(position, ..)| position)
            .filter(wanted)
            .collect();
        let count = retried.len() as u32;
        if count > 0 {
            self.record(Change::Retried(SessionsRetried {
                experiment: key,
                positions: retried,
            }));
            self.grant(now);
        }
        Ok(count)
    }

    /// Ends the pause of an experiment, with another budget if one is given; `only_for` a reason, a
    /// pause by hand for that reason alone.
    ///
    /// # Errors
    /// There is no such experiment, it is not paused for that reason, or it was cancelled.
    pub fn resume(
        &mut self,
        name: &str,
        budget: Option<u64>,
        only_for: Option<&str>,
        now: Duration,
    ) -> Result<(), Refusal> {
        let key = self.key(name)?;
        let experiment = &self.experiments[&key];
        let is_meant = |reason| experiment.paused_by_hand && experiment.paused == reason;
        if let Some(reason) = only_for.filter(|reason| !is_meant(*reason)) {
            return Err(Refusal::NotPausedFor {
                experiment: name.to_owned(),
                reason: reason.to_owned(),
            });
        }
        if experiment.cancelled {
            return Err(Refusal::Cancelled(name.to_owned()));
        }
        self.record(Change::Resumed(ExperimentResumed {
            experiment: key,
            budget_nanodollars: budget,
        }));
        self.grant(now);
        Ok(())
    }

    /// Removes an experiment.
    ///
    /// # Errors
    /// There is no such experiment, or something of it is still to be played.
    pub fn delete(&mut self, name: &str) -> Result<u32, Refusal> {
        let key = self.key(name)?;
        let experiment = &self.experiments[&key];
        if !experiment.is_over() && !experiment.cancelled {
            return Err(Refusal::NotOver(name.to_owned()));
        }
        self.record(Change::Deleted(ExperimentDeleted { experiment: key }));
        Ok(key)
    }

    /// This program cannot play an experiment, because it would make other sessions of it; or it
    /// can (empty).
    pub fn set_outdated(&mut self, key: u32, why: String, now: Duration) {
        if let Some(experiment) = self.experiments.get_mut(&key) {
            experiment.outdated = why;
            experiment.version += 1;
            self.refresh(key);
            self.grant(now);
        }
    }
}

fn check_resubmission(
    before: &Experiment,
    submitted: &ExperimentSubmitted,
    accept_new: bool,
) -> Result<(), Refusal> {
    let team = &before.submitted.team;
    if *team != submitted.team {
        return Err(Refusal::OtherTeam {
            experiment: submitted.name.clone(),
            team: team.clone(),
        });
    }
    let what = differences(&before.submitted, submitted);
    if accept_new || what.is_empty() {
        return Ok(());
    }
    match before.would_keep(submitted) {
        (_, 0) => Ok(()),
        (staying, leaving) => Err(Refusal::OtherVersions {
            experiment: submitted.name.clone(),
            leaving,
            staying,
            what,
        }),
    }
}

/// Versions that two submissions both name and that differ, in words.
fn differences(before: &ExperimentSubmitted, now: &ExperimentSubmitted) -> String {
    let old = before
        .requirements
        .iter()
        .map(|one| (&*one.name, &*one.version));
    let old: BTreeMap<&str, &str> = old.collect();
    let differ = now.requirements.iter().filter_map(|one| {
        let was = old.get(&*one.name).filter(|was| **was != one.version)?;
        Some(format!("{} {was}, now {}", one.name, one.version))
    });
    differ.collect::<Vec<_>>().join("; ")
}
