//! Whose turn it is: the embedded store's queues, in memory.
//!
//! They hold nothing that the file does not: they are read from it at start and after a failed
//! commit. Teams take turns, in a team its experiments, in an experiment sessions by rank.

use std::collections::{BTreeMap, BTreeSet};

/// The queues.
#[derive(Debug, Default)]
pub struct Turns {
    teams: Rota,
    experiments: BTreeMap<String, Rota>,
    queues: BTreeMap<String, BTreeSet<(i64, String)>>,
}

/// Names that take turns: who was served longest ago is next; newcomers go by their name.
#[derive(Debug, Default)]
struct Rota {
    served: u64,
    waiting: BTreeSet<(u64, String)>,
    last: BTreeMap<String, u64>,
}

impl Turns {
    /// Adds a session.
    pub fn add(&mut self, team: &str, experiment: &str, rank: i64, session: &str) {
        let queue = self.queues.entry(experiment.to_owned()).or_default();
        queue.insert((rank, session.to_owned()));
        self.experiments
            .entry(team.to_owned())
            .or_default()
            .enter(experiment);
        self.teams.enter(team);
    }

    /// Takes a session out of the middle of its queue.
    pub fn remove(&mut self, experiment: &str, rank: i64, session: &str) {
        if let Some(queue) = self.queues.get_mut(experiment) {
            queue.remove(&(rank, session.to_owned()));
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
}

impl Rota {
    fn enter(&mut self, name: &str) {
        if !self.last.contains_key(name) {
            self.last.insert(name.to_owned(), self.served);
            self.waiting.insert((self.served, name.to_owned()));
        }
    }

    fn leave(&mut self, name: &str) {
        if let Some(last) = self.last.remove(name) {
            self.waiting.remove(&(last, name.to_owned()));
        }
    }

    /// Whose turn it is; puts it at the end.
    fn next(&mut self) -> Option<String> {
        let (_, name) = self.waiting.pop_first()?;
        self.served += 1;
        self.last.insert(name.clone(), self.served);
        self.waiting.insert((self.served, name.clone()));
        Some(name)
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
}
