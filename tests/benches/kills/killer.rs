//! Carries the plan out while an experiment runs: kills and stops processes, starts and continues them
//! when it is time, and starts what ended by itself. The faults are spread over the experiment's calls, so
//! that all of them fall into it however fast the machine is. Judges nothing. Called by `kills.rs`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use agon_proto::v1::WatchExperimentResponse;
use agon_tests::model_server::ModelServer;
use tokio::runtime::Runtime;

use crate::in_flight::InFlight;
use crate::plan::{Chance, Fault, Kind, Signal};
use crate::process::State;
use crate::stand::Stand;

/// Between two looks at what is due.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Between two questions to the coordinators.
const ASK_EVERY: Duration = Duration::from_millis(300);

/// Between two faults, at the least.
const PAUSE: Duration = Duration::from_millis(250);

/// A fault waits no longer for its share of the calls: nothing may be getting on.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// What the journal loses when it fails over.
const LAG: Duration = Duration::from_millis(300);

/// What ended by itself is started again after this.
const START_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Without any progress for so long, nothing will come any more.
const PATIENCE: Duration = Duration::from_secs(180);

/// What a failover may take, a sentinel that was restarted or trusts nobody for a while included.
const FAILOVER_WITHIN: Duration = Duration::from_secs(90);

/// See the module.
pub struct Killer<'a> {
    /// The cluster.
    pub stand: Stand,
    /// How often each fault took place.
    pub done: BTreeMap<Fault, u64>,
    /// Calls that died with a gateway.
    pub in_flight: InFlight,
    /// Batches of the journal that its replica did not have when it was promoted.
    pub lost_batches: Option<u64>,
    /// How often a process ended by itself and was started again.
    pub ended: BTreeMap<String, u64>,
    /// What was done, and when.
    pub log: String,
    chance: Chance,
    plan: Vec<Fault>,
    models: &'a ModelServer,
    runtime: &'a Runtime,
    experiment: &'a str,
    begun: Instant,
    in_charge: Option<usize>,
    failover: Option<Instant>,
}

impl<'a> Killer<'a> {
    /// One who has done nothing yet.
    pub fn new(
        stand: Stand,
        (chance, plan): (Chance, Vec<Fault>),
        models: &'a ModelServer,
        runtime: &'a Runtime,
        experiment: &'a str,
    ) -> Self {
        Self {
            stand,
            done: BTreeMap::new(),
            in_flight: InFlight::default(),
            lost_batches: None,
            ended: BTreeMap::new(),
            log: String::new(),
            chance,
            plan,
            models,
            runtime,
            experiment,
            begun: Instant::now(),
            in_charge: None,
            failover: None,
        }
    }

    /// Disturbs the experiment, which makes so many calls, until it is over; answers how it stands
    /// then.
    ///
    /// # Errors
    /// Nothing comes any more, with how it stood.
    pub fn run(&mut self, calls: u64) -> Result<WatchExperimentResponse, String> {
        let shares = self.plan.len() as u64 + 1;
        let (mut next_fault, mut latest_fault) = (Instant::now(), Instant::now());
        let (mut asked, mut changed) = (Instant::now(), Instant::now());
        let mut newest = WatchExperimentResponse::default();
        loop {
            self.revive_due();
            if asked.elapsed() >= ASK_EVERY {
                asked = Instant::now();
                let state = self.look();
                if let Some(state) = state
                    && state != newest
                {
                    (newest, changed) = (state, Instant::now());
                }
                let set_aside = newest.dead.len() + newest.parked.len();
                if newest.sessions > 0 && newest.done + set_aside as u64 == newest.sessions {
                    return Ok(newest);
                }
                if changed.elapsed() > PATIENCE {
                    return Err(format!("nothing comes any more: {newest:?}"));
                }
            }
            let begun = shares - self.plan.len() as u64;
            if !self.plan.is_empty() && Instant::now() >= next_fault {
                let is_due = self.models.count("requests") * shares >= calls * begun;
                if (is_due || Instant::now() >= latest_fault) && self.inject() {
                    next_fault = Instant::now() + PAUSE;
                    latest_fault = Instant::now() + LONGEST_PAUSE;
                }
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Starts and continues everything.
    pub fn restore_all(&mut self) {
        let deadline = Instant::now() + FAILOVER_WITHIN;
        loop {
            self.revive_due();
            let is_up = self.stand.processes.iter().all(|process| process.is_up());
            if is_up && self.look().is_some() {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "not everything is up again:\n{}",
                self.log
            );
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// What is left of the plan.
    pub fn left(&self) -> &[Fault] {
        &self.plan
    }

    fn look(&mut self) -> Option<WatchExperimentResponse> {
        let seen = self.runtime.block_on(self.stand.look(self.experiment));
        self.in_charge = seen.as_ref().map(|(number, _)| *number);
        seen.map(|(_, state)| state)
    }

    fn note(&mut self, what: &str) {
        let at = self.begun.elapsed().as_secs_f64();
        let _ = writeln!(self.log, "{at:7.2} {what}");
    }

    fn revive_due(&mut self) {
        let ledger = &self.stand.processes[self.stand.ledger];
        if ledger.is_up() {
            self.in_flight.look(ledger.redis());
        }
        if let Some(since) = self.failover
            && self.stand.is_promoted()
        {
            let took = since.elapsed().as_secs_f64();
            self.note(&format!("the replica was promoted after {took:.1} s"));
            self.failover = None;
            self.stand.journal.swap(0, 1);
        }
        for place in 0..self.stand.processes.len() {
            let process = &mut self.stand.processes[place];
            if process.has_ended(Instant::now() + START_AGAIN_AFTER) {
                let name = process.name.clone();
                self.note(&format!("{name} has ended"));
                *self.ended.entry(name).or_insert(0) += 1;
                continue;
            }
            let (State::Dead(until) | State::Stopped(until)) = process.state else {
                continue;
            };
            let is_counted = self.in_flight.is_pending() && self.stand.gateways.contains(&place);
            let is_replaced = self.failover.is_some() && place == self.stand.journal[0];
            if until <= Instant::now() && !is_counted && !is_replaced {
                process.revive();
                let name = process.name.clone();
                self.note(&format!("{name} is back"));
            }
        }
    }

    /// Injects the first fault of the plan that is possible now; says whether one was.
    fn inject(&mut self) -> bool {
        for place in 0..self.plan.len() {
            let fault = self.plan[place];
            let Some(target) = self.target(fault) else {
                continue;
            };
            self.plan.remove(place);
            *self.done.entry(fault).or_insert(0) += 1;
            let time = self.chance.how_long(fault);
            let until = Instant::now() + time;
            match (fault.signal, fault.kind) {
                (Signal::Kill, Kind::Gateway) => self.in_flight.begin(),
                (Signal::Kill, Kind::JournalMaster) => self.fall_behind(),
                _ => {}
            }
            let process = &mut self.stand.processes[target];
            match fault.signal {
                Signal::Kill => process.kill(until),
                Signal::Stop => process.stop(until),
            }
            let name = self.stand.processes[target].name.clone();
            self.note(&format!(
                "{:?} {name} for {} ms",
                fault.signal,
                time.as_millis()
            ));
            return true;
        }
        false
    }

    /// The replica misses the last that its master takes in, which dies now: on one machine it would
    /// have everything otherwise.
    fn fall_behind(&mut self) {
        self.failover = Some(Instant::now());
        let before = self.stand.end_of_journal(1);
        let replica = &mut self.stand.processes[self.stand.journal[1]];
        replica.kill(Instant::now());
        std::thread::sleep(LAG);
        let after = self.stand.end_of_journal(0);
        self.lost_batches = after.zip(before).map(|(after, before)| after - before);
    }

    /// Whom a fault concerns, if it can take place now.
    fn target(&mut self, fault: Fault) -> Option<usize> {
        let stand = &self.stand;
        let [master, replica] = stand.journal;
        let may = match (fault.signal, fault.kind) {
            // Which claims are a dead gateway's is seen from what the other one does.
            (Signal::Stop, Kind::Gateway | Kind::Ledger) | (Signal::Kill, Kind::Ledger) => {
                !self.in_flight.is_pending()
            }
            (Signal::Kill, Kind::Gateway) => !stand.gateways.iter().any(|gateway| {
                let gateway = &stand.processes[*gateway];
                matches!(gateway.state, State::Stopped(_))
            }),
            (Signal::Kill, Kind::JournalMaster) => {
                let others = [replica, stand.sentinel];
                let are_up = others.iter().all(|other| stand.processes[*other].is_up());
                are_up && stand.is_in_step()
            }
            (_, Kind::JournalMaster | Kind::JournalReplica | Kind::Sentinel) => {
                self.failover.is_none()
            }
            _ => true,
        };
        let candidates: Vec<usize> = match fault.kind {
            Kind::InCharge => vec![stand.coordinators[self.in_charge?]],
            Kind::Standby => vec![stand.coordinators[1 - self.in_charge?]],
            Kind::Gateway => stand.gateways.to_vec(),
            Kind::Worker => stand.workers.clone(),
            Kind::JournalMaster => vec![master],
            Kind::JournalReplica => vec![replica],
            Kind::Sentinel => vec![stand.sentinel],
            Kind::Ledger => vec![stand.ledger],
        };
        let is_up = |place: &usize| stand.processes[*place].is_up();
        let up: Vec<usize> = candidates.into_iter().filter(is_up).collect();
        if may { self.chance.one_of(&up) } else { None }
    }
}
