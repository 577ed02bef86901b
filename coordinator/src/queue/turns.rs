//! Whose turn it is: teams take turns, in a team its experiments of the highest priority. Knows names
//! and priorities only; what an experiment has to offer, the caller knows. Called by the queue.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Who is served next.
#[derive(Debug, Default)]
pub struct Turns {
    teams: Rota<String>,
    experiments: BTreeMap<String, Rota<u32>>,
}

/// Members that take turns: of those of the highest priority, who was served longest ago is next.
#[derive(Debug)]
struct Rota<T> {
    served: u64,
    order: BTreeSet<(Reverse<i32>, u64, T)>,
    places: BTreeMap<T, (Reverse<i32>, u64)>,
}

impl<T> Default for Rota<T> {
    fn default() -> Self {
        Self {
            served: 0,
            order: BTreeSet::new(),
            places: BTreeMap::new(),
        }
    }
}

impl Turns {
    /// An experiment has something to offer; one that had already stays where it is unless its
    /// priority changed.
    pub fn enter(&mut self, team: &str, experiment: u32, priority: i32) {
        let experiments = self.experiments.entry(team.to_owned()).or_default();
        experiments.enter(experiment, priority);
        self.teams.enter(team.to_owned(), 0);
    }

    /// It has nothing to offer any more.
    pub fn leave(&mut self, team: &str, experiment: u32) {
        let Some(experiments) = self.experiments.get_mut(team) else {
            return;
        };
        experiments.leave(&experiment);
        if experiments.order.is_empty() {
            self.teams.leave(&team.to_owned());
        }
    }

    /// The experiment whose turn it is among those that can be `served`; its next turn comes after
    /// everybody else's.
    pub fn next(&mut self, served: impl Fn(u32) -> bool) -> Option<u32> {
        let (team, experiment) = self.teams.order.iter().find_map(|(_, _, team)| {
            let experiments = self.experiments.get(team)?;
            let found = experiments.order.iter().find(|(_, _, one)| served(*one))?;
            Some((team.clone(), found.2))
        })?;
        self.teams.serve(&team);
        if let Some(experiments) = self.experiments.get_mut(&team) {
            experiments.serve(&experiment);
        }
        Some(experiment)
    }
}

impl<T: Ord + Clone> Rota<T> {
    fn enter(&mut self, member: T, priority: i32) {
        let place = match self.places.get(&member) {
            Some((Reverse(same), _)) if *same == priority => return,
            Some((_, served)) => (Reverse(priority), *served),
            None => (Reverse(priority), self.served),
        };
        self.put(member, place);
    }

    fn leave(&mut self, member: &T) {
        if let Some((priority, served)) = self.places.remove(member) {
            self.order.remove(&(priority, served, member.clone()));
        }
    }

    fn serve(&mut self, member: &T) {
        let Some((priority, _)) = self.places.get(member) else {
            return;
        };
        let priority = *priority;
        self.served += 1;
        self.put(member.clone(), (priority, self.served));
    }

    fn put(&mut self, member: T, place: (Reverse<i32>, u64)) {
        self.leave(&member);
        self.places.insert(member.clone(), place);
        self.order.insert((place.0, place.1, member));
    }
}
