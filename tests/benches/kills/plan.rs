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
            // A claim in the ledger, 15 s at first, is 10 s old before it is renewed late: shorter than
            // that together with a stop of the ledger. A gateway that is away for longer counts as dead.
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
pub enum Deed {
    /// SIGKILL, and a start after a moment.
    Kill,
    /// SIGSTOP, and SIGCONT after a while.
    Stop,
}

/// One thing that is to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Act {
    /// What is done.
    pub deed: Deed,
    /// To whom.
    pub kind: Kind,
}

/// Further sessions after which there is one more act.
const SESSIONS_PER_ACT: usize = 100;

/// How often one more act is of this sort; others than these happen as often as they must.
const FURTHER: [(Deed, Kind, u64); 11] = [
    (Deed::Kill, Kind::Worker, 4),
    (Deed::Stop, Kind::Worker, 4),
    (Deed::Kill, Kind::InCharge, 3),
    (Deed::Stop, Kind::InCharge, 3),
    (Deed::Kill, Kind::Standby, 1),
    (Deed::Stop, Kind::Standby, 1),
    (Deed::Kill, Kind::Gateway, 2),
    (Deed::Stop, Kind::Gateway, 2),
    (Deed::Stop, Kind::JournalMaster, 1),
    (Deed::Kill, Kind::JournalReplica, 1),
    (Deed::Stop, Kind::Ledger, 1),
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
    pub fn how_long(&mut self, act: Act) -> Duration {
        let (least, most) = match act.deed {
            Deed::Kill => (100, 2_000),
            Deed::Stop => (100, act.kind.longest_stop()),
        };
        Duration::from_millis(least + self.below(most - least))
    }
}

/// What must have happened at the end, as often as it is listed.
pub fn required() -> Vec<Act> {
    let mut acts = Vec::new();
    for kind in Kind::ALL {
        for deed in [Deed::Kill, Deed::Stop] {
            acts.push(Act { deed, kind });
        }
    }
    acts.push(Act {
        deed: Deed::Kill,
        kind: Kind::Ledger,
    });
    acts
}

/// Everything that is to happen, in order.
pub fn plan(chance: &mut Chance, sessions: usize) -> Vec<Act> {
    let mut acts = required();
    let weights = FURTHER.iter().map(|(.., weight)| weight).sum();
    for _ in 0..sessions / SESSIONS_PER_ACT {
        let mut drawn = chance.below(weights);
        for (deed, kind, weight) in FURTHER {
            if drawn < weight {
                acts.push(Act { deed, kind });
                break;
            }
            drawn -= weight;
        }
    }
    for place in (1..acts.len()).rev() {
        acts.swap(place, chance.below(place as u64 + 1) as usize);
    }
    acts
}
