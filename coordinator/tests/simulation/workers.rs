//! Workers as their pure state behaves, without engine and network: they hold leases, say results
//! until they are acknowledged, and lose everything when they crash. What they say travels in the
//! world's network, where it may be late or come twice.

use std::collections::{BTreeMap, BTreeSet};

use agon_coordinator::store::{Failure, LeaseKey};

/// Something that a worker said, on its way.
#[derive(Debug, Clone)]
pub struct Message {
    /// Which worker, by its name at that time.
    pub from: String,
    pub said: Said,
}

#[derive(Debug, Clone)]
pub enum Said {
    Renew(Vec<LeaseKey>),
    Complete(LeaseKey, Vec<u8>),
    Fail(LeaseKey, Failure),
    Release(Vec<LeaseKey>),
}

/// One worker process.
#[derive(Debug)]
pub struct Worker {
    pub name: String,
    /// Stopped for now, with everything in its hands.
    pub stopped: bool,
    pub playing: BTreeSet<LeaseKey>,
    /// Results that were not acknowledged.
    pub unsettled: BTreeMap<LeaseKey, Said>,
}

impl Worker {
    pub fn new(name: String) -> Self {
        Self {
            name,
            stopped: false,
            playing: BTreeSet::new(),
            unsettled: BTreeMap::new(),
        }
    }

    /// A session ended like this.
    pub fn ended(&mut self, key: &LeaseKey, said: Said) -> Message {
        self.playing.remove(key);
        self.unsettled.insert(key.clone(), said.clone());
        self.message(said)
    }

    /// Renews what it plays.
    pub fn renewal(&self) -> Message {
        self.message(Said::Renew(self.playing.iter().cloned().collect()))
    }

    /// Gives back what it plays.
    pub fn drained(&mut self) -> Message {
        let keys = std::mem::take(&mut self.playing);
        self.message(Said::Release(keys.into_iter().collect()))
    }

    /// What it says on a new stream.
    pub fn said_again(&self) -> Vec<Message> {
        let mut messages = vec![self.renewal()];
        let unsettled = self.unsettled.values().cloned();
        messages.extend(unsettled.map(|said| self.message(said)));
        messages
    }

    fn message(&self, said: Said) -> Message {
        Message {
            from: self.name.clone(),
            said,
        }
    }
}
