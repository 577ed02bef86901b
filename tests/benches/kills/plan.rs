//! What is to happen, from a seed: everything that must happen once, in random order, and as much again
//! as the number of sessions allows. Knows no process. Called by `killer.rs`.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// The kinds of processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The coordinator that owns the journal.
    InCharge,
    /// The other one.
    Standby,
    /// A gateway.
    Gateway,
    /// A worker.
    Worker,
    /// The Redis of the journal that takes writes. To kill it is a failover, of which there is one.
    JournalMaster,
    /// Its replica.
    JournalReplica,
    /// The sentinel that watches both.
    Sentinel,
    /// The Redis of the gateways. To kill it is a restart, of which there are two.
    Ledger,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::InCharge,
        Self::Standby,
        Self::Gateway,
        Self::Worker,
        Self::JournalMaster,
        Self::JournalReplica,
        Self::Sentinel,
        Self::Ledger,
    ];

    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::InCharge => "coordinator in charge",
            Self::Standby => "standby",
            Self::Gateway => "gateway",
            Self::Worker => "worker",
            Self::JournalMaster => "Redis of the journal",
            Self::JournalReplica => "its replica",
            Self::Sentinel => "sentinel",
            Self::Ledger => "Redis of the gateways",
        }
    }

    /// The longest stop, in milliseconds.
    fn longest_stop(self) -> u64 {
        match self {
            // Twice as long as a lease, or as a coordinator may be silent.
            Self::InCharge | Self::Standby | Self::Worker => 5_000,
            // A claim in the ledger lasts 10 to 15 s. Once it is over, another gateway may make the same
            // call, as if this one were dead.
            Self::Gateway => 4_000,
            Self::Ledger => 3_000,
            Self::JournalReplica => 4_000,
            // Shorter than the sentinel's patience: there is one failover.
            Self::JournalMaster => 1_000,
            // A sentinel that was stopped for 2 s trusts nobody for half a minute.
            Self::Sentinel => 1_500,
        }
    }
}

/// What is done to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// SIGKILL, and a start after a moment.
    Kill,
    /// SIGSTOP, and SIGCONT after a while.
    Stop,
}

/// One thing that is to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// What is done.
    pub signal: Signal,
    /// To whom.
    pub kind: Kind,
}

/// Further sessions after which there is one more fault.
const SESSIONS_PER_FAULT: usize = 100;

/// How often one more fault is of this sort; others than these happen as often as they must.
const FURTHER: [(Signal, Kind, u64); 11] = [
    (Signal::Kill, Kind::Worker, 4),
    (Signal::Stop, Kind::Worker, 4),
    (Signal::Kill, Kind::InCharge, 3),
    (Signal::Stop, Kind::InCharge, 3),
    (Signal::Kill, Kind::Standby, 1),
    (Signal::Stop, Kind::Standby, 1),
    (Signal::Kill, Kind::Gateway, 2),
    (Signal::Stop, Kind::Gateway, 2),
    (Signal::Stop, Kind::JournalMaster, 1),
    (Signal::Kill, Kind::JournalReplica, 1),
    (Signal::Stop, Kind::Ledger, 1),
];

/// The only source of chance.
pub struct Chance(ChaCha8Rng);

impl Chance {
    /// All that follows from a seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below the limit, which is not 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit
    }

    /// One of several.
    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        let index = self.below(of.len().max(1) as u64);
        of.get(index as usize).copied()
    }

    /// How long such a process stays stopped or dead.
    pub fn how_long(&mut self, fault: Fault) -> Duration {
        let (least, most) = match fault.signal {
            Signal::Kill => (100, 2_000),
            Signal::Stop => (100, fault.kind.longest_stop()),
        };
        Duration::from_millis(least + self.below(most - least))
    }
}

/// What must have happened at the end, as often as it is listed.
pub fn required() -> Vec<Fault> {
    let mut faults = Vec::new();
    for kind in Kind::ALL {
        for signal in [Signal::Kill, Signal::Stop] {
            faults.push(Fault { signal, kind });
        }
    }
    faults.push(Fault {
        signal: Signal::Kill,
        kind: Kind::Ledger,
    });
    faults
}

/// Everything that is to happen, in order.
pub fn plan(chance: &mut Chance, sessions: usize) -> Vec<Fault> {
    let mut faults = required();
    let weights = FURTHER.iter().map(|(.., weight)| weight).sum();
    for _ in 0..sessions / SESSIONS_PER_FAULT {
        let mut drawn = chance.below(weights);
        for (signal, kind, weight) in FURTHER {
            if drawn < weight {
                faults.push(Fault { signal, kind });
                break;
            }
            drawn -= weight;
        }
    }
    for place in (1..faults.len()).rev() {
        faults.swap(place, chance.below(place as u64 + 1) as usize);
    }
    faults
}
