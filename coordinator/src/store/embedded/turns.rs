//! Whose turn it is: the embedded store's queues, in memory.
//!
//! They hold nothing that the file does not: they are read from it at start and after a failed
//! commit. Teams take turns, in a team its experiments of the highest priority, in an experiment
//! sessions by rank. Experiments that pause keep their queue and get no turn. Suspects wait apart,
//! by rank alone, for workers that are idle.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The queues.
#[derive(Debug, Default)]
pub struct Turns {
    teams: Rota,
    experiments: BTreeMap<String, Rota>,
    queues: BTreeMap<String, BTreeSet<(i64, String)>>,
    /// Where it is not 0.
    priorities: BTreeMap<String, i32>,
    paused: BTreeSet<String>,
    suspects: BTreeMap<String, BTreeSet<(i64, String)>>,
    /// The worker that gets nothing until it is idle, and until when nobody else takes its place.
    emptied: Option<(String, i64)>,
}

/// Names that take turns: of those of the highest priority, who was served longest ago is next;
/// newcomers go by their name.
#[derive(Debug, Default)]
struct Rota {
    served: u64,
    waiting: BTreeSet<(Place, String)>,
    last: BTreeMap<String, Place>,
}

/// Priority, and when it was served last.
type Place = (Reverse<i32>, u64);

impl Turns {
    /// Adds a session.
    pub fn add(&mut self, team: &str, experiment: &str, rank: i64, session: &str) {
        let queue = self.queues.entry(experiment.to_owned()).or_default();
        queue.insert((rank, session.to_owned()));
        if !self.paused.contains(experiment) {
            self.enter(team, experiment);
        }
    }

    /// Adds a session with which a worker was lost.
    pub fn add_suspect(&mut self, experiment: &str, rank: i64, session: &str) {
        let suspects = self.suspects.entry(experiment.to_owned()).or_default();
        suspects.insert((rank, session.to_owned()));
    }

    /// Takes a session out of the middle of its queue.
    pub fn remove(&mut self, experiment: &str, rank: i64, session: &str) {
        let waiting = (rank, session.to_owned());
        if let Some(queue) = self.queues.get_mut(experiment) {
            queue.remove(&waiting);
        }
        if let Some(suspects) = self.suspects.get_mut(experiment) {
            suspects.remove(&waiting);
            if suspects.is_empty() {
                self.suspects.remove(experiment);
            }
        }
    }

    /// Whether a suspect may be leased.
    pub fn has_suspects(&self) -> bool {
        self.first_suspect().is_some()
    }

    /// Takes a suspect for a worker that is idle.
    pub fn next_suspect(&mut self) -> Option<String> {
        let (experiment, (rank, session)) = self.first_suspect()?;
        self.remove(&experiment, rank, &session);
        Some(session)
    }

    /// Whether this worker is the one that is to become idle because suspects wait; no other takes
    /// its place until a time.
    pub fn is_emptied(&mut self, worker: &str, now_ms: i64, until_ms: i64) -> bool {
        match &self.emptied {
            Some((other, until)) if other != worker && *until > now_ms => false,
            _ => {
                self.emptied = Some((worker.to_owned(), until_ms));
                true
            }
        }
    }

    fn first_suspect(&self) -> Option<(String, (i64, String))> {
        let mut waiting = self.suspects.iter();
        let (experiment, suspects) = waiting.find(|(name, _)| !self.paused.contains(*name))?;
        Some((experiment.clone(), suspects.first()?.clone()))
    }

    /// Sets an experiment's priority.
    pub fn set_priority(&mut self, team: &str, experiment: &str, priority: i32) {
        self.priorities.insert(experiment.to_owned(), priority);
        self.leave(team, experiment);
        if self.queues.contains_key(experiment) && !self.paused.contains(experiment) {
            self.enter(team, experiment);
        }
    }

    /// Gives an experiment no more turns.
    pub fn pause(&mut self, team: &str, experiment: &str) {
        self.paused.insert(experiment.to_owned());
        self.leave(team, experiment);
    }

    /// Gives it turns again.
    pub fn resume(&mut self, team: &str, experiment: &str) {
        if self.paused.remove(experiment) && self.queues.contains_key(experiment) {
            self.enter(team, experiment);
        }
    }

    /// Takes the session whose turn it is.
    pub fn next(&mut self) -> Option<String> {
        while let Some(team) = self.teams.next() {
            let experiments = self.experiments.entry(team.clone()).or_default();
            while let Some(experiment) = experiments.next() {
                let queue = self.queues.entry(experiment.clone()).or_default();
                if let Some((_, session)) = queue.pop_first() {
                    return Some(session);
                }
                experiments.leave(&experiment);
                self.queues.remove(&experiment);
            }
            self.teams.leave(&team);
        }
        None
    }

    fn enter(&mut self, team: &str, experiment: &str) {
        let priority = self.priorities.get(experiment).copied().unwrap_or_default();
        let experiments = self.experiments.entry(team.to_owned()).or_default();
        experiments.enter(experiment, priority);
        self.teams.enter(team, 0);
    }

    fn leave(&mut self, team: &str, experiment: &str) {
        if let Some(experiments) = self.experiments.get_mut(team) {
            experiments.leave(experiment);
        }
    }
}

impl Rota {
    fn enter(&mut self, name: &str, priority: i32) {
        if !self.last.contains_key(name) {
            self.put((Reverse(priority), self.served), name);
        }
    }

    fn leave(&mut self, name: &str) {
        if let Some(last) = self.last.remove(name) {
            self.waiting.remove(&(last, name.to_owned()));
        }
    }

    /// Whose turn it is; puts it at the end of its priority.
    fn next(&mut self) -> Option<String> {
        let ((priority, _), name) = self.waiting.pop_first()?;
        self.served += 1;
        self.put((priority, self.served), &name);
        Some(name)
    }

    fn put(&mut self, place: Place, name: &str) {
        self.last.insert(name.to_owned(), place);
        self.waiting.insert((place, name.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teams_take_turns_then_experiments_then_rank() {
        let mut turns = Turns::default();
        for (rank, session) in ["a1", "a2", "a3"].iter().enumerate() {
            turns.add("red", "a", rank as i64, session);
        }
        turns.add("red", "b", 7, "b1");
        turns.add("blue", "c", 2, "c2");
        turns.add("blue", "c", 1, "c1");
        let order: Vec<String> = std::iter::from_fn(|| turns.next()).collect();
        assert_eq!(order, ["c1", "a1", "c2", "b1", "a2", "a3"]);
        turns.add("red", "a", 9, "a9");
        turns.remove("a", 9, "a9");
        assert_eq!(turns.next(), None);
    }

    #[test]
    fn higher_priority_goes_first_within_its_team_and_who_pauses_gets_no_turn() {
        let mut turns = Turns::default();
        turns.set_priority("red", "urgent", 5);
        for rank in 0..3 {
            turns.add("red", "usual", rank, &format!("u{rank}"));
            turns.add("blue", "other", rank, &format!("b{rank}"));
            turns.add("red", "urgent", rank, &format!("x{rank}"));
        }
        let take = |turns: &mut Turns, most| -> Vec<String> {
            std::iter::from_fn(|| turns.next()).take(most).collect()
        };
        assert_eq!(take(&mut turns, 4), ["b0", "x0", "b1", "x1"]);
        turns.pause("red", "urgent");
        turns.add("red", "urgent", 9, "x9");
        assert_eq!(take(&mut turns, 9), ["b2", "u0", "u1", "u2"]);
        turns.resume("red", "urgent");
        turns.set_priority("red", "urgent", 0);
        assert_eq!(take(&mut turns, 9), ["x2", "x9"]);
    }
}
