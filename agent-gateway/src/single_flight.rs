//! Single flight: at most one piece of work per decision address in this replica, shared by
//! everybody who asks for it and detached from all of them. Knows nothing of ledgers and
//! providers. Called by `deciding/joining.rs`.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use agon_service_kit::tasks::{TaskKind, Tasks};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::decision::{DecisionAddress, RequestDigest};

/// All work of a replica. `T` is its result.
pub struct SingleFlight<T> {
    tasks: Tasks,
    in_flight: Mutex<WorkTable<T>>,
}

/// Absent until the work is done.
type WorkResult<T> = watch::Receiver<Option<T>>;

struct WorkTable<T> {
    next_number: u64,
    by_address: HashMap<DecisionAddress, SharedWork<T>>,
}

struct SharedWork<T> {
    number: u64,
    digest: RequestDigest,
    result: watch::Sender<Option<T>>,
}

/// What came of a piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared<T> {
    pub result: T,
    /// Somebody else had started it.
    pub joined: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SingleFlightError {
    /// Another request is in flight for the address.
    Conflict(RequestDigest),
    /// The work ended without a result: it panicked, or ran into the end of a
    /// shutdown.
    Lost,
}

impl<T: Clone + Send + Sync + 'static> SingleFlight<T> {
    /// Nothing is in flight yet. Work will run under `tasks`, which lets it finish
    /// when it shuts down.
    pub fn new(tasks: Tasks) -> Self {
        let in_flight = Mutex::new(WorkTable {
            next_number: 0,
            by_address: HashMap::new(),
        });
        Self { tasks, in_flight }
    }

    /// Waits for the work on this address, and starts it with `work` if there is none. Dropping
    /// the returned future does not end the work, which may ask its [`Waiters`] whether anybody
    /// is left.
    /// The caller that starts the work also runs it, so that it needs no task of its own unless
    /// that caller leaves before its end. It is made before the future is polled, which
    /// therefore holds next to nothing: thousands wait at once.
    pub fn join<W, S>(
        self: &Arc<Self>,
        address: DecisionAddress,
        digest: RequestDigest,
        work: S,
    ) -> impl Future<Output = Result<Shared<T>, SingleFlightError>> + Send + use<T, W, S>
    where
        S: FnOnce(Waiters<T>) -> W,
        W: Future<Output = T> + Send + 'static,
    {
        let entered = self.enter(address, digest);
        let entered = entered.map(|(result, first)| {
            let work = first.map(|waiters| {
                let guard = WorkGuard(waiters.clone());
                // Boxed here: whoever wraps a future by value makes room for it
                // once more, and thousands of these wait at once.
                let work = Box::pin(work(waiters));
                self.tasks.carry(TaskKind::WORK, "decision", async move {
                    let outcome = work.await;
                    guard.finish(outcome);
                })
            });
            (result, work)
        });
        async move {
            let (mut result, work) = entered?;
            let joined = work.is_none();
            if let Some(work) = work {
                // However it ends, the result says so.
                work.await;
            }
            let outcome = result.wait_for(Option::is_some).await;
            let result = outcome.ok().and_then(|result| result.clone());
            let shared = result.map(|result| Shared { result, joined });
            shared.ok_or(SingleFlightError::Lost)
        }
    }

    /// Where the result will be; and the waiters, if the work is to be started.
    fn enter(
        self: &Arc<Self>,
        address: DecisionAddress,
        digest: RequestDigest,
    ) -> Result<(WorkResult<T>, Option<Waiters<T>>), SingleFlightError> {
        let mut in_flight = self.in_flight.lock();
        if let Some(work) = in_flight.by_address.get(&address) {
            if work.digest != digest {
                return Err(SingleFlightError::Conflict(work.digest.clone()));
            }
            return Ok((work.result.subscribe(), None));
        }
        let (result, receiver) = watch::channel(None);
        let number = in_flight.next_number;
        in_flight.next_number += 1;
        let work = SharedWork {
            number,
            digest,
            result: result.clone(),
        };
        in_flight.by_address.insert(address.clone(), work);
        let waiters = Waiters {
            single_flight: Arc::clone(self),
            address,
            number,
            result,
        };
        Ok((receiver, Some(waiters)))
    }
}

/// Those who wait for a piece of work.
pub struct Waiters<T> {
    single_flight: Arc<SingleFlight<T>>,
    address: DecisionAddress,
    number: u64,
    result: watch::Sender<Option<T>>,
}

impl<T> Clone for Waiters<T> {
    fn clone(&self) -> Self {
        Self {
            single_flight: Arc::clone(&self.single_flight),
            address: self.address.clone(),
            number: self.number,
            result: self.result.clone(),
        }
    }
}

impl<T> Waiters<T> {
    /// Completes when nobody waits any more; from then on nobody can join, and
    /// the next caller starts the work again.
    pub async fn all_gone(&self) {
        loop {
            self.result.closed().await;
            let mut in_flight = self.single_flight.in_flight.lock();
            // Under the lock nobody can join between the look and the removal.
            if self.result.receiver_count() == 0 {
                self.remove(&mut in_flight);
                return;
            }
        }
    }

    fn remove(&self, in_flight: &mut WorkTable<T>) {
        let work = in_flight.by_address.get(&self.address);
        if work.is_some_and(|work| work.number == self.number) {
            in_flight.by_address.remove(&self.address);
        }
    }
}

/// Removes the work however it ends.
struct WorkGuard<T>(Waiters<T>);

impl<T> WorkGuard<T> {
    fn finish(self, outcome: T) {
        self.0.result.send_replace(Some(outcome));
    }
}

impl<T> Drop for WorkGuard<T> {
    fn drop(&mut self) {
        let mut in_flight = self.0.single_flight.in_flight.lock();
        self.0.remove(&mut in_flight);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::sync::oneshot;

    use super::*;

    fn address() -> DecisionAddress {
        DecisionAddress {
            session_id: "s".into(),
            seat: 0,
            index: 0,
        }
    }

    fn digest(text: &str) -> RequestDigest {
        text.to_owned().into()
    }

    fn single_flight() -> Arc<SingleFlight<u64>> {
        Arc::new(SingleFlight::new(Tasks::new()))
    }

    #[tokio::test]
    async fn everybody_shares_one_flight() {
        let (single_flight, started) = (single_flight(), Arc::new(AtomicU64::new(0)));
        let asks = (0..20).map(|_| {
            let started = Arc::clone(&started);
            single_flight.join(address(), digest("d"), move |_| async move {
                tokio::task::yield_now().await;
                started.fetch_add(1, Ordering::SeqCst)
            })
        });
        let outcomes = futures_util::future::join_all(asks).await;
        let shared = |joined| Ok(Shared { result: 0, joined });
        assert_eq!(outcomes[0], shared(false));
        assert!(outcomes[1..].iter().all(|outcome| *outcome == shared(true)));
        assert!(single_flight.in_flight.lock().by_address.is_empty());
    }

    #[tokio::test]
    async fn other_request_in_flight_is_a_conflict() {
        let single_flight = single_flight();
        let (_keep, gate) = oneshot::channel::<()>();
        let first = single_flight.join(address(), digest("d"), |_| async {
            let _ = gate.await;
            1
        });
        tokio::pin!(first);
        assert!(futures_util::poll!(first.as_mut()).is_pending());
        let other = single_flight
            .join(address(), digest("e"), |_| async { 2 })
            .await;
        assert_eq!(other, Err(SingleFlightError::Conflict(digest("d"))));
    }

    #[tokio::test]
    async fn work_goes_on_when_every_caller_is_gone() {
        let single_flight = single_flight();
        let (done, finished) = oneshot::channel();
        let (open, gate) = oneshot::channel::<()>();
        {
            let caller = single_flight.join(address(), digest("d"), |_| async {
                let _ = gate.await;
                let _ = done.send(());
                1
            });
            tokio::pin!(caller);
            assert!(futures_util::poll!(caller.as_mut()).is_pending());
        }
        open.send(()).unwrap();
        finished.await.unwrap();
    }

    #[tokio::test]
    async fn abandoned_flight_cannot_be_joined() {
        let single_flight = single_flight();
        let (told, gone) = oneshot::channel();
        {
            let caller = single_flight.join(address(), digest("d"), |waiters| async move {
                waiters.all_gone().await;
                let _ = told.send(());
                std::future::pending().await
            });
            tokio::pin!(caller);
            assert!(futures_util::poll!(caller.as_mut()).is_pending());
        }
        gone.await.unwrap();
        let next = single_flight
            .join(address(), digest("d"), |_| async { 2 })
            .await;
        assert_eq!(next.unwrap().result, 2);
    }

    #[tokio::test]
    async fn panic_is_told_and_leaves_nothing_behind() {
        let single_flight = single_flight();
        let lost = single_flight
            .join(address(), digest("d"), |_| async { panic!("boom") })
            .await;
        assert_eq!(lost, Err(SingleFlightError::Lost));
        let next = single_flight
            .join(address(), digest("d"), |_| async { 2 })
            .await;
        assert_eq!(next.unwrap().result, 2);
    }
}
