//! What the gateway has done and is doing, in numbers: for all, for each
//! experiment and for each team. Telemetry only, gone with the process. Filled by
//! `deciding.rs`, read by `status/`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::decision::Usage;
use crate::metrics;
use crate::money::NanoDollars;

/// Numbers of everybody, of each experiment and of each team.
#[derive(Default)]
pub struct Tallies {
    all: Arc<Mutex<Numbers>>,
    by_experiment: Mutex<HashMap<String, Arc<Mutex<Numbers>>>>,
    by_team: Mutex<BTreeMap<Arc<str>, Arc<Mutex<Numbers>>>>,
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    pub decided: u64,
    /// Decisions that were there already.
    pub from_ledger: u64,
    /// Calls waiting for quota now.
    pub waiting: u64,
    /// Calls at providers now.
    pub in_flight: u64,
    /// Requests sent to providers, retries included.
    pub requests: u64,
    /// What the calls cost whose price is known.
    pub cost: NanoDollars,
    /// Requests that providers refused for lack of quota or because of the key.
    pub refused: u64,
    pub usage: Usage,
}

impl Tallies {
    /// Where the decisions of a team for an experiment are counted.
    pub fn tally(&self, experiment_id: &str, team: &str) -> Tally {
        let mut by_experiment = self.by_experiment.lock();
        let experiment = match by_experiment.get(experiment_id) {
            Some(own) => Arc::clone(own),
            None => Arc::clone(by_experiment.entry(experiment_id.to_owned()).or_default()),
        };
        drop(by_experiment);
        let mut by_team = self.by_team.lock();
        let (team, own) = match by_team.get_key_value(team) {
            Some((team, own)) => (Arc::clone(team), Arc::clone(own)),
            None => {
                let team: Arc<str> = Arc::from(team);
                let own = Arc::clone(by_team.entry(Arc::clone(&team)).or_default());
                (team, own)
            }
        };
        Tally {
            counters: [Arc::clone(&self.all), experiment, own],
            team,
        }
    }

    /// The teams that have asked since the gateway started, in order of name.
    pub fn teams(&self) -> Vec<(Arc<str>, Numbers)> {
        let by_team = self.by_team.lock();
        by_team
            .iter()
            .map(|(team, own)| (Arc::clone(team), *own.lock()))
            .collect()
    }

    /// The numbers of a team.
    pub fn of_team(&self, team: &str) -> Numbers {
        let own = self.by_team.lock().get(team).cloned();
        own.map(|own| *own.lock()).unwrap_or_default()
    }

    /// The numbers of an experiment; of everybody when it has no id.
    pub fn numbers(&self, experiment_id: &str) -> Numbers {
        if experiment_id.is_empty() {
            return *self.all.lock();
        }
        let own = self.by_experiment.lock().get(experiment_id).cloned();
        own.map(|own| *own.lock()).unwrap_or_default()
    }
}

/// Counts for everybody, one experiment and one team.
#[derive(Clone)]
pub struct Tally {
    counters: [Arc<Mutex<Numbers>>; 3],
    team: Arc<str>,
}

impl Tally {
    /// A decision was recorded after a call.
    pub fn count_decided(&self, usage: Usage) {
        self.count(|numbers| {
            numbers.decided += 1;
            numbers.usage += usage;
        });
    }

    /// A call was paid for; absent when its price is not known.
    pub fn count_cost(&self, cost: Option<NanoDollars>) {
        let cost = cost.unwrap_or_default();
        self.count(|numbers| numbers.cost = numbers.cost.plus(cost));
    }

    /// A decision was in the ledger.
    pub fn count_from_ledger(&self) {
        self.count(|numbers| numbers.from_ledger += 1);
    }

    /// A call got what it waited for, and takes so many tokens.
    pub fn count_granted(&self, waited: Duration, tokens: u64) {
        metrics::observe_quota_wait(&self.team, waited);
        metrics::count_granted(&self.team, tokens);
    }

    /// A provider refused a call for lack of quota or because of the key.
    pub fn count_refused(&self, provider: &str, model: &str) {
        self.count(|numbers| numbers.refused += 1);
        metrics::count_refusal(provider, model, &self.team);
    }

    /// A call waits for quota while the guard lives.
    pub fn waiting(&self) -> CountedCall<'_> {
        CountedCall::enter(self, |numbers| &mut numbers.waiting, metrics::move_waiting)
    }

    /// A call is at a provider while the guard lives.
    pub fn at_provider(&self) -> CountedCall<'_> {
        self.count(|numbers| numbers.requests += 1);
        CountedCall::enter(
            self,
            |numbers| &mut numbers.in_flight,
            metrics::move_in_flight,
        )
    }

    fn count(&self, count: impl Fn(&mut Numbers)) {
        for numbers in &self.counters {
            count(&mut numbers.lock());
        }
    }
}

/// Counts one call as present until it is dropped.
pub struct CountedCall<'a> {
    tally: &'a Tally,
    number: fn(&mut Numbers) -> &mut u64,
    gauge: fn(f64),
}

impl<'a> CountedCall<'a> {
    fn enter(tally: &'a Tally, number: fn(&mut Numbers) -> &mut u64, gauge: fn(f64)) -> Self {
        tally.count(|numbers| *number(numbers) += 1);
        gauge(1.0);
        Self {
            tally,
            number,
            gauge,
        }
    }
}

impl Drop for CountedCall<'_> {
    fn drop(&mut self) {
        self.tally.count(|numbers| *(self.number)(numbers) -= 1);
        (self.gauge)(-1.0);
    }
}
