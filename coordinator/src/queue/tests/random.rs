//! Random commands: whatever comes in whatever order, every session is in one state, leases and
//! sessions agree, and the journal makes the same queue.

use proptest::prelude::*;

use super::*;

const NAMES: [&str; 3] = ["a", "b", "c"];
const CELLS: [&str; 4] = ["k", "l", "m", "n"];
const WORKERS: [&str; 3] = ["w0", "w1", "w2"];

#[derive(Debug, Clone)]
enum Command {
    Submit {
        name: usize,
        cells: u8,
        repeats: u32,
        length: u32,
        budget: Option<u64>,
    },
    Cancel(usize),
    Retry(usize, Option<u32>),
    Resume(usize, Option<u64>),
    Delete(usize),
    Outdated(usize),
    Connect {
        worker: usize,
        places: usize,
        incarnation: u64,
        forgets: bool,
    },
    Leave(usize),
    Drain(usize),
    /// Of all leases that were ever granted, whoever says it.
    Finish {
        worker: usize,
        lease: usize,
        other: bool,
    },
    Fail {
        worker: usize,
        lease: usize,
        failure: u8,
    },
    Release(usize, usize),
    Progress(usize, usize),
    /// Workers are heard of, or nobody is.
    Pass(u64, bool),
    CloseSegment(usize),
    Restart(bool),
}

/// Cells, repeats and length of a series: often the same one, which is submitted again.
fn grid() -> impl Strategy<Value = (u8, u32, u32)> {
    prop_oneof![
        Just((3, 1, 2)),
        Just((3, 1, 2)),
        (0u8..16, 1u32..3, 1u32..4)
    ]
}

fn command() -> impl Strategy<Value = Command> {
    let budget = || prop::option::of(0u64..3);
    prop_oneof![
        4 => (0..3usize, grid(), budget()).prop_map(
            |(name, (cells, repeats, length), budget)| Command::Submit {
                name, cells, repeats, length, budget
            }
        ),
        1 => (0..3usize).prop_map(Command::Cancel),
        1 => (0..3usize, prop::option::of(0u32..6)).prop_map(|(name, at)| Command::Retry(name, at)),
        1 => (0..3usize, budget()).prop_map(|(name, budget)| Command::Resume(name, budget)),
        1 => (0..3usize).prop_map(Command::Delete),
        1 => (0..3usize).prop_map(Command::Outdated),
        4 => (0..3usize, 0..5usize, 0u64..2, any::<bool>()).prop_map(
            |(worker, places, incarnation, forgets)| Command::Connect {
                worker, places, incarnation, forgets
            }
        ),
        1 => (0..3usize).prop_map(Command::Leave),
        1 => (0..3usize).prop_map(Command::Drain),
        9 => (0..3usize, 0..12usize, prop::bool::weighted(0.2)).prop_map(
            |(worker, lease, other)| Command::Finish { worker, lease, other }
        ),
        4 => (0..3usize, 0..12usize, 0u8..4).prop_map(
            |(worker, lease, failure)| Command::Fail { worker, lease, failure }
        ),
        2 => (0..3usize, 0..12usize).prop_map(|(worker, lease)| Command::Release(worker, lease)),
        2 => (0..3usize, 0..12usize).prop_map(|(worker, lease)| Command::Progress(worker, lease)),
        3 => (0u64..12, any::<bool>()).prop_map(|(seconds, heard)| Command::Pass(seconds, heard)),
        1 => (0..3usize).prop_map(Command::CloseSegment),
        1 => any::<bool>().prop_map(Command::Restart),
    ]
}

/// A bench, and every lease that was ever granted on it, with whom.
struct Run {
    bench: Bench,
    leases: Vec<(usize, LeaseId)>,
}

impl Run {
    fn collect(&mut self) {
        for (number, worker) in WORKERS.iter().enumerate() {
            if self.bench.workers.contains_key(*worker) {
                let granted = self.bench.granted(worker);
                self.leases
                    .extend(granted.iter().map(|granted| (number, granted.lease)));
            }
        }
    }

    /// One of the last leases.
    fn lease(&self, back: usize) -> Option<LeaseId> {
        let at = self.leases.len().checked_sub(back + 1)?;
        Some(self.leases[at].1)
    }

    fn take(&mut self, command: Command) {
        let bench = &mut self.bench;
        let now = bench.now;
        match command {
            Command::Submit {
                name,
                cells,
                repeats,
                length,
                budget,
            } => {
                let chosen = CELLS
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| cells & (1 << bit) != 0);
                let mut chosen: Vec<&str> = chosen.map(|(_, cell)| *cell).collect();
                if cells % 3 == 0 {
                    chosen.reverse();
                }
                let team = ["red", "red", "blue"][name];
                let submitted = ExperimentSubmitted {
                    budget_nanodollars: budget,
                    ..experiment(NAMES[name], team, &chosen, repeats, length)
                };
                bench.submit_as(submitted).unwrap();
            }
            Command::Cancel(name) => drop(bench.queue.cancel(NAMES[name], now)),
            Command::Retry(name, at) => {
                let at = at.map(|at| [at]);
                let positions = at.as_ref().map(|at| &at[..]);
                drop(bench.queue.retry(NAMES[name], positions, now));
            }
            Command::Resume(name, budget) => {
                drop(bench.queue.resume(NAMES[name], budget, None, now));
            }
            Command::Delete(name) => drop(bench.queue.delete(NAMES[name])),
            Command::Outdated(name) => {
                if let Ok(key) = bench.queue.number(NAMES[name]) {
                    bench.queue.set_outdated(key, "other rules".to_owned(), now);
                }
            }
            Command::Connect {
                worker,
                places,
                incarnation,
                forgets,
            } => {
                let own = self.leases.iter().filter(|(holder, _)| *holder == worker);
                let held: Vec<LeaseId> = own.map(|(_, lease)| *lease).collect();
                let held = if forgets {
                    &[]
                } else {
                    &held[held.len().saturating_sub(4)..]
                };
                let name = WORKERS[worker];
                bench.register(name, places, incarnation, Capabilities::new(), held);
            }
            Command::Leave(worker) => {
                if bench.workers.contains_key(WORKERS[worker]) {
                    bench.leave(WORKERS[worker]);
                }
            }
            Command::Drain(worker) => bench.queue.drain_worker(bench.stream(WORKERS[worker])),
            Command::Pass(seconds, true) => bench.pass(Duration::from_secs(seconds)),
            Command::Pass(seconds, false) => {
                bench.now += Duration::from_secs(seconds);
                bench.tick();
            }
            Command::CloseSegment(name) => {
                if let Ok(key) = bench.queue.number(NAMES[name]) {
                    bench.queue.close_segment(key);
                }
            }
            Command::Restart(true) => bench.restart_from_snapshot(),
            Command::Restart(false) => bench.restart(),
            said => self.say(said),
        }
        self.bench.carry_out();
        self.collect();
    }

    fn say(&mut self, command: Command) {
        let (Command::Finish { lease, .. }
        | Command::Fail { lease, .. }
        | Command::Release(_, lease)
        | Command::Progress(_, lease)) = command
        else {
            return;
        };
        let Some(lease) = self.lease(lease) else {
            return;
        };
        let bench = &mut self.bench;
        match command {
            Command::Finish { worker, other, .. } => {
                let record = if other { "another record" } else { "record" };
                let before = bench
                    .queue
                    .finished_at(lease.session.experiment, lease.session.position);
                let settled = bench.finish_with(WORKERS[worker], lease, record);
                if settled == Settled::Stored && before.is_some() {
                    // Only a lease of another grid may name another place.
                    let now = &bench.queue.experiments[&lease.session.experiment];
                    assert_ne!(lease.grid, now.grid);
                }
            }
            Command::Fail {
                worker, failure, ..
            } => {
                let failures = [
                    Failure::Crashed,
                    Failure::Parked,
                    Failure::Impossible,
                    Failure::BudgetSpent,
                ];
                bench.fail(
                    WORKERS[worker],
                    lease,
                    failures[usize::from(failure)],
                    "why",
                );
            }
            Command::Release(worker, _) => bench.release(WORKERS[worker], &[lease]),
            Command::Progress(worker, _) => bench.heartbeat(WORKERS[worker], &[lease]),
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn random_commands_keep_everything_in_order(
        commands in prop::collection::vec(command(), 0..80),
    ) {
        let mut run = Run {
            bench: Bench::new(),
            leases: Vec::new(),
        };
        // After each of them the bench checks the queue.
        for command in commands {
            run.take(command);
        }
        run.bench.restart();
        // Whatever is open can be played to its end.
        for name in NAMES {
            // It may never have been submitted.
            let _ = run.bench.queue.resume(name, None, None, run.bench.now);
        }
        run.bench.carry_out();
        run.bench.worker("last", 3);
        loop {
            let granted = run.bench.granted("last");
            if granted.is_empty() {
                break;
            }
            for granted in granted {
                prop_assert_eq!(run.bench.finish("last", granted.lease), Settled::Stored);
            }
        }
        for entry in run.bench.queue.list() {
            prop_assert!(run.bench.progress(&entry.name).is_over(), "{:?}", entry);
        }
        run.bench.restart_from_snapshot();
    }
}
