//! Claims that are to be given back when the store is there again. Owns that
//! they cannot pile up: one entry per claim, no more than a limit, and one task
//! for all. What is left out expires by itself. Called by `claiming.rs`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::tasks::{TaskKind, Tasks};
use parking_lot::Mutex;

use crate::decision::DecisionAddress;
use crate::ledger::Ledger;

/// More than a gateway has calls under way; the rest expires within seconds.
const MOST: usize = 10_000;

/// Between rounds: quick enough that callers who come again find their address
/// free soon after the store's return.
const TRY_EVERY: Duration = Duration::from_millis(200);

/// After this every claim has expired by itself, wherever it was made.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

type Owed = (DecisionAddress, String);

/// What is owed. Cheap to clone.
#[derive(Clone)]
pub struct Releases {
    ledger: Arc<dyn Ledger>,
    tasks: Tasks,
    book: Arc<Mutex<Book>>,
}

#[derive(Default)]
struct Book {
    owed: HashSet<Owed>,
    served: bool,
}

impl Releases {
    /// Nothing is owed yet.
    pub fn new(ledger: Arc<dyn Ledger>, tasks: Tasks) -> Self {
        Self {
            ledger,
            tasks,
            book: Arc::default(),
        }
    }

    /// Gives a claim back as soon as that works.
    pub fn owe(&self, address: &DecisionAddress, holder: &str) {
        let mut book = self.book.lock();
        if book.owed.len() >= MOST {
            return;
        }
        book.owed.insert((address.clone(), holder.to_owned()));
        if !std::mem::replace(&mut book.served, true) {
            let me = self.clone();
            self.tasks
                .spawn(TaskKind::UPKEEP, "claims to give back", me.serve());
        }
    }

    /// Until nothing is owed. One failure means that the store is away for all.
    async fn serve(self) {
        let mut vain = Duration::ZERO;
        loop {
            tokio::time::sleep(TRY_EVERY).await;
            let round: Vec<Owed> = self.book.lock().owed.iter().cloned().collect();
            let mut done = 0;
            for (address, holder) in &round {
                if self.ledger.release(address, holder).await.is_err() {
                    break;
                }
                done += 1;
            }
            vain = if done > 0 {
                Duration::ZERO
            } else {
                vain + TRY_EVERY
            };
            let over = vain > GIVE_UP_AFTER;
            let mut book = self.book.lock();
            for owed in round.iter().take(if over { round.len() } else { done }) {
                book.owed.remove(owed);
            }
            if book.owed.is_empty() {
                book.served = false;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::ledger::{LedgerError, RedisLedger};
    use crate::redis_store;

    #[tokio::test]
    async fn claims_to_give_back_are_bounded_and_served_by_one_task() {
        let nobody = redis_store::connect("redis://127.0.0.1:9", None)
            .unwrap()
            .lasting;
        let tasks = Tasks::new();
        let releases = Releases::new(Arc::new(RedisLedger::new(nobody)), tasks.clone());
        for index in 0..20_000 {
            let address = DecisionAddress {
                session_id: "s".to_owned(),
                seat: 0,
                index,
            };
            releases.owe(&address, "holder");
            releases.owe(&address, "holder");
        }
        assert_eq!(releases.book.lock().owed.len(), MOST);
        assert_eq!(tasks.status().len(), 1);
    }

    #[test]
    fn claim_that_never_arrived_or_was_refused_is_not_given_back() {
        let failed = |source| LedgerError::Redis {
            operation: "claim an address",
            source,
        };
        let io = |kind: io::ErrorKind| failed(io::Error::from(kind).into());
        assert!(!io(io::ErrorKind::ConnectionRefused).may_be_done());
        assert!(io(io::ErrorKind::TimedOut).may_be_done());
        assert!(io(io::ErrorKind::BrokenPipe).may_be_done());
        let loading = redis::ErrorKind::Server(redis::ServerErrorKind::BusyLoading);
        assert!(!failed((loading, "loading").into()).may_be_done());
    }
}
