//! The waiting queue of one line in one replica: weighted fair between teams,
//! strict between the priorities of a team, fair between its experiments and
//! between their sessions, in order of arrival within a session. Work-conserving;
//! who was idle gathers no credit. Pure: no clock, no waiting. Called by
//! `admission/line.rs`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// Served tokens are counted in millionths, so that weights lose nothing.
const PARTS: f64 = 1_000_000.0;

/// Where a call waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Who pays.
    pub team: Arc<str>,
    /// The team's weight; larger than 0.
    pub weight: f64,
    /// Higher goes first within the team.
    pub priority: i32,
    /// The experiment.
    pub experiment: Arc<str>,
    /// The session.
    pub session: Arc<str>,
}

/// One waiting call.
#[derive(Debug)]
pub struct Entry<T> {
    /// Names it in this queue.
    pub ticket: u64,
    /// Where it waits.
    pub place: Place,
    /// What serving it takes of everybody's share, in tokens.
    pub cost: u64,
    /// The call.
    pub call: T,
}

/// All calls that wait.
#[derive(Debug)]
pub struct FairQueue<T> {
    teams: Level<TeamQueue<T>>,
    next_ticket: u64,
    waiting: usize,
}

#[derive(Debug)]
struct TeamQueue<T> {
    weight: f64,
    waiting: usize,
    priorities: BTreeMap<Reverse<i32>, Experiments<T>>,
}

type Experiments<T> = Level<Sessions<T>>;
/// Boxed: a queue makes room for four when the first comes, and most sessions have
/// one call that waits.
type Calls<T> = VecDeque<Box<Entry<T>>>;
type Sessions<T> = Level<Calls<T>>;

impl<T> Default for TeamQueue<T> {
    fn default() -> Self {
        Self {
            weight: 1.0,
            waiting: 0,
            priorities: BTreeMap::new(),
        }
    }
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self {
            teams: Level::default(),
            next_ticket: 0,
            waiting: 0,
        }
    }
}

impl<T> FairQueue<T> {
    /// Lets a call wait at its place; the ticket takes it out again.
    pub fn push(&mut self, place: Place, cost: u64, call: T) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        let calls = self.enter(&place, ticket);
        calls.push_back(Box::new(Entry {
            ticket,
            place,
            cost,
            call,
        }));
        ticket
    }

    /// Takes out the next calls in order, at most so many, as if they were
    /// served. Who is not served after all is put back.
    pub fn take(&mut self, most: usize) -> Vec<Entry<T>> {
        let mut taken = Vec::new();
        while taken.len() < most {
            let Some(place) = self.first_place() else {
                break;
            };
            let Some(entry) = self.session(&place).and_then(VecDeque::pop_front) else {
                break;
            };
            self.leave(&place, entry.cost);
            taken.push(*entry);
        }
        taken
    }

    /// Takes out the next call of each waiting team that has none among these, at
    /// most so many: order here is no reason to leave a team out whose turn it is
    /// over all replicas.
    pub fn take_of_other_teams(&mut self, taken: &mut Vec<Entry<T>>, most: usize) {
        let waiting = self.teams.waiting.iter();
        let waiting = waiting.map(|(_, _, name)| Arc::clone(name));
        let missing: Vec<Arc<str>> = waiting
            .filter(|name| taken.iter().all(|entry| entry.place.team != *name))
            .take(most)
            .collect();
        for team in missing {
            let Some(place) = self.first_place_of(team) else {
                continue;
            };
            let Some(entry) = self.session(&place).and_then(VecDeque::pop_front) else {
                continue;
            };
            self.leave(&place, entry.cost);
            taken.push(*entry);
        }
    }

    /// Puts calls back that were taken and not served; give them in the order
    /// in which they were taken.
    pub fn put_back(&mut self, entries: Vec<Entry<T>>) {
        for entry in entries.into_iter().rev() {
            let (place, cost) = (entry.place.clone(), entry.cost);
            self.enter(&place, entry.ticket).push_front(Box::new(entry));
            self.served(&place, -signed(cost));
        }
    }

    /// Takes one call out that does not want to wait any more.
    pub fn remove(&mut self, place: &Place, ticket: u64) -> Option<T> {
        let queue = self.session(place)?;
        let position = queue.iter().position(|entry| entry.ticket == ticket)?;
        let entry = queue.remove(position)?;
        self.leave(place, 0);
        Some(entry.call)
    }

    /// Corrects what was counted for a served call to what it really took.
    pub fn correct(&mut self, place: &Place, counted: u64, really: u64) {
        self.served(place, signed(really) - signed(counted));
    }

    /// Calls that wait.
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// Nobody waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Teams that wait, with weight and number of calls.
    pub fn teams(&self) -> impl Iterator<Item = (&Arc<str>, f64, usize)> {
        self.teams
            .waiting
            .iter()
            .filter_map(|(_, _, name)| Some((name, self.teams.children.get(name)?)))
            .map(|(name, child)| (name, child.content.weight, child.content.waiting))
    }

    /// Shows every waiting call, in no particular order.
    pub fn for_each(&self, mut show: impl FnMut(&Entry<T>)) {
        for team in self.teams.children.values() {
            for experiments in team.content.priorities.values() {
                for sessions in experiments.children.values() {
                    for calls in sessions.content.children.values() {
                        calls.content.iter().for_each(|call| show(call));
                    }
                }
            }
        }
    }

    /// Makes a place exist at every level and counts one more call there, of this ticket.
    fn enter(&mut self, place: &Place, ticket: u64) -> &mut Calls<T> {
        self.waiting += 1;
        let team = self.teams.enter(&place.team, place.weight, ticket);
        team.weight = place.weight;
        team.waiting += 1;
        let experiments = team.priorities.entry(Reverse(place.priority)).or_default();
        let sessions = experiments.enter(&place.experiment, 1.0, ticket);
        sessions.enter(&place.session, 1.0, ticket)
    }

    fn session(&mut self, place: &Place) -> Option<&mut Calls<T>> {
        let team = self.teams.content(&place.team)?;
        let experiments = team.priorities.get_mut(&Reverse(place.priority))?;
        experiments
            .content(&place.experiment)?
            .content(&place.session)
    }

    fn first_place(&mut self) -> Option<Place> {
        let team = self.teams.first()?;
        self.first_place_of(team)
    }

    fn first_place_of(&mut self, team: Arc<str>) -> Option<Place> {
        let queue = self.teams.content(&team)?;
        let weight = queue.weight;
        let (Reverse(priority), experiments) = queue.priorities.iter_mut().next()?;
        let priority = *priority;
        let experiment = experiments.first()?;
        let session = experiments.content(&experiment)?.first()?;
        Some(Place {
            team,
            weight,
            priority,
            experiment,
            session,
        })
    }

    /// One call has left a place, having been served so much.
    fn leave(&mut self, place: &Place, cost: u64) {
        self.waiting = self.waiting.saturating_sub(1);
        self.served(place, signed(cost));
        let Some(team) = self.teams.content(&place.team) else {
            return;
        };
        team.waiting = team.waiting.saturating_sub(1);
        let team_is_idle = team.waiting == 0;
        if let Some(experiments) = team.priorities.get_mut(&Reverse(place.priority)) {
            if let Some(sessions) = experiments.content(&place.experiment) {
                if sessions
                    .content(&place.session)
                    .is_none_or(|queue| queue.is_empty())
                {
                    sessions.rest(&place.session);
                }
                if sessions.waiting.is_empty() {
                    experiments.rest(&place.experiment);
                }
            }
            if experiments.waiting.is_empty() {
                team.priorities.remove(&Reverse(place.priority));
            }
        }
        if team_is_idle {
            self.teams.rest(&place.team);
        }
    }

    fn served(&mut self, place: &Place, cost: i128) {
        self.teams.served(&place.team, cost);
        let team = self.teams.content(&place.team);
        let experiments = team.and_then(|team| team.priorities.get_mut(&Reverse(place.priority)));
        if let Some(experiments) = experiments {
            experiments.served(&place.experiment, cost);
            if let Some(sessions) = experiments.content(&place.experiment) {
                sessions.served(&place.session, cost);
            }
        }
    }
}

fn signed(cost: u64) -> i128 {
    i128::from(cost)
}

/// One level of the tree: children and what each has been served. Those that wait
/// and those that rest are kept in order of it; of equals who came first.
#[derive(Debug)]
struct Level<C> {
    children: HashMap<Arc<str>, Child<C>>,
    waiting: BTreeSet<Rank>,
    resting: BTreeSet<Rank>,
    /// Weights of those who wait.
    weights: f64,
    /// What somebody who waited all the time and got a fair share would have been served (the
    /// virtual time of weighted fair queueing). Who comes (back) starts no lower, so that a stream
    /// of newcomers, each of whom is served once, keeps nobody else waiting.
    floor: i128,
}

/// What was served, the ticket since which it waits, the name.
type Rank = (i128, u64, Arc<str>);

#[derive(Debug)]
struct Child<C> {
    content: C,
    weight: f64,
    served: i128,
    since: u64,
    waits: bool,
}

impl<C> Child<C> {
    fn rank(&self, name: &Arc<str>) -> Rank {
        (self.served, self.since, Arc::clone(name))
    }
}

impl<C> Default for Level<C> {
    fn default() -> Self {
        Self {
            children: HashMap::new(),
            waiting: BTreeSet::new(),
            resting: BTreeSet::new(),
            weights: 0.0,
            floor: 0,
        }
    }
}

impl<C: Default> Level<C> {
    /// The child, waiting from now on with a call of this ticket.
    fn enter(&mut self, name: &Arc<str>, weight: f64, ticket: u64) -> &mut C {
        let floor = self.floor;
        let child = self
            .children
            .entry(Arc::clone(name))
            .or_insert_with(|| Child {
                content: C::default(),
                weight,
                served: floor,
                since: ticket,
                waits: false,
            });
        if child.waits {
            self.weights += weight - child.weight;
            child.weight = weight;
        } else {
            self.resting.remove(&child.rank(name));
            child.weight = weight;
            child.served = child.served.max(floor);
            (child.since, child.waits) = (ticket, true);
            self.waiting.insert(child.rank(name));
            self.weights += weight;
        }
        &mut child.content
    }

    fn content(&mut self, name: &Arc<str>) -> Option<&mut C> {
        self.children.get_mut(name).map(|child| &mut child.content)
    }

    /// The least served child that waits.
    fn first(&mut self) -> Option<Arc<str>> {
        let (served, _, name) = self.waiting.first()?;
        self.floor = self.floor.max(*served);
        let name = Arc::clone(name);
        // Who rests at or below the floor would start at the floor anyway.
        while let Some((served, ..)) = self.resting.first()
            && *served <= self.floor
        {
            if let Some((_, _, name)) = self.resting.pop_first() {
                self.children.remove(&name);
            }
        }
        Some(name)
    }

    fn served(&mut self, name: &Arc<str>, cost: i128) {
        let Some(child) = self.children.get_mut(name) else {
            return;
        };
        let set = if child.waits {
            &mut self.waiting
        } else {
            &mut self.resting
        };
        set.remove(&child.rank(name));
        child.served += (cost as f64 * PARTS / child.weight) as i128;
        set.insert(child.rank(name));
        // A fair share of it is everybody's who waits. None of them is thought to have had more than
        // the one that had most, whatever was taken, put back and corrected meanwhile.
        if let Some((most, ..)) = self.waiting.last() {
            self.floor += (cost as f64 * PARTS / self.weights) as i128;
            self.floor = self.floor.min(*most);
        }
    }

    /// The child has nobody waiting any more.
    fn rest(&mut self, name: &Arc<str>) {
        if let Some(child) = self.children.get_mut(name)
            && child.waits
        {
            child.waits = false;
            self.waiting.remove(&child.rank(name));
            self.resting.insert(child.rank(name));
            self.weights -= child.weight;
            if self.waiting.is_empty() {
                self.weights = 0.0;
            }
        }
    }
}

#[cfg(test)]
mod tests;
